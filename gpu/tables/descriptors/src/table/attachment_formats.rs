//! Formats of attachments: in the tile buffer and in memory, for colour, depth and stencil.
//!
//! Clear words, conversion words of BLEND and LD_TILE and tile sizes all follow from these rows.
//! Facts: hardware/graphics-formats.md 4 and 5, hardware/graphics-framebuffer.md 5.4, `tile` and `zs` of data/formats.json.

use super::framebuffer::{SFormat, ZInternalFormat, ZsFormat};
use super::target::{ColorBufferInternalFormat, ColorFormat, FloatColorFormat};
use crate::arch::{Arch, ArchSet, SUPPORTED};
use crate::member::PixelFormat;
use ColorBufferInternalFormat as Internal;

/// A format of the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternalFormat {
    /// Its code in a render target.
    pub format: ColorBufferInternalFormat,
    /// Bytes of a pixel and sample in the tile buffer.
    pub bytes: u32,
    /// Where fixed-function blending works: its components. Raw formats have none.
    pub blendable: Option<Blendable>,
    /// Where samples may be averaged when they are written.
    pub average: ArchSet,
}

/// Components of a format that hardware blends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blendable {
    /// Format code of a conversion word without dithering: fractions are padding.
    pub code: u32,
    /// Format code of a conversion word with dithering: fractions carry value.
    pub dithered_code: u32,
    /// Bits of red, green, blue and alpha, red in the lowest bits.
    pub bits: [u8; 4],
    /// Bits of fraction below each.
    pub fraction: [u8; 4],
    /// Components are floats, not fractions of 0 to 1.
    pub is_float: bool,
}

/// A format in memory: one of two lists that share their numbers; the internal format tells which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writeback {
    /// Of integer, normalised and raw internal formats.
    Integer(ColorFormat),
    /// Of float internal formats.
    Float(FloatColorFormat),
}
use Writeback::{Float, Integer};

impl Writeback {
    /// The number in a render target.
    pub const fn number(self) -> u32 {
        match self {
            Integer(format) => format.number(),
            Float(format) => format.number(),
        }
    }
}

/// A format as a colour target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetFormat {
    /// Vulkan's name without `VK_FORMAT_`.
    pub name: &'static str,
    /// Format in the tile buffer.
    pub internal: ColorBufferInternalFormat,
    /// Format in memory.
    pub writeback: Writeback,
    /// Memory format in conversion words of BLEND and LD_TILE, without dithering.
    pub conversion: PixelFormat,
}

/// A format as a depth and stencil attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthStencilFormat {
    /// Vulkan's name without `VK_FORMAT_`.
    pub name: &'static str,
    /// Depth in memory.
    pub depth: Option<ZsFormat>,
    /// Depth in memory that is compressed.
    pub afbc_depth: Option<ZsFormat>,
    /// Stencil in memory; next to depth a plane of its own.
    pub stencil: Option<SFormat>,
    /// Depth in the tile buffer.
    pub internal: Option<ZInternalFormat>,
}

impl InternalFormat {
    /// The row of an internal format; `None` of the raw format without a size.
    pub fn of(format: ColorBufferInternalFormat) -> Option<&'static InternalFormat> {
        INTERNAL_FORMATS.iter().find(|row| row.format == format)
    }

    /// The components that a format code of conversion words names, dithered or not; `None` if it is none of the tile buffer's.
    pub fn of_code(code: u32) -> Option<&'static Blendable> {
        let blendable = INTERNAL_FORMATS
            .iter()
            .filter_map(|row| row.blendable.as_ref());
        blendable
            .into_iter()
            .find(|row| row.code == code || row.dithered_code == code)
    }
}

