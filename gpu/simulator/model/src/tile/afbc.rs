//! AFBC images in a form of the model's own: real headers, bodies of uncompressed subblocks.
//!
//! The hardware's payload is not published and nobody else reads it, so subblocks are written as they are (size code 1), and
//! read as they are or as one colour. Chosen freely, and the same for writer and reader: superblocks in their body in the order
//! of the header, subblocks and their pixels in rows, the transform behind the YTR bit, groups of tiled headers in rows. The
//! split bit moves nothing. Depth of 24 bits that is written without stencil takes three bytes a pixel, which the size code says (48): a
//! texture of it is read by the same descriptor as depth beside stencil, which takes four, or by one of three bytes a texel.
//!
//! Superblocks that are written in part (a tile may be smaller) keep the rest of their body; drivers render whole ones.
//! Facts: hardware/graphics-framebuffer.md 5.8.4; hardware/graphics-model.md 0 item 5; hardware/graphics-texture.md 7.3.

use crate::shader::PixelFormat;
use eitri_descriptors::plane::{AfbcCompressionMode, AfbcPlane, AfbcSuperblockSize};

/// Bytes of a header entry.
const ENTRY_BYTES: u64 = 16;
/// Pixels along a side of a subblock.
const SUBBLOCK: u32 = 4;
const SUBBLOCKS: usize = 16;
/// Size code of an uncompressed subblock.
const UNCOMPRESSED: u8 = 1;
/// Bytes of a pixel of depth alone, and the size code of a subblock of it: its bytes.
const PACKED_BYTES: u8 = 3;
const PACKED: u8 = PACKED_BYTES * (SUBBLOCK * SUBBLOCK) as u8;

/// Entry of the header area: one superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AfbcHeader {
    /// Bytes from the start of the header area to the payload.
    pub(crate) offset: u32,
    /// Size codes of the subblocks: bytes, but 1 is uncompressed.
    pub(crate) sizes: [u8; SUBBLOCKS],
    /// Bits of the one colour of a solid superblock.
    solid: u64,
}

impl AfbcHeader {
    /// Bytes of an entry.
    pub(crate) const BYTES: u8 = ENTRY_BYTES as u8;

    /// The entry of a superblock whose subblocks all have this size code.
    fn of_size(offset: u32, size: u8) -> AfbcHeader {
        AfbcHeader {
            offset,
            sizes: [size; SUBBLOCKS],
            solid: 0,
        }
    }

    /// Decodes the bytes of an entry.
    pub(crate) fn decode(bytes: [u8; 16]) -> AfbcHeader {
        let bits = u128::from_le_bytes(bytes);
        AfbcHeader {
            offset: bits as u32,
            sizes: core::array::from_fn(|index| (bits >> (32 + 6 * index)) as u8 & 0x3f),
            solid: (bits >> 64) as u64,
        }
    }

    /// The bytes of the entry.
    pub(crate) fn encode(&self) -> [u8; 16] {
        let mut bits = u128::from(self.offset);
        for (index, size) in self.sizes.into_iter().enumerate() {
            bits |= u128::from(size & 0x3f) << (32 + 6 * index);
        }
        if let Some(colour) = self.solid_colour() {
            bits |= u128::from(colour) << 64;
        }
        bits.to_le_bytes()
    }

    /// Bits of a pixel, where all pixels are the same.
    pub(crate) fn solid_colour(&self) -> Option<u64> {
        (self.sizes[0] == 0).then_some(self.solid)
    }

    /// Bytes of the payload in front of subblock `count`; with 16 of all, before it is rounded up.
    fn payload_before(&self, count: usize, pixel_bytes: u8) -> u64 {
        let sizes = self.sizes.iter().take(count);
        sizes.map(|size| subblock_bytes(*size, pixel_bytes)).sum()
    }
}

fn subblock_bytes(size: u8, pixel_bytes: u8) -> u64 {
    if size == UNCOMPRESSED {
        u64::from(SUBBLOCK * SUBBLOCK) * u64::from(pixel_bytes)
    } else {
        size.into()
    }
}

/// A level of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AfbcSurface {
    /// Address of the header area.
    pub(crate) header: u64,
    /// Bytes between rows of entries, with tiled headers between rows of groups.
    pub(crate) row_stride: u64,
    /// Bytes from the header area to the body. A reader takes the offsets of the entries instead.
    pub(crate) body_offset: u64,
    pub(crate) superblock: Superblock,
    pub(crate) tiled: bool,
    /// Bytes of a pixel.
    pub(crate) pixel_bytes: u8,
    /// It is depth of 24 bits: a writer has it alone, and a reader may meet it so.
    pub(crate) packed: bool,
    /// Widths of red, green, blue and alpha, where the transform is on.
    pub(crate) transform: Option<[u8; 4]>,
}

