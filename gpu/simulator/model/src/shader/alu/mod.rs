//! ALU operations: what each one computes, apart from where its operands come from.
//!
//! Needs: sources already selected and negated (`select`).  Guarantees: pure functions of the sources; all lanes are
//! computed, whoever calls writes back the active ones.  One file a family; a family's enum is its list of operations.
//!
//! Facts: hardware/valhall-isa.md 8 and 9; checked by data/isa-semantics-vectors.json.

#![allow(
    missing_docs,
    reason = "the operation's own comment says what its modifiers are"
)]

mod arithmetic;
mod bits;
mod compare;
mod convert;
mod integer;
mod singles;
mod special;
mod wide;

pub use arithmetic::{Arithmetic, FloatType, FlushNan, Reduction, RscaleMode};
pub use bits::{Bits, Logic, MuxMode, Shift, ShiftKind};
pub use compare::{Combine, Compare, Condition, ResultType};
pub use convert::Convert;
pub use integer::Integer;
pub use special::Special;
pub use wide::Wide;

use super::float::FloatPolicy;
use super::lanes::Lanes;

/// An operation with up to four 32-bit sources and one 32-bit result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alu {
    /// Source 0 as it stands.
    Move,
    /// Integer arithmetic.
    Integer(Integer),
    /// Shifts, logic and packing.
    Bits(Bits),
    /// Comparisons and selects.
    Compare(Compare),
    /// Float arithmetic.
    Arithmetic(Arithmetic),
    /// Conversions between types.
    Convert(Convert),
    /// Special functions, their helper tables, and cube maps.
    Special(Special),
}

impl Alu {
    /// Sets `out` to the operation's result in every lane.
    #[inline(always)]
    pub(crate) fn run(self, sources: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        match self {
            Alu::Move => *out = *sources[0],
            Alu::Integer(operation) => operation.run(sources, out),
            Alu::Bits(operation) => operation.run(sources, out),
            Alu::Compare(operation) => operation.run(sources, out, policy),
            Alu::Arithmetic(operation) => operation.run(sources, out, policy),
            Alu::Convert(operation) => operation.run(sources, out, policy),
            Alu::Special(operation) => operation.run(sources, out, policy),
        }
    }
}
