//! Rules of a draw's words: all combinations of what they depend on, against the tables of the documentation.

use super::*;
use crate::graphics::state::StencilFace;

const ARCHS: [Arch; 4] = [Arch::V10, Arch::V11, Arch::V12, Arch::V13];

const PLAIN: Stages = Stages {
    varying: false,
    ..NOTHING
};

fn facts(change: impl Fn(&mut FragmentFacts)) -> FragmentFacts {
    let mut facts = FragmentFacts::default();
    change(&mut facts);
    facts
}

/// Each value of `bits` bits, as booleans.
fn each<const N: usize>() -> impl Iterator<Item = [bool; N]> {
    (0..1_u32 << N).map(|bits| core::array::from_fn(|bit| bits >> bit & 1 != 0))
}

/// The two tables of hardware/graphics-raster.md 4.9. The letters are theirs.
#[test]
fn operations_are_those_of_the_tables() {
    for arch in ARCHS {
        for [depth, stencil, mask, discard, a, counts, s, e, p, writes] in each() {
            for [reads_depth, reads_stencil] in each() {
                let facts = facts(|it| {
                    (it.writes_depth, it.writes_stencil) = (depth, stencil);
                    (it.writes_sample_mask, it.can_discard) = (mask, discard);
                    (it.side_effects, it.early_tests) = (s, e);
                    (it.reads_tile_depth, it.reads_tile_stencil) = (reads_depth, reads_stencil);
                });
                let w = depth || stencil;
                let c = mask || discard || a;
                let z = writes || counts;
                let r = reads_depth || reads_stencil;
                let optimised = arch == Arch::V10 && r && !writes;
                let update = match () {
                    () if !e && (w || a || (c && z) || (r && !optimised)) => PixelKill::ForceLate,
                    () if arch == Arch::V10 && p && !e && !optimised => PixelKill::WeakEarly,
                    () => PixelKill::ForceEarly,
                };
                let kill = match () {
                    () if !e && (w || s) => PixelKill::ForceLate,
                    () if p && !e && !optimised => PixelKill::WeakEarly,
                    () => PixelKill::ForceEarly,
                };
                let tested = Tested { passes: p, writes };
                let found = operations(arch, facts, (a, counts), tested);
                assert_eq!(
                    found,
                    (kill, update),
                    "{arch} {facts:?} {a} {counts} {tested:?}"
                );
            }
        }
    }
}

const ALWAYS: StencilFace = StencilFace {
    compare: Func::Always,
    fail: StencilOp::Keep,
    depth_fail: StencilOp::Keep,
    pass: StencilOp::Keep,
    compare_mask: 0xFF,
    write_mask: 0xFF,
    reference: 0,
};

/// A pipeline with a test of stencil, of which `change` changes a face.
fn stencil(back: bool, change: impl Fn(&mut StencilFace)) -> GraphicsPipelineInfo<'static> {
    let mut state = StencilState {
        front: ALWAYS,
        back: ALWAYS,
    };
    change(if back {
        &mut state.back
    } else {
        &mut state.front
    });
    GraphicsPipelineInfo {
        stencil: Some(state),
        has_stencil: true,
        ..GraphicsPipelineInfo::default()
    }
}

/// A face writes stencil if one of its operations changes the value in a bit that may be written. A fragment may fail if one of the
/// faces compares.
#[test]
fn each_face_of_stencil_may_write_and_may_fail() {
    type Change = fn(&mut StencilFace);
    let operations: [Change; 3] = [
        |it| it.fail = StencilOp::Zero,
        |it| it.depth_fail = StencilOp::Invert,
        |it| it.pass = StencilOp::Replace,
    ];
    for back in [false, true] {
        let tested = |change: &dyn Fn(&mut StencilFace)| {
            let Tested { passes, writes } = Tested::of_info(&stencil(back, change));
            (passes, writes)
        };
        assert_eq!(tested(&|_| ()), (true, false));
        assert_eq!(tested(&|it| it.compare = Func::Equal), (false, false));
        for operation in operations {
            assert_eq!(tested(&|it| operation(it)), (true, true));
            let masked = |it: &mut StencilFace| {
                operation(it);
                it.write_mask = 0;
            };
            assert_eq!(tested(&masked), (true, false));
        }
    }
    let absent = GraphicsPipelineInfo {
        has_stencil: false,
        ..stencil(false, |it| {
            (it.compare, it.pass) = (Func::Equal, StencilOp::Zero)
        })
    };
    let Tested { passes, writes } = Tested::of_info(&absent);
    assert_eq!((passes, writes), (true, false), "the pass has no stencil");
    let depth = |compare, write| {
        let info = GraphicsPipelineInfo {
            depth: Some(DepthState { compare, write }),
            has_depth: true,
            ..GraphicsPipelineInfo::default()
        };
        let Tested { passes, writes } = Tested::of_info(&info);
        (passes, writes)
    };
    assert_eq!(depth(Func::Always, true), (true, true));
    assert_eq!(depth(Func::Less, false), (false, false));
}

