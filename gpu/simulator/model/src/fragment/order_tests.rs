//! Each row of early and late kill and update, on a pixel of a real tile.

use super::*;
use crate::fragment::PixelTests;
use crate::tile::tests::{framebuffer, packed, parameters, rgba8};
use crate::tile::{DepthBounds, Pixel, TileBuffer};
use PixelKill::{ForceEarly, ForceLate, WeakEarly};
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{BlockFormat, FramebufferParameters};
use eitri_descriptors::raster::{DepthStencil, StencilOp};
use eitri_descriptors::texture::Func;

const PIXEL: Pixel = Pixel { x: 3, y: 2 };
/// Samples 0 and 1 are in front of what the tile holds, 2 and 3 behind.
const DEPTHS: [f64; 4] = [0.25, 0.25, 0.75, 0.75];
const BOUNDS: DepthBounds = DepthBounds {
    low: 0.0,
    high: 1.0,
};

/// A tile of 4 samples, depth 0.5, stencil 7.
fn tile() -> TileBuffer {
    let parameters = FramebufferParameters {
        z_clear: 0.5,
        s_clear: 7,
        ..parameters([16, 16], 4, 64)
    };
    let target = packed(Arch::V10, rgba8(BlockFormat::Linear, 0, 64));
    TileBuffer::new(&framebuffer(Arch::V10, parameters, None, &[target]))
}

/// Less, writing; stencil passes always, counts depth fails up and replaces by 42 where both pass.
fn depth_and_stencil() -> DepthStencil {
    DepthStencil {
        depth_function: Func::Less,
        depth_write_enable: true,
        stencil_test_enable: true,
        front_compare_function: Func::Always,
        front_depth_fail: StencilOp::IncrSat,
        front_depth_pass: StencilOp::Replace,
        front_reference_value: 42,
        front_write_mask: 0xff,
        front_value_mask: 0xff,
        ..DepthStencil::default()
    }
}

fn depth_only() -> DepthStencil {
    DepthStencil {
        stencil_test_enable: false,
        ..depth_and_stencil()
    }
}

/// One pixel on its way, with all four samples covered at first.
struct Run {
    tile: TileBuffer,
    state: ZsState,
    order: Order,
    fragment: Fragment,
}

impl Run {
    fn begin(kill: PixelKill, update: PixelKill, zs: DepthStencil) -> Run {
        Run::with(kill, update, zs, |_| {})
    }

    fn with(
        kill: PixelKill,
        update: PixelKill,
        zs: DepthStencil,
        change: impl Fn(&mut DcdFlags0),
    ) -> Run {
        let mut flags = DcdFlags0 {
            pixel_kill_operation: kill,
            zs_update_operation: update,
            occlusion_query: OcclusionMode::Counter,
            ..DcdFlags0::default()
        };
        change(&mut flags);
        let state = ZsState::of(&zs, true);
        let mut run = Run {
            tile: tile(),
            state,
            order: Order::of(&flags, &state, 4),
            fragment: Fragment::default(),
        };
        run.fragment = run.tests(|order, tests, _| order.begin(0xf, tests));
        run
    }

    fn tests<T>(&mut self, act: impl FnOnce(&Order, &mut PixelTests, &mut Fragment) -> T) -> T {
        let tests = PixelTests::new(&mut self.tile, PIXEL, &self.state, &DEPTHS, BOUNDS);
        let mut tests = tests.expect("the pixel is in the tile");
        act(&self.order, &mut tests, &mut self.fragment)
    }

    fn atest(&mut self, coverage: u16, alpha: f32) -> Result<u16, OrderMisuse> {
        let at = (alpha, [6, 4]);
        self.tests(|order, tests, fragment| order.atest(fragment, coverage, at, tests))
    }

    fn zs_emit(&mut self, coverage: u16, emitted: Emitted) -> Result<u16, OrderMisuse> {
        self.tests(|order, tests, fragment| order.zs_emit(fragment, coverage, emitted, tests))
    }

