//! Subgroups: GroupNonUniform instructions, of the few things that lanes can do together.
//!
//! Where the target has no scans, they are made of shuffles, in any set of active lanes: each lane knows the next active one
//! below it, and in every step takes in what that one has and goes on to where that one points, so that it has all below it
//! after as many steps as a cluster has bits.  Facts: hardware/compiler-isel.md 8; hardware/compiler-ir.md 1.5.
use std::rc::Rc;

use rspirv::spirv::{BuiltIn, GroupOperation, Op, Scope};

use crate::ir::{self, Alu, Builder, Combine, LaneMask, LaneOp, Lanes, ScanForm, SysVal, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::ops::convert;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    if let Some((combine, alu)) = combine(op) {
        subgroup_scope(t, instr)?;
        let scalars = arithmetic(t, instr, combine, alu)?;
        t.define(instr, scalars)?;
        return Ok(true);
    }
    // Those of the older extensions have no scope.
    let first = match op {
        Op::SubgroupAllKHR
        | Op::SubgroupAnyKHR
        | Op::SubgroupAllEqualKHR
        | Op::SubgroupBallotKHR
        | Op::SubgroupFirstInvocationKHR
        | Op::SubgroupReadInvocationKHR
        | Op::GroupNonUniformQuadAllKHR
        | Op::GroupNonUniformQuadAnyKHR => 0,
        _ => 1,
    };
    let scalars = match op {
        Op::GroupNonUniformElect => {
            let active = LaneMask::active(&mut t.builder);
            let lowest = active.lowest(&mut t.builder);
            let own = own(&mut t.builder);
            vec![t.builder.alu(Alu::IEq, &[own, lowest])]
        }
        Op::GroupNonUniformAll | Op::SubgroupAllKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            vec![all(&mut t.builder, value)]
        }
        Op::GroupNonUniformAny | Op::SubgroupAnyKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            let mask = LaneMask::ballot(&mut t.builder, value);
            vec![mask.any(&mut t.builder)]
        }
        Op::GroupNonUniformQuadAllKHR | Op::GroupNonUniformQuadAnyKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            vec![quad_vote(
                &mut t.builder,
                value,
                op == Op::GroupNonUniformQuadAllKHR,
            )]
        }
        Op::GroupNonUniformAllEqual | Op::SubgroupAllEqualKHR => vec![all_equal(t, instr, first)?],
        Op::GroupNonUniformBallot | Op::SubgroupBallotKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            let mask = LaneMask::ballot(&mut t.builder, value);
            vector(&mut t.builder, &mask)
        }
        Op::GroupNonUniformInverseBallot => {
            let mask = mask_operand(t, instr, first)?;
            let own = own(&mut t.builder);
            vec![mask.has(&mut t.builder, own)]
        }
        Op::GroupNonUniformBallotBitExtract => {
            let mask = mask_operand(t, instr, first)?;
            let index = t.integer(instr, first + 1)?;
            let count = lanes(&t.builder).count();
            let inside = t.builder.alu_word(Alu::ULt, index, count);
            let bit = mask.has(&mut t.builder, index);
            vec![t.builder.alu(Alu::BAnd, &[bit, inside])]
        }
        Op::GroupNonUniformBallotBitCount => {
            let operation = group_operation(instr, first)?;
            let mask = mask_operand(t, instr, first + 1)?;
            let b = &mut t.builder;
            let counted = match operation {
                GroupOperation::Reduce => mask,
                GroupOperation::InclusiveScan => {
                    let below = LaneMask::below(b, true);
                    mask.and(b, &below)
                }
                GroupOperation::ExclusiveScan => {
                    let below = LaneMask::below(b, false);
                    mask.and(b, &below)
                }
                other => return Err(instr.unsupported(Feature::Use, format!("{other:?}"))),
            };
            vec![counted.count(b)]
        }
        Op::GroupNonUniformBallotFindLSB => {
            let mask = mask_operand(t, instr, first)?;
            vec![mask.lowest(&mut t.builder)]
        }
        Op::GroupNonUniformBallotFindMSB => {
            let mask = mask_operand(t, instr, first)?;
            vec![mask.highest(&mut t.builder)]
        }
        Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR => {
            let value = t.operand(instr, first)?;
            from_first(t, &value.scalars)
        }
        Op::GroupNonUniformBroadcast
        | Op::GroupNonUniformShuffle
        | Op::SubgroupReadInvocationKHR => {
            let lane = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| lane_of(b, lane))?
        }
        Op::GroupNonUniformShuffleXor => {
            let mask = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let lane = b.alu(Alu::IXor, &[own, mask]);
                lane_of(b, lane)
            })?
        }
        Op::GroupNonUniformShuffleUp | Op::GroupNonUniformShuffleDown => {
            let delta = t.integer(instr, first + 1)?;
            let alu = match op {
                Op::GroupNonUniformShuffleUp => Alu::ISub,
                _ => Alu::IAdd,
            };
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let lane = b.alu(alu, &[own, delta]);
                lane_of(b, lane)
            })?
        }
        Op::GroupNonUniformRotateKHR => {
            let delta = t.integer(instr, first + 1)?;
            let size = match instr.operands.get(first + 2) {
                Some(id) => cluster_size(t, instr, *id)?,
                None => lanes(&t.builder).count(),
            };
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let sum = b.alu(Alu::IAdd, &[own, delta]);
                let inside = b.alu_word(Alu::IAnd, sum, size - 1);
                let start = b.alu_word(Alu::IAnd, own, !(size - 1));
                b.alu(Alu::IOr, &[start, inside])
            })?
        }
        Op::GroupNonUniformQuadBroadcast => {
            let index = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let start = b.alu_word(Alu::IAnd, own, !3);
                let index = b.alu_word(Alu::IAnd, index, 3);
                b.alu(Alu::IOr, &[start, index])
            })?
        }
        Op::GroupNonUniformQuadSwap => {
            let direction = t.module.constant_word(instr, instr.word(first + 1)?)?;
            if direction > 2 {
                return Err(instr.invalid(Invalid::Literal(direction)));
            }
            let value = t.operand(instr, first)?;
            let mask = t.builder.word(direction + 1);
            let swapped = value
                .scalars
                .iter()
                .map(|scalar| shuffle(&mut t.builder, LaneOp::ShuffleXor, *scalar, mask));
            swapped.collect()
        }
        _ => return Ok(false),
    };
    if first == 1 {
        subgroup_scope(t, instr)?;
    }
    let wanted = t.result_type(instr)?.component().scalar();
    let count = matches!(
        op,
        Op::GroupNonUniformBallotBitCount
            | Op::GroupNonUniformBallotFindLSB
            | Op::GroupNonUniformBallotFindMSB
    );
    let scalars = scalars.into_iter().map(|value| match wanted {
        Some(wanted) if count => convert::fit(&mut t.builder, value, wanted),
        _ => value,
    });
    let scalars: Rc<[Value]> = scalars.collect();
    t.define(instr, scalars)?;
    Ok(true)
}

