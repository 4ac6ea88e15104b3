//! Numbers of pixel formats: what stored bits are worth, and the bits that numbers become.
//!
//! Facts: hardware/graphics-texture.md 7.9; hardware/graphics-formats.md 1.

use super::super::float::{Format as Float, Round, narrow, nearest, wide16, wide32};
use super::codes::Number;

/// 1 in fixed point of 16 bits below the point.
const FIXED_ONE: f64 = 65_536.0;

/// Fractions of 8 bits.
pub(super) static EIGHT_BITS: [f64; 256] = {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < values.len() {
        values[code] = code as f64 / 255.0;
        code += 1;
    }
    values
};

pub(super) fn mask(size: u8) -> u32 {
    ((1u64 << size) - 1) as u32
}

/// The number that stored bits are.
pub(super) fn value(number: Number, bits: u32, size: u8) -> f64 {
    let up = 32 - u32::from(size);
    let signed = (bits << up) as i32 >> up;
    match number {
        Number::Unorm => f64::from(bits) / f64::from(mask(size)),
        Number::Snorm => (f64::from(signed) / f64::from(mask(size - 1))).max(-1.0),
        Number::Uint => f64::from(bits),
        Number::Sint => f64::from(signed),
        Number::Fixed => f64::from(signed) / FIXED_ONE,
        Number::Float => match size {
            32 => wide32(bits),
            16 => wide16(bits as u16),
            // Those of 11 and 10 bits are halves without sign and without the lowest bits of the fraction.
            _ => wide16((bits << (15 - size)) as u16),
        },
    }
}

/// The stored bits of a number: clamped to what can be stored, then rounded to nearest.
#[inline]
pub(super) fn bits_of(number: Number, value: f64, size: u8) -> u32 {
    // Codes have 32 bits at most.
    let nearest = |value: f64| nearest(value) as u32;
    match number {
        Number::Unorm | Number::Snorm if value.is_nan() => 0,
        Number::Unorm => nearest(value.clamp(0.0, 1.0) * f64::from(mask(size))),
        Number::Snorm => nearest(value.clamp(-1.0, 1.0) * f64::from(mask(size - 1))),
        Number::Uint => value.clamp(0.0, f64::from(mask(size))) as u32,
        Number::Sint => {
            let top = f64::from(mask(size - 1));
            value.clamp(-top - 1.0, top) as i64 as u32
        }
        Number::Fixed => {
            let fixed = libm::rint(value * FIXED_ONE);
            fixed.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32
        }
        Number::Float => match size {
            32 => narrow(value, 0, Float::Binary32, Round::NearestEven),
            16 => narrow(value, 0, Float::Binary16, Round::NearestEven),
            _ => unsigned_float(value, size),
        },
    }
}

/// A float without sign, of five bits of exponent and the rest of fraction; negative values become 0.
fn unsigned_float(value: f64, size: u8) -> u32 {
    let fraction = u32::from(size) - 5;
    if value.is_nan() {
        return mask(size);
    }
    if value <= 0.0 {
        return 0;
    }
    let infinity = 0x1f << fraction;
    if value.is_infinite() {
        return infinity;
    }
    let (_, exponent) = libm::frexp(value);
    // frexp's mantissa lies in [0.5, 1).
    let exponent = (exponent - 1).max(-14);
    let units = libm::rint(libm::scalbn(value, fraction as i32 - exponent)) as u32;
    // A fraction that rounds up to the next power of two carries into the exponent; a subnormal one has exponent 0.
    let bits = units + (((exponent + 14) as u32) << fraction);
    bits.min(infinity - 1)
}

/// Three fractions and the exponent that they share, as Khronos defines it.
pub(super) fn shared_exponent(values: [f64; 3]) -> [u32; 4] {
    const FRACTION: i32 = 9;
    const BIAS: i32 = 15;
    let largest = (f64::from((1 << FRACTION) - 1) / f64::from(1 << FRACTION)) * 65_536.0;
    let values = values.map(|value| {
        if value.is_nan() {
            0.0
        } else {
            value.clamp(0.0, largest)
        }
    });
    let top = values.into_iter().fold(0.0, f64::max);
    let floor = if top == 0.0 {
        -BIAS - 1
    } else {
        libm::frexp(top).1 - 1
    };
    let mut exponent = floor.max(-BIAS - 1) + 1 + BIAS;
    let scaled = |value: f64, exponent: i32| {
        libm::floor(libm::scalbn(value, BIAS + FRACTION - exponent) + 0.5) as u32
    };
    if scaled(top, exponent) == 1 << FRACTION {
        exponent += 1;
    }
    let [r, g, b] = values.map(|value| scaled(value, exponent));
    [r, g, b, exponent as u32]
}

pub(super) fn linear_of_srgb(value: f64) -> f64 {
    if value <= 0.04045 {
        value / 12.92
    } else {
        libm::pow((value + 0.055) / 1.055, 2.4)
    }
}

pub(super) fn srgb_of_linear(value: f64) -> f64 {
    if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * libm::pow(value, 1.0 / 2.4) - 0.055
    }
}
