//! Write-back: pixels of a finished tile to memory.
//!
//! Writes of a tile are the same however often they are made: a caller whose memory refused one calls again.
//! Facts: hardware/graphics-model.md 4.6; hardware/graphics-framebuffer.md 5.3, 5.4, 5.8, 5.9.

use super::GpuMemory;
use super::buffer::{Pixel, TileBuffer};
use super::framebuffer::{Framebuffer, Surface, Target, TargetImage, WrittenSamples};
use super::layout::element_offset;
use super::target::MemoryFormat;
use alloc::vec::Vec;

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

/// Writes every attachment of a framebuffer that is written: the pixels of the tile at `origin` that lie in `clip`.
///
/// # Errors
/// What memory refused.
pub(crate) fn write_back<M: GpuMemory>(
    tile: &TileBuffer,
    framebuffer: &Framebuffer,
    origin: [u32; 2],
    clip: PixelBox,
    memory: &mut M,
) -> Result<(), M::Refusal> {
    let shape = tile.shape();
    let whole = PixelBox {
        min: origin,
        max: [origin[0] + shape.width - 1, origin[1] + shape.height - 1],
    };
    let Some(area) = whole.intersection(clip) else {
        return Ok(());
    };
    for (index, target) in (0..).zip(&framebuffer.targets) {
        if let Some(image) = &target.image {
            let part = Part { tile, origin, area };
            part.write_target(index, target, image, memory)?;
        }
    }
    Ok(())
}

/// The part of a tile that is written.
struct Part<'t> {
    tile: &'t TileBuffer,
    origin: [u32; 2],
    area: PixelBox,
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
        for (sample, start) in surfaces(image.samples, self.tile.samples()) {
            let mut writes = Writes::default();
            for at in self.pixels() {
                let Some(address) = address(&image.surface, start, bytes, at) else {
                    continue;
                };
                let pixel = Pixel {
                    x: at[0] - self.origin[0],
                    y: at[1] - self.origin[1],
                };
                // The pixel is inside the tile and the target is one of its own.
                let Ok(bits) = self.tile.bits(index, pixel, sample) else {
                    continue;
                };
                writes.add(address, stored(target, image, bits), bytes);
            }
            writes.send(memory)?;
        }
        Ok(())
    }

    fn pixels(&self) -> impl Iterator<Item = [u32; 2]> + use<> {
        let area = self.area;
        (area.min[1]..=area.max[1])
            .flat_map(move |y| (area.min[0]..=area.max[0]).map(move |x| [x, y]))
    }
}

/// Samples that are written, each with the start of its surface.
fn surfaces(samples: WrittenSamples, count: u32) -> impl Iterator<Item = (u32, u64)> {
    let (count, stride) = match samples {
        WrittenSamples::First | WrittenSamples::Average => (1, 0),
        WrittenSamples::Layered { stride } => (count, stride),
    };
    (0..count).map(move |sample| (sample, stride.wrapping_mul(sample.into())))
}

fn address(surface: &Surface, start: u64, bytes: u8, at: [u32; 2]) -> Option<u64> {
    let Surface::Elements {
        order,
        base,
        row_stride,
    } = *surface;
    let offset = element_offset(order, row_stride, bytes, at)?;
    Some(base.wrapping_add(start).wrapping_add(offset))
}

/// The bits in memory of a sample.
fn stored(target: &Target, image: &TargetImage, bits: u128) -> u128 {
    let (Some(format), MemoryFormat::Codes { sizes, .. }) = (target.format.blendable, image.format)
    else {
        return bits;
    };
    let codes = format.stored_codes(bits);
    let one = |index: usize| {
        if format.is_unorm() {
            u32::MAX
        } else {
            // 1.0 of a float with five bits of exponent.
            15 << (u32::from(sizes[index]) - if sizes[index] == 16 { 6 } else { 5 })
        }
    };
    image.format.pack(core::array::from_fn(|index| {
        match usize::from(image.swizzle[index]) {
            component @ 0..=3 if format.channel_bits(component) != 0 => codes[component],
            // Alpha that the tile does not hold is 1; other components are 0.
            3 | 5 if sizes[index] != 0 => one(index),
            _ => 0,
        }
    }))
}

/// Writes of pixels, joined to runs of bytes.
#[derive(Default)]
struct Writes {
    pixels: Vec<(u64, u128, u8)>,
}

impl Writes {
    fn add(&mut self, address: u64, bits: u128, bytes: u8) {
        self.pixels.push((address, bits, bytes));
    }

    /// Sends them in the order of their addresses.
    fn send<M: GpuMemory>(mut self, memory: &mut M) -> Result<(), M::Refusal> {
        self.pixels.sort_unstable_by_key(|(address, ..)| *address);
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