fn subgroup_scope(t: &Translator<'_>, instr: &Instr) -> Result<()> {
    let scope = t.module.constant_word(instr, instr.word(0)?)?;
    match Scope::from_u32(scope) {
        Some(Scope::Subgroup) => Ok(()),
        Some(scope) => Err(instr.unsupported(Feature::Scope, format!("{scope:?} of a group"))),
        None => Err(instr.invalid(Invalid::Literal(scope))),
    }
}

fn group_operation(instr: &Instr, index: usize) -> Result<GroupOperation> {
    let number = instr.word(index)?;
    GroupOperation::from_u32(number).ok_or_else(|| instr.invalid(Invalid::Literal(number)))
}

/// The size of a cluster, which must be a power of two.
fn cluster_size(t: &Translator<'_>, instr: &Instr, id: u32) -> Result<u32> {
    let size = t.module.constant_word(instr, id)?;
    match size.is_power_of_two() {
        true => Ok(size.min(lanes(&t.builder).count())),
        false => Err(instr.invalid(Invalid::Literal(size))),
    }
}

/// Lanes of a subgroup.
fn lanes(b: &Builder<'_>) -> Lanes {
    b.function.lanes
}

/// The bits of a number that number a lane.
fn lane_of(b: &mut Builder<'_>, number: Value) -> Value {
    let last = lanes(b).last();
    b.alu_word(Alu::IAnd, number, last)
}

/// The number of this lane.
fn own(b: &mut Builder<'_>) -> Value {
    b.sys_val(SysVal::LaneId)
}

/// Whether a boolean is true in all lanes that are here.
fn all(b: &mut Builder<'_>, value: Value) -> Value {
    let not = b.alu(Alu::BNot, &[value]);
    LaneMask::ballot(b, not).none(b)
}

fn quad_vote(b: &mut Builder<'_>, value: Value, all: bool) -> Value {
    let asked = match all {
        true => b.alu(Alu::BNot, &[value]),
        false => value,
    };
    let mask = LaneMask::ballot(b, asked);
    let own = own(b);
    let start = b.alu_word(Alu::IAnd, own, !3);
    let word = mask.word_of(b, start);
    let quad = b.alu(Alu::UShr, &[word, start]);
    let quad = b.alu_word(Alu::IAnd, quad, 15);
    b.alu_word(if all { Alu::IEq } else { Alu::INe }, quad, 0)
}

