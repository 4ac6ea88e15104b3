//! Elements of buffers: their types, what their bytes mean, and how people see them.

use serde::Deserialize;

/// The type of a buffer's elements, little endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the types")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    F16,
    U32,
    I32,
    F32,
}

/// The number that an element holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Real(f64),
}

impl Element {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Element::U8 | Element::I8 => 1,
            Element::U16 | Element::I16 | Element::F16 => 2,
            Element::U32 | Element::I32 | Element::F32 => 4,
        }
    }

    /// True for floats.
    pub const fn is_real(self) -> bool {
        matches!(self, Element::F16 | Element::F32)
    }

    /// The bits of an element in the low bits of a word; bytes that are missing count as 0.
    pub(crate) fn bits(self, bytes: &[u8]) -> u32 {
        let bytes = bytes.iter().take(self.bytes()).rev();
        bytes.fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    pub(crate) fn number(self, bytes: &[u8]) -> Number {
        let bits = self.bits(bytes);
        match self {
            Element::U8 | Element::U16 | Element::U32 => Number::Integer(bits.into()),
            Element::I8 => Number::Integer((bits as i8).into()),
            Element::I16 => Number::Integer((bits as i16).into()),
            Element::I32 => Number::Integer((bits as i32).into()),
            Element::F16 => Number::Real(f16_value(bits as u16)),
            Element::F32 => Number::Real(f32::from_bits(bits).into()),
        }
    }

    /// The place of a float in the order of all floats of its type; both zeros have place 0.
    pub(crate) fn ordinal(self, bytes: &[u8]) -> i64 {
        let bits = i64::from(self.bits(bytes));
        let sign = 1 << (8 * self.bytes() - 1);
        match bits & sign {
            0 => bits,
            _ => sign - bits,
        }
    }

    /// An element as text: a number, and for floats that are none or are too fine for it the bits as well.
    ///
    /// ```
    /// use eitri_compute_cases::Element;
    ///
    /// assert_eq!(Element::I8.show(&[0xff]), "-1");
    /// assert_eq!(Element::U32.show(&[0, 0, 0, 0x80]), "2147483648 (0x80000000)");
    /// assert_eq!(Element::F32.show(&0.1f32.to_le_bytes()), "0.1 (0x3dcccccd)");
    /// ```
    pub fn show(self, bytes: &[u8]) -> String {
        let bits = self.bits(bytes);
        let digits = 2 * self.bytes();
        match self.number(bytes) {
            Number::Integer(value) if (-999..=999).contains(&value) => value.to_string(),
            Number::Integer(value) => format!("{value} (0x{bits:0digits$x})"),
            Number::Real(value) if value.fract() == 0.0 => format!("{value:?}"),
            Number::Real(value) => {
                let text = match self {
                    Element::F32 => format!("{:?}", f32::from_bits(bits)),
                    _ => format!("{value:?}"),
                };
                format!("{text} (0x{bits:0digits$x})")
            }
        }
    }
}

/// The value of a binary16.
fn f16_value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// A number rounded to binary16: to nearest, ties to even.
pub(crate) fn f16_bits(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    if value.is_nan() {
        return sign | 0x7e00;
    }
    let magnitude = value.abs();
    // Half of the last place above the largest number, 65504: from here on the result is infinite.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Exact: the unit of the last place is a power of two, and so is what it is divided by.
    let exponent = (magnitude.log2().floor() as i32).max(-14);
    let unit = 2f64.powi(exponent - 10);
    // A fraction that rounds up to 1024 units carries into the exponent, which is the right number.
    let units = (magnitude / unit).round_ties_even() as i32;
    let biased = match exponent {
        -14 => units,
        _ => ((exponent + 14) << 10) + units,
    };
    sign | biased as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn f16_knows_its_corners() {
        #[rustfmt::skip]
        let table = [
            (0.0,                 0x0000),
            (-0.0,                0x8000),
            (1.0,                 0x3c00),
            (-2.0,                0xc000),
            (65504.0,             0x7bff),
            (65519.9,             0x7bff),
            (65520.0,             0x7c00),
            (f64::INFINITY,       0x7c00),
            (2f64.powi(-24),      0x0001),
            (2f64.powi(-25),      0x0000), // a tie, to even
            (3.0 * 2f64.powi(-25), 0x0002), // a tie, to even
            (2f64.powi(-14),      0x0400),
            (1.0 + 2f64.powi(-11), 0x3c00), // a tie, to even
            (1.0 + 3.0 * 2f64.powi(-11), 0x3c02),
            (2.0 - 2f64.powi(-12), 0x4000), // carries into the exponent
        ];
        for (value, bits) in table {
            assert_eq!(f16_bits(value), bits, "{value:?}");
        }
    }

    #[test]
    fn ordinals_count_representable_numbers() {
        let f32_ordinal = |value: f32| Element::F32.ordinal(&value.to_le_bytes());
        assert_eq!(f32_ordinal(0.0), f32_ordinal(-0.0));
        assert_eq!(f32_ordinal(f32::from_bits(1)), 1);
        assert_eq!(f32_ordinal(-f32::from_bits(1)), -1);
        assert_eq!(Element::F16.ordinal(&[0x01, 0x80]), -1);
    }

    proptest! {
        #[test]
        fn every_f16_survives(bits: u16) {
            let value = f16_value(bits);
            if value.is_nan() {
                prop_assert_eq!(f16_bits(value) & 0x7fff, 0x7e00);
            } else {
                prop_assert_eq!(f16_bits(value), bits);
            }
        }

        #[test]
        fn f16_is_the_nearest(value in -70000.0..70000.0f64) {
            let bits = f16_bits(value);
            let error = (f16_value(bits) - value).abs();
            for other in [bits.wrapping_sub(1), bits.wrapping_add(1)] {
                let there = f16_value(other);
                prop_assert!(!there.is_finite() || error <= (there - value).abs() || !f16_value(bits).is_finite());
            }
        }
    }
}
