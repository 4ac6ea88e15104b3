//! Machine IR: Valhall instructions on 32-bit words that have no register yet.
//!
//! A *value* `%n` is one 32-bit word. A 64-bit operand is a pair of values and a message's payload is a run of them;
//! the allocator gives such a group consecutive registers. There are no pseudo-instructions that build or take apart
//! vectors. Until `lower_phis` each value has one definition that dominates its uses; from there on a value that a phi
//! became may be written several times. After `allocate` every word is a register.
//!
//! Blocks stand in the order of the structured program (then, else, join; loop body, exit), which is the order that
//! the hardware's reconvergence expects.  Facts: hardware/compiler-backend.md 2, 8.4.

mod fau_word;
mod function;
mod modifier;
mod op;
mod operand;
mod parse;
mod print;
mod verify;

pub(crate) use eitri_isa::Select;
pub use fau_word::{AddressHalf, FauWord};
pub(crate) use function::{
    Block, BlockId, Function, Instr, Location, Modifiers, Phi, Preload, Sources, Terminator, Words,
};
pub(crate) use modifier::{Flow, Modifier};
pub(crate) use op::{Message, Op};
pub(crate) use operand::{Half, Operand, Register, Source, Space, Special, Value, Word};
pub(crate) use verify::{Form, verify};