fn all_equal(t: &mut Translator<'_>, instr: &Instr, first: usize) -> Result<Value> {
    let value = t.operand(instr, first)?;
    let theirs = from_first(t, &value.scalars);
    let mut same = t.builder.function.bool(true);
    for (scalar, theirs) in value.scalars.iter().zip(theirs) {
        let b = &mut t.builder;
        let equal = match value.ty.component() {
            Type::Bool => {
                let differs = b.alu(Alu::BXor, &[*scalar, theirs]);
                b.alu(Alu::BNot, &[differs])
            }
            Type::Float { .. } => b.alu(Alu::FEq, &[*scalar, theirs]),
            _ => b.alu(Alu::IEq, &[*scalar, theirs]),
        };
        same = b.alu(Alu::BAnd, &[same, equal]);
    }
    Ok(all(&mut t.builder, same))
}

/// A mask as the vector of four words that SPIR-V has.
fn vector(b: &mut Builder<'_>, mask: &LaneMask) -> Vec<Value> {
    let zero = b.word(0);
    let mut words = mask.words().to_vec();
    words.resize(4, zero);
    words
}

/// The words of a mask in which lanes have their bits.
fn mask_operand(t: &mut Translator<'_>, instr: &Instr, index: usize) -> Result<LaneMask> {
    let vector = t.operand(instr, index)?;
    LaneMask::of_vector(&mut t.builder, &vector.scalars)
        .ok_or_else(|| instr.invalid(Invalid::TypeMismatch))
}

/// What SubgroupEqMask and its like hold.
pub(crate) fn mask(b: &mut Builder<'_>, built_in: BuiltIn) -> Vec<Value> {
    let mask = match built_in {
        BuiltIn::SubgroupLtMask => LaneMask::below(b, false),
        BuiltIn::SubgroupLeMask => LaneMask::below(b, true),
        BuiltIn::SubgroupGeMask | BuiltIn::SubgroupGtMask => {
            let below = LaneMask::below(b, built_in == BuiltIn::SubgroupGtMask);
            below.not(b)
        }
        _ => LaneMask::own(b),
    };
    vector(b, &mask)
}

/// What lanes do to a scalar, of which a boolean is a word for them.
fn through_words(
    b: &mut Builder<'_>,
    value: Value,
    exchange: impl FnOnce(&mut Builder<'_>, Value) -> Value,
) -> Value {
    if b.function.ty(value) != ir::Type::Bool {
        return exchange(b, value);
    }
    let word = b.alu(Alu::B2I, &[value]);
    let word = exchange(b, word);
    b.alu_word(Alu::INe, word, 0)
}

/// A scalar of another lane.
fn shuffle(b: &mut Builder<'_>, op: LaneOp, value: Value, lane: Value) -> Value {
    through_words(b, value, |b, word| b.lanes(op, &[word, lane]))
}

/// The scalars of operand `index` from the lane that `lane` gives.
fn from_lane(
    t: &mut Translator<'_>,
    instr: &Instr,
    index: usize,
    lane: impl FnOnce(&mut Builder<'_>) -> Value,
) -> Result<Vec<Value>> {
    let value = t.operand(instr, index)?;
    let lane = lane(&mut t.builder);
    let scalars = value.scalars.iter();
    Ok(scalars
        .map(|scalar| shuffle(&mut t.builder, LaneOp::Shuffle, *scalar, lane))
        .collect())
}

/// What each scalar is in the lowest lane that is here.
fn from_first(t: &mut Translator<'_>, scalars: &[Value]) -> Vec<Value> {
    let b = &mut t.builder;
    if t.has_scans {
        let of =
            |scalar: &Value| through_words(b, *scalar, |b, word| b.lanes(LaneOp::First, &[word]));
        return scalars.iter().map(of).collect();
    }
    let lowest = LaneMask::active(b).lowest(b);
    // Some lane is here.
    let lane = lane_of(b, lowest);
    let of = |scalar: &Value| shuffle(b, LaneOp::Shuffle, *scalar, lane);
    scalars.iter().map(of).collect()
}

/// How an instruction combines lanes, and by what operation.
#[rustfmt::skip]
fn combine(op: Op) -> Option<(Combine, Alu)> {
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
fn arithmetic(
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
    let b = &mut t.builder;
    let fits = |scalar: &Value| matches!(b.function.ty(*scalar), ir::Type::W32 | ir::Type::Bool);
    if t.has_scans && size == all && value.scalars.iter().all(fits) {
        let scan = |b: &mut Builder<'_>, word| b.inst(ir::Op::Scan(combine, form), &[word])[0];
        let scalars = value.scalars.iter();
        return Ok(scalars
            .map(|scalar| through_words(b, *scalar, scan))
            .collect());
    }
    let chain = Chain::new(b, alu, size);
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
    fn new(b: &mut Builder<'_>, alu: Alu, size: u32) -> Chain {
        let active = LaneMask::active(b);
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
        Chain {
            alu,
            size,
            has_next,
            pointer: b.select(has_next, next, itself),
            last: cluster.highest(b),
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
