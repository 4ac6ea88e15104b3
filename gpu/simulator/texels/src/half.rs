//! binary16 and binary32: conversions by bits, to nearest even.
//!
//! Needs: nothing.  Guarantees: correctly rounded; a NaN stays one.

/// To binary16: rounded to nearest even, too large gives infinity.
pub fn from_f32(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // A denormal of binary16 counts in units of 2^-24. The product is exact, or so small that it rounds to zero.
        let units = f32::from_bits(magnitude) * 16_777_216.0;
        return sign | units.round_ties_even() as u16;
    }
    let kept = magnitude - 0x3800_0000;
    let odd = (kept >> 13) & 1;
    sign | ((kept + 0xfff + odd) >> 13) as u16
}

/// `a * b + c` of values that binary16 has, rounded once to binary16.
pub fn fused(a: f32, b: f32, c: f32) -> u16 {
    let near = a.mul_add(b, c);
    // What binary32 left out, in its sign and in whether there is anything. The product is exact in binary64, and the
    // errors of its sum are too.
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let from_c = sum - product;
    let error = (product - (sum - from_c)) + (c - from_c);
    let rest = (sum - f64::from(near)) + error;
    // A result that is odd where something was left out is on the right side of every tie.
    let bits = near.to_bits();
    let odd = match near.is_finite() && rest != 0.0 && bits & 1 == 0 {
        true if (rest > 0.0) == (near > 0.0) => bits + 1,
        true => bits - 1,
        false => bits,
    };
    from_f32(f32::from_bits(odd))
}

/// From binary16: exact.
pub fn to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10) & 31;
    let mantissa = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        0 => (mantissa as f32 * (1.0 / 16_777_216.0)).to_bits(),
        31 if mantissa == 0 => 0x7f80_0000,
        31 => 0x7fc0_0000 | mantissa << 13,
        _ => (exponent + 112) << 23 | mantissa << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_binary16_survives_the_round_trip() {
        for half in 0..=u16::MAX {
            let value = to_f32(half);
            if value.is_nan() {
                assert!(to_f32(from_f32(value)).is_nan(), "{half:#06x}");
            } else {
                assert_eq!(from_f32(value), half, "{half:#06x}");
            }
        }
    }

    #[test]
    fn a_fused_sum_is_rounded_once() {
        let one = 1.0 + 1.0 / 1024.0;
        for (a, b, c, result) in [
            (one, one, 0.0, 0x3c02),
            (one, 1.0 / 2048.0, 1.0, 0x3c01),
            (1.0 - 1.0 / 2048.0, 1.0 / 2048.0, 1.0, 0x3c00),
            (
                2.0f32.powi(-13),
                2.0f32.powi(-12),
                1.0 + 1.0 / 1024.0,
                0x3c01,
            ),
            (2.0f32.powi(-12), 2.0f32.powi(-13), 2.0f32.powi(-24), 0x0002),
            (65504.0, 65504.0, 0.0, 0x7c00),
            (f32::INFINITY, -1.0, 1.0, 0xfc00),
        ] {
            assert_eq!(fused(a, b, c), result, "{a} * {b} + {c}");
        }
        // The product is 2^-11 - 2^-31: below the tie, by less than a sum in binary32 can tell.
        let (a, b) = (one / 32.0, (1.0 - 1.0 / 1024.0) / 64.0);
        assert_eq!(from_f32(a.mul_add(b, one)), 0x3c02);
        assert_eq!(fused(a, b, one), 0x3c01);
    }

    #[test]
    fn ties_go_to_even() {
        for (value, half) in [
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (2.0f32.powi(-25), 0x0000),
            (3.0 * 2.0f32.powi(-25), 0x0002),
            (-1.0e-30, 0x8000),
        ] {
            assert_eq!(from_f32(value), half, "{value}");
        }
    }
}
