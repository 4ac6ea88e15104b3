//! Reductions and scans over a subgroup.
//!
//! Where the target has no scans, they are made of shuffles, in any set of active lanes: each lane knows the next active one
//! below it, and in every step takes in what that one has and goes on to where that one points, so that it has all below it
//! after as many steps as a cluster has bits.  Facts: hardware/compiler-isel.md 8; hardware/compiler-ir.md 1.5.

use rspirv::spirv::{GroupOperation, Op};

use super::{
    active, cluster_size, group_operation, has_scans, lane_of, lanes, own, shuffle, through_words,
};
use crate::ir::{self, Alu, Builder, Combine, LaneMask, LaneOp, ScanForm, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// How an instruction combines lanes, and by what operation.
#[rustfmt::skip]
pub(super) fn combine(op: Op) -> Option<(Combine, Alu)> {
    let combine = match op {
        Op::GroupNonUniformIAdd       => Combine::IAdd,
        Op::GroupNonUniformFAdd       => Combine::FAdd,
        Op::GroupNonUniformIMul       => Combine::IMul,
        Op::GroupNonUniformFMul       => Combine::FMul,
        Op::GroupNonUniformSMin       => Combine::SMin,
        Op::GroupNonUniformUMin       => Combine::UMin,
        Op::GroupNonUniformFMin       => Combine::FMin,
        Op::GroupNonUniformSMax       => Combine::SMax,
        Op::GroupNonUniformUMax       => Combine::UMax,
        Op::GroupNonUniformFMax       => Combine::FMax,
        Op::GroupNonUniformBitwiseAnd => Combine::And,
        Op::GroupNonUniformBitwiseOr  => Combine::Or,
        Op::GroupNonUniformBitwiseXor => Combine::Xor,
        Op::GroupNonUniformLogicalAnd => return Some((Combine::And, Alu::BAnd)),
        Op::GroupNonUniformLogicalOr  => return Some((Combine::Or, Alu::BOr)),
        Op::GroupNonUniformLogicalXor => return Some((Combine::Xor, Alu::BXor)),
        _ => return None,
    };
    Some((combine, combine.alu()))
}

/// A reduction or scan over the active lanes of each cluster.
pub(super) fn arithmetic(
    t: &mut Translator<'_>,
    instr: &Instr,
    combine: Combine,
    alu: Alu,
) -> Result<Vec<Value>> {
    let operation = group_operation(instr, 1)?;
    let value = t.operand(instr, 2)?;
    let fits = alu.operands()[0];
    let (floats, booleans) = (value.ty.is_float(), *value.ty.component() == Type::Bool);
    if floats != fits.is_float() || booleans != (fits == ir::Kind::B) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let all = lanes(&t.builder).count();
    let (form, size) = match operation {
        GroupOperation::Reduce => (ScanForm::Reduce, all),
        GroupOperation::InclusiveScan => (ScanForm::Inclusive, all),
        GroupOperation::ExclusiveScan => (ScanForm::Exclusive, all),
        GroupOperation::ClusteredReduce => {
            (ScanForm::Reduce, cluster_size(t, instr, instr.word(3)?)?)
        }
        other => return Err(instr.unsupported(Feature::Use, format!("{other:?}"))),
    };
    let fits = |scalar: &Value| {
        matches!(
            t.builder.function.ty(*scalar),
            ir::Type::W32 | ir::Type::Bool
        )
    };
    if has_scans(t) && size == all && value.scalars.iter().all(fits) {
        let scan = |b: &mut Builder<'_>, word| b.inst(ir::Op::Scan(combine, form), &[word])[0];
        let (scalars, b) = (value.scalars.iter(), &mut t.builder);
        return Ok(scalars
            .map(|scalar| through_words(b, *scalar, scan))
            .collect());
    }
    let active = active(t);
    let b = &mut t.builder;
    let chain = Chain::new(b, active, alu, size);
    let scalars = value.scalars.iter();
    let each = scalars.map(|scalar| chain.scan(b, combine, form, *scalar));
    Ok(each.collect())
}

/// The active lanes of each cluster as a chain, each with the next below it.
struct Chain {
    alu: Alu,
    /// Lanes of a cluster.
    size: u32,
    /// Whether there is one below.
    has_next: Value,
    /// That one; or the lane itself, with a bit that says so.
    pointer: Value,
    /// The highest of the cluster.
    last: Value,
}

impl Chain {
    fn new(b: &mut Builder<'_>, active: LaneMask, alu: Alu, size: u32) -> Chain {
        let own = own(b);
        let count = lanes(b).count();
        let cluster = match size == count {
            true => active,
            false => {
                let lanes = LaneMask::cluster(b, size);
                active.and(b, &lanes)
            }
        };
        let below = LaneMask::below(b, false);
        let below = cluster.and(b, &below);
        let next = below.highest(b);
        let has_next = below.any(b);
        let itself = b.alu_word(Alu::IOr, own, count);
        // A lane that only helps may be alone in its cluster, and then there is none.
        let last = cluster.highest(b);
        let last = match b.function.stage {
            ir::Stage::Compute => last,
            _ => lane_of(b, last),
        };
        Chain {
            alu,
            size,
            has_next,
            pointer: b.select(has_next, next, itself),
            last,
        }
    }

    /// What a lane gets.
    fn scan(&self, b: &mut Builder<'_>, combine: Combine, form: ScanForm, value: Value) -> Value {
        let inclusive = self.inclusive(b, value);
        match form {
            ScanForm::Inclusive => inclusive,
            ScanForm::Exclusive => {
                let lane = lane_of(b, self.pointer);
                let before = shuffle(b, LaneOp::Shuffle, inclusive, lane);
                let ty = b.function.ty(value);
                let neutral = b.function.constant_of(ty, combine.neutral(ty));
                b.select(self.has_next, before, neutral)
            }
            ScanForm::Reduce => shuffle(b, LaneOp::Shuffle, inclusive, self.last),
        }
    }

    /// What all lanes of a chain have together, up to each of them.
    fn inclusive(&self, b: &mut Builder<'_>, value: Value) -> Value {
        let (mut sum, mut pointer) = (value, self.pointer);
        let steps = self.size.trailing_zeros();
        let count = lanes(b).count();
        for step in 0..steps {
            let lane = lane_of(b, pointer);
            let done = b.alu_word(Alu::UGe, pointer, count);
            let theirs = shuffle(b, LaneOp::Shuffle, sum, lane);
            let both = b.alu(self.alu, &[theirs, sum]);
            sum = b.select(done, sum, both);
            if step + 1 < steps {
                let further = b.lanes(LaneOp::Shuffle, &[pointer, lane]);
                pointer = b.select(done, pointer, further);
            }
        }
        sum
    }
}
