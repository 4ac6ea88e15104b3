//! A texel's weights, between the points of the grid.

use super::mode::BlockMode;
use super::sequence::Sequence;
use super::tables;

/// The weights of both planes, in 64ths; without a second plane they are equal.
pub(super) fn of_texel(
    block: u128,
    mode: &BlockMode,
    footprint: [u32; 3],
    at: [u32; 3],
) -> [i32; 2] {
    let sequence = Sequence::new(block.reverse_bits(), mode.levels, mode.weights());
    let planes = if mode.dual { 2 } else { 1 };
    let mut cell = [0; 3];
    let mut part = [0; 3];
    for axis in 0..3 {
        let (size, grid) = (footprint[axis], mode.grid[axis]);
        if size > 1 {
            let scaled = (1024 + size / 2) / (size - 1) * at[axis];
            let place = (scaled * (grid - 1) + 32) >> 6;
            (cell[axis], part[axis]) = (place >> 4, (place & 15) as i32);
        }
    }
    let point = |step: [u32; 3], plane: u32| {
        let [x, y, z] = [0, 1, 2].map(|axis| cell[axis] + step[axis]);
        let [width, height, depth] = mode.grid;
        if x >= width || y >= height || z >= depth {
            return 0;
        }
        let index = (z * height + y) * width + x;
        tables::weight(mode.levels, sequence.value(index * planes + plane))
    };
    let infilled = |plane: u32| {
        if footprint[2] > 1 {
            between_four(part, |step| point(step, plane))
        } else {
            between_corners(part, |step| point(step, plane))
        }
    };
    [infilled(0), infilled(planes - 1)]
}

/// In two dimensions: of the four corners of the cell.
fn between_corners([s, t, _]: [i32; 3], point: impl Fn([u32; 3]) -> i32) -> i32 {
    let both = (s * t + 8) >> 4;
    let (below, right) = (t - both, s - both);
    let none = 16 - s - t + both;
    let sum = point([0, 0, 0]) * none
        + point([1, 0, 0]) * right
        + point([0, 1, 0]) * below
        + point([1, 1, 0]) * both;
    (sum + 8) >> 4
}

/// In three dimensions: of the corners along the way that takes the axis with the greatest fraction first.
fn between_four(part: [i32; 3], point: impl Fn([u32; 3]) -> i32) -> i32 {
    let [s, t, r] = part;
    let order = if s > t {
        if t > r {
            [0, 1, 2]
        } else if s > r {
            [0, 2, 1]
        } else {
            [2, 0, 1]
        }
    } else if s > r {
        [1, 0, 2]
    } else if t > r {
        [1, 2, 0]
    } else {
        [2, 1, 0]
    };
    let [a, b, c] = order.map(|axis| part[axis]);
    let mut step = [0; 3];
    let mut sum = 0;
    for (axis, factor) in order.into_iter().zip([16 - a, a - b, b - c]) {
        sum += point(step) * factor;
        step[axis] = 1;
    }
    (sum + point(step) * c + 8) >> 4
}