impl TargetFormat {
    /// The row of a Vulkan name without `VK_FORMAT_`; `None` if it is no colour target.
    pub fn of_name(name: &str) -> Option<&'static TargetFormat> {
        TARGET_FORMATS.iter().find(|row| row.name == name)
    }

    /// The row of the format in the tile buffer.
    pub fn internal_format(&self) -> Option<&'static InternalFormat> {
        InternalFormat::of(self.internal)
    }

    /// Memory format in conversion words with dithering; `None` of raw formats.
    pub fn dithered_conversion(&self) -> Option<PixelFormat> {
        let blendable = self.internal_format()?.blendable?;
        let others = self.conversion.0 & !(0xff << 12);
        Some(PixelFormat(others | blendable.dithered_code << 12))
    }

    /// The name of the format in the tile buffer.
    pub fn internal_name(&self, arch: Arch) -> &'static str {
        let number = self.internal.number().into();
        let row = ColorBufferInternalFormat::TABLE.of_value(arch, number);
        row.map_or("", |row| row.name)
    }

    /// The name of the format in memory.
    pub fn writeback_name(&self, arch: Arch) -> &'static str {
        let table = match self.writeback {
            Integer(_) => ColorFormat::TABLE,
            Float(_) => FloatColorFormat::TABLE,
        };
        let row = table.of_value(arch, self.writeback.number().into());
        row.map_or("", |row| row.name)
    }
}

impl DepthStencilFormat {
    /// The row of a Vulkan name without `VK_FORMAT_`; `None` if it is no depth or stencil format.
    pub fn of_name(name: &str) -> Option<&'static DepthStencilFormat> {
        DEPTH_STENCIL_FORMATS.iter().find(|row| row.name == name)
    }

    /// The name of the format that depth has in memory, in a plane of its own if there is stencil, too.
    pub fn depth_plane(&self) -> Option<&'static str> {
        let alone = |row: &&DepthStencilFormat| row.stencil.is_none() && row.depth == self.depth;
        self.depth?;
        Some(DEPTH_STENCIL_FORMATS.iter().find(alone)?.name)
    }

    /// The name of the format that stencil has in memory, in a plane of its own if there is depth, too.
    pub fn stencil_plane(&self) -> Option<&'static str> {
        let alone = |row: &&DepthStencilFormat| row.depth.is_none() && row.stencil == self.stencil;
        self.stencil?;
        Some(DEPTH_STENCIL_FORMATS.iter().find(alone)?.name)
    }
}

const NEVER: ArchSet = ArchSet::only(Arch::V10).without(Arch::V10);
const ALWAYS: ArchSet = SUPPORTED;
const SINCE_V11: ArchSet = crate::arch::since(Arch::V11);

const fn unorm(
    format: ColorBufferInternalFormat,
    [code, dithered_code]: [u32; 2],
    bits: [u8; 4],
    fraction: [u8; 4],
) -> InternalFormat {
    let blendable = Blendable {
        code,
        dithered_code,
        bits,
        fraction,
        is_float: false,
    };
    InternalFormat {
        format,
        bytes: 4,
        blendable: Some(blendable),
        average: ALWAYS,
    }
}

const fn float(
    format: ColorBufferInternalFormat,
    bytes: u32,
    code: u32,
    bits: [u8; 4],
    average: ArchSet,
) -> InternalFormat {
    let blendable = Blendable {
        code,
        dithered_code: code,
        bits,
        fraction: [0; 4],
        is_float: true,
    };
    InternalFormat {
        format,
        bytes,
        blendable: Some(blendable),
        average,
    }
}

const fn raw(format: ColorBufferInternalFormat, bytes: u32) -> InternalFormat {
    InternalFormat {
        format,
        bytes,
        blendable: None,
        average: NEVER,
    }
}

const fn target(
    name: &'static str,
    internal: ColorBufferInternalFormat,
    writeback: Writeback,
    conversion: u32,
) -> TargetFormat {
    let conversion = PixelFormat(conversion);
    TargetFormat {
        name,
        internal,
        writeback,
        conversion,
    }
}

const fn depth_stencil(
    name: &'static str,
    depth: Option<ZsFormat>,
    afbc_depth: Option<ZsFormat>,
    stencil: Option<SFormat>,
    internal: Option<ZInternalFormat>,
) -> DepthStencilFormat {
    DepthStencilFormat {
        name,
        depth,
        afbc_depth,
        stencil,
        internal,
    }
}

