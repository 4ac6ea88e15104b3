//! Subgroups: GroupNonUniform instructions, of the few things that lanes can do together.
//!
//! Facts: hardware/compiler-isel.md 8; hardware/compiler-ir.md 1.5.

mod arithmetic;

use std::rc::Rc;

use rspirv::spirv::{BuiltIn, GroupOperation, Op, Scope};

use self::arithmetic::{arithmetic, combine};
use crate::ir::{self, Alu, Builder, LaneMask, LaneOp, Lanes, Stages, SysVal, Value};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::ops::convert;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;
use crate::spirv::types::Type;

/// How an instruction of this family works.
#[derive(Clone, Copy)]
enum Kind {
    Vote(Vote),
    Mask(Mask),
    Move(Move),
}

/// A boolean that lanes agree on.
#[derive(Clone, Copy)]
enum Vote {
    Elect,
    All,
    Any,
    AllEqual,
    QuadAll,
    QuadAny,
}

/// What gives a mask of lanes, or takes one.
#[derive(Clone, Copy)]
enum Mask {
    Ballot,
    Inverse,
    BitExtract,
    BitCount,
    Lowest,
    Highest,
}

/// What gives lanes the value of others.
#[derive(Clone, Copy)]
enum Move {
    First,
    Lane,
    /// By this operation on the own lane and an operand.
    By(Alu),
    Rotate,
    QuadLane,
    QuadSwap,
}

/// An instruction: how it works, and the number of its first operand.
#[derive(Clone, Copy)]
struct Row {
    kind: Kind,
    first: usize,
}

const fn votes(vote: Vote, first: usize) -> Row {
    let kind = Kind::Vote(vote);
    Row { kind, first }
}

const fn masks(mask: Mask, first: usize) -> Row {
    let kind = Kind::Mask(mask);
    Row { kind, first }
}

const fn moves(by: Move, first: usize) -> Row {
    let kind = Kind::Move(by);
    Row { kind, first }
}

/// Before the first operand there is a scope.
const SCOPED: usize = 1;
/// Instructions of the older extensions have no scope.
const PLAIN: usize = 0;

/// The instructions, but those that combine values.
#[rustfmt::skip]
fn row(op: Op) -> Option<Row> {
    Some(match op {
        Op::GroupNonUniformElect            => votes(Vote::Elect,        SCOPED),
        Op::GroupNonUniformAll              => votes(Vote::All,          SCOPED),
        Op::SubgroupAllKHR                  => votes(Vote::All,          PLAIN),
        Op::GroupNonUniformAny              => votes(Vote::Any,          SCOPED),
        Op::SubgroupAnyKHR                  => votes(Vote::Any,          PLAIN),
        Op::GroupNonUniformAllEqual         => votes(Vote::AllEqual,     SCOPED),
        Op::SubgroupAllEqualKHR             => votes(Vote::AllEqual,     PLAIN),
        Op::GroupNonUniformQuadAllKHR       => votes(Vote::QuadAll,      PLAIN),
        Op::GroupNonUniformQuadAnyKHR       => votes(Vote::QuadAny,      PLAIN),
        Op::GroupNonUniformBallot           => masks(Mask::Ballot,       SCOPED),
        Op::SubgroupBallotKHR               => masks(Mask::Ballot,       PLAIN),
        Op::GroupNonUniformInverseBallot    => masks(Mask::Inverse,      SCOPED),
        Op::GroupNonUniformBallotBitExtract => masks(Mask::BitExtract,   SCOPED),
        Op::GroupNonUniformBallotBitCount   => masks(Mask::BitCount,     SCOPED),
        Op::GroupNonUniformBallotFindLSB    => masks(Mask::Lowest,       SCOPED),
        Op::GroupNonUniformBallotFindMSB    => masks(Mask::Highest,      SCOPED),
        Op::GroupNonUniformBroadcastFirst   => moves(Move::First,       SCOPED),
        Op::SubgroupFirstInvocationKHR      => moves(Move::First,       PLAIN),
        Op::GroupNonUniformBroadcast        => moves(Move::Lane,        SCOPED),
        Op::GroupNonUniformShuffle          => moves(Move::Lane,        SCOPED),
        Op::SubgroupReadInvocationKHR       => moves(Move::Lane,        PLAIN),
        Op::GroupNonUniformShuffleXor       => moves(Move::By(Alu::IXor), SCOPED),
        Op::GroupNonUniformShuffleUp        => moves(Move::By(Alu::ISub), SCOPED),
        Op::GroupNonUniformShuffleDown      => moves(Move::By(Alu::IAdd), SCOPED),
        Op::GroupNonUniformRotateKHR        => moves(Move::Rotate,      SCOPED),
        Op::GroupNonUniformQuadBroadcast    => moves(Move::QuadLane,    SCOPED),
        Op::GroupNonUniformQuadSwap         => moves(Move::QuadSwap,    SCOPED),
        _ => return None,
    })
}

