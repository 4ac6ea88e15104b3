//! Float arithmetic: add, fused multiply-add, min and max, scaling, taking floats apart.
//!
//! Facts: hardware/valhall-isa.md 8.2 and 9.6.

use super::singles;
use crate::shader::float::{
    self, Clamp, FloatPolicy, Format, Round, add_odd, add32, clamp16, clamped, flush16, flush32,
    fma_odd, narrow, single_to_half, wide16, wide32,
};
use crate::shader::lanes::{Lanes, halves, words};

/// The float parts of a register that an operation works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatType {
    /// One binary32.
    Single,
    /// Two binary16.
    Halves,
}

/// The range that FREXP reduces a magnitude to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// [0.5, 1).
    Normal,
    /// [0.25, 1), the exponent being that of 4.
    Sqrt,
    /// [0.75, 1.5).
    Log,
}

/// What FMA_RSCALE does with a product that has a zero factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RscaleMode {
    /// Nothing special.
    None,
    /// The product is 0, even against infinity or NaN.
    Zero,
    /// The product is A.
    Left,
}

/// An operation of float arithmetic; sources A, B, C, D.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arithmetic {
    /// clamp(A + B).
    Add {
        float: FloatType,
        round: Round,
        clamp: Clamp,
        to_half: bool,
    },
    /// clamp(A * B + C), rounded once.
    Fma {
        float: FloatType,
        round: Round,
        clamp: Clamp,
        to_half: bool,
    },
    /// clamp(min(A, B)); `propagate` prefers NaN.
    Min {
        float: FloatType,
        clamp: Clamp,
        propagate: bool,
    },
    /// clamp(max(A, B)); `propagate` prefers NaN.
    Max {
        float: FloatType,
        clamp: Clamp,
        propagate: bool,
    },
    /// A * 2^B, B an integer.
    Ldexp { float: FloatType, round: Round },
    /// clamp((A * B + C) * 2^D), D an integer, rounded once at the final exponent.
    FmaRscale {
        mode: RscaleMode,
        clamp: Clamp,
        toward_zero: bool,
    },
    /// clamp(A + B scaled by a power of two into [0.75, 1.5)).
    AddLscale {
        round: Round,
        clamp: Clamp,
        to_half: bool,
    },
    /// The reduced magnitude of A, its sign kept.
    FrexpMantissa {
        float: FloatType,
        reduction: Reduction,
    },
    /// The exponent that goes with it.
    FrexpExponent {
        float: FloatType,
        reduction: Reduction,
        negate: bool,
    },
    /// A with the named values flushed.
    Flush {
        float: FloatType,
        nan: FlushNan,
        subnormals: bool,
        infinities: bool,
    },
}

/// What FLUSH does with NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushNan {
    /// Nothing.
    Keep,
    /// It becomes +0.
    Zero,
    /// It becomes quiet.
    Quiet,
}

impl Arithmetic {
    #[inline(always)]
    pub(super) fn run(self, sources: [&Lanes; 4], out: &mut Lanes, policy: FloatPolicy) {
        if !policy.is_plain() && !matches!(self, Arithmetic::Flush { .. }) {
            return self.run_under(policy, sources, out);
        }
        self.evaluate(sources, out);
    }

    /// Evaluates with inputs and results changed by the policy.
    fn run_under(self, policy: FloatPolicy, sources: [&Lanes; 4], out: &mut Lanes) {
        let (float, integer_source) = self.operands();
        let mut inputs = sources.map(|lanes| *lanes);
        for (index, lanes) in inputs.iter_mut().enumerate() {
            if Some(index) != integer_source {
                *lanes = lanes.map(|bits| match float {
                    FloatType::Single => policy.input32(bits),
                    FloatType::Halves => policy.input16x2(bits),
                });
            }
        }
        self.evaluate(inputs.each_ref(), out);
        match self.result_type() {
            Some(FloatType::Single) => {
                let exact = *out;
                words([&exact], out, |[bits]| policy.result32(bits));
            }
            Some(FloatType::Halves) => {
                let exact = *out;
                halves([&exact], out, |[bits]| policy.result16(bits));
            }
            None => {}
        }
    }

