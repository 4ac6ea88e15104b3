//! Pixel formats: components in memory, and what they are worth.
//!
//! A format is 22 bits: order of the components, code, sRGB; `codes` says what they mean. What has no entry is not modelled.
//! Never: knows registers, addresses or descriptors.
//!
//! Facts: hardware/descriptors.md 10.1; hardware/graphics-texture.md 7.9; hardware/valhall-isa.md 11.6 (conversion).

mod codes;
mod numbers;

pub(super) use codes::Takes;

use super::yuv::{self, Yuv};
use codes::{
    ALPHA_ALONE, DEPTH24, DEPTH24_ABOVE, Layout, Number, PADDED10, RGB1, STENCIL, is_reversed,
    order, places, reversed_places, stored,
};
use eitri_descriptors::attachment_formats::InternalFormat;
use numbers::{EIGHT_BITS, bits_of, linear_of_srgb, mask, shared_exponent, srgb_of_linear, value};

/// A format that is understood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PixelFormat {
    number: Number,
    layout: Layout,
    /// Lowest bit of each stored component.
    low: [u8; 4],
    bytes: u8,
    order: [Takes; 4],
    srgb: bool,
    /// Whether the components are the bytes of a texel of four, as fractions.
    is_bytes: bool,
}

/// Four components, red first. Integers of 32 bits are exact in them.
pub(crate) type Colour = [f64; 4];

impl PixelFormat {
    /// The format of a 22-bit word; `None` if it is not modelled.
    pub(crate) fn of(word: u32) -> Option<PixelFormat> {
        let code = (word >> 12) & 0xff;
        let (number, mut layout) = stored(code)?;
        let order = match code {
            // A stencil value lands in red, whatever the order (descriptors.md 10.2).
            STENCIL => order(RGB1, layout)?,
            yuv::FIRST_CODE..=yuv::LAST_CODE => Yuv::of(word)?.order(),
            _ => order(word & 0xfff, layout)?,
        };
        if let (Layout::Bits([first, ..]), ALPHA_ALONE) = (layout, word & 0xfff) {
            // The one stored component is alpha: texels, elements and buffers of A8 have one byte (descriptors.md 10.1).
            layout = Layout::Bits([first, 0, 0, 0]);
        }
        let (low, bytes) = match layout {
            // Depth of 24 bits has eight unused ones above it, or below.
            Layout::Bits(_) if code == DEPTH24 => ([0; 4], 4),
            Layout::Bits(_) if code == DEPTH24_ABOVE => ([8, 0, 0, 0], 4),
            Layout::Bits(sizes) if is_reversed(code) => reversed_places(sizes),
            Layout::Bits(sizes) if code == PADDED10 => places(sizes, [6; 4]),
            Layout::Bits(sizes) => places(sizes, [0; 4]),
            Layout::SharedExponent if is_reversed(code) => ([23, 14, 5, 0], 4),
            Layout::SharedExponent => ([0, 9, 18, 27], 4),
            Layout::Nothing => ([0; 4], 0),
        };
        let format = PixelFormat {
            number,
            layout,
            low,
            bytes,
            order,
            srgb: word >> 20 & 1 != 0,
            is_bytes: false,
        };
        Some(format.noting_bytes())
    }

    /// The format of the memory word of a BLEND or LD_TILE: also the tile buffer's own codes.
    ///
    /// Their dithered and undithered forms are one: components are codes without fraction
    /// (hardware/graphics-model.md 4.4, free choice). Alpha that is not stored is 1, whatever the order.
    pub(crate) fn of_tile(word: u32) -> Option<PixelFormat> {
        let code = (word >> 12) & 0xff;
        let mut format = match InternalFormat::of_code(code) {
            None => PixelFormat::of(word)?,
            Some(fields) => {
                let (low, bytes) = places(fields.bits, fields.fraction);
                let number = if fields.is_float {
                    Number::Float
                } else {
                    Number::Unorm
                };
                PixelFormat {
                    number,
                    layout: Layout::Bits(fields.bits),
                    low,
                    bytes,
                    order: order(word & 0xfff, Layout::Bits(fields.bits))?,
                    srgb: word >> 20 & 1 != 0,
                    is_bytes: false,
                }
            }
        };
        if let Layout::Bits([.., 0]) = format.layout
            && format.order[3] == Takes::Stored(3)
        {
            format.order[3] = Takes::One;
        }
        Some(format.noting_bytes())
    }

    /// The same format, with its note whether components are bytes.
    fn noting_bytes(self) -> PixelFormat {
        let is_bytes = self.number == Number::Unorm
            && self.layout == Layout::Bits([8; 4])
            && self.low == [0, 8, 16, 24]
            && self.order == [0, 1, 2, 3].map(Takes::Stored)
            && !self.srgb;
        PixelFormat { is_bytes, ..self }
    }

    /// Whether its components are the bytes of a texel of four, as fractions, red first.
    pub(crate) fn is_bytes(&self) -> bool {
        self.is_bytes
    }