/// hardware/graphics-draw.md 3.16.
#[test]
fn a_fragment_program_is_needed_for_what_it_alone_does() {
    type Change = fn(&mut FragmentFacts);
    let needs: [Change; 6] = [
        |it| it.side_effects = true,
        |it| it.can_discard = true,
        |it| it.writes_sample_mask = true,
        |it| it.writes_depth = true,
        |it| it.writes_stencil = true,
        |_| (),
    ];
    let info = GraphicsPipelineInfo::default();
    for (number, change) in needs.into_iter().enumerate() {
        let found = needs_fragments(facts(change), 0, &info);
        assert_eq!(found, number < 5, "{number}");
    }
    assert!(needs_fragments(facts(|_| ()), 4, &info), "a colour");
    let alpha = GraphicsPipelineInfo {
        alpha_to_coverage: true,
        ..info
    };
    assert!(needs_fragments(facts(|_| ()), 0, &alpha));
}

/// hardware/graphics-raster.md 4.10: who may stop fragments behind it, and who may be stopped.
#[test]
fn fragments_stop_others_if_all_of_the_pixel_is_replaced() {
    let found = |info: &GraphicsPipelineInfo<'_>, stages: Stages| {
        let words = flags_0(Arch::V10, info, &stages);
        (
            words.allow_forward_pixel_to_kill,
            words.allow_forward_pixel_to_be_killed,
        )
    };
    let info = GraphicsPipelineInfo::default();
    let alpha = GraphicsPipelineInfo {
        alpha_to_coverage: true,
        ..info
    };
    let shaded = |change: fn(&mut FragmentFacts)| Stages {
        fragment: Some(facts(change)),
        ..PLAIN
    };
    assert_eq!(found(&info, shaded(|_| ())), (true, true));
    assert_eq!(found(&alpha, shaded(|_| ())), (false, true));
    let blended = Stages {
        replaces_all: false,
        ..shaded(|_| ())
    };
    assert_eq!(found(&info, blended), (false, true));
    assert_eq!(
        found(&info, shaded(|it| it.side_effects = true)),
        (true, false)
    );
    assert_eq!(
        found(&info, shaded(|it| it.can_discard = true)),
        (false, true)
    );
    let depth_alone = Stages {
        replaces_all: false,
        ..PLAIN
    };
    assert_eq!(found(&info, depth_alone), (true, true), "without a program");
    for (stages, expected) in [(PLAIN, true), (shaded(|_| ()), false)] {
        let words = flags_0(Arch::V10, &info, &stages);
        assert_eq!(
            [words.overdraw_alpha0, words.overdraw_alpha1],
            [expected; 2]
        );
    }
}

#[test]
fn fragments_are_shaded_for_each_sample_if_there_are_several_and_somebody_asks() {
    type Change = fn(&mut FragmentFacts);
    let asks: [(Change, bool); 4] = [
        (|_| (), false),
        (|it| it.sample_shading = true, true),
        (|it| it.reads_sample_id = true, true),
        (|it| it.reads_sample_position = true, true),
    ];
    for samples in [1, 4] {
        for (change, by_program) in asks {
            for sample_shading in [false, true] {
                let info = GraphicsPipelineInfo {
                    samples,
                    sample_shading,
                    ..GraphicsPipelineInfo::default()
                };
                let stages = Stages {
                    fragment: Some(facts(change)),
                    ..PLAIN
                };
                let words = flags_0(Arch::V10, &info, &stages);
                let many = samples > 1;
                assert_eq!(words.multisample_enable, many);
                assert_eq!(
                    words.evaluate_per_sample,
                    many && (sample_shading || by_program)
                );
            }
        }
    }
}

