//! Inputs at other places than their own: interpolateAtCentroid, interpolateAtSample, interpolateAtOffset.
//!
//! Facts: hardware/graphics-compiler.md 3.
use rspirv::spirv::GlslStd450Op as Glsl;

use super::FIRST;
use crate::ir::{Op, Sampling, Type, Value, Varying};
use crate::spirv::error::Invalid;
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
    let Target::Input(_, ways) = &pointer.target else {
        return Err(instr.invalid(Invalid::TypeMismatch));
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
    let mut results: Vec<Value> = vec![];
    for way in ways.iter() {
        let places: Vec<Varying> = way.places.iter().copied().flatten().collect();
        let loaded = interpolated(t, &places, sampling, &at);
        match way.condition {
            Some(condition) if loaded.len() == results.len() => {
                for (result, value) in results.iter_mut().zip(loaded) {
                    *result = t.builder.select(condition, value, *result);
                }
            }
            _ => results = loaded,
        }
    }
    t.define(instr, results)
}

/// Loads of places, what stands together at once.
fn interpolated(
    t: &mut Translator<'_>,
    places: &[Varying],
    sampling: Sampling,
    at: &[Value],
) -> Vec<Value> {
    let mut results = vec![];
    let mut rest = places;
    while let Some(first) = rest.first() {
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
            _ => at,
        };
        results.extend(t.builder.inst(Op::LoadVarying(varying), operands));
        rest = &rest[count..];
    }
    results
}
