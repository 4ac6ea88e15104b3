//! Framebuffer descriptors: what a fragment job renders, as a plain value.
//!
//! Layouts, fields and their places are the tables' of eitri-descriptors; here they only become values that a tile can use.
//! Facts: hardware/graphics-framebuffer.md 5.1, 5.3, 5.6; hardware/descriptors.md 15.

use super::surface::{
    Surface, WrittenSamples, ZsElement, afbc_surface, elements, written, written_zs, zs_afbc,
};
use super::target::{MemoryFormat, TileFormat};
use alloc::vec::Vec;
use eitri_descriptors::attachment_formats::InternalFormat;
use eitri_descriptors::framebuffer::{
    AfbcSTarget, AfbcZsTarget, BlockFormat, Downscale, FramebufferParameters, FramebufferPointer,
    SFormat, STarget, ZsFormat, ZsTarget,
};
use eitri_descriptors::target::{AfbcRgbRenderTarget, ColorBufferInternalFormat, RgbRenderTarget};
use eitri_descriptors::{Arch, Descriptor, FieldError};

/// Words of the parameters with their padding, of the extension, and of a render target.
const PARAMETER_WORDS: usize = 32;
const EXTENSION_WORDS: usize = 16;
const TARGET_WORDS: usize = 16;
/// Most samples of a pixel: coverage masks have 16 bits.
const MOST_SAMPLES: u32 = 16;

/// Where a framebuffer descriptor lies and how long it is: register d40, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FramebufferSpan {
    pub(crate) address: u64,
    pub(crate) has_extension: bool,
    pub(crate) targets: u8,
}

/// Why a framebuffer descriptor can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramebufferError {
    /// Too few words were given.
    Length { needed: usize, found: usize },
    /// A field of the parameters or the extension means nothing.
    Field(FieldError),
    /// A field of a render target means nothing.
    TargetField { target: u8, error: FieldError },
    /// The pointer's tag and the parameters disagree about the extension.
    ExtensionTag { tag: bool, parameters: bool },
    /// The pointer's tag and the parameters disagree about the number of targets.
    TargetCount { tag: u8, parameters: u32 },
    /// Effective tile size that is no tile's: pixels.
    TileSize { pixels: u32 },
    /// More samples than hardware has.
    SampleCount { samples: u32 },
    /// A target is of a kind that is not modelled; `words` are the first two of its descriptor.
    TargetNotModelled { target: u8, words: [u32; 2] },
    /// A target is to be averaged, which its internal format does not allow.
    AverageNotLegal { target: u8 },
    /// The depth or stencil image is of a kind that is not modelled; `word` is the first of the extension.
    ExtensionNotModelled { word: u32 },
}

impl FramebufferError {
    /// The field that is wrong.
    pub(crate) fn field(&self) -> &'static str {
        match self {
            FramebufferError::Length { .. } => "Pointer",
            FramebufferError::Field(error) => error.field,
            // FACT: targets of YCbCr and of AFRC are refused: how a write-back converts and rounds colours to YCbCr and which samples
            // its chroma is of, and what AFRC's coding units hold, is not published; hardware/descriptors.md 15 names the fields alone.
            // Settled by the bytes that a board writes of a ramp of colours with each conversion mode and each AFRC format.
            FramebufferError::TargetField { error, .. } => match error.field {
                "YUV Enable" => "YUV Enable (targets of YCbCr are not modelled)",
                "Writeback Mode" => "Writeback Mode (AFRC is not modelled)",
                field => field,
            },
            FramebufferError::ExtensionTag { .. } => "Has ZS CRC Extension",
            FramebufferError::TargetCount { .. } => "Render Target Count",
            FramebufferError::TileSize { .. } => "Effective Tile Size",
            FramebufferError::SampleCount { .. } => "Sample Count",
            FramebufferError::TargetNotModelled { .. } => {
                "Writeback Mode (of a kind that is not modelled)"
            }
            FramebufferError::AverageNotLegal { .. } => "Writeback MSAA",
            FramebufferError::ExtensionNotModelled { .. } => {
                "ZS Target (of a kind that is not modelled)"
            }
        }
    }
}

