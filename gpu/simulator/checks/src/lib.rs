//! Checkers: the errors of a shader's author, told.
//!
//! Each checker is an automaton that knows nothing of a GPU or of an interpreter: `race`, `undefined` with `shadow` and `origin`.
//! `watch` tells them what happens: it observes the interpreter of the IR (`eitri_shaderc::interp`) run a dispatch as it was
//! translated, before any pass, with what the source says beside it. That is where operations still are what the author wrote: in
//! machine code a division is a sequence, a scope an access mode, an array in a struct an offset.
//! Of machine code there are accesses and barriers alone: `code_race`, told by `eitri_code_checks`.
//! In reading order: `event`, `clock`, `knowledge`, `history`, `race`; `code_race`; `undefined`, `origin`, `shadow`; `finding`, `invocation`; `watch`, `check`, `draw`.
//!
//! ```
//! use eitri_checks::event::{Access, Agent, Classes, Kind, Reach};
//! use eitri_checks::race::Races;
//!
//! let store = |lane| Access {
//!     agent: Agent { lane, subgroup: 0, group: 0 },
//!     object: 0,
//!     class: Classes::SHARED,
//!     start: 64,
//!     bytes: 4,
//!     kind: Kind::Write,
//!     reach: Reach { private: false, coherent: None, atomic: None },
//!     order: None,
//!     value: lane.into(),
//!     fixed: false,
//!     site: 7,
//! };
//! let mut races = Races::default();
//! assert_eq!(races.access(&store(0)), None);
//! // Nothing orders lanes of a subgroup.
//! let race = races.access(&store(1)).ok_or("no race")?;
//! assert_eq!((race.first.agent.lane, race.second.agent.lane), (0, 1));
//! # Ok::<(), &str>(())
//! ```
//!
//! Facts: hardware/memory-model.md. What each promises and what not is on docs/checks.md.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod clock;
pub mod code_race;
pub mod draw;
pub mod event;
mod finding;
mod history;
mod invocation;
mod knowledge;
mod origin;
pub mod race;
mod shadow;
pub mod undefined;
mod watch;

pub use check::{Checked, Error, PushAddress, Request, Unwritten, check, push_addresses};
pub use finding::{Finding, Level, Place, Related, Rule};
pub use invocation::Invocation;
