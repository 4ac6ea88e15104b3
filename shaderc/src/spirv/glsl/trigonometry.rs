//! Inverse trigonometric and hyperbolic functions, as polynomials and exponentials.
//!
//! Facts: hardware/compiler-isel.md 15.2: the coefficients, and that the order of operations keeps the error in bounds.
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI};

use super::arithmetic::copy_sign;
use crate::ir::{Alu, Builder, Value};

/// Above this a reciprocal comes near the denormals.
const LARGE: f32 = 1.0e18;

pub(super) fn tan(b: &mut Builder<'_>, x: Value) -> Value {
    let sin = b.alu(Alu::FSin, &[x]);
    let cos = b.alu(Alu::FCos, &[x]);
    b.alu(Alu::FDiv, &[sin, cos])
}

/// c[0] + x (c[1] + x (c[2] + ...))
fn polynomial(b: &mut Builder<'_>, x: Value, coefficients: &[f32]) -> Value {
    let mut coefficients = coefficients.iter().rev();
    let mut sum = b.float(coefficients.next().copied().unwrap_or(0.0));
    for coefficient in coefficients {
        let coefficient = b.float(*coefficient);
        sum = b.alu(Alu::FFma, &[sum, x, coefficient]);
    }
    sum
}

pub(super) fn asin(b: &mut Builder<'_>, x: Value) -> Value {
    let magnitude = b.alu(Alu::FAbs, &[x]);
    // Near zero: x + x P / Q.
    let square = b.alu(Alu::FMul, &[x, x]);
    let p = polynomial(b, square, &[1.666_658_7e-1, -4.274_342_2e-2, -8.656_363e-3]);
    let p = b.alu(Alu::FMul, &[square, p]);
    let q = polynomial(b, square, &[1.0, -7.066_296_3e-1]);
    let ratio = b.alu(Alu::FDiv, &[p, q]);
    let near = b.alu(Alu::FFma, &[x, ratio, x]);
    // Elsewhere: pi/2 - sqrt(1 - a) (...).
    let far = asin_tail(b, magnitude, [0.086_566_724, -0.031_029_55]);
    let far = copy_sign(b, far, x);
    let small = b.alu_float(Alu::FLt, magnitude, 0.5);
    b.select(small, near, far)
}

/// pi/2 - sqrt(1 - a) (pi/2 + a (pi/4 - 1 + a (p0 + p1 a)))
fn asin_tail(b: &mut Builder<'_>, a: Value, p: [f32; 2]) -> Value {
    let one = b.float(1.0);
    let rest = b.alu(Alu::FSub, &[one, a]);
    let root = b.alu(Alu::FSqrt, &[rest]);
    let factor = polynomial(b, a, &[FRAC_PI_2, FRAC_PI_4 - 1.0, p[0], p[1]]);
    let product = b.alu(Alu::FMul, &[root, factor]);
    let half_pi = b.float(FRAC_PI_2);
    b.alu(Alu::FSub, &[half_pi, product])
}

pub(super) fn acos(b: &mut Builder<'_>, x: Value) -> Value {
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let tail = asin_tail(b, magnitude, [0.081_324_63, -0.023_633_18]);
    let asin = copy_sign(b, tail, x);
    let half_pi = b.float(FRAC_PI_2);
    b.alu(Alu::FSub, &[half_pi, asin])
}

/// atan of r in [0, 1].
fn atan_unit(b: &mut Builder<'_>, r: Value) -> Value {
    let square = b.alu(Alu::FMul, &[r, r]);
    let sum = polynomial(
        b,
        square,
        &[
            0.999_979_3,
            -0.332_675_64,
            0.193_892_5,
            -0.117_350_32,
            0.053_681_38,
            -0.012_132_322,
        ],
    );
    b.alu(Alu::FMul, &[r, sum])
}

pub(super) fn atan(b: &mut Builder<'_>, x: Value) -> Value {
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let least = b.alu_float(Alu::FMin, magnitude, 1.0);
    let most = b.alu_float(Alu::FMax, magnitude, 1.0);
    let ratio = b.alu(Alu::FDiv, &[least, most]);
    let angle = atan_unit(b, ratio);
    let half_pi = b.float(FRAC_PI_2);
    let other = b.alu(Alu::FSub, &[half_pi, angle]);
    let one = b.float(1.0);
    let steep = b.alu(Alu::FLt, &[one, magnitude]);
    let angle = b.select(steep, other, angle);
    copy_sign(b, angle, x)
}

