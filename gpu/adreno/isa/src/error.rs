//! Why a word is not an instruction, or an instruction not a word.

use crate::field::Field;
use crate::generation::{Gen, Gens};
use crate::op::Op;
use crate::values::Width;

/// Why an instruction can't be built or encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The generation lacks the encoding.
    #[error("{op} exists on {has}, not on {generation}")]
    NoSuchInstruction {
        /// The instruction.
        op: Op,
        /// The generation asked for.
        generation: Gen,
        /// Those that have it.
        has: Gens,
    },
    /// The instruction lacks the field, or has no more sources.
    #[error("{op} has no {}", field.name())]
    NoSuch {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
    },
    /// A field was never given and has no default.
    #[error("{op} lacks {}", field.name())]
    Missing {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
    },
    /// The value is out of range or reserved.
    #[error("{} of {op} can't be {value}", field.name())]
    Value {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
        /// The value.
        value: i64,
    },
    /// The field can't hold an operand of this kind, or not with these modifiers.
    #[error("{} of {op} can't be encoded: not an operand of a kind that it takes", field.name())]
    Operand {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
    },
    /// A register has another width than the instruction or its other operands ask for.
    #[error("{} of {op} must be {} bits wide here", field.name(), width.bits())]
    Width {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
        /// The width that it must have.
        width: Width,
    },
    /// (r) on an instruction that is not repeated, where its bits count idle slots.
    #[error("{op}: (r) and idle slots share bits; (r) needs a repeat, idle slots none")]
    IdleRepeat {
        /// The instruction.
        op: Op,
    },
}

/// Why a word is no instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// No row of the table matches.
    #[error("no instruction of {generation} has the bits {word:#018x}")]
    Unknown {
        /// The word.
        word: u64,
        /// The generation.
        generation: Gen,
    },
    /// An operand has an encoding that nothing is known of.
    #[error("{} of {op} has the reserved bits {bits:#x}", field.name())]
    Reserved {
        /// The instruction.
        op: Op,
        /// The field.
        field: Field,
        /// Its bits.
        bits: u32,
    },
}
