//! Numbers as a script writes them.

use core::fmt;
use serde::{Deserialize, Serialize};

/// A number of the script, with the way in which it was written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Literal {
    /// Decimal without a point. Magnitudes above 2^64 - 1 were cut to that.
    Integer {
        /// It has a minus sign.
        negative: bool,
        /// Its absolute value.
        magnitude: u64,
    },
    /// Hexadecimal.
    Hex(u64),
    /// With a point, or `nan`.
    Float(f64),
}

impl Literal {
    /// The value as a number; integers beyond 2^53 are rounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Literal::Integer {
                negative: true,
                magnitude,
            } => -(magnitude as f64),
            Literal::Integer { magnitude, .. } => magnitude as f64,
            Literal::Hex(value) => value as f64,
            Literal::Float(value) => value,
        }
    }

    /// The bits of an integer, negative ones in two's complement; a floating-point number has none.
    pub fn as_bits(self) -> Option<u64> {
        match self {
            Literal::Integer {
                negative: true,
                magnitude,
            } => Some(magnitude.wrapping_neg()),
            Literal::Integer { magnitude, .. } => Some(magnitude),
            Literal::Hex(value) => Some(value),
            Literal::Float(_) => None,
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Integer {
                negative,
                magnitude,
            } => write!(f, "{}{magnitude}", if *negative { "-" } else { "" }),
            Literal::Hex(value) => write!(f, "{value:#x}"),
            Literal::Float(value) if libm::trunc(*value) == *value => write!(f, "{value:.1}"),
            Literal::Float(value) => write!(f, "{value}"),
        }
    }
}
