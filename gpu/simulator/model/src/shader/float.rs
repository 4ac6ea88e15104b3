//! Floats: rounding in every mode, binary16, and the rules that IEEE 754 leaves open.
//!
//! Every operation is computed in binary64, rounded to odd where it is not exact, and then narrowed once. Rounding to odd
//! keeps what a second rounding needs, so each result is rounded as if from the exact value, whatever the host's FPU can do.
//! NaN results are always the same quiet NaN, so that runs on different hosts give the same bytes.
//!
//! Facts: hardware/valhall-isa.md 8.2 (values, min and max, comparisons, clamp), 9.2 (conversions), 9.6.

pub(crate) use super::extreme::{Float, clamped, max, min};

/// The quiet NaN of every binary32 result.
pub(crate) const NAN32: u32 = 0x7fc0_0000;
/// The quiet NaN of every binary16 result.
pub(crate) const NAN16: u16 = 0x7e00;

/// How a result that is not representable is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To the nearest, ties to the even one.
    NearestEven,
    /// Toward positive infinity.
    Up,
    /// Toward negative infinity.
    Down,
    /// Toward zero.
    Zero,
    /// To the nearest, ties away from zero.
    NearestAway,
}

/// The range that a result is clamped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Not clamped.
    None,
    /// At least +0.
    ZeroToInfinity,
    /// From -1 to 1.
    MinusOneToOne,
    /// From +0 to 1.
    ZeroToOne,
}

/// A binary interchange format that results are narrowed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// 11 bits of precision, 5 of exponent.
    Binary16,
    /// 24 bits of precision, 8 of exponent.
    Binary32,
}

impl Format {
    /// Bits of the stored significand.
    const fn fraction_bits(self) -> i32 {
        match self {
            Format::Binary16 => 10,
            Format::Binary32 => 23,
        }
    }

    const fn bias(self) -> i32 {
        match self {
            Format::Binary16 => 15,
            Format::Binary32 => 127,
        }
    }

    const fn sign(self) -> u32 {
        match self {
            Format::Binary16 => 0x8000,
            Format::Binary32 => 0x8000_0000,
        }
    }

    const fn infinity(self) -> u32 {
        match self {
            Format::Binary16 => 0x7c00,
            Format::Binary32 => 0x7f80_0000,
        }
    }

    const fn nan(self) -> u32 {
        match self {
            Format::Binary16 => NAN16 as u32,
            Format::Binary32 => NAN32,
        }
    }
}

/// `value * 2^scale` in `format`, rounded once by `round`.
///
/// `value` may be the result of [`add_odd`] or [`fma_odd`]: its last bit then stands for everything below it.
pub(crate) fn narrow(value: f64, scale: i32, format: Format, round: Round) -> u32 {
    let bits = value.to_bits();
    let negative = bits >> 63 != 0;
    let sign = if negative { format.sign() } else { 0 };
    let field = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if field == 0x7ff {
        return if fraction == 0 {
            sign | format.infinity()
        } else {
            format.nan()
        };
    }
    if field == 0 && fraction == 0 {
        return sign;
    }
    // Binary64 subnormals lie below every result's last bit: any significand of that size rounds alike.
    let significand = fraction | (1 << 52);
    let exponent = (field - 1023).saturating_add(scale.clamp(-1 << 20, 1 << 20));
    let smallest = 1 - format.bias();
    let subnormal = exponent < smallest;
    let below = if subnormal { smallest - exponent } else { 0 };
    let shift = (52 - format.fraction_bits() + below).min(60) as u32;
    let mut quotient = (significand >> shift) as u32;
    let rest = significand & ((1 << shift) - 1);
    let half = 1u64 << (shift - 1);
    let up = match round {
        Round::NearestEven => rest > half || (rest == half && quotient & 1 != 0),
        Round::NearestAway => rest >= half,
        Round::Up => rest != 0 && !negative,
        Round::Down => rest != 0 && negative,
        Round::Zero => false,
    };
    quotient += u32::from(up);
    if exponent <= format.bias() {
        let magnitude = if subnormal {
            quotient
        } else {
            // The quotient's leading one adds one to the exponent field, and a carry out of it another.
            (((exponent + format.bias() - 1) as u32) << format.fraction_bits()) + quotient
        };
        if magnitude < format.infinity() {
            return sign | magnitude;
        }
    }
    let infinite = match round {
        Round::NearestEven | Round::NearestAway => true,
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => false,
    };
    sign | if infinite {
        format.infinity()
    } else {
        format.infinity() - 1
    }
}

