//! Operations of the ALU as vector code: the plain ones, on words.
//!
//! Each function gives what the model's `Alu::run` gives, in every bit; `tests/engines` holds one against the other. What is
//! not here is `None`, and becomes a call of the model.

use crate::registers::Held;
use crate::vectors::Vectors;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, I8X16, I16X8, I32, I32X4};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use eitri_model::host_code::{
    Alu, Arithmetic, Bits, Clamp, Combine, Compare, Condition, Convert, FloatPolicy, FloatType,
    From, Integer, Logic, MuxMode, Part, ResultType, Round, Shift, ShiftKind, Source, Step,
};

/// The quiet NaN of every result.
const NAN: u32 = 0x7fc0_0000;
const ONE: u32 = 0x3f80_0000;

/// What the code is written for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host {
    pub(crate) policy: FloatPolicy,
    /// Whether the processor multiplies and adds in one instruction.
    pub(crate) has_fma: bool,
}

/// Writes an operation; its result, or `None` if it is none of the plain ones.
pub(crate) fn operation(
    v: &mut Vectors<'_, '_>,
    held: &mut Held,
    step: &Step,
    alu: Alu,
    host: Host,
) -> Option<Value> {
    let policy = host.policy;
    if policy.suppress_nan || policy.suppress_inf {
        let floats = matches!(alu, Alu::Arithmetic(_) | Alu::Convert(_));
        if floats {
            return None;
        }
    }
    if let Alu::Bits(Bits::Shift {
        part: Part::U32 | Part::S32,
        shift: how,
    }) = alu
    {
        return shift(v, held, step.sources(), how);
    }
    if matches!(alu, Alu::Special(_)) {
        return None;
    }
    let mut sources = [None; 4];
    for (value, source) in sources
        .iter_mut()
        .zip(&step.sources()[..step.source_count()])
    {
        *value = Some(held.source(v, source)?);
    }
    let zero = v.constant(0);
    let sources = sources.map(|value| value.unwrap_or(zero));
    match alu {
        Alu::Move => Some(sources[0]),
        Alu::Integer(integer) => self::integer(v, integer, sources),
        Alu::Bits(bits) => self::bits(v, bits, sources),
        Alu::Compare(compare) => self::compare(v, compare, sources, step.sources(), policy),
        Alu::Arithmetic(arithmetic) => self::arithmetic(v, arithmetic, sources, host),
        Alu::Convert(convert) => self::convert(v, convert, sources, policy),
        Alu::Special(_) => None,
    }
}

fn integer(v: &mut Vectors<'_, '_>, integer: Integer, [a, b, c, _]: [Value; 4]) -> Option<Value> {
    let lanes = |part: Part| match part.bits() {
        8 => I8X16,
        16 => I16X8,
        _ => I32X4,
    };
    Some(match integer {
        Integer::Add {
            part,
            saturate: false,
        } => in_parts(v, lanes(part), a, b, |v, a, b| v.add(a, b)),
        Integer::Subtract {
            part,
            saturate: false,
        } => in_parts(v, lanes(part), a, b, |v, a, b| v.sub(a, b)),
        Integer::Multiply {
            part: part @ (Part::U16 | Part::S16 | Part::U32 | Part::S32),
            saturate: false,
        } => in_parts(v, lanes(part), a, b, |v, a, b| v.code.ins().imul(a, b)),
        Integer::Absolute { part: Part::S32 } => v.code.ins().iabs(a),
        Integer::AddCarry { return_carry } => {
            let first = v.add(a, b);
            let sum = v.add(first, c);
            if !return_carry {
                return Some(sum);
            }
            let carried = v.compares(IntCC::UnsignedLessThan, first, a);
            let again = v.compares(IntCC::UnsignedLessThan, sum, c);
            let carries = v.add(carried, again);
            v.code.ins().ineg(carries)
        }
        Integer::SubtractBorrow { return_borrow } => {
            let first = v.sub(a, b);
            if !return_borrow {
                return Some(v.sub(first, c));
            }
            let borrowed = v.compares(IntCC::UnsignedLessThan, a, b);
            let again = v.compares(IntCC::UnsignedLessThan, first, c);
            let any = v.or(borrowed, again);
            v.and_word(any, 1)
        }
        _ => return None,
    })
}

/// An operation on the parts of words.
fn in_parts<'v, 'f>(
    v: &mut Vectors<'v, 'f>,
    ty: Type,
    a: Value,
    b: Value,
    f: impl Fn(&mut Vectors<'v, 'f>, Value, Value) -> Value,
) -> Value {
    let (a, b) = (v.cast(ty, a), v.cast(ty, b));
    let result = f(v, a, b);
    v.bits(result)
}