/// Translates an instruction of this family; false if it is of another.
pub(crate) fn instr(t: &mut Translator<'_>, instr: &Instr, op: Op) -> Result<bool> {
    let stage = t.builder.function.stage;
    if !Stages::TOGETHER.has(stage) && (combine(op).is_some() || row(op).is_some()) {
        let stage = stage.name();
        let what = format!("subgroup operations in a {stage} shader (subgroupSupportedStages)");
        return Err(instr.unsupported(Feature::Use, what));
    }
    if let Some((combine, alu)) = combine(op) {
        subgroup_scope(t, instr)?;
        let scalars = arithmetic(t, instr, combine, alu)?;
        t.define(instr, scalars)?;
        return Ok(true);
    }
    let Some(Row { kind, first }) = row(op) else {
        return Ok(false);
    };
    let scalars = match kind {
        Kind::Vote(vote) => vec![voted(t, instr, vote, first)?],
        Kind::Mask(mask) => of_mask(t, instr, mask, first)?,
        Kind::Move(by) => moved(t, instr, by, first)?,
    };
    if first == SCOPED {
        subgroup_scope(t, instr)?;
    }
    let scalars: Rc<[Value]> = match (kind, t.result_type(instr)?.component().scalar()) {
        // Numbers of lanes are of any width.
        (Kind::Mask(Mask::BitCount | Mask::Lowest | Mask::Highest), Some(wanted)) => scalars
            .into_iter()
            .map(|value| convert::fit(&mut t.builder, value, wanted))
            .collect(),
        _ => scalars.into(),
    };
    t.define(instr, scalars)?;
    Ok(true)
}

fn voted(t: &mut Translator<'_>, instr: &Instr, vote: Vote, first: usize) -> Result<Value> {
    match vote {
        Vote::Elect => {
            let active = active(t);
            let lowest = active.lowest(&mut t.builder);
            let own = own(&mut t.builder);
            return Ok(t.builder.alu(Alu::IEq, &[own, lowest]));
        }
        Vote::AllEqual => return all_equal(t, instr, first),
        Vote::All | Vote::Any | Vote::QuadAll | Vote::QuadAny => {}
    }
    let value = t.scalar(instr, first, ir::Type::Bool)?;
    Ok(match vote {
        Vote::All => all(t, value),
        Vote::QuadAll => quad_vote(&mut t.builder, value, true),
        Vote::QuadAny => quad_vote(&mut t.builder, value, false),
        Vote::Any | Vote::Elect | Vote::AllEqual => ballot(t, value).any(&mut t.builder),
    })
}

