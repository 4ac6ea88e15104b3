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
