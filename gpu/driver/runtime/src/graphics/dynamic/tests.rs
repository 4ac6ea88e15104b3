//! State that a pass sets in place of its pipeline's: the words are those of a pipeline that has it from the start.

use super::*;
use crate::graphics::blend;
use crate::graphics::draw_words::{NOTHING, Stages, depth_stencil, draw_words};
use crate::graphics::framebuffer::MOST_COLORS;
use crate::graphics::state::{GraphicsPipelineInfo, StencilFace};
use crate::slab::Key;
use eitri_descriptors::raster::StencilOp;
use eitri_descriptors::texture::Func;
use eitri_program::EntryKind;

/// Numbers that look random: the same ones with each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % end
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn face(&mut self) -> StencilFace {
        use StencilOp::{Invert, Keep, Replace, Zero};
        StencilFace {
            compare: self.one_of(&[Func::Always, Func::Equal, Func::Less]),
            fail: self.one_of(&[Keep, Keep, Zero]),
            depth_fail: self.one_of(&[Keep, Keep, Invert]),
            pass: self.one_of(&[Keep, Keep, Replace]),
            compare_mask: self.below(256) as u8,
            write_mask: self.one_of(&[0, 0xFF, 0x0F]),
            reference: self.below(256) as u8,
        }
    }

    /// A pipeline of this topology, for a pass that has depth and stencil or not.
    fn info(&mut self, topology: Topology, has: [bool; 2]) -> GraphicsPipelineInfo<'static> {
        let depth = DepthState {
            compare: self.one_of(&[Func::Always, Func::Less]),
            write: self.flag(),
        };
        let bias = DepthBias {
            constant: self.below(9) as f32,
            slope: 0.5,
            clamp: self.below(2) as f32,
        };
        let stencil = StencilState {
            front: self.face(),
            back: self.face(),
        };
        GraphicsPipelineInfo {
            topology,
            primitive_restart: self.flag(),
            cull_front: self.flag(),
            cull_back: self.flag(),
            front_face: self.one_of(&[FrontFace::Clockwise, FrontFace::CounterClockwise]),
            depth_bias: self.flag().then_some(bias),
            depth: self.flag().then_some(depth),
            stencil: self.flag().then_some(stencil),
            has_depth: has[0],
            has_stencil: has[1],
            ..GraphicsPipelineInfo::default()
        }
    }

    fn facts(&mut self) -> FragmentFacts {
        FragmentFacts {
            writes_depth: self.below(8) == 0,
            writes_sample_mask: self.below(8) == 0,
            can_discard: self.flag(),
            early_tests: self.below(8) == 0,
            side_effects: self.below(4) == 0,
            reads_tile_depth: self.below(4) == 0,
            reads_tile_stencil: self.below(4) == 0,
            ..FragmentFacts::default()
        }
    }
}

/// What a pass knows of a pipeline, and the descriptor of its tests.
pub(in crate::graphics) fn made(
    arch: Arch,
    info: &GraphicsPipelineInfo<'_>,
    fragment: Option<FragmentFacts>,
) -> (GraphicsPipelined, [u32; 8]) {
    let stages = |counts| Stages {
        fragment,
        counts,
        ..NOTHING
    };
    let words = draw_words(arch, info, &stages(false)).expect("packs");
    let counted = draw_words(arch, info, &stages(true)).expect("packs");
    let made = GraphicsPipelined {
        vertex: Key::NONE,
        fragment: None,
        position: EntryKind::Position,
        words,
        counted_flags: [counted.flags_0, counted.flags_2],
        reads_view: false,
        reads_first: false,
        reads_base: false,
        programs: [0; 3],
        registers: 0,
        plan: None,
        tables: [0; 2],
        fragment_table: None,
        topology_class: Class::of(info.topology),
        varying_bytes: 0,
        bindings: 0,
        buffer_table: 0,
        vertex_bytes: 0,
        attributes: 0,
        instance_bindings: 0,
        color_count: 1,
        samples: 1,
        has_depth: info.has_depth,
        has_stencil: info.has_stencil,
        last_provokes: false,
        size: 1.0,
        constants: blend::OFF.constants,
        constant_bits: MOST_COLORS as u8,
        blend_constants: [0.0; 4],
        shades: fragment.is_some(),
        scratch_bytes: 0,
    };
    let tests = depth_stencil(arch, info, fragment).expect("packs");
    (made, tests)
}

