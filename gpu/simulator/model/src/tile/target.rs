//! Colour targets: how their pixels stand in the tile buffer and in memory.
//!
//! Facts: hardware/graphics-formats.md 4 and 5; hardware/graphics-framebuffer.md 5.3, 5.4.

use crate::shader::PixelFormat;
use eitri_descriptors::attachment_formats::InternalFormat;
use eitri_descriptors::plane::AfbcCompressionMode;
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat, FloatColorFormat};

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
    pub(crate) fn of(internal: ColorBufferInternalFormat, memory_bytes: u8) -> TileFormat {
        let Some(row) = InternalFormat::of(internal) else {
            return TileFormat {
                bytes: memory_bytes.next_power_of_two().min(16),
                blendable: None,
            };
        };
        let word = row.blendable.map(|blendable| blendable.code << 12);
        TileFormat {
            bytes: row.bytes as u8,
            blendable: word.and_then(PixelFormat::of_tile),
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

    /// The format of pixels in a compressed image: raw bits of three components are written as those of four, and the mode says
    /// how many of them the image has (hardware/graphics-framebuffer.md 5.4).
    pub(super) fn in_afbc(self, mode: AfbcCompressionMode) -> MemoryFormat {
        match (self, mode) {
            (MemoryFormat::Raw { bytes: 4 }, AfbcCompressionMode::R8G8B8) => {
                MemoryFormat::Raw { bytes: 3 }
            }
            (MemoryFormat::Raw { bytes: 8 }, AfbcCompressionMode::R16G16B16) => {
                MemoryFormat::Raw { bytes: 6 }
            }
            _ => self,
        }
    }

    /// Bytes of a pixel.
    pub(crate) fn bytes(self) -> u8 {
        match self {
            MemoryFormat::Raw { bytes } => bytes,
            MemoryFormat::Codes { sizes, .. } => sizes.iter().sum::<u8>() / 8,
        }
    }

    /// Whether memory holds a component, where channels take components as `swizzle` says.
    pub(crate) fn holds(self, swizzle: [u8; 4], component: u8) -> bool {
        match self {
            MemoryFormat::Raw { .. } => true,
            MemoryFormat::Codes { sizes, .. } => {
                let mut channels = sizes.into_iter().zip(swizzle);
                channels.any(|(size, takes)| size != 0 && takes == component)
            }
        }
    }

    /// The four codes of a pixel.
    fn unpack(self, pixel: u128) -> [u32; 4] {
        let MemoryFormat::Codes { sizes, reversed } = self else {
            return [0; 4];
        };
        let (mut codes, mut low) = ([0; 4], 0);
        for place in 0..4 {
            let index = if reversed { 3 - place } else { place };
            let mask = (1_u64 << sizes[index]) - 1;
            codes[index] = ((pixel >> low) as u64 & mask) as u32;
            low += u32::from(sizes[index]);
        }
        codes
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

/// The bits in memory of the bits of a sample.
pub(crate) fn memory_bits(
    tile: TileFormat,
    memory: MemoryFormat,
    swizzle: [u8; 4],
    bits: u128,
) -> u128 {
    // Raw bits have no components that could be exchanged.
    let (Some(format), MemoryFormat::Codes { sizes, .. }) = (tile.blendable, memory) else {
        return bits;
    };
    let codes = format.stored_codes(bits);
    let one = |index: usize| {
        if format.is_unorm() {
            u32::MAX
        } else {
            // 1.0 of a float of so many bits with an exponent of five; that of 16 bits has a sign too.
            15_u32 << (sizes[index] - if sizes[index] == 16 { 6 } else { 5 })
        }
    };
    memory.pack(core::array::from_fn(|index| match swizzle[index] {
        _ if sizes[index] == 0 => 0,
        component @ 0..=3 if format.channel_bits(component.into()) != 0 => {
            codes[usize::from(component)]
        }
        // Alpha that the tile does not hold is 1; other components are 0.
        3 | 5 => one(index),
        _ => 0,
    }))
}

/// Whether [`memory_bits`] leaves bits as they are: components are bytes in both, in one order.
pub(crate) fn is_copied(tile: TileFormat, memory: MemoryFormat, swizzle: [u8; 4]) -> bool {
    let bytes = MemoryFormat::Codes {
        sizes: [8; 4],
        reversed: false,
    };
    let has_bytes = tile.blendable.is_some_and(|format| format.is_bytes());
    has_bytes && memory == bytes && swizzle == [0, 1, 2, 3]
}

/// The bits of a sample in the tile that [`memory_bits`] made bits in memory of; components that memory does not hold are 0.
pub(crate) fn tile_bits(
    tile: TileFormat,
    memory: MemoryFormat,
    swizzle: [u8; 4],
    bits: u128,
) -> u128 {
    let (Some(format), MemoryFormat::Codes { .. }) = (tile.blendable, memory) else {
        return bits;
    };
    let held = memory.unpack(bits);
    let mut codes = [0; 4];
    for (code, component) in held.into_iter().zip(swizzle) {
        if let Some(own) = codes.get_mut(usize::from(component)) {
            *own = code;
        }
    }
    format.texel_of_codes(codes)
}

/// The mean of samples. Codes of normalised formats are averaged as integers, exactly; the others as values in f64.
pub(crate) fn average(format: &PixelFormat, srgb: bool, samples: &[u128]) -> u128 {
    let count = samples.len().max(1) as f64;
    if format.is_unorm() && !srgb {
        // Most pixels are inside of a primitive. Sums and quotients are exact.
        if let [first, others @ ..] = samples
            && samples.len().is_power_of_two()
            && others.iter().all(|sample| sample == first)
        {
            return format.texel_of_codes(format.stored_codes(*first));
        }
        let mut sums = [0.0; 4];
        for sample in samples {
            for (sum, code) in sums.iter_mut().zip(format.stored_codes(*sample)) {
                *sum += f64::from(code);
            }
        }
        return format.texel_of_codes(sums.map(|sum| libm::rint(sum / count) as u32));
    }
    let format = format.with_srgb(srgb);
    let mut sums = [0.0; 4];
    for sample in samples {
        for (sum, value) in sums.iter_mut().zip(format.unpack(*sample)) {
            *sum += value;
        }
    }
    format.pack(sums.map(|sum| sum / count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Alpha that a pixel of floats has in memory alone is 1.0, and so is each component that is said to be 1.
    #[test]
    fn a_component_that_is_1_is_the_float_of_its_size() {
        let formats = [
            (
                ColorBufferInternalFormat::RGBA16F,
                FloatColorFormat::RGBA16F,
            ),
            (
                ColorBufferInternalFormat::RG11FB10F,
                FloatColorFormat::RG11FB10F,
            ),
        ];
        let [whole, packed] = formats.map(|(internal, code)| {
            let memory = MemoryFormat::of_float(code);
            let tile = TileFormat::of(internal, memory.bytes());
            memory_bits(tile, memory, [5; 4], 0)
        });
        assert_eq!(whole, 0x3c00_3c00_3c00_3c00, "halves");
        // 15 above six bits of fraction, and above five.
        assert_eq!(
            packed,
            0x3c0 | 0x3c0 << 11 | 0x1e0 << 22,
            "11, 11 and 10 bits"
        );
    }

    /// The mean of equal samples is the sample, as it is computed of different ones.
    #[test]
    fn the_mean_of_equal_samples_is_the_sample() {
        for internal in [
            ColorBufferInternalFormat::R8G8B8A8,
            ColorBufferInternalFormat::R10G10B10A2,
            ColorBufferInternalFormat::R5G6B5A0,
        ] {
            let format = TileFormat::of(internal, 4).blendable.expect("a format");
            for seed in 0..1000_u32 {
                let bits = u128::from(seed.wrapping_mul(0x9e37_79b9));
                let codes = format.stored_codes(bits).map(f64::from);
                let mean = codes.map(|code| libm::rint((code + code + code + code) / 4.0) as u32);
                let mean = format.texel_of_codes(mean);
                assert_eq!(
                    average(&format, false, &[bits; 4]),
                    mean,
                    "{internal:?}, {bits:#x}"
                );
            }
        }
    }

    /// Bits that are copied are those that conversion gives.
    #[test]
    fn copied_bits_are_converted_ones() {
        let memory = MemoryFormat::of(ColorFormat::R8G8B8A8).expect("a format");
        let internals = [
            ColorBufferInternalFormat::R8G8B8A8,
            ColorBufferInternalFormat::R10G10B10A2,
            ColorBufferInternalFormat::R5G6B5A0,
        ];
        let mut copied = 0;
        for tile in internals.map(|internal| TileFormat::of(internal, 4)) {
            for swizzle in [[0, 1, 2, 3], [2, 1, 0, 3], [0, 1, 2, 5]] {
                if !is_copied(tile, memory, swizzle) {
                    continue;
                }
                copied += 1;
                for seed in 0..1000_u32 {
                    let bits = u128::from(seed.wrapping_mul(0x9e37_79b9));
                    assert_eq!(memory_bits(tile, memory, swizzle, bits), bits);
                }
            }
        }
        assert_eq!(copied, 1);
    }

    /// What memory holds of a colour leads back to the sample, whatever the order of components.
    #[test]
    fn memory_leads_back_to_the_tile() {
        let formats = [
            (ColorBufferInternalFormat::R8G8B8A8, ColorFormat::R8G8B8A8),
            (
                ColorBufferInternalFormat::R10G10B10A2,
                ColorFormat::A2B10G10R10,
            ),
            (ColorBufferInternalFormat::R5G6B5A0, ColorFormat::R5G6B5),
        ];
        for (internal, code) in formats {
            let tile = TileFormat::of(internal, 4);
            let format = tile.blendable.expect("a format that is blended");
            let memory = MemoryFormat::of(code).expect("a format that is modelled");
            let sample = format.pack([0.25, 0.5, 0.75, 1.0]);
            for swizzle in [[0, 1, 2, 3], [2, 1, 0, 3]] {
                let stored = memory_bits(tile, memory, swizzle, sample);
                let again = tile_bits(tile, memory, swizzle, stored);
                // The fraction of a code is the tile's alone.
                let codes = format.stored_codes(sample);
                assert_eq!(format.stored_codes(again), codes, "{code:?}, {swizzle:?}");
            }
        }
    }
}