fn join(v: &mut Vectors<'_, '_>, logic: Logic, a: Value, b: Value) -> Value {
    match logic {
        Logic::And => v.and(a, b),
        Logic::Or => v.or(a, b),
        Logic::Xor => v.xor(a, b),
    }
}

fn bits(v: &mut Vectors<'_, '_>, bits: Bits, [a, b, c, _]: [Value; 4]) -> Option<Value> {
    let word = matches!(
        bits,
        Bits::Mux {
            part: Part::U32 | Part::S32,
            ..
        }
    );
    Some(match bits {
        Bits::Mux {
            mode: MuxMode::Bit, ..
        } => v.choose(c, a, b),
        Bits::Mux { mode, .. } if word => {
            let holds = match mode {
                MuxMode::Negative => v.right_signed(c, 31),
                MuxMode::FloatZero => {
                    let magnitude = v.and_word(c, 0x7fff_ffff);
                    v.is_zero(magnitude)
                }
                MuxMode::IntegerZero | MuxMode::Bit => v.is_zero(c),
            };
            v.choose(holds, a, b)
        }
        Bits::Not => v.not(a),
        Bits::MakeHalves => {
            let (low, high) = (v.and_word(a, 0xffff), v.left(b, 16));
            v.or(low, high)
        }
        Bits::MakeBytes => {
            let (first, second) = (v.and_word(a, 0xff), v.and_word(b, 0xff));
            let (second, high) = (v.left(second, 8), v.left(c, 16));
            let low = v.or(first, second);
            v.or(low, high)
        }
        Bits::Logic(logic) => join(v, logic, a, b),
        _ => return None,
    })
}

/// A shift of words: all lanes by one amount, or each by its own.
fn shift(
    v: &mut Vectors<'_, '_>,
    held: &mut Held,
    sources: &[Source; 4],
    shift: Shift,
) -> Option<Value> {
    let a = held.source(v, &sources[0])?;
    let amount = &sources[1];
    let joined = held.source(v, &sources[2])?;
    let shifted = match amount.from {
        From::Constant(amount) => shift_by(v, shift.kind, a, amount & 31),
        From::Nothing => a,
        _ => {
            let amounts = match held.scalar(v, amount.from).filter(|_| amount.is_plain) {
                Some(amount) => v.splat(amount),
                None => held.source(v, amount)?,
            };
            shift_each(v, shift.kind, a, amounts)
        }
    };
    let result = join(v, shift.logic, shifted, joined);
    Some(if shift.not_result {
        v.not(result)
    } else {
        result
    })
}

fn shift_by(v: &mut Vectors<'_, '_>, kind: ShiftKind, a: Value, by: u32) -> Value {
    let around = (32 - by) & 31;
    match kind {
        ShiftKind::Right => v.right(a, by),
        ShiftKind::Left => v.left(a, by),
        ShiftKind::RightArithmetic => v.right_signed(a, by),
        ShiftKind::RotateRight | ShiftKind::RotateLeft if by == 0 => a,
        ShiftKind::RotateRight => {
            let (low, high) = (v.right(a, by), v.left(a, around));
            v.or(low, high)
        }
        ShiftKind::RotateLeft => {
            let (high, low) = (v.left(a, by), v.right(a, around));
            v.or(low, high)
        }
    }
}

/// Lanes one by one: hosts have no vector shift that Cranelift writes with an amount a lane.
fn shift_each(v: &mut Vectors<'_, '_>, kind: ShiftKind, a: Value, amounts: Value) -> Value {
    let mut result = a;
    for lane in 0..4u8 {
        let word = v.code.ins().extractlane(a, lane);
        let by = v.code.ins().extractlane(amounts, lane);
        // Shifts of the host's words take amounts modulo 32, too.
        let word = match kind {
            ShiftKind::Right => v.code.ins().ushr(word, by),
            ShiftKind::Left => v.code.ins().ishl(word, by),
            ShiftKind::RightArithmetic => v.code.ins().sshr(word, by),
            ShiftKind::RotateRight => v.code.ins().rotr(word, by),
            ShiftKind::RotateLeft => v.code.ins().rotl(word, by),
        };
        result = v.code.ins().insertlane(result, word, lane);
    }
    result
}

