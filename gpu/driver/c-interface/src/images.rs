//! Images, and the memory of the tiler.

use crate::device::{CDevice, EitriDevice, done, make};
use crate::draw_handles::{EitriImage, EitriTilerHeap};
use crate::handles::{EitriQueue, EitriSet, EitriSpace, Handle};
use crate::memory::{NO_BYTES, array, array_mut};
use crate::status::{EitriStatus, Refusal};
use core::ffi::{CStr, c_char, c_void};
use eitri_runtime::{
    BindingElement, ImageInfo, ImagePart, ImageUses, TilerHeapConfig, Tiling, VkFormat,
};

/// A use of an image: passes render to it.
pub const EITRI_USE_ATTACHMENT: u32 = 1;
/// Shaders sample it, or fetch its texels.
pub const EITRI_USE_SAMPLED: u32 = 2;
/// Shaders use it as a storage image.
pub const EITRI_USE_STORAGE: u32 = 4;
/// The host reads or writes it: eitri_read_image(), eitri_write_image().
pub const EITRI_USE_HOST: u32 = 8;

/// What an image of two dimensions is to be.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriImageInfo {
    /// Vulkan's name of its format, without VK_FORMAT_: "R8G8B8A8_UNORM", "D32_SFLOAT".
    pub format: *const c_char,
    /// Texels along x.
    pub width: u32,
    /// Texels along y.
    pub height: u32,
    /// Layers; 0 is as 1.
    pub layers: u32,
    /// Levels, each half as large as the one before; 0 is as 1.
    pub levels: u32,
    /// Samples of a texel: 1, 4, 8, 16; 2 from architecture 12 on. 0 is as 1.
    pub samples: u32,
    /// Not 0: texels lie row by row, as a display reads them. With one sample alone.
    pub linear: u32,
    /// All that the image is for, of EITRI_USE_ATTACHMENT and its like; 0: anything. What is rendered to and sampled, and nothing else,
    /// is compressed without loss (AFBC) where its format allows that.
    pub uses: u32,
}

/// The format of this name.
///
/// # Safety
/// `name` is null, or ends with a zero.
pub(crate) unsafe fn format(
    device: &CDevice,
    name: *const c_char,
) -> Result<&'static VkFormat, Refusal> {
    if name.is_null() {
        return Err(Refusal::Argument("a format's name is null"));
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    VkFormat::of_name(device.properties().arch, name).ok_or(Refusal::Argument(
        "the GPU has no format of this name: names are Vulkan's, without VK_FORMAT_",
    ))
}

/// Makes an image of two dimensions, full of zeros.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `info` is there, and its name ends with a zero; `image` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_image(
    device: *mut EitriDevice,
    space: EitriSpace,
    info: *const EitriImageInfo,
    image: *mut EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, image, |it| {
            let info = image_info(it, info)?;
            Ok(it.create_image(space.own()?, info)?)
        })
    }
}

/// The driver's description of an image, made of C's.
///
/// # Safety
/// `info` is null, or there, and its name ends with a zero.
pub(crate) unsafe fn image_info(
    device: &CDevice,
    info: *const EitriImageInfo,
) -> Result<ImageInfo, Refusal> {
    // SAFETY: the caller's promise.
    let info = unsafe { info.as_ref() }.ok_or(Refusal::Argument("info is null"))?;
    // SAFETY: the caller's promise.
    let format = unsafe { format(device, info.format)? };
    let uses = uses(info.uses)?;
    let made = ImageInfo {
        layers: info.layers.max(1),
        levels: info.levels.max(1),
        samples: info.samples.max(1),
        tiling: Tiling::UInterleaved,
        ..ImageInfo::two_d(format, info.width, info.height)
    };
    let tiling = match (info.linear, uses) {
        (0, Some(uses)) => made.for_uses(uses).tiling,
        (0, None) => Tiling::UInterleaved,
        _ => Tiling::Linear,
    };
    Ok(ImageInfo { tiling, ..made })
}

