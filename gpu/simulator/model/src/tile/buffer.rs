//! Tile buffer: codes of up to 8 colour targets, depth and stencil of each sample of a tile.
//!
//! A sample of a target is the bits of its internal format, little endian; normalised components hold their code above a
//! fraction of zeros (free choice of hardware/graphics-model.md 4.4). Depth is its code, of D32F the bits.
//! Facts: hardware/graphics-model.md 4.1, 4.4; hardware/graphics-formats.md 4.

use super::blend::{self, BlendState, Operands};
use super::depth::{StoredZs, depth_of, quantised};
use super::framebuffer::{Framebuffer, Target, TileShape};
use super::operand::{Conversion, Output, TileIndex, TilePlane};
use super::target::TileFormat;
use crate::shader::{Colour, PixelFormat};
use crate::trace::{TileColor, TileContents};
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::framebuffer::ZInternalFormat;

/// A pixel of a tile, from the tile's upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pixel {
    pub(crate) x: u32,
    pub(crate) y: u32,
}

/// What a program gives to be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Source {
    /// Numbers, red first: integers of integer registers, floats of the others.
    Colour(Colour),
    /// Registers as they are, for a raw conversion.
    Raw([u32; 4]),
}

/// What LD_TILE gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loaded {
    /// A colour, for registers that hold values of this format.
    Colour(Colour, PixelFormat),
    /// The bits of the sample, in words.
    Raw([u32; 4]),
    Depth(f32),
    Stencil(u8),
}

/// Why a program's access to the tile buffer has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileError {
    /// The framebuffer has no such colour target.
    NoTarget { target: u8 },
    /// The conversion's format is not modelled, or raw bits come without a raw conversion, or the reverse.
    Conversion { target: u8, word: u32 },
    /// No BLEND descriptor of the draw names the target.
    NoEquation { target: u8 },
    /// Fixed-function blending of a target of raw bits.
    NotBlendable { target: u8 },
    /// The pixel is outside the tile.
    Outside { pixel: Pixel },
}

/// A tile.
#[derive(Clone, Debug)]
pub(crate) struct TileBuffer {
    shape: TileShape,
    samples: u32,
    planes: Vec<Plane>,
    depth_format: ZInternalFormat,
    zs_clear: StoredZs,
    zs: Vec<StoredZs>,
}

/// One target of a tile.
#[derive(Clone, Debug)]
struct Plane {
    format: TileFormat,
    /// Bits of a cleared sample.
    clear: u128,
    bytes: Vec<u8>,
}

impl TileBuffer {
    /// A tile of a framebuffer, cleared.
    pub(crate) fn new(framebuffer: &Framebuffer) -> TileBuffer {
        let samples = framebuffer.parameters.sample_count;
        let count = (framebuffer.tile.pixels() * samples) as usize;
        let depth_format = framebuffer.parameters.z_internal_format;
        let zs_clear = StoredZs {
            depth: quantised(depth_format, framebuffer.parameters.z_clear.into()),
            stencil: framebuffer.parameters.s_clear as u8,
        };
        let mut tile = TileBuffer {
            shape: framebuffer.tile,
            samples,
            depth_format,
            zs_clear,
            zs: vec![zs_clear; count],
            planes: framebuffer
                .targets
                .iter()
                .map(|target| Plane {
                    format: target.format,
                    clear: clear_bits(target),
                    bytes: vec![0; count * usize::from(target.format.bytes)],
                })
                .collect(),
        };
        tile.clear();
        tile
    }

    /// Fills the tile with the framebuffer's clear values.
    pub(crate) fn clear(&mut self) {
        for plane in &mut self.planes {
            let size = usize::from(plane.format.bytes);
            let bits = plane.clear.to_le_bytes();
            for sample in plane.bytes.chunks_exact_mut(size) {
                sample.copy_from_slice(&bits[..size]);
            }
        }
        self.zs.fill(self.zs_clear);
    }

    /// Format of depth codes.
    pub(crate) fn depth_format(&self) -> ZInternalFormat {
        self.depth_format
    }

    /// Depth and stencil of a sample.
    ///
    /// # Errors
    /// [`TileError::Outside`] where there is none.
    pub(crate) fn zs(&self, pixel: Pixel, sample: u32) -> Result<StoredZs, TileError> {
        let at = self.index(pixel, sample)?;
        self.zs.get(at).copied().ok_or(TileError::Outside { pixel })
    }

    /// Depth and stencil of the samples of a pixel.
    ///
    /// # Errors
    /// [`TileError::Outside`] where there is no such pixel.
    pub(crate) fn zs_of_pixel(&mut self, pixel: Pixel) -> Result<&mut [StoredZs], TileError> {
        let first = self.index(pixel, 0)?;
        let samples = self.zs.get_mut(first..first + self.samples as usize);
        samples.ok_or(TileError::Outside { pixel })
    }