/// Every format of the tile buffer with a size.
#[rustfmt::skip]
pub static INTERNAL_FORMATS: &[InternalFormat] = &[
    //    format                 codes: padded, dithered  bits                fraction
    unorm(Internal::R8G8B8A8,    [237, 237],              [ 8,  8,  8,  8],   [0, 0, 0, 0]),
    unorm(Internal::R10G10B10A2, [238, 238],              [10, 10, 10,  2],   [0, 0, 0, 0]),
    unorm(Internal::R8G8B8A2,    [242, 241],              [ 8,  8,  8,  2],   [2, 2, 2, 0]),
    unorm(Internal::R4G4B4A4,    [233, 232],              [ 4,  4,  4,  4],   [4, 4, 4, 4]),
    unorm(Internal::R5G6B5A0,    [227, 226],              [ 5,  6,  5,  0],   [5, 4, 5, 2]),
    unorm(Internal::R5G5B5A1,    [225, 224],              [ 5,  5,  5,  1],   [5, 5, 5, 1]),
    //    format                 bytes  code  bits                average
    float(Internal::R16F,        2,     199,  [16,  0,  0,  0],   SINCE_V11),
    float(Internal::RG16F,       4,     207,  [16, 16,  0,  0],   SINCE_V11),
    float(Internal::RGBA16F,     8,     223,  [16, 16, 16, 16],   SINCE_V11),
    float(Internal::RG11FB10F,   4,      89,  [11, 11, 10,  0],   ALWAYS),
    raw(Internal::RAW8,    1),
    raw(Internal::RAW16,   2),
    raw(Internal::RAW32,   4),
    raw(Internal::RAW64,   8),
    raw(Internal::RAW128, 16),
];

