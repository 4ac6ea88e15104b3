//! ALU operations: what each one computes, apart from where its operands come from.
//!
//! Needs: sources already selected and negated (`select`).  Guarantees: pure functions of the sources; all lanes are
//! computed, whoever calls writes back the active ones.  One file a family; a family's enum is its list of operations.
//!
//! Facts: hardware/valhall-isa.md 8 and 9; checked by data/isa-semantics-vectors.json.

mod arithmetic;
mod bits;
mod compare;
mod convert;
mod integer;
mod singles;
mod special;
mod wide;

pub(crate) use arithmetic::{Arithmetic, FloatType, FlushNan, Reduction, RscaleMode};
pub(crate) use bits::{Bits, Logic, MuxMode, Shift, ShiftKind};
pub(crate) use compare::{Combine, Compare, Condition, ResultType};
pub(crate) use convert::Convert;
pub(crate) use integer::Integer;
pub(crate) use special::Special;
pub(crate) use wide::Wide;

use super::float::FloatPolicy;
use super::lanes::Lanes;

/// An operation with up to four 32-bit sources and one 32-bit result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alu {
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
