//! The tables of instructions, one file a family, and what a row says.
//!
//! A row is an instruction:
//!
//! ```text
//! /// What it does.
//! NAME Type opcode ARCHES Category Timing { fields } "text" .more(columns);
//! ```
//!
//! A field is `name: Type[high:low ARCHES, …] "note" .more(columns);`, or `name;` / `name = key;` for a row of
//! `shared_fields.rs`.  From the rows `instr.rs` makes a type for each instruction, the enum of all, encode and decode;
//! text, documentation and register use read them as data.  Facts: hardware/command-stream.md 2, 3 and 5.

mod aliases;
pub(crate) mod define;
mod info;
pub(crate) mod shared_fields;
mod spans;

pub(crate) mod arithmetic;
pub(crate) mod control_flow;
pub(crate) mod jobs;
pub(crate) mod memory;
pub(crate) mod moves;
pub(crate) mod progress;
pub(crate) mod resources;
pub(crate) mod scoreboard;
pub(crate) mod sync;

pub use aliases::{ALIASES, Alias};
pub use info::{Category, Info, Resources, SubGroup, SubOpcode, Text, Timing};
pub use spans::{Span, SpanKind};
