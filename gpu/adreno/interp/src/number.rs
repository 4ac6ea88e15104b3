//! Floats of 16 and 32 bits as the hardware has them: denormals are zero, results round to nearest even unless a move says else.
//!
//! Facts: hardware/ir3-isa.md sections 4, 6 and 10.

use eitri_ir3_isa::{Round, Type, Width};

/// The value of a float's bits, with denormals as zero.
pub(crate) fn float(bits: u32, width: Width) -> f64 {
    match width {
        Width::Full => f64::from(f32::from_bits(flush(bits, width))),
        Width::Half => half_value(flush(bits, width)),
    }
}

/// The bits of a float that is nearest to `value`, or lies on the side that `round` says.
pub(crate) fn bits(value: f64, width: Width, round: Round) -> u32 {
    let bits = match width {
        Width::Full => full_bits(value, round),
        Width::Half => half_bits(value, round),
    };
    flush(bits, width)
}

/// Denormals become zeros of the same sign.
pub(crate) fn flush(bits: u32, width: Width) -> u32 {
    let (exponent, sign) = match width {
        Width::Full => (0x7F80_0000, 0x8000_0000),
        Width::Half => (0x7C00, 0x8000),
    };
    if bits & exponent == 0 {
        bits & sign
    } else {
        bits
    }
}

/// The sign bit of a float.
pub(crate) fn sign_bit(width: Width) -> u32 {
    1 << (width.bits() - 1)
}

fn half_value(bits: u32) -> f64 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let exponent = (bits >> 10 & 0x1F) as i32;
    let fraction = f64::from(bits & 0x3FF) / 1024.0;
    sign * match (exponent, bits & 0x3FF) {
        (0, _) => fraction * libm::exp2(-14.0),
        (31, 0) => f64::INFINITY,
        (31, _) => f64::NAN,
        _ => (1.0 + fraction) * libm::exp2(f64::from(exponent - 15)),
    }
}

fn full_bits(value: f64, round: Round) -> u32 {
    if value.is_nan() {
        return 0x7FC0_0000;
    }
    // Nearest even first; a directed rounding takes the neighbour if that went to the wrong side.
    let nearest = value as f32;
    let over = f64::from(nearest);
    let step = |towards_zero: bool| {
        let bits = nearest.to_bits();
        if towards_zero { bits - 1 } else { bits + 1 }
    };
    let magnitude_is_over = over.abs() > value.abs();
    let magnitude_is_under = over.abs() < value.abs();
    match round {
        Round::Zero if magnitude_is_over => step(true),
        Round::Up if over < value => match magnitude_is_over {
            true => step(true),
            false => step(false),
        },
        Round::Down if over > value => match magnitude_is_under {
            true => step(false),
            false => step(true),
        },
        _ => nearest.to_bits(),
    }
}

fn half_bits(value: f64, round: Round) -> u32 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    if value.is_nan() {
        return 0x7E00;
    }
    if magnitude == f64::INFINITY {
        return sign | 0x7C00;
    }
    // In units of the last place: a fraction of ten bits, denormals of the least exponent.
    let exponent = if magnitude < libm::exp2(-14.0) {
        -14
    } else {
        libm::ilogb(magnitude)
    };
    let units = magnitude * libm::exp2(f64::from(10 - exponent));
    let rounded = match (round, sign != 0) {
        (Round::Even, _) => libm::rint(units),
        (Round::Zero, _) | (Round::Up, true) | (Round::Down, false) => libm::floor(units),
        (Round::Up, false) | (Round::Down, true) => libm::ceil(units),
    };
    let value = rounded * libm::exp2(f64::from(exponent - 10));
    if value >= 65536.0 {
        // Toward zero nothing overflows.
        return sign | 0x7C00;
    }
    let exponent = if value < libm::exp2(-14.0) {
        -14
    } else {
        libm::ilogb(value)
    };
    let units = (value * libm::exp2(f64::from(10 - exponent))) as u32;
    match units {
        0..0x400 => sign | units,
        _ => sign | ((exponent + 15) as u32) << 10 | (units & 0x3FF),
    }
}

/// A value in registers as a type reads it.
#[derive(Clone, Copy, Debug)]
enum Number {
    Float(f64),
    Int(i64),
}

/// Converts bits from one type to another; equal types are copied.
pub(crate) fn convert(bits_in: u32, from: Type, to: Type, round: Round) -> u32 {
    if from == to {
        return bits_in & mask(to);
    }
    let number = match from {
        Type::F16 | Type::F32 => Number::Float(float(bits_in, from.width())),
        Type::U8 | Type::U16 | Type::U32 => Number::Int(i64::from(bits_in & mask(from))),
        Type::S8 => Number::Int(i64::from(bits_in as i8)),
        Type::S16 => Number::Int(i64::from(bits_in as i16)),
        Type::S32 => Number::Int(i64::from(bits_in as i32)),
    };
    match (number, to) {
        (Number::Float(value), Type::F16 | Type::F32) => bits(value, to.width(), round),
        // FACT: the rounding of integers to floats is inferred to be nearest even (hardware/ir3-isa.md 10), whatever the move says.
        // Settled by converting 0x1000001 with each rounding on a device.
        (Number::Int(value), Type::F16 | Type::F32) => bits(value as f64, to.width(), Round::Even),
        (Number::Float(value), _) => float_to_int(value, to, round),
        (Number::Int(value), _) => value as u32 & mask(to),
    }
}

/// The bits of a type.
pub(crate) fn mask(ty: Type) -> u32 {
    match ty.bits_wide() {
        8 => 0xFF,
        16 => 0xFFFF,
        _ => u32::MAX,
    }
}

fn float_to_int(value: f64, to: Type, round: Round) -> u32 {
    let whole = match round {
        Round::Zero => libm::trunc(value),
        Round::Even => libm::rint(value),
        Round::Up => libm::ceil(value),
        Round::Down => libm::floor(value),
    };
    let bits = to.bits_wide();
    let (least, greatest) = if to.is_signed() {
        (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1)
    } else {
        (0, (1i64 << bits) - 1)
    };
    // FACT: what NaN and values out of range become is not known (hardware/ir3-isa.md 10); NaN is 0 and others the nearest value
    // here. Settled by converting them on a device.
    let clamped = if whole.is_nan() {
        0
    } else {
        (whole as i64).clamp(least, greatest)
    };
    clamped as u32 & mask(to)
}

/// Sign-extends the low bits of a value of this width.
pub(crate) fn signed(bits: u32, width: Width) -> i64 {
    match width {
        Width::Half => i64::from(bits as i16),
        Width::Full => i64::from(bits as i32),
    }
}

/// The low bits that a width has.
pub(crate) fn truncate(bits: u32, width: Width) -> u32 {
    match width {
        Width::Half => bits & 0xFFFF,
        Width::Full => bits,
    }
}