impl From<FieldError> for FramebufferError {
    fn from(error: FieldError) -> FramebufferError {
        FramebufferError::Field(error)
    }
}

impl FramebufferSpan {
    /// Decodes the tagged pointer.
    ///
    /// # Errors
    /// The field whose bits mean nothing: bit 0 must be set.
    pub(crate) fn of(arch: Arch, pointer: u64) -> Result<FramebufferSpan, FieldError> {
        let words = [pointer as u32, (pointer >> 32) as u32];
        let fields = FramebufferPointer::unpack_at(arch, &words, 0)?;
        Ok(FramebufferSpan {
            address: fields.pointer.get(),
            has_extension: fields.zs_crc_extension_present,
            targets: fields.render_target_count as u8,
        })
    }

    /// 32-bit words from the address on that [`Framebuffer::decode`] needs.
    pub(crate) fn words(&self) -> usize {
        self.first_target() + usize::from(self.targets) * TARGET_WORDS
    }

    fn first_target(&self) -> usize {
        if self.has_extension {
            PARAMETER_WORDS + EXTENSION_WORDS
        } else {
            PARAMETER_WORDS
        }
    }
}

/// Extent of a tile in pixels; both powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileShape {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl TileShape {
    /// The shape of a tile of `pixels`: square or twice as wide as high. `None` unless a power of two from 16 to 4096.
    pub(crate) fn of_area(pixels: u32) -> Option<TileShape> {
        if !pixels.is_power_of_two() || !(16..=4096).contains(&pixels) {
            return None;
        }
        let log = pixels.trailing_zeros();
        Some(TileShape {
            width: 1 << log.div_ceil(2),
            height: 1 << (log / 2),
        })
    }

    /// Pixels of a tile.
    pub(crate) fn pixels(self) -> u32 {
        self.width * self.height
    }
}

/// A framebuffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Framebuffer {
    pub(crate) arch: Arch,
    /// Size, box, samples, tie rule, frame shaders, clear values: as the table has them.
    pub(crate) parameters: FramebufferParameters,
    pub(crate) tile: TileShape,
    pub(crate) targets: Vec<Target>,
    /// Where depth is written; `None` if it is not.
    pub(crate) depth: Option<DepthImage>,
    /// Where stencil is written; `None` if it is not.
    pub(crate) stencil: Option<StencilImage>,
    /// Depth and stencil of tiles without geometry are written too.
    pub(crate) zs_clean_tile_write: bool,
}

/// A colour target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) format: TileFormat,
    pub(crate) clear: [u32; 4],
    /// The clear words carry fractions, which are rounded.
    pub(crate) dithered_clear: bool,
    /// Codes of red, green and blue are of the sRGB curve.
    pub(crate) srgb: bool,
    /// Tiles without geometry are written too.
    pub(crate) clean_tile_write: bool,
    /// Where it is written; `None` if it is not.
    pub(crate) image: Option<TargetImage>,
}

/// Memory of a colour target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TargetImage {
    pub(crate) format: MemoryFormat,
    /// What each channel in memory takes: 0 to 3 a component, 4 zero, 5 one.
    pub(crate) swizzle: [u8; 4],
    pub(crate) surface: Surface,
    pub(crate) samples: WrittenSamples,
}

/// Memory of depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthImage {
    pub(crate) format: ZsFormat,
    pub(crate) surface: Surface,
    pub(crate) samples: WrittenSamples,
}

/// Memory of stencil.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StencilImage {
    pub(crate) format: SFormat,
    pub(crate) surface: Surface,
    pub(crate) samples: WrittenSamples,
}

