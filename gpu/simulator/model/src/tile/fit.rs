//! Fit: whether attachments fit the tile buffer, and whether each stays inside of its own memory.
//!
//! A descriptor names no end of an image. What is known is how the strides divide memory: a row, a sample's surface, or header and
//! body that are closer together than they are long run into each other, and so may two attachments.
//!
//! Facts: hardware/graphics-framebuffer.md 5.2, 5.3, 5.6, 5.8.

use super::framebuffer::Framebuffer;
use super::surface::{Surface, WrittenSamples, ZsElement};
use super::write_back::PixelBox;
use alloc::vec::Vec;
use core::ops::Range;
use eitri_csf::product::TileBuffers;
use eitri_descriptors::framebuffer::{SFormat, ZsFormat};

/// Bytes of depth and stencil of a sample in the tile buffer, whether they are used or not (graphics-framebuffer.md 5.2).
const DEPTH_BYTES: u32 = 4;

/// What a framebuffer writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attachment {
    /// The colour target of this number.
    Colour(u8),
    Depth,
    Stencil,
}

impl Attachment {
    /// The name that diagnoses have for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Attachment::Colour(0) => "color target 0",
            Attachment::Colour(1) => "color target 1",
            Attachment::Colour(2) => "color target 2",
            Attachment::Colour(3) => "color target 3",
            Attachment::Colour(4) => "color target 4",
            Attachment::Colour(5) => "color target 5",
            Attachment::Colour(6) => "color target 6",
            Attachment::Colour(7) => "color target 7",
            Attachment::Colour(_) => "a color target",
            Attachment::Depth => "depth",
            Attachment::Stencil => "stencil",
        }
    }

    /// The fields of its descriptor that divide memory into rows, samples, and header and body.
    fn strides(self, surface: &Surface) -> [&'static str; 3] {
        match (self, surface) {
            (Attachment::Colour(_), Surface::Elements { .. }) => {
                ["Writeback Row Stride", "Writeback Surface Stride", ""]
            }
            (Attachment::Colour(_), Surface::Afbc(_)) => ["Row Stride", "", "Body Offset"],
            (_, Surface::Elements { .. }) => ["Row Stride", "Surface Stride", ""],
            (_, Surface::Afbc(_)) => ["Header Row Stride", "", "Body Offset"],
        }
    }
}

/// An attachment that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'f> {
    pub(crate) attachment: Attachment,
    pub(crate) surface: &'f Surface,
    pub(crate) samples: WrittenSamples,
    /// Bytes of an element.
    pub(crate) bytes: u8,
}

/// Two attachments that are written to the same memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overlap {
    pub(crate) attachments: [Attachment; 2],
    /// The first byte that both are written to.
    pub(crate) address: u64,
}

impl Framebuffer {
    /// The attachments that are written, in the order in which they are.
    pub(crate) fn written(&self) -> impl Iterator<Item = Written<'_>> {
        let colours = (0..).zip(&self.targets).filter_map(|(number, target)| {
            let image = target.image.as_ref()?;
            Some(Written {
                attachment: Attachment::Colour(number),
                surface: &image.surface,
                samples: image.samples,
                bytes: image.format.bytes(),
            })
        });
        let depth = self.depth.iter().map(|image| Written {
            attachment: Attachment::Depth,
            surface: &image.surface,
            samples: image.samples,
            bytes: ZsElement::of_depth(image.format).element,
        });
        let stencil = self.stencil.iter().map(|image| Written {
            attachment: Attachment::Stencil,
            surface: &image.surface,
            samples: image.samples,
            bytes: ZsElement::of_stencil(image.format).element,
        });
        colours.chain(depth).chain(stencil)
    }

    /// The first field by which a framebuffer can't be rendered as its other fields say: a tile that the allocation of the tile
    /// buffer does not hold, an allocation or a tile that `buffers` do not hold, or rows, samples, or header and body of an
    /// attachment that run into each other.
    ///
    /// What is not written is not counted: slots without an image take no room (hardware/graphics-framebuffer.md 5.2).
    pub(crate) fn misfit(&self, buffers: Option<TileBuffers>) -> Option<&'static str> {
        let written = self.targets.iter().filter(|target| target.image.is_some());
        let bytes: u32 = written.map(|target| u32::from(target.format.bytes)).sum();
        let samples = self.parameters.sample_count;
        let allocation = self.parameters.color_buffer_allocation;
        if bytes * samples * self.tile.pixels() > allocation {
            return Some("Color Buffer Allocation");
        }
        if let Some(buffers) = buffers {
            if allocation > buffers.color {
                return Some("Color Buffer Allocation");
            }
            if DEPTH_BYTES * samples * self.tile.pixels() > buffers.depth {
                return Some("Effective Tile Size");
            }
        }
        let size = self.pixels();
        self.written().find_map(|written| {
            let Written { surface, bytes, .. } = written;
            let [row, sample, body] = written.attachment.strides(surface);
            if surface.rows_overlap(size[0], bytes) {
                Some(row)
            } else if samples > 1 && surface.samples_overlap(written.samples, size, bytes) {
                Some(sample)
            } else {
                surface.header_reaches_body(size).then_some(body)
            }
        })
    }

    /// Pixels along x and y up to the end of the box, from the corner of the framebuffer on.
    fn pixels(&self) -> [u32; 2] {
        let bound = |most: u32, side: u32| most.min(side.saturating_sub(1)) + 1;
        let parameters = &self.parameters;
        [
            bound(parameters.bound_max_x, parameters.width),
            bound(parameters.bound_max_y, parameters.height),
        ]
    }

    /// The first two attachments of which one is written where the other is. Depth and stencil of one interleaved image are none.
    pub(crate) fn overlap(&self) -> Option<Overlap> {
        let area = PixelBox::of(self)?;
        let samples = self.parameters.sample_count;
        let mut known: Vec<(Attachment, Vec<Range<u64>>)> = Vec::new();
        for written in self.written() {
            let mut memory = written.memory(area, samples);
            memory.sort_unstable_by_key(|range| range.start);
            for (other, its) in &known {
                let attachments = [*other, written.attachment];
                if attachments == [Attachment::Depth, Attachment::Stencil] && self.interleaves() {
                    continue;
                }
                if let Some(address) = first_shared(its, &memory) {
                    return Some(Overlap {
                        attachments,
                        address,
                    });
                }
            }
            known.push((written.attachment, memory));
        }
        None
    }

    /// Whether depth and stencil are parts of the same elements.
    fn interleaves(&self) -> bool {
        let depth = self.depth.as_ref().map(|image| image.format);
        let stencil = self.stencil.as_ref().map(|image| image.format);
        depth == Some(ZsFormat::D24S8) && stencil == Some(SFormat::X24S8)
    }
}

impl Written<'_> {
    /// The memory of a box of pixels: a range for each row of each sample.
    fn memory(&self, area: PixelBox, samples: u32) -> Vec<Range<u64>> {
        let starts = self.samples.surfaces(samples);
        let mut memory = Vec::new();
        for (_, start) in starts {
            self.surface
                .add_memory(start, area, self.bytes, &mut memory);
        }
        memory
    }
}

/// The first byte that is in ranges of both lists, which are sorted by their starts.
fn first_shared(one: &[Range<u64>], other: &[Range<u64>]) -> Option<u64> {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(left), Some(right)) = (one.peek(), other.peek()) {
        let start = left.start.max(right.start);
        if start < left.end.min(right.end) {
            return Some(start);
        }
        if left.end <= right.end {
            one.next();
        } else {
            other.next();
        }
    }
    None
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
