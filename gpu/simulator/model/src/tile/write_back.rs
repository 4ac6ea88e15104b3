//! Write-back: pixels of a finished tile to memory.
//!
//! Writes of a tile are the same however often they are made: a caller whose memory refused one calls again.
//! Facts: hardware/graphics-model.md 4.6; hardware/graphics-framebuffer.md 5.3, 5.4, 5.8, 5.9.

use super::GpuMemory;
use super::buffer::{Pixel, TileBuffer, TileError};
use super::depth::{depth_of, quantised};
use super::fit::Attachment;
use super::framebuffer::{DepthImage, Framebuffer, StencilImage, Target, TargetImage};
use super::layout::{TILE, at_u_index};
use super::surface::{Piece, Surface, WrittenSamples, ZsElement};
use super::target::{average, is_copied, memory_bits};
use alloc::vec::Vec;
use eitri_descriptors::framebuffer::{ZInternalFormat, ZsFormat};

/// A box of pixels of the framebuffer; both corners are inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PixelBox {
    pub(crate) min: [u32; 2],
    pub(crate) max: [u32; 2],
}

impl PixelBox {
    /// What two boxes share; `None` if that is nothing.
    pub(crate) fn intersection(self, other: PixelBox) -> Option<PixelBox> {
        let min = core::array::from_fn(|axis| self.min[axis].max(other.min[axis]));
        let max = core::array::from_fn(|axis| self.max[axis].min(other.max[axis]));
        let shared = PixelBox { min, max };
        (min[0] <= max[0] && min[1] <= max[1]).then_some(shared)
    }

    /// The pixels that a framebuffer renders: its bounds, inside its size.
    pub(crate) fn of(framebuffer: &Framebuffer) -> Option<PixelBox> {
        let parameters = &framebuffer.parameters;
        let bounds = PixelBox {
            min: [parameters.bound_min_x, parameters.bound_min_y],
            max: [parameters.bound_max_x, parameters.bound_max_y],
        };
        let size = PixelBox {
            min: [0, 0],
            max: [
                parameters.width.saturating_sub(1),
                parameters.height.saturating_sub(1),
            ],
        };
        bounds.intersection(size)
    }
}

/// A write that memory refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unwritten<R> {
    pub(crate) attachment: Attachment,
    pub(crate) refusal: R,
}

/// Writes every attachment of a framebuffer that is written: the pixels of the tile at `origin` that lie in `clip`.
///
/// # Errors
/// What memory refused, and of which attachment.
pub(crate) fn write_back<M: GpuMemory>(
    tile: &TileBuffer,
    framebuffer: &Framebuffer,
    origin: [u32; 2],
    clip: PixelBox,
    memory: &mut M,
) -> Result<(), Unwritten<M::Refusal>> {
    let shape = tile.shape();
    let whole = PixelBox {
        min: origin,
        max: [origin[0] + shape.width - 1, origin[1] + shape.height - 1],
    };
    let Some(area) = whole.intersection(clip) else {
        return Ok(());
    };
    let part = Part { tile, origin, area };
    for (index, target) in (0..).zip(&framebuffer.targets) {
        if let Some(image) = &target.image {
            part.write_target(index, target, image, memory)
                .map_err(of(Attachment::Colour(index)))?;
        }
    }
    if let Some(image) = &framebuffer.depth {
        part.write_depth(image, memory)
            .map_err(of(Attachment::Depth))?;
    }
    if let Some(image) = &framebuffer.stencil {
        part.write_stencil(image, memory)
            .map_err(of(Attachment::Stencil))?;
    }
    Ok(())
}

/// Names the attachment whose write was refused.
fn of<R>(attachment: Attachment) -> impl FnOnce(R) -> Unwritten<R> {
    move |refusal| Unwritten {
        attachment,
        refusal,
    }
}

/// The part of a tile that is written.
struct Part<'t> {
    tile: &'t TileBuffer,
    origin: [u32; 2],
    area: PixelBox,
}

/// Where the pixels of one attachment go.
struct Destination<'s> {
    surface: &'s Surface,
    samples: WrittenSamples,
    element: ZsElement,
}

