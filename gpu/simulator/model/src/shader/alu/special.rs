//! Special functions and their helpers, and cube maps.
//!
//! What tables the hardware holds is not known; each function is computed in binary64 and rounded, which meets every
//! accuracy that compilers rely on but is not bit-identical to a part.
//!
//! Facts: hardware/valhall-isa.md 8.5, 9.7, 9.8 and the recipes of section 10.

use crate::shader::float::{
    FloatPolicy, Format, NAN32, Round, canonical32, flush32, narrow, wide16, wide32,
};
use crate::shader::lanes::{Lanes, words};
use core::f64::consts::{LN_2, PI};

/// A special function; sources A, B, C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Special {
    /// 1 / A.
    Reciprocal,
    /// 1 / sqrt(A).
    ReciprocalSqrt,
    /// 1 / A of the low binary16.
    ReciprocalHalf,
    /// 1 / sqrt(A) of the low binary16.
    ReciprocalSqrtHalf,
    /// log2(m) / (m - 1), m being A reduced to [0.75, 1.5).
    LogD,
    /// 2^(A / 2^24) of an integer A; B is the same value as a float and rules the special cases.
    Exp,
    /// 2^((A mod 16) / 16).
    ExpTable,
    /// sin((A mod 64) * pi / 32).
    SinTable,
    /// cos((A mod 64) * pi / 32).
    CosTable,
    /// sqrt(A).
    SquareRoot,
    /// log2(A).
    Log,
    /// log2(A) of the low binary16.
    LogHalf,
    /// 2^A.
    ExpFloat,
    /// A^B of the low binary16.
    PowerHalf,
    /// sin(A + B * pi / 2), of which B counts modulo 4.
    Sine,
    /// cos(A + B * pi / 2), likewise.
    Cosine,
    /// The largest magnitude of A, B, C.
    CubeFace1,
    /// The face that it belongs to.
    CubeFace2,
    /// The S numerator for z = A, x = B, face word C.
    CubeS,
    /// The T numerator for y = A, z = B, face word C.
    CubeT,
}

impl Special {
    pub(super) fn run(self, [a, b, c, _]: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        match self {
            Special::Reciprocal => words([a], out, |[a]| single(policy, 1.0 / wide32(flush32(a)))),
            Special::ReciprocalSqrt => words([a], out, |[a]| {
                single(policy, reciprocal_sqrt(wide32(flush32(a))))
            }),
            Special::ReciprocalHalf => words([a], out, |[a]| half(policy, 1.0 / wide16(a as u16))),
            Special::ReciprocalSqrtHalf => words([a], out, |[a]| {
                half(policy, reciprocal_sqrt(wide16(a as u16)))
            }),
            Special::LogD => words([a], out, |[a]| single(policy, log_d(flush32(a)))),
            Special::Exp => words([a, b], out, |[a, b]| single(policy, exp(a, wide32(b)))),
            Special::ExpTable => words([a], out, |[a]| {
                single(policy, libm::exp2(f64::from(a & 15) / 16.0))
            }),
            Special::SinTable => words([a], out, |[a]| {
                single(policy, libm::sin(f64::from(a & 63) * (PI / 32.0)))
            }),
            Special::CosTable => words([a], out, |[a]| {
                single(policy, libm::cos(f64::from(a & 63) * (PI / 32.0)))
            }),
            Special::SquareRoot => {
                words([a], out, |[a]| {
                    single(policy, libm::sqrt(wide32(flush32(a))))
                });
            }
            Special::Log => words([a], out, |[a]| {
                single(policy, libm::log2(wide32(flush32(a))))
            }),
            Special::LogHalf => words([a], out, |[a]| half(policy, libm::log2(wide16(a as u16)))),
            Special::ExpFloat => {
                words([a], out, |[a]| {
                    single(policy, libm::exp2(wide32(flush32(a))))
                });
            }
            Special::PowerHalf => words([a, b], out, |[a, b]| {
                half(policy, libm::pow(wide16(a as u16), wide16(b as u16)))
            }),
            Special::Sine => words([a, b], out, |[a, b]| single(policy, turned(a, b))),
            Special::Cosine => {
                words([a, b], out, |[a, b]| {
                    single(policy, turned(a, b.wrapping_add(1)))
                });
            }
            Special::CubeFace1 => words([a, b, c], out, cube_magnitude),
            Special::CubeFace2 => words([a, b, c], out, cube_face),
            Special::CubeS => words([a, b, c], out, |[z, x, face]| match face >> 29 {
                0 => negated(z),
                1 => z,
                5 => negated(x),
                _ => x,
            }),
            Special::CubeT => words([a, b, c], out, |[y, z, face]| match face >> 29 {
                2 => z,
                3 => negated(z),
                _ => negated(y),
            }),
        }
    }
}

