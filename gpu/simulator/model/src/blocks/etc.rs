//! ETC2 and EAC blocks. Both are numbers of 64 bits whose first byte is the highest.
//!
//! Facts: hardware/graphics-compression.md 2 and 3.

use super::bits::signed;

/// The smaller and the larger step of each table.
const STEPS: [[i32; 2]; 8] = [
    [2, 8],
    [5, 17],
    [9, 29],
    [13, 42],
    [18, 60],
    [24, 80],
    [33, 106],
    [47, 183],
];

/// Distances of modes T and H.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// Modifiers of EAC: a row each table.
#[rustfmt::skip]
const MODIFIERS: [[i32; 8]; 16] = [
    [ -3,  -6,  -9, -15,   2,   5,   8,  14],
    [ -3,  -7, -10, -13,   2,   6,   9,  12],
    [ -2,  -5,  -8, -13,   1,   4,   7,  12],
    [ -2,  -4,  -6, -13,   1,   3,   5,  12],
    [ -3,  -6,  -8, -12,   2,   5,   7,  11],
    [ -3,  -7,  -9, -11,   2,   6,   8,  10],
    [ -4,  -7,  -8, -11,   3,   6,   7,  10],
    [ -3,  -5,  -8, -11,   2,   4,   7,  10],
    [ -2,  -6,  -8, -10,   1,   5,   7,   9],
    [ -2,  -5,  -8, -10,   1,   4,   7,   9],
    [ -2,  -4,  -8, -10,   1,   3,   7,   9],
    [ -2,  -5,  -7, -10,   1,   4,   6,   9],
    [ -3,  -4,  -7, -10,   2,   3,   6,   9],
    [ -1,  -2,  -3, -10,   0,   1,   2,   9],
    [ -4,  -6,  -8,  -9,   3,   5,   7,   8],
    [ -3,  -5,  -7,  -9,   2,   4,   6,   8],];

/// Bits `high` to `low` of a block.
fn field(block: u64, high: u32, low: u32) -> i32 {
    (block >> low & ((1 << (high - low + 1)) - 1)) as i32
}

/// Two fields side by side, the first above the other, which has `bits` bits.
fn joined(first: i32, second: i32, bits: u32) -> i32 {
    first << bits | second
}

fn of_four(value: i32) -> i32 {
    value * 17
}

fn of_five(value: i32) -> i32 {
    value << 3 | value >> 2
}

fn of_six(value: i32) -> i32 {
    value << 2 | value >> 4
}

fn of_seven(value: i32) -> i32 {
    value << 1 | value >> 6
}

fn byte(value: i32) -> u8 {
    value.clamp(0, 255) as u8
}

/// The colour of a texel. A block with `punch_through` has a bit for opaque in place of its mode bit.
pub(super) fn colour(block: u64, punch_through: bool, at: [u32; 2]) -> [u8; 4] {
    let differential = punch_through || field(block, 33, 33) == 1;
    let sums = [[63, 58], [55, 50], [47, 42]].map(|[base, delta]| {
        let base = field(block, base, base - 4);
        (
            base,
            base + signed(field(block, delta, delta - 2) as u32, 3),
        )
    });
    let outside = sums.map(|(_, sum)| !(0..=31).contains(&sum));
    if differential && !outside[0] && !outside[1] && outside[2] {
        return planar(block, at);
    }
    let place = 4 * at[0] + at[1];
    let index = (block >> (16 + place) & 1) << 1 | block >> place & 1;
    let transparent = punch_through && field(block, 33, 33) == 0;
    if transparent && index == 2 {
        return [0; 4];
    }
    let [red, green, blue] = if differential && outside[0] {
        paint_t(block, index)
    } else if differential && outside[1] {
        paint_h(block, index)
    } else {
        stepped(block, (differential, transparent), index, at)
    };
    [byte(red), byte(green), byte(blue), 255]
}

/// Modes individual and differential: a base colour for each half, and a step.
fn stepped(
    block: u64,
    (differential, transparent): (bool, bool),
    index: u64,
    [x, y]: [u32; 2],
) -> [i32; 3] {
    let flipped = field(block, 32, 32) == 1;
    let second = if flipped { y >= 2 } else { x >= 2 };
    let base = [63, 55, 47].map(|high| {
        if differential {
            let base = field(block, high, high - 4);
            let delta = signed(field(block, high - 5, high - 7) as u32, 3);
            of_five(if second { base + delta } else { base })
        } else {
            let high = if second { high - 4 } else { high };
            of_four(field(block, high, high - 3))
        }
    });
    let table = if second {
        field(block, 36, 34)
    } else {
        field(block, 39, 37)
    };
    let [small, large] = STEPS[table as usize & 7];
    let small = if transparent { 0 } else { small };
    let step = match index {
        0 => small,
        1 => large,
        2 => -small,
        _ => -large,
    };
    base.map(|base| base + step)
}

