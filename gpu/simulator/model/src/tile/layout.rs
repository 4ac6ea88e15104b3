//! Orders of elements in memory: where the element at (x, y) of a surface begins.
//!
//! Offsets are u64: coordinates have 16 bits, a row stride 32, an element at most 16 bytes, so nothing wraps.
//! Facts: hardware/graphics-framebuffer.md 5.8.1, 5.8.2, 5.8.5; hardware/graphics-model.md 4.6.

/// Texels along a side of a u-interleaved tile.
pub(super) const TILE: u32 = 16;
/// Blocks along a side of one.
const TILE_OF_BLOCKS: u32 = 4;
/// Bytes of a block of the interleaved 64 KiB order.
const BLOCK: u64 = 65_536;

/// Order of single elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Linear,
    /// Tiles of 16 by 16 texels.
    UInterleaved,
    /// Tiles of 4 by 4 blocks of a block-compressed format.
    UInterleavedBlocks,
    /// Blocks of 64 KiB.
    Interleaved64k,
}

impl Order {
    /// Elements of what is stored in one piece, across and down: an element, a tile or a block. `None` where the order has no elements
    /// of `bytes`, or elements that are no pixels.
    pub(super) fn unit(self, bytes: u8) -> Option<[u32; 2]> {
        match self {
            Order::Linear => Some([1, 1]),
            Order::UInterleaved => Some([TILE; 2]),
            Order::UInterleavedBlocks => None,
            Order::Interleaved64k => block_extent(bytes),
        }
    }
}

/// What a column or a row of elements adds to where each of its elements begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    offset: u64,
    /// Of the element's place in a tile or block: what the other part has is added bit by bit.
    place: u32,
}

impl Part {
    /// Offset of the element in this column and a row, of an order whose elements have `bytes`.
    #[inline(always)]
    pub(crate) fn element(self, row: Part, bytes: u8) -> u64 {
        self.offset + row.offset + u64::from(self.place ^ row.place) * u64::from(bytes)
    }
}

impl Order {
    /// The part of column `x`; `None` where the order has no elements of `bytes`.
    #[inline(always)]
    pub(crate) fn column(self, bytes: u8, x: u32) -> Option<Part> {
        let size = u64::from(bytes);
        Some(match self {
            Order::Linear => Part {
                offset: u64::from(x) * size,
                place: 0,
            },
            Order::UInterleaved | Order::UInterleavedBlocks => {
                let side = self.side();
                Part {
                    offset: u64::from(x / side) * u64::from(side * side) * size,
                    place: u_index(x % side, 0),
                }
            }
            Order::Interleaved64k => {
                let [width, height] = block_extent(bytes)?;
                Part {
                    offset: u64::from(x / width) * BLOCK,
                    place: morton(x % width, 0, height),
                }
            }
        })
    }

    /// The part of row `y`; `None` where the order has no elements of `bytes`.
    #[inline(always)]
    pub(crate) fn row(self, row_stride: u64, bytes: u8, y: u32) -> Option<Part> {
        let (height, place) = match self {
            Order::Linear => (1, 0),
            Order::UInterleaved | Order::UInterleavedBlocks => {
                let side = self.side();
                (side, u_index(0, y % side))
            }
            Order::Interleaved64k => {
                let [_, height] = block_extent(bytes)?;
                (height, morton(0, y % height, height))
            }
        };
        Some(Part {
            offset: u64::from(y / height) * row_stride,
            place,
        })
    }

    /// Elements along a side of a u-interleaved tile.
    #[inline]
    fn side(self) -> u32 {
        match self {
            Order::UInterleavedBlocks => TILE_OF_BLOCKS,
            _ => TILE,
        }
    }
}

/// Offset of element (x, y) from the base of its surface; `None` where the order has no elements of `bytes`.
#[inline]
pub(crate) fn element_offset(
    order: Order,
    row_stride: u64,
    bytes: u8,
    [x, y]: [u32; 2],
) -> Option<u64> {
    let row = order.row(row_stride, bytes, y)?;
    Some(order.column(bytes, x)?.element(row, bytes))
}

/// Place of an element in its u-interleaved tile: bit 2i is `x_i xor y_i`, bit 2i + 1 is `y_i`.
#[inline]
pub(crate) fn u_index(x: u32, y: u32) -> u32 {
    apart((x ^ y) & 0xf) | apart(y & 0xf) << 1
}

