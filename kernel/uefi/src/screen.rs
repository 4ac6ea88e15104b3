//! Screen: the memory that the firmware left a display reading, by its graphics output protocol.
//!
//! Guarantees: a screen without such memory, or with pixels that no device tree can name, is none.

// FACT: no sheet has UEFI's graphics output protocol. Base and bytes of the memory, sizes, pixels from one line to the next, and the
// order of colours are as the crate `uefi` gives them, which is written from the UEFI specification. Settled by EDK2: the check `uefi`
// takes QEMU's screen after an image was started so, and finds the picture that the image drew.

use uefi::boot::{self, OpenProtocolAttributes, OpenProtocolParams};
use uefi::proto::console::gop::{GraphicsOutput, PixelFormat};

/// Memory that a display reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// First address.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) bytes: u64,
    /// Pixels of a line.
    pub(crate) width: u32,
    /// Lines.
    pub(crate) height: u32,
    /// Bytes from one line to the next.
    pub(crate) stride: u32,
    /// The pixel format, as a device tree calls it.
    pub(crate) format: &'static str,
}

/// Masks of red, green and blue, with the bytes of a pixel and the format's name in device trees.
#[rustfmt::skip]
const FORMATS: &[([u32; 3], u32, &str)] = &[
    ([0x0000_00FF, 0x0000_FF00, 0x00FF_0000], 4, "x8b8g8r8"),
    ([0x00FF_0000, 0x0000_FF00, 0x0000_00FF], 4, "x8r8g8b8"),
    ([0x3FF0_0000, 0x000F_FC00, 0x0000_03FF], 4, "x2r10g10b10"),
    ([0x0000_F800, 0x0000_07E0, 0x0000_001F], 2, "r5g6b5"),
    ([0x0000_7C00, 0x0000_03E0, 0x0000_001F], 2, "x1r5g5b5"),
];

/// The screen that the firmware has set up, as it is now.
pub(crate) fn find() -> Option<Screen> {
    let handle = boot::get_handle_for_protocol::<GraphicsOutput>().ok()?;
    let params = OpenProtocolParams {
        handle,
        agent: boot::image_handle(),
        controller: None,
    };
    // SAFETY: nothing is called that changes the mode, and the firmware's own console, which writes to the same screen, writes nothing
    // while this function runs. An exclusive opening would end that console.
    let opened = unsafe {
        boot::open_protocol::<GraphicsOutput>(params, OpenProtocolAttributes::GetProtocol)
    };
    let mut output = opened.ok()?;
    let mode = output.current_mode_info();
    let masks = match mode.pixel_format() {
        PixelFormat::Rgb => FORMATS.first()?.0,
        PixelFormat::Bgr => FORMATS.get(1)?.0,
        PixelFormat::Bitmask => {
            let mask = mode.pixel_bitmask()?;
            [mask.red, mask.green, mask.blue]
        }
        // There is no memory behind it.
        PixelFormat::BltOnly => return None,
    };
    let (_, pixel, format) = FORMATS.iter().find(|(known, ..)| *known == masks)?;
    let (width, height) = mode.resolution();
    let stride = u32::try_from(mode.stride()).ok()?.checked_mul(*pixel)?;
    let mut memory = output.frame_buffer();
    Some(Screen {
        base: memory.as_mut_ptr().addr() as u64,
        bytes: memory.size() as u64,
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
        stride,
        format,
    })
}
