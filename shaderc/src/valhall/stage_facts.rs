//! What a driver must know of a stage of the graphics pipeline.
//!
//! Facts: hardware/graphics-compiler.md 10.

use eitri_program as program;
use std::collections::BTreeMap;

use super::split_vertex::outputs;
use crate::ir::{
    self, Function, ImageAction, Op, Output, Sampling, Space, SysVal, TexelKind, TileLoad,
};
use crate::link::{Interpolation, VaryingLayout};

/// Facts of a vertex shader.
pub(super) fn vertex(function: &Function) -> program::VertexFacts {
    let stores = |wanted: Output| outputs(function).any(|output| output == wanted);
    program::VertexFacts {
        writes_point_size: stores(Output::PointSize),
        writes_layer: stores(Output::Layer),
        writes_primitive_id: stores(Output::PrimitiveId),
    }
}

/// Facts of a fragment shader, of which the program says whether it needs helper lanes.
pub(super) fn fragment(function: &Function, needs_helpers: bool) -> program::FragmentFacts {
    let stage = function.stage.fragment().unwrap_or_default();
    let stores = |wanted: Output| outputs(function).any(|output| output == wanted);
    let mut facts = program::FragmentFacts {
        // Tested before, what it computes is not used.
        writes_depth: stores(Output::Depth) && !stage.early_tests,
        writes_stencil: stores(Output::Stencil) && !stage.early_tests,
        writes_sample_mask: stores(Output::SampleMask),
        early_tests: stage.early_tests,
        sample_shading: stage.sample_shading,
        needs_helpers,
        dual_source: outputs(function)
            .any(|output| matches!(output, Output::Color { index: 1, .. })),
        ..program::FragmentFacts::default()
    };
    for (_, inst) in function.placed_insts() {
        match function.inst(inst).op {
            Op::Demote => facts.can_discard = true,
            Op::Store(access) | Op::Atomic(_, access) => {
                facts.side_effects |= matches!(access.space, Space::Buffer | Space::Global);
            }
            Op::Image(image) => {
                facts.side_effects |=
                    matches!(image.action, ImageAction::Write(_) | ImageAction::Atomic(_));
            }
            Op::SysVal(sys_val) => of_sys_val(sys_val, &mut facts),
            Op::LoadVarying(ir::Varying { sampling, .. }) => {
                facts.varying_before_test = true;
                of_sampling(sampling, &mut facts);
            }
            Op::FragW(sampling) => of_sampling(sampling, &mut facts),
            Op::LoadTile(tile) => {
                facts.wait_before_test = true;
                facts.reads_tile_depth |= tile == TileLoad::Depth;
                facts.reads_tile_stencil |= tile == TileLoad::Stencil;
            }
            _ => {}
        }
    }
    facts
}

fn of_sys_val(sys_val: SysVal, facts: &mut program::FragmentFacts) {
    match sys_val {
        SysVal::PrimitiveId => facts.reads_primitive_id = true,
        SysVal::SampleId => {
            facts.reads_sample_id = true;
            facts.sample_shading = true;
        }
        SysVal::SampleX | SysVal::SampleY => {
            facts.reads_sample_position = true;
            facts.sample_shading = true;
        }
        SysVal::PixelX | SysVal::PixelY | SysVal::FragZ => facts.reads_position = true,
        SysVal::SampleMaskIn | SysVal::HelperInvocation => facts.reads_coverage = true,
        _ => {}
    }
}

fn of_sampling(sampling: Sampling, facts: &mut program::FragmentFacts) {
    match sampling {
        Sampling::Centroid => facts.reads_centroid = true,
        Sampling::Sample => facts.sample_shading = true,
        Sampling::Flat | Sampling::Center | Sampling::AtSample | Sampling::AtOffset => {}
    }
}

/// Colours whose tile a fragment shader reads, a bit each.
pub(super) fn tile_reads(function: &Function) -> u8 {
    let insts = function.placed_insts();
    let reads = insts.filter_map(|(_, inst)| match function.inst(inst).op {
        Op::LoadTile(TileLoad::Color { target, .. }) => Some(1 << target),
        _ => None,
    });
    reads.fold(0, |mask, bit: u8| mask | bit)
}

/// What a vertex shader reads of vertices, by location.
pub(super) fn attributes(function: &Function) -> Vec<program::Attribute> {
    let mut found: BTreeMap<u8, program::Attribute> = BTreeMap::new();
    for (_, inst) in function.placed_insts() {
        let Op::LoadAttribute(load) = function.inst(inst).op else {
            continue;
        };
        let own = program::Attribute {
            location: load.location,
            components: load.first + load.count,
            kind: number_kind(load.kind),
        };
        let known = found.entry(load.location).or_insert(own);
        known.components = known.components.max(own.components);
    }
    found.into_values().collect()
}

