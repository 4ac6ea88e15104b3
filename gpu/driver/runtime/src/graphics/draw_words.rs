//! Words of a draw that its pipeline's state decides, and the descriptor of its tests.
//!
//! Pure.  Facts: hardware/graphics-raster.md 4.2, 4.5 and 4.8 to 4.13, graphics-draw.md 3.3, 3.10 to 3.12 and 3.16.

use super::state::{
    DepthBias, DepthState, FrontFace, GraphicsPipelineInfo, StencilState, Topology,
};
use eitri_descriptors::raster::{
    DcdFlags0, DcdFlags1, DcdFlags2, DepthClampMode, DepthSource, DepthStencil, FifoFormat,
    HsrUpdate, PixelKill, PointSizeArrayFormat, PrimitiveFlags, StencilOp,
};
use eitri_descriptors::texture::Func;
use eitri_descriptors::{Arch, Descriptor, DescriptorError};
use eitri_program::FragmentFacts;

/// What the programs say that the words depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stages {
    /// Of the fragment program, if there is one.
    pub(crate) fragment: Option<FragmentFacts>,
    /// Colours that it writes and that there are, by bits; and those that it reads from the tile.
    pub(crate) written: u32,
    pub(crate) read: u32,
    /// All colours that there are are replaced by it.
    pub(crate) replaces_all: bool,
    /// There is a program of varyings of its own.
    pub(crate) varying: bool,
    /// The vertex program writes the size of points, the layer, the number of the primitive.
    pub(crate) point_size: bool,
    pub(crate) layer: bool,
    pub(crate) primitive_id: bool,
    /// Positions have records of the extended format.
    pub(crate) extended: bool,
    /// A query counts samples.
    pub(crate) counts: bool,
}

/// The words of a draw that are its pipeline's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DrawWords {
    pub(crate) primitive: u32,
    pub(crate) flags_0: u32,
    pub(crate) flags_1: u32,
    pub(crate) flags_2: u32,
}

/// Test of depth with what the pass has: none of what is not there.
fn depth_of(info: &GraphicsPipelineInfo<'_>) -> DepthState {
    let depth = info.depth.filter(|_| info.has_depth);
    depth.unwrap_or(DepthState::NONE)
}

fn stencil_of(info: &GraphicsPipelineInfo<'_>) -> Option<StencilState> {
    info.stencil.filter(|_| info.has_stencil)
}

/// What tests of depth and stencil come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tested {
    /// Every fragment passes them.
    passes: bool,
    /// Depth or stencil is written.
    pub(super) writes: bool,
}

impl Tested {
    /// Those of a descriptor.
    pub(super) fn of(tests: &DepthStencil) -> Tested {
        let always = |it: Func| it == Func::Always;
        let keeps = |it: StencilOp| it == StencilOp::Keep;
        let front = [
            tests.front_stencil_fail,
            tests.front_depth_fail,
            tests.front_depth_pass,
        ];
        let back = [
            tests.back_stencil_fail,
            tests.back_depth_fail,
            tests.back_depth_pass,
        ];
        let changes = |ops: [StencilOp; 3], mask: u32| mask != 0 && !ops.into_iter().all(keeps);
        let stencil = tests.stencil_test_enable;
        let compared = always(tests.front_compare_function) && always(tests.back_compare_function);
        Tested {
            passes: always(tests.depth_function) && (!stencil || compared),
            writes: tests.depth_write_enable
                || stencil
                    && (changes(front, tests.front_write_mask)
                        || changes(back, tests.back_write_mask)),
        }
    }

    /// Those of a pipeline.
    fn of_info(info: &GraphicsPipelineInfo<'_>) -> Tested {
        let mut tests = DepthStencil::default();
        set_depth(&mut tests, depth_of(info));
        set_stencil(&mut tests, stencil_of(info));
        Tested::of(&tests)
    }
}

