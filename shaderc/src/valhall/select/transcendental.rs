//! Transcendental functions: the hardware's tables with a little arithmetic around them.
//!
//! Facts: hardware/compiler-isel.md 6, hardware/valhall-isa.md 10.

use super::Selector;
use super::float::minus_zero;
use crate::ir::{Alu, InstData};
use crate::valhall::mir::{Instr, Modifier, Op, Source};
use smallvec::smallvec;

/// 2 / pi.
const TWO_OVER_PI: f32 = std::f32::consts::FRAC_2_PI;
/// -pi / 2.
const MINUS_HALF_PI: f32 = -std::f32::consts::FRAC_PI_2;
/// 1.5 * 2^19: added to an angle in units of pi/2, leaves it in steps of pi/32 in the low six bits.
const STEPS: f32 = 786_432.0;
/// Bits after the point in the exponent that FEXP takes.
const EXPONENT_FRACTION: u32 = 24;

fn float(value: f32) -> Source {
    Source::constant(value.to_bits())
}

impl Selector<'_> {
    /// 2^x: x as 8.24 fixed point, and once more as it is for infinities and NaN. What makes a fixed point of x multiplies as
    /// well, so a product is taken apart.
    pub(super) fn exp2(&mut self, data: &InstData) {
        let product = self.alu_of(data.args[0]).and_then(|(alu, product)| {
            let contracts = alu == Alu::FMul && !product.exact && !data.exact;
            contracts.then(|| [product.args[0], product.args[1]])
        });
        let (x, by) = match product {
            Some([x, by]) => (self.signed_source(x).1, self.signed_source(by).1),
            None => (self.signed_source(data.args[0]).1, float(1.0)),
        };
        let scale = Source::constant(EXPONENT_FRACTION);
        let scaled = self.compute(Op::FmaRscale, &[x, by, minus_zero(), scale]);
        let fixed = self.compute(Op::F32ToS32, &[scaled]);
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![fixed, scaled],
                ..Instr::new(Op::FExp)
            },
        );
    }

    /// The exponent, plus log2(m) / (m - 1) times m - 1 for the mantissa m in [0.75, 1.5).
    pub(super) fn log2(&mut self, data: &InstData) {
        let x = self.plain(data.args[0]);
        let dest = self.function.new_value();
        let exponent = Instr {
            dests: smallvec![crate::valhall::mir::Word::Value(dest)],
            sources: smallvec![x],
            ..Instr::new(Op::FrexpE)
        };
        self.emit(exponent.with(Modifier::FrexpLog));
        let exponent = self.compute(Op::S32ToF32, &[Source::value(dest)]);
        let mantissa = self.compute(Op::FAddLscale, &[float(-1.0), x]);
        let quotient = self.compute(Op::FLogD, &[x]);
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![quotient, mantissa, exponent],
                ..Instr::new(Op::Fma)
            },
        );
    }

    pub(super) fn sine(&mut self, data: &InstData) {
        let angle = self.reduce(data);
        let sum = self.compute(
            Op::Fma,
            &[angle.half_square.negated(), angle.sine, minus_zero()],
        );
        self.correct(data, angle.rest, angle.cosine, sum, angle.sine);
    }

    pub(super) fn cosine(&mut self, data: &InstData) {
        let angle = self.reduce(data);
        let sum = self.compute(
            Op::Fma,
            &[angle.half_square.negated(), angle.cosine, minus_zero()],
        );
        self.correct(data, angle.rest, angle.sine.negated(), sum, angle.cosine);
    }

    // FACT: the sine of an infinity should be NaN through the rest (hardware/valhall-isa.md 10), yet the clamp turns that NaN
    // into -1 (8.2). Vulkan asks for nothing outside [-pi, pi], so the recipe stays as it is. Settled by a shader on any board
    // that stores the sine of an infinity.
    /// `(rest * slope + sum) + base`, the product kept in [-1, 1].
    fn correct(&mut self, data: &InstData, rest: Source, slope: Source, sum: Source, base: Source) {
        let dest = self.function.new_value();
        let sources = smallvec![rest, slope, sum];
        let product = Instr {
            dests: smallvec![crate::valhall::mir::Word::Value(dest)],
            sources,
            ..Instr::new(Op::Fma)
        };
        self.emit(product.with(Modifier::ClampM11));
        self.define(
            data.results[0],
            Instr {
                sources: smallvec![Source::value(dest), base],
                ..Instr::new(Op::FAdd)
            },
        );
    }

    /// Splits an angle into a step of pi/32, looked up, and a rest.
    fn reduce(&mut self, data: &InstData) -> Angle {
        let x = self.float_source(data.args[0]);
        let steps = self.compute(Op::Fma, &[x, float(TWO_OVER_PI), float(STEPS)]);
        let turned = self.compute(Op::FAdd, &[steps, float(-STEPS)]);
        let rest = self.compute(Op::Fma, &[turned, float(MINUS_HALF_PI), x]);
        let sine = self.compute(Op::FSinTable, &[steps]);
        let cosine = self.compute(Op::FCosTable, &[steps]);
        let half = Source::constant(u32::MAX);
        let half_square = self.compute(Op::FmaRscale, &[rest, rest, minus_zero(), half]);
        Angle {
            rest,
            sine,
            cosine,
            half_square,
        }
    }
}

/// A reduced angle.
struct Angle {
    rest: Source,
    /// Of the step.
    sine: Source,
    /// Of the step.
    cosine: Source,
    /// Half the square of the rest.
    half_square: Source,
}