    /// The type of the float sources, and which source is an integer.
    fn operands(self) -> (FloatType, Option<usize>) {
        match self {
            Arithmetic::Add { float, .. }
            | Arithmetic::Fma { float, .. }
            | Arithmetic::Min { float, .. }
            | Arithmetic::Max { float, .. }
            | Arithmetic::FrexpMantissa { float, .. }
            | Arithmetic::FrexpExponent { float, .. }
            | Arithmetic::Flush { float, .. } => (float, None),
            Arithmetic::Ldexp { float, .. } => (float, Some(1)),
            Arithmetic::FmaRscale { .. } => (FloatType::Single, Some(3)),
            Arithmetic::AddLscale { .. } => (FloatType::Single, None),
        }
    }

    fn result_type(self) -> Option<FloatType> {
        match self {
            Arithmetic::Add { to_half: true, .. }
            | Arithmetic::Fma { to_half: true, .. }
            | Arithmetic::AddLscale { to_half: true, .. } => Some(FloatType::Halves),
            Arithmetic::FrexpExponent { .. } => None,
            _ => Some(self.operands().0),
        }
    }

    #[inline(always)]
    fn evaluate(self, sources: [&Lanes; 4], out: &mut Lanes) {
        let [a, b, c, _] = sources;
        match self {
            // The commonest operations of all, without another call.
            Arithmetic::Add {
                float: FloatType::Single,
                round,
                clamp,
                to_half,
            } => {
                singles::add([a, b], out, round);
                singles::finish(out, clamp, to_half, round);
            }
            Arithmetic::Fma {
                float: FloatType::Single,
                round,
                clamp,
                to_half,
            } => {
                singles::multiply_add([a, b, c], out, round);
                singles::finish(out, clamp, to_half, round);
            }
            _ => self.evaluate_other(sources, out),
        }
    }

    /// Evaluates what [`Self::evaluate`] leaves: of sums and products those of halves.
    fn evaluate_other(self, [a, b, c, d]: [&Lanes; 4], out: &mut Lanes) {
        match self {
            Arithmetic::Add { round, clamp, .. } => halves([a, b], out, |[a, b]| {
                let sum = add_odd(wide16(a), wide16(b), round);
                clamp16(narrow(sum, 0, Format::Binary16, round) as u16, clamp)
            }),
            Arithmetic::Fma { round, clamp, .. } => halves([a, b, c], out, |[a, b, c]| {
                let exact = fma_odd(wide16(a), wide16(b), wide16(c), round);
                clamp16(narrow(exact, 0, Format::Binary16, round) as u16, clamp)
            }),
            Arithmetic::Min {
                float: FloatType::Single,
                clamp,
                propagate,
            } => {
                singles::minimum([a, b], out, propagate);
                singles::finish(out, clamp, false, Round::NearestEven);
            }
            Arithmetic::Max {
                float: FloatType::Single,
                clamp,
                propagate,
            } => {
                singles::maximum([a, b], out, propagate);
                singles::finish(out, clamp, false, Round::NearestEven);
            }
            Arithmetic::Min {
                float: FloatType::Halves,
                clamp,
                propagate,
            } => extreme_halves(clamp, propagate, float::min::<f64>, [a, b], out),
            Arithmetic::Max {
                float: FloatType::Halves,
                clamp,
                propagate,
            } => extreme_halves(clamp, propagate, float::max::<f64>, [a, b], out),
            Arithmetic::Ldexp {
                float: FloatType::Single,
                round,
            } => words([a, b], out, |[a, b]| {
                narrow(wide32(a), b as i32, Format::Binary32, round)
            }),
            Arithmetic::Ldexp {
                float: FloatType::Halves,
                round,
            } => halves([a, b], out, |[a, b]| {
                narrow(wide16(a), i32::from(b as i16), Format::Binary16, round) as u16
            }),
            Arithmetic::FmaRscale {
                mode,
                clamp,
                toward_zero,
            } => {
                singles::multiply_add_scaled([a, b, c, d], out, mode, toward_zero);
                singles::finish(out, clamp, false, Round::NearestEven);
            }
            Arithmetic::AddLscale {
                round,
                clamp,
                to_half,
            } => {
                words([a, b], out, |[a, b]| {
                    let scaled = match Parts::of(b) {
                        Some(parts) if !parts.subnormal => parts.mantissa(Reduction::Log),
                        _ => b,
                    };
                    add32(a, scaled, round)
                });
                singles::finish(out, clamp, to_half, round);
            }
            Arithmetic::FrexpMantissa {
                float: FloatType::Single,
                reduction,
            } => words([a], out, |[a]| mantissa32(a, reduction)),
            Arithmetic::FrexpMantissa {
                float: FloatType::Halves,
                reduction,
            } => halves([a], out, |[a]| {
                // The mantissa of a half is a half: the conversion back is exact.
                let single = float::half_to_single(a).to_bits();
                single_to_half(mantissa32(single, reduction), Round::NearestEven)
            }),
            Arithmetic::FrexpExponent {
                float: FloatType::Single,
                reduction,
                negate,
            } => words([a], out, |[a]| {
                let exponent = exponent32(a, reduction);
                (if negate { -exponent } else { exponent }) as u32
            }),
            Arithmetic::FrexpExponent {
                float: FloatType::Halves,
                reduction,
                negate,
            } => halves([a], out, |[a]| {
                let exponent = exponent32(float::half_to_single(a).to_bits(), reduction);
                (if negate { -exponent } else { exponent }) as u16
            }),
            Arithmetic::Flush {
                float: FloatType::Single,
                nan,
                subnormals,
                infinities,
            } => words([a], out, |[a]| {
                let magnitude = a & 0x7fff_ffff;
                match magnitude {
                    0x7f80_0001.. => match nan {
                        FlushNan::Keep => a,
                        FlushNan::Zero => 0,
                        FlushNan::Quiet => a | 0x0040_0000,
                    },
                    0x7f80_0000 if infinities => a - 1,
                    _ if subnormals => flush32(a),
                    _ => a,
                }
            }),
            Arithmetic::Flush {
                float: FloatType::Halves,
                nan,
                subnormals,
                infinities,
            } => halves([a], out, |[a]| match a & 0x7fff {
                0x7c01.. => match nan {
                    FlushNan::Keep => a,
                    FlushNan::Zero => 0,
                    FlushNan::Quiet => a | 0x0200,
                },
                0x7c00 if infinities => a - 1,
                _ if subnormals => flush16(a),
                _ => a,
            }),
        }
    }
}