/// The element at a place in its u-interleaved tile: what [`u_index`] gives that place.
pub(crate) fn at_u_index(index: u32) -> [u32; 2] {
    let y = together(index >> 1);
    [together(index) ^ y, y]
}

/// The four bits at even places, side by side.
fn together(bits: u32) -> u32 {
    let pairs = (bits & 0x55 | (bits & 0x55) >> 1) & 0x33;
    (pairs | pairs >> 2) & 0xf
}

/// Four bits, each moved to twice its place.
#[inline]
fn apart(bits: u32) -> u32 {
    let pairs = (bits | bits << 2) & 0x33;
    (pairs | pairs << 1) & 0x55
}

/// Elements of a 64 KiB block, across and down; square or twice as wide as high.
pub(crate) fn block_extent(bytes: u8) -> Option<[u32; 2]> {
    Some(match bytes {
        1 => [256, 256],
        2 => [256, 128],
        4 => [128, 128],
        8 => [128, 64],
        16 => [64, 64],
        _ => return None,
    })
}

/// Place of an element in its 64 KiB block. The hardware's order is not established and nobody else sees it: Morton order,
/// x in the even bits until the shorter side is used up (free choice of hardware/graphics-model.md 4.6).
fn morton(x: u32, y: u32, height: u32) -> u32 {
    let bits = height.trailing_zeros();
    let low = (0..bits).fold(0, |index, bit| {
        index | (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1)
    });
    low | (x >> bits) << (2 * bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tests::vectors;
    use std::vec::Vec;

    #[test]
    fn u_interleaved_addresses_are_those_of_the_vectors() {
        for case in &vectors("graphics-vectors.json", "u_interleaved_address") {
            let number = |name: &str| case[name].as_u64().expect("a number");
            let bytes = number("bytes");
            let row = number("width").div_ceil(16) * 256 * bytes;
            let at = [number("x") as u32, number("y") as u32];
            let found = element_offset(Order::UInterleaved, row, bytes as u8, at);
            assert_eq!(found, case["address"].as_u64(), "{case}");
        }
    }

    #[test]
    fn blocks_of_64_kib_begin_where_the_vectors_say() {
        for case in &vectors("graphics-vectors2.json", "image_layout_64k") {
            let number = |json: &serde_json::Value| json.as_u64().expect("a number");
            let bytes = number(&case["block_bytes"]) as u8;
            let row = number(&case["per_level_offset_row_surface"][0][1]);
            let block = [0, 1].map(|axis| number(&case["block"][axis]) as u32);
            for texel in case["level0_texel_to_block_start"]
                .as_array()
                .expect("a list")
            {
                let at = [0, 1].map(|axis| number(&texel[axis]) as u32 / block[axis]);
                let offset = element_offset(Order::Interleaved64k, row, bytes, at);
                let start = offset.map(|offset| offset / BLOCK * BLOCK);
                assert_eq!(start, texel[2].as_u64(), "{texel} of {case}");
            }
        }
    }

    #[test]
    fn tiles_are_in_u_order() {
        // hardware/graphics-framebuffer.md 5.8.2.
        let places = [
            (0, 0),
            (1, 0),
            (1, 1),
            (0, 1),
            (2, 0),
            (3, 0),
            (5, 3),
            (15, 15),
        ];
        let indices = places.map(|(x, y)| u_index(x, y));
        assert_eq!(indices, [0, 1, 2, 3, 4, 5, 30, 170]);
        for index in 0..256 {
            let [x, y] = at_u_index(index);
            assert_eq!(u_index(x, y), index, "({x}, {y})");
        }
    }

    #[test]
    fn every_order_gives_each_element_its_own_place() {
        for bytes in [1_u8, 2, 4, 8, 16] {
            let [width, height] = block_extent(bytes).expect("a power of two");
            for order in [Order::UInterleaved, Order::Interleaved64k] {
                let row = u64::from(width) * u64::from(bytes) * u64::from(TILE);
                let mut all: Vec<u64> = (0..width * height)
                    .map(|at| [at % width, at / width])
                    .map(|at| element_offset(order, row, bytes, at).expect("an offset"))
                    .collect();
                all.sort_unstable();
                let packed = (0..u64::from(width * height)).map(|at| at * u64::from(bytes));
                assert!(all.into_iter().eq(packed), "{order:?} of {bytes} bytes");
            }
        }
        assert_eq!(element_offset(Order::Interleaved64k, 0, 3, [0, 0]), None);
    }
}
