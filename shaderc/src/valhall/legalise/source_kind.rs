//! Source kinds: what an instruction can do to a source on the way in, as far as constants profit from it.
//!
//! A test holds this against the tables of `eitri-isa`.  Facts: hardware/valhall-isa.md 7.3.

use crate::valhall::mir::Op;

/// What can be done to a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SourceKind {
    /// Nothing.
    Plain,
    /// Sign, absolute value, and a half widened to binary32.
    Float,
    /// Sign and absolute value.
    Signed,
    /// A byte or half, zero-extended.
    Unsigned,
    /// A byte or half, sign-extended.
    Extended,
    /// A byte, which must be named.
    Byte,
    /// The complement.
    Inverted,
}

impl SourceKind {
    /// The kind of source `index` of `op`.
    pub(crate) fn of(op: Op, index: usize) -> SourceKind {
        match (op, index) {
            (Op::FAdd | Op::FMin | Op::FMax | Op::FCmpOr | Op::FCmpAnd, 0 | 1)
            | (Op::Fma, 0..=2)
            | (Op::FRound | Op::LdExp | Op::FRcp | Op::FRsq | Op::FLogD, 0) => SourceKind::Float,
            (Op::FmaRscale, 0..=2)
            | (Op::FAddLscale | Op::V2F32ToV2F16, 0 | 1)
            | (Op::F32ToS32 | Op::F32ToU32, 0)
            | (Op::FExp, 1) => SourceKind::Signed,
            (Op::IAdd | Op::ISub | Op::IMul | Op::ICmpOrU | Op::ICmpAndU, 0 | 1) | (Op::U32ToF32, 0) => {
                SourceKind::Unsigned
            }
            (Op::IAddS | Op::ISubS | Op::ICmpOrS | Op::ICmpAndS, 0 | 1) | (Op::S32ToF32, 0) => SourceKind::Extended,
            (op, 0) if is_shift(op) => SourceKind::Unsigned,
            (op, 1) if is_shift(op) => SourceKind::Byte,
            (op, 2) if is_shift(op) => SourceKind::Inverted,
            _ => SourceKind::Plain,
        }
    }
}

fn is_shift(op: Op) -> bool {
    matches!(
        op,
        Op::LShiftAnd
            | Op::LShiftOr
            | Op::LShiftXor
            | Op::RShiftAnd
            | Op::RShiftOr
            | Op::RShiftXor
            | Op::ARShiftAnd
            | Op::ARShiftOr
            | Op::ARShiftXor
            | Op::LRotAnd
            | Op::LRotOr
            | Op::LRotXor
    )
}
