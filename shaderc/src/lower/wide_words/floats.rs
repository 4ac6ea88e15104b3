//! Conversions between pairs and binary32.
use super::{Pair, arithmetic, bits};
use crate::ir::{Alu, Builder, Value};

const WORD: f32 = 4_294_967_296.0;

/// To nearest even: the highest 32 bits are enough, if the lowest of them says whether anything is set below.
pub(super) fn from_unsigned(b: &mut Builder<'_>, x: Pair) -> Value {
    let zeros = bits::leading_zeros(b, x);
    let [low, high] = bits::left(b, x, zeros);
    let below = b.alu_word(Alu::INe, low, 0);
    let sticky = b.alu(Alu::B2I, &[below]);
    let top = b.alu(Alu::IOr, &[high, sticky]);
    let float = b.alu(Alu::U2F, &[top]);
    let word = b.word(32);
    let exponent = b.alu(Alu::ISub, &[word, zeros]);
    b.alu(Alu::FLdexp, &[float, exponent])
}

pub(super) fn from_signed(b: &mut Builder<'_>, x: Pair) -> Value {
    let magnitude = arithmetic::absolute(b, x);
    let float = from_unsigned(b, magnitude);
    let sign = b.alu_word(Alu::IAnd, x[1], 1 << 31);
    b.alu(Alu::IOr, &[float, sign])
}

/// Towards zero; what doesn't fit is some value.
pub(super) fn to_unsigned(b: &mut Builder<'_>, x: Value) -> Pair {
    let exact = std::mem::replace(&mut b.exact, true);
    let above = b.alu_float(Alu::FMul, x, 1.0 / WORD);
    let above = b.alu(Alu::FTrunc, &[above]);
    let minus = b.float(-WORD);
    let rest = b.alu(Alu::FFma, &[above, minus, x]);
    b.exact = exact;
    [rest, above].map(|part| b.alu(Alu::F2U, &[part]))
}

pub(super) fn to_signed(b: &mut Builder<'_>, x: Value) -> Pair {
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let integer = to_unsigned(b, magnitude);
    let sign = b.alu_word(Alu::SShr, x, 31);
    arithmetic::with_sign(b, integer, sign)
}
