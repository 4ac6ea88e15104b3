//! A debugger of shaders, without input or output: what a terminal and an editor show is made here.
//!
//! An execution goes step by step and can be cloned; a session runs it forward and back, with breakpoints and watches; `console` is
//! the text commands of a session, `dap` the Debug Adapter Protocol. In reading order: `program`, `execution`, `value`,
//! `expression`; the levels `source` and `machine`; `stops`, `history`, `session`; `console`, `dap`.
//!
//! Guarantees: deterministic; no request panics. Never: reads files or the network, which callers do.
//!
//! ```
//! use eitri_debugger::console::{Answer, Console};
//! use eitri_debugger::session::Session;
//! use eitri_debugger::source::SourceLevel;
//! use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
//! use eitri_shaderc::interp::{Dispatch, Resources};
//! use eitri_shaderc::{Options, spirv};
//!
//! let text = "@group(0) @binding(0) var<storage, read_write> o: array<u32, 8>;
//! @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {
//!     let double = 2u * i;
//!     o[i] = double;
//! }";
//! let spirv = to_spirv_with(Language::Wgsl, "double.wgsl", text, Names::All)?;
//! let options = Options { notes: true, ..Options::default() };
//! let function = spirv::translate(&spirv, &options).map_err(|errors| errors[0].to_string())?.function;
//! let dispatch = Dispatch { groups: [1, 1, 1], push_constants: vec![], step_limit: u64::MAX };
//! let (level, program) = SourceLevel::new(&function, &dispatch, &mut Resources::default())?;
//! let mut console = Console::new(Session::new(level, program), |_| Some(text.to_owned()));
//! console.execute("break 4 if double == 6");
//! console.execute("continue");
//! assert_eq!(console.execute("print double"), Answer::Text("double = 6".to_owned()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod console;
pub mod dap;
pub mod device;
pub mod driver;
pub mod execution;
pub mod expression;
mod history;
pub mod machine;
pub mod picture;
pub mod program;
pub mod session;
pub mod source;
pub mod stops;
pub mod value;
mod warps;
