//! What is known of a pipeline before it has memory: its programs against what it is made for, and the words that follow.
//!
//! Pure.  Facts: hardware/graphics-draw.md 3.2, 3.3, 3.10 and 3.16.

use super::blend::{self, ColorBlend, OFF, TargetBlend};
use super::draw_descriptors::constants_are_one;
use super::draw_words::{self, Stages};
use super::dynamic::Class;
use super::error::{Attachment, GraphicsError, Unsupported};
use super::framebuffer::MOST_COLORS;
use super::pipeline::GraphicsPipelined;
use super::state::{GraphicsPipelineInfo, Topology};
use crate::command::CommandError;
use crate::slab::Key;
use eitri_descriptors::Arch;
use eitri_program::{DrawWord, EntryKind, FauWord, GraphicsProgram, Program, Stage};

pub(super) fn check_stage(
    gpu: Arch,
    program: &GraphicsProgram<'_>,
    stage: Stage,
) -> Result<(), CommandError> {
    let common = program.common();
    if common.arch() != gpu {
        let program = common.arch();
        return Err(CommandError::Arch { program, gpu });
    }
    if program.stage() != stage {
        let wanted = match stage {
            Stage::Fragment => "fragment",
            Stage::Vertex | Stage::Compute => "vertex",
        };
        return Err(GraphicsError::Stage { wanted }.into());
    }
    Ok(())
}

/// The resource tables that the bindings of a program stand in, a bit each.
fn tables_of(program: &Program<'_>) -> u16 {
    let tables = program.bindings().map(|binding| binding.slot.table);
    // There are fewer than 16.
    tables.fold(0, |all, table| {
        all | 1_u16.checked_shl(table.into()).unwrap_or(0)
    })
}

/// The table, if there is but one.
const fn only_table(tables: u16) -> Option<u8> {
    if tables.is_power_of_two() {
        Some(tables.trailing_zeros() as u8)
    } else {
        None
    }
}

/// What is drawn to: blend descriptors, which targets are written, as a bit each, and whether all of it replaces what is there.
struct Targets {
    blends: [TargetBlend; MOST_COLORS],
    written: u32,
    replaces_all: bool,
}

impl Targets {
    /// Those of a pipeline.
    fn of(
        arch: Arch,
        fragment: Option<&GraphicsProgram<'_>>,
        info: &GraphicsPipelineInfo<'_>,
    ) -> Result<Targets, CommandError> {
        let most = MOST_COLORS;
        let found = info.colors.len();
        if found > most {
            return Err(GraphicsError::Attachments { found, most }.into());
        }
        let mut targets = [OFF; MOST_COLORS];
        let mut written = 0_u32;
        let mut replaces_all = true;
        for (location, format) in info.colors.iter().enumerate() {
            let Some(format) = *format else { continue };
            let number = location as u32;
            let attachment = Attachment::Color(location as u8);
            let mut outputs = fragment.into_iter().flat_map(|it| it.outputs());
            let output = outputs.find(|output| usize::from(output.target) == location);
            let blend = info.blends.get(location).copied();
            // What the shader has blended replaces what is there.
            let blend = match output {
                Some(output) if output.blended => ColorBlend::default(),
                _ => blend.unwrap_or(ColorBlend::default()),
            };
            if format.target().is_none() {
                let format = format.name;
                return Err(GraphicsError::Format { attachment, format }.into());
            }
            let target = if output.is_some() {
                let made = blend::target(arch, number, format, &blend)?;
                made.ok_or(GraphicsError::Unsupported {
                    what: Unsupported::Blend,
                    target: Some(attachment),
                })?
            } else if fragment.is_some_and(|it| it.tile_reads() >> location & 1 != 0) {
                blend::read_only(format)
            } else {
                OFF
            };
            written |= u32::from(target.is_on).checked_shl(number).unwrap_or(0);
            replaces_all &= target.replaces;
            if let Some(place) = targets.get_mut(location) {
                *place = target;
            }
        }
        Ok(Targets {
            blends: targets,
            written,
            replaces_all,
        })
    }