/// When fragments are killed, and when depth and stencil are updated (hardware/graphics-raster.md 4.9).
/// `alpha` becomes coverage; `counts`: a query counts samples.
pub(super) fn operations(
    arch: Arch,
    facts: FragmentFacts,
    (alpha, counts): (bool, bool),
    Tested { passes, writes }: Tested,
) -> (PixelKill, PixelKill) {
    let declared = facts.early_tests;
    let shader = facts.writes_depth || facts.writes_stencil;
    let covers = facts.writes_sample_mask || facts.can_discard || alpha;
    let reads = facts.reads_tile_depth || facts.reads_tile_stencil;
    // v10 has a bit for draws that read what they do not write.
    let read_only = reads && !writes && arch == Arch::V10;
    let late = shader || alpha || (covers && (writes || counts)) || (reads && !read_only);
    let update = if !declared && late {
        PixelKill::ForceLate
    } else if arch == Arch::V10 && passes && !declared && !read_only {
        PixelKill::WeakEarly
    } else {
        PixelKill::ForceEarly
    };
    let kill = if !declared && (shader || facts.side_effects) {
        PixelKill::ForceLate
    } else if passes && !declared && !read_only {
        PixelKill::WeakEarly
    } else {
        PixelKill::ForceEarly
    };
    (kill, update)
}

/// Whether a draw needs its fragment program (hardware/graphics-draw.md 3.16).
pub(crate) fn needs_fragments(
    facts: FragmentFacts,
    written: u32,
    info: &GraphicsPipelineInfo<'_>,
) -> bool {
    written != 0
        || facts.side_effects
        || facts.can_discard
        || facts.writes_sample_mask
        || facts.writes_depth
        || facts.writes_stencil
        || info.alpha_to_coverage
}

/// What a draw does with pixels: the operation that kills them, and the one that updates depth and stencil.
fn pixel_operations(
    arch: Arch,
    info: &GraphicsPipelineInfo<'_>,
    stages: &Stages,
) -> (PixelKill, PixelKill) {
    match stages.fragment {
        Some(facts) => {
            let tested = Tested::of_info(info);
            operations(arch, facts, (info.alpha_to_coverage, stages.counts), tested)
        }
        None => (PixelKill::ForceEarly, PixelKill::ForceEarly),
    }
}

/// Whether the shader changes which samples are covered.
fn changes_coverage(info: &GraphicsPipelineInfo<'_>, stages: &Stages) -> bool {
    let facts = stages.fragment;
    facts.is_some_and(|it| it.writes_sample_mask || it.can_discard) || info.alpha_to_coverage
}

/// The first word of flags.
fn flags_0(arch: Arch, info: &GraphicsPipelineInfo<'_>, stages: &Stages) -> DcdFlags0 {
    let triangles = info.topology.is_triangles();
    let many = info.samples > 1;
    let facts = stages.fragment;
    let (kill, update) = pixel_operations(arch, info, stages);
    let can_kill = facts.is_none_or(|it| it.can_be_killed());
    let per_sample = many
        && (info.sample_shading
            || facts.is_some_and(|it| {
                it.sample_shading || it.reads_sample_id || it.reads_sample_position
            }));
    DcdFlags0 {
        allow_forward_pixel_to_kill: can_kill
            && stages.read == 0
            && !info.alpha_to_coverage
            && (facts.is_none() || stages.replaces_all),
        allow_forward_pixel_to_be_killed: facts.is_none_or(|it| !it.side_effects),
        pixel_kill_operation: kill,
        zs_update_operation: update,
        overdraw_alpha0: facts.is_none(),
        overdraw_alpha1: facts.is_none(),
        evaluate_per_sample: per_sample,
        aligned_line_ends: info.bresenham_lines
            && !many
            && !triangles
            && info.topology != Topology::PointList,
        front_face_ccw: info.front_face == FrontFace::CounterClockwise,
        cull_front_face: triangles && info.cull_front,
        cull_back_face: triangles && info.cull_back,
        multisample_enable: many,
        shader_modifies_coverage: changes_coverage(info, stages),
        alpha_to_coverage: info.alpha_to_coverage,
        scissor_to_bounding_box: true,
        cull_zero_area: arch >= Arch::V11,
        ..DcdFlags0::default()
    }
}