/// The uses of an image; `None` if it is for anything.
fn uses(bits: u32) -> Result<Option<ImageUses>, Refusal> {
    const ALL: [(u32, ImageUses); 4] = [
        (EITRI_USE_ATTACHMENT, ImageUses::ATTACHMENT),
        (EITRI_USE_SAMPLED, ImageUses::SAMPLED),
        (EITRI_USE_STORAGE, ImageUses::STORAGE),
        (EITRI_USE_HOST, ImageUses::HOST),
    ];
    let (mut uses, mut left) = (ImageUses::NONE, bits);
    for (bit, one) in ALL {
        if bits & bit != 0 {
            (uses, left) = (uses | one, left & !bit);
        }
    }
    match left {
        0 => Ok((bits != 0).then_some(uses)),
        _ => Err(Refusal::Argument("uses has bits that are no EITRI_USE_...")),
    }
}

/// Destroys an image that no job in flight uses.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_image(
    device: *mut EitriDevice,
    image: EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_image(image.own()?)?)) }
}

/// Writes all texels of a level of a layer, row by row without gaps.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `texels` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_write_image(
    device: *mut EitriDevice,
    image: EitriImage,
    level: u32,
    layer: u32,
    texels: *const c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let texels = array(texels.cast::<u8>(), bytes, NO_BYTES)?;
            Ok(it.write_image(image.own()?, part(level, layer), texels)?)
        })
    }
}

/// Reads all texels of a level of a layer, row by row without gaps. What jobs that are done have written is seen.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `texels` has so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_read_image(
    device: *mut EitriDevice,
    image: EitriImage,
    level: u32,
    layer: u32,
    texels: *mut c_void,
    bytes: usize,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            let texels = array_mut(texels.cast::<u8>(), bytes, NO_BYTES)?;
            Ok(it.read_image(image.own()?, part(level, layer), texels)?)
        })
    }
}

/// Binds all of an image to a binding of a compute shader's set, to be sampled or as a storage image, whichever the shader has there.
/// Commands that were recorded with the set are recorded again.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_bind_image(
    device: *mut EitriDevice,
    set: EitriSet,
    binding: u32,
    image: EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            Ok(it.bind_image(set.own()?, BindingElement::first(binding), image.own()?)?)
        })
    }
}

fn part(level: u32, layer: u32) -> ImagePart {
    ImagePart {
        level,
        layer,
        ..ImagePart::default()
    }
}

/// Makes memory for the tiler of a queue, in the queue's space, and gives it to the queue: without it the queue draws nothing.
/// `chunks` of 2 MiB at first and `most_chunks` at most; both 0: as most need, 5 and 64.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `heap` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_create_tiler_heap(
    device: *mut EitriDevice,
    queue: EitriQueue,
    chunks: u32,
    most_chunks: u32,
    heap: *mut EitriTilerHeap,
) -> EitriStatus {
    let work = |it: &mut CDevice| {
        let usual = TilerHeapConfig::default();
        let config = match (chunks, most_chunks) {
            (0, 0) => usual,
            (initial, most) => TilerHeapConfig {
                initial,
                most,
                reserve: usual.reserve.min(most.saturating_sub(initial)),
                ..usual
            },
        };
        let queue = queue.own()?;
        let space = it.space(queue)?;
        let heap = it.create_tiler_heap(space, config)?;
        if let Err(error) = it.bind_tiler_heap(queue, heap) {
            // Nobody knows of it: it goes.
            let _ = it.destroy_tiler_heap(heap);
            return Err(error.into());
        }
        Ok(heap)
    };
    // SAFETY: the caller's promise.
    unsafe { make(device, heap, work) }
}

/// Destroys a tiler's memory; its queue has no job in flight.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_destroy_tiler_heap(
    device: *mut EitriDevice,
    heap: EitriTilerHeap,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.destroy_tiler_heap(heap.own()?)?)) }
}

/// Gives a heap chunks to grow by, after it has grown. To be called now and then where scenes grow.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_refill_tiler_heap(
    device: *mut EitriDevice,
    heap: EitriTilerHeap,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.refill_tiler_heap(heap.own()?)?)) }
}
