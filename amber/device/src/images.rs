//! Images and texels: what a script's buffer is to a job. Language reference, sections 7, 9.4 and 12.1.

use crate::DeviceError;
use alloc::vec::Vec;
use eitri_amber::run::HostBuffer;
use eitri_amber::script::{Buffer, Dimension};
use eitri_descriptors::formats::VkFormat;
use eitri_program::{Arch, ImageDimension};
use eitri_runtime::{ImageInfo, Tiling};

/// The format of a buffer's elements.
pub(crate) fn format_of(buffer: &Buffer) -> Result<&'static VkFormat, DeviceError> {
    let Some(name) = buffer.ty.format_name() else {
        let (name, ty) = (&buffer.name, &buffer.ty);
        return Err(DeviceError::Failed(format!(
            "{name} is bound as texels, and {ty} is no format"
        )));
    };
    match eitri_job::texel_format(&name) {
        Some(format) => Ok(format),
        // Textures and images of the hardware have no such format.
        None => Err(DeviceError::Lacks(format!("VK_FORMAT_{name}"))),
    }
}

/// The image that a buffer makes, from level `base` on: what a view of it would have.
pub(crate) fn image_of(
    buffer: &Buffer,
    host: &HostBuffer,
    base: u32,
    arch: Arch,
) -> Result<ImageInfo, DeviceError> {
    let format = format_of(buffer)?;
    let level = |size: u32| size.checked_shr(base).unwrap_or(0).max(1);
    let mut info = ImageInfo::two_d(format, level(host.size.0), level(host.size.1));
    info.dimension = match buffer.dimension {
        Some(Dimension::One) => ImageDimension::OneD,
        Some(Dimension::Three) => ImageDimension::ThreeD,
        Some(Dimension::Two) | None => ImageDimension::TwoD,
    };
    if info.dimension == ImageDimension::ThreeD {
        info.depth = level(buffer.depth);
    }
    info.levels = buffer.mip_levels.saturating_sub(base).max(1);
    info.samples = buffer.samples;
    if info.samples > 1 {
        info.tiling = Tiling::UInterleaved;
    }
    let single = ImageInfo { samples: 1, ..info };
    match info.check_for(arch) {
        Ok(()) => Ok(info),
        // It is the samples alone that the hardware lacks.
        Err(_) if info.samples.is_power_of_two() && single.check_for(arch).is_ok() => {
            let samples = info.samples;
            Err(DeviceError::Lacks(format!("VK_SAMPLE_COUNT_{samples}_BIT")))
        }
        Err(error) => Err(DeviceError::Failed(format!("{}: {error}", buffer.name))),
    }
}

/// Bytes of all of a level.
pub(crate) fn level_bytes(info: &ImageInfo, level: u32) -> usize {
    let slices = u64::from(info.slices(level));
    usize::try_from(info.part_bytes(level).saturating_mul(slices)).unwrap_or(usize::MAX)
}

/// The texels of all levels of an image that begins at level `base` of a buffer: what was drawn there, or the first of the bytes
/// `here`, with zeros behind their end.
pub(crate) fn texels(info: &ImageInfo, (host, here): (&HostBuffer, &[u8]), base: u32) -> Vec<u8> {
    let mut texels = Vec::new();
    for level in 0..info.levels {
        let start = texels.len();
        let bytes = level_bytes(info, level);
        let drawn = host.drawn_level(base.saturating_add(level));
        texels.extend(drawn.unwrap_or(here).iter().take(bytes));
        texels.resize(start.saturating_add(bytes), 0);
    }
    texels
}