fn paint_t(block: u64, index: u64) -> [i32; 3] {
    let red = joined(field(block, 60, 59), field(block, 57, 56), 2);
    let first = [red, field(block, 55, 52), field(block, 51, 48)].map(of_four);
    let second = [47, 43, 39].map(|high| of_four(field(block, high, high - 3)));
    let distance = joined(field(block, 35, 34), field(block, 32, 32), 1);
    let distance = DISTANCES[distance as usize & 7];
    match index {
        0 => first,
        1 => second.map(|component| component + distance),
        2 => second,
        _ => second.map(|component| component - distance),
    }
}

fn paint_h(block: u64, index: u64) -> [i32; 3] {
    let green = joined(field(block, 58, 56), field(block, 52, 52), 1);
    let blue = joined(field(block, 51, 51), field(block, 49, 47), 3);
    let first = [field(block, 62, 59), green, blue].map(of_four);
    let second = [46, 42, 38].map(|high| of_four(field(block, high, high - 3)));
    let number = |[red, green, blue]: [i32; 3]| red << 16 | green << 8 | blue;
    let ordered = i32::from(number(first) >= number(second));
    let distance = field(block, 34, 34) << 2 | field(block, 32, 32) << 1 | ordered;
    let distance = DISTANCES[distance as usize & 7];
    let (base, sign) = match index {
        0 => (first, 1),
        1 => (first, -1),
        2 => (second, 1),
        _ => (second, -1),
    };
    base.map(|component| component + sign * distance)
}

fn planar(block: u64, [x, y]: [u32; 2]) -> [u8; 4] {
    let green = joined(field(block, 56, 56), field(block, 54, 49), 6);
    let blue = field(block, 48, 48) << 5 | field(block, 44, 43) << 3 | field(block, 41, 39);
    let origin = [of_six(field(block, 62, 57)), of_seven(green), of_six(blue)];
    let red = joined(field(block, 38, 34), field(block, 32, 32), 1);
    let across = [
        of_six(red),
        of_seven(field(block, 31, 25)),
        of_six(field(block, 24, 19)),
    ];
    let down = [
        of_six(field(block, 18, 13)),
        of_seven(field(block, 12, 6)),
        of_six(field(block, 5, 0)),
    ];
    let (x, y) = (x as i32, y as i32);
    let component = |index: usize| {
        let origin = origin[index];
        byte((x * (across[index] - origin) + y * (down[index] - origin) + 4 * origin + 2) >> 2)
    };
    [component(0), component(1), component(2), 255]
}

/// Base as it is stored, multiplier and modifier of a texel.
fn parts(block: u64, at: [u32; 2]) -> (i32, i32, i32) {
    let place = 3 * (4 * at[0] + at[1]);
    let index = block >> (45 - place) & 7;
    let table = field(block, 51, 48) as usize & 15;
    (
        field(block, 63, 56),
        field(block, 55, 52),
        MODIFIERS[table][index as usize],
    )
}

/// The alpha that an EAC block gives.
pub(super) fn alpha(block: u64, at: [u32; 2]) -> u8 {
    let (base, multiplier, modifier) = parts(block, at);
    byte(base + modifier * multiplier)
}

/// A component of 11 bits, widened to 16.
pub(super) fn eleven(block: u64, is_signed: bool, at: [u32; 2]) -> u16 {
    let (base, multiplier, modifier) = parts(block, at);
    let step = match multiplier {
        0 => modifier,
        multiplier => 8 * modifier * multiplier,
    };
    if is_signed {
        let base = signed(base as u32, 8).max(-127);
        let value = (8 * base + step).clamp(-1023, 1023);
        let size = value.abs();
        let wide = size << 5 | size >> 5;
        (value.signum() * wide) as u16
    } else {
        let value = (8 * base + 4 + step).clamp(0, 2047);
        (value << 5 | value >> 6) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_colours_of_h_are_in_order_so_the_last_bit_of_their_distance_is_set() {
        // All bits of both colours and of the distance are 0.
        assert_eq!(paint_h(0, 0), [6; 3]);
        assert_eq!(paint_h(0, 3), [-6; 3]);
    }
}