/// Extent of a superblock in pixels: 256 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Superblock {
    pub(crate) const SQUARE: Superblock = Superblock {
        width: 16,
        height: 16,
    };
    pub(crate) const WIDE: Superblock = Superblock {
        width: 32,
        height: 8,
    };
    const WIDEST: Superblock = Superblock {
        width: 64,
        height: 4,
    };
}

/// Where a texel of an AFBC image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfbcTexel {
    /// At an address; its bits need [`AfbcSurface::restored`].
    At(u64),
    /// The same, of depth alone: three bytes.
    Packed(u64),
    /// In the header: its bits.
    Solid(u64),
    /// In a subblock that is compressed, which the model never writes.
    Compressed,
}

/// Numbers of a pixel's superblock and subblock.
struct Place {
    /// Entry in the header area.
    entry: u64,
    subblock: usize,
    /// Pixel in its subblock.
    pixel: u64,
}

impl AfbcSurface {
    /// Bytes of a pixel of depth that is written without stencil.
    pub(crate) const PACKED_BYTES: u8 = PACKED_BYTES;

    /// The surface of a texture's plane.
    pub(crate) fn of_plane(plane: &AfbcPlane, format: &PixelFormat) -> AfbcSurface {
        let widths = channel_widths(plane.compression_mode);
        AfbcSurface {
            header: plane.pointer.0,
            row_stride: plane.header_row_stride.into(),
            body_offset: 0,
            superblock: match plane.superblock_size {
                AfbcSuperblockSize::SixteenX16 => Superblock::SQUARE,
                AfbcSuperblockSize::ThirtyTwoX8 => Superblock::WIDE,
                AfbcSuperblockSize::SixtyFourX4 => Superblock::WIDEST,
            },
            tiled: plane.tiled_header,
            pixel_bytes: format.bytes(),
            packed: format.is_depth_of_24_bits() || format.bytes() == PACKED_BYTES,
            transform: widths.filter(|_| plane.ytr),
        }
    }

    /// Address of the header entry of the pixel's superblock.
    pub(crate) fn entry_address(&self, at: [u32; 2]) -> u64 {
        let offset = self.place(at).entry.wrapping_mul(ENTRY_BYTES);
        self.header.wrapping_add(offset)
    }

    /// The entry that a writer leaves there; `None` where its offset does not fit.
    pub(crate) fn written_entry(&self, at: [u32; 2]) -> Option<AfbcHeader> {
        let offset = self.payload_offset(&self.place(at));
        let size = if self.packed { PACKED } else { UNCOMPRESSED };
        Some(AfbcHeader::of_size(u32::try_from(offset).ok()?, size))
    }

    /// Address where a writer puts the pixel.
    pub(crate) fn written_address(&self, at: [u32; 2]) -> u64 {
        let place = self.place(at);
        let first = place.subblock as u64 * subblock_bytes(UNCOMPRESSED, self.pixel_bytes);
        let offset =
            self.payload_offset(&place) + first + place.pixel * u64::from(self.pixel_bytes);
        self.header.wrapping_add(offset)
    }

    /// Where the texel is, by the entry of its superblock.
    pub(crate) fn texel(&self, header: &AfbcHeader, at: [u32; 2]) -> AfbcTexel {
        if let Some(bits) = header.solid_colour() {
            return AfbcTexel::Solid(bits);
        }
        let place = self.place(at);
        let before = header.payload_before(place.subblock, self.pixel_bytes);
        let address = |bytes: u8| {
            let offset = u64::from(header.offset) + before + place.pixel * u64::from(bytes);
            self.header.wrapping_add(offset)
        };
        match header.sizes[place.subblock] {
            UNCOMPRESSED => AfbcTexel::At(address(self.pixel_bytes)),
            PACKED if self.packed => AfbcTexel::Packed(address(PACKED_BYTES)),
            _ => AfbcTexel::Compressed,
        }
    }

    /// The bits that are written for a pixel.
    pub(crate) fn transformed(&self, bits: u128) -> u128 {
        self.transform.map_or(bits, |widths| {
            with_channels(bits, widths, |[r, g, b]| {
                let [r, b] = [signed(r - g, widths[0]), signed(b - g, widths[2])];
                [r, g + ((r + b) >> 2), b]
            })
        })
    }