impl Part<'_> {
    fn write_target<M: GpuMemory>(
        &self,
        index: u8,
        target: &Target,
        image: &TargetImage,
        memory: &mut M,
    ) -> Result<(), M::Refusal> {
        let bytes = image.format.bytes();
        let destination = Destination {
            surface: &image.surface,
            samples: image.samples,
            element: ZsElement {
                element: bytes,
                first: 0,
                bytes,
            },
        };
        let count = self.tile.samples().min(16) as usize;
        let is_copied = is_copied(target.format, image.format, image.swizzle);
        self.write(&destination, memory, |pixel, sample| {
            let bits = match (image.samples, &target.format.blendable) {
                (WrittenSamples::Average, Some(format)) => {
                    let mut samples = [0; 16];
                    self.tile.bits_of_pixel(index, pixel, &mut samples)?;
                    average(format, target.srgb, &samples[..count])
                }
                _ => self.tile.bits(index, pixel, sample)?,
            };
            let bits = match is_copied {
                true => bits,
                false => memory_bits(target.format, image.format, image.swizzle, bits),
            };
            Ok(match &image.surface {
                Surface::Afbc(surface) => surface.transformed(bits),
                Surface::Elements { .. } => bits,
            })
        })
    }

    fn write_depth<M: GpuMemory>(
        &self,
        image: &DepthImage,
        memory: &mut M,
    ) -> Result<(), M::Refusal> {
        let destination = Destination {
            surface: &image.surface,
            samples: image.samples,
            element: ZsElement::of_depth(image.format),
        };
        let internal = self.tile.depth_format();
        let written = match image.format {
            ZsFormat::D16 => ZInternalFormat::D16,
            ZsFormat::D24 | ZsFormat::D24X8 | ZsFormat::D24S8 => ZInternalFormat::D24,
            ZsFormat::D32 => ZInternalFormat::D32,
        };
        self.write(&destination, memory, |pixel, sample| {
            let code = self.tile.zs(pixel, sample)?.depth;
            if internal == written {
                return Ok(code.into());
            }
            // Drivers pair formats; another pair is converted with one rounding (free choice).
            Ok(quantised(written, depth_of(internal, code)).into())
        })
    }

    fn write_stencil<M: GpuMemory>(
        &self,
        image: &StencilImage,
        memory: &mut M,
    ) -> Result<(), M::Refusal> {
        let destination = Destination {
            surface: &image.surface,
            samples: image.samples,
            element: ZsElement::of_stencil(image.format),
        };
        self.write(&destination, memory, |pixel, sample| {
            Ok(self.tile.zs(pixel, sample)?.stencil.into())
        })
    }

    fn write<M: GpuMemory>(
        &self,
        destination: &Destination<'_>,
        memory: &mut M,
        bits: impl Fn(Pixel, u32) -> Result<u128, TileError>,
    ) -> Result<(), M::Refusal> {
        let Destination {
            surface,
            samples,
            element,
        } = destination;
        for (sample, start) in samples.surfaces(self.tile.samples()) {
            let mut writes = Writes::default();
            let columns = self.area.max[0] + 1;
            for at in self.pixels(surface.piece(columns, element.element)) {
                let pixel = Pixel {
                    x: at[0] - self.origin[0],
                    y: at[1] - self.origin[1],
                };
                // The area lies inside the tile, and targets and samples are the tile's own, so there are bits.
                let (Some(address), Ok(bits)) = (
                    surface.address(start, element.element, at),
                    bits(pixel, sample),
                ) else {
                    continue;
                };
                let address = address.wrapping_add(element.first.into());
                writes.add(address, bits, element.bytes);
            }
            writes.send(memory)?;
        }
        self.write_headers(surface, memory)
    }

    /// Writes the header entries of the superblocks that the area touches.
    fn write_headers<M: GpuMemory>(
        &self,
        surface: &Surface,
        memory: &mut M,
    ) -> Result<(), M::Refusal> {
        let Surface::Afbc(surface) = surface else {
            return Ok(());
        };
        let (width, height) = (surface.superblock.width, surface.superblock.height);
        let [x, y] = self.area.min;
        for y in (y - y % height..=self.area.max[1]).step_by(height as usize) {
            for x in (x - x % width..=self.area.max[0]).step_by(width as usize) {
                if let Some(entry) = surface.written_entry([x, y]) {
                    memory.write(surface.entry_address([x, y]), &entry.encode())?;
                }
            }
        }
        Ok(())
    }

    /// The pixels of the area, one piece of memory after another: rows, and in u-interleaved tiles the order of their elements.
    /// So addresses mostly ascend.
    fn pixels(&self, piece: Piece) -> impl Iterator<Item = [u32; 2]> + use<> {
        let PixelBox { min, max } = self.area;
        let side = match piece {
            Piece::Row => 1,
            Piece::UInterleaved => TILE,
        };
        let blocks =
            move |axis: usize| (min[axis] / side..=max[axis] / side).map(move |it| it * side);
        let within = (0..side * side).map(at_u_index);
        let is_inside = move |at: &[u32; 2]| {
            (min[0]..=max[0]).contains(&at[0]) && (min[1]..=max[1]).contains(&at[1])
        };
        let all = blocks(1).flat_map(move |y| {
            let within = within.clone();
            blocks(0).flat_map(move |x| within.clone().map(move |at| [x + at[0], y + at[1]]))
        });
        all.filter(is_inside)
    }
}

/// Writes of pixels, joined to runs of bytes.
#[derive(Default)]
struct Writes {
    pixels: Vec<(u64, u128, u8)>,
    /// Whether an address is below the one before it.
    descends: bool,
}

impl Writes {
    fn add(&mut self, address: u64, bits: u128, bytes: u8) {
        let last = self.pixels.last();
        self.descends |= last.is_some_and(|(last, ..)| address < *last);
        self.pixels.push((address, bits, bytes));
    }

    /// Sends them in the order of their addresses.
    fn send<M: GpuMemory>(mut self, memory: &mut M) -> Result<(), M::Refusal> {
        if self.descends {
            self.pixels.sort_unstable_by_key(|(address, ..)| *address);
        }
        let mut run: Vec<u8> = Vec::new();
        let mut start = 0;
        for (address, bits, bytes) in self.pixels {
            if !run.is_empty() && address != start + run.len() as u64 {
                memory.write(start, &run)?;
                run.clear();
            }
            if run.is_empty() {
                start = address;
            }
            run.extend_from_slice(&bits.to_le_bytes()[..usize::from(bytes)]);
        }
        if run.is_empty() {
            return Ok(());
        }
        memory.write(start, &run)
    }
}

#[cfg(test)]
#[path = "write_back_tests.rs"]
mod tests;