impl Framebuffer {
    /// Decodes the words from the address of `span` on.
    ///
    /// # Errors
    /// A [`FramebufferError`] with the place.
    pub(crate) fn decode(
        arch: Arch,
        span: FramebufferSpan,
        words: &[u32],
    ) -> Result<Framebuffer, FramebufferError> {
        if words.len() < span.words() {
            return Err(FramebufferError::Length {
                needed: span.words(),
                found: words.len(),
            });
        }
        let parameters = FramebufferParameters::unpack_at(arch, words, 0)?;
        check_tag(span, &parameters)?;
        let samples = parameters.sample_count;
        if samples > MOST_SAMPLES {
            return Err(FramebufferError::SampleCount { samples });
        }
        let pixels = parameters.effective_tile_size;
        let tile = TileShape::of_area(pixels).ok_or(FramebufferError::TileSize { pixels })?;
        let mut targets = Vec::new();
        for target in 0..span.targets {
            let start = span.first_target() + usize::from(target) * TARGET_WORDS;
            targets.push(Target::decode(
                arch,
                target,
                &words[start..start + TARGET_WORDS],
            )?);
        }
        let mut framebuffer = Framebuffer {
            arch,
            parameters,
            tile,
            targets,
            depth: None,
            stencil: None,
            zs_clean_tile_write: false,
        };
        if span.has_extension {
            framebuffer
                .add_extension(&words[PARAMETER_WORDS..PARAMETER_WORDS + EXTENSION_WORDS])?;
        }
        Ok(framebuffer)
    }

    /// A field that asks for what the model does not do, and no driver asks for (hardware/graphics-framebuffer.md 5.1).
    pub(crate) fn ignored(&self) -> Option<&'static str> {
        let parameters = &self.parameters;
        // FACT: what the bits of empty tiles do is not published. With checksums they are taken to be part of those: a tile without
        // primitives has the checksum of the clear colour (hardware/graphics-framebuffer.md 5.7), and none is compared here. Without
        // checksums they are told. Settled by a pass with each bit, and the table of checksums behind it.
        let has_checksums = parameters.crc_read_enable || parameters.crc_write_enable;
        let asked = [
            (
                parameters.downscale_geometry != Downscale::None,
                "Downscale geometry (not modelled)",
            ),
            (
                parameters.blend_suppress_inf,
                "Blend suppress Inf (not modelled)",
            ),
            (
                parameters.blend_suppress_nan,
                "Blend suppress NaN (not modelled)",
            ),
            (
                parameters.blend_suppress_denorm,
                "Blend suppress denorm (not modelled)",
            ),
            (
                parameters.s_preload_enable,
                "S Preload Enable (not modelled)",
            ),
            (parameters.s_unload_enable, "S Unload Enable (not modelled)"),
            (
                parameters.z_preload_enable,
                "Z Preload Enable (not modelled)",
            ),
            (parameters.z_unload_enable, "Z Unload Enable (not modelled)"),
            (
                parameters.empty_tile_read_enable && !has_checksums,
                "Empty Tile Read Enable (not modelled)",
            ),
            (
                parameters.empty_tile_write_enable && !has_checksums,
                "Empty Tile Write Enable (not modelled)",
            ),
        ];
        asked
            .into_iter()
            .find_map(|(asked, field)| asked.then_some(field))
    }

    fn add_extension(&mut self, words: &[u32]) -> Result<(), FramebufferError> {
        let not_modelled = FramebufferError::ExtensionNotModelled { word: words[0] };
        let zs = ZsTarget::unpack_at(self.arch, words, 0)?;
        let s = STarget::unpack_at(self.arch, words, 0)?;
        self.zs_clean_tile_write = zs.clean_tile_write_enable;
        if self.parameters.z_write_enable
            && let Some(format) = zs.write_format
        {
            let afbc = AfbcZsTarget::unpack_at(self.arch, words, 0)?;
            let pixel_bytes = ZsElement::of_depth(format).element;
            self.depth = Some(DepthImage {
                format,
                surface: elements(zs.block_format, zs.base.0, zs.row_stride)
                    .or_else(|| {
                        let place = [afbc.header.0, afbc.header_row_stride.into()];
                        zs_afbc(zs.block_format, place, afbc.body_offset, pixel_bytes)
                    })
                    .ok_or(not_modelled)?,
                samples: written_zs(zs.msaa, stride(zs.surface_stride_hi, zs.surface_stride))
                    .ok_or(not_modelled)?,
            });
        }
        if self.parameters.s_write_enable
            && let Some(format) = s.write_format
        {
            let afbc = AfbcSTarget::unpack_at(self.arch, words, 0)?;
            let pixel_bytes = ZsElement::of_stencil(format).element;
            self.stencil = Some(StencilImage {
                format,
                surface: elements(s.block_format, s.base.0, s.row_stride)
                    .or_else(|| {
                        let place = [afbc.header.0, afbc.header_row_stride.into()];
                        zs_afbc(s.block_format, place, afbc.body_offset, pixel_bytes)
                    })
                    .ok_or(not_modelled)?,
                samples: written_zs(s.msaa, stride(s.surface_stride_hi, s.surface_stride))
                    .ok_or(not_modelled)?,
            });
        }
        Ok(())
    }
}

