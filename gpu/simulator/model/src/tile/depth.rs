//! Depth and stencil of a sample: quantisation, comparison, operations.
//!
//! Depth is f64, exact from f32 or from the plane, and is rounded once to its code; codes are compared as integers, those of
//! D32F as floats. The fragment's value stands on the left of a comparison.
//! Facts: hardware/graphics-model.md 3.2; hardware/graphics-raster.md 4.8; hardware/descriptors.md 21.

use eitri_descriptors::framebuffer::ZInternalFormat;
use eitri_descriptors::raster::{DepthClampMode, DepthSource, DepthStencil, StencilOp};
use eitri_descriptors::texture::Func;

/// Depth and stencil that the tile holds of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredZs {
    /// Code of the internal format; bits of an f32 for D32F.
    pub(crate) depth: u32,
    pub(crate) stencil: u8,
}

/// The code of a depth. What is no number is 0.
pub(crate) fn quantised(format: ZInternalFormat, depth: f64) -> u32 {
    let depth = if depth.is_nan() { 0.0 } else { depth };
    match greatest_code(format) {
        Some(greatest) => libm::rint(depth.clamp(0.0, 1.0) * f64::from(greatest)) as u32,
        // To nearest even, as the host converts.
        None => (depth as f32).to_bits(),
    }
}

/// The depth of a code.
pub(crate) fn depth_of(format: ZInternalFormat, code: u32) -> f64 {
    match greatest_code(format) {
        Some(greatest) => f64::from(code) / f64::from(greatest),
        None => f64::from(f32::from_bits(code)),
    }
}

fn greatest_code(format: ZInternalFormat) -> Option<u32> {
    match format {
        ZInternalFormat::D16 => Some(0xffff),
        ZInternalFormat::D24 => Some(0xff_ffff),
        ZInternalFormat::D32 => None,
    }
}

/// Whether a comparison holds; unordered values are only unequal.
#[inline(always)]
fn compares<T: PartialOrd>(function: Func, left: T, right: T) -> bool {
    match function {
        Func::Never => false,
        Func::Less => left < right,
        Func::Equal => left == right,
        Func::Lequal => left <= right,
        Func::Greater => left > right,
        Func::NotEqual => left != right,
        Func::Gequal => left >= right,
        Func::Always => true,
    }
}

/// Codes of the depths at the samples of a pixel.
pub(crate) type DepthCodes = [u32; 16];

/// Samples, a bit each, for which a test of what is stored and of a code holds.
#[inline(always)]
fn mask_of(stored: &[StoredZs], codes: &DepthCodes, holds: impl Fn(StoredZs, u32) -> bool) -> u16 {
    let samples = stored.iter().zip(codes).enumerate();
    samples.fold(0, |mask, (sample, (stored, code))| {
        mask | u16::from(holds(*stored, *code)) << sample
    })
}

/// Samples for which a comparison holds between the values of the codes and of what is stored.
#[inline(always)]
fn passing_values<T: PartialOrd>(
    function: Func,
    stored: &[StoredZs],
    codes: &DepthCodes,
    value: impl Fn(u32) -> T,
) -> u16 {
    mask_of(stored, codes, |stored, code| {
        compares(function, value(code), value(stored.depth))
    })
}

/// The stencil value after an operation.
pub(crate) fn stencil_after(op: StencilOp, old: u8, reference: u8, write_mask: u8) -> u8 {
    let new = match op {
        StencilOp::Keep => old,
        StencilOp::Replace => reference,
        StencilOp::Zero => 0,
        StencilOp::Invert => !old,
        StencilOp::IncrWrap => old.wrapping_add(1),
        StencilOp::DecrWrap => old.wrapping_sub(1),
        StencilOp::IncrSat => old.saturating_add(1),
        StencilOp::DecrSat => old.saturating_sub(1),
    };
    new & write_mask | old & !write_mask
}

/// Stencil state of one face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StencilFace {
    pub(crate) function: Func,
    pub(crate) stencil_fail: StencilOp,
    pub(crate) depth_fail: StencilOp,
    pub(crate) depth_pass: StencilOp,
    pub(crate) write_mask: u8,
    pub(crate) value_mask: u8,
    pub(crate) reference: u8,
}

/// Bounds that a draw clamps depth to, where its descriptor asks for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthBounds {
    pub(crate) low: f32,
    pub(crate) high: f32,
}

/// Depth and stencil state of a draw, for one face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ZsState {
    pub(crate) depth_function: Func,
    pub(crate) depth_write: bool,
    pub(crate) depth_source: DepthSource,
    clamp: DepthClampMode,
    pub(crate) stencil_from_shader: bool,
    /// `None` where stencil is neither tested nor written.
    pub(crate) stencil: Option<StencilFace>,
}

impl ZsState {
    /// The state of a descriptor for front or back facing fragments; points and lines are front.
    pub(crate) fn of(descriptor: &DepthStencil, front: bool) -> ZsState {
        let d = descriptor;
        let face = if front {
            StencilFace {
                function: d.front_compare_function,
                stencil_fail: d.front_stencil_fail,
                depth_fail: d.front_depth_fail,
                depth_pass: d.front_depth_pass,
                write_mask: d.front_write_mask as u8,
                value_mask: d.front_value_mask as u8,
                reference: d.front_reference_value as u8,
            }
        } else {
            StencilFace {
                function: d.back_compare_function,
                stencil_fail: d.back_stencil_fail,
                depth_fail: d.back_depth_fail,
                depth_pass: d.back_depth_pass,
                write_mask: d.back_write_mask as u8,
                value_mask: d.back_value_mask as u8,
                reference: d.back_reference_value as u8,
            }
        };
        ZsState {
            depth_function: d.depth_function,
            depth_write: d.depth_write_enable,
            depth_source: d.depth_source,
            clamp: d.depth_clamp_mode,
            stencil_from_shader: d.stencil_from_shader,
            stencil: d.stencil_test_enable.then_some(face),
        }
    }

