//! Conversions between integers and floats.
//!
//! Facts: hardware/valhall-isa.md 9.2. Extensions and exact widenings of integers are selections of a move, not conversions.

use super::FloatType;
use crate::shader::float::{
    Clamp, FloatPolicy, Format, Round, canonical32, clamped, integral, narrow, wide16, wide32,
};
use crate::shader::lanes::{Lanes, Part, halves, words};

/// A conversion of source A (and B, where two floats become two halves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Convert {
    /// Binary32 to a 32-bit integer: rounded, then saturated; NaN gives 0.
    SingleToInteger { signed: bool, round: Round },
    /// Two binary16 to two 16-bit integers, likewise.
    HalvesToIntegers { signed: bool, round: Round },
    /// The low binary16 to a 32-bit integer, likewise.
    HalfToInteger { signed: bool, round: Round },
    /// A 32-bit integer to binary32.
    IntegerToSingle { signed: bool, round: Round },
    /// Two 16-bit integers to two binary16.
    IntegersToHalves { signed: bool, round: Round },
    /// The low binary16 to binary32: exact.
    HalfToSingle,
    /// Two binary32, A and B, each clamped, to two binary16.
    SinglesToHalves { round: Round, clamp: Clamp },
    /// Rounded to an integral value of the same type.
    Integral { float: FloatType, round: Round },
}

impl Convert {
    pub(super) fn run(self, [a, b, _, _]: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        match self {
            Convert::SingleToInteger { signed, round } => {
                let part = if signed { Part::S32 } else { Part::U32 };
                words([a], out, |[a]| {
                    to_integer(wide32(policy.input32(a)), part, round)
                });
            }
            Convert::HalfToInteger { signed, round } => {
                let part = if signed { Part::S32 } else { Part::U32 };
                words([a], out, |[a]| {
                    to_integer(wide16(policy.input16x2(a) as u16), part, round)
                });
            }
            Convert::HalvesToIntegers { signed, round } => {
                let part = if signed { Part::S16 } else { Part::U16 };
                let a = a.map(|a| policy.input16x2(a));
                halves([&a], out, |[a]| to_integer(wide16(a), part, round) as u16);
            }
            Convert::IntegerToSingle { signed, round } => words([a], out, |[a]| {
                let value = if signed {
                    f64::from(a as i32)
                } else {
                    f64::from(a)
                };
                narrow(value, 0, Format::Binary32, round)
            }),
            Convert::IntegersToHalves { signed, round } => halves([a], out, |[a]| {
                let value = if signed {
                    f64::from(a as i16)
                } else {
                    f64::from(a)
                };
                policy.result16(narrow(value, 0, Format::Binary16, round) as u16)
            }),
            Convert::HalfToSingle => words([a], out, |[a]| {
                policy.result32(canonical32(wide16(policy.input16x2(a) as u16) as f32))
            }),
            Convert::SinglesToHalves { round, clamp } => words([a, b], out, |[a, b]| {
                let half = |bits: u32| {
                    let value = clamped(wide32(policy.input32(bits)), clamp);
                    policy.result16(narrow(value, 0, Format::Binary16, round) as u16)
                };
                u32::from(half(a)) | u32::from(half(b)) << 16
            }),
            Convert::Integral {
                float: FloatType::Single,
                round,
            } => words([a], out, |[a]| {
                let value = integral(wide32(policy.input32(a)), round);
                policy.result32(canonical32(value as f32))
            }),
            Convert::Integral {
                float: FloatType::Halves,
                round,
            } => {
                let a = a.map(|a| policy.input16x2(a));
                halves([&a], out, |[a]| {
                    let value = integral(wide16(a), round);
                    policy.result16(narrow(value, 0, Format::Binary16, Round::NearestEven) as u16)
                });
            }
        }
    }
}

/// `value` as an integer of the part's type; the language's cast saturates and takes NaN to 0.
fn to_integer(value: f64, part: Part, round: Round) -> u32 {
    let whole = integral(value, round);
    part.saturate(i128::from(whole as i64)) as u32
}
