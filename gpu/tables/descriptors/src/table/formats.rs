//! Pixel formats: Vulkan's names, the hardware's codes, and what each can be used for.
//!
//! Facts: hardware/descriptors.md 1.2 and 10, and `vk_formats` of its data files.

use super::attachment_formats::TargetFormat;
use super::names::{FORMAT, RGB_COMPONENT_ORDER};
use crate::arch::{Arch, ArchSet, SUPPORTED};
use crate::member::PixelFormat;

/// What a format can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uses(u8);

impl Uses {
    /// Vertex attributes.
    pub const VERTEX: Uses = Uses(1);
    /// Sampled and storage textures.
    pub const TEXTURE: Uses = Uses(2);
    /// Colour targets.
    pub const COLOUR_TARGET: Uses = Uses(4);
    /// Depth and stencil targets.
    pub const DEPTH_STENCIL: Uses = Uses(8);
    /// Storage images only.
    pub const IMAGE: Uses = Uses(16);

    const fn and(self, other: Uses) -> Uses {
        Uses(self.0 | other.0)
    }

    /// Whether all of `other` is among the uses.
    pub const fn contains(self, other: Uses) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VkFormat {
    /// Vulkan's name without `VK_FORMAT_`.
    pub name: &'static str,
    /// Format code: a value of [`FORMAT`].
    pub code: u32,
    /// Component order: a value of [`RGB_COMPONENT_ORDER`].
    pub order: u32,
    /// Whether colours are sRGB.
    pub srgb: bool,
    /// What it can be used for.
    pub uses: Uses,
    /// Bytes of a texel, or of a block of a compressed format.
    pub block_bytes: u32,
    /// Clump format of the plane descriptor, or the kind of plane that the format has instead; empty where it has none.
    pub clump: &'static str,
    /// Number of the clump format.
    pub clump_code: Option<u32>,
    /// The format of the second plane, of a depth format whose stencil has a plane of its own.
    pub stencil_plane: Option<&'static str>,
    /// Where it exists.
    pub archs: ArchSet,
}

impl VkFormat {
    /// The 22 bits of a pixel-format field.
    pub const fn pixel_format(&self) -> PixelFormat {
        PixelFormat(self.order | self.code << 12 | (self.srgb as u32) << 20)
    }

    /// Whether its name has a part such as "UINT". A search by the library is 2 KiB of code.
    pub fn has(&self, part: &str) -> bool {
        let (name, part) = (self.name.as_bytes(), part.as_bytes());
        let mut ends = (0..name.len()).map(|start| name.get(start..).unwrap_or_default());
        ends.any(|end| end.starts_with(part))
    }

    /// The format of a Vulkan name, with or without `VK_FORMAT_`, in any case.
    pub fn of_name(arch: Arch, name: &str) -> Option<&'static VkFormat> {
        let prefix = name
            .get(..10)
            .filter(|prefix| prefix.eq_ignore_ascii_case("VK_FORMAT_"));
        let bare = name.get(prefix.map_or(0, str::len)..).unwrap_or(name);
        VkFormat::all(arch).find(|format| format.name.eq_ignore_ascii_case(bare))
    }

    /// The formats that a pixel-format field may mean: several differ only in their plane.
    pub fn of_pixel_format(
        arch: Arch,
        field: PixelFormat,
    ) -> impl Iterator<Item = &'static VkFormat> {
        VkFormat::all(arch).filter(move |format| format.pixel_format() == field)
    }

    /// The formats of an architecture.
    pub fn all(arch: Arch) -> impl Iterator<Item = &'static VkFormat> {
        FORMATS
            .iter()
            .filter(move |format| format.archs.contains(arch))
    }

    /// The format as a colour target; `None` if it is none.
    pub fn target(&self) -> Option<&'static TargetFormat> {
        TargetFormat::of_name(self.name)
    }

    /// The name of the format's code.
    pub fn code_name(&self, arch: Arch) -> &'static str {
        FORMAT
            .of_value(arch, self.code.into())
            .map_or("", |row| row.name)
    }

    /// The name of the format's component order.
    pub fn order_name(&self, arch: Arch) -> &'static str {
        RGB_COMPONENT_ORDER
            .of_value(arch, self.order.into())
            .map_or("", |row| row.name)
    }

    const fn clump(self, clump: &'static str, code: u32) -> VkFormat {
        VkFormat {
            clump,
            clump_code: Some(code),
            ..self
        }
    }

    const fn stencil(self, name: &'static str) -> VkFormat {
        let stencil_plane = Some(name);
        VkFormat {
            stencil_plane,
            ..self
        }
    }

    const fn plane(self, clump: &'static str) -> VkFormat {
        VkFormat { clump, ..self }
    }

    const fn since(self, arch: Arch) -> VkFormat {
        VkFormat {
            archs: crate::arch::since(arch),
            ..self
        }
    }
}