/// A binary32 result of a special function: these flush subnormals whatever the program says.
fn single(policy: FloatPolicy, value: f64) -> u32 {
    policy.result32(flush32(canonical32(value as f32)))
}

/// A binary16 result in both halves: the destination's mask takes one of them, or both. Where all of the register is written,
/// the upper half is not established.
fn half(policy: FloatPolicy, value: f64) -> u32 {
    let bits = policy.result16(narrow(value, 0, Format::Binary16, Round::NearestEven) as u16);
    u32::from(bits) * 0x0001_0001
}

fn reciprocal_sqrt(value: f64) -> f64 {
    if value == 0.0 {
        1.0 / value
    } else {
        1.0 / libm::sqrt(value)
    }
}

/// The special cases are those that the recipe of hardware/valhall-isa.md 10, `log2(x) = FMA(FLOGD(x), m - 1, e)`, needs (9.7):
/// -infinity for 0 (m - 1 = -1), infinity for infinity, and NaN for negative values.
fn log_d(bits: u32) -> f64 {
    let value = wide32(bits);
    if value.is_nan() || value < 0.0 {
        return f64::NAN;
    }
    if value == 0.0 {
        return f64::INFINITY;
    }
    if value.is_infinite() {
        return 1.0;
    }
    let fraction = bits & 0x7f_ffff;
    let exponent = if fraction >= 0x40_0000 { 126 } else { 127 };
    let offset = wide32(exponent << 23 | fraction) - 1.0;
    if offset == 0.0 {
        1.0 / LN_2
    } else {
        libm::log1p(offset) / offset / LN_2
    }
}

/// The sine of an angle in radians, turned by quarters of a circle.
fn turned(angle: u32, quadrant: u32) -> f64 {
    let angle = wide32(flush32(angle));
    match quadrant & 3 {
        0 => libm::sin(angle),
        1 => libm::cos(angle),
        2 => -libm::sin(angle),
        _ => -libm::cos(angle),
    }
}

fn exp(fixed: u32, float: f64) -> f64 {
    if float.is_nan() {
        f64::NAN
    } else if float >= 2_147_483_648.0 {
        f64::INFINITY
    } else if float < -2_147_483_648.0 {
        0.0
    } else {
        libm::exp2(f64::from(fixed as i32) / 16_777_216.0)
    }
}

fn cube_magnitude(xyz: [u32; 3]) -> u32 {
    match largest(xyz) {
        None => NAN32,
        Some(0x7f80_0000) => 0x3f80_0000,
        Some(..0x0080_0000) => 0x4000_0000,
        Some(magnitude) => magnitude,
    }
}

fn cube_face([x, y, z]: [u32; 3]) -> u32 {
    let Some(magnitude) = largest([x, y, z]) else {
        return 4 << 29;
    };
    let is = |value: u32| value & 0x7fff_ffff == magnitude;
    let (axis, value) = if is(z) {
        (4, z)
    } else if is(y) {
        (2, y)
    } else {
        (0, x)
    };
    // -0 is not less than 0.
    let negative = u32::from(value >> 31 != 0 && magnitude != 0);
    let infinite = u32::from(magnitude == 0x7f80_0000);
    (axis + negative) << 29 | infinite << 16
}

/// The largest magnitude, as bits; `None` if any is NaN.
fn largest(xyz: [u32; 3]) -> Option<u32> {
    let magnitudes = xyz.map(|bits| bits & 0x7fff_ffff);
    if magnitudes.iter().any(|&bits| bits > 0x7f80_0000) {
        return None;
    }
    magnitudes.into_iter().max()
}

fn negated(bits: u32) -> u32 {
    bits ^ 0x8000_0000
}