    /// LD_TILE: the value that earlier fragments left. Of "all samples" the first is read (free choice).
    ///
    /// # Errors
    /// A [`TileError`].
    pub(crate) fn load(
        &self,
        index: TileIndex,
        pixel: Pixel,
        conversion: Conversion,
    ) -> Result<Loaded, TileError> {
        let sample = index.sample.unwrap_or(0).into();
        let target = match index.plane {
            TilePlane::Colour(target) => target,
            TilePlane::Depth => {
                let stored = self.zs(pixel, sample)?;
                return Ok(Loaded::Depth(
                    depth_of(self.depth_format, stored.depth) as f32
                ));
            }
            TilePlane::Stencil => return Ok(Loaded::Stencil(self.zs(pixel, sample)?.stencil)),
        };
        let bits = self.bits(target, pixel, sample)?;
        if conversion.is_raw() {
            let words = [0, 32, 64, 96].map(|low| (bits >> low) as u32);
            return Ok(Loaded::Raw(words));
        }
        match conversion.format() {
            Some(format) => Ok(Loaded::Colour(format.unpack(bits), *format)),
            None => Err(TileError::Conversion {
                target,
                word: conversion.word,
            }),
        }
    }

    /// What is held of a sample, in all targets, for who checks what programs read.
    ///
    /// # Errors
    /// [`TileError::Outside`] where there is no such sample.
    pub(crate) fn contents(&self, pixel: Pixel, sample: u32) -> Result<TileContents, TileError> {
        let zs = self.zs(pixel, sample)?;
        let at = self.index(pixel, sample)?;
        let colors = self.planes.iter().map(|plane| {
            let bits = plane.read(at);
            match plane.format.blendable {
                Some(format) => TileColor::of(format.unpack(bits), format.is_integer()),
                None => TileColor::Raw(bits),
            }
        });
        Ok(TileContents {
            colors: colors.collect(),
            depth: depth_of(self.depth_format, zs.depth) as f32,
            stencil: zs.stencil,
        })
    }

    /// ST_TILE: writes the named sample, or all, where `coverage` has it. Nothing is blended.
    ///
    /// # Errors
    /// A [`TileError`]; nothing is written then. Depth and stencil are not written by this instruction.
    pub(crate) fn store(
        &mut self,
        index: TileIndex,
        pixel: Pixel,
        coverage: u16,
        conversion: Conversion,
        source: &Source,
    ) -> Result<(), TileError> {
        let TilePlane::Colour(target) = index.plane else {
            return Err(TileError::NoTarget {
                target: index.plane.number(),
            });
        };
        let named = match index.sample {
            Some(sample) => 1_u16.checked_shl(sample.into()).unwrap_or(0),
            None => u16::MAX,
        };
        let bits = encoded(target, &conversion, source)?;
        self.fill_samples(target, pixel, coverage & named, bits)
    }

    pub(crate) fn shape(&self) -> TileShape {
        self.shape
    }

    pub(crate) fn samples(&self) -> u32 {
        self.samples
    }

    /// Writes the samples of `coverage` of one pixel, converted, without blending.
    ///
    /// # Errors
    /// A [`TileError`]; nothing is written then.
    pub(crate) fn write_opaque(
        &mut self,
        output: &Output,
        pixel: Pixel,
        coverage: u16,
        source: &Source,
    ) -> Result<(), TileError> {
        let bits = encoded(output.target, &output.conversion, source)?;
        self.fill_samples(output.target, pixel, coverage, bits)
    }

    /// Blends the samples of `coverage` of one pixel with what the tile holds.
    ///
    /// # Errors
    /// A [`TileError`]; nothing is written then.
    pub(crate) fn blend(
        &mut self,
        output: &Output,
        state: &BlendState,
        pixel: Pixel,
        coverage: u16,
        source: &Source,
    ) -> Result<(), TileError> {
        let target = output.target;
        let plane = self.plane(target)?;
        if plane.format.blendable.is_none() {
            return Err(TileError::NotBlendable { target });
        }
        let word = output.conversion.word;
        let (Some(format), Source::Colour(source)) = (output.conversion.format(), source) else {
            return Err(TileError::Conversion { target, word });
        };
        let descriptor = state
            .of_target(target)
            .ok_or(TileError::NoEquation { target })?;
        if !descriptor.enable {
            return Ok(());
        }
        let first = self.planes.first().and_then(|plane| plane.format.blendable);
        let bits = first.map_or(8, |format| format.widest());
        let constant = blend::constant_of_field(state.constant_field(descriptor), bits);
        let written: u128 = (0..4)
            .filter(|channel| descriptor.equation.color_mask >> channel & 1 != 0)
            .fold(0, |mask, channel| mask | format.channel_bits(channel));
        self.each_sample(target, pixel, coverage, |old| {
            let operands = Operands {
                source: *source,
                destination: format.unpack(old),
                constant,
            };
            let new = format.pack(blend::blended(descriptor, format, operands));
            new & written | old & !written
        })
    }

    /// The bits of a sample.
    ///
    /// # Errors
    /// A [`TileError`] where there is none.
    pub(crate) fn bits(&self, target: u8, pixel: Pixel, sample: u32) -> Result<u128, TileError> {
        let plane = self.plane(target)?;
        let at = self.index(pixel, sample)?;
        Ok(plane.read(at))
    }