/// Whether colours are sRGB: the fourth column of the table.
enum Curve {
    Linear,
    Srgb,
}
use Curve::{Linear, Srgb};

const fn f(
    name: &'static str,
    code: u32,
    order: u32,
    curve: Curve,
    uses: Uses,
    block_bytes: u32,
) -> VkFormat {
    let srgb = matches!(curve, Srgb);
    let archs = SUPPORTED;
    VkFormat {
        name,
        code,
        order,
        srgb,
        uses,
        block_bytes,
        clump: "",
        clump_code: None,
        stencil_plane: None,
        archs,
    }
}

const V: Uses = Uses::VERTEX;
const T: Uses = Uses::TEXTURE;
const VTR: Uses = Uses::VERTEX.and(Uses::TEXTURE).and(Uses::COLOUR_TARGET);
const TZ: Uses = Uses::TEXTURE.and(Uses::DEPTH_STENCIL);
const I: Uses = Uses::IMAGE;

/// Every format, in Vulkan's order.
#[rustfmt::skip]
pub static FORMATS: &[VkFormat] = &[
    // name, code, component order, curve, uses, bytes of a block
    f("R4G4B4A4_UNORM_PACK16",                   186,  12, Linear, VTR,  2).clump("RAW16", 1),
    f("B4G4R4A4_UNORM_PACK16",                   186,   8, Linear, VTR,  2).clump("RAW16", 1),
    f("R5G6B5_UNORM_PACK16",                      64,  20, Linear, VTR,  2).clump("RAW16", 1),
    f("B5G6R5_UNORM_PACK16",                      64,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("A1R5G5B5_UNORM_PACK16",                    65,   4, Linear, VTR,  2).clump("RAW16", 1),
    f("R8_UNORM",                                163,  16, Linear, VTR,  1).clump("RAW8", 0),
    f("R8_SNORM",                                 99,  16, Linear, VTR,  1).clump("RAW8", 0),
    f("R8_USCALED",                              131,  16, Linear, V,    1),
    f("R8_SSCALED",                              195,  16, Linear, V,    1),
    f("R8_UINT",                                 131,  16, Linear, VTR,  1).clump("RAW8", 0),
    f("R8_SINT",                                 195,  16, Linear, VTR,  1).clump("RAW8", 0),
    f("R8_SRGB",                                 163,  16, Srgb,   VTR,  1).clump("RAW8", 0),
    f("R8G8_UNORM",                              171,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R8G8_SNORM",                              107,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R8G8_USCALED",                            139,  16, Linear, V,    2),
    f("R8G8_SSCALED",                            203,  16, Linear, V,    2),
    f("R8G8_UINT",                               139,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R8G8_SINT",                               203,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R8G8_SRGB",                               171,  16, Srgb,   VTR,  2).clump("RAW16", 1),
    f("R8G8B8_UNORM",                            179,  16, Linear, VTR,  3).clump("RAW24", 8),
    f("R8G8B8_SNORM",                            115,  16, Linear, VTR,  3).clump("RAW24", 8),
    f("R8G8B8_USCALED",                          147,  16, Linear, V,    3),
    f("R8G8B8_SSCALED",                          211,  16, Linear, V,    3),
    f("R8G8B8_UINT",                             147,  16, Linear, V,    3),
    f("R8G8B8_SINT",                             211,  16, Linear, V,    3),
    f("R8G8B8_SRGB",                             179,  16, Srgb,   VTR,  3).clump("RAW24", 8),
    f("B8G8R8_UNORM",                            179,  20, Linear, VTR,  3).clump("RAW24", 8),
    f("B8G8R8_USCALED",                          147,  20, Linear, V,    3),
    f("B8G8R8_SSCALED",                          211,  20, Linear, V,    3),
    f("B8G8R8_UINT",                             147,  20, Linear, V,    3),
    f("B8G8R8_SINT",                             211,  20, Linear, V,    3),
    f("B8G8R8_SRGB",                             179,  20, Srgb,   VTR,  3).clump("RAW24", 8),
    f("R8G8B8A8_UNORM",                          187,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("R8G8B8A8_SNORM",                          123,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("R8G8B8A8_USCALED",                        155,   0, Linear, V,    4),
    f("R8G8B8A8_SSCALED",                        219,   0, Linear, V,    4),
    f("R8G8B8A8_UINT",                           155,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("R8G8B8A8_SINT",                           219,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("R8G8B8A8_SRGB",                           187,   0, Srgb,   VTR,  4).clump("RAW32", 2),
    f("B8G8R8A8_UNORM",                          187,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("B8G8R8A8_SNORM",                          123,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("B8G8R8A8_USCALED",                        155,   4, Linear, V,    4),
    f("B8G8R8A8_SSCALED",                        219,   4, Linear, V,    4),
    f("B8G8R8A8_UINT",                           155,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("B8G8R8A8_SINT",                           219,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("B8G8R8A8_SRGB",                           187,   4, Srgb,   VTR,  4).clump("RAW32", 2),
    f("A8B8G8R8_UNORM_PACK32",                   187,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A8B8G8R8_SNORM_PACK32",                   123,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A8B8G8R8_USCALED_PACK32",                 155,   0, Linear, V,    4),
    f("A8B8G8R8_SSCALED_PACK32",                 219,   0, Linear, V,    4),
    f("A8B8G8R8_UINT_PACK32",                    155,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A8B8G8R8_SINT_PACK32",                    219,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A8B8G8R8_SRGB_PACK32",                    187,   0, Srgb,   VTR,  4).clump("RAW32", 2),
    f("A2R10G10B10_UNORM_PACK32",                 67,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("A2R10G10B10_SNORM_PACK32",                 69,   4, Linear, V,    4),
    f("A2R10G10B10_USCALED_PACK32",               71,   4, Linear, V,    4),
    f("A2R10G10B10_SSCALED_PACK32",               73,   4, Linear, V,    4),
    f("A2R10G10B10_UINT_PACK32",                  71,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("A2R10G10B10_SINT_PACK32",                  73,   4, Linear, VTR,  4).clump("RAW32", 2),
    f("A2B10G10R10_UNORM_PACK32",                 67,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A2B10G10R10_SNORM_PACK32",                 69,   0, Linear, V,    4),
    f("A2B10G10R10_USCALED_PACK32",               71,   0, Linear, V,    4),
    f("A2B10G10R10_SSCALED_PACK32",               73,   0, Linear, V,    4),
    f("A2B10G10R10_UINT_PACK32",                  71,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("A2B10G10R10_SINT_PACK32",                  73,   0, Linear, VTR,  4).clump("RAW32", 2),
    f("R16_UNORM",                               164,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R16_SNORM",                               100,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R16_USCALED",                             132,  16, Linear, V,    2),
    f("R16_SSCALED",                             196,  16, Linear, V,    2),
    f("R16_UINT",                                132,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R16_SINT",                                196,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R16_SFLOAT",                              199,  16, Linear, VTR,  2).clump("RAW16", 1),
    f("R16G16_UNORM",                            172,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R16G16_SNORM",                            108,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R16G16_USCALED",                          140,  16, Linear, V,    4),
    f("R16G16_SSCALED",                          204,  16, Linear, V,    4),
    f("R16G16_UINT",                             140,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R16G16_SINT",                             204,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R16G16_SFLOAT",                           207,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R16G16B16_UNORM",                         180,  16, Linear, V,    6),
    f("R16G16B16_SNORM",                         116,  16, Linear, V,    6),
    f("R16G16B16_USCALED",                       148,  16, Linear, V,    6),
    f("R16G16B16_SSCALED",                       212,  16, Linear, V,    6),
    f("R16G16B16_UINT",                          148,  16, Linear, V,    6),
    f("R16G16B16_SINT",                          212,  16, Linear, V,    6),
    f("R16G16B16_SFLOAT",                        215,  16, Linear, V,    6),
    f("R16G16B16A16_UNORM",                      188,   0, Linear, VTR,  8).clump("RAW64", 3),
    f("R16G16B16A16_SNORM",                      124,   0, Linear, VTR,  8).clump("RAW64", 3),
    f("R16G16B16A16_USCALED",                    156,   0, Linear, V,    8),
    f("R16G16B16A16_SSCALED",                    220,   0, Linear, V,    8),
    f("R16G16B16A16_UINT",                       156,   0, Linear, VTR,  8).clump("RAW64", 3),
    f("R16G16B16A16_SINT",                       220,   0, Linear, VTR,  8).clump("RAW64", 3),
    f("R16G16B16A16_SFLOAT",                     223,   0, Linear, VTR,  8).clump("RAW64", 3),
    f("R32_UINT",                                133,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R32_SINT",                                197,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R32_SFLOAT",                              167,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("R32G32_UINT",                             141,  16, Linear, VTR,  8).clump("RAW64", 3),
    f("R32G32_SINT",                             205,  16, Linear, VTR,  8).clump("RAW64", 3),
    f("R32G32_SFLOAT",                           175,  16, Linear, VTR,  8).clump("RAW64", 3),
    f("R32G32B32_UINT",                          149,  16, Linear, VTR, 12).clump("RAW96", 10),
    f("R32G32B32_SINT",                          213,  16, Linear, VTR, 12).clump("RAW96", 10),
    f("R32G32B32_SFLOAT",                        183,  16, Linear, VTR, 12).clump("RAW96", 10),
    f("R32G32B32A32_UINT",                       157,   0, Linear, VTR, 16).clump("RAW128", 4),
    f("R32G32B32A32_SINT",                       221,   0, Linear, VTR, 16).clump("RAW128", 4),
    f("R32G32B32A32_SFLOAT",                     191,   0, Linear, VTR, 16).clump("RAW128", 4),
    f("R64_UINT",                                141,  16, Linear, I,    8),
    f("R64_SINT",                                141,  16, Linear, I,    8),
    f("B10G11R11_UFLOAT_PACK32",                  89,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("E5B9G9R9_UFLOAT_PACK32",                   91,  16, Linear, VTR,  4).clump("RAW32", 2),
    f("D16_UNORM",                                75,   0, Linear, TZ,   2).clump("RAW16", 1),
    f("X8_D24_UNORM_PACK32",                      77,   0, Linear, TZ,   4).clump("RAW32", 2),
    f("D32_SFLOAT",                               76,   0, Linear, TZ,   4).clump("RAW32", 2),
    f("S8_UINT",                                  93,   2, Linear, TZ,   1).clump("S8", 22),
    f("D24_UNORM_S8_UINT",                        77,   0, Linear, TZ,   4).clump("RAW32", 2),
    f("D32_SFLOAT_S8_UINT",                       76,   0, Linear, TZ,   4).clump("RAW32", 2).stencil("S8_UINT"),
    f("BC1_RGB_UNORM_BLOCK",                     187,  16, Linear, T,    8).clump("BC1_UNORM", 48),
    f("BC1_RGB_SRGB_BLOCK",                      187,  16, Srgb,   T,    8).clump("BC1_UNORM", 48),
    f("BC1_RGBA_UNORM_BLOCK",                    187,   0, Linear, T,    8).clump("BC1_UNORM", 48),
    f("BC1_RGBA_SRGB_BLOCK",                     187,   0, Srgb,   T,    8).clump("BC1_UNORM", 48),
    f("BC2_UNORM_BLOCK",                         187,   0, Linear, T,   16).clump("BC2_UNORM", 49),
    f("BC2_SRGB_BLOCK",                          187,   0, Srgb,   T,   16).clump("BC2_UNORM", 49),
    f("BC3_UNORM_BLOCK",                         187,   0, Linear, T,   16).clump("BC3_UNORM", 50),
    f("BC3_SRGB_BLOCK",                          187,   0, Srgb,   T,   16).clump("BC3_UNORM", 50),
    f("BC4_UNORM_BLOCK",                         164,  16, Linear, T,    8).clump("BC4_UNORM", 51),
    f("BC4_SNORM_BLOCK",                         100,  16, Linear, T,    8).clump("BC4_SNORM", 52),
    f("BC5_UNORM_BLOCK",                         172,  16, Linear, T,   16).clump("BC5_UNORM", 53),
    f("BC5_SNORM_BLOCK",                         108,  16, Linear, T,   16).clump("BC5_SNORM", 54),
    f("BC6H_UFLOAT_BLOCK",                       223,  16, Linear, T,   16).clump("BC6H_UF16", 55),
    f("BC6H_SFLOAT_BLOCK",                       223,  16, Linear, T,   16).clump("BC6H_SF16", 56),
    f("BC7_UNORM_BLOCK",                         187,   0, Linear, T,   16).clump("BC7_UNORM", 57),
    f("BC7_SRGB_BLOCK",                          187,   0, Srgb,   T,   16).clump("BC7_UNORM", 57),
    f("ETC2_R8G8B8_UNORM_BLOCK",                 187,  16, Linear, T,    8).clump("ETC2_RGB8", 32),
    f("ETC2_R8G8B8_SRGB_BLOCK",                  187,  16, Srgb,   T,    8).clump("ETC2_RGB8", 32),
    f("ETC2_R8G8B8A1_UNORM_BLOCK",               187,   0, Linear, T,    8).clump("ETC2_RGB8A1", 38),
    f("ETC2_R8G8B8A1_SRGB_BLOCK",                187,   0, Srgb,   T,    8).clump("ETC2_RGB8A1", 38),
    f("ETC2_R8G8B8A8_UNORM_BLOCK",               187,   0, Linear, T,   16).clump("ETC2_RGBA8", 37),
    f("ETC2_R8G8B8A8_SRGB_BLOCK",                187,   0, Srgb,   T,   16).clump("ETC2_RGBA8", 37),
    f("EAC_R11_UNORM_BLOCK",                     164,  16, Linear, T,    8).clump("ETC2_R11_UNORM", 33),
    f("EAC_R11_SNORM_BLOCK",                     100,  16, Linear, T,    8).clump("ETC2_R11_SNORM", 34),
    f("EAC_R11G11_UNORM_BLOCK",                  172,  16, Linear, T,   16).clump("ETC2_RG11_UNORM", 35),
    f("EAC_R11G11_SNORM_BLOCK",                  108,  16, Linear, T,   16).clump("ETC2_RG11_SNORM", 36),
    f("ASTC_4x4_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_4x4_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_5x4_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_5x4_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_5x5_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_5x5_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_6x5_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_6x5_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_6x6_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_6x6_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_8x5_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_8x5_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_8x6_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_8x6_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_8x8_UNORM_BLOCK",                    223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_8x8_SRGB_BLOCK",                     187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_10x5_UNORM_BLOCK",                   223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_10x5_SRGB_BLOCK",                    187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_10x6_UNORM_BLOCK",                   223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_10x6_SRGB_BLOCK",                    187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_10x8_UNORM_BLOCK",                   223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_10x8_SRGB_BLOCK",                    187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_10x10_UNORM_BLOCK",                  223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_10x10_SRGB_BLOCK",                   187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_12x10_UNORM_BLOCK",                  223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_12x10_SRGB_BLOCK",                   187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("ASTC_12x12_UNORM_BLOCK",                  223,   0, Linear, T,   16).plane("ASTC plane"),
    f("ASTC_12x12_SRGB_BLOCK",                   187,   0, Srgb,   T,   16).plane("ASTC plane"),
    f("A4R4G4B4_UNORM_PACK16",                   186,   4, Linear, VTR,  2).clump("RAW16", 1),
    f("A4B4G4R4_UNORM_PACK16",                   186,   0, Linear, VTR,  2).clump("RAW16", 1),
    f("A1B5G5R5_UNORM_PACK16",                    65,   0, Linear, VTR,  2).clump("RAW16", 1),
    f("A8_UNORM",                                187, 229, Linear, VTR,  1).clump("A8", 26),
    f("R10X6G10X6B10X6A10X6_UNORM_4PACK16",      190,   0, Linear, T,    8).clump("RAW64", 3).since(Arch::V11),
];