fn compare(
    v: &mut Vectors<'_, '_>,
    compare: Compare,
    [a, b, c, d]: [Value; 4],
    sources: &[Source; 4],
    policy: FloatPolicy,
) -> Option<Value> {
    let (holds, result, combine) = match compare {
        Compare::Select {
            part: part @ (Part::U32 | Part::S32),
            condition,
        } => {
            let holds = holds(v, condition, part.signed(), a, b)?;
            return Some(v.choose(holds, c, d));
        }
        Compare::SelectFloat {
            float: FloatType::Single,
            condition,
        } => {
            let (a, b) = (flushed(v, a, policy), flushed(v, b, policy));
            let holds = floats_hold(v, condition, a, b)?;
            return Some(v.choose(holds, c, d));
        }
        Compare::Integer {
            part: part @ (Part::U32 | Part::S32),
            condition,
            result,
            combine,
        } => (holds(v, condition, part.signed(), a, b)?, result, combine),
        Compare::Float {
            float: FloatType::Single,
            condition,
            result,
            combine,
        } => {
            let (a, b) = (flushed(v, a, policy), flushed(v, b, policy));
            (floats_hold(v, condition, a, b)?, result, combine)
        }
        _ => return None,
    };
    let joined = match (combine, sources[2].from) {
        (Combine::Or, From::Constant(0)) => holds,
        (Combine::Or, _) => {
            let zero = v.is_zero(c);
            let previous = v.not(zero);
            v.or(holds, previous)
        }
        (Combine::And, _) => {
            let zero = v.is_zero(c);
            v.code.ins().band_not(holds, zero)
        }
    };
    Some(match result {
        ResultType::Mask => joined,
        ResultType::Float => v.and_word(joined, ONE),
        ResultType::One | ResultType::Ordering => v.and_word(joined, 1),
    })
}