/// Triangles alone have faces, which are left out; lines alone have ends, which are aligned where they are not rectangles.
#[test]
fn faces_are_of_triangles_and_ends_of_lines() {
    for (topology, faces, ends) in [
        (Topology::PointList, false, false),
        (Topology::LineList, false, true),
        (Topology::LineStrip, false, true),
        (Topology::TriangleList, true, false),
        (Topology::TriangleStrip, true, false),
        (Topology::TriangleFan, true, false),
    ] {
        let info = |change: fn(&mut GraphicsPipelineInfo<'_>)| {
            let mut info = GraphicsPipelineInfo {
                topology,
                ..GraphicsPipelineInfo::default()
            };
            change(&mut info);
            let words = flags_0(Arch::V10, &info, &PLAIN);
            (
                words.cull_front_face,
                words.cull_back_face,
                words.aligned_line_ends,
            )
        };
        assert_eq!(info(|_| ()), (false, false, false), "{topology:?}");
        assert_eq!(
            info(|it| it.cull_front = true),
            (faces, false, false),
            "{topology:?}"
        );
        assert_eq!(
            info(|it| it.cull_back = true),
            (false, faces, false),
            "{topology:?}"
        );
        assert_eq!(
            info(|it| it.bresenham_lines = true),
            (false, false, ends),
            "{topology:?}"
        );
        let samples = info(|it| (it.bresenham_lines, it.samples) = (true, 4));
        assert_eq!(samples, (false, false, false), "{topology:?}");
    }
    for (face, bit) in [
        (FrontFace::CounterClockwise, true),
        (FrontFace::Clockwise, false),
    ] {
        let info = GraphicsPipelineInfo {
            front_face: face,
            ..GraphicsPipelineInfo::default()
        };
        assert_eq!(flags_0(Arch::V10, &info, &PLAIN).front_face_ccw, bit);
    }
    for (arch, culls) in ARCHS.into_iter().zip([false, true, true, true]) {
        let words = flags_0(arch, &GraphicsPipelineInfo::default(), &PLAIN);
        assert_eq!(words.cull_zero_area, culls, "{arch}");
    }
}

/// hardware/graphics-raster.md 4.11: discards, masks and alpha change coverage.
#[test]
fn coverage_is_changed_by_masks_discards_and_alpha() {
    let changes = |alpha_to_coverage, change: fn(&mut FragmentFacts)| {
        let info = GraphicsPipelineInfo {
            alpha_to_coverage,
            ..GraphicsPipelineInfo::default()
        };
        let stages = Stages {
            fragment: Some(facts(change)),
            ..PLAIN
        };
        flags_0(Arch::V10, &info, &stages).shader_modifies_coverage
    };
    assert!(!changes(false, |_| ()));
    assert!(changes(true, |_| ()));
    assert!(changes(false, |it| it.can_discard = true));
    assert!(changes(false, |it| it.writes_sample_mask = true));
}

/// hardware/graphics-draw.md 3.12.
#[test]
fn what_fragments_do_not_read_of_the_tile_is_said_from_v11_on() {
    for (arch, says) in ARCHS.into_iter().zip([false, true, true, true]) {
        let words = |fragment| {
            let stages = Stages {
                fragment,
                read: 2,
                written: 5,
                ..PLAIN
            };
            let words = flags_2(arch, &GraphicsPipelineInfo::default(), &stages);
            assert_eq!((words.read_mask, words.write_mask), (2, 5), "{arch}");
            [words.no_shader_depth_read, words.no_shader_stencil_read]
        };
        assert_eq!(words(None), [says; 2], "{arch}");
        assert_eq!(words(Some(facts(|_| ()))), [says; 2], "{arch}");
        let depth = facts(|it| it.reads_tile_depth = true);
        assert_eq!(words(Some(depth)), [false, says], "{arch}");
        let stencil = facts(|it| it.reads_tile_stencil = true);
        assert_eq!(words(Some(stencil)), [says, false], "{arch}");
    }
}

