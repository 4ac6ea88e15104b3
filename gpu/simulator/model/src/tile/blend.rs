//! Blending by fixed function: A + B * C for colour and alpha.
//!
//! f64 from the decoded codes and the source, rounded once by the encoder: a product of two values of 24 bits is exact in f64,
//! their sum may round, which no format of at most 16 bits can see but within half an ulp of a tie (free choice).
//! The framebuffer's bits that suppress infinities, NaNs and denormals are 0 in drivers and not modelled.
//! Facts: hardware/graphics-model.md 4.4; hardware/graphics-framebuffer.md 6.1; hardware/descriptors.md 21.

use crate::shader::{Colour, PixelFormat};
use eitri_descriptors::blend::{
    Blend, BlendFunction, BlendMode, BlendOperandA, BlendOperandB, BlendOperandC,
};

/// BLEND descriptors of a draw: those at d50 (d54 from v12 on), as many as it counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BlendState {
    pub(crate) descriptors: alloc::vec::Vec<Blend>,
}

impl BlendState {
    /// The descriptor whose equation blends `target`. Its own word names the target, not its index; among several one whose own
    /// mode is fixed function comes first (free choice).
    pub(crate) fn of_target(&self, target: u8) -> Option<&Blend> {
        let names = |blend: &&Blend| {
            let fixed = blend.internal.fixed_function;
            fixed.map_or(0, |fixed| fixed.rt) == u32::from(target)
        };
        let mut naming = self.descriptors.iter().filter(names);
        let first = naming.clone().next();
        naming
            .find(|blend| blend.internal.mode == BlendMode::FixedFunction)
            .or(first)
    }

    /// Targets, a bit each, whose pixels a colour replaces whatever they held.
    pub(crate) fn replaced(&self) -> u32 {
        let opaque = self.descriptors.iter().filter(|blend| {
            blend.internal.mode == BlendMode::Opaque && blend.enable && !blend.load_destination
        });
        opaque
            .filter_map(|blend| blend.internal.fixed_function)
            .fold(0, |targets, output| targets | 1 << (output.rt & 31))
    }

    /// The field that every target's constant comes from: hardware takes target 0's.
    pub(crate) fn constant_field(&self, own: &Blend) -> u32 {
        self.of_target(0).unwrap_or(own).blend_constant
    }
}

/// The number of a blend constant's field, left-justified for components of `bits`.
pub(crate) fn constant_of_field(field: u32, bits: u8) -> f64 {
    let bits = u32::from(bits.clamp(1, 16));
    let one = ((1_u32 << bits) - 1) << (16 - bits);
    f64::from(field) / f64::from(one)
}

/// Colours that an equation reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    pub(crate) source: Colour,
    pub(crate) destination: Colour,
    pub(crate) constant: f64,
}

/// The blended colour, before it is encoded.
pub(crate) fn blended(blend: &Blend, format: &PixelFormat, mut operands: Operands) -> Colour {
    if format.is_unorm() {
        for component in &mut operands.source {
            *component = if component.is_nan() {
                0.0
            } else {
                component.clamp(0.0, 1.0)
            };
        }
    }
    if blend.alpha_to_one {
        operands.source[3] = 1.0;
    }
    let equation = blend.equation;
    core::array::from_fn(|index| {
        let function = if index == 3 {
            equation.alpha
        } else {
            equation.rgb
        };
        evaluate(&function, &operands, index)
    })
}

fn evaluate(function: &BlendFunction, operands: &Operands, index: usize) -> f64 {
    let (source, destination) = (operands.source[index], operands.destination[index]);
    let a = match function.a {
        Some(BlendOperandA::Src) => source,
        Some(BlendOperandA::Dest) => destination,
        // No driver writes "none".
        Some(BlendOperandA::Zero) | None => 0.0,
    };
    let b = match function.b {
        BlendOperandB::SrcMinusDest => source - destination,
        BlendOperandB::SrcPlusDest => source + destination,
        BlendOperandB::Src => source,
        BlendOperandB::Dest => destination,
    };
    let c = match function.c {
        Some(BlendOperandC::Src) => source,
        Some(BlendOperandC::Dest) => destination,
        Some(BlendOperandC::SrcX2) => 2.0 * source,
        Some(BlendOperandC::SrcAlpha) => operands.source[3],
        Some(BlendOperandC::DestAlpha) => operands.destination[3],
        Some(BlendOperandC::Constant) => operands.constant,
        Some(BlendOperandC::Zero) | None => 0.0,
    };
    let a = if function.negate_a { -a } else { a };
    let b = if function.negate_b { -b } else { b };
    let c = if function.invert_c { 1.0 - c } else { c };
    // Zero times infinity is zero where the factor is the constant zero: the term is not there.
    if c == 0.0 && matches!(function.c, Some(BlendOperandC::Zero) | None) {
        return a;
    }
    a + b * c
}

#[cfg(test)]
#[path = "blend_tests.rs"]
mod tests;
