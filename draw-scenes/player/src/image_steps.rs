//! Recording a drawing's steps on images outside of passes.

use crate::resources::Made;
use alloc::vec::Vec;
use eitri_drawing::state::{
    self, Aspect, BlitBox, BufferImageRegion, Color, Filter, ImageRegion, Subresource,
};
use eitri_drawing::{ImageStep, LevelRange};
use eitri_job::WorkError;
use eitri_runtime::{
    BlitFilter, BlitRegion, BufferImageCopy, ClearColor, ImageCopy, ImageInfo, ImageRange,
    ImageSubresource, Platform, Recorder,
};

/// Records a step.
pub(crate) fn record<P: Platform>(
    recorder: &mut Recorder<'_, '_, '_, P>,
    step: &ImageStep,
    made: &Made<'_>,
) -> Result<(), WorkError> {
    match step {
        ImageStep::CopyBufferToImage { from, to, regions } => {
            let (buffer, (image, info)) = (made.buffer(*from)?, made.image(*to)?);
            for copy in regions.iter().flat_map(|region| copies(region, &info)) {
                recorder.copy_buffer_to_image(buffer, image, &copy)?;
            }
        }
        ImageStep::CopyImageToBuffer { from, to, regions } => {
            let ((image, info), buffer) = (made.image(*from)?, made.buffer(*to)?);
            for copy in regions.iter().flat_map(|region| copies(region, &info)) {
                recorder.copy_image_to_buffer(image, buffer, &copy)?;
            }
        }
        ImageStep::CopyImage { from, to, regions } => {
            let ((from, _), (to, _)) = (made.image(*from)?, made.image(*to)?);
            for copy in regions.iter().flat_map(image_copies) {
                recorder.copy_image(from, to, &copy)?;
            }
        }
        ImageStep::Resolve { from, to, regions } => {
            let ((from, _), (to, _)) = (made.image(*from)?, made.image(*to)?);
            for copy in regions.iter().flat_map(image_copies) {
                recorder.resolve_image(from, to, &copy)?;
            }
        }
        ImageStep::Blit {
            from,
            to,
            filter,
            regions,
        } => {
            let ((from, _), (to, _)) = (made.image(*from)?, made.image(*to)?);
            let filter = match filter {
                Filter::Nearest => BlitFilter::Nearest,
                Filter::Linear => BlitFilter::Linear,
            };
            for region in regions {
                for aspect in aspects(region.src.aspect) {
                    let part = |it: &BlitBox| subresource(aspect, it.level, it.layer, it.layers);
                    let blit = BlitRegion {
                        from: part(&region.src),
                        from_corners: [region.src.from, region.src.to],
                        to: part(&region.dst),
                        to_corners: [region.dst.from, region.dst.to],
                    };
                    recorder.blit_image(from, to, filter, &blit)?;
                }
            }
        }
        ImageStep::ClearColor {
            image,
            color,
            range,
        } => {
            let color = match *color {
                Color::Float(color) => ClearColor::Float(color),
                Color::Int(color) => ClearColor::Int(color),
                Color::Uint(color) => ClearColor::Uint(color),
            };
            let (image, _) = made.image(*image)?;
            recorder.clear_color_image(image, color, self::range(range))?;
        }
        ImageStep::ClearDepthStencil {
            image,
            depth,
            stencil,
            range,
        } => {
            let (image, _) = made.image(*image)?;
            // A stencil value has 8 bits.
            let stencil = stencil.map(|stencil| stencil as u8);
            recorder.clear_depth_stencil_image(image, *depth, stencil, self::range(range))?;
        }
    }
    Ok(())
}

const fn range(range: &LevelRange) -> ImageRange {
    ImageRange {
        level: range.level,
        levels: range.levels,
        layer: range.layer,
        layers: range.layers,
    }
}

/// The aspects of the driver that an aspect of a drawing stands for.
pub(crate) fn aspects(aspect: Aspect) -> Vec<eitri_runtime::Aspect> {
    use eitri_runtime::Aspect as Of;
    match aspect {
        Aspect::Color => [Of::Color].into(),
        Aspect::Depth => [Of::Depth].into(),
        Aspect::Stencil => [Of::Stencil].into(),
        Aspect::DepthStencil => [Of::Depth, Of::Stencil].into(),
    }
}

const fn subresource(
    aspect: eitri_runtime::Aspect,
    level: u32,
    layer: u32,
    layers: u32,
) -> ImageSubresource {
    ImageSubresource {
        aspect: Some(aspect),
        level,
        layer,
        layers,
    }
}

/// A place of a copy, which lies in the image. What is left of it or above is refused as what is right of it.
fn offset(offset: [i32; 3]) -> [u32; 3] {
    offset.map(|it| u32::try_from(it).unwrap_or(u32::MAX))
}

fn copies(region: &BufferImageRegion, info: &ImageInfo) -> Vec<BufferImageCopy> {
    let copy = |aspect| BufferImageCopy {
        buffer_offset: region.buffer_offset,
        row_length: region.row_length,
        image_height: region.image_height,
        subresource: subresource(aspect, region.level, region.layer, region.layers),
        offset: offset(region.offset),
        extent: region
            .extent
            .unwrap_or_else(|| info.level_size(region.level)),
    };
    aspects(region.aspect).into_iter().map(copy).collect()
}

fn image_copies(region: &ImageRegion) -> Vec<ImageCopy> {
    let part = |aspect, it: &Subresource| subresource(aspect, it.level, it.layer, it.layers);
    // Aspects stand in pairs; one of depth may go to one of colour.
    let pairs = aspects(region.src.aspect)
        .into_iter()
        .zip(aspects(region.dst.aspect));
    let copy = |(from, to)| ImageCopy {
        from: part(from, &region.src),
        from_offset: offset(region.src.offset),
        to: part(to, &region.dst),
        to_offset: offset(region.dst.offset),
        extent: region.extent,
    };
    pairs.map(copy).collect()
}

/// The aspect of the driver that contents of an image are of; of colour it is the image's only one.
pub(crate) fn aspect_of(aspect: state::Aspect) -> Option<eitri_runtime::Aspect> {
    match aspect {
        Aspect::Color => None,
        other => aspects(other).first().copied(),
    }
}

/// Bytes of a slice of a level of an aspect.
pub(crate) fn slice_bytes(info: &ImageInfo, aspect: state::Aspect, level: u32) -> usize {
    let bytes = match aspect_of(aspect) {
        None => info.part_bytes(level),
        // An aspect that the image does not have is refused where it is read or written.
        Some(aspect) => info.aspect_bytes(aspect, level).unwrap_or(0),
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}