#[test]
fn draws_that_write_depth_or_test_stencil_say_so_from_v13_on() {
    let says =
        |arch, info: &GraphicsPipelineInfo<'_>| flags_2(arch, info, &PLAIN).z_write_or_stencil;
    let depth = |write| GraphicsPipelineInfo {
        depth: Some(DepthState {
            compare: Func::Less,
            write,
        }),
        has_depth: true,
        ..GraphicsPipelineInfo::default()
    };
    let kept = stencil(false, |_| ());
    assert!(says(Arch::V13, &depth(true)) && says(Arch::V13, &kept));
    assert!(!says(Arch::V13, &depth(false)));
    assert!(!says(Arch::V13, &GraphicsPipelineInfo::default()));
    assert!(!says(Arch::V12, &depth(true)) && !says(Arch::V12, &kept));
}

/// hardware/graphics-draw.md 3.3.
#[test]
fn primitives_are_as_the_programs_write_and_read_them() {
    let info = GraphicsPipelineInfo::default();
    let words = |stages: Stages| primitive(Arch::V12, &info, &stages);
    let reads = Some(facts(|it| it.reads_primitive_id = true));
    let plain = Some(facts(|_| ()));
    for (fragment, primitive_id, enable, overridden) in [
        (None, false, false, false),
        (plain, false, false, false),
        (plain, true, false, false),
        (reads, false, true, false),
        (reads, true, true, true),
        (None, true, false, false),
    ] {
        let stages = Stages {
            fragment,
            primitive_id,
            ..PLAIN
        };
        let found = words(stages);
        assert_eq!(found.primitive_index_enable, enable);
        assert_eq!(found.primitive_index_override, overridden);
    }
    for (fragment, varying, expected) in [
        (None, true, false),
        (plain, true, true),
        (plain, false, false),
    ] {
        let stages = Stages {
            fragment,
            varying,
            ..PLAIN
        };
        assert_eq!(words(stages).secondary_shader, expected);
    }
    let extended = |extended| words(Stages { extended, ..PLAIN }).position_fifo_format;
    assert_eq!(extended(true), FifoFormat::Extended);
    assert_eq!(extended(false), FifoFormat::Basic);
    assert!(
        words(Stages {
            layer: true,
            ..PLAIN
        })
        .layer_index_enable
    );
    assert!(!words(PLAIN).layer_index_enable);
    for (arch, is_said) in ARCHS.into_iter().zip([true, true, true, false]) {
        let format = |point_size| {
            let stages = Stages {
                point_size,
                ..PLAIN
            };
            primitive(arch, &info, &stages).point_size_array_format
        };
        let halves = PointSizeArrayFormat::FP16;
        assert_eq!(format(true) == halves, is_said, "{arch}");
        assert_ne!(format(false), halves, "{arch}");
    }
}

/// Clipping is the opposite of clamping, unless the pipeline says both.
#[test]
fn depths_are_clipped_unless_they_are_clamped() {
    for (depth_clamp, depth_clip, clips) in [
        (false, None, true),
        (true, None, false),
        (false, Some(false), false),
        (true, Some(true), true),
    ] {
        let info = GraphicsPipelineInfo {
            depth_clamp,
            depth_clip,
            ..GraphicsPipelineInfo::default()
        };
        let found = primitive(Arch::V10, &info, &PLAIN);
        assert_eq!([found.low_depth_cull, found.high_depth_cull], [clips; 2]);
        let words = depth_stencil(Arch::V10, &info, None).expect("packs");
        let words = DepthStencil::unpack(Arch::V10, &words).expect("unpacks");
        assert_eq!(words.depth_cull_enable, clips);
        let bounds = words.depth_clamp_mode == DepthClampMode::Bounds;
        assert_eq!(bounds, depth_clamp);
    }
}

/// Depth and stencil that the program writes are taken from it.
#[test]
fn depth_and_stencil_come_from_the_program_that_writes_them() {
    let info = GraphicsPipelineInfo::default();
    for [depth, stencil] in each() {
        let facts = facts(|it| (it.writes_depth, it.writes_stencil) = (depth, stencil));
        for arch in ARCHS {
            let words = depth_stencil(arch, &info, Some(facts)).expect("packs");
            let words = DepthStencil::unpack(arch, &words).expect("unpacks");
            assert_eq!(words.depth_source == DepthSource::Shader, depth);
            assert_eq!(words.stencil_from_shader, stencil);
            assert_eq!(words.separated_dependency_tracking, arch == Arch::V11);
        }
    }
}
