//! Surfaces: memory of one level of one layer of an attachment, and which part of it is written.
//!
//! Facts: hardware/graphics-framebuffer.md 5.3, 5.6, 5.8, 5.9.

use super::afbc::{AfbcSurface, Superblock, channel_widths};
use super::layout::{Order, element_offset};
use super::write_back::PixelBox;
use alloc::vec::Vec;
use core::ops::Range;
use eitri_descriptors::framebuffer::{BlockFormat, Msaa, SFormat, ZsFormat};
use eitri_descriptors::target::AfbcRgbRenderTarget;

/// One level of one layer in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Surface {
    /// Single elements.
    Elements {
        order: Order,
        base: u64,
        row_stride: u64,
    },
    Afbc(AfbcSurface),
}

impl Surface {
    /// Whether rows of so many pixels of `bytes` run into each other.
    pub(crate) fn rows_overlap(&self, columns: u32, bytes: u8) -> bool {
        match self {
            Surface::Elements { row_stride, .. } => self
                .extent([columns, 1], bytes)
                .is_some_and(|extent| *row_stride < extent),
            Surface::Afbc(surface) => surface.row_stride < surface.row_bytes(columns),
        }
    }

    /// Whether the header entries of so many pixels do not end before the body begins; false of what is not compressed.
    pub(crate) fn header_reaches_body(&self, [columns, rows]: [u32; 2]) -> bool {
        let Surface::Afbc(surface) = self else {
            return false;
        };
        let before = u64::from(surface.header_rows(rows).saturating_sub(1)) * surface.row_stride;
        surface.body_offset < before + surface.row_bytes(columns)
    }

    /// Adds the memory of a box of pixels of `bytes`, in the surface that begins `start` bytes after the first: a range for each row
    /// of elements, tiles, blocks, header entries and payloads. What lies beyond the last address is left out.
    pub(crate) fn add_memory(
        &self,
        start: u64,
        area: PixelBox,
        bytes: u8,
        memory: &mut Vec<Range<u64>>,
    ) {
        let mut add = |base: u64, row_stride: u64, [width, height]: [u32; 2], part: u64| {
            let columns = u64::from(area.min[0] / width)..u64::from(area.max[0] / width) + 1;
            for row in u64::from(area.min[1] / height)..=u64::from(area.max[1] / height) {
                let row = base
                    .checked_add(start)
                    .and_then(|base| base.checked_add(row * row_stride));
                let end = |columns: u64| row.and_then(|row| row.checked_add(columns * part));
                if let (Some(first), Some(last)) = (end(columns.start), end(columns.end)) {
                    memory.push(first..last);
                }
            }
        };
        match self {
            Surface::Elements {
                order,
                base,
                row_stride,
            } => {
                if let Some(unit) = order.unit(bytes) {
                    let part = u64::from(unit[0]) * u64::from(unit[1]) * u64::from(bytes);
                    add(*base, *row_stride, unit, part);
                }
            }
            Surface::Afbc(surface) => {
                let (unit, [header, body]) = (surface.group_extent(), surface.group_bytes());
                add(surface.header, surface.row_stride, unit, header);
                let rows = surface.row_stride * body / header.max(1);
                if let Some(base) = surface.header.checked_add(surface.body_offset) {
                    add(base, rows, unit, body);
                }
            }
        }
    }

    /// Whether surfaces of the samples of so many pixels of `bytes` run into each other.
    pub(crate) fn samples_overlap(
        &self,
        samples: WrittenSamples,
        size: [u32; 2],
        bytes: u8,
    ) -> bool {
        match samples {
            WrittenSamples::Layered { stride } => self
                .extent(size, bytes)
                .is_some_and(|extent| stride < extent),
            WrittenSamples::First | WrittenSamples::Average => false,
        }
    }

    /// Bytes from the first pixel to the end of the tile or block that has the last; `None` of compressed memory.
    fn extent(&self, size: [u32; 2], bytes: u8) -> Option<u64> {
        let Surface::Elements {
            order, row_stride, ..
        } = self
        else {
            return None;
        };
        let [width, height] = order.unit(bytes)?;
        let part = u64::from(width) * u64::from(height) * u64::from(bytes);
        let [columns, rows] = [size[0].div_ceil(width), size[1].div_ceil(height)].map(u64::from);
        Some(row_stride * rows.saturating_sub(1) + part * columns)
    }

    /// Which pixels of so many columns of `bytes` lie side by side.
    pub(super) fn piece(&self, columns: u32, bytes: u8) -> Piece {
        match self {
            Surface::Elements {
                order: Order::UInterleaved,
                ..
            } if !self.rows_overlap(columns, bytes) => Piece::UInterleaved,
            _ => Piece::Row,
        }
    }

    /// Address of an element of `bytes` in the surface that begins `start` bytes after the first; `None` where the order has no
    /// such elements.
    pub(crate) fn address(&self, start: u64, bytes: u8, at: [u32; 2]) -> Option<u64> {
        let address = match self {
            Surface::Elements {
                order,
                base,
                row_stride,
            } => base.wrapping_add(element_offset(*order, *row_stride, bytes, at)?),
            Surface::Afbc(surface) => surface.written_address(at),
        };
        Some(address.wrapping_add(start))
    }
}

