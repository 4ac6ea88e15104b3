//! Colour targets: how their pixels stand in the tile buffer and in memory.
//!
//! Facts: hardware/graphics-formats.md 4 and 5; hardware/graphics-framebuffer.md 5.3, 5.4.

use crate::shader::PixelFormat;
use eitri_descriptors::target::{
    ColorBufferInternalFormat as Internal, ColorFormat, FloatColorFormat,
};

/// Format of a colour target in the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TileFormat {
    /// Bytes of a pixel and sample.
    pub(crate) bytes: u8,
    /// Components, of a format that hardware blends; raw bits have none.
    pub(crate) blendable: Option<PixelFormat>,
}

impl TileFormat {
    /// The tile format of an internal format; raw formats without a size take that of memory.
    pub(crate) fn of(internal: Internal, memory_bytes: u8) -> TileFormat {
        let word = match internal {
            Internal::RawValue => return TileFormat::raw(memory_bytes.next_power_of_two()),
            Internal::RAW8 => return TileFormat::raw(1),
            Internal::RAW16 => return TileFormat::raw(2),
            Internal::RAW32 => return TileFormat::raw(4),
            Internal::RAW64 => return TileFormat::raw(8),
            Internal::RAW128 => return TileFormat::raw(16),
            Internal::R8G8B8A8 => 237 << 12,
            Internal::R10G10B10A2 => 238 << 12,
            Internal::R8G8B8A2 => 242 << 12,
            Internal::R4G4B4A4 => 233 << 12,
            Internal::R5G6B5A0 => 227 << 12,
            Internal::R5G5B5A1 => 225 << 12,
            Internal::R16F => 199 << 12,
            Internal::RG16F => 207 << 12,
            Internal::RGBA16F => 223 << 12,
            Internal::RG11FB10F => 89 << 12,
        };
        let format = PixelFormat::of_tile(word);
        TileFormat {
            bytes: format.map_or(4, |format| format.bytes()),
            blendable: format,
        }
    }

    fn raw(bytes: u8) -> TileFormat {
        TileFormat {
            bytes: bytes.min(16),
            blendable: None,
        }
    }
}

/// Format of a colour target in memory: the bits of each component, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryFormat {
    /// Bits as they stand in the tile buffer, this many bytes.
    Raw { bytes: u8 },
    /// Codes of so many bits; `reversed` puts the last component lowest.
    Codes { sizes: [u8; 4], reversed: bool },
}

impl MemoryFormat {
    /// The format of a write-back code of integer and normalised internal formats; `None` if it is not modelled.
    #[rustfmt::skip]
    pub(crate) fn of(code: ColorFormat) -> Option<MemoryFormat> {
        use ColorFormat as C;
        let codes = |sizes| Some(MemoryFormat::Codes { sizes, reversed: false });
        let reversed = |sizes| Some(MemoryFormat::Codes { sizes, reversed: true });
        let raw = |bytes| Some(MemoryFormat::Raw { bytes });
        match code {
            C::RAW8 => raw(1), C::RAW16 => raw(2), C::RAW24 => raw(3), C::RAW32 => raw(4),
            C::RAW48 => raw(6), C::RAW64 => raw(8), C::RAW96 => raw(12), C::RAW128 => raw(16),
            C::R8 => codes([8, 0, 0, 0]),
            C::R8G8 => codes([8, 8, 0, 0]),
            C::R8G8B8 | C::R8G8B8FromR8G8B8A2 => codes([8, 8, 8, 0]),
            C::R8G8B8A8 => codes([8, 8, 8, 8]),
            C::R4G4B4A4 => codes([4, 4, 4, 4]),
            C::R5G6B5 => codes([5, 6, 5, 0]),
            C::R10G10B10A2 => codes([10, 10, 10, 2]),
            C::A2B10G10R10 => reversed([10, 10, 10, 2]),
            C::R5G5B5A1 => codes([5, 5, 5, 1]),
            C::A1B5G5R5 => reversed([5, 5, 5, 1]),
            C::RAW192 | C::RAW256 | C::RAW384 | C::RAW512 | C::RAW768 | C::RAW1024 | C::RAW1536
            | C::RAW2048 | C::Native => None,
        }
    }

    /// The format of a write-back code of float internal formats.
    #[rustfmt::skip]
    pub(crate) fn of_float(code: FloatColorFormat) -> MemoryFormat {
        use FloatColorFormat as C;
        let codes = |sizes| MemoryFormat::Codes { sizes, reversed: false };
        let raw = |bytes| MemoryFormat::Raw { bytes };
        match code {
            C::RAW8 => raw(1), C::RAW16 => raw(2), C::RAW24 => raw(3), C::RAW32 => raw(4),
            C::RAW48 => raw(6), C::RAW64 => raw(8), C::RAW96 => raw(12), C::RAW128 => raw(16),
            C::R16F => codes([16, 0, 0, 0]),
            C::RG16F => codes([16, 16, 0, 0]),
            C::RGB16F => codes([16, 16, 16, 0]),
            C::RGBA16F => codes([16, 16, 16, 16]),
            C::RG11FB10F => codes([11, 11, 10, 0]),
        }
    }

    /// Bytes of a pixel.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            MemoryFormat::Raw { bytes } => bytes,
            MemoryFormat::Codes { sizes, .. } => sizes.iter().sum::<u8>() / 8,
        }
    }

    /// The pixel of four codes.
    pub(crate) fn pack(self, codes: [u32; 4]) -> u128 {
        let MemoryFormat::Codes { sizes, reversed } = self else {
            return 0;
        };
        let (mut pixel, mut low) = (0, 0);
        for place in 0..4 {
            let index = if reversed { 3 - place } else { place };
            let size = sizes[index];
            let mask = (1_u64 << size) - 1;
            pixel |= u128::from(u64::from(codes[index]) & mask) << low;
            low += u32::from(size);
        }
        pixel
    }
}
