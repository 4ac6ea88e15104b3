//! A debugger of shaders, without input or output: what a terminal and an editor show is made here.
//!
//! An execution goes step by step and can be cloned; a session runs it forward and back, with breakpoints and watches; `console` is
//! the text commands of a session, `dap` the Debug Adapter Protocol. In reading order: `program`, `execution`, `value`,
//! `expression`, `source`; `stops`, `history`, `session`; `console`, `dap`.
//!
//! Guarantees: deterministic; no request panics. Never: reads files or the network, which callers do.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod console;
pub mod execution;
pub mod expression;
mod history;
pub mod program;
pub mod session;
pub mod source;
pub mod stops;
pub mod value;
