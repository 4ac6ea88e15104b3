//! Powers, interpolation, clamps, splitting of numbers.
use std::f32::consts::{LN_2, LOG2_E};

use crate::ir::{Alu, Builder, Value};

/// Sign bit of a float.
const SIGN: u32 = 1 << 31;

/// e^x
pub(super) fn exp(b: &mut Builder<'_>, x: Value) -> Value {
    let scaled = b.alu_float(Alu::FMul, x, LOG2_E);
    b.alu(Alu::FExp2, &[scaled])
}

/// Natural logarithm.
pub(super) fn log(b: &mut Builder<'_>, x: Value) -> Value {
    let log = b.alu(Alu::FLog2, &[x]);
    b.alu_float(Alu::FMul, log, LN_2)
}

/// x^y for x > 0, and 0 for x = 0 and y > 0.
pub(super) fn pow(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let log = b.alu(Alu::FLog2, &[x]);
    let product = b.alu(Alu::FMul, &[y, log]);
    b.alu(Alu::FExp2, &[product])
}

/// min(max(x, low), high)
pub(super) fn clamp(b: &mut Builder<'_>, args: &[Value], max: Alu, min: Alu) -> Value {
    let raised = b.alu(max, &[args[0], args[1]]);
    b.alu(min, &[raised, args[2]])
}

/// x (1 - a) + y a
pub(super) fn mix(b: &mut Builder<'_>, x: Value, y: Value, a: Value) -> Value {
    if b.exact {
        let one = b.float(1.0);
        let rest = b.alu(Alu::FSub, &[one, a]);
        let left = b.alu(Alu::FMul, &[x, rest]);
        let right = b.alu(Alu::FMul, &[y, a]);
        return b.alu(Alu::FAdd, &[left, right]);
    }
    // x - a x + a y; for a = 1 the first two cancel exactly, and y is left.
    let minus = b.alu(Alu::FNeg, &[a]);
    let left = b.alu(Alu::FFma, &[minus, x, x]);
    b.alu(Alu::FFma, &[a, y, left])
}

/// x < edge ? 0 : 1
pub(super) fn step(b: &mut Builder<'_>, edge: Value, x: Value) -> Value {
    let below = b.alu(Alu::FLt, &[x, edge]);
    let not = b.alu(Alu::BNot, &[below]);
    b.alu(Alu::B2F, &[not])
}

/// t t (3 - 2 t) with t the place of x between the edges.
pub(super) fn smooth_step(b: &mut Builder<'_>, from: Value, to: Value, x: Value) -> Value {
    let above = b.alu(Alu::FSub, &[x, from]);
    let range = b.alu(Alu::FSub, &[to, from]);
    let t = b.alu(Alu::FDiv, &[above, range]);
    let t = b.alu(Alu::FSat, &[t]);
    let twice = b.alu_float(Alu::FMul, t, -2.0);
    let factor = b.alu_float(Alu::FAdd, twice, 3.0);
    let square = b.alu(Alu::FMul, &[t, t]);
    b.alu(Alu::FMul, &[square, factor])
}

/// Fraction and whole part, both with the sign of x; the fraction of infinity is zero.
pub(super) fn modf(b: &mut Builder<'_>, x: Value) -> [Value; 2] {
    let whole = b.alu(Alu::FTrunc, &[x]);
    let rest = b.alu(Alu::FSub, &[x, whole]);
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let infinite = b.alu_float(Alu::FEq, magnitude, f32::INFINITY);
    let zero = b.float(0.0);
    let fraction = b.select(infinite, zero, rest);
    [copy_sign(b, fraction, x), copy_sign(b, whole, x)]
}

/// |x| with the sign of y.
pub(super) fn copy_sign(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let mask = b.word(!SIGN);
    b.alu(Alu::BitSelect, &[mask, x, y])
}