    /// Which of two components of the blend constants are read, and their bits.
    fn constants(&self, info: &GraphicsPipelineInfo<'_>) -> Result<([bool; 2], u8), CommandError> {
        let targets = &self.blends;
        let constants = [0, 1].map(|which: usize| {
            let uses = |target: &TargetBlend| target.constants.get(which).is_some_and(|uses| *uses);
            targets.iter().any(uses)
        });
        let widths = targets
            .iter()
            .filter(|target| target.constants != [false; 2]);
        let mut widths = widths.map(|target| target.widest);
        let constant_bits = widths.next().unwrap_or(8);
        let unsupported = GraphicsError::unsupported(Unsupported::BlendConstants);
        if widths.any(|width| width != constant_bits)
            || !constants_are_one(constants, info.blend_constants)
        {
            return Err(unsupported.into());
        }
        Ok((constants, constant_bits))
    }
}

/// What is known of a pipeline, but for its stages and inputs; and the blend descriptors of its colours.
pub(super) fn pipelined(
    arch: Arch,
    vertex: &GraphicsProgram<'_>,
    fragment: Option<&GraphicsProgram<'_>>,
    info: &GraphicsPipelineInfo<'_>,
) -> Result<(GraphicsPipelined, [TargetBlend; MOST_COLORS]), CommandError> {
    let targets = Targets::of(arch, fragment, info)?;
    let facts = fragment.and_then(|fragment| fragment.fragment_facts());
    let facts = facts.filter(|facts| draw_words::needs_fragments(*facts, targets.written, info));
    let points = info.topology == Topology::PointList;
    let position = vertex.position(points);
    let stage = GraphicsError::Stage { wanted: "vertex" };
    let position = position.ok_or(stage)?.kind();
    let of_vertices = vertex.vertex_facts().unwrap_or_default();
    let varying = vertex.entry_point(EntryKind::Varying).is_some();
    let stages = Stages {
        fragment: facts,
        written: targets.written,
        read: fragment.map_or(0, |it| it.tile_reads().into()),
        replaces_all: targets.replaces_all,
        varying,
        point_size: points && of_vertices.writes_point_size,
        layer: of_vertices.writes_layer,
        primitive_id: of_vertices.writes_primitive_id,
        extended: of_vertices.extended(points),
        counts: false,
    };
    let words = draw_words::draw_words(arch, info, &stages)?;
    let counted = Stages {
        counts: true,
        ..stages
    };
    let counted = draw_words::draw_words(arch, info, &counted)?;
    let (constants, constant_bits) = targets.constants(info)?;
    let highest = vertex.common().highest_table().unwrap_or(0);
    let scratch = fragment.map_or(0, |fragment| fragment.common().scratch_bytes());
    let reads = |word| {
        let mut entries = vertex.entry_points();
        entries.any(|entry| entry.fau().any(|it| it == FauWord::Draw(word)))
    };
    // The program stores colours of targets that the pass has not, too: their descriptors are off.
    let outputs = fragment.into_iter().flat_map(|it| it.outputs());
    let outputs = outputs.map(|output| usize::from(output.target) + 1);
    let stored = outputs.max().unwrap_or(0).min(MOST_COLORS);
    let made = GraphicsPipelined {
        vertex: Key::NONE,
        fragment: None,
        position,
        words,
        counted_flags: [counted.flags_0, counted.flags_2],
        topology_class: Class::of(info.topology),
        reads_view: reads(DrawWord::ViewIndex),
        reads_first: reads(DrawWord::FirstVertex),
        reads_base: reads(DrawWord::BaseInstance),
        programs: [0; 3],
        registers: 0,
        plan: None,
        tables: [
            tables_of(vertex.common()),
            fragment.map_or(0, |it| tables_of(it.common())),
        ],
        fragment_table: fragment.and_then(|it| only_table(tables_of(it.common()))),
        varying_bytes: if facts.is_some() {
            vertex.record_bytes()
        } else {
            0
        },
        bindings: 0,
        buffer_table: highest.saturating_add(1),
        vertex_bytes: 0,
        attributes: 0,
        instance_bindings: 0,
        color_count: info.colors.len().max(stored).max(1) as u8,
        samples: info.samples as u8,
        has_depth: info.has_depth,
        has_stencil: info.has_stencil,
        last_provokes: info.last_vertex_provokes,
        size: if points { 1.0 } else { info.line_width },
        constants,
        constant_bits,
        blend_constants: info.blend_constants,
        shades: facts.is_some(),
        scratch_bytes: vertex.common().scratch_bytes().max(scratch),
    };
    Ok((made, targets.blends))
}
