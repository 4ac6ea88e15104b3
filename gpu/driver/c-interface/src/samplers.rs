//! Samplers, as C gives them.

use crate::comparison::compare;
use crate::device::{EitriDevice, done};
use crate::draw_handles::EitriGraphicsSet;
use crate::handles::{EitriSet, Handle};
use crate::status::{EitriStatus, Refusal};
use eitri_runtime::{BindingElement, SamplerInfo, WrapMode};

/// Outside of an image are the texels of its edge.
pub const EITRI_WRAP_CLAMP_TO_EDGE: u32 = 0;
/// The image is repeated.
pub const EITRI_WRAP_REPEAT: u32 = 1;
/// The image is repeated, each one mirrored.
pub const EITRI_WRAP_MIRRORED_REPEAT: u32 = 2;
/// Outside of an image is the sampler's border.
pub const EITRI_WRAP_CLAMP_TO_BORDER: u32 = 3;
/// The image is mirrored once; further outside are the texels of its edge.
pub const EITRI_WRAP_MIRRORED_CLAMP_TO_EDGE: u32 = 4;

/// A sampler. One that is all zeros takes the nearest texel of the first level, clamped to the edge.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSampler {
    /// Not 0: texels are mixed where the image is made larger.
    pub magnify_linear: u32,
    /// Not 0: texels are mixed where the image is made smaller.
    pub minify_linear: u32,
    /// Not 0: levels are mixed.
    pub levels_linear: u32,
    /// EITRI_WRAP_…, along each axis.
    pub wrap: [u32; 3],
    /// Least level.
    pub least_level: f32,
    /// Greatest level.
    pub greatest_level: f32,
    /// Added to the level.
    pub level_bias: f32,
    /// Probes along the longer axis, 2 to 16; 0 and 1 are none.
    pub anisotropy: u32,
    /// Not 0: a reference is compared with texels, by `compare`.
    pub compares: u32,
    /// EITRI_COMPARE_…: the reference, then the texel.
    pub compare: u32,
    /// Not 0: coordinates count texels.
    pub counts_texels: u32,
    /// The border, for EITRI_WRAP_CLAMP_TO_BORDER: four floats, or integers, by their bits.
    pub border: [u32; 4],
}

fn wrap(number: u32) -> Result<WrapMode, Refusal> {
    Ok(match number {
        EITRI_WRAP_CLAMP_TO_EDGE => WrapMode::ClampToEdge,
        EITRI_WRAP_REPEAT => WrapMode::Repeat,
        EITRI_WRAP_MIRRORED_REPEAT => WrapMode::MirroredRepeat,
        EITRI_WRAP_CLAMP_TO_BORDER => WrapMode::ClampToBorder,
        EITRI_WRAP_MIRRORED_CLAMP_TO_EDGE => WrapMode::MirroredClampToEdge,
        _ => return Err(Refusal::Argument("wrap is none of EITRI_WRAP_…")),
    })
}

/// A sampler of the caller's.
///
/// # Safety
/// `sampler` is null, or there.
unsafe fn sampler_info(sampler: *const EitriSampler) -> Result<SamplerInfo, Refusal> {
    let missing = Refusal::Argument("sampler is null");
    // SAFETY: the caller's promise.
    let from = unsafe { sampler.as_ref() }.ok_or(missing)?;
    let [x, y, z] = from.wrap;
    Ok(SamplerInfo {
        magnify_linear: from.magnify_linear != 0,
        minify_linear: from.minify_linear != 0,
        mipmap_linear: from.levels_linear != 0,
        wrap: [wrap(x)?, wrap(y)?, wrap(z)?],
        lod_bias: from.level_bias,
        min_lod: from.least_level,
        max_lod: from.greatest_level,
        max_anisotropy: from.anisotropy.max(1),
        compare: match from.compares {
            0 => None,
            _ => Some(compare(from.compare)?),
        },
        unnormalized: from.counts_texels != 0,
        border: from.border,
    })
}

/// Binds a sampler to a binding of a compute shader's set. Commands that were recorded with the set are recorded again.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `sampler` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_sampler(
    device: *mut EitriDevice,
    set: EitriSet,
    binding: u32,
    sampler: *const EitriSampler,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let info = sampler_info(sampler)?;
            Ok(it.bind_sampler(set.own()?, BindingElement::first(binding), &info)?)
        })
    }
}

/// Binds a sampler, in every stage that has the binding.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `sampler` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_graphics_sampler(
    device: *mut EitriDevice,
    set: EitriGraphicsSet,
    binding: u32,
    sampler: *const EitriSampler,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let info = sampler_info(sampler)?;
            Ok(it.bind_in_stages(set.own()?, |it, set| {
                it.bind_sampler(set, BindingElement::first(binding), &info)
            })?)
        })
    }
}
