//! BC7 blocks.
//!
//! Facts: hardware/graphics-compression.md 5.

use super::bits::{Bits, mix};
use super::partitions::{index_place, subset, weight};

/// Whose lowest bits are stored apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LowBits {
    None,
    /// One each end point.
    EndPoint,
    /// One both end points of a subset.
    Subset,
}

/// Widths of a mode's fields, in bits.
struct Mode {
    subsets: usize,
    partition: u32,
    rotation: u32,
    selection: u32,
    colour: u32,
    alpha: u32,
    low: LowBits,
    index: u32,
    /// 0: there is one run of indices.
    second_index: u32,
}

#[rustfmt::skip]
const MODES: [Mode; 8] = [
    Mode { subsets: 3, partition: 4, rotation: 0, selection: 0, colour: 4, alpha: 0, low: LowBits::EndPoint, index: 3, second_index: 0 },
    Mode { subsets: 2, partition: 6, rotation: 0, selection: 0, colour: 6, alpha: 0, low: LowBits::Subset,   index: 3, second_index: 0 },
    Mode { subsets: 3, partition: 6, rotation: 0, selection: 0, colour: 5, alpha: 0, low: LowBits::None,     index: 2, second_index: 0 },
    Mode { subsets: 2, partition: 6, rotation: 0, selection: 0, colour: 7, alpha: 0, low: LowBits::EndPoint, index: 2, second_index: 0 },
    Mode { subsets: 1, partition: 0, rotation: 2, selection: 1, colour: 5, alpha: 6, low: LowBits::None,     index: 2, second_index: 3 },
    Mode { subsets: 1, partition: 0, rotation: 2, selection: 0, colour: 7, alpha: 8, low: LowBits::None,     index: 2, second_index: 2 },
    Mode { subsets: 1, partition: 0, rotation: 0, selection: 0, colour: 7, alpha: 7, low: LowBits::EndPoint, index: 4, second_index: 0 },
    Mode { subsets: 2, partition: 6, rotation: 0, selection: 0, colour: 5, alpha: 5, low: LowBits::EndPoint, index: 2, second_index: 0 },
];

/// The colour of a texel.
pub(super) fn colour(block: u128, [x, y]: [u32; 2]) -> [u8; 4] {
    let number = block.trailing_zeros();
    let Some(mode) = MODES.get(number as usize) else {
        // Reserved.
        return [0; 4];
    };
    let mut bits = Bits::new(block);
    bits.take(number + 1);
    let partition = bits.take(mode.partition) as usize;
    let rotation = bits.take(mode.rotation);
    let exchanged = bits.take(mode.selection) == 1;
    let ends = end_points(mode, &mut bits);
    let texel = 4 * y + x;
    let mut run = |width: u32| {
        let (place, size) = index_place(mode.subsets, partition, width, texel);
        let (whole, _) = index_place(mode.subsets, partition, width, 16);
        let mut own = bits;
        own.skip(place);
        bits.skip(whole);
        (width, own.take(size))
    };
    let mut colour_index = run(mode.index);
    let mut alpha_index = match mode.second_index {
        0 => colour_index,
        width => run(width),
    };
    if exchanged {
        core::mem::swap(&mut colour_index, &mut alpha_index);
    }
    let subset = subset(mode.subsets, partition, texel);
    let mut colour = core::array::from_fn(|component| {
        let (width, index) = if component == 3 {
            alpha_index
        } else {
            colour_index
        };
        let [first, second] = [0, 1].map(|end| ends[2 * subset + end][component]);
        mix(first, second, weight(width, index)) as u8
    });
    if rotation != 0 {
        colour.swap(3, rotation as usize - 1);
    }
    colour
}

/// The end points of all subsets, of 8 bits a component.
fn end_points(mode: &Mode, bits: &mut Bits) -> [[i32; 4]; 6] {
    let count = 2 * mode.subsets;
    let mut ends = [[0; 4]; 6];
    let mut widths = [mode.colour, mode.colour, mode.colour, mode.alpha];
    for (component, width) in widths.into_iter().enumerate() {
        for end in &mut ends[..count] {
            end[component] = bits.take(width) as i32;
        }
    }
    if mode.low != LowBits::None {
        let mut low = 0;
        for (index, end) in ends[..count].iter_mut().enumerate() {
            if mode.low == LowBits::EndPoint || index % 2 == 0 {
                low = bits.take(1) as i32;
            }
            for component in end {
                *component = *component << 1 | low;
            }
        }
        for width in &mut widths {
            *width += 1;
        }
    }
    for end in &mut ends[..count] {
        for (component, width) in end.iter_mut().zip(widths) {
            let high = *component << (8 - width);
            *component = high | high >> width;
        }
        if mode.alpha == 0 {
            end[3] = 255;
        }
    }
    ends
}
