//! YCbCr formats: planes, the hardware's codes, and how chroma lies.
//!
//! Facts: hardware/descriptors.md 10.1 and 10.3, and `ycbcr_formats` of its data files.

use crate::member::PixelFormat;

/// A format of several channels a plane, whose chroma is smaller than its luma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct YcbcrFormat {
    /// Channels by plane, as the facts spell them.
    pub planes: &'static str,
    /// Format code: a value of [`FORMAT`](super::names::FORMAT).
    pub code: u32,
    /// Order of Y, U and V: a number of [`YuvSwizzle`](super::target::YuvSwizzle).
    pub swizzle: u32,
    /// Whether U and V are exchanged.
    pub swap: bool,
    /// Where chroma lies: a number of [`YuvCrSiting`](super::target::YuvCrSiting).
    pub siting: u32,
    /// Number of the clump format of the planes.
    pub clump_code: u32,
    /// Vulkan's name without `VK_FORMAT_`; empty where it has none.
    pub vulkan: &'static str,
}

impl YcbcrFormat {
    /// The 22 bits of a pixel-format field.
    pub const fn pixel_format(&self) -> PixelFormat {
        PixelFormat(self.swizzle | (self.swap as u32) << 3 | self.siting << 9 | self.code << 12)
    }

    /// The formats that a pixel-format field may mean.
    pub fn of_pixel_format(field: PixelFormat) -> impl Iterator<Item = &'static YcbcrFormat> {
        YCBCR_FORMATS
            .iter()
            .filter(move |format| format.pixel_format() == field)
    }
}

const fn f(
    planes: &'static str,
    code: u32,
    swizzle: u32,
    swap: bool,
    siting: u32,
    clump_code: u32,
    vulkan: &'static str,
) -> YcbcrFormat {
    YcbcrFormat {
        planes,
        code,
        swizzle,
        swap,
        siting,
        clump_code,
        vulkan,
    }
}

/// Every YCbCr format, of every architecture.
#[rustfmt::skip]
pub static YCBCR_FORMATS: &[YcbcrFormat] = &[
    // planes,       code, swizzle, swap,  siting, clump, Vulkan's name
    f("R8G8_R8B8",     34,       3, false,      1,    64, ""),
    f("G8R8_B8R8",     35,       2, true,       1,    64, ""),
    f("R8B8_R8G8",     34,       5, false,      1,    64, ""),
    f("B8R8_G8R8",     35,       4, true,       1,    64, ""),
    f("R8_G8B8_420",   38,       0, false,      3,    72, "G8_B8R8_2PLANE_420_UNORM"),
    f("R8_B8G8_420",   38,       1, false,      3,    72, ""),
    f("R8_G8_B8_420",  39,       0, false,      3,    72, "G8_B8_R8_3PLANE_420_UNORM"),
    f("R8_B8_G8_420",  39,       1, false,      3,    72, ""),
];