/// Pixels that lie side by side in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Those of a row, as far as that is known.
    Row,
    /// Those of a u-interleaved tile, in its order.
    UInterleaved,
}

/// The part of an element in memory that depth or stencil takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ZsElement {
    /// Bytes of an element.
    pub(crate) element: u8,
    /// First byte that is written, and how many are.
    pub(crate) first: u8,
    pub(crate) bytes: u8,
}

impl ZsElement {
    const fn whole(bytes: u8) -> ZsElement {
        ZsElement {
            element: bytes,
            first: 0,
            bytes,
        }
    }

    /// What depth of a format takes: next to interleaved stencil only its three bytes.
    pub(crate) fn of_depth(format: ZsFormat) -> ZsElement {
        match format {
            ZsFormat::D16 => ZsElement::whole(2),
            ZsFormat::D24 => ZsElement::whole(3),
            ZsFormat::D24X8 | ZsFormat::D32 => ZsElement::whole(4),
            ZsFormat::D24S8 => ZsElement {
                element: 4,
                first: 0,
                bytes: 3,
            },
        }
    }

    /// What stencil of a format takes: of interleaved depth the top byte.
    pub(crate) fn of_stencil(format: SFormat) -> ZsElement {
        match format {
            SFormat::S8 => ZsElement::whole(1),
            SFormat::X24S8 => ZsElement {
                element: 4,
                first: 3,
                bytes: 1,
            },
        }
    }
}

/// Which samples reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenSamples {
    /// Sample 0.
    First,
    /// The mean of all.
    Average,
    /// Each to its own surface, so many bytes after the one before it.
    Layered { stride: u64 },
}

impl WrittenSamples {
    /// Samples that are written of so many, each with the start of its surface.
    pub(crate) fn surfaces(self, count: u32) -> impl Iterator<Item = (u32, u64)> {
        let (count, stride) = match self {
            WrittenSamples::First | WrittenSamples::Average => (1, 0),
            WrittenSamples::Layered { stride } => (count, stride),
        };
        (0..count).map(move |sample| (sample, stride.wrapping_mul(sample.into())))
    }
}

/// The surface of single elements; `None` of other block formats.
pub(super) fn elements(block: BlockFormat, base: u64, row_stride: u32) -> Option<Surface> {
    let order = match block {
        BlockFormat::Linear => Order::Linear,
        BlockFormat::TiledUInterleaved => Order::UInterleaved,
        BlockFormat::Interleaved64k => Order::Interleaved64k,
        BlockFormat::NoWrite | BlockFormat::Afbc | BlockFormat::AfbcTiled => return None,
    };
    Some(Surface::Elements {
        order,
        base,
        row_stride: row_stride.into(),
    })
}

/// The compressed surface of a target. Wide superblocks are taken as 32 by 8 (free choice: the target has one bit for them).
pub(super) fn afbc_surface(fields: &AfbcRgbRenderTarget, pixel_bytes: u8) -> Option<Surface> {
    let widths = channel_widths(fields.compression_mode);
    Some(Surface::Afbc(AfbcSurface {
        header: fields.header.0,
        row_stride: fields.row_stride.into(),
        body_offset: fields.body_offset.into(),
        superblock: if fields.wide_block {
            Superblock::WIDE
        } else {
            Superblock::SQUARE
        },
        tiled: is_tiled(fields.writeback_block_format)?,
        pixel_bytes,
        packed: false,
        transform: widths.filter(|_| fields.yuv_transform),
    }))
}

/// The compressed surface of depth or stencil.
pub(super) fn zs_afbc(
    block: BlockFormat,
    [header, row_stride]: [u64; 2],
    body_offset: u32,
    pixel_bytes: u8,
) -> Option<Surface> {
    Some(Surface::Afbc(AfbcSurface {
        header,
        row_stride,
        body_offset: body_offset.into(),
        superblock: Superblock::SQUARE,
        tiled: is_tiled(block)?,
        pixel_bytes,
        packed: pixel_bytes == AfbcSurface::PACKED_BYTES,
        transform: None,
    }))
}

/// Whether a compressed block format has tiled headers; `None` if it is not compressed.
fn is_tiled(block: BlockFormat) -> Option<bool> {
    match block {
        BlockFormat::Afbc => Some(false),
        BlockFormat::AfbcTiled => Some(true),
        _ => None,
    }
}

/// The samples that are written; `None` of the form that no driver uses.
pub(super) fn written(msaa: Msaa, stride: u64) -> Option<WrittenSamples> {
    match msaa {
        Msaa::Single => Some(WrittenSamples::First),
        Msaa::Average => Some(WrittenSamples::Average),
        Msaa::Layered => Some(WrittenSamples::Layered { stride }),
        Msaa::Multiple => None,
    }
}

/// Depth and stencil have no mean.
pub(super) fn written_zs(msaa: Msaa, stride: u64) -> Option<WrittenSamples> {
    written(msaa, stride).filter(|samples| *samples != WrittenSamples::Average)
}