/// Colours that a fragment shader writes, by target.
pub(super) fn colors(function: &Function) -> Vec<program::ColorOutput> {
    let blended = function.stage.fragment().map_or(0, |stage| stage.blended);
    let mut colors: Vec<program::ColorOutput> = outputs(function)
        .filter_map(|output| match output {
            Output::Color {
                target,
                index: 0,
                kind,
                ..
            } => Some(program::ColorOutput {
                target,
                kind: number_kind(kind),
                blended: blended >> target & 1 != 0,
            }),
            _ => None,
        })
        .collect();
    colors.sort_by_key(|color| color.target);
    colors
}

fn number_kind(kind: TexelKind) -> program::NumberKind {
    match kind {
        TexelKind::Float => program::NumberKind::Float,
        TexelKind::Signed => program::NumberKind::Int,
        TexelKind::Unsigned => program::NumberKind::Uint,
    }
}

/// What stands in the record of a vertex, by location.
pub(super) fn varyings(layout: &VaryingLayout) -> Vec<program::Varying> {
    let slots = layout.slots.iter();
    let mut varyings: Vec<program::Varying> = slots
        .map(|slot| program::Varying {
            location: slot.location,
            components: slot.components,
            size: match slot.half {
                true => program::VaryingSize::Half,
                false => program::VaryingSize::Word,
            },
            interpolation: match slot.interpolation {
                Interpolation::Smooth => program::Interpolation::Smooth,
                Interpolation::Flat => program::Interpolation::Flat,
                Interpolation::NoPerspective => program::Interpolation::NoPerspective,
            },
            // Records are no longer than locations and components make them.
            offset: u16::try_from(slot.offset).unwrap_or(u16::MAX),
        })
        .collect();
    varyings.sort_by_key(|varying| varying.location);
    varyings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;
    use crate::ir::{FragmentStage, Stage};

    fn function(body: &str) -> Function {
        let text = format!("function main\nstage fragment\nb0:\n{body}\n  return\n");
        parse(&text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// What a fragment shader reads, and the facts that say so.
    #[test]
    fn reads_are_facts() {
        for (body, facts) in [
            ("  %a = pixel_x", &["reads_position"][..]),
            ("  %a = frag_z", &["reads_position"]),
            ("  %a = sample_id", &["sample_shading", "reads_sample_id"]),
            (
                "  %a = sample_x",
                &["sample_shading", "reads_sample_position"],
            ),
            (
                "  %a = sample_y",
                &["sample_shading", "reads_sample_position"],
            ),
            ("  %a = sample_mask_in", &["reads_coverage"]),
            ("  %a = helper_invocation", &["reads_coverage"]),
            ("  %a = primitive_id", &["reads_primitive_id"]),
            ("  %a = varying.0.0.1.center", &["varying_before_test"]),
            (
                "  %a = varying.0.0.1.centroid",
                &["reads_centroid", "varying_before_test"],
            ),
            (
                "  %a = varying.0.0.1.sample",
                &["sample_shading", "varying_before_test"],
            ),
            ("  %a, %b, %c, %d = tile.1.float 0", &["wait_before_test"]),
            (
                "  %a = tile.depth 0",
                &["reads_tile_depth", "wait_before_test"],
            ),
            (
                "  %a = tile.stencil 0",
                &["reads_tile_stencil", "wait_before_test"],
            ),
        ] {
            let found = fragment(&function(body), false);
            let mut found: Vec<_> = found.names().collect();
            let mut facts = facts.to_vec();
            found.sort_unstable();
            facts.sort_unstable();
            assert_eq!(found, facts, "{body}");
        }
    }

    #[test]
    fn colors_say_what_was_blended_and_second_ones_are_none() {
        let mut function = function(
            "  output.color.3.0.uint 1, 1, 1, 1
  output.color.1.0.float 1.0, 1.0, 1.0, 1.0
  output.color.0.1.float 1.0, 1.0, 1.0, 1.0
  output.color.0.0.float 1.0, 1.0, 1.0, 1.0",
        );
        function.stage = Stage::Fragment(FragmentStage {
            blended: 0b1001,
            ..FragmentStage::default()
        });
        let found: Vec<_> = colors(&function)
            .iter()
            .map(|color| (color.target, color.kind, color.blended))
            .collect();
        let (float, uint) = (program::NumberKind::Float, program::NumberKind::Uint);
        assert_eq!(
            found,
            [(0, float, true), (1, float, false), (3, uint, true)]
        );
    }
}