    /// Whether its components are fractions of 0 to 1.
    pub(crate) fn is_unorm(&self) -> bool {
        self.number == Number::Unorm
    }

    /// The same format with components on the sRGB curve or not.
    pub(crate) fn with_srgb(self, srgb: bool) -> PixelFormat {
        PixelFormat { srgb, ..self }.noting_bytes()
    }

    /// The texel of stored components, in the order of the texel.
    pub(crate) fn texel_of_codes(&self, codes: [u32; 4]) -> u128 {
        let Layout::Bits(sizes) = self.layout else {
            return 0;
        };
        if self.bytes <= 8 {
            let texel = (0..4).fold(0, |texel, index| {
                texel | u64::from(codes[index] & mask(sizes[index])) << (self.low[index] & 63)
            });
            return texel.into();
        }
        (0..4).fold(0, |texel, index| {
            texel | u128::from(codes[index] & mask(sizes[index])) << self.low[index]
        })
    }

    /// Whether it is depth of 24 bits, which an AFBC image may have packed.
    pub(crate) fn is_depth_of_24_bits(&self) -> bool {
        matches!(self.layout, Layout::Bits([24, 0, 0, 0]))
    }

    /// Bits of the widest component.
    pub(crate) fn widest(&self) -> u8 {
        match self.layout {
            Layout::Bits(sizes) => sizes.into_iter().max().unwrap_or(0),
            Layout::SharedExponent => 9,
            Layout::Nothing => 0,
        }
    }

    /// The bits of a texel that hold output component `channel`; none if it is not stored.
    pub(crate) fn channel_bits(&self, channel: usize) -> u128 {
        let Layout::Bits(sizes) = self.layout else {
            // Components that share an exponent are written together.
            return (1 << (8 * u32::from(self.bytes()))) - 1;
        };
        let Some(Takes::Stored(index)) = self.order.get(channel).copied() else {
            return 0;
        };
        let index = usize::from(index);
        u128::from(mask(sizes[index])) << self.low[index]
    }

    /// The stored bits of each component, in the order of the texel.
    pub(crate) fn stored_codes(&self, texel: u128) -> [u32; 4] {
        let Layout::Bits(sizes) = self.layout else {
            return [0; 4];
        };
        // Most texels have few bytes, and shifts of 64 bits are quicker.
        if self.bytes < 8 {
            let texel = texel as u64;
            return core::array::from_fn(|index| {
                (texel >> (self.low[index] & 63)) as u32 & mask(sizes[index])
            });
        }
        core::array::from_fn(|index| (texel >> self.low[index]) as u32 & mask(sizes[index]))
    }

    /// The texel with its fractions zero: cut off, or rounded to nearest even.
    pub(crate) fn without_fraction(&self, texel: u128, rounds: bool) -> u128 {
        let Layout::Bits(sizes) = self.layout else {
            return texel;
        };
        let (mut clean, mut end) = (0, 0);
        for (size, low) in sizes.into_iter().zip(self.low) {
            let fraction = u32::from(low - end);
            let field = (texel >> end) as u32 & mask(size + low - end);
            let code = if rounds && fraction != 0 {
                let value = f64::from(field) / f64::from(1_u32 << fraction);
                (libm::rint(value) as u32).min(mask(size))
            } else {
                field >> fraction
            };
            clean |= u128::from(code) << low;
            end = low + size;
        }
        clean
    }

    /// Bytes at a multiple of which a texel of a vertex buffer lies: those of a component, or of all where they are packed
    /// (hardware/descriptors.md 5).
    pub(crate) fn alignment(&self) -> u64 {
        match self.layout {
            Layout::Bits([size, ..]) if self.same_size() && size % 8 == 0 => u64::from(size / 8),
            _ => u64::from(self.bytes).max(1).next_power_of_two(),
        }
    }

    /// Whether all components that are stored have one size.
    fn same_size(&self) -> bool {
        let Layout::Bits([first, rest @ ..]) = self.layout else {
            return false;
        };
        rest.iter().all(|size| *size == 0 || *size == first)
    }

    /// Bytes of a texel.
    pub(crate) fn bytes(&self) -> u8 {
        self.bytes
    }

    /// How many components there are, if each is a word of memory that is worth what it is as an integer or a float of 32 bits,
    /// red first; and which of the others are 1, of which the rest is 0.
    pub(crate) fn words(&self) -> Option<(u8, [bool; 4])> {
        let Layout::Bits(sizes) = self.layout else {
            return None;
        };
        let count = sizes.iter().take_while(|size| **size == 32).count() as u8;
        let mut components = (0..4).zip(self.order).zip(sizes.iter().zip(self.low));
        let in_order = components.all(|((index, takes), (size, low))| match takes {
            _ if index < count => takes == Takes::Stored(index) && low == 32 * index,
            Takes::Stored(other) => other >= count && *size == 0,
            Takes::Zero | Takes::One => *size == 0,
        });
        let is_plain = matches!(self.number, Number::Uint | Number::Sint | Number::Float);
        let whole = count != 0 && self.bytes == 4 * count && !self.srgb;
        let ones = self.order.map(|takes| takes == Takes::One);
        (in_order && is_plain && whole).then_some((count, ones))
    }

