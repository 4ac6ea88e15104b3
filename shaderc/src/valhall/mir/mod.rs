//! Machine IR: Valhall instructions on words that have no register yet.
//!
//! A value is one 32-bit word, or a half or byte of one. A 64-bit operand is a pair of values and a message's payload is a run of them;
//! the allocator gives such a group consecutive registers. There are no pseudo-instructions that build or take apart
//! vectors. What functions, blocks and values are is in [`crate::machine`].
//! Facts: hardware/compiler-backend.md 2, 8.4.

mod fau_word;
mod instr;
mod machine;
mod modifier;
mod op;
mod operand;
mod parse;
mod part;
mod print;
mod uniform_work;

use crate::machine as shared;

pub(crate) use self::instr::{Extra, Instr, Modifiers, Sources, Words};
pub(crate) use self::machine::{RETURN_ADDRESS, Valhall};
pub(crate) use self::modifier::{Flow, Modifier};
pub(crate) use self::op::{Message, Op};
pub(crate) use self::operand::{Half, Operand, Register, Source, Space, Special, Word};
pub(crate) use self::part::{Part, REGISTER_BYTES, Width};
#[cfg(test)]
pub(crate) use crate::machine::verify;
pub(crate) use crate::machine::{BlockId, Form, Instruction, Location, Value};
pub(crate) use eitri_isa::Select;
pub use fau_word::{AddressHalf, FauWord};
pub use uniform_work::UniformWork;

pub(crate) type Function = shared::Function<Valhall>;
pub(crate) type Block = shared::Block<Valhall>;
pub(crate) type Phi = shared::Phi<Valhall>;
pub(crate) type Preload = shared::Preload<Valhall>;
pub(crate) type Terminator = shared::Terminator<Valhall>;