fn of_mask(t: &mut Translator<'_>, instr: &Instr, kind: Mask, first: usize) -> Result<Vec<Value>> {
    Ok(match kind {
        Mask::Ballot => {
            let value = t.scalar(instr, first, ir::Type::Bool)?;
            let mask = ballot(t, value);
            vector(&mut t.builder, &mask)
        }
        Mask::Inverse => {
            let mask = mask_operand(t, instr, first)?;
            let own = own(&mut t.builder);
            vec![mask.has(&mut t.builder, own)]
        }
        Mask::BitExtract => {
            let mask = mask_operand(t, instr, first)?;
            let index = t.integer(instr, first + 1)?;
            let count = lanes(&t.builder).count();
            let inside = t.builder.alu_word(Alu::ULt, index, count);
            let bit = mask.has(&mut t.builder, index);
            vec![t.builder.alu(Alu::BAnd, &[bit, inside])]
        }
        Mask::BitCount => {
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
        Mask::Lowest => vec![mask_operand(t, instr, first)?.lowest(&mut t.builder)],
        Mask::Highest => vec![mask_operand(t, instr, first)?.highest(&mut t.builder)],
    })
}

fn moved(t: &mut Translator<'_>, instr: &Instr, by: Move, first: usize) -> Result<Vec<Value>> {
    match by {
        Move::First => {
            let value = t.operand(instr, first)?;
            Ok(from_first(t, &value.scalars))
        }
        Move::Lane => {
            let lane = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| lane_of(b, lane))
        }
        Move::By(alu) => {
            let operand = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let lane = b.alu(alu, &[own, operand]);
                lane_of(b, lane)
            })
        }
        Move::Rotate => {
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
            })
        }
        Move::QuadLane => {
            let index = t.integer(instr, first + 1)?;
            from_lane(t, instr, first, |b| {
                let own = own(b);
                let start = b.alu_word(Alu::IAnd, own, !3);
                let index = b.alu_word(Alu::IAnd, index, 3);
                b.alu(Alu::IOr, &[start, index])
            })
        }
        Move::QuadSwap => {
            let direction = t.module.constant_word(instr, instr.word(first + 1)?)?;
            if direction > 2 {
                return Err(instr.invalid(Invalid::Literal(direction)));
            }
            let value = t.operand(instr, first)?;
            let mask = t.builder.word(direction + 1);
            let scalars = value.scalars.iter();
            let swapped =
                scalars.map(|value| shuffle(&mut t.builder, LaneOp::ShuffleXor, *value, mask));
            Ok(swapped.collect())
        }
    }
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

/// Whether the target's own scans are taken: all lanes that are here take part in them.
fn has_scans(t: &Translator<'_>) -> bool {
    t.has_scans && t.builder.function.stage == ir::Stage::Compute
}

/// The lanes with a true condition of those that take part: a lane that only helps its quad does so in what a quad does, not in what a
/// subgroup does. So the lane that is elected may store.
fn ballot(t: &mut Translator<'_>, condition: Value) -> LaneMask {
    let condition = match t.is_no_helper() {
        Some(takes_part) => t.builder.alu(Alu::BAnd, &[condition, takes_part]),
        None => condition,
    };
    LaneMask::ballot(&mut t.builder, condition)
}

/// The lanes that take part.
fn active(t: &mut Translator<'_>) -> LaneMask {
    let here = t.builder.function.bool(true);
    ballot(t, here)
}

/// Whether a boolean is true in all lanes that take part.
fn all(t: &mut Translator<'_>, value: Value) -> Value {
    let not = t.builder.alu(Alu::BNot, &[value]);
    ballot(t, not).none(&mut t.builder)
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
    Ok(all(t, same))
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

/// What each scalar is in the lowest lane that takes part.
fn from_first(t: &mut Translator<'_>, scalars: &[Value]) -> Vec<Value> {
    if has_scans(t) {
        let b = &mut t.builder;
        let of =
            |scalar: &Value| through_words(b, *scalar, |b, word| b.lanes(LaneOp::First, &[word]));
        return scalars.iter().map(of).collect();
    }
    let active = active(t);
    let b = &mut t.builder;
    // Where no lane takes part nobody sees what it is.
    let lowest = active.lowest(b);
    let lane = lane_of(b, lowest);
    let of = |scalar: &Value| shuffle(b, LaneOp::Shuffle, *scalar, lane);
    scalars.iter().map(of).collect()
}