/// Every colour target, in Vulkan's order.
#[rustfmt::skip]
pub static TARGET_FORMATS: &[TargetFormat] = &[
    // name, format in the tile buffer, format in memory, conversion word
    target("R4G4B4A4_UNORM_PACK16",     Internal::R4G4B4A4,    Integer(ColorFormat::R4G4B4A4),       0x0e_9000),
    target("B4G4R4A4_UNORM_PACK16",     Internal::R4G4B4A4,    Integer(ColorFormat::R4G4B4A4),       0x0e_9000),
    target("R5G6B5_UNORM_PACK16",       Internal::R5G6B5A0,    Integer(ColorFormat::R5G6B5),         0x0e_3010),
    target("B5G6R5_UNORM_PACK16",       Internal::R5G6B5A0,    Integer(ColorFormat::R5G6B5),         0x0e_3010),
    target("A1R5G5B5_UNORM_PACK16",     Internal::R5G5B5A1,    Integer(ColorFormat::R5G5B5A1),       0x0e_1000),
    target("R8_UNORM",                  Internal::R8G8B8A8,    Integer(ColorFormat::R8),             0x0e_d000),
    target("R8_SNORM",                  Internal::RAW8,        Integer(ColorFormat::RAW8),           0x06_3000),
    target("R8_UINT",                   Internal::RAW8,        Integer(ColorFormat::RAW8),           0x08_3000),
    target("R8_SINT",                   Internal::RAW8,        Integer(ColorFormat::RAW8),           0x0c_3000),
    target("R8_SRGB",                   Internal::R8G8B8A8,    Integer(ColorFormat::R8),             0x1e_d000),
    target("R8G8_UNORM",                Internal::R8G8B8A8,    Integer(ColorFormat::R8G8),           0x0e_d000),
    target("R8G8_SNORM",                Internal::RAW16,       Integer(ColorFormat::RAW16),          0x06_b000),
    target("R8G8_UINT",                 Internal::RAW16,       Integer(ColorFormat::RAW16),          0x08_b000),
    target("R8G8_SINT",                 Internal::RAW16,       Integer(ColorFormat::RAW16),          0x0c_b000),
    target("R8G8_SRGB",                 Internal::R8G8B8A8,    Integer(ColorFormat::R8G8),           0x1e_d000),
    target("R8G8B8_UNORM",              Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8),         0x0e_d000),
    target("R8G8B8_SNORM",              Internal::RAW32,       Integer(ColorFormat::RAW24),          0x07_3000),
    target("R8G8B8_SRGB",               Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8),         0x1e_d000),
    target("B8G8R8_UNORM",              Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8),         0x0e_d000),
    target("B8G8R8_SRGB",               Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8),         0x1e_d000),
    target("R8G8B8A8_UNORM",            Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x0e_d000),
    target("R8G8B8A8_SNORM",            Internal::RAW32,       Integer(ColorFormat::RAW32),          0x07_b000),
    target("R8G8B8A8_UINT",             Internal::RAW32,       Integer(ColorFormat::RAW32),          0x09_b000),
    target("R8G8B8A8_SINT",             Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0d_b000),
    target("R8G8B8A8_SRGB",             Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x1e_d000),
    target("B8G8R8A8_UNORM",            Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x0e_d000),
    target("B8G8R8A8_SNORM",            Internal::RAW32,       Integer(ColorFormat::RAW32),          0x07_b000),
    target("B8G8R8A8_UINT",             Internal::RAW32,       Integer(ColorFormat::RAW32),          0x09_b000),
    target("B8G8R8A8_SINT",             Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0d_b000),
    target("B8G8R8A8_SRGB",             Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x1e_d000),
    target("A8B8G8R8_UNORM_PACK32",     Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x0e_d000),
    target("A8B8G8R8_SNORM_PACK32",     Internal::RAW32,       Integer(ColorFormat::RAW32),          0x07_b000),
    target("A8B8G8R8_UINT_PACK32",      Internal::RAW32,       Integer(ColorFormat::RAW32),          0x09_b000),
    target("A8B8G8R8_SINT_PACK32",      Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0d_b000),
    target("A8B8G8R8_SRGB_PACK32",      Internal::R8G8B8A8,    Integer(ColorFormat::R8G8B8A8),       0x1e_d000),
    target("A2R10G10B10_UNORM_PACK32",  Internal::R10G10B10A2, Integer(ColorFormat::R10G10B10A2),    0x0e_e000),
    target("A2R10G10B10_UINT_PACK32",   Internal::RAW32,       Integer(ColorFormat::RAW32),          0x04_7000),
    target("A2R10G10B10_SINT_PACK32",   Internal::RAW32,       Integer(ColorFormat::RAW32),          0x04_9000),
    target("A2B10G10R10_UNORM_PACK32",  Internal::R10G10B10A2, Integer(ColorFormat::R10G10B10A2),    0x0e_e000),
    target("A2B10G10R10_UINT_PACK32",   Internal::RAW32,       Integer(ColorFormat::RAW32),          0x04_7000),
    target("A2B10G10R10_SINT_PACK32",   Internal::RAW32,       Integer(ColorFormat::RAW32),          0x04_9000),
    target("R16_UNORM",                 Internal::RAW16,       Integer(ColorFormat::RAW16),          0x0a_4000),
    target("R16_SNORM",                 Internal::RAW16,       Integer(ColorFormat::RAW16),          0x06_4000),
    target("R16_UINT",                  Internal::RAW16,       Integer(ColorFormat::RAW16),          0x08_4000),
    target("R16_SINT",                  Internal::RAW16,       Integer(ColorFormat::RAW16),          0x0c_4000),
    target("R16_SFLOAT",                Internal::R16F,        Float(FloatColorFormat::R16F),        0x0c_7000),
    target("R16G16_UNORM",              Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0a_c000),
    target("R16G16_SNORM",              Internal::RAW32,       Integer(ColorFormat::RAW32),          0x06_c000),
    target("R16G16_UINT",               Internal::RAW32,       Integer(ColorFormat::RAW32),          0x08_c000),
    target("R16G16_SINT",               Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0c_c000),
    target("R16G16_SFLOAT",             Internal::RG16F,       Float(FloatColorFormat::RG16F),       0x0c_f000),
    target("R16G16B16A16_UNORM",        Internal::RAW64,       Integer(ColorFormat::RAW64),          0x0b_c000),
    target("R16G16B16A16_SNORM",        Internal::RAW64,       Integer(ColorFormat::RAW64),          0x07_c000),
    target("R16G16B16A16_UINT",         Internal::RAW64,       Integer(ColorFormat::RAW64),          0x09_c000),
    target("R16G16B16A16_SINT",         Internal::RAW64,       Integer(ColorFormat::RAW64),          0x0d_c000),
    target("R16G16B16A16_SFLOAT",       Internal::RGBA16F,     Float(FloatColorFormat::RGBA16F),     0x0d_f000),
    target("R32_UINT",                  Internal::RAW32,       Integer(ColorFormat::RAW32),          0x08_5000),
    target("R32_SINT",                  Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0c_5000),
    target("R32_SFLOAT",                Internal::RAW32,       Integer(ColorFormat::RAW32),          0x0a_7000),
    target("R32G32_UINT",               Internal::RAW64,       Integer(ColorFormat::RAW64),          0x08_d000),
    target("R32G32_SINT",               Internal::RAW64,       Integer(ColorFormat::RAW64),          0x0c_d000),
    target("R32G32_SFLOAT",             Internal::RAW64,       Integer(ColorFormat::RAW64),          0x0a_f000),
    target("R32G32B32_UINT",            Internal::RAW128,      Integer(ColorFormat::RAW96),          0x09_5000),
    target("R32G32B32_SINT",            Internal::RAW128,      Integer(ColorFormat::RAW96),          0x0d_5000),
    target("R32G32B32_SFLOAT",          Internal::RAW128,      Integer(ColorFormat::RAW96),          0x0b_7000),
    target("R32G32B32A32_UINT",         Internal::RAW128,      Integer(ColorFormat::RAW128),         0x09_d000),
    target("R32G32B32A32_SINT",         Internal::RAW128,      Integer(ColorFormat::RAW128),         0x0d_d000),
    target("R32G32B32A32_SFLOAT",       Internal::RAW128,      Integer(ColorFormat::RAW128),         0x0b_f000),
    target("B10G11R11_UFLOAT_PACK32",   Internal::RG11FB10F,   Float(FloatColorFormat::RG11FB10F),   0x05_9000),
    target("E5B9G9R9_UFLOAT_PACK32",    Internal::RAW32,       Integer(ColorFormat::RAW32),          0x05_b000),
    target("A4R4G4B4_UNORM_PACK16",     Internal::R4G4B4A4,    Integer(ColorFormat::R4G4B4A4),       0x0e_9000),
    target("A4B4G4R4_UNORM_PACK16",     Internal::R4G4B4A4,    Integer(ColorFormat::R4G4B4A4),       0x0e_9000),
    target("A1B5G5R5_UNORM_PACK16",     Internal::R5G5B5A1,    Integer(ColorFormat::R5G5B5A1),       0x0e_1000),
    target("A8_UNORM",                  Internal::R8G8B8A8,    Integer(ColorFormat::R8),             0x0e_d000),
];

/// Every depth and stencil format, in Vulkan's order.
#[rustfmt::skip]
pub static DEPTH_STENCIL_FORMATS: &[DepthStencilFormat] = &[
    // name, depth in memory, compressed, stencil, depth in the tile buffer
    depth_stencil("D16_UNORM",            Some(ZsFormat::D16),    Some(ZsFormat::D16),    None,              Some(ZInternalFormat::D16)),
    depth_stencil("X8_D24_UNORM_PACK32",  Some(ZsFormat::D24X8),  Some(ZsFormat::D24),    None,              Some(ZInternalFormat::D24)),
    depth_stencil("D32_SFLOAT",           Some(ZsFormat::D32),    Some(ZsFormat::D32),    None,              Some(ZInternalFormat::D32)),
    depth_stencil("S8_UINT",              None,                   None,                   Some(SFormat::S8), None),
    depth_stencil("D24_UNORM_S8_UINT",    Some(ZsFormat::D24X8),  Some(ZsFormat::D24),    Some(SFormat::S8), Some(ZInternalFormat::D24)),
    depth_stencil("D32_SFLOAT_S8_UINT",   Some(ZsFormat::D32),    Some(ZsFormat::D32),    Some(SFormat::S8), Some(ZInternalFormat::D32)),
];