    /// The bits of all samples of a pixel.
    ///
    /// # Errors
    /// A [`TileError`] where there are none.
    pub(crate) fn bits_of_pixel(
        &self,
        target: u8,
        pixel: Pixel,
        samples: &mut [u128; 16],
    ) -> Result<(), TileError> {
        let plane = self.plane(target)?;
        let first = self.index(pixel, 0)?;
        for (sample, bits) in samples.iter_mut().enumerate().take(self.samples as usize) {
            *bits = plane.read(first + sample);
        }
        Ok(())
    }

    /// Writes the same bits to the samples of `coverage` of a pixel.
    fn fill_samples(
        &mut self,
        target: u8,
        pixel: Pixel,
        coverage: u16,
        bits: u128,
    ) -> Result<(), TileError> {
        let first = self.index(pixel, 0)?;
        let samples = self.samples as usize;
        let plane = self
            .planes
            .get_mut(usize::from(target))
            .ok_or(TileError::NoTarget { target })?;
        let size = usize::from(plane.format.bytes);
        let held = &mut plane.bytes[first * size..][..samples * size];
        let bytes = bits.to_le_bytes();
        match size {
            4 => fill::<4>(held, coverage, &bytes),
            8 => fill::<8>(held, coverage, &bytes),
            _ => {
                for (sample, held) in held.chunks_exact_mut(size).enumerate() {
                    if coverage >> sample & 1 != 0 {
                        held.copy_from_slice(&bytes[..size]);
                    }
                }
            }
        }
        Ok(())
    }

    fn each_sample(
        &mut self,
        target: u8,
        pixel: Pixel,
        coverage: u16,
        new: impl Fn(u128) -> u128,
    ) -> Result<(), TileError> {
        let first = self.index(pixel, 0)?;
        let samples = self.samples as usize;
        let plane = self
            .planes
            .get_mut(usize::from(target))
            .ok_or(TileError::NoTarget { target })?;
        for sample in (0..samples).filter(|sample| coverage >> sample & 1 != 0) {
            let old = plane.read(first + sample);
            plane.write(first + sample, new(old));
        }
        Ok(())
    }

    fn plane(&self, target: u8) -> Result<&Plane, TileError> {
        self.planes
            .get(usize::from(target))
            .ok_or(TileError::NoTarget { target })
    }

    /// Number of a sample in its plane.
    fn index(&self, pixel: Pixel, sample: u32) -> Result<usize, TileError> {
        let inside = pixel.x < self.shape.width && pixel.y < self.shape.height;
        if !inside || sample >= self.samples {
            return Err(TileError::Outside { pixel });
        }
        Ok(((pixel.y * self.shape.width + pixel.x) * self.samples + sample) as usize)
    }
}

impl Plane {
    #[inline]
    fn read(&self, index: usize) -> u128 {
        let size = usize::from(self.format.bytes);
        // Most samples are words.
        let (words, _) = self.bytes.as_chunks();
        if let (4, Some(word)) = (size, words.get(index)) {
            return u32::from_le_bytes(*word).into();
        }
        let mut bits = [0; 16];
        bits[..size].copy_from_slice(&self.bytes[index * size..][..size]);
        u128::from_le_bytes(bits)
    }

    fn write(&mut self, index: usize, bits: u128) {
        let size = usize::from(self.format.bytes);
        self.bytes[index * size..][..size].copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// Writes the same bytes to the samples of `coverage`, of `N` bytes each.
fn fill<const N: usize>(samples: &mut [u8], coverage: u16, bytes: &[u8; 16]) {
    let Some(bytes) = bytes.first_chunk::<N>() else {
        return;
    };
    for (sample, held) in samples.as_chunks_mut::<N>().0.iter_mut().enumerate() {
        if coverage >> sample & 1 != 0 {
            *held = *bytes;
        }
    }
}

/// The bits that a program's values become.
fn encoded(target: u8, conversion: &Conversion, source: &Source) -> Result<u128, TileError> {
    let word = conversion.word;
    match source {
        Source::Raw(words) if conversion.is_raw() => {
            let words = words.iter().rev();
            Ok(words.fold(0, |bits, word| bits << 32 | u128::from(*word)))
        }
        Source::Colour(colour) if !conversion.is_raw() => match conversion.format() {
            Some(format) => Ok(format.pack(*colour)),
            None => Err(TileError::Conversion { target, word }),
        },
        _ => Err(TileError::Conversion { target, word }),
    }
}

/// Bits of a cleared sample: the clear words, of normalised formats rounded to codes.
fn clear_bits(target: &Target) -> u128 {
    let words = target.clear.iter().rev();
    let bits = words.fold(0, |bits, word| bits << 32 | u128::from(*word));
    match target.format.blendable {
        Some(format) if format.is_unorm() => format.without_fraction(bits, target.dithered_clear),
        _ => bits,
    }
}
