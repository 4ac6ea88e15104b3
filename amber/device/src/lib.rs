//! Amber scripts as jobs for a GPU: what the host and an image have in common.
//!
//! A [`Compiled`] script is its plan and a program for each pipeline. [`run`] carries it out: each dispatch becomes a
//! [`Request`], which something that implements [`Jobs`] runs, and what it has written goes back to the script's buffers. A
//! [suite](eitri_drawing::suite) of [`Case`]s is many scripts in one run of bytes, for an image that carries them.
//!
//! Needs: `eitri-amber` without its parser, `eitri-job`.  Guarantees: the same verdicts and the same words wherever it runs.
//! Never: compiles anything, or knows where a job runs.
//! Facts: the language reference, `../shared/amber-language.md` 9.4 and 12.1.
//!
//! ```
//! use eitri_amber_device::{Case, Content, Verdict};
//! use eitri_drawing::suite::{encode, read};
//!
//! let skipped = Case {
//!     name: "draws.amber".into(),
//!     must_fail: false,
//!     content: Content::Settled(Verdict::Skip("graphics".into())),
//! };
//! let bytes = encode(&[], &[skipped])?;
//! let cases: Result<Vec<Case>, _> = read(&bytes)?.entries.collect();
//! assert_eq!(cases?[0].name, "draws.amber");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[macro_use]
extern crate alloc;

mod board;
mod case;
mod device;
mod draw;
mod drawn_resources;
mod images;
mod memory;
mod resources;
mod sampler;
mod scripts;
pub mod tap;
mod targets;
mod verdict;
mod vertex_data;

pub use board::{Counts, Machine, run_case, run_suite, test_name};
pub use case::{Case, Content};
pub use device::{Compiled, DeviceError, Jobs, Request, Stopped, run};
pub use draw::blend;
pub use resources::Resource;
pub use scripts::{OnPlatform, Scripts};
pub use verdict::Verdict;
