//! What back ends share: machine IR of any machine, and the passes and checkers that serve them all.
//!
//! A back end says what its machine is ([`Machine`]: registers, instructions, how a word is copied and spilled) and gets
//! functions of it, their text and verifier, and everything between selection and the machine's own rules: copies, dead
//! code, invariants of loops, phis, allocation and its proof, jumps. All is generic over the machine and made anew for
//! each, so nothing is asked at run time what the machine settles.
//!
//! A *value* `%n` is what one register holds: a word of the machine, of one of its classes. Groups of values that an
//! instruction reads or writes as a run get consecutive registers. Until `lower_phis` each value has one definition
//! that dominates its uses; from there on a value that a phi became may be written several times. After `allocate`
//! every word is a register.
//!
//! Blocks stand in the order of the structured program (then, else, join; loop body, exit).
//! Facts: hardware/compiler-backend.md 2, 8.4.

mod interface;
pub(crate) use self::interface::{
    Class, CopiedPart, Copies, Instruction, Machine, Reads, Register, SpillAccess, SpillSlot,
    WordOf,
};

mod function;
pub(crate) use self::function::{
    Block, BlockId, Function, Location, Origin, Phi, Preload, Terminator, Value, Word,
};

mod print;

#[cfg(test)]
pub(crate) mod parse;

mod verify;
pub(crate) use self::verify::Form;
#[cfg(test)]
pub(crate) use self::verify::verify;

pub(crate) mod propagate_copies;

pub(crate) mod remove_dead;

pub(crate) mod share_moves;

pub(crate) mod hoist_invariants;

pub(crate) mod variants;

pub(crate) mod delay_sources;

pub(crate) mod split_edges;

pub(crate) mod lower_phis;

pub(crate) mod isolate_groups;

pub(crate) mod liveness;

pub(crate) mod allocate;

pub(crate) mod spill;

pub(crate) mod thread_jumps;

pub(crate) mod rotate_loops;

pub(crate) mod passes;

mod unsupported;
pub use self::unsupported::Unsupported;

pub(crate) mod program;

mod listing;
pub use self::listing::{IrLine, Listing, Row as ListingRow};
