//! Images whose texels lie in memory of the caller's, and where others find the texels of an image: a display.

use crate::device::{EitriDevice, done, make};
use crate::draw_handles::EitriImage;
use crate::handles::{EitriSpace, Handle};
use crate::images::{EitriImageInfo, image_info};
use crate::platform::on_bus;
use crate::status::{EitriStatus, Refusal};
use eitri_runtime::{ImageInfo, Placement};

/// Memory of the caller's, and how the texels of an image lie in it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriPlacement {
    /// Where the GPU has the memory: its physical address, a multiple of 4096, inside of what the platform lends (`lent_bus_address`).
    pub bus_address: u64,
    /// Bytes of the memory, a multiple of 4096.
    pub bytes: u64,
    /// Bytes of it before the first texel, a multiple of 64.
    pub offset: u32,
    /// Bytes from one row of texels to the next, a multiple of 64; of an image that is not linear from one row of tiles to the next.
    pub row_bytes: u32,
}

/// Makes an image in memory of the caller's, with one level, one layer and one sample: a display's picture, which is `linear`. It holds
/// what the memory holds. eitri_read_image() and eitri_write_image() don't reach it: call eitri_get_scan_out() before the CPU reads the
/// texels where they lie, and eitri_imported_image_changed() after it has written some.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `info` and `place` are there, and the format's name ends with a zero; `image` may be
/// written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_import_image(
    device: *mut EitriDevice,
    space: EitriSpace,
    info: *const EitriImageInfo,
    place: *const EitriPlacement,
    image: *mut EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe {
        make(device, image, |it| {
            let place = place.as_ref().ok_or(Refusal::Argument("place is null"))?;
            let placed = Some(Placement {
                offset: place.offset,
                row_bytes: place.row_bytes,
            });
            let info = ImageInfo {
                placed,
                ..image_info(it, info)?
            };
            let memory = on_bus(place.bus_address, place.bytes);
            Ok(it.import_image(space.own()?, memory, info)?)
        })
    }
}

/// Lets jobs that are submitted from here on see what the caller has written into the memory of an imported image.
///
/// # Safety
/// `device` is null, or what eitri_open() gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_imported_image_changed(
    device: *mut EitriDevice,
    image: EitriImage,
) -> EitriStatus {
    // SAFETY: the caller's promise.
    unsafe { done(device, |it| Ok(it.imported_image_changed(image.own()?)?)) }
}

/// Where the rows of a picture lie.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriScanOut {
    /// Physical address of the first texel of the first row.
    pub bus_address: u64,
    /// Bytes from one row to the next.
    pub row_bytes: u64,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Says where a display finds the first level of an image that is `linear`, after what jobs that are done have drawn was written to
/// memory.
///
/// # Safety
/// `device` is null, or what eitri_open() gave; `scan_out` may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn eitri_get_scan_out(
    device: *mut EitriDevice,
    image: EitriImage,
    scan_out: *mut EitriScanOut,
) -> EitriStatus {
    const NOT_IN_ROWS: &str = "the image's rows do not lie one behind the other: it is not linear";
    // SAFETY: the caller's promise.
    unsafe {
        done(device, |it| {
            if scan_out.is_null() {
                return Err(Refusal::Argument("scan_out is null"));
            }
            let found = it.scan_out(image.own()?)?;
            let found = found.ok_or(Refusal::CannotBe(NOT_IN_ROWS))?;
            scan_out.write(EitriScanOut {
                bus_address: found.memory.0,
                row_bytes: found.row_bytes,
                width: found.width,
                height: found.height,
            });
            Ok(())
        })
    }
}
