//! Operand of BLEND: mode, target and conversion, decoded in one place for its three sources.
//!
//! The special value blend_descriptor_n, uniforms and a blend shader's registers all give words 2 and 3 of a BLEND descriptor.
//! Facts: hardware/graphics-model.md 0 item 3 and 4.4; hardware/descriptors.md 21.

use crate::shader::PixelFormat;
use eitri_descriptors::blend::{BlendMode, InternalBlend};
use eitri_descriptors::{Arch, Descriptor, FieldError};

/// What a BLEND does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BlendOperand {
    /// Nothing; `target` instructions are skipped.
    Off,
    /// The program goes on at this address; bits 31 up are the fragment program's.
    Shader { pc: u32 },
    /// Converts and writes, whatever a descriptor says.
    Opaque(Output),
    /// Converts, blends and writes by the descriptor that names the same target.
    FixedFunction(Output),
}

/// Where a colour goes and how it is converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Output {
    /// Number of the colour target, 0 to 15: there may be none of it.
    pub(crate) target: u8,
    /// Components that are given, 1 to 4. Drivers give 4.
    pub(crate) components: u8,
    pub(crate) conversion: Conversion,
}

/// Conversion word of BLEND, LD_TILE and ST_TILE, with its format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conversion {
    pub(crate) word: u32,
    format: Option<PixelFormat>,
}

impl Conversion {
    /// The conversion of a word. It is decoded here, so the same one serves several pixels.
    pub(crate) fn of(word: u32) -> Conversion {
        Conversion {
            word,
            format: PixelFormat::of_tile(word & 0x3f_ffff),
        }
    }

    /// The same of each of several words, most of which are that of the word before.
    pub(crate) fn of_another(word: u32, before: &mut Option<Conversion>) -> Conversion {
        let known = before.filter(|conversion| conversion.word == word);
        *before.insert(known.unwrap_or_else(|| Conversion::of(word)))
    }

    /// Bits go as they are, in words of 32.
    pub(crate) fn is_raw(&self) -> bool {
        self.word >> 22 & 1 != 0
    }

    /// The format that tile contents have; `None` if it is not modelled.
    pub(crate) fn format(&self) -> Option<&PixelFormat> {
        self.format.as_ref()
    }
}

/// What LD_TILE and ST_TILE name: their PIX operand, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileIndex {
    /// `None` is all samples.
    pub(crate) sample: Option<u8>,
    pub(crate) plane: TilePlane,
    /// x and y; `None` is the pixel of the thread.
    pub(crate) pixel: Option<[u8; 2]>,
}

/// A part of the tile buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TilePlane {
    Colour(u8),
    Stencil,
    Depth,
}

impl TilePlane {
    const STENCIL: u8 = 254;
    const DEPTH: u8 = 255;

    /// The number that names the plane.
    pub(crate) fn number(self) -> u8 {
        match self {
            TilePlane::Colour(target) => target,
            TilePlane::Stencil => TilePlane::STENCIL,
            TilePlane::Depth => TilePlane::DEPTH,
        }
    }
}

impl TileIndex {
    /// Decodes the operand: bytes sample, target, x, y; 255 as sample is all, as y the current pixel (valhall-isa.md 11.8).
    pub(crate) fn decode(operand: u32) -> TileIndex {
        let [sample, target, x, y] = operand.to_le_bytes();
        TileIndex {
            sample: (sample != u8::MAX).then_some(sample),
            plane: match target {
                TilePlane::STENCIL => TilePlane::Stencil,
                TilePlane::DEPTH => TilePlane::Depth,
                target => TilePlane::Colour(target),
            },
            pixel: (y != u8::MAX).then_some([x, y]),
        }
    }
}

impl BlendOperand {
    /// Decodes the 64-bit operand.
    ///
    /// # Errors
    /// The field whose bits mean nothing.
    pub(crate) fn decode(arch: Arch, operand: u64) -> Result<BlendOperand, FieldError> {
        let words = [operand as u32, (operand >> 32) as u32];
        let fields = InternalBlend::unpack_at(arch, &words, 0)?;
        let fixed = fields.fixed_function.unwrap_or_default();
        let output = Output {
            target: fixed.rt as u8,
            components: fixed.num_comps as u8,
            conversion: Conversion::of(words[1]),
        };
        Ok(match fields.mode {
            BlendMode::Off => BlendOperand::Off,
            BlendMode::Shader => BlendOperand::Shader {
                pc: fields.shader.map_or(0, |shader| shader.pc as u32),
            },
            BlendMode::Opaque => BlendOperand::Opaque(output),
            BlendMode::FixedFunction => BlendOperand::FixedFunction(output),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(high: u32, low: u32) -> BlendOperand {
        let operand = u64::from(high) << 32 | u64::from(low);
        BlendOperand::decode(Arch::V10, operand).expect("a mode")
    }

    #[test]
    fn the_words_of_captured_programs_name_target_and_format() {
        // Words of hardware/graphics-framebuffer.md 6.3 and reviews/graphics-facts.md 2.1.
        let BlendOperand::Opaque(output) = decoded(0x000e_d000, 0x19) else {
            panic!("0x19 is opaque");
        };
        assert_eq!((output.target, output.components), (0, 4));
        assert_eq!(output.conversion.format().map(|it| it.bytes()), Some(4));
        let BlendOperand::Opaque(output) = decoded(0x0009_c000, 0x1_0019) else {
            panic!("0x10019 is opaque");
        };
        assert_eq!(output.target, 1);
        assert_eq!(output.conversion.format().map(|it| it.bytes()), Some(8));
    }

    #[test]
    fn pixel_indices_name_sample_plane_and_pixel() {
        let index = TileIndex::decode(0xff00_02ff);
        assert_eq!((index.sample, index.plane), (None, TilePlane::Colour(2)));
        assert_eq!(index.pixel, None);
        let index = TileIndex::decode(0x0305_fe01);
        assert_eq!((index.sample, index.plane), (Some(1), TilePlane::Stencil));
        assert_eq!(index.pixel, Some([5, 3]));
        assert_eq!(TileIndex::decode(0xff00_ff00).plane.number(), 255);
    }

    #[test]
    fn modes_are_told_apart() {
        assert_eq!(decoded(0, 3), BlendOperand::Off);
        assert_eq!(
            decoded(0xffff_f120, 0),
            BlendOperand::Shader { pc: 0xffff_f120 }
        );
        assert_eq!(decoded(0, 0), BlendOperand::Shader { pc: 0 });
        let BlendOperand::FixedFunction(output) = decoded(0x004e_d000, 0x2_001a) else {
            panic!("mode 2 is fixed function");
        };
        assert!(output.conversion.is_raw());
        assert_eq!(output.target, 2);
    }
}