    /// Stencil of the four samples, and which of them have the new depth.
    fn left(&self) -> ([u8; 4], u16) {
        let zs = [0, 1, 2, 3].map(|sample| self.tile.zs(PIXEL, sample).expect("a sample"));
        let old = tile().zs(PIXEL, 0).expect("a sample").depth;
        let changed = (0..4).filter(|sample| zs[*sample].depth != old);
        (
            zs.map(|zs| zs.stencil),
            changed.fold(0, |mask, sample| mask | 1 << sample),
        )
    }

    #[track_caller]
    fn check(&self, coverage: u16, left: ([u8; 4], u16), counted: u32) {
        assert_eq!(self.fragment.coverage(), coverage, "coverage");
        assert_eq!(self.left(), left, "stencil of each sample, new depths");
        assert_eq!(self.fragment.counted(), counted, "counted samples");
    }
}

const UNTOUCHED: ([u8; 4], u16) = ([7; 4], 0);
const UPDATED: ([u8; 4], u16) = ([42, 42, 8, 8], 0b11);

#[test]
fn kill_early_update_early_tests_and_updates_before_the_program() {
    for kill in [ForceEarly, WeakEarly] {
        let mut run = Run::begin(kill, ForceEarly, depth_and_stencil());
        run.check(0b11, UPDATED, 2);
        // Coverage that shrinks later changes neither depth nor the count.
        assert_eq!(run.atest(0b01, 1.0), Ok(0b01));
        run.check(0b01, UPDATED, 2);
        assert_eq!(run.order.end(&run.fragment), Ok(()));
        assert_eq!(run.fragment.written(0xffff), 0b01);
    }
}

#[test]
fn kill_late_update_early_runs_what_fails_and_writes_no_colour_of_it() {
    let mut run = Run::begin(ForceLate, ForceEarly, depth_and_stencil());
    run.check(0xf, UPDATED, 2);
    assert_eq!(run.atest(0xf, 1.0), Ok(0b11));
    run.check(0b11, UPDATED, 2);
}

#[test]
fn kill_early_update_late_drops_failing_samples_where_that_changes_no_stencil() {
    let mut run = Run::begin(ForceEarly, ForceLate, depth_only());
    run.check(0b11, UNTOUCHED, 0);
    // Sample 1 is discarded: no update at all.
    assert_eq!(run.atest(0b01, 1.0), Ok(0b01));
    run.check(0b01, ([7; 4], 0b01), 1);
    let masked = DepthStencil {
        front_write_mask: 0,
        ..depth_and_stencil()
    };
    Run::begin(ForceEarly, ForceLate, masked).check(0b11, UNTOUCHED, 0);
    let kept = DepthStencil {
        front_depth_fail: StencilOp::Keep,
        ..depth_and_stencil()
    };
    Run::begin(ForceEarly, ForceLate, kept).check(0b11, UNTOUCHED, 0);
}

#[test]
fn kill_early_update_late_keeps_failing_samples_that_change_stencil() {
    let mut run = Run::begin(ForceEarly, ForceLate, depth_and_stencil());
    run.check(0xf, UNTOUCHED, 0);
    // Sample 3 fails depth and is discarded: it does not count its failure.
    assert_eq!(run.atest(0b0111, 1.0), Ok(0b0011));
    run.check(0b11, ([42, 42, 8, 7], 0b11), 2);
}

#[test]
fn kill_late_update_late_does_everything_at_atest() {
    let mut run = Run::begin(ForceLate, ForceLate, depth_and_stencil());
    run.check(0xf, UNTOUCHED, 0);
    assert_eq!(run.order.end(&run.fragment), Err(OrderMisuse::NoLateTest));
    assert_eq!(run.atest(0xf, 1.0), Ok(0b11));
    run.check(0b11, UPDATED, 2);
    assert_eq!(run.order.end(&run.fragment), Ok(()));
    assert_eq!(run.atest(0xf, 1.0), Err(OrderMisuse::SecondAtest));
    run.check(0b11, UPDATED, 2);
}

