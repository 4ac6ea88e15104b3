//! Scalars in memory: little endian, each with its own conversion from a literal.

use crate::literal::Literal;
use crate::words::{Word, words};
use core::fmt;

words! {
    /// The type of one component.
    Scalar, "a scalar type":
    Int8    = "int8",
    Int16   = "int16",
    Int32   = "int32",
    Int64   = "int64",
    Uint8   = "uint8",
    Uint16  = "uint16",
    Uint24  = "uint24",
    Uint32  = "uint32",
    Uint64  = "uint64",
    Float16 = "float16",
    Float   = "float",
    Double  = "double",
}

/// A component's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of a signed integer.
    Signed(i64),
    /// Of an unsigned integer.
    Unsigned(u64),
    /// Of a floating-point number; halves and singles are widened.
    Float(f64),
}

impl Number {
    /// The value, rounded where it has more than 53 bits.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Signed(value) => value as f64,
            Number::Unsigned(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Signed(value) => write!(f, "{value}"),
            Number::Unsigned(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value}"),
        }
    }
}

impl Scalar {
    /// Bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Int8 | Scalar::Uint8 => 1,
            Scalar::Int16 | Scalar::Uint16 | Scalar::Float16 => 2,
            Scalar::Uint24 => 3,
            Scalar::Int32 | Scalar::Uint32 | Scalar::Float => 4,
            Scalar::Int64 | Scalar::Uint64 | Scalar::Double => 8,
        }
    }

    /// Whether its values have fractions.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Float16 | Scalar::Float | Scalar::Double)
    }

    /// Whether its values are signed integers.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Scalar::Int8 | Scalar::Int16 | Scalar::Int32 | Scalar::Int64
        )
    }

    /// The scalar that a script calls so; `uint24` exists in formats only.
    pub(crate) fn named(name: &str) -> Option<Scalar> {
        Scalar::from_text(name).filter(|scalar| *scalar != Scalar::Uint24)
    }

    /// Writes `literal` to `to`, which has at least [`Scalar::bytes`] bytes. Integers lose what their width does not hold;
    /// a fraction is cut off.
    pub fn store(self, literal: Literal, to: &mut [u8]) {
        let value = literal.as_f64();
        match self {
            Scalar::Float16 => put(to, half_bits(value as f32).into()),
            Scalar::Float => put(to, (value as f32).to_bits().into()),
            Scalar::Double => put(to, value.to_bits()),
            _ => put(to, literal.as_bits().unwrap_or(value as i64 as u64)),
        }
        fn put(to: &mut [u8], bits: u64) {
            for (to, from) in to.iter_mut().zip(bits.to_le_bytes()) {
                *to = from;
            }
        }
    }

    /// The value at the start of `from`, which has at least [`Scalar::bytes`] bytes.
    pub fn load(self, from: &[u8]) -> Number {
        let mut raw = [0; 8];
        for (to, from) in raw.iter_mut().zip(from.iter().take(self.bytes())) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(raw);
        match self {
            Scalar::Float16 => Number::Float(half_value(bits as u16).into()),
            Scalar::Float => Number::Float(f32::from_bits(bits as u32).into()),
            Scalar::Double => Number::Float(f64::from_bits(bits)),
            _ => self.integer(bits),
        }
    }

    /// The integer that the low bits of `bits` mean.
    pub(crate) fn integer(self, bits: u64) -> Number {
        let unused = 64 - 8 * self.bytes() as u32;
        match self.is_signed() {
            true => Number::Signed((bits << unused).cast_signed() >> unused),
            false => Number::Unsigned((bits << unused) >> unused),
        }
    }

    /// The literal as a value of this type, for a comparison. A half is compared as a single.
    pub fn convert(self, literal: Literal) -> Number {
        match self {
            Scalar::Float16 | Scalar::Float => Number::Float(f64::from(literal.as_f64() as f32)),
            Scalar::Double => Number::Float(literal.as_f64()),
            _ => {
                let bits = literal.as_bits();
                self.integer(bits.unwrap_or(literal.as_f64() as i64 as u64))
            }
        }
    }
}

/// A single as a half. The mantissa is cut off, not rounded, which scripts rely on (language reference, section 7);
/// what is too small for a normal half becomes a denormal, cut off too, and what is too large an infinity.
fn half_bits(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let exponent = (bits >> 23 & 0xFF) as i32 - 127 + 15;
    let mantissa = bits & 0x7F_FFFF;
    let magnitude = if value.is_nan() {
        0x7E00
    } else if exponent >= 31 {
        0x7C00
    } else if exponent > 0 {
        (exponent as u32) << 10 | mantissa >> 13
    } else if exponent > -10 {
        (mantissa | 0x80_0000) >> (14 - exponent)
    } else {
        0
    };
    sign | magnitude as u16
}

/// The least half above zero: 2^-24.
const TINIEST: f32 = 1.0 / 16_777_216.0;

/// 2^exponent, for a normal number.
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

fn half_value(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(bits >> 10 & 0x1F);
    let mantissa = f32::from(bits & 0x3FF);
    sign * match exponent {
        0 => mantissa * TINIEST,
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + mantissa) * power_of_two(exponent - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(scalar: Scalar, literal: Literal) -> Vec<u8> {
        let mut bytes = vec![0; scalar.bytes()];
        scalar.store(literal, &mut bytes);
        bytes
    }

    fn integer(value: i64) -> Literal {
        Literal::Integer {
            negative: value < 0,
            magnitude: value.unsigned_abs(),
        }
    }

    #[test]
    fn halves_are_cut_off_not_rounded() {
        // The example of the language reference, section 7.
        assert_eq!(stored(Scalar::Float16, Literal::Float(2.4)), [0xCC, 0x40]);
        assert_eq!(stored(Scalar::Float16, Literal::Float(1e9)), [0x00, 0x7C]);
        assert_eq!(stored(Scalar::Float16, Literal::Float(-0.0)), [0x00, 0x80]);
    }

    #[test]
    fn every_half_comes_back() {
        for bits in 0..=u16::MAX {
            let value = half_value(bits);
            if !value.is_nan() {
                assert_eq!(half_bits(value), bits, "half {bits:#06x}");
            }
        }
    }

    #[test]
    fn integers_are_cut_to_their_width() {
        assert_eq!(stored(Scalar::Uint8, integer(-1)), [0xFF]);
        assert_eq!(stored(Scalar::Int16, integer(0x1_2345)), [0x45, 0x23]);
        assert_eq!(Scalar::Int8.convert(integer(255)), Number::Signed(-1));
        assert_eq!(Scalar::Uint8.convert(integer(-1)), Number::Unsigned(255));
        assert_eq!(Scalar::Int64.load(&[0xFF; 8]), Number::Signed(-1));
        assert_eq!(Scalar::Uint24.load(&[1, 2, 3]), Number::Unsigned(0x03_0201));
    }

    #[test]
    fn floats_take_integers_as_numbers() {
        assert_eq!(stored(Scalar::Float, Literal::Hex(2)), 2.0f32.to_le_bytes());
        assert_eq!(stored(Scalar::Int32, Literal::Float(2.7)), [2, 0, 0, 0]);
    }
}