/// `a + b`, rounded to odd: where inexact, the last bit is 1.
pub(crate) fn add_odd(a: f64, b: f64, round: Round) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    if sum == 0.0 {
        // Exact cancellation is -0 when rounding down, +0 otherwise.
        let opposite = a.is_sign_negative() != b.is_sign_negative();
        return if opposite && round == Round::Down {
            -0.0
        } else {
            sum
        };
    }
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error == 0.0 || sum.to_bits() & 1 != 0 {
        return sum;
    }
    let outward = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if outward {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

/// `a * b + c` of values that came from binary16 or binary32 (so the product is exact), rounded to odd.
pub(crate) fn fma_odd(a: f64, b: f64, c: f64, round: Round) -> f64 {
    add_odd(a * b, c, round)
}

/// `a + b` in binary32.
#[inline(always)]
pub(crate) fn add32(a: u32, b: u32, round: Round) -> u32 {
    if round == Round::NearestEven {
        return canonical32(f32::from_bits(a) + f32::from_bits(b));
    }
    narrow(
        add_odd(wide32(a), wide32(b), round),
        0,
        Format::Binary32,
        round,
    )
}

/// `a * b + c` in binary32, fused.
#[inline]
pub(crate) fn fma32(a: u32, b: u32, c: u32, round: Round) -> u32 {
    if round == Round::NearestEven {
        let (result, is_exact) = fma32_nearest(a, b, c);
        if is_exact {
            return result;
        }
    }
    let (a, b, c) = (wide32(a), wide32(b), wide32(c));
    narrow(fma_odd(a, b, c, round), 0, Format::Binary32, round)
}

/// `a * b + c` in binary32, rounded to binary64 and then to the nearest binary32, and whether that is what one rounding gives. Free
/// of branches, so that a loop over lanes becomes vector code.
#[inline(always)]
pub(crate) fn fma32_nearest(a: u32, b: u32, c: u32) -> (u32, bool) {
    nearest32(wide32(a) * wide32(b) + wide32(c))
}

/// The nearest binary32 of a sum that was rounded to binary64, and whether that is what one rounding gives. A power of two may have
/// been multiplied to the sum, as long as it stayed normal.
#[inline(always)]
pub(crate) fn nearest32(near: f64) -> (u32, bool) {
    let result = near as f32;
    // Two roundings differ from one only at a tie of the second, or where the result is subnormal. A sum that is 0 in binary64 is
    // exact, since what binary32 can hold stays far above the smallest binary64.
    let tie = near.to_bits() as u32 & 0x1fff_ffff == 0x1000_0000;
    let is_normal = result.abs() >= f32::MIN_POSITIVE;
    let is_special = (near == 0.0) | near.is_nan();
    (canonical32(result), (is_normal & !tie) | is_special)
}

/// The bits of `value`, any NaN replaced by the one NaN of results.
#[inline(always)]
pub(crate) fn canonical32(value: f32) -> u32 {
    if value.is_nan() {
        NAN32
    } else {
        value.to_bits()
    }
}

/// A binary32 value as binary64, exactly.
#[inline(always)]
pub(crate) fn wide32(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// A binary16 value as binary64, exactly.
#[inline(always)]
pub(crate) fn wide16(bits: u16) -> f64 {
    f64::from(half_to_single(bits))
}

/// A binary16 value as binary32, exactly. Free of branches, so that a loop over lanes becomes vector code.
#[inline(always)]
pub(crate) fn half_to_single(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    // A subnormal is its fraction times 2^-24: exact in binary32.
    let subnormal = (magnitude as i32 as f32 * (1.0 / 16_777_216.0)).to_bits();
    let normal = (magnitude << 13) + (112 << 23);
    let special = if magnitude > 0x7c00 {
        NAN32
    } else {
        0x7f80_0000
    };
    let finite = if magnitude < 0x400 { subnormal } else { normal };
    let value = if magnitude >= 0x7c00 { special } else { finite };
    f32::from_bits(value | sign)
}

/// A binary32 value as binary16.
pub(crate) fn single_to_half(bits: u32, round: Round) -> u16 {
    narrow(wide32(bits), 0, Format::Binary16, round) as u16
}

/// `value` rounded to an integral value; the sign of zero is kept.
pub(crate) fn integral(value: f64, round: Round) -> f64 {
    if !value.is_finite() || value.abs() >= 4_503_599_627_370_496.0 {
        return value;
    }
    let magnitude = value.abs();
    let down = magnitude as u64;
    let rest = magnitude - down as f64;
    let up = match round {
        Round::NearestEven => rest > 0.5 || (rest == 0.5 && down & 1 != 0),
        Round::NearestAway => rest >= 0.5,
        Round::Up => rest > 0.0 && value > 0.0,
        Round::Down => rest > 0.0 && value < 0.0,
        Round::Zero => false,
    };
    let result = (down + u64::from(up)) as f64;
    if value.is_sign_negative() {
        -result
    } else {
        result
    }
}

/// Binary32 bits after the clamp.
#[inline(always)]
pub(crate) fn clamp32(bits: u32, clamp: Clamp) -> u32 {
    match clamp {
        Clamp::None => bits,
        _ => canonical32(clamped(f32::from_bits(bits), clamp)),
    }
}

/// Binary16 bits after the clamp.
pub(crate) fn clamp16(bits: u16, clamp: Clamp) -> u16 {
    match clamp {
        Clamp::None => bits,
        _ => narrow(
            clamped(wide16(bits), clamp),
            0,
            Format::Binary16,
            Round::NearestEven,
        ) as u16,
    }
}

/// What a program's descriptor says about subnormals, NaN and infinity.
///
/// Mode 1 flushes binary32 and keeps binary16, mode 2 flushes both (hardware/descriptors.md 3).
// FACT: of flush mode 3 only the name is known (hardware/valhall-isa.md 8.2); it is taken to be mode 2. Settled by a shader on
// any board that adds subnormals with each mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FloatPolicy {
    /// Binary32 subnormals, as inputs and results, are zeros of their sign.
    pub flush32: bool,
    /// Binary16 subnormals likewise.
    pub flush16: bool,
    /// NaN results become +0.
    pub suppress_nan: bool,
    /// Infinite results become the largest finite value of their sign.
    pub suppress_inf: bool,
}

impl FloatPolicy {
    /// Whether the policy changes nothing.
    pub fn is_plain(self) -> bool {
        self == FloatPolicy::default()
    }

    /// A binary32 operand under the policy.
    #[inline(always)]
    pub(crate) fn input32(self, bits: u32) -> u32 {
        if self.flush32 { flush32(bits) } else { bits }
    }

    /// Two binary16 operands under the policy.
    #[inline(always)]
    pub(crate) fn input16x2(self, bits: u32) -> u32 {
        if !self.flush16 {
            return bits;
        }
        u32::from(flush16(bits as u16)) | u32::from(flush16((bits >> 16) as u16)) << 16
    }

    /// A binary32 result under the policy.
    #[inline(always)]
    pub(crate) fn result32(self, bits: u32) -> u32 {
        let magnitude = bits & 0x7fff_ffff;
        if self.suppress_nan && magnitude > 0x7f80_0000 {
            0
        } else if self.suppress_inf && magnitude == 0x7f80_0000 {
            bits - 1
        } else {
            self.input32(bits)
        }
    }

    /// One binary16 result under the policy.
    #[inline(always)]
    pub(crate) fn result16(self, bits: u16) -> u16 {
        let magnitude = bits & 0x7fff;
        if self.suppress_nan && magnitude > 0x7c00 {
            0
        } else if self.suppress_inf && magnitude == 0x7c00 {
            bits - 1
        } else if self.flush16 {
            flush16(bits)
        } else {
            bits
        }
    }
}

/// A binary32 value, a subnormal replaced by the zero of its sign.
#[inline(always)]
pub(crate) fn flush32(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// A binary16 value, a subnormal replaced by the zero of its sign.
#[inline(always)]
pub(crate) fn flush16(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 {
        bits & 0x8000
    } else {
        bits
    }
}

/// The nearest integer of a number far below 2^51, of two the even one. What is no number is 0.
#[inline]
pub(super) fn nearest(value: f64) -> i64 {
    // A sum of this size has no bits below one.
    const ALIGNED: f64 = 6_755_399_441_055_744.0;
    (value + ALIGNED - ALIGNED) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Binary64 to binary32 by the language's cast is nearest-even: the narrowing must agree with it everywhere.
    #[test]
    fn narrowing_to_single_agrees_with_the_cast() {
        proptest!(|(bits: u64)| {
            let value = f64::from_bits(bits);
            let got = narrow(value, 0, Format::Binary32, Round::NearestEven);
            prop_assert_eq!(got, canonical32(value as f32), "{:e}", value);
        });
    }

    #[test]
    fn every_half_survives_widening_and_narrowing() {
        for bits in 0..=u16::MAX {
            let back = narrow(wide16(bits), 0, Format::Binary16, Round::NearestEven) as u16;
            let is_nan = bits & 0x7fff > 0x7c00;
            assert_eq!(back, if is_nan { NAN16 } else { bits }, "{bits:#06x}");
        }
    }

    /// `f32::mul_add` of the standard library is the other opinion on the fused multiply-add.
    #[test]
    fn fused_multiply_add_agrees_with_the_standard_library() {
        proptest!(|(a: u32, b: u32, c: u32, near: bool, delta in -30i32..30)| {
            // Half of the cases cancel: c is close to -a*b, where double rounding would show.
            let (fa, fb) = (f32::from_bits(a), f32::from_bits(b));
            let c = if near {
                (-(fa * fb)).to_bits().wrapping_add(delta as u32)
            } else {
                c
            };
            let expected = canonical32(fa.mul_add(fb, f32::from_bits(c)));
            prop_assert_eq!(fma32(a, b, c, Round::NearestEven), expected);
        });
    }

    #[test]
    fn directed_rounding_brackets_the_exact_sum() {
        // 1 + 2^-24 lies half way between 1 and its successor.
        let (one, tiny) = (0x3f80_0000, 0x3380_0000);
        assert_eq!(add32(one, tiny, Round::NearestEven), one);
        assert_eq!(add32(one, tiny, Round::Up), one + 1);
        assert_eq!(add32(one, tiny, Round::Down), one);
        assert_eq!(add32(one, tiny, Round::Zero), one);
        assert_eq!(add32(one, one | 0x8000_0000, Round::Down), 0x8000_0000);
    }
}
