//! End points of high dynamic range: logarithms of 12 bits, given as 16.

use super::colours::EndPoints;
use crate::blocks::bits::signed;

/// The logarithm of 1.
const ONE: i32 = 0x780;

/// The end points of one of the modes 2, 3, 7, 11, 14 and 15, of unquantised values.
pub(super) fn end_points(kind: u32, v: [i32; 8]) -> EndPoints {
    let grey = |[low, high]: [i32; 2]| [[low, low, low, ONE], [high, high, high, ONE]];
    let ends = match kind {
        2 => grey(luminance(v[0], v[1])),
        3 => grey(luminance_and_offset(v[0], v[1])),
        7 => with_alpha(base_and_scale(v), [ONE, ONE]),
        15 => with_alpha(direct(v), alphas(v[6], v[7])),
        // Alpha of mode 14 is put in below.
        _ => with_alpha(direct(v), [ONE, ONE]),
    };
    let mut ends = ends.map(|end| end.map(|component| component << 4));
    if kind == 14 {
        (ends[0][3], ends[1][3]) = (v[6], v[7]);
    }
    EndPoints {
        ends,
        high_range: [true, true, true, kind != 14],
    }
}

fn twelve(value: i32) -> i32 {
    value.clamp(0, 0xfff)
}

fn with_alpha([first, second]: [[i32; 3]; 2], alphas: [i32; 2]) -> [[i32; 4]; 2] {
    let colour = |[red, green, blue]: [i32; 3], alpha| [red, green, blue, alpha];
    [colour(first, alphas[0]), colour(second, alphas[1])]
}

fn luminance(first: i32, second: i32) -> [i32; 2] {
    if second >= first {
        [first << 4, second << 4]
    } else {
        [(second << 4) + 8, (first << 4) - 8]
    }
}

fn luminance_and_offset(first: i32, second: i32) -> [i32; 2] {
    let (low, offset) = if first & 0x80 != 0 {
        (
            (second & 0xe0) << 4 | (first & 0x7f) << 2,
            (second & 0x1f) << 2,
        )
    } else {
        (
            (second & 0xf0) << 4 | (first & 0x7f) << 1,
            (second & 0x0f) << 1,
        )
    };
    [low, (low + offset).min(0xfff)]
}

/// The spare bits that go into fields above their own: field, bit, spare bit.
type Placed = &'static [(usize, u32, usize)];

/// The fields with the spare bits of a mode in them.
fn placed<const COUNT: usize>(
    mut fields: [i32; COUNT],
    spare: &[i32],
    rows: Placed,
) -> [i32; COUNT] {
    for (field, bit, from) in rows {
        fields[*field] |= spare[*from] << bit;
    }
    fields
}

/// Mode 7: a colour, and one scale to take from it.
fn base_and_scale(v: [i32; 8]) -> [[i32; 3]; 2] {
    let bit = |value: i32, place: u32| value >> place & 1;
    let number = v[0] >> 6 & 3 | bit(v[1], 7) << 2 | bit(v[2], 7) << 3;
    let (major, mode) = match number {
        15 => (0, 5),
        12.. => (number & 3, 4),
        _ => (number >> 2, number & 3),
    };
    let spare = [
        bit(v[1], 6),
        bit(v[1], 5),
        bit(v[2], 6),
        bit(v[2], 5),
        bit(v[3], 7),
        bit(v[3], 6),
        bit(v[3], 5),
    ];
    // Fields: red 0, green 1, blue 2, scale 3.
    #[rustfmt::skip]
    const ROWS: [(Placed, u32); 6] = [
        (&[(0, 6, 4), (0, 7, 2), (0, 8, 1), (0, 9, 0), (0, 10, 3), (3, 5, 6), (3, 6, 5)],            1),
        (&[(0, 6, 4), (0, 7, 2), (0, 8, 0), (0, 9, 6), (0, 10, 5), (1, 5, 1), (2, 5, 3)],            1),
        (&[(0, 6, 3), (0, 7, 2), (0, 8, 1), (0, 9, 0), (3, 5, 6), (3, 6, 5), (3, 7, 4)],             2),
        (&[(0, 6, 4), (0, 7, 2), (0, 8, 0), (1, 5, 1), (2, 5, 3), (3, 5, 6), (3, 6, 5)],             3),
        (&[(0, 6, 4), (0, 7, 5), (1, 5, 1), (1, 6, 0), (2, 5, 3), (2, 6, 2), (3, 5, 6)],             4),
        (&[(0, 6, 4), (1, 5, 1), (1, 6, 0), (2, 5, 3), (2, 6, 2), (3, 5, 6), (3, 6, 5)],             5),
    ];
    let fields = [v[0] & 0x3f, v[1] & 0x1f, v[2] & 0x1f, v[3] & 0x1f];
    let (rows, shift) = ROWS[mode as usize];
    let [red, mut green, mut blue, scale] =
        placed(fields, &spare, rows).map(|field| field << shift);
    if mode != 5 {
        (green, blue) = (red - green, red - blue);
    }
    let mut colour = [red, green, blue];
    colour.swap(0, major as usize);
    [
        colour.map(|component| twelve(component - scale)),
        colour.map(twelve),
    ]
}

