//! Order of a fragment's tests: early and late kill, early and late update of depth and stencil.
//!
//! One [`Fragment`] is one pixel of one primitive, or one sample of it where the program runs per sample. Its masks have a bit
//! a sample. Tests and updates themselves are [`SampleTests`]; here is only when they happen and to which samples.
//! Facts: hardware/graphics-model.md 4.2; hardware/graphics-raster.md 4.9, 4.11, 4.12.

use super::alpha_to_coverage;
use crate::tile::depth::ZsState;
use eitri_descriptors::raster::{DcdFlags0, DepthSource, OcclusionMode, PixelKill};

/// Depth and stencil tests of one pixel.
pub(crate) trait SampleTests {
    /// The samples of `coverage` that pass; changes nothing.
    fn passing(&self, coverage: u16) -> u16;

    /// Tests the samples of `coverage`, leaves what tests and operations leave in the tile, and gives those that pass.
    fn update(&mut self, coverage: u16, emitted: Emitted) -> u16;
}

/// What a ZS_EMIT gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Emitted {
    pub(crate) depth: Option<f32>,
    pub(crate) stencil: Option<u8>,
}

/// A program whose order of messages makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrderMisuse {
    /// A second ATEST.
    SecondAtest,
    /// A ZS_EMIT after the tests have been made: in a draw that updates early, or not expected by its descriptor.
    ZsEmitAfterTests,
    /// The program ended without the message that makes the late tests: ATEST, or the ZS_EMIT that was expected.
    NoLateTest,
}

/// When tests and updates of a draw happen, for one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    kills_early: bool,
    updates_early: bool,
    /// A sample that fails early may be dropped though updates come late.
    failing_changes_nothing: bool,
    expects_zs_emit: bool,
    alpha_to_coverage: bool,
    inverts_alpha_coverage: bool,
    counts: bool,
    samples: u32,
}

/// One pixel of one primitive on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Samples that are neither killed nor discarded.
    alive: u16,
    /// Samples that passed the early tests.
    passed: u16,
    /// Samples that an occlusion query counts.
    counted: u32,
    atest_done: bool,
    tests_done: bool,
}

impl Fragment {
    /// Coverage that a program starts with, in r60 and r61: 0 is a helper lane.
    pub(crate) fn coverage(&self) -> u16 {
        self.alive
    }

    /// Samples counted for the occlusion query of the draw so far.
    pub(crate) fn counted(&self) -> u32 {
        self.counted
    }

    /// The run of one sample of a program that is evaluated per sample. What was counted stays with the pixel.
    pub(crate) fn of_sample(&self, sample: u32) -> Fragment {
        let bit = 1_u16.checked_shl(sample).unwrap_or(0);
        Fragment {
            alive: self.alive & bit,
            passed: self.passed & bit,
            counted: 0,
            ..*self
        }
    }

    /// Discards the fragment: from here on it writes nothing.
    pub(crate) fn discard(&mut self) {
        self.alive = 0;
    }

    /// The samples that a BLEND or ST_TILE with this coverage writes.
    pub(crate) fn written(&self, coverage: u16) -> u16 {
        coverage & self.alive
    }
}

impl Order {
    /// The order that a draw's words ask for. Weak and strong early are early (hardware/graphics-raster.md 4.9).
    pub(crate) fn of(flags: &DcdFlags0, zs: &ZsState, samples: u32) -> Order {
        Order {
            kills_early: flags.pixel_kill_operation != PixelKill::ForceLate,
            updates_early: flags.zs_update_operation != PixelKill::ForceLate,
            failing_changes_nothing: zs.failing_changes_nothing(),
            expects_zs_emit: zs.depth_source == DepthSource::Shader || zs.stencil_from_shader,
            alpha_to_coverage: flags.alpha_to_coverage,
            inverts_alpha_coverage: flags.alpha_to_coverage_invert,
            counts: flags.occlusion_query != OcclusionMode::Disabled,
            samples,
        }
    }

    /// Whether tests and updates are over before the program runs.
    pub(crate) fn is_early(&self) -> bool {
        self.kills_early && self.updates_early
    }

