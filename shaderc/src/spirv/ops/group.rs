//! Subgroups: GroupNonUniform instructions, of the few things that lanes can do together.
//!
//! Scans work in any set of active lanes: each lane knows the next active one below it, and in every step takes in what
//! that one has and goes on to where that one points, so that it has all below it after as many steps as a cluster has
//! bits.  Facts: hardware/compiler-isel.md 8; hardware/compiler-ir.md 1.5.
use rspirv::spirv::{BuiltIn, GroupOperation, Op, Scope};

use crate::ir::{self, Alu, Builder, LaneOp, Lanes, SysVal, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::ops::convert;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    if let Some(combine) = Combine::of(op) {
        subgroup_scope(t, instr)?;
        let scalars = arithmetic(t, instr, combine)?;
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
            let active = active(&mut t.builder);
            let lowest = t.builder.alu(Alu::FindLsb, &[active]);
            let own = own(&mut t.builder);
            vec![t.builder.alu(Alu::IEq, &[own, lowest])]
        }
        Op::GroupNonUniformAll | Op::SubgroupAllKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            vec![all(&mut t.builder, value)]
        }
        Op::GroupNonUniformAny | Op::SubgroupAnyKHR => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            let mask = t.builder.lanes(LaneOp::Ballot, &[value]);
            vec![t.builder.alu_word(Alu::INe, mask, 0)]
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
            let mask = t.builder.lanes(LaneOp::Ballot, &[value]);
            vector(&mut t.builder, mask)
        }
        Op::GroupNonUniformInverseBallot => {
            let mask = mask_operand(t, instr, first)?;
            let own = own(&mut t.builder);
            vec![bit(&mut t.builder, mask, own)]
        }
        Op::GroupNonUniformBallotBitExtract => {
            let mask = mask_operand(t, instr, first)?;
            let index = t.integer(instr, first + 1)?;
            let count = lanes(&t.builder).count();
            let inside = t.builder.alu_word(Alu::ULt, index, count);
            let bit = bit(&mut t.builder, mask, index);
            vec![t.builder.alu(Alu::BAnd, &[bit, inside])]
        }
        Op::GroupNonUniformBallotBitCount => {
            let operation = group_operation(instr, first)?;
            let mask = mask_operand(t, instr, first + 1)?;
            let b = &mut t.builder;
            let counted = match operation {
                GroupOperation::Reduce => mask,
                GroupOperation::InclusiveScan => {
                    let below = lanes_below(b, true);
                    b.alu(Alu::IAnd, &[mask, below])
                }
                GroupOperation::ExclusiveScan => {
                    let below = lanes_below(b, false);
                    b.alu(Alu::IAnd, &[mask, below])
                }
                other => return Err(instr.unsupported(Feature::Use, format!("{other:?}"))),
            };
            vec![b.alu(Alu::BitCount, &[counted])]
        }
        Op::GroupNonUniformBallotFindLSB => {
            let mask = mask_operand(t, instr, first)?;
            vec![t.builder.alu(Alu::FindLsb, &[mask])]
        }
        Op::GroupNonUniformBallotFindMSB => {
            let mask = mask_operand(t, instr, first)?;
            vec![t.builder.alu(Alu::UFindMsb, &[mask])]
        }
        Op::GroupNonUniformBroadcastFirst | Op::SubgroupFirstInvocationKHR => {
            let lane = first_active(&mut t.builder);
            from_lane(t, instr, first, |_| lane)?
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
    let scalars = scalars.collect();
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

/// The lanes that are here.
fn active(b: &mut Builder<'_>) -> Value {
    let here = b.function.bool(true);
    b.lanes(LaneOp::Ballot, &[here])
}

fn first_active(b: &mut Builder<'_>) -> Value {
    let active = active(b);
    let lowest = b.alu(Alu::FindLsb, &[active]);
    // Some lane is here.
    lane_of(b, lowest)
}

/// Whether a boolean is true in all lanes that are here.
fn all(b: &mut Builder<'_>, value: Value) -> Value {
    let not = b.alu(Alu::BNot, &[value]);
    let mask = b.lanes(LaneOp::Ballot, &[not]);
    b.alu_word(Alu::IEq, mask, 0)
}

fn quad_vote(b: &mut Builder<'_>, value: Value, all: bool) -> Value {
    let asked = match all {
        true => b.alu(Alu::BNot, &[value]),
        false => value,
    };
    let mask = b.lanes(LaneOp::Ballot, &[asked]);
    let own = own(b);
    let start = b.alu_word(Alu::IAnd, own, !3);
    let quad = b.alu(Alu::UShr, &[mask, start]);
    let quad = b.alu_word(Alu::IAnd, quad, 15);
    b.alu_word(if all { Alu::IEq } else { Alu::INe }, quad, 0)
}

fn all_equal(t: &mut Translator<'_>, instr: &Instr, first: usize) -> Result<Value> {
    let value = t.operand(instr, first)?;
    let lane = first_active(&mut t.builder);
    let mut same = t.builder.function.bool(true);
    for scalar in value.scalars.iter() {
        let b = &mut t.builder;
        let theirs = shuffle(b, LaneOp::Shuffle, *scalar, lane);
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
fn vector(b: &mut Builder<'_>, mask: Value) -> Vec<Value> {
    let zero = b.word(0);
    vec![mask, zero, zero, zero]
}

/// The word of a mask in which lanes have their bits.
fn mask_operand(t: &mut Translator<'_>, instr: &Instr, index: usize) -> Result<Value> {
    let vector = t.operand(instr, index)?;
    match vector.scalars.first() {
        Some(word) if t.builder.function.ty(*word) == ir::Type::W32 => {
            let all = lanes(&t.builder).mask();
            Ok(t.builder.alu_word(Alu::IAnd, *word, all))
        }
        _ => Err(instr.invalid(Invalid::TypeMismatch)),
    }
}

fn bit(b: &mut Builder<'_>, mask: Value, index: Value) -> Value {
    let shifted = b.alu(Alu::UShr, &[mask, index]);
    let bit = b.alu_word(Alu::IAnd, shifted, 1);
    b.alu_word(Alu::INe, bit, 0)
}

/// The lanes below this one, perhaps with it.
fn lanes_below(b: &mut Builder<'_>, with_own: bool) -> Value {
    let own = own(b);
    let one = b.word(if with_own { 2 } else { 1 });
    let bit = b.alu(Alu::IShl, &[one, own]);
    b.alu_word(Alu::IAdd, bit, u32::MAX)
}

/// What SubgroupEqMask and its like hold.
pub(crate) fn mask(b: &mut Builder<'_>, built_in: BuiltIn) -> Vec<Value> {
    let mask = match built_in {
        BuiltIn::SubgroupLtMask => lanes_below(b, false),
        BuiltIn::SubgroupLeMask => lanes_below(b, true),
        BuiltIn::SubgroupGeMask | BuiltIn::SubgroupGtMask => {
            let below = lanes_below(b, built_in == BuiltIn::SubgroupGtMask);
            let all = lanes(b).mask();
            b.alu_word(Alu::IXor, below, all)
        }
        _ => {
            let (one, own) = (b.word(1), own(b));
            b.alu(Alu::IShl, &[one, own])
        }
    };
    vector(b, mask)
}

/// A scalar of another lane.
fn shuffle(b: &mut Builder<'_>, op: LaneOp, value: Value, lane: Value) -> Value {
    if b.function.ty(value) != ir::Type::Bool {
        return b.lanes(op, &[value, lane]);
    }
    let word = b.alu(Alu::B2I, &[value]);
    let word = b.lanes(op, &[word, lane]);
    b.alu_word(Alu::INe, word, 0)
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

/// How lanes are combined, and what changes nothing.
#[derive(Clone, Copy)]
struct Combine {
    alu: Alu,
    neutral: Neutral,
}

#[derive(Clone, Copy)]
enum Neutral {
    Zero,
    One,
    Ones,
    /// The least and the greatest signed integer.
    Least,
    Greatest,
    FloatZero,
    FloatOne,
    /// Infinity, of that sign.
    Infinity,
    MinusInfinity,
}

impl Combine {
    #[rustfmt::skip]
    fn of(op: Op) -> Option<Combine> {
        let (alu, neutral) = match op {
            Op::GroupNonUniformIAdd       => (Alu::IAdd, Neutral::Zero),
            Op::GroupNonUniformFAdd       => (Alu::FAdd, Neutral::FloatZero),
            Op::GroupNonUniformIMul       => (Alu::IMul, Neutral::One),
            Op::GroupNonUniformFMul       => (Alu::FMul, Neutral::FloatOne),
            Op::GroupNonUniformSMin       => (Alu::SMin, Neutral::Greatest),
            Op::GroupNonUniformUMin       => (Alu::UMin, Neutral::Ones),
            Op::GroupNonUniformFMin       => (Alu::FMin, Neutral::Infinity),
            Op::GroupNonUniformSMax       => (Alu::SMax, Neutral::Least),
            Op::GroupNonUniformUMax       => (Alu::UMax, Neutral::Zero),
            Op::GroupNonUniformFMax       => (Alu::FMax, Neutral::MinusInfinity),
            Op::GroupNonUniformBitwiseAnd => (Alu::IAnd, Neutral::Ones),
            Op::GroupNonUniformBitwiseOr  => (Alu::IOr,  Neutral::Zero),
            Op::GroupNonUniformBitwiseXor => (Alu::IXor, Neutral::Zero),
            Op::GroupNonUniformLogicalAnd => (Alu::BAnd, Neutral::One),
            Op::GroupNonUniformLogicalOr  => (Alu::BOr,  Neutral::Zero),
            Op::GroupNonUniformLogicalXor => (Alu::BXor, Neutral::Zero),
            _ => return None,
        };
        Some(Combine { alu, neutral })
    }

    fn neutral(self, b: &mut Builder<'_>, ty: ir::Type) -> Value {
        let half = ty == ir::Type::W16;
        let bits = match self.neutral {
            Neutral::Zero => 0,
            Neutral::One => 1,
            Neutral::Ones => u64::MAX,
            Neutral::Least => 1 << (ty.bits() - 1),
            Neutral::Greatest => ty.mask() >> 1,
            // The sum of no numbers but minus zeros is minus zero.
            Neutral::FloatZero => 0,
            Neutral::FloatOne if half => 0x3c00,
            Neutral::FloatOne => f32::to_bits(1.0).into(),
            Neutral::Infinity if half => 0x7c00,
            Neutral::Infinity => f32::INFINITY.to_bits().into(),
            Neutral::MinusInfinity if half => 0xfc00,
            Neutral::MinusInfinity => f32::NEG_INFINITY.to_bits().into(),
        };
        b.function.constant_of(ty, bits)
    }
}

/// A reduction or scan over the active lanes of each cluster.
fn arithmetic(t: &mut Translator<'_>, instr: &Instr, combine: Combine) -> Result<Vec<Value>> {
    let operation = group_operation(instr, 1)?;
    let value = t.operand(instr, 2)?;
    let fits = combine.alu.operands()[0];
    let (floats, booleans) = (value.ty.is_float(), *value.ty.component() == Type::Bool);
    if floats != fits.is_float() || booleans != (fits == ir::Kind::B) {
        return Err(instr.invalid(Invalid::TypeMismatch));
    }
    let size = match operation {
        GroupOperation::Reduce | GroupOperation::InclusiveScan | GroupOperation::ExclusiveScan => {
            lanes(&t.builder).count()
        }
        GroupOperation::ClusteredReduce => cluster_size(t, instr, instr.word(3)?)?,
        other => return Err(instr.unsupported(Feature::Use, format!("{other:?}"))),
    };
    let b = &mut t.builder;
    let active = active(b);
    let own = own(b);
    // The active lanes of the own cluster.
    let count = lanes(b).count();
    let cluster = match size == count {
        true => active,
        false => {
            let start = b.alu_word(Alu::IAnd, own, !(size - 1));
            let lanes = b.word((1 << size) - 1);
            let lanes = b.alu(Alu::IShl, &[lanes, start]);
            b.alu(Alu::IAnd, &[active, lanes])
        }
    };
    let below = lanes_below(b, false);
    let below = b.alu(Alu::IAnd, &[cluster, below]);
    let next = b.alu(Alu::UFindMsb, &[below]);
    let has_next = b.alu_word(Alu::INe, below, 0);
    // A lane without one below points to itself, with a bit that says so.
    let itself = b.alu_word(Alu::IOr, own, count);
    let pointer = b.select(has_next, next, itself);
    let last = b.alu(Alu::UFindMsb, &[cluster]);
    let mut results = vec![];
    for scalar in value.scalars.iter() {
        let inclusive = scan(b, combine, *scalar, pointer, size);
        results.push(match operation {
            GroupOperation::InclusiveScan => inclusive,
            GroupOperation::ExclusiveScan => {
                let lane = lane_of(b, pointer);
                let before = shuffle(b, LaneOp::Shuffle, inclusive, lane);
                let ty = b.function.ty(*scalar);
                let neutral = combine.neutral(b, ty);
                b.select(has_next, before, neutral)
            }
            _ => shuffle(b, LaneOp::Shuffle, inclusive, last),
        });
    }
    Ok(results)
}

/// What all lanes of a chain have together, up to each of them. `pointer` leads to the next below.
fn scan(b: &mut Builder<'_>, combine: Combine, value: Value, pointer: Value, size: u32) -> Value {
    let (mut sum, mut pointer) = (value, pointer);
    let steps = size.trailing_zeros();
    let count = lanes(b).count();
    for step in 0..steps {
        let lane = lane_of(b, pointer);
        let done = b.alu_word(Alu::UGe, pointer, count);
        let theirs = shuffle(b, LaneOp::Shuffle, sum, lane);
        let both = b.alu(combine.alu, &[theirs, sum]);
        sum = b.select(done, sum, both);
        if step + 1 < steps {
            let further = b.lanes(LaneOp::Shuffle, &[pointer, lane]);
            pointer = b.select(done, pointer, further);
        }
    }
    sum
}