fn holds(
    v: &mut Vectors<'_, '_>,
    condition: Condition,
    signed: bool,
    a: Value,
    b: Value,
) -> Option<Value> {
    let condition = match (condition, signed) {
        (Condition::Equal, _) => IntCC::Equal,
        (Condition::NotEqual | Condition::Different, _) => IntCC::NotEqual,
        (Condition::Greater, true) => IntCC::SignedGreaterThan,
        (Condition::Greater, false) => IntCC::UnsignedGreaterThan,
        (Condition::GreaterEqual, true) => IntCC::SignedGreaterThanOrEqual,
        (Condition::GreaterEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
        (Condition::Less, true) => IntCC::SignedLessThan,
        (Condition::Less, false) => IntCC::UnsignedLessThan,
        (Condition::LessEqual | Condition::TotalOrder, true) => IntCC::SignedLessThanOrEqual,
        (Condition::LessEqual | Condition::TotalOrder, false) => IntCC::UnsignedLessThanOrEqual,
    };
    Some(v.compares(condition, a, b))
}

fn floats_hold(v: &mut Vectors<'_, '_>, condition: Condition, a: Value, b: Value) -> Option<Value> {
    let condition = match condition {
        Condition::Equal => FloatCC::Equal,
        Condition::NotEqual => FloatCC::NotEqual,
        Condition::Greater => FloatCC::GreaterThan,
        Condition::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Condition::Less => FloatCC::LessThan,
        Condition::LessEqual => FloatCC::LessThanOrEqual,
        Condition::Different | Condition::TotalOrder => return None,
    };
    Some(v.compares_floats(condition, a, b))
}

/// A float with subnormals replaced by zeros of their sign, where the policy wants that.
fn flushed(v: &mut Vectors<'_, '_>, value: Value, policy: FloatPolicy) -> Value {
    if !policy.flush32 {
        return value;
    }
    let exponent = v.and_word(value, 0x7f80_0000);
    let small = v.is_zero(exponent);
    let sign = v.and_word(value, 0x8000_0000);
    v.choose(small, sign, value)
}

/// A result with its NaN replaced by the one NaN of results.
fn canonical(v: &mut Vectors<'_, '_>, value: Value) -> Value {
    let value = v.bits(value);
    let is_nan = v.compares_floats(FloatCC::Unordered, value, value);
    let nan = v.constant(NAN);
    v.choose(is_nan, nan, value)
}

fn clamped(v: &mut Vectors<'_, '_>, value: Value, clamp: Clamp) -> Value {
    let (low, high) = match clamp {
        Clamp::None => return value,
        Clamp::ZeroToInfinity => (0, None),
        Clamp::MinusOneToOne => (ONE | 0x8000_0000, Some(ONE)),
        Clamp::ZeroToOne => (0, Some(ONE)),
    };
    // NaN is not greater: it becomes the lower bound.
    let low = v.constant(low);
    let above = v.compares_floats(FloatCC::GreaterThan, value, low);
    let value = v.choose(above, value, low);
    let Some(high) = high else {
        return value;
    };
    let high = v.constant(high);
    let below = v.compares_floats(FloatCC::LessThan, value, high);
    v.choose(below, value, high)
}

fn arithmetic(
    v: &mut Vectors<'_, '_>,
    arithmetic: Arithmetic,
    [a, b, c, _]: [Value; 4],
    host: Host,
) -> Option<Value> {
    let policy = host.policy;
    let (result, clamp) = match arithmetic {
        Arithmetic::Add {
            float: FloatType::Single,
            round: Round::NearestEven,
            clamp,
            to_half: false,
        } => {
            let (a, b) = (flushed(v, a, policy), flushed(v, b, policy));
            let (a, b) = (v.floats(a), v.floats(b));
            (v.code.ins().fadd(a, b), clamp)
        }
        Arithmetic::Fma {
            float: FloatType::Single,
            round: Round::NearestEven,
            clamp,
            to_half: false,
        } if host.has_fma => {
            let [a, b, c] = [a, b, c].map(|value| flushed(v, value, policy));
            let [a, b, c] = [a, b, c].map(|value| v.floats(value));
            (v.code.ins().fma(a, b, c), clamp)
        }
        Arithmetic::Min {
            float: FloatType::Single,
            clamp,
            propagate,
        } => (
            extreme(v, FloatCC::LessThan, propagate, (a, b), policy),
            clamp,
        ),
        Arithmetic::Max {
            float: FloatType::Single,
            clamp,
            propagate,
        } => (
            extreme(v, FloatCC::GreaterThan, propagate, (a, b), policy),
            clamp,
        ),
        _ => return None,
    };
    let result = canonical(v, result);
    let result = clamped(v, result, clamp);
    Some(flushed(v, result, policy))
}

/// The smaller or greater of two floats: the other one of NaN, -0 below +0.
fn extreme(
    v: &mut Vectors<'_, '_>,
    condition: FloatCC,
    propagate: bool,
    (a, b): (Value, Value),
    policy: FloatPolicy,
) -> Value {
    let (a, b) = (flushed(v, a, policy), flushed(v, b, policy));
    let is_beyond = v.compares_floats(condition, a, b);
    let equal = v.compares_floats(FloatCC::Equal, a, b);
    let negative = v.right_signed(a, 31);
    let signed = if condition == FloatCC::LessThan {
        v.and(equal, negative)
    } else {
        v.code.ins().band_not(equal, negative)
    };
    let alone = v.compares_floats(FloatCC::Unordered, b, b);
    let first = v.or(is_beyond, signed);
    let first = v.or(first, alone);
    let chosen = v.choose(first, a, b);
    if !propagate {
        return chosen;
    }
    let any = v.compares_floats(FloatCC::Unordered, a, b);
    let nan = v.constant(NAN);
    v.choose(any, nan, chosen)
}

fn convert(
    v: &mut Vectors<'_, '_>,
    convert: Convert,
    [a, ..]: [Value; 4],
    policy: FloatPolicy,
) -> Option<Value> {
    Some(match convert {
        Convert::IntegerToSingle {
            signed,
            round: Round::NearestEven,
        } => {
            let float = if signed {
                v.code.ins().fcvt_from_sint(F32X4, a)
            } else {
                v.code.ins().fcvt_from_uint(F32X4, a)
            };
            v.bits(float)
        }
        Convert::SingleToInteger { signed, round } => {
            let a = flushed(v, a, policy);
            let whole = integral(v, a, round)?;
            if signed {
                v.code.ins().fcvt_to_sint_sat(I32X4, whole)
            } else {
                v.code.ins().fcvt_to_uint_sat(I32X4, whole)
            }
        }
        Convert::Integral {
            float: FloatType::Single,
            round,
        } => {
            let a = flushed(v, a, policy);
            let whole = integral(v, a, round)?;
            let whole = canonical(v, whole);
            flushed(v, whole, policy)
        }
        _ => return None,
    })
}

fn integral(v: &mut Vectors<'_, '_>, value: Value, round: Round) -> Option<Value> {
    let value = v.floats(value);
    Some(match round {
        Round::NearestEven => v.code.ins().nearest(value),
        Round::Up => v.code.ins().ceil(value),
        Round::Down => v.code.ins().floor(value),
        Round::Zero => v.code.ins().trunc(value),
        Round::NearestAway => return None,
    })
}

/// The bits of 4 lanes that a branch tests, the first lane lowest.
pub(crate) fn tested(v: &mut Vectors<'_, '_>, value: Value, holds_if: Tested) -> Value {
    let holds = match holds_if {
        Tested::NotZero(mask) => {
            let part = match mask {
                u32::MAX => value,
                _ => v.and_word(value, mask),
            };
            let zero = v.is_zero(part);
            v.not(zero)
        }
        Tested::AllOnes => {
            let ones = v.constant(u32::MAX);
            v.compares(IntCC::Equal, value, ones)
        }
    };
    v.code.ins().vhigh_bits(I32, holds)
}

/// What a branch tests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Tested {
    /// These bits are not all 0.
    NotZero(u32),
    /// All bits are set.
    AllOnes,
}
