//! Operations on pairs of registers: two vectors of words, the low ones first.

use crate::registers::{Held, select};
use crate::specials;
use crate::vectors::Vectors;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I64X2};
use cranelift_codegen::ir::{InstBuilder, Value};
use eitri_model::host_code::{
    Extend, From, Logic, SelectWide, Shift, ShiftKind, Step, Wide, WideSource,
};

/// The low words, and the high ones.
pub(crate) type Pair = [Value; 2];

/// Writes an operation; its result, or `None` if it is none of the plain ones.
pub(crate) fn operation(
    v: &mut Vectors<'_, '_>,
    held: &mut Held,
    step: &Step,
    wide: Wide,
) -> Option<Pair> {
    let sources = step.wide_sources();
    let a = source(v, held, &sources[0])?;
    Some(match wide {
        Wide::Not => a.map(|word| v.not(word)),
        Wide::Add => {
            let b = source(v, held, &sources[1])?;
            add(v, a, b)
        }
        Wide::Subtract => {
            let b = source(v, held, &sources[1])?;
            subtract(v, a, b)
        }
        Wide::ShiftAdd { shift } => {
            let b = source(v, held, &sources[1])?;
            let shifted = shifted(v, ShiftKind::Left, b, u32::from(shift & 7));
            add(v, a, shifted)
        }
        Wide::Multiply { signed } => {
            let b = source(v, held, &sources[1])?;
            multiply(v, a[0], b[0], signed)
        }
        Wide::Shift(shift) => {
            let (From::Constant(amount), SelectWide::Identity, false) =
                (sources[1].from, sources[1].select, sources[1].not)
            else {
                return None;
            };
            let c = source(v, held, &sources[2])?;
            let shifted = shifted(v, shift.kind, a, amount & 63);
            joined(v, shift, shifted, c)
        }
        Wide::SegmentAdd {
            negate,
            preserve_null,
        } => {
            let b = source(v, held, &sources[1])?;
            let sum = if negate {
                subtract(v, a, b)
            } else {
                add(v, a, b)
            };
            if !preserve_null {
                return Some(sum);
            }
            let any = v.or(a[0], a[1]);
            let null = v.is_zero(any);
            sum.map(|word| v.code.ins().band_not(word, null))
        }
    })
}

/// What a source reads.
fn source(v: &mut Vectors<'_, '_>, held: &mut Held, source: &WideSource) -> Option<Pair> {
    let [low, high] = match source.from {
        from if source.select.reads_one_word() => [held.raw(v, from)?, v.constant(0)],
        From::Special(special, _) => specials::words(v, held, special)?,
        from => {
            let high = match from {
                From::Register(register) => held.get(v, register.wrapping_add(1)),
                From::Uniform(index) => held.raw(v, From::Uniform(index | 1))?,
                _ => v.constant(0),
            };
            [held.raw(v, from)?, high]
        }
    };
    let extended = |v: &mut Vectors<'_, '_>, word: Value, extend: Extend| match extend {
        Extend::Zero => [word, v.constant(0)],
        Extend::Sign => [word, v.right_signed(word, 31)],
    };
    let pair = match source.select {
        SelectWide::Identity => [low, high],
        SelectWide::Word(extend) => extended(v, low, extend),
        SelectWide::HighWord(extend) => extended(v, high, extend),
        SelectWide::Part(part, extend) => {
            let word = select(v, part, low)?;
            extended(v, word, extend)
        }
    };
    Some(if source.not {
        pair.map(|word| v.not(word))
    } else {
        pair
    })
}

pub(crate) fn add(v: &mut Vectors<'_, '_>, a: Pair, b: Pair) -> Pair {
    let low = v.add(a[0], b[0]);
    // All ones where it carries: less 1.
    let carry = v.compares(IntCC::UnsignedLessThan, low, a[0]);
    let high = v.add(a[1], b[1]);
    [low, v.sub(high, carry)]
}