pub(super) fn atan2(b: &mut Builder<'_>, y: Value, x: Value) -> Value {
    let (ax, ay) = (b.alu(Alu::FAbs, &[x]), b.alu(Alu::FAbs, &[y]));
    let least = b.alu(Alu::FMin, &[ax, ay]);
    let most = b.alu(Alu::FMax, &[ax, ay]);
    // Scaled down, so that the reciprocal of the larger one stays normal.
    let large = {
        let limit = b.float(LARGE);
        b.alu(Alu::FLt, &[limit, most])
    };
    let (quarter, one) = (b.float(0.25), b.float(1.0));
    let scale = b.select(large, quarter, one);
    let (low, high) = (
        b.alu(Alu::FMul, &[least, scale]),
        b.alu(Alu::FMul, &[most, scale]),
    );
    let ratio = b.alu(Alu::FDiv, &[low, high]);
    // Equal magnitudes, infinite ones too, give one.
    let equal = b.alu(Alu::FEq, &[ax, ay]);
    let ratio = b.select(equal, one, ratio);
    let angle = atan_unit(b, ratio);
    let half_pi = b.float(FRAC_PI_2);
    let other = b.alu(Alu::FSub, &[half_pi, angle]);
    let steep = b.alu(Alu::FLt, &[ax, ay]);
    let angle = b.select(steep, other, angle);
    let pi = b.float(PI);
    let mirrored = b.alu(Alu::FSub, &[pi, angle]);
    let left = b.alu_float(Alu::FLt, x, 0.0);
    let angle = b.select(left, mirrored, angle);
    copy_sign(b, angle, y)
}

/// e^x and e^-x.
fn exponentials(b: &mut Builder<'_>, x: Value) -> [Value; 2] {
    [LOG2_E, -LOG2_E].map(|factor| {
        let scaled = b.alu_float(Alu::FMul, x, factor);
        b.alu(Alu::FExp2, &[scaled])
    })
}

pub(super) fn sinh(b: &mut Builder<'_>, x: Value) -> Value {
    let [up, down] = exponentials(b, x);
    let sum = b.alu(Alu::FSub, &[up, down]);
    b.alu_float(Alu::FMul, sum, 0.5)
}

pub(super) fn cosh(b: &mut Builder<'_>, x: Value) -> Value {
    let [up, down] = exponentials(b, x);
    let sum = b.alu(Alu::FAdd, &[up, down]);
    b.alu_float(Alu::FMul, sum, 0.5)
}

/// Of x clamped to where the result is 1; x itself for zero and NaN.
pub(super) fn tanh(b: &mut Builder<'_>, x: Value) -> Value {
    let clamped = b.alu_float(Alu::FMax, x, -10.0);
    let clamped = b.alu_float(Alu::FMin, clamped, 10.0);
    let [up, down] = exponentials(b, clamped);
    let difference = b.alu(Alu::FSub, &[up, down]);
    let sum = b.alu(Alu::FAdd, &[up, down]);
    let ratio = b.alu(Alu::FDiv, &[difference, sum]);
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let zero = b.float(0.0);
    let ordinary = b.alu(Alu::FLt, &[zero, magnitude]);
    b.select(ordinary, ratio, x)
}

/// ln(x + sqrt(x x + plus))
fn area(b: &mut Builder<'_>, x: Value, plus: f32) -> Value {
    let plus = b.float(plus);
    let square = b.alu(Alu::FFma, &[x, x, plus]);
    let root = b.alu(Alu::FSqrt, &[square]);
    let sum = b.alu(Alu::FAdd, &[x, root]);
    let log = b.alu(Alu::FLog2, &[sum]);
    b.alu_float(Alu::FMul, log, LN_2)
}

pub(super) fn asinh(b: &mut Builder<'_>, x: Value) -> Value {
    let magnitude = b.alu(Alu::FAbs, &[x]);
    let area = area(b, magnitude, 1.0);
    copy_sign(b, area, x)
}

pub(super) fn acosh(b: &mut Builder<'_>, x: Value) -> Value {
    area(b, x, -1.0)
}

pub(super) fn atanh(b: &mut Builder<'_>, x: Value) -> Value {
    let one = b.float(1.0);
    let above = b.alu(Alu::FAdd, &[one, x]);
    let below = b.alu(Alu::FSub, &[one, x]);
    let ratio = b.alu(Alu::FDiv, &[above, below]);
    let log = b.alu(Alu::FLog2, &[ratio]);
    b.alu_float(Alu::FMul, log, LN_2 / 2.0)
}