/// The third word of flags.
fn flags_2(arch: Arch, info: &GraphicsPipelineInfo<'_>, stages: &Stages) -> DcdFlags2 {
    let facts = stages.fragment;
    let mut flags_2 = DcdFlags2 {
        read_mask: stages.read,
        write_mask: stages.written,
        ..DcdFlags2::default()
    };
    if arch >= Arch::V11 {
        flags_2.no_shader_stencil_read = facts.is_none_or(|it| !it.reads_tile_stencil);
        flags_2.no_shader_depth_read = facts.is_none_or(|it| !it.reads_tile_depth);
    }
    if arch >= Arch::V13 {
        let (_, update) = pixel_operations(arch, info, stages);
        let late = changes_coverage(info, stages) || update == PixelKill::ForceLate;
        flags_2.z_write_or_stencil = Tested::of_info(info).writes || stencil_of(info).is_some();
        flags_2.hsr_update_operation = if late {
            HsrUpdate::Late
        } else {
            HsrUpdate::Early
        };
    }
    flags_2
}

/// What the tiler does with primitives.
fn primitive(arch: Arch, info: &GraphicsPipelineInfo<'_>, stages: &Stages) -> PrimitiveFlags {
    let facts = stages.fragment;
    let mut primitive = PrimitiveFlags {
        draw_mode: info.topology.draw_mode(),
        primitive_index_enable: facts.is_some_and(|it| it.reads_primitive_id),
        primitive_index_override: stages.primitive_id
            && facts.is_some_and(|it| it.reads_primitive_id),
        low_depth_cull: info.clips_depth(),
        high_depth_cull: info.clips_depth(),
        secondary_shader: stages.varying && facts.is_some(),
        primitive_restart: info.primitive_restart,
        layer_index_enable: stages.layer,
        position_fifo_format: if stages.extended {
            FifoFormat::Extended
        } else {
            FifoFormat::Basic
        },
        ..PrimitiveFlags::default()
    };
    if stages.point_size && arch < Arch::V13 {
        primitive.point_size_array_format = PointSizeArrayFormat::FP16;
    }
    primitive
}

/// The words of a draw.
pub(crate) fn draw_words(
    arch: Arch,
    info: &GraphicsPipelineInfo<'_>,
    stages: &Stages,
) -> Result<DrawWords, DescriptorError> {
    let flags_1 = DcdFlags1 {
        sample_mask: info.sample_mask.into(),
        render_target_mask: stages.written,
        ..DcdFlags1::default()
    };
    Ok(DrawWords {
        primitive: word(arch, &primitive(arch, info, stages))?,
        flags_0: word(arch, &flags_0(arch, info, stages))?,
        flags_1: word(arch, &flags_1)?,
        flags_2: word(arch, &flags_2(arch, info, stages))?,
    })
}

pub(super) fn word(arch: Arch, descriptor: &impl Descriptor) -> Result<u32, DescriptorError> {
    let mut words = [0];
    descriptor.pack(arch, &mut words)?;
    let [word] = words;
    Ok(word)
}

/// Says whether the shader reads depth or stencil that the draw does not write: v10 has a bit for that.
pub(super) fn set_read_only(words: &mut DepthStencil, arch: Arch, facts: Option<FragmentFacts>) {
    if arch == Arch::V10 {
        let reads = facts.is_some_and(|it| it.reads_tile_depth || it.reads_tile_stencil);
        words.shader_read_only_z_s = reads && !Tested::of(words).writes;
    }
}

/// Says the test of depth.
pub(super) const fn set_depth(words: &mut DepthStencil, depth: DepthState) {
    words.depth_write_enable = depth.write;
    words.depth_function = depth.compare;
}

/// Says what is added to depths.
pub(super) fn set_bias(words: &mut DepthStencil, bias: Option<DepthBias>) {
    words.depth_bias_enable = bias.is_some();
    let bias = bias.unwrap_or_default();
    words.depth_units = bias.constant;
    words.depth_factor = bias.slope;
    words.depth_bias_clamp = bias.clamp;
}