fn subtract(v: &mut Vectors<'_, '_>, a: Pair, b: Pair) -> Pair {
    let low = v.sub(a[0], b[0]);
    let borrow = v.compares(IntCC::UnsignedLessThan, a[0], b[0]);
    let high = v.sub(a[1], b[1]);
    [low, v.add(high, borrow)]
}

/// The products of words.
pub(crate) fn multiply(v: &mut Vectors<'_, '_>, a: Value, b: Value, signed: bool) -> Pair {
    let product = |v: &mut Vectors<'_, '_>, low: bool| {
        let mut widen = |value: Value| match (low, signed) {
            (true, true) => v.code.ins().swiden_low(value),
            (true, false) => v.code.ins().uwiden_low(value),
            (false, true) => v.code.ins().swiden_high(value),
            (false, false) => v.code.ins().uwiden_high(value),
        };
        let (a, b) = (widen(a), widen(b));
        debug_assert_eq!(v.code.func.dfg.value_type(a), I64X2);
        let product = v.code.ins().imul(a, b);
        v.cast(I8X16, product)
    };
    let (first, second) = (product(v, true), product(v, false));
    let mut words = |from: u8| {
        let bytes = [0, 8, 16, 24].map(|word| [0, 1, 2, 3].map(|byte| word + from + byte));
        let bytes = bytes.as_flattened();
        let mask = v.code.func.dfg.immediates.push(bytes.into());
        let words = v.code.ins().shuffle(first, second, mask);
        v.bits(words)
    };
    [words(0), words(4)]
}

/// A pair shifted by a constant below 64.
fn shifted(v: &mut Vectors<'_, '_>, kind: ShiftKind, [low, high]: Pair, by: u32) -> Pair {
    if by == 0 {
        return [low, high];
    }
    let rest = by % 32;
    // Bits of `above` that come down into a word of which `word` is shifted, or up from `below`.
    let down = |v: &mut Vectors<'_, '_>, word: Value, above: Value| {
        if rest == 0 {
            return word;
        }
        let (low, high) = (v.right(word, rest), v.left(above, 32 - rest));
        v.or(low, high)
    };
    let up = |v: &mut Vectors<'_, '_>, word: Value, below: Value| {
        if rest == 0 {
            return word;
        }
        let (high, low) = (v.left(word, rest), v.right(below, 32 - rest));
        v.or(low, high)
    };
    match (kind, by < 32) {
        (ShiftKind::Right, true) => [down(v, low, high), v.right(high, rest)],
        (ShiftKind::Right, false) => [v.right(high, rest), v.constant(0)],
        (ShiftKind::RightArithmetic, true) => [down(v, low, high), v.right_signed(high, rest)],
        (ShiftKind::RightArithmetic, false) => {
            [v.right_signed(high, rest), v.right_signed(high, 31)]
        }
        (ShiftKind::Left, true) => [v.left(low, rest), up(v, high, low)],
        (ShiftKind::Left, false) => [v.constant(0), v.left(low, rest)],
        (ShiftKind::RotateRight, true) => [down(v, low, high), down(v, high, low)],
        (ShiftKind::RotateRight, false) => [down(v, high, low), down(v, low, high)],
        (ShiftKind::RotateLeft, true) => [up(v, low, high), up(v, high, low)],
        (ShiftKind::RotateLeft, false) => [up(v, high, low), up(v, low, high)],
    }
}

fn joined(v: &mut Vectors<'_, '_>, shift: Shift, a: Pair, b: Pair) -> Pair {
    let mut result = a;
    for (result, b) in result.iter_mut().zip(b) {
        *result = match shift.logic {
            Logic::And => v.and(*result, b),
            Logic::Or => v.or(*result, b),
            Logic::Xor => v.xor(*result, b),
        };
        if shift.not_result {
            *result = v.not(*result);
        }
    }
    result
}
