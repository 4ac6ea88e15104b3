//! Checkers: the errors of a shader's author, told.
//!
//! Each checker is an automaton that knows nothing of a GPU or of an interpreter: `race`, `undefined` with `shadow` and `origin`.
//! `watch` tells them what happens: it observes the interpreter of the IR (`eitri_shaderc::interp`) run a dispatch as it was
//! translated, before any pass, with what the source says beside it. That is where operations still are what the author wrote: in
//! machine code a division is a sequence, a scope an access mode, an array in a struct an offset.
//! In reading order: `event`, `clock`, `history`, `race`; `undefined`, `origin`, `shadow`; `finding`; `watch`, `check`.
//! Facts: hardware/memory-model.md. What each promises and what not is on docs/checks.md.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod clock;
pub mod event;
mod finding;
mod history;
mod origin;
pub mod race;
mod shadow;
pub mod undefined;
mod watch;

pub use check::{Checked, Error, PushAddress, Request, Unwritten, check};
pub use finding::{Finding, Level, Place, Related, Rule};