/// Says the test of stencil.
pub(super) fn set_stencil(words: &mut DepthStencil, stencil: Option<StencilState>) {
    words.stencil_test_enable = stencil.is_some();
    let Some(StencilState { front, back }) = stencil else {
        return;
    };
    words.front_compare_function = front.compare;
    words.front_stencil_fail = front.fail;
    words.front_depth_fail = front.depth_fail;
    words.front_depth_pass = front.pass;
    words.back_compare_function = back.compare;
    words.back_stencil_fail = back.fail;
    words.back_depth_fail = back.depth_fail;
    words.back_depth_pass = back.pass;
    words.front_write_mask = front.write_mask.into();
    words.back_write_mask = back.write_mask.into();
    words.front_value_mask = front.compare_mask.into();
    words.back_value_mask = back.compare_mask.into();
    words.front_reference_value = front.reference.into();
    words.back_reference_value = back.reference.into();
}

/// The depth and stencil descriptor of a pipeline.
pub(crate) fn depth_stencil(
    arch: Arch,
    info: &GraphicsPipelineInfo<'_>,
    facts: Option<FragmentFacts>,
) -> Result<[u32; 8], DescriptorError> {
    let depth = depth_of(info);
    let mut words = DepthStencil {
        depth_cull_enable: info.clips_depth(),
        depth_clamp_mode: if info.depth_clamp {
            DepthClampMode::Bounds
        } else {
            DepthClampMode::Zero1
        },
        depth_source: if facts.is_some_and(|it| it.writes_depth) {
            DepthSource::Shader
        } else {
            DepthSource::FixedFunction
        },
        stencil_from_shader: facts.is_some_and(|it| it.writes_stencil),
        ..DepthStencil::default()
    };
    set_depth(&mut words, depth);
    set_bias(&mut words, info.depth_bias);
    set_stencil(&mut words, stencil_of(info));
    set_read_only(&mut words, arch, facts);
    if arch == Arch::V11 {
        words.separated_dependency_tracking = true;
    }
    let mut out = [0; 8];
    words.pack(arch, &mut out)?;
    Ok(out)
}

/// Stages of a pipeline that writes one colour from varyings, and does nothing else.
#[cfg(test)]
pub(super) const NOTHING: Stages = Stages {
    fragment: None,
    written: 1,
    read: 0,
    replaces_all: true,
    varying: true,
    point_size: false,
    layer: false,
    primitive_id: false,
    extended: false,
    counts: false,
};

#[cfg(test)]
mod rules;

#[cfg(test)]
mod tests {
    use super::*;

    fn no_facts() -> FragmentFacts {
        FragmentFacts::default()
    }

    /// hardware/worked/triangle-noafbc.json: the draw's registers.
    #[test]
    fn a_plain_draw_is_as_a_driver_does_it() {
        let info = GraphicsPipelineInfo::default();
        let shaded = Stages {
            fragment: Some(no_facts()),
            ..NOTHING
        };
        let words = draw_words(Arch::V10, &info, &shaded).expect("packs");
        let expected = DrawWords {
            primitive: 0x0047_0008,
            flags_0: 0x0081_002B,
            flags_1: 0x0001_FFFF,
            flags_2: 0x0000_1000,
        };
        assert_eq!(words, expected);
        let words = depth_stencil(Arch::V10, &info, Some(no_facts())).expect("packs");
        assert_eq!(words, [7, 0, 0, 0, 0xE4C0_0000, 0, 0, 0]);
    }

