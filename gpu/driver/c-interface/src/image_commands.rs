//! Commands that copy, clear and scale images.

use crate::draw_handles::EitriImage;
use crate::handles::{EitriBuffer, Handle};
use crate::record::{EitriRecorder, put};
use crate::status::{EitriStatus, Refusal};
use eitri_runtime::{
    BlitFilter, BlitRegion, BufferImageCopy, ClearColor, ImageCopy, ImageRange, ImageSubresource,
};

/// Texels of some layers of a level of an image.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriRegion {
    /// The image.
    pub image: EitriImage,
    /// The level.
    pub level: u32,
    /// The first layer.
    pub layer: u32,
    /// Layers; 0 is as 1.
    pub layers: u32,
    /// The first texel, in x and y.
    pub x: u32,
    /// See `x`.
    pub y: u32,
    /// Texels along x.
    pub width: u32,
    /// Texels along y.
    pub height: u32,
}

impl EitriRegion {
    fn subresource(&self) -> ImageSubresource {
        ImageSubresource {
            aspect: None,
            level: self.level,
            layer: self.layer,
            layers: self.layers.max(1),
        }
    }

    fn first(&self) -> [u32; 3] {
        [self.x, self.y, 0]
    }

    fn extent(&self) -> [u32; 3] {
        [self.width, self.height, 1]
    }

    fn corners(&self) -> [[i32; 3]; 2] {
        let whole = |texel: u32| i32::try_from(texel).unwrap_or(i32::MAX);
        let (right, lower) = (
            self.x.saturating_add(self.width),
            self.y.saturating_add(self.height),
        );
        [
            [whole(self.x), whole(self.y), 0],
            [whole(right), whole(lower), 1],
        ]
    }
}

/// A region of the caller's.
///
/// # Safety
/// `region` is null, or there.
unsafe fn region<'a>(region: *const EitriRegion) -> Result<&'a EitriRegion, Refusal> {
    // SAFETY: the caller's promise.
    unsafe { region.as_ref() }.ok_or(Refusal::Argument("a region is null"))
}

/// Where the texels of a region lie in a buffer.
fn in_buffer(region: &EitriRegion, offset: u64, row_length: u32) -> BufferImageCopy {
    BufferImageCopy {
        buffer_offset: offset,
        row_length,
        image_height: 0,
        subresource: region.subresource(),
        offset: region.first(),
        extent: region.extent(),
    }
}

/// Copies texels from a buffer, from `offset` on, to an image. `row_length` texels lie from one row in the buffer to the next; 0: as
/// many as are copied. EITRI_ACCESS_COPIES orders it.
///
/// # Safety
/// `recorder` is what the function that records was given; `to` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_copy_buffer_to_image(
    recorder: *mut EitriRecorder,
    from: EitriBuffer,
    offset: u64,
    row_length: u32,
    to: *const EitriRegion,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let to = region(to)?;
            let copy = in_buffer(to, offset, row_length);
            it.copy_buffer_to_image(from.own()?, to.image.own()?, &copy)?;
            Ok(())
        })
    }
}

/// Copies texels from an image to a buffer, as eitri_cmd_copy_buffer_to_image() does the other way.
///
/// # Safety
/// `recorder` is what the function that records was given; `from` is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_copy_image_to_buffer(
    recorder: *mut EitriRecorder,
    from: *const EitriRegion,
    to: EitriBuffer,
    offset: u64,
    row_length: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let from = region(from)?;
            let copy = in_buffer(from, offset, row_length);
            it.copy_image_to_buffer(from.image.own()?, to.own()?, &copy)?;
            Ok(())
        })
    }
}

/// Copies texels of one image to another, bit by bit: their texels have as many bytes. Width, height and layers are those of `from`.
/// EITRI_ACCESS_COPIES orders it.
///
/// # Safety
/// `recorder` is what the function that records was given; `from` and `to` are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_copy_image(
    recorder: *mut EitriRecorder,
    from: *const EitriRegion,
    to: *const EitriRegion,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let (from, to) = (region(from)?, region(to)?);
            let copy = ImageCopy {
                from: from.subresource(),
                from_offset: from.first(),
                to: ImageSubresource {
                    layers: from.layers.max(1),
                    ..to.subresource()
                },
                to_offset: to.first(),
                extent: from.extent(),
            };
            it.copy_image(from.image.own()?, to.image.own()?, &copy)?;
            Ok(())
        })
    }
}

/// Scales texels of one image to a region of another, and converts them to its format: from the nearest texel, or `linear`ly mixed. It
/// is a pass: EITRI_ACCESS_ATTACHMENTS orders what is written, EITRI_ACCESS_SHADERS what is read.
///
/// # Safety
/// `recorder` is what the function that records was given; `from` and `to` are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_blit_image(
    recorder: *mut EitriRecorder,
    from: *const EitriRegion,
    to: *const EitriRegion,
    linear: u32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let (from, to) = (region(from)?, region(to)?);
            let filter = match linear {
                0 => BlitFilter::Nearest,
                _ => BlitFilter::Linear,
            };
            let blit = BlitRegion {
                from: from.subresource(),
                from_corners: from.corners(),
                to: to.subresource(),
                to_corners: to.corners(),
            };
            it.blit_image(from.image.own()?, to.image.own()?, filter, &blit)?;
            Ok(())
        })
    }
}

/// Clears all levels and layers of an image to a colour: red, green, blue and alpha. It is a pass: EITRI_ACCESS_ATTACHMENTS orders it.
///
/// # Safety
/// `recorder` is what the function that records was given; `color` has four components.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_clear_image(
    recorder: *mut EitriRecorder,
    image: EitriImage,
    color: *const f32,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            let missing = Refusal::Argument("color is null");
            let color = *color.cast::<[f32; 4]>().as_ref().ok_or(missing)?;
            it.clear_color_image(image.own()?, ClearColor::Float(color), ImageRange::ALL)?;
            Ok(())
        })
    }
}

/// Makes all levels of an image from its first one. It is ordered as eitri_cmd_blit_image() is.
///
/// # Safety
/// `recorder` is what the function that records was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_cmd_generate_levels(
    recorder: *mut EitriRecorder,
    image: EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        put(recorder, |it| {
            it.generate_levels(image.own()?)?;
            Ok(())
        })
    }
}