#[test]
fn zs_emit_tests_with_the_values_of_the_program() {
    let zs = DepthStencil {
        depth_source: DepthSource::Shader,
        stencil_from_shader: true,
        ..depth_and_stencil()
    };
    let mut run = Run::begin(ForceLate, ForceLate, zs);
    assert_eq!(run.atest(0b1110, 1.0), Ok(0b1110));
    run.check(0b1110, UNTOUCHED, 0);
    let emitted = Emitted {
        depth: Some(0.125),
        stencil: Some(99),
    };
    assert_eq!(run.zs_emit(0b1100, emitted), Ok(0b1100));
    run.check(0b1100, ([7, 7, 99, 99], 0b1100), 2);
    let again = run.zs_emit(0b1100, emitted);
    assert_eq!(again, Err(OrderMisuse::ZsEmitAfterTests));
}

#[test]
fn a_zs_emit_of_a_draw_that_updates_early_is_refused() {
    let mut run = Run::begin(ForceEarly, ForceEarly, depth_and_stencil());
    let refused = run.zs_emit(0xf, Emitted::default());
    assert_eq!(refused, Err(OrderMisuse::ZsEmitAfterTests));
    run.check(0b11, UPDATED, 2);
}

#[test]
fn a_draw_without_program_tests_once_whatever_its_order() {
    for (kill, update) in [
        (ForceEarly, ForceEarly),
        (ForceEarly, ForceLate),
        (ForceLate, ForceEarly),
        (ForceLate, ForceLate),
    ] {
        let mut run = Run::begin(kill, update, depth_and_stencil());
        run.tile = tile();
        run.fragment = run.tests(|order, tests, _| order.without_program(0xf, tests));
        assert_eq!((run.left(), run.fragment.counted()), (UPDATED, 2));
    }
}

#[test]
fn alpha_covers_samples_at_atest_before_the_late_tests() {
    let on = |flags: &mut DcdFlags0| flags.alpha_to_coverage = true;
    let mut run = Run::with(ForceEarly, ForceLate, depth_only(), on);
    // Half of alpha at an even pixel: samples 0 and 2, of which 2 was killed.
    assert_eq!(run.atest(0xf, 0.5), Ok(0b01));
    run.check(0b01, ([7; 4], 0b01), 1);
    let inverted = |flags: &mut DcdFlags0| {
        on(flags);
        flags.alpha_to_coverage_invert = true;
    };
    let mut run = Run::with(ForceEarly, ForceLate, depth_only(), inverted);
    assert_eq!(run.atest(0xf, 0.5), Ok(0b10));
}

#[test]
fn per_sample_runs_update_only_their_own_sample() {
    let mut pixel = Run::begin(ForceLate, ForceLate, depth_and_stencil());
    let whole = pixel.fragment;
    let mut counted = 0;
    for sample in [0, 2, 3] {
        pixel.fragment = whole.of_sample(sample);
        assert_eq!(pixel.fragment.coverage(), 1 << sample);
        if sample == 3 {
            pixel.fragment.discard();
        }
        let passes = u16::from(sample == 0);
        assert_eq!(pixel.atest(0xffff, 1.0), Ok(passes));
        counted += pixel.fragment.counted();
    }
    assert_eq!(pixel.left(), ([42, 7, 8, 7], 0b01));
    assert_eq!(counted, 1);
}

#[test]
fn queries_that_are_off_count_nothing() {
    let off = |flags: &mut DcdFlags0| flags.occlusion_query = OcclusionMode::Disabled;
    let run = Run::with(ForceEarly, ForceEarly, depth_only(), off);
    run.check(0b11, ([7; 4], 0b11), 0);
}
