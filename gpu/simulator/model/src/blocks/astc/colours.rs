//! End points: two colours of the values that a partition stores.

use super::high_range;
use crate::blocks::bits::signed;

/// Two colours. Components are 8 bits, of high range 16.
pub(super) struct EndPoints {
    pub(super) ends: [[i32; 4]; 2],
    pub(super) high_range: [bool; 4],
}

/// The end points of mode `kind`, of unquantised values.
pub(super) fn end_points(kind: u32, v: [i32; 8]) -> EndPoints {
    let grey = |luminance: i32, alpha: i32| [luminance, luminance, luminance, alpha];
    let ends = match kind {
        0 => [grey(v[0], 255), grey(v[1], 255)],
        1 => {
            let low = v[0] >> 2 | v[1] & 0xc0;
            [grey(low, 255), grey(low + (v[1] & 0x3f), 255)]
        }
        4 => [grey(v[0], v[2]), grey(v[1], v[3])],
        5 => {
            let (luminance, more) = base_and_offset(v[0], v[1]);
            let (alpha, more_alpha) = base_and_offset(v[2], v[3]);
            [
                grey(luminance, alpha),
                grey(luminance + more, alpha + more_alpha),
            ]
        }
        6 | 10 => {
            let alphas = if kind == 10 { [v[4], v[5]] } else { [255; 2] };
            let scaled = |component: i32| (component * v[3]) >> 8;
            [
                [scaled(v[0]), scaled(v[1]), scaled(v[2]), alphas[0]],
                [v[0], v[1], v[2], alphas[1]],
            ]
        }
        8 | 12 => {
            let alphas = if kind == 12 { [v[6], v[7]] } else { [255; 2] };
            let even = [v[0], v[2], v[4], alphas[0]];
            let odd = [v[1], v[3], v[5], alphas[1]];
            if v[1] + v[3] + v[5] >= v[0] + v[2] + v[4] {
                [even, odd]
            } else {
                [towards_blue(odd), towards_blue(even)]
            }
        }
        9 | 13 => {
            let pairs = [0, 2, 4, 6].map(|index| base_and_offset(v[index], v[index + 1]));
            let mut base = pairs.map(|(base, _)| base);
            let mut sum = pairs.map(|(base, offset)| base + offset);
            if kind == 9 {
                (base[3], sum[3]) = (255, 255);
            }
            if pairs[..3].iter().map(|(_, offset)| offset).sum::<i32>() >= 0 {
                [base, sum]
            } else {
                [towards_blue(sum), towards_blue(base)]
            }
        }
        _ => return high_range::end_points(kind, v),
    };
    EndPoints {
        ends: ends.map(|end| end.map(|component| component.clamp(0, 255))),
        high_range: [false; 4],
    }
}

/// A base of eight bits and an offset of six with a sign: the base's top bit is the offset's.
fn base_and_offset(even: i32, odd: i32) -> (i32, i32) {
    let base = even >> 1 | odd & 0x80;
    (base, signed((odd >> 1 & 0x3f) as u32, 6))
}

fn towards_blue([red, green, blue, alpha]: [i32; 4]) -> [i32; 4] {
    [(red + blue) >> 1, (green + blue) >> 1, blue, alpha]
}
