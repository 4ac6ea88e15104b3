//! The program binary of a stage of the graphics pipeline.
//!
//! Facts: hardware/graphics-compiler.md 10.

use eitri_isa::Arch;
use eitri_program as program;

use super::encode::{Tables, Uniforms, registers};
use super::{Binary, stage_facts};
use crate::ir::{Function, Stage};
use crate::link::VaryingLayout;

/// The program binary of a shader and the programs that were made of it.
pub(super) fn encode(
    function: &Function,
    programs: &[(program::EntryKind, Binary)],
    layout: &VaryingLayout,
    arch: Arch,
) -> Result<Vec<u8>, program::EncodeError> {
    let uniforms: Vec<Uniforms> = programs
        .iter()
        .map(|(_, binary)| Uniforms::of(binary))
        .collect();
    let entry_points: Vec<program::EntryParts<'_>> = programs
        .iter()
        .zip(&uniforms)
        .map(|((kind, binary), uniforms)| program::EntryParts {
            kind: *kind,
            code: &binary.code,
            registers: registers(binary),
            preload: binary.preload,
            fau: &uniforms.fau,
            fau_steps: &uniforms.steps,
        })
        .collect();
    let handles = programs
        .first()
        .map(|(_, binary)| binary.handles.as_slice());
    let tables = Tables::of(function, handles.unwrap_or_default());
    let scratch = programs.iter().map(|(_, binary)| binary.scratch_bytes);
    let helpers = programs.iter().any(|(_, binary)| binary.needs_helpers);
    let (facts, attributes, outputs) = match function.stage {
        Stage::Fragment(_) => (
            program::Facts::Fragment(stage_facts::fragment(function, helpers)),
            vec![],
            stage_facts::colors(function),
        ),
        Stage::Compute | Stage::Vertex(_) => (
            program::Facts::Vertex(stage_facts::vertex(function)),
            stage_facts::attributes(function),
            vec![],
        ),
    };
    let parts = program::GraphicsParts {
        arch,
        entry: &function.name,
        entry_points: &entry_points,
        data: &tables.data,
        scratch_bytes: scratch.max().unwrap_or(0),
        push_constant_bytes: function.push_constant_bytes,
        bindings: &tables.bindings,
        push_ranges: &tables.push_ranges,
        facts,
        tile_reads: stage_facts::tile_reads(function),
        attributes: &attributes,
        outputs: &outputs,
        varyings: &stage_facts::varyings(layout),
        record_bytes: layout.record_bytes,
    };
    let mut bytes = vec![0; parts.encoded_len()?];
    let length = parts.encode(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}
