//! Shifts, bit fields and searches of pairs. Shifts of words take their amount modulo 32.
use super::{Pair, arithmetic};
use crate::ir::{Alu, Builder, Value};

/// What of a shift by less than 32 leaves one half for the other: `half` shifted the other way by 32 - `by`. In two
/// steps, so that nothing is left for a shift by zero.
fn spill(b: &mut Builder<'_>, half: Value, by: Value, shift: Alu) -> Value {
    let once = b.alu_word(shift, half, 1);
    let rest = b.alu(Alu::INot, &[by]);
    b.alu(shift, &[once, rest])
}

/// Whether a shift is by 32 or more.
fn far(b: &mut Builder<'_>, by: Value) -> Value {
    let bit = b.alu_word(Alu::IAnd, by, 32);
    b.alu_word(Alu::INe, bit, 0)
}

pub(super) fn left(b: &mut Builder<'_>, x: Pair, by: Value) -> Pair {
    let low = b.alu(Alu::IShl, &[x[0], by]);
    let zero = b.word(0);
    if let Some(by) = b.function.as_word(by) {
        match by & 63 {
            0 => return x,
            32..=63 => return [zero, low],
            _ => {}
        }
    }
    let high = b.alu(Alu::IShl, &[x[1], by]);
    let across = spill(b, x[0], by, Alu::UShr);
    let high = b.alu(Alu::IOr, &[high, across]);
    if b.function.as_word(by).is_some() {
        return [low, high];
    }
    let far = far(b, by);
    arithmetic::select(b, far, [zero, low], [low, high])
}

/// `UShr` or `SShr`.
pub(super) fn right(b: &mut Builder<'_>, alu: Alu, x: Pair, by: Value) -> Pair {
    let high = b.alu(alu, &[x[1], by]);
    let above = match alu {
        Alu::SShr => b.alu_word(Alu::SShr, x[1], 31),
        _ => b.word(0),
    };
    if let Some(by) = b.function.as_word(by) {
        match by & 63 {
            0 => return x,
            32..=63 => return [high, above],
            _ => {}
        }
    }
    let low = b.alu(Alu::UShr, &[x[0], by]);
    let across = spill(b, x[1], by, Alu::IShl);
    let low = b.alu(Alu::IOr, &[low, across]);
    if b.function.as_word(by).is_some() {
        return [low, high];
    }
    let far = far(b, by);
    arithmetic::select(b, far, [high, above], [low, high])
}

/// 64 for zero.
pub(super) fn leading_zeros(b: &mut Builder<'_>, x: Pair) -> Value {
    let [low, high] = x.map(|half| b.alu(Alu::Clz, &[half]));
    let below = b.alu_word(Alu::IAdd, low, 32);
    let none = b.alu_word(Alu::IEq, x[1], 0);
    b.select(none, below, high)
}

/// Number of the highest set bit; -1 for none.
pub(super) fn highest(b: &mut Builder<'_>, x: Pair) -> Value {
    let zeros = leading_zeros(b, x);
    let last = b.word(63);
    b.alu(Alu::ISub, &[last, zeros])
}

/// Number of the lowest set bit; -1 for none.
pub(super) fn lowest(b: &mut Builder<'_>, x: Pair) -> Value {
    let [low, high] = x.map(|half| b.alu(Alu::FindLsb, &[half]));
    // -1 stays -1: all bits are set already.
    let above = b.alu_word(Alu::IOr, high, 32);
    let none = b.alu_word(Alu::IEq, x[0], 0);
    b.select(none, above, low)
}

/// The low bits set, up to all 64.
fn low_bits(b: &mut Builder<'_>, count: Value) -> Pair {
    let (one, zero, ones) = (b.word(1), b.word(0), b.word(u32::MAX));
    let bit = left(b, [one, zero], count);
    let below = arithmetic::add(b, bit, [ones, ones]);
    let full = b.alu_word(Alu::IEq, count, 64);
    arithmetic::select(b, full, [ones, ones], below)
}

/// `x` with so many low bits of `y` put at a bit.
pub(super) fn insert(b: &mut Builder<'_>, x: Pair, y: Pair, at: Value, count: Value) -> Pair {
    let low = low_bits(b, count);
    let mask = left(b, low, at);
    let placed = left(b, y, at);
    [0, 1].map(|half| b.alu(Alu::BitSelect, &[mask[half], placed[half], x[half]]))
}

/// `UBitExtract` or `SBitExtract`.
pub(super) fn extract(b: &mut Builder<'_>, alu: Alu, x: Pair, at: Value, count: Value) -> Pair {
    if alu == Alu::UBitExtract {
        let low = low_bits(b, count);
        let shifted = right(b, Alu::UShr, x, at);
        return [0, 1].map(|half| b.alu(Alu::IAnd, &[shifted[half], low[half]]));
    }
    let width = b.word(64);
    let rest = b.alu(Alu::ISub, &[width, count]);
    let above = b.alu(Alu::ISub, &[rest, at]);
    let up = left(b, x, above);
    let value = right(b, Alu::SShr, up, rest);
    // Shifts by 64 are shifts by 0.
    let zero = b.word(0);
    let none = b.alu_word(Alu::IEq, count, 0);
    arithmetic::select(b, none, [zero, zero], value)
}
