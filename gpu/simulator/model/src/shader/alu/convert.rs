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
                let a = a.map(|a| policy.input32(a));
                singles_to_integers(&a, out, signed, round);
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
            Convert::IntegerToSingle {
                signed: true,
                round: Round::NearestEven,
            } => words([a], out, |[a]| (a as i32 as f32).to_bits()),
            Convert::IntegerToSingle {
                signed: false,
                round: Round::NearestEven,
            } => words([a], out, |[a]| (a as f32).to_bits()),
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

/// Added to a number and taken from it again, it leaves the nearest whole one: above it, binary64 has no fractions.
const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;

/// The nearest whole number of one below 2^51, ties to the even one.
#[inline(always)]
fn nearest(value: f64) -> f64 {
    (value + WHOLE) - WHOLE
}

/// Binary32 values as 32-bit integers: the loops are free of branches, so that they become vector code.
fn singles_to_integers(singles: &Lanes, out: &mut Lanes, signed: bool, round: Round) {
    match round {
        Round::NearestEven => each_integer(singles, out, signed, nearest),
        // The cast cuts off.
        Round::Zero => each_integer(singles, out, signed, |value| value),
        Round::Up => each_integer(singles, out, signed, |value| {
            let near = nearest(value);
            near + f64::from(u8::from(near < value))
        }),
        Round::Down => each_integer(singles, out, signed, |value| {
            let near = nearest(value);
            near - f64::from(u8::from(near > value))
        }),
        Round::NearestAway => {
            let part = if signed { Part::S32 } else { Part::U32 };
            words([singles], out, |[a]| to_integer(wide32(a), part, round));
        }
    }
}

/// Saturates before `whole` rounds: the ends are whole numbers, so it comes to the same. NaN stays, and the cast makes it 0.
#[inline(always)]
fn each_integer(singles: &Lanes, out: &mut Lanes, signed: bool, whole: impl Fn(f64) -> f64) {
    if signed {
        let (least, most) = (f64::from(i32::MIN), f64::from(i32::MAX));
        words([singles], out, |[a]| {
            whole(wide32(a).clamp(least, most)) as i32 as u32
        });
    } else {
        let most = f64::from(u32::MAX);
        words([singles], out, |[a]| {
            whole(wide32(a).clamp(0.0, most)) as u32
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const ROUNDS: [Round; 5] = [
        Round::NearestEven,
        Round::Up,
        Round::Down,
        Round::Zero,
        Round::NearestAway,
    ];

    #[track_caller]
    fn check(convert: Convert, a: &Lanes, expected: impl Fn(u32) -> u32) {
        let mut out = [0; 16];
        convert.run([a, a, a, a], &mut out, FloatPolicy::default());
        for (bits, got) in a.iter().zip(out) {
            assert_eq!(got, expected(*bits), "{convert:?} of {bits:#010x}");
        }
    }

    #[test]
    fn conversions_of_all_lanes_are_those_of_one() {
        let mut random = Random::new(3);
        let edges = [
            0x4f00_0000,
            0xcf00_0000,
            0x4eff_ffff,
            0x4f7f_ffff,
            0x4f80_0000,
            0x3f00_0000,
            0xbf00_0000,
            0x3fc0_0000,
            0x4020_0000,
            0x3eff_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x8000_0000,
            1,
            0,
        ];
        for time in 0..4_000 {
            let a: Lanes = match time {
                0 => edges,
                _ => core::array::from_fn(|_| match random.below(2) {
                    0 => random.below(1 << 32) as u32,
                    // From below 1/8 to beyond what 32 bits hold: most have a fraction.
                    _ => {
                        let positive = 0x3e00_0000 + random.below(0x1200_0000) as u32;
                        positive | (random.below(2) as u32) << 31
                    }
                }),
            };
            for (round, signed) in ROUNDS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
                let part = if signed { Part::S32 } else { Part::U32 };
                check(Convert::SingleToInteger { signed, round }, &a, |bits| {
                    to_integer(wide32(bits), part, round)
                });
                check(Convert::IntegerToSingle { signed, round }, &a, |bits| {
                    let value = match signed {
                        true => f64::from(bits as i32),
                        false => f64::from(bits),
                    };
                    narrow(value, 0, Format::Binary32, round)
                });
            }
        }
    }
}