#[test]
fn what_is_set_is_as_if_the_pipeline_had_it() {
    use Topology::{LineList, LineStrip, PointList, TriangleFan, TriangleList, TriangleStrip};
    let classes: [&[Topology]; 3] = [
        &[PointList],
        &[LineList, LineStrip],
        &[TriangleList, TriangleStrip, TriangleFan],
    ];
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for _ in 0..4000 {
        let arch = numbers.one_of(&[Arch::V10, Arch::V11, Arch::V12, Arch::V13]);
        let class = numbers.one_of(&classes);
        let has = [numbers.flag(), numbers.flag()];
        let facts = numbers.facts();
        let fragment = (numbers.below(4) != 0).then_some(facts);
        let (topology, other) = (numbers.one_of(class), numbers.one_of(class));
        let (from, to) = (numbers.info(topology, has), numbers.info(other, has));
        // What is not set stays as the pipeline has it.
        let mut wanted = from;
        let mut dynamic = Dynamic::NOTHING;
        if numbers.flag() {
            dynamic.set().cull = Some([to.cull_front, to.cull_back]);
            (wanted.cull_front, wanted.cull_back) = (to.cull_front, to.cull_back);
        }
        if numbers.flag() {
            dynamic.set().front_face = Some(to.front_face);
            wanted.front_face = to.front_face;
        }
        if numbers.flag() {
            dynamic.set().topology = Some(to.topology);
            wanted.topology = to.topology;
        }
        if numbers.flag() {
            dynamic.set().restart = Some(to.primitive_restart);
            wanted.primitive_restart = to.primitive_restart;
        }
        let mut changes_tests = false;
        if numbers.flag() {
            dynamic.set().depth = Some(to.depth);
            (wanted.depth, changes_tests) = (to.depth, true);
        }
        if numbers.flag() {
            dynamic.set().bias = Some(to.depth_bias);
            (wanted.depth_bias, changes_tests) = (to.depth_bias, true);
        }
        if numbers.flag() {
            dynamic.set().stencil = Some(to.stencil);
            (wanted.stencil, changes_tests) = (to.stencil, true);
        }
        assert_eq!(dynamic.changes_tests(), changes_tests);
        let (own, own_tests) = made(arch, &from, fragment);
        let (other, other_tests) = made(arch, &wanted, fragment);
        if dynamic.is_nothing() {
            assert!(!dynamic.changes_words());
            continue;
        }
        let tests = dynamic
            .tests(&own, arch, &own_tests, fragment)
            .expect("packs");
        assert_tests(arch, tests, other_tests, &wanted);
        for counts in [false, true] {
            let words = dynamic.words(&own, (arch, counts), &tests, fragment);
            let expected = other.words_of(counts);
            assert_eq!(
                words,
                Ok(expected),
                "{arch} {from:?} {dynamic:?} {fragment:?}"
            );
        }
        dynamic.clear();
        assert_eq!(dynamic, Dynamic::NOTHING);
    }
}

/// Compares descriptors of tests. Of a test of stencil that is off nothing counts.
#[track_caller]
fn assert_tests(arch: Arch, found: [u32; 8], expected: [u32; 8], info: &GraphicsPipelineInfo<'_>) {
    let unpack = |words: [u32; 8]| {
        let mut tests = DepthStencil::unpack(arch, &words).expect("unpacks");
        if !tests.stencil_test_enable {
            draw_words::set_stencil(&mut tests, Some(SAME));
            tests.stencil_test_enable = false;
        }
        tests
    };
    assert_eq!(unpack(found), unpack(expected), "{arch} {info:?}");
}

const SAME: StencilState = {
    let face = StencilFace {
        compare: Func::Always,
        fail: StencilOp::Keep,
        depth_fail: StencilOp::Keep,
        pass: StencilOp::Keep,
        compare_mask: 0,
        write_mask: 0,
        reference: 0,
    };
    StencilState {
        front: face,
        back: face,
    }
};

#[test]
fn nothing_is_changed_where_nothing_is_set() {
    let mut dynamic = Dynamic::NOTHING;
    assert!(dynamic.is_nothing() && !dynamic.changes_words());
    dynamic.set().line_width = Some(2.0);
    assert!(
        !dynamic.is_nothing() && !dynamic.changes_words(),
        "widths are no words"
    );
    let set: [fn(&mut Dynamic); 4] = [
        |it| it.set().cull = Some([false; 2]),
        |it| it.set().front_face = Some(FrontFace::Clockwise),
        |it| it.set().topology = Some(Topology::LineList),
        |it| it.set().restart = Some(false),
    ];
    for set in set {
        let mut dynamic = Dynamic::NOTHING;
        set(&mut dynamic);
        assert!(dynamic.changes_words() && !dynamic.changes_tests());
    }
}
