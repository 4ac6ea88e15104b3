//! ramfb: QEMU's display that reads a picture from the machine's memory, of whatever size it is told.
//!
//! The memory is the heap's, and is never given back.
//! Facts: the file of fw_cfg, marked below.

use super::fw_cfg::{File, FwCfg, FwCfgError};
use super::{Caching, Display, DisplayError};
use crate::memory;
use alloc::vec::Vec;
use core::slice;
use eitri_boards::RegisterBase;
use eitri_picture::{Mode, PixelFormat};

// FACT: no sheet has the file `etc/ramfb`: address (64 bits), four-character code of the format, flags, width, height, stride (32 bits each),
// all big-endian. It is QEMU's own interface. Settled by QEMU itself: the picture that `cargo eitri test --filter kernel` takes from the
// screen has the pixels that the shader wrote.
const FILE: &str = "etc/ramfb";
/// Four-character code of blue, green, red, and a byte that is not looked at.
const XRGB8888: u32 = u32::from_le_bytes(*b"XR24");

/// The screen is as large as this: a window of that size fits on every desk.
const WIDTH: usize = 1024;
const HEIGHT: usize = 768;

impl From<FwCfgError> for DisplayError {
    fn from(error: FwCfgError) -> DisplayError {
        DisplayError::FwCfg(error)
    }
}

/// A page of the display's memory.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

/// Sets the display up, black.
///
/// # Safety
/// These are the registers of fw_cfg, or nothing answers there; nobody else uses them.
pub(super) unsafe fn open(fw_cfg: RegisterBase) -> Result<Display, DisplayError> {
    // SAFETY: the caller's promise; the map proper is in use, since an image's main function has begun.
    let mut device = unsafe {
        memory::device(fw_cfg.address());
        FwCfg::open(fw_cfg)?
    };
    let file = device.file(FILE)?;
    let format = PixelFormat::X8R8G8B8;
    let mode = Mode::new(WIDTH, HEIGHT, WIDTH * format.bytes(), format);
    let mode = mode.map_err(DisplayError::Layout)?;
    let pages: &'static mut [Page] =
        Vec::leak(alloc::vec![Page([0; 4096]); mode.bytes().div_ceil(size_of::<Page>())]);
    // SAFETY: pages are bytes without gaps, and nobody else has them. The display only reads them.
    let memory: &'static mut [u8] =
        unsafe { slice::from_raw_parts_mut(pages.as_mut_ptr().cast(), size_of_val(pages)) };
    let address = memory.as_mut_ptr().expose_provenance() as u64;
    let mut ramfb = Ramfb { device, file };
    let mut display = Display::new(mode, memory, Caching::WriteBack);
    display.finish();
    let size = (WIDTH as u32, HEIGHT as u32);
    ramfb.read_from(address, size, display.mode.stride() as u32)?;
    display.movable = Some(ramfb);
    Ok(display)
}

/// The device, which reads where it was told last.
pub(super) struct Ramfb {
    device: FwCfg,
    file: File,
}

impl Ramfb {
    /// Lets it read a picture of so many pixels, with so many bytes from one row to the next. It only reads.
    pub(super) fn read_from(
        &mut self,
        address: u64,
        (width, height): (u32, u32),
        row_bytes: u32,
    ) -> Result<(), FwCfgError> {
        let mut words = [0; 28];
        let (start, numbers) = words.split_at_mut(8);
        start.copy_from_slice(&address.to_be_bytes());
        let wanted = [XRGB8888, 0, width, height, row_bytes];
        for (bytes, number) in numbers.chunks_exact_mut(4).zip(wanted) {
            bytes.copy_from_slice(&number.to_be_bytes());
        }
        self.device.write(&self.file, &words)
    }
}