/// Modes 11, 14 and 15: both colours, as differences to the greatest component.
fn direct(v: [i32; 8]) -> [[i32; 3]; 2] {
    let bit = |value: i32, place: u32| value >> place & 1;
    let major = bit(v[4], 7) | bit(v[5], 7) << 1;
    if major == 3 {
        return [
            [v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5],
            [v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5],
        ];
    }
    let mode = bit(v[1], 7) | bit(v[2], 7) << 1 | bit(v[3], 7) << 2;
    let spare = [
        bit(v[2], 6),
        bit(v[3], 6),
        bit(v[4], 6),
        bit(v[5], 6),
        bit(v[4], 5),
        bit(v[5], 5),
    ];
    // Fields: a 0, b0 1, b1 2, c 3.
    #[rustfmt::skip]
    const ROWS: [(Placed, u32); 8] = [
        (&[(1, 6, 0), (2, 6, 1)],                                              7),
        (&[(1, 6, 0), (2, 6, 1), (1, 7, 2), (2, 7, 3)],                        6),
        (&[(0, 9, 0), (3, 6, 1)],                                              7),
        (&[(0, 9, 2), (1, 6, 0), (2, 6, 1), (3, 6, 3)],                        6),
        (&[(0, 9, 4), (0, 10, 5), (1, 6, 0), (2, 6, 1), (1, 7, 2), (2, 7, 3)], 5),
        (&[(0, 9, 0), (0, 10, 1), (3, 6, 3), (3, 7, 2)],                       6),
        (&[(0, 9, 4), (0, 10, 5), (0, 11, 2), (1, 6, 0), (2, 6, 1), (3, 6, 3)], 5),
        (&[(0, 9, 0), (0, 10, 1), (0, 11, 2), (3, 6, 3)],                      6),
    ];
    let fields = [
        v[0] | bit(v[1], 6) << 8,
        v[2] & 0x3f,
        v[3] & 0x3f,
        v[1] & 0x3f,
    ];
    let (rows, width) = ROWS[mode as usize];
    let shift = (mode as u32 >> 1) ^ 3;
    let [a, b0, b1, c] = placed(fields, &spare, rows).map(|field| field << shift);
    let [d0, d1] = [v[4], v[5]].map(|value| signed((value & 0x7f) as u32, width) << shift);
    let mut first = [a - c, a - b0 - c - d0, a - b1 - c - d1].map(twelve);
    let mut second = [a, a - b0, a - b1].map(twelve);
    first.swap(0, major as usize);
    second.swap(0, major as usize);
    [first, second]
}

/// The alphas of mode 15.
fn alphas(first: i32, second: i32) -> [i32; 2] {
    let mode = first >> 7 & 1 | (second >> 7 & 1) << 1;
    let (first, second) = (first & 0x7f, second & 0x7f);
    if mode == 3 {
        return [first << 5, second << 5];
    }
    let base = first | second << (mode + 1) & 0x780;
    let sign = 0x20 >> mode;
    let offset = ((second & (0x3f >> mode)) ^ sign) - sign;
    let [base, offset] = [base, offset].map(|value| value << (4 - mode));
    [base, twelve(base + offset)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphas_of_mode_3_have_seven_bits_each() {
        assert_eq!(alphas(0x80 | 0x15, 0x80 | 0x6b), [0x15 << 5, 0x6b << 5]);
    }
}