    /// The depth that is tested: from its source, then clamped. What is no number is 0.
    pub(crate) fn tested_depth(
        &self,
        fixed: f64,
        emitted: Option<f32>,
        bounds: DepthBounds,
    ) -> f64 {
        let depth = match (self.depth_source, emitted) {
            (DepthSource::Minimum, _) => 0.0,
            (DepthSource::Maximum, _) => 1.0,
            (DepthSource::Shader, Some(depth)) => f64::from(depth),
            // A program that should have given a depth and did not leaves that of the primitive (free choice).
            (DepthSource::FixedFunction | DepthSource::Shader, _) => fixed,
        };
        if depth.is_nan() {
            return 0.0;
        }
        match self.clamp {
            DepthClampMode::Zero1 => depth.clamp(0.0, 1.0),
            DepthClampMode::Bounds => depth.max(bounds.low.into()).min(bounds.high.into()),
        }
    }

    /// Whether a fragment that fails leaves stencil as it is, so that it may be dropped before its late test.
    pub(crate) fn failing_changes_nothing(&self) -> bool {
        self.stencil.is_none_or(|face| {
            let keeps = face.stencil_fail == StencilOp::Keep && face.depth_fail == StencilOp::Keep;
            keeps || face.write_mask == 0
        })
    }

    /// Tests one sample: stencil, then depth. Gives what it leaves in the tile, and whether it passes.
    pub(crate) fn tested(
        &self,
        format: ZInternalFormat,
        stored: StoredZs,
        depth: u32,
        emitted_stencil: Option<u8>,
    ) -> (StoredZs, bool) {
        let passes_depth = if format == ZInternalFormat::D32 {
            let (left, right) = (f32::from_bits(depth), f32::from_bits(stored.depth));
            compares(self.depth_function, left, right)
        } else {
            compares(self.depth_function, depth, stored.depth)
        };
        let (op, passes_stencil) = match &self.stencil {
            None => (None, true),
            Some(face) => {
                let reference = self.reference(face, emitted_stencil);
                let [left, right] = [reference, stored.stencil].map(|it| it & face.value_mask);
                let passes = compares(face.function, left, right);
                let op = match (passes, passes_depth) {
                    (false, _) => face.stencil_fail,
                    (true, false) => face.depth_fail,
                    (true, true) => face.depth_pass,
                };
                let after = stencil_after(op, stored.stencil, reference, face.write_mask);
                (Some(after), passes)
            }
        };
        let passes = passes_stencil && passes_depth;
        let left = StoredZs {
            depth: if passes && self.depth_write {
                depth
            } else {
                stored.depth
            },
            stencil: op.unwrap_or(stored.stencil),
        };
        (left, passes)
    }

    /// The samples of a pixel whose tests pass, by the codes of their depths; changes nothing.
    pub(crate) fn passing_samples(
        &self,
        format: ZInternalFormat,
        stored: &[StoredZs],
        codes: &DepthCodes,
        emitted_stencil: Option<u8>,
    ) -> u16 {
        if self.stencil.is_none() {
            return self.passing_depths(format, stored, codes);
        }
        mask_of(stored, codes, |stored, code| {
            self.tested(format, stored, code, emitted_stencil).1
        })
    }

    /// Tests the samples of `coverage` of a pixel, by the codes of their depths; gives those that pass. What [`ZsState::tested`] leaves
    /// of each is stored.
    pub(crate) fn update_samples(
        &self,
        format: ZInternalFormat,
        stored: &mut [StoredZs],
        codes: &DepthCodes,
        (coverage, emitted_stencil): (u16, Option<u8>),
    ) -> u16 {
        let is_covered = |sample: usize| coverage >> sample & 1 != 0;
        let samples = stored.iter_mut().zip(codes).enumerate();
        if self.stencil.is_some() {
            let covered = samples.filter(|(sample, _)| is_covered(*sample));
            return covered.fold(0, |mask, (sample, (stored, code))| {
                let (left, passes) = self.tested(format, *stored, *code, emitted_stencil);
                *stored = left;
                mask | u16::from(passes) << sample
            });
        }
        let passing = self.passing_depths(format, stored, codes) & coverage;
        if self.depth_write && passing != 0 {
            for (sample, (stored, code)) in stored.iter_mut().zip(codes).enumerate() {
                if passing >> sample & 1 != 0 {
                    stored.depth = *code;
                }
            }
        }
        passing
    }

    /// The samples of a pixel whose depth passes.
    fn passing_depths(
        &self,
        format: ZInternalFormat,
        stored: &[StoredZs],
        codes: &DepthCodes,
    ) -> u16 {
        if format == ZInternalFormat::D32 {
            passing_values(self.depth_function, stored, codes, f32::from_bits)
        } else {
            passing_values(self.depth_function, stored, codes, |code| code)
        }
    }

    fn reference(&self, face: &StencilFace, emitted: Option<u8>) -> u8 {
        emitted
            .filter(|_| self.stencil_from_shader)
            .unwrap_or(face.reference)
    }
}

#[cfg(test)]
#[path = "depth_tests.rs"]
mod tests;