    fn depth(compare: Func, write: bool) -> GraphicsPipelineInfo<'static> {
        GraphicsPipelineInfo {
            depth: Some(DepthState { compare, write }),
            has_depth: true,
            ..GraphicsPipelineInfo::default()
        }
    }

    /// hardware/graphics-raster.md 4.17: bits 2 to 5 of flags 0, of v10.
    #[test]
    fn tests_are_early_or_late_as_the_facts_say() {
        let bits = |info: &GraphicsPipelineInfo<'_>, facts| {
            let stages = Stages {
                fragment: facts,
                ..NOTHING
            };
            draw_words(Arch::V10, info, &stages).expect("packs").flags_0 & 0x3C
        };
        let tested = depth(Func::Less, true);
        let read_only = depth(Func::Less, false);
        let none = GraphicsPipelineInfo::default();
        let discards = FragmentFacts {
            can_discard: true,
            ..no_facts()
        };
        let stores = FragmentFacts {
            side_effects: true,
            ..no_facts()
        };
        let shader = FragmentFacts {
            writes_depth: true,
            ..no_facts()
        };
        let early = FragmentFacts {
            early_tests: true,
            ..stores
        };
        let alpha = GraphicsPipelineInfo {
            alpha_to_coverage: true,
            ..read_only
        };
        assert_eq!(bits(&tested, Some(no_facts())), 0);
        assert_eq!(bits(&none, Some(no_facts())), 0x28);
        assert_eq!(bits(&tested, Some(discards)), 0x30);
        assert_eq!(bits(&read_only, Some(discards)), 0);
        assert_eq!(bits(&tested, Some(shader)), 0x3C);
        assert_eq!(bits(&tested, Some(stores)), 0x0C);
        assert_eq!(bits(&tested, Some(early)), 0);
        assert_eq!(bits(&alpha, Some(no_facts())), 0x30);
        assert_eq!(bits(&tested, None), 0);
    }

    #[test]
    fn depth_that_is_read_and_not_written_is_marked() {
        let marked = |arch, info: &GraphicsPipelineInfo<'_>, change: fn(&mut FragmentFacts)| {
            let mut facts = no_facts();
            change(&mut facts);
            let words = depth_stencil(arch, info, Some(facts)).expect("packs");
            let words = DepthStencil::unpack(arch, &words).expect("unpacks");
            words.shader_read_only_z_s
        };
        let (written, kept) = (depth(Func::Less, true), depth(Func::Less, false));
        let reads: [fn(&mut FragmentFacts); 2] = [
            |it| it.reads_tile_depth = true,
            |it| it.reads_tile_stencil = true,
        ];
        for reads in reads {
            assert!(marked(Arch::V10, &kept, reads));
            assert!(!marked(Arch::V10, &written, reads));
            assert!(!marked(Arch::V12, &kept, reads));
        }
        assert!(!marked(Arch::V10, &kept, |_| ()));
    }

    /// What the shader reads of a tile may be what lies behind it: it kills nothing there.
    #[test]
    fn whoever_reads_the_tile_does_not_kill_what_lies_behind() {
        let kills = |facts, read| {
            let stages = Stages {
                fragment: Some(facts),
                read,
                ..NOTHING
            };
            flags_0(Arch::V10, &GraphicsPipelineInfo::default(), &stages)
                .allow_forward_pixel_to_kill
        };
        let of_depth = FragmentFacts {
            reads_tile_depth: true,
            ..no_facts()
        };
        let of_stencil = FragmentFacts {
            reads_tile_stencil: true,
            ..no_facts()
        };
        assert!(kills(no_facts(), 0));
        assert!(!kills(no_facts(), 1));
        assert!(!kills(of_depth, 0));
        assert!(!kills(of_stencil, 0));
    }

    /// Hidden surfaces (v13) are updated late where the shader has a say in coverage, or in depth and stencil.
    #[test]
    fn hidden_surfaces_are_updated_late_where_the_shader_has_a_say() {
        let late = |info: &GraphicsPipelineInfo<'_>, facts| {
            let stages = Stages {
                fragment: facts,
                ..NOTHING
            };
            flags_2(Arch::V13, info, &stages).hsr_update_operation == HsrUpdate::Late
        };
        let (tested, none) = (depth(Func::Less, true), GraphicsPipelineInfo::default());
        let alpha = GraphicsPipelineInfo {
            alpha_to_coverage: true,
            ..depth(Func::Less, false)
        };
        let with = |change: fn(&mut FragmentFacts)| {
            let mut facts = no_facts();
            change(&mut facts);
            Some(facts)
        };
        for info in [&tested, &none] {
            assert!(!late(info, None));
            assert!(!late(info, Some(no_facts())));
            assert!(late(info, with(|it| it.writes_depth = true)));
            assert!(late(info, with(|it| it.writes_stencil = true)));
            assert!(late(info, with(|it| it.can_discard = true)));
            assert!(late(info, with(|it| it.writes_sample_mask = true)));
        }
        assert!(late(&alpha, Some(no_facts())));
    }
}
