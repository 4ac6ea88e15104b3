//! Sums, products and comparisons of pairs.
use super::Pair;
use crate::ir::{Alu, Builder, Value};

pub(super) fn add(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let low = b.alu(Alu::IAdd, &[x[0], y[0]]);
    let high = b.alu(Alu::IAdd, &[x[1], y[1]]);
    if b.function.as_word(y[0]) == Some(0) {
        return [low, high];
    }
    let carry = b.alu(Alu::ULt, &[low, y[0]]);
    let carry = b.alu(Alu::B2I, &[carry]);
    [low, b.alu(Alu::IAdd, &[high, carry])]
}

pub(super) fn subtract(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let low = b.alu(Alu::ISub, &[x[0], y[0]]);
    let high = b.alu(Alu::ISub, &[x[1], y[1]]);
    let borrow = b.alu(Alu::ULt, &[x[0], y[0]]);
    let borrow = b.alu(Alu::B2I, &[borrow]);
    [low, b.alu(Alu::ISub, &[high, borrow])]
}

pub(super) fn negate(b: &mut Builder<'_>, x: Pair) -> Pair {
    let zero = [b.word(0), b.word(0)];
    subtract(b, zero, x)
}

/// Negated where the sign word is all ones.
pub(super) fn with_sign(b: &mut Builder<'_>, x: Pair, sign: Value) -> Pair {
    let flipped = x.map(|half| b.alu(Alu::IXor, &[half, sign]));
    subtract(b, flipped, [sign, sign])
}

pub(super) fn absolute(b: &mut Builder<'_>, x: Pair) -> Pair {
    let sign = b.alu_word(Alu::SShr, x[1], 31);
    with_sign(b, x, sign)
}

/// -1, 0 or 1.
pub(super) fn sign(b: &mut Builder<'_>, x: Pair) -> Pair {
    let sign = b.alu_word(Alu::SShr, x[1], 31);
    let any = b.alu(Alu::IOr, &x);
    let not_zero = b.alu_word(Alu::INe, any, 0);
    let one = b.alu(Alu::B2I, &[not_zero]);
    // All ones, or one where the number isn't zero.
    [b.alu(Alu::IOr, &[sign, one]), sign]
}

/// Both halves of a product of words.
fn product(b: &mut Builder<'_>, x: Value, y: Value) -> Pair {
    [b.alu(Alu::IMul, &[x, y]), b.alu(Alu::UMulHigh, &[x, y])]
}

pub(super) fn multiply(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let [low, high] = product(b, x[0], y[0]);
    let across = [
        b.alu(Alu::IMul, &[x[0], y[1]]),
        b.alu(Alu::IMul, &[x[1], y[0]]),
    ];
    let across = b.alu(Alu::IAdd, &across);
    [low, b.alu(Alu::IAdd, &[high, across])]
}

/// Bits 64 to 127 of the unsigned product.
pub(super) fn unsigned_high(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let zero = b.word(0);
    let lowest = b.alu(Alu::UMulHigh, &[x[0], y[0]]);
    // No sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) is 2^64 - 1.
    let first = product(b, x[0], y[1]);
    let first = add(b, first, [lowest, zero]);
    let second = product(b, x[1], y[0]);
    let second = add(b, second, [first[0], zero]);
    let highest = product(b, x[1], y[1]);
    let sum = add(b, highest, [first[1], zero]);
    add(b, sum, [second[1], zero])
}

/// The same of the signed product: less each operand where the other is negative.
pub(super) fn signed_high(b: &mut Builder<'_>, x: Pair, y: Pair) -> Pair {
    let mut high = unsigned_high(b, x, y);
    for (of, other) in [(x, y), (y, x)] {
        let sign = b.alu_word(Alu::SShr, of[1], 31);
        let part = other.map(|half| b.alu(Alu::IAnd, &[half, sign]));
        high = subtract(b, high, part);
    }
    high
}

pub(super) fn select(b: &mut Builder<'_>, condition: Value, yes: Pair, no: Pair) -> Pair {
    [0, 1].map(|half| b.select(condition, yes[half], no[half]))
}

/// A comparison by its operation on words.
pub(super) fn compare(b: &mut Builder<'_>, alu: Alu, x: Pair, y: Pair) -> Value {
    match alu {
        Alu::IEq | Alu::INe => {
            let differences = [0, 1].map(|half| b.alu(Alu::IXor, &[x[half], y[half]]));
            let any = b.alu(Alu::IOr, &differences);
            b.alu_word(alu, any, 0)
        }
        _ => {
            let less = match alu {
                Alu::SLt | Alu::SGe => Alu::SLt,
                _ => Alu::ULt,
            };
            let high = b.alu(less, &[x[1], y[1]]);
            let same = b.alu(Alu::IEq, &[x[1], y[1]]);
            let low = b.alu(Alu::ULt, &[x[0], y[0]]);
            let below = b.select(same, low, high);
            match alu {
                Alu::SGe | Alu::UGe => b.alu(Alu::BNot, &[below]),
                _ => below,
            }
        }
    }
}

/// A minimum or maximum.
pub(super) fn extreme(b: &mut Builder<'_>, alu: Alu, x: Pair, y: Pair) -> Pair {
    let less = match alu {
        Alu::SMin | Alu::SMax => Alu::SLt,
        _ => Alu::ULt,
    };
    let below = compare(b, less, x, y);
    match alu {
        Alu::SMin | Alu::UMin => select(b, below, x, y),
        _ => select(b, below, y, x),
    }
}