    /// Early tests: `coverage` is what the rasteriser covers, under the sample mask and the boxes.
    pub(crate) fn begin(&self, coverage: u16, tests: &mut impl SampleTests) -> Fragment {
        let mut fragment = Fragment {
            alive: coverage,
            passed: coverage,
            ..Fragment::default()
        };
        if self.updates_early {
            self.update(&mut fragment, coverage, Emitted::default(), tests);
        } else if self.kills_early {
            fragment.passed = tests.passing(coverage);
        }
        if self.kills_early && (self.updates_early || self.failing_changes_nothing) {
            fragment.alive = fragment.passed;
        }
        fragment
    }

    /// ATEST: `pixel` are framebuffer coordinates. Gives the coverage that survives.
    ///
    /// # Errors
    /// [`OrderMisuse::SecondAtest`]; nothing is done then.
    pub(crate) fn atest(
        &self,
        fragment: &mut Fragment,
        coverage: u16,
        (alpha, pixel): (f32, [u32; 2]),
        tests: &mut impl SampleTests,
    ) -> Result<u16, OrderMisuse> {
        if fragment.atest_done {
            return Err(OrderMisuse::SecondAtest);
        }
        fragment.atest_done = true;
        fragment.alive &= coverage & self.alpha_mask(alpha, pixel);
        if self.updates_early {
            // Killed early, nothing is alive that failed.
            fragment.alive &= fragment.passed;
        } else if !self.expects_zs_emit {
            let alive = fragment.alive;
            fragment.alive = self.update(fragment, alive, Emitted::default(), tests);
        }
        Ok(fragment.alive)
    }

    /// ZS_EMIT: late tests with the program's values. Gives the coverage that survives.
    ///
    /// # Errors
    /// [`OrderMisuse::ZsEmitAfterTests`]; nothing is done then.
    pub(crate) fn zs_emit(
        &self,
        fragment: &mut Fragment,
        coverage: u16,
        emitted: Emitted,
        tests: &mut impl SampleTests,
    ) -> Result<u16, OrderMisuse> {
        if fragment.tests_done {
            return Err(OrderMisuse::ZsEmitAfterTests);
        }
        let coverage = coverage & fragment.alive;
        fragment.alive = self.update(fragment, coverage, emitted, tests);
        Ok(fragment.alive)
    }

    /// The end of a program.
    ///
    /// # Errors
    /// [`OrderMisuse::NoLateTest`] if samples are alive whose tests were never made.
    pub(crate) fn end(&self, fragment: &Fragment) -> Result<(), OrderMisuse> {
        if fragment.alive != 0 && !fragment.tests_done {
            return Err(OrderMisuse::NoLateTest);
        }
        Ok(())
    }

    /// All of a fragment of a draw without a program: an ATEST with alpha 1.
    pub(crate) fn without_program(&self, coverage: u16, tests: &mut impl SampleTests) -> Fragment {
        let mut fragment = self.begin(coverage, tests);
        let alive = fragment.alive;
        if alive != 0 && !self.updates_early {
            fragment.alive = self.update(&mut fragment, alive, Emitted::default(), tests);
        }
        fragment
    }

    fn update(
        &self,
        fragment: &mut Fragment,
        coverage: u16,
        emitted: Emitted,
        tests: &mut impl SampleTests,
    ) -> u16 {
        fragment.passed = tests.update(coverage, emitted) & coverage;
        fragment.tests_done = true;
        if self.counts {
            fragment.counted += fragment.passed.count_ones();
        }
        fragment.passed
    }

    /// Whether alpha decides which samples are covered.
    pub(crate) fn covers_by_alpha(&self) -> bool {
        self.alpha_to_coverage
    }

    /// The samples that alpha leaves: all of them without alpha to coverage.
    fn alpha_mask(&self, alpha: f32, pixel: [u32; 2]) -> u16 {
        if !self.alpha_to_coverage {
            return u16::MAX;
        }
        let covered = alpha_to_coverage::covered(self.samples, alpha, pixel);
        if self.inverts_alpha_coverage {
            !covered
        } else {
            covered
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
