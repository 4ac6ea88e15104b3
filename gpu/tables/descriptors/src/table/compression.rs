//! Formats whose images hardware compresses without loss (AFBC).
//!
//! Facts: hardware/graphics-framebuffer.md 5.8.4, hardware/descriptors.md 9.1.

use super::formats::VkFormat;
use super::plane::AfbcCompressionMode;

/// How texels of a format are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// The channels.
    pub mode: AfbcCompressionMode,
    /// Whether colours are stored after the reversible transform (YTR).
    pub transform: bool,
}

/// Formats whose names begin alike.
struct Family {
    prefix: &'static str,
    compression: Compression,
}

const fn plain(prefix: &'static str, mode: AfbcCompressionMode) -> Family {
    let transform = false;
    let compression = Compression { mode, transform };
    Family {
        prefix,
        compression,
    }
}

// FACT: with which channels the transform may be on is known of three or four of 8, 10 and 16 bits only
// (hardware/graphics-framebuffer.md 5.8.4): narrower ones, and floats of 11 and 10 bits, go without it. Settled by rendering to and
// sampling R5G6B5 with the bit on any board.
const fn transformed(prefix: &'static str, mode: AfbcCompressionMode) -> Family {
    let transform = true;
    let compression = Compression { mode, transform };
    Family {
        prefix,
        compression,
    }
}

use AfbcCompressionMode as Mode;

/// Every family. Those with channels of 32 bits, with a shared exponent or with alpha alone have no mode.
// FACT: no fact names the modes of depth of 24 and of 32 bits for a texture's plane (hardware/descriptors.md 9.1 has those of 16 bits
// and of the form with stencil in one plane): depth of 24 and 32 bits is not compressed. Settled by sampling depth of 32 bits that a
// pass has written with each mode of 32 bits, on any board.
// FACT: texels of three and six bytes have modes, but how raw ones are written back is not established
// (hardware/graphics-framebuffer.md 5.4): they are not compressed. Settled by rendering to R8G8B8_SNORM.
#[rustfmt::skip]
static FAMILIES: &[Family] = &[
    plain("R8_",                    Mode::R8),
    plain("R16_",                   Mode::R16),
    plain("R8G8_",                  Mode::R8G8),
    plain("R16G16_",                Mode::R16G16),
    plain("R5G6B5_",                Mode::R5G6B5),
    plain("B5G6R5_",                Mode::R5G6B5),
    plain("R4G4B4A4_",              Mode::R4G4B4A4),
    plain("B4G4R4A4_",              Mode::R4G4B4A4),
    plain("A4R4G4B4_",              Mode::R4G4B4A4),
    plain("A4B4G4R4_",              Mode::R4G4B4A4),
    plain("A1R5G5B5_",              Mode::R5G5B5A1),
    plain("A1B5G5R5_",              Mode::R5G5B5A1),
    transformed("R8G8B8A8_",        Mode::R8G8B8A8),
    transformed("B8G8R8A8_",        Mode::R8G8B8A8),
    transformed("A8B8G8R8_",        Mode::R8G8B8A8),
    transformed("A2R10G10B10_",     Mode::R10G10B10A2),
    transformed("A2B10G10R10_",     Mode::R10G10B10A2),
    plain("B10G11R11_UFLOAT",       Mode::R11G11B10),
    transformed("R16G16B16A16_",    Mode::R16G16B16A16),
    plain("D16_UNORM",              Mode::R8G8),
    plain("S8_UINT",                Mode::S8),
];

impl VkFormat {
    /// How hardware compresses texels of the format without loss; `None` if it does not, or if the format is none of attachments.
    pub fn compression(&self) -> Option<Compression> {
        let mut all = FAMILIES.iter();
        let family = all.find(|family| self.name.starts_with(family.prefix))?;
        // Stencil beside depth lies in a plane of its own, whose format is the one of stencil alone.
        let depth = matches!(self.name, "D16_UNORM" | "S8_UINT");
        (depth || self.target().is_some()).then_some(family.compression)
    }
}