    /// The pixel of bits that were written.
    pub(crate) fn restored(&self, bits: u128) -> u128 {
        self.transform.map_or(bits, |widths| {
            with_channels(bits, widths, |[r, y, b]| {
                let [r, b] = [signed(r, widths[0]), signed(b, widths[2])];
                let g = (y - ((r + b) >> 2)) & ((1 << widths[1]) - 1);
                [r + g, g, b + g]
            })
        })
    }

    /// Superblocks along a side of a group of header entries.
    fn group(&self) -> u32 {
        match (self.tiled, self.pixel_bytes) {
            (false, _) => 1,
            (true, 0..=4) => 8,
            (true, _) => 4,
        }
    }

    /// Pixels of a group of superblocks, across and down.
    pub(super) fn group_extent(&self) -> [u32; 2] {
        let Superblock { width, height } = self.superblock;
        [width * self.group(), height * self.group()]
    }

    /// Bytes of the header entries of a group, and of its payloads.
    pub(super) fn group_bytes(&self) -> [u64; 2] {
        let superblocks = u64::from(self.group() * self.group());
        let payload = SUBBLOCKS as u64 * subblock_bytes(UNCOMPRESSED, self.pixel_bytes);
        [superblocks * ENTRY_BYTES, superblocks * payload]
    }

    /// Bytes of the header entries of a row of so many pixels.
    pub(super) fn row_bytes(&self, columns: u32) -> u64 {
        u64::from(columns.div_ceil(self.group_extent()[0])) * self.group_bytes()[0]
    }

    /// Rows of header entries of so many pixels.
    pub(super) fn header_rows(&self, rows: u32) -> u32 {
        rows.div_ceil(self.group_extent()[1])
    }

    fn place(&self, [x, y]: [u32; 2]) -> Place {
        let Superblock { width, height } = self.superblock;
        let (column, row) = (x / width, y / height);
        let group = self.group();
        let inside = u64::from(row % group * group + column % group);
        let groups = u64::from(column / group) * u64::from(group * group);
        let rows = u64::from(row / group) * (self.row_stride / ENTRY_BYTES);
        let (x, y) = (x % width, y % height);
        Place {
            entry: rows + groups + inside,
            subblock: (y / SUBBLOCK * (width / SUBBLOCK) + x / SUBBLOCK) as usize,
            pixel: u64::from(y % SUBBLOCK * SUBBLOCK + x % SUBBLOCK),
        }
    }

    /// Bytes from the header area to the payload that a writer gives a superblock.
    fn payload_offset(&self, place: &Place) -> u64 {
        let superblock = SUBBLOCKS as u64 * subblock_bytes(UNCOMPRESSED, self.pixel_bytes);
        self.body_offset + place.entry.wrapping_mul(superblock)
    }
}

/// Widths of the components of a mode that the transform applies to.
pub(crate) fn channel_widths(mode: AfbcCompressionMode) -> Option<[u8; 4]> {
    use AfbcCompressionMode as M;
    Some(match mode {
        M::R5G6B5 => [5, 6, 5, 0],
        M::R4G4B4A4 => [4, 4, 4, 4],
        M::R5G5B5A1 => [5, 5, 5, 1],
        M::R8G8B8 => [8, 8, 8, 0],
        M::R8G8B8A8 => [8, 8, 8, 8],
        M::R10G10B10A2 => [10, 10, 10, 2],
        M::R11G11B10 => [11, 11, 10, 0],
        M::R16G16B16 => [16, 16, 16, 0],
        M::R16G16B16A16 => [16, 16, 16, 16],
        _ => return None,
    })
}

/// The number that the low bits are in two's complement.
fn signed(value: i32, width: u8) -> i32 {
    let up = 32 - u32::from(width);
    value << up >> up
}

/// The bits with their first three components replaced, each cut to its width.
fn with_channels(bits: u128, widths: [u8; 4], change: impl Fn([i32; 3]) -> [i32; 3]) -> u128 {
    let lows = [0, widths[0], widths[0] + widths[1]];
    let mask = |index: usize| (1_u32 << widths[index]) - 1;
    let old = core::array::from_fn(|index| ((bits >> lows[index]) as u32 & mask(index)) as i32);
    let mut new = bits;
    for (index, value) in change(old).into_iter().enumerate() {
        let mask = mask(index);
        new &= !(u128::from(mask) << lows[index]);
        new |= u128::from(value as u32 & mask) << lows[index];
    }
    new
}

#[cfg(test)]
#[path = "afbc_tests.rs"]
mod tests;
