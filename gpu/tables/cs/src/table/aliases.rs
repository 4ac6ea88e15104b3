//! Aliases: other names for LOGIC_OP32 with its mode and index given. v11 and later.
//!
//! Facts: hardware/command-stream.md 3.1.

use crate::enums::{LogicIndex, LogicOp};

/// A name for LOGIC_OP32 with some fields given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The truth table.
    pub mode: LogicOp,
    /// Whether b is source 1 or the bit that it numbers.
    pub index: LogicIndex,
    /// Its text: the operands that are left; source 1, where it is not there, is 0.
    pub text: &'static str,
    /// What it does.
    pub note: &'static str,
}

const fn row(
    name: &'static str,
    mode: LogicOp,
    index: LogicIndex,
    text: &'static str,
    note: &'static str,
) -> Alias {
    Alias {
        name,
        mode,
        index,
        text,
        note,
    }
}

use LogicIndex::{Direct, Index};
use LogicOp::{And, AndANb, MovA, NotA, Or, Xor};

/// Every alias.
#[rustfmt::skip]
pub const ALIASES: &[Alias] = &[
    row("MOVE_REG32",  MovA,   Direct, "MOVE_REG32 r{destination}, r{source_0}",                "a"),
    row("AND32",       And,    Direct, "AND32 r{destination}, r{source_0}, r{source_1}",        "a & b"),
    row("XOR32",       Xor,    Direct, "XOR32 r{destination}, r{source_0}, r{source_1}",        "a ^ b"),
    row("OR32",        Or,     Direct, "OR32 r{destination}, r{source_0}, r{source_1}",         "a | b"),
    row("NOT32",       NotA,   Direct, "NOT32 r{destination}, r{source_0}",                     "~a"),
    row("BIT_SET32",   Or,     Index,  "BIT_SET32 r{destination}, r{source_0}, r{source_1}",    "a with bit b set"),
    row("BIT_CLEAR32", AndANb, Index,  "BIT_CLEAR32 r{destination}, r{source_0}, r{source_1}",  "a with bit b cleared"),
];