    /// Whether its values are integers.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// Whether its integers have a sign.
    pub(crate) fn is_signed(&self) -> bool {
        self.number == Number::Sint
    }

    /// The colour of a texel. Missing components are 0, 0, 0, 1.
    #[inline]
    pub(crate) fn unpack(&self, texel: u128) -> Colour {
        if self.is_bytes {
            let codes = (texel as u32).to_le_bytes();
            return codes.map(|code| EIGHT_BITS[usize::from(code)]);
        }
        self.unpack_any(texel)
    }

    /// The colour of a texel of any format.
    fn unpack_any(&self, texel: u128) -> Colour {
        let stored = match self.layout {
            Layout::Bits(sizes) => {
                let codes = self.stored_codes(texel);
                if let (Number::Unorm, [0 | 8, 0 | 8, 0 | 8, 0 | 8]) = (self.number, sizes) {
                    // The code of a component that is not stored is 0.
                    codes.map(|code| EIGHT_BITS[code as usize & 0xff])
                } else {
                    core::array::from_fn(|index| match sizes[index] {
                        0 => 0.0,
                        size => value(self.number, codes[index], size),
                    })
                }
            }
            Layout::SharedExponent => {
                let field = |index: usize, width| texel as u32 >> self.low[index] & mask(width);
                let scale = libm::exp2(f64::from(field(3, 5)) - 15.0 - 9.0);
                let fraction = |index| f64::from(field(index, 9)) * scale;
                [fraction(0), fraction(1), fraction(2), 1.0]
            }
            Layout::Nothing => [0.0; 4],
        };
        let mut colour = self.order.map(|from| match from {
            Takes::Stored(index) => stored[usize::from(index)],
            Takes::Zero => 0.0,
            Takes::One => 1.0,
        });
        if self.srgb {
            for component in &mut colour[..3] {
                *component = linear_of_srgb(*component);
            }
        }
        colour
    }

    /// Whether the border has components that the format lacks.
    pub(crate) fn lacks_components(&self) -> bool {
        self.border([2.0; 4]) != [2.0; 4]
    }

    /// Whether alpha is the second of two components, the first being all colours (RRRA).
    pub(crate) fn takes_alpha_from_second(&self) -> bool {
        self.order
            == [
                Takes::Stored(0),
                Takes::Stored(0),
                Takes::Stored(0),
                Takes::Stored(1),
            ]
    }

    /// The border of a texture of this format: components that its texels lack are what they are in texels.
    // FACT: the border's components are in the order red to alpha, whatever the format's order (graphics-model.md 5.1 (9));
    // that missing ones are replaced is Vulkan's rule, which holds on hardware (8). Settled by sampling the white border of an
    // R8 texture on any board.
    pub(crate) fn border(&self, colour: Colour) -> Colour {
        let missing = |from: Takes| match (from, self.layout) {
            (Takes::Stored(index), Layout::Bits(sizes)) if sizes[usize::from(index)] == 0 => {
                Some(0.0)
            }
            (Takes::Stored(_), _) => None,
            (Takes::Zero, _) => Some(0.0),
            (Takes::One, _) => Some(1.0),
        };
        core::array::from_fn(|index| missing(self.order[index]).unwrap_or(colour[index]))
    }

    /// The texel of a colour.
    #[inline]
    pub(crate) fn pack(&self, colour: Colour) -> u128 {
        if self.is_bytes {
            let codes = colour.map(|value| bits_of(Number::Unorm, value, 8) as u8);
            return u32::from_le_bytes(codes).into();
        }
        self.pack_any(colour)
    }

    /// The texel of a colour of any format.
    fn pack_any(&self, mut colour: Colour) -> u128 {
        if self.srgb {
            for component in &mut colour[..3] {
                *component = srgb_of_linear(component.clamp(0.0, 1.0));
            }
        }
        // A stored component takes the first output that comes from it.
        let mut stored = [0.0; 4];
        for (from, value) in self.order.iter().zip(colour).rev() {
            if let Takes::Stored(index) = from {
                stored[usize::from(*index) & 3] = value;
            }
        }
        match self.layout {
            Layout::Bits(sizes) => {
                let mut codes = [0; 4];
                for (index, size) in sizes.into_iter().enumerate() {
                    if size != 0 {
                        codes[index] = bits_of(self.number, stored[index], size);
                    }
                }
                self.texel_of_codes(codes)
            }
            Layout::SharedExponent => {
                let fields = shared_exponent([stored[0], stored[1], stored[2]]);
                let placed = fields.into_iter().zip(self.low);
                placed.fold(0, |texel, (field, low)| texel | u128::from(field) << low)
            }
            Layout::Nothing => 0,
        }
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "format_vectors.rs"]
mod vectors;