fn check_tag(
    span: FramebufferSpan,
    parameters: &FramebufferParameters,
) -> Result<(), FramebufferError> {
    if span.has_extension != parameters.has_zs_crc_extension {
        return Err(FramebufferError::ExtensionTag {
            tag: span.has_extension,
            parameters: parameters.has_zs_crc_extension,
        });
    }
    if u32::from(span.targets) != parameters.render_target_count {
        return Err(FramebufferError::TargetCount {
            tag: span.targets,
            parameters: parameters.render_target_count,
        });
    }
    Ok(())
}

impl Target {
    fn decode(arch: Arch, target: u8, words: &[u32]) -> Result<Target, FramebufferError> {
        let at = |error| FramebufferError::TargetField { target, error };
        let not_modelled = FramebufferError::TargetNotModelled {
            target,
            words: [words[0], words[1]],
        };
        let fields = RgbRenderTarget::unpack_at(arch, words, 0).map_err(at)?;
        let format = memory_format(&fields).ok_or(not_modelled)?;
        let clear = fields.clear;
        let internal = fields.internal_format;
        let mut image = None;
        if fields.write_enable && fields.writeback_block_format != BlockFormat::NoWrite {
            let buffer = fields.writeback_buffer;
            let stride = stride(buffer.surface_stride_hi, buffer.surface_stride);
            let samples = written(fields.writeback_msaa, stride).ok_or(not_modelled)?;
            let may_average =
                InternalFormat::of(internal).is_some_and(|row| row.average.contains(arch));
            if samples == WrittenSamples::Average && !may_average {
                return Err(FramebufferError::AverageNotLegal { target });
            }
            let block = fields.writeback_block_format;
            let mut format = format;
            let surface = match elements(block, buffer.base.0, buffer.row_stride) {
                Some(surface) => Some(surface),
                None => {
                    let fields = AfbcRgbRenderTarget::unpack_at(arch, words, 0).map_err(at)?;
                    format = format.in_afbc(fields.compression_mode);
                    afbc_surface(&fields, format.bytes())
                }
            };
            // Compressed images have one sample.
            let layered = matches!(samples, WrittenSamples::Layered { .. });
            let surface =
                surface.filter(|surface| !(layered && matches!(surface, Surface::Afbc(_))));
            image = Some(TargetImage {
                format,
                swizzle: core::array::from_fn(|at| (fields.swizzle.0 >> (3 * at) & 7) as u8),
                surface: surface.ok_or(not_modelled)?,
                samples,
            });
        }
        Ok(Target {
            format: TileFormat::of(internal, format.bytes()),
            clear: [clear.color_0, clear.color_1, clear.color_2, clear.color_3],
            dithered_clear: fields.dithered_clear,
            srgb: fields.srgb,
            clean_tile_write: fields.clean_tile_write_enable,
            image,
        })
    }
}

/// The format in memory; the internal format tells which of two lists its code is of.
fn memory_format(fields: &RgbRenderTarget) -> Option<MemoryFormat> {
    use ColorBufferInternalFormat as Internal;
    match fields.internal_format {
        Internal::R16F | Internal::RG16F | Internal::RGBA16F | Internal::RG11FB10F => {
            fields.writeback_float_format.map(MemoryFormat::of_float)
        }
        _ => MemoryFormat::of(fields.writeback_format),
    }
}

fn stride(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
#[path = "framebuffer_tests.rs"]
mod tests;
