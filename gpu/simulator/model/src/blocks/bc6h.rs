//! BC6H blocks: colours of half floats.
//!
//! Facts: hardware/graphics-compression.md 5; data/compression-tables.json, `bc6h_modes`.

use super::bits::{Bits, mix, signed};
use super::partitions::{index_place, subset, weight};

/// The alpha of every texel: 1.
pub(super) const ONE: u16 = 0x3c00;

/// A mode of BC6H.
struct Mode {
    /// The number at the block's start.
    value: u32,
    /// Bits of the number.
    bits: u32,
    /// Bits of an end point's component.
    end_point: u32,
    /// Bits of the differences to the first end point, if the others are differences.
    deltas: Option<[u32; 3]>,
    subsets: usize,
    /// Where the end points' bits go, in the order of the block: component, end point, first bit, last bit.
    fields: &'static [(u8, u8, u8, u8)],
}

#[rustfmt::skip]
const MODES: [Mode; 14] = [
    Mode { value: 0, bits: 2, end_point: 10, deltas: Some([5, 5, 5]), subsets: 2, fields: &[
        (1, 2, 4, 4), (2, 2, 4, 4), (2, 3, 4, 4), (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 4), (1, 3, 4, 4),
        (1, 2, 0, 3), (1, 1, 0, 4), (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 4), (2, 3, 1, 1), (2, 2, 0, 3), (0, 2, 0, 4),
        (2, 3, 2, 2), (0, 3, 0, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 1, bits: 2, end_point: 7, deltas: Some([6, 6, 6]), subsets: 2, fields: &[
        (1, 2, 5, 5), (1, 3, 4, 4), (1, 3, 5, 5), (0, 0, 0, 6), (2, 3, 0, 0), (2, 3, 1, 1), (2, 2, 4, 4), (1, 0, 0, 6),
        (2, 2, 5, 5), (2, 3, 2, 2), (1, 2, 4, 4), (2, 0, 0, 6), (2, 3, 3, 3), (2, 3, 5, 5), (2, 3, 4, 4), (0, 1, 0, 5),
        (1, 2, 0, 3), (1, 1, 0, 5), (1, 3, 0, 3), (2, 1, 0, 5), (2, 2, 0, 3), (0, 2, 0, 5), (0, 3, 0, 5),
    ] },
    Mode { value: 2, bits: 5, end_point: 11, deltas: Some([5, 4, 4]), subsets: 2, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 4), (0, 0, 10, 10), (1, 2, 0, 3), (1, 1, 0, 3), (1, 0, 10, 10),
        (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 3), (2, 0, 10, 10), (2, 3, 1, 1), (2, 2, 0, 3), (0, 2, 0, 4), (2, 3, 2, 2),
        (0, 3, 0, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 3, bits: 5, end_point: 10, deltas: None, subsets: 1, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 9), (1, 1, 0, 9), (2, 1, 0, 9),
    ] },
    Mode { value: 6, bits: 5, end_point: 11, deltas: Some([4, 5, 4]), subsets: 2, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 3), (0, 0, 10, 10), (1, 3, 4, 4), (1, 2, 0, 3), (1, 1, 0, 4),
        (1, 0, 10, 10), (1, 3, 0, 3), (2, 1, 0, 3), (2, 0, 10, 10), (2, 3, 1, 1), (2, 2, 0, 3), (0, 2, 0, 3), (2, 3, 0, 0),
        (2, 3, 2, 2), (0, 3, 0, 3), (1, 2, 4, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 7, bits: 5, end_point: 11, deltas: Some([9, 9, 9]), subsets: 1, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 8), (0, 0, 10, 10), (1, 1, 0, 8), (1, 0, 10, 10), (2, 1, 0, 8),
        (2, 0, 10, 10),
    ] },
    Mode { value: 10, bits: 5, end_point: 11, deltas: Some([4, 4, 5]), subsets: 2, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 3), (0, 0, 10, 10), (2, 2, 4, 4), (1, 2, 0, 3), (1, 1, 0, 3),
        (1, 0, 10, 10), (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 4), (2, 0, 10, 10), (2, 2, 0, 3), (0, 2, 0, 3), (2, 3, 1, 1),
        (2, 3, 2, 2), (0, 3, 0, 3), (2, 3, 4, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 11, bits: 5, end_point: 12, deltas: Some([8, 8, 8]), subsets: 1, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 7), (0, 0, 11, 10), (1, 1, 0, 7), (1, 0, 11, 10), (2, 1, 0, 7),
        (2, 0, 11, 10),
    ] },
    Mode { value: 14, bits: 5, end_point: 9, deltas: Some([5, 5, 5]), subsets: 2, fields: &[
        (0, 0, 0, 8), (2, 2, 4, 4), (1, 0, 0, 8), (1, 2, 4, 4), (2, 0, 0, 8), (2, 3, 4, 4), (0, 1, 0, 4), (1, 3, 4, 4),
        (1, 2, 0, 3), (1, 1, 0, 4), (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 4), (2, 3, 1, 1), (2, 2, 0, 3), (0, 2, 0, 4),
        (2, 3, 2, 2), (0, 3, 0, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 15, bits: 5, end_point: 16, deltas: Some([4, 4, 4]), subsets: 1, fields: &[
        (0, 0, 0, 9), (1, 0, 0, 9), (2, 0, 0, 9), (0, 1, 0, 3), (0, 0, 15, 10), (1, 1, 0, 3), (1, 0, 15, 10), (2, 1, 0, 3),
        (2, 0, 15, 10),
    ] },
    Mode { value: 18, bits: 5, end_point: 8, deltas: Some([6, 5, 5]), subsets: 2, fields: &[
        (0, 0, 0, 7), (1, 3, 4, 4), (2, 2, 4, 4), (1, 0, 0, 7), (2, 3, 2, 2), (1, 2, 4, 4), (2, 0, 0, 7), (2, 3, 3, 3),
        (2, 3, 4, 4), (0, 1, 0, 5), (1, 2, 0, 3), (1, 1, 0, 4), (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 4), (2, 3, 1, 1),
        (2, 2, 0, 3), (0, 2, 0, 5), (0, 3, 0, 5),
    ] },
    Mode { value: 22, bits: 5, end_point: 8, deltas: Some([5, 6, 5]), subsets: 2, fields: &[
        (0, 0, 0, 7), (2, 3, 0, 0), (2, 2, 4, 4), (1, 0, 0, 7), (1, 2, 5, 5), (1, 2, 4, 4), (2, 0, 0, 7), (1, 3, 5, 5),
        (2, 3, 4, 4), (0, 1, 0, 4), (1, 3, 4, 4), (1, 2, 0, 3), (1, 1, 0, 5), (1, 3, 0, 3), (2, 1, 0, 4), (2, 3, 1, 1),
        (2, 2, 0, 3), (0, 2, 0, 4), (2, 3, 2, 2), (0, 3, 0, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 26, bits: 5, end_point: 8, deltas: Some([5, 5, 6]), subsets: 2, fields: &[
        (0, 0, 0, 7), (2, 3, 1, 1), (2, 2, 4, 4), (1, 0, 0, 7), (2, 2, 5, 5), (1, 2, 4, 4), (2, 0, 0, 7), (2, 3, 5, 5),
        (2, 3, 4, 4), (0, 1, 0, 4), (1, 3, 4, 4), (1, 2, 0, 3), (1, 1, 0, 4), (2, 3, 0, 0), (1, 3, 0, 3), (2, 1, 0, 5),
        (2, 2, 0, 3), (0, 2, 0, 4), (2, 3, 2, 2), (0, 3, 0, 4), (2, 3, 3, 3),
    ] },
    Mode { value: 30, bits: 5, end_point: 6, deltas: None, subsets: 2, fields: &[
        (0, 0, 0, 5), (1, 3, 4, 4), (2, 3, 0, 0), (2, 3, 1, 1), (2, 2, 4, 4), (1, 0, 0, 5), (1, 2, 5, 5), (2, 2, 5, 5),
        (2, 3, 2, 2), (1, 2, 4, 4), (2, 0, 0, 5), (1, 3, 5, 5), (2, 3, 3, 3), (2, 3, 5, 5), (2, 3, 4, 4), (0, 1, 0, 5),
        (1, 2, 0, 3), (1, 1, 0, 5), (1, 3, 0, 3), (2, 1, 0, 5), (2, 2, 0, 3), (0, 2, 0, 5), (0, 3, 0, 5),
    ] },
];

/// The bits of the three half floats of a texel.
pub(super) fn colour(block: u128, is_signed: bool, [x, y]: [u32; 2]) -> [u16; 3] {
    let mut bits = Bits::new(block);
    let mut value = bits.take(2);
    let mut length = 2;
    if value > 1 {
        value |= bits.take(3) << 2;
        length = 5;
    }
    let known = |mode: &&Mode| mode.value == value && mode.bits == length;
    let Some(mode) = MODES.iter().find(known) else {
        return [0; 3];
    };
    let ends = end_points(mode, is_signed, &mut bits);
    let (partition, width) = match mode.subsets {
        2 => (bits.take(5) as usize, 3),
        _ => (0, 4),
    };
    let texel = 4 * y + x;
    let (place, size) = index_place(mode.subsets, partition, width, texel);
    bits.skip(place);
    let weight = weight(width, bits.take(size));
    let subset = subset(mode.subsets, partition, texel);
    core::array::from_fn(|component| {
        let [first, second] = [0, 1].map(|end| ends[2 * subset + end][component]);
        let mixed = mix(first, second, weight);
        if is_signed {
            let sign = if mixed < 0 { 0x8000 } else { 0 };
            sign | ((mixed.abs() * 31) >> 5) as u16
        } else {
            ((mixed * 31) >> 6) as u16
        }
    })
}

/// End points of 16 bits a component.
fn end_points(mode: &Mode, is_signed: bool, bits: &mut Bits) -> [[i32; 3]; 4] {
    let mut stored = [[0_u32; 3]; 4];
    for (component, end, first, last) in mode.fields {
        let (low, high) = (*first.min(last), *first.max(last));
        let count = u32::from(high - low) + 1;
        let mut value = bits.take(count);
        if first > last {
            value = value.reverse_bits() >> (32 - count);
        }
        stored[usize::from(*end)][usize::from(*component)] |= value << low;
    }
    let width = mode.end_point;
    let all = (1 << width) - 1;
    let count = 2 * mode.subsets;
    let mut ends = [[0; 3]; 4];
    for index in 0..count {
        for component in 0..3 {
            let own = stored[index][component];
            let value = match mode.deltas {
                Some(deltas) if index > 0 => {
                    let delta = signed(own, deltas[component]);
                    stored[0][component].wrapping_add_signed(delta) & all
                }
                _ => own,
            };
            ends[index][component] = if is_signed {
                signed_whole(signed(value, width), width)
            } else {
                whole(value as i32, width)
            };
        }
    }
    ends
}

/// An unsigned component of `width` bits, widened to 16.
fn whole(value: i32, width: u32) -> i32 {
    if width >= 15 || value == 0 {
        value
    } else if value == (1 << width) - 1 {
        0xffff
    } else {
        ((value << 16) + 0x8000) >> width
    }
}

/// A signed component of `width` bits, widened to 16.
fn signed_whole(value: i32, width: u32) -> i32 {
    let size = value.abs();
    let wide = if width >= 16 || size == 0 {
        size
    } else if size >= (1 << (width - 1)) - 1 {
        0x7fff
    } else {
        ((size << 15) + 0x4000) >> (width - 1)
    };
    if value < 0 { -wide } else { wide }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_components_of_16_bits_stay_as_they_are() {
        for value in [-0x8000, -0x7fff, -0x7ffe, -1, 0, 1, 0x7ffe, 0x7fff] {
            assert_eq!(signed_whole(value, 16), value);
        }
    }

    #[test]
    fn narrow_components_reach_both_ends() {
        assert_eq!((whole(0, 10), whole(0x3ff, 10)), (0, 0xffff));
        assert_eq!(signed_whole(0x1ff, 10), 0x7fff);
        assert_eq!(signed_whole(-0x200, 10), -0x7fff);
    }
}
