//! Inputs at other places than their own: interpolateAtCentroid, interpolateAtSample, interpolateAtOffset.
//!
//! Facts: hardware/graphics-compiler.md 3.
use rspirv::spirv::GlslStd450Op as Glsl;

use super::FIRST;
use crate::ir::{Op, Sampling, Type, Value, Varying};
use crate::spirv::error::{Feature, Invalid};
use crate::spirv::pointer::Target;
use crate::spirv::reader::{Instr, Result};
use crate::spirv::translate::Translator;

/// Where an instruction interpolates, if it does.
pub(super) fn sampling(glsl: Glsl) -> Option<Sampling> {
    match glsl {
        Glsl::InterpolateAtCentroid => Some(Sampling::Centroid),
        Glsl::InterpolateAtSample => Some(Sampling::AtSample),
        Glsl::InterpolateAtOffset => Some(Sampling::AtOffset),
        _ => None,
    }
}

/// Interpolates the input to which the operand points.
pub(super) fn instr(t: &mut Translator<'_>, instr: &Instr, sampling: Sampling) -> Result<()> {
    let pointer = t.pointer(instr, FIRST)?;
    let places: Vec<Varying> = match &pointer.target {
        Target::Input(_, places) => places.iter().copied().flatten().collect(),
        Target::Fixed(_) => {
            let what = "interpolation of an input that is chosen at run time";
            return Err(instr.unsupported(Feature::Use, what));
        }
        _ => return Err(instr.invalid(Invalid::TypeMismatch)),
    };
    let at: Vec<Value> = match sampling {
        Sampling::AtSample => vec![t.scalar(instr, FIRST + 1, Type::W32)?],
        Sampling::AtOffset => {
            let offset = t.operand(instr, FIRST + 1)?;
            let function = &t.builder.function;
            let words = offset.scalars.iter();
            let mut types = words.map(|value| function.ty(*value));
            if offset.scalars.len() != 2 || !types.all(|ty| ty == Type::W32) {
                return Err(instr.invalid(Invalid::TypeMismatch));
            }
            offset.scalars.to_vec()
        }
        Sampling::Flat | Sampling::Center | Sampling::Centroid | Sampling::Sample => vec![],
    };
    let mut results = vec![];
    let mut rest = places.as_slice();
    while let Some(first) = rest.first() {
        // What stands together is loaded together.
        let together = rest.iter().enumerate().take_while(|(number, place)| {
            place.location == first.location
                && usize::from(place.first) == usize::from(first.first) + number
        });
        let count = together.count().max(1);
        let varying = Varying {
            count: count as u8,
            sampling: match first.sampling {
                // The same everywhere.
                Sampling::Flat => Sampling::Flat,
                _ => sampling,
            },
            ..*first
        };
        let operands = match varying.sampling {
            Sampling::Flat => &[],
            _ => at.as_slice(),
        };
        results.extend(t.builder.inst(Op::LoadVarying(varying), operands));
        rest = &rest[count..];
    }
    t.define(instr, results)
}