fn extreme_halves(
    clamp: Clamp,
    propagate: bool,
    choose: impl Fn(f64, f64) -> f64,
    sources: [&Lanes; 2],
    out: &mut Lanes,
) {
    halves(sources, out, |[a, b]| {
        let chosen = singles::extreme_of(wide16(a), wide16(b), propagate, &choose);
        let chosen = clamped(chosen, clamp);
        narrow(chosen, 0, Format::Binary16, Round::NearestEven) as u16
    });
}

/// A finite binary32 that is not zero, taken apart and made normal.
struct Parts {
    sign: u32,
    /// Exponent of the leading one.
    exponent: i32,
    fraction: u32,
    subnormal: bool,
}

impl Parts {
    /// The parts of `bits`; `None` for zero, infinity and NaN.
    fn of(bits: u32) -> Option<Parts> {
        let (sign, field, fraction) = (bits & 0x8000_0000, bits >> 23 & 0xff, bits & 0x7f_ffff);
        match field {
            0xff => None,
            0 if fraction == 0 => None,
            0 => {
                let shift = fraction.leading_zeros() - 8;
                Some(Parts {
                    sign,
                    exponent: -126 - shift as i32,
                    fraction: (fraction << shift) & 0x7f_ffff,
                    subnormal: true,
                })
            }
            _ => Some(Parts {
                sign,
                exponent: field as i32 - 127,
                fraction,
                subnormal: false,
            }),
        }
    }

    /// The exponent of the leading one after the reduction: 0, -1 or -2.
    fn reduced(&self, reduction: Reduction) -> i32 {
        match reduction {
            Reduction::Normal => -1,
            Reduction::Log if self.fraction >= 0x40_0000 => -1,
            Reduction::Log => 0,
            // An odd exponent leaves a quarter, so that what is taken off is a power of 4.
            Reduction::Sqrt if self.exponent & 1 == 0 => -2,
            Reduction::Sqrt => -1,
        }
    }

    fn mantissa(&self, reduction: Reduction) -> u32 {
        self.sign | ((127 + self.reduced(reduction)) as u32) << 23 | self.fraction
    }
}

/// Zero, infinity and NaN give themselves, with exponent 0 (hardware/valhall-isa.md 9.6).
fn mantissa32(bits: u32, reduction: Reduction) -> u32 {
    Parts::of(bits).map_or(bits, |parts| parts.mantissa(reduction))
}

fn exponent32(bits: u32, reduction: Reduction) -> i32 {
    Parts::of(bits).map_or(0, |parts| {
        let exponent = parts.exponent - parts.reduced(reduction);
        match reduction {
            Reduction::Sqrt => exponent / 2,
            _ => exponent,
        }
    })
}
