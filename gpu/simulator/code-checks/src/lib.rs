//! Checkers of machine code, of whatever compiler, while the model executes it.
//!
//! The model reports what warps of compute jobs do to memory, and which values of memory that nobody wrote decide something
//! ([`eitri_model::Sink::accesses`], [`eitri_model::Sink::undefined`]). Here that is told to the automaton of
//! `eitri_checks::code_race`, and what comes of it becomes findings that name instructions, invocations and addresses.
//! In reading order: `job` (one compute job), `checker`.
//!
//! ```
//! use eitri_code_checks::Checker;
//! use eitri_isa::Arch;
//! use eitri_model::{Config, Gpu};
//!
//! let checker = Checker::new(Arch::V10);
//! let mut gpu = Gpu::new(Config::default());
//! gpu.trace_to(Some(checker.sink()));
//! // … a driver gives the GPU work, and then:
//! assert!(checker.finish().findings.is_empty());
//! ```
//!
//! What each promises and what not is on docs/checks.md.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod checker;
mod job;

pub use checker::{Checker, Found};
