//! Coverage against oracles that decide each sample or pixel on its own, for random primitives.

use super::*;
use crate::random::Random;
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{SamplePattern, TieBreakRule};
use std::vec;

/// Random primitives that tests compare: a million with `EITRI_LONG=1`.
fn rounds() -> u64 {
    if eitri_testdata::long() {
        1_000_000
    } else {
        20_000
    }
}

/// Random triangles that tests compare: ten million with `EITRI_LONG=1`.
fn triangles() -> u64 {
    if eitri_testdata::long() {
        10_000_000
    } else {
        20_000
    }
}

/// A coordinate in pixels: often on a coarse grid, so that edges meet samples; sometimes far away.
fn coordinate(random: &mut Random) -> f32 {
    let signed = |random: &mut Random, range: i64| random.below(2 * range as u64) as i64 - range;
    match random.below(8) {
        0..=2 => signed(random, 48) as f32 / 2.0 + 16.0,
        3 => signed(random, 400) as f32 / 16.0 + 16.0,
        4 | 5 => signed(random, 8192) as f32 / 256.0 + 16.0,
        6 => signed(random, 32768) as f32,
        _ => signed(random, 8 * 2_097_152 - 1) as f32 / 8.0,
    }
}

fn corner(random: &mut Random) -> Corner {
    let (x, y) = (coordinate(random), coordinate(random));
    Corner {
        x,
        y,
        z: 0.5,
        inv_w: 1.0,
    }
}

fn tie(random: &mut Random) -> TieBreakRule {
    TieBreakRule::from_number(random.below(8) as u32).expect("eight codes")
}

fn sampling(random: &mut Random) -> Sampling {
    Sampling {
        pattern: SamplePattern::from_number(random.below(6) as u32).expect("six patterns"),
        each_sample: random.below(4) != 0,
        mask: if random.below(4) == 0 {
            random.below(0x10000) as u16
        } else {
            0xffff
        },
    }
}

/// A tile, or a part of one.
fn within(random: &mut Random) -> PixelBox {
    let mut range = || {
        let (a, b) = (random.below(40) as u16, random.below(40) as u16);
        (a.min(b), a.max(b))
    };
    let ((min_x, max_x), (min_y, max_y)) = (range(), range());
    PixelBox {
        min_x,
        min_y,
        max_x,
        max_y,
    }
}

/// Where a quad comes among all: blocks of 16x16 pixels row by row, in each those of 4x4, in each its quads.
fn place_in_blocks(x: u16, y: u16) -> [u16; 6] {
    [y / 16, x / 16, y % 16 / 4, x % 16 / 4, y % 4, x % 4]
}

/// Compares both rasterisers on primitives that `make` draws, and the order of quads with that of their blocks.
#[track_caller]
fn both_agree(rounds: u64, seed: u64, mut make: impl FnMut(&mut Random) -> Option<Primitive>) {
    let mut random = Random::new(seed);
    let mut quads = Vec::new();
    let mut touched = 0;
    for round in 0..rounds {
        let Some(primitive) = make(&mut random) else {
            continue;
        };
        let (sampling, within) = (sampling(&mut random), within(&mut random));
        quads.clear();
        cover(&primitive, &sampling, within, &mut quads);
        let in_order = quads.is_sorted_by_key(|quad| place_in_blocks(quad.x, quad.y));
        assert!(
            in_order,
            "round {round}, not in the order of blocks: {quads:?} of {primitive:?}, {within:?}"
        );
        quads.sort_by_key(|quad| (quad.y, quad.x));
        let expected = plain::cover(&primitive, &sampling, within);
        assert_eq!(
            quads, expected,
            "round {round}: {primitive:?}, {sampling:?}, {within:?}"
        );
        touched += u64::from(!expected.is_empty());
    }
    assert!(
        touched > rounds / 20,
        "only {touched} of {rounds} primitives touched their box"
    );
}

#[test]
fn descending_covers_what_the_plain_rasteriser_covers() {
    both_agree(triangles(), 1, |random| {
        let mut corners = [corner(random), corner(random), corner(random)];
        match random.below(16) {
            // Without an area: two corners in one place, or all on a line.
            0 => corners[2] = corners[0],
            1 => {
                let [a, b, c] = &mut corners;
                (c.x, c.y) = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
            }
            _ => {}
        }
        let (tie, conservative) = (tie(random), random.below(8) == 0);
        Primitive::triangle(
            corners,
            TriangleRules {
                tie,
                front_ccw: true,
                conservative,
            },
        )
    });
}

#[test]
fn descending_covers_points_and_lines_as_the_plain_rasteriser_does() {
    both_agree(rounds() / 4, 2, |random| {
        let size = PointSize::new(random.below(640) as f32 / 16.0, Arch::V10);
        Primitive::point(corner(random), size)
    });
    both_agree(rounds() / 4, 3, |random| {
        let rules = LineRules {
            tie: tie(random),
            width: LineWidth::new(random.below(1024) as f32 / 128.0),
            bresenham: random.below(2) == 0,
        };
        Primitive::line([corner(random), corner(random)], rules)
    });
}

/// Four triangles around a point inside a square share their edges: each sample of the square is covered exactly once.
#[test]
fn shared_edges_are_covered_exactly_once_by_every_code() {
    let mut random = Random::new(4);
    for round in 0..rounds() / 20 {
        let (tie, sampling) = (
            tie(&mut random),
            Sampling {
                mask: 0xffff,
                ..sampling(&mut random)
            },
        );
        let at = |x: f32, y: f32| Corner {
            x,
            y,
            ..Corner::default()
        };
        // Corners beyond the pixels that are counted, none of which touches the square's own sides.
        let square = [
            at(-1.0, -1.0),
            at(17.0, -1.0),
            at(17.0, 17.0),
            at(-1.0, 17.0),
        ];
        let inner = |random: &mut Random| random.below(33) as f32 / 2.0;
        let centre = at(inner(&mut random), inner(&mut random));
        let mut counts = [[[0; 16]; 16]; 16];
        for side in 0..4 {
            let mut corners = [square[side], square[(side + 1) % 4], centre];
            corners.rotate_left(random.below(3) as usize);
            if random.below(2) == 0 {
                corners.swap(0, 1);
            }
            let rules = TriangleRules {
                tie,
                front_ccw: true,
                conservative: false,
            };
            let triangle = Primitive::triangle(corners, rules).expect("the centre lies inside");
            let within = PixelBox {
                min_x: 0,
                min_y: 0,
                max_x: 15,
                max_y: 15,
            };
            let mut quads = Vec::new();
            cover(&triangle, &sampling, within, &mut quads);
            for (quad, lane) in quads
                .iter()
                .flat_map(|quad| (0..4).map(move |lane| (quad, lane)))
            {
                let (x, y) = quad.pixel(lane);
                for sample in (0..16).filter(|sample| quad.coverage[lane] >> sample & 1 != 0) {
                    counts[usize::from(y)][usize::from(x)][sample] += 1;
                }
            }
        }
        let all =
            (0..256).flat_map(|pixel| (0..sampling.count()).map(move |sample| (pixel, sample)));
        for (pixel, sample) in all {
            let (x, y) = (pixel % 16, pixel / 16);
            let count = counts[y][x][sample];
            assert_eq!(
                count, 1,
                "round {round}, {tie:?}: sample {sample} of {x}, {y}, {centre:?}"
            );
        }
    }
}

/// Vulkan's rule by its words, in exact numbers: the moved segment meets the open diamond and does not end in it.
mod diamond {
    /// Units of a subpixel: e is 2^20 of them, e^2 is one.
    const UNITS: i128 = 1 << 40;

    /// Distances from a pixel's centre along the four diagonals, less half a pixel: negative inside.
    fn beyond((x, y): (i128, i128)) -> [i128; 4] {
        let half = 128 * UNITS;
        [x + y - half, x - y - half, -x + y - half, -x - y - half]
    }

    fn moved((x, y): (i32, i32), centre: (i32, i32)) -> (i128, i128) {
        let from = |a: i32, b: i32| i128::from(a - b) * UNITS;
        (from(x, centre.0) - (1 << 20), from(y, centre.1) - 1)
    }

    pub(super) fn exited(a: (i32, i32), b: (i32, i32), pixel: (i32, i32)) -> bool {
        let centre = (pixel.0 * 256 + 128, pixel.1 * 256 + 128);
        let (from, to) = (beyond(moved(a, centre)), beyond(moved(b, centre)));
        if to.iter().all(|distance| *distance < 0) {
            return false;
        }
        // The open range of t, as fractions, in which all four distances are negative.
        let (mut first, mut last) = ((0i128, 1i128), (1i128, 1i128));
        for (from, to) in from.into_iter().zip(to) {
            if from >= 0 && to >= 0 {
                return false;
            }
            if from < 0 && to >= 0 {
                let zero = (-from, to - from);
                if zero.0 * last.1 < last.0 * zero.1 {
                    last = zero;
                }
            }
            if from >= 0 && to < 0 {
                let zero = (from, from - to);
                if zero.0 * first.1 > first.0 * zero.1 {
                    first = zero;
                }
            }
        }
        first.0 * last.1 < last.0 * first.1
    }
}

#[test]
fn bresenham_lines_produce_the_pixels_whose_diamonds_they_exit() {
    let mut random = Random::new(5);
    for round in 0..rounds() / 10 {
        let mut end = || {
            let step = [1, 32, 128, 0][random.below(4) as usize];
            let mut part = || match step {
                // A corner of a diamond, or the subpixel before it or behind it.
                0 => {
                    let near = [0, 1, 127, 128, 129, 255][random.below(6) as usize];
                    256 * random.below(16) as i32 + near
                }
                step => random.below(16 * 256 / step) as i32 * step as i32,
            };
            (part(), part())
        };
        let (a, b) = (end(), end());
        let at = |(x, y): (i32, i32)| Corner {
            x: x as f32 / 256.0,
            y: y as f32 / 256.0,
            ..Corner::default()
        };
        let rules = LineRules {
            tie: TieBreakRule::Minus180In0Out,
            width: LineWidth::new(1.0),
            bresenham: true,
        };
        let Some(line) = Primitive::line([at(a), at(b)], rules) else {
            assert_eq!(a, b, "a line with length was dropped");
            continue;
        };
        let within = PixelBox {
            min_x: 0,
            min_y: 0,
            max_x: 15,
            max_y: 15,
        };
        let sampling = Sampling {
            pattern: SamplePattern::SingleSampled,
            each_sample: false,
            mask: 0xffff,
        };
        let mut quads = Vec::new();
        cover(&line, &sampling, within, &mut quads);
        let mut got = [[false; 16]; 16];
        for (quad, lane) in quads
            .iter()
            .flat_map(|quad| (0..4).map(move |lane| (quad, lane)))
        {
            let (x, y) = quad.pixel(lane);
            got[usize::from(y)][usize::from(x)] = quad.coverage[lane] != 0;
        }
        for pixel in 0..256 {
            let (x, y) = (pixel % 16, pixel / 16);
            let expected = diamond::exited(a, b, (x, y));
            assert_eq!(
                got[y as usize][x as usize], expected,
                "round {round}: {a:?} to {b:?}, pixel {x}, {y}"
            );
        }
    }
}

/// Area of a pixel's square inside a triangle whose sides were moved outwards, found by cutting the square in floating
/// point. An area near 0 proves nothing.
fn square_in_grown(corners: [(f64, f64); 3], pixel: (u16, u16)) -> f64 {
    let (x, y) = (f64::from(pixel.0) * 256.0, f64::from(pixel.1) * 256.0);
    let mut polygon = vec![
        (x, y),
        (x + 256.0, y),
        (x + 256.0, y + 256.0),
        (x, y + 256.0),
    ];
    let cross = |a: (f64, f64), b: (f64, f64), p: (f64, f64)| {
        (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0)
    };
    let turn = cross(corners[0], corners[1], corners[2]).signum();
    for side in 0..3 {
        let (a, b) = (corners[side], corners[(side + 1) % 3]);
        let growth = (b.0 - a.0).abs().max((b.1 - a.1).abs()) / 2.0;
        let inside = |p: (f64, f64)| turn * cross(a, b, p) + growth;
        let mut cut = Vec::new();
        for (index, p) in polygon.iter().enumerate() {
            let q = polygon[(index + 1) % polygon.len()];
            let (at_p, at_q) = (inside(*p), inside(q));
            if at_p >= 0.0 {
                cut.push(*p);
            }
            if (at_p < 0.0) != (at_q < 0.0) {
                let t = at_p / (at_p - at_q);
                cut.push((p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1)));
            }
        }
        polygon = cut;
    }
    let next = polygon.iter().cycle().skip(1);
    let twice: f64 = polygon
        .iter()
        .zip(next)
        .map(|(p, q)| p.0 * q.1 - q.0 * p.1)
        .sum();
    twice.abs() / 2.0
}

#[test]
fn conservative_triangles_cover_every_pixel_that_the_grown_triangle_touches() {
    let mut random = Random::new(6);
    let (mut inside, mut outside) = (0, 0);
    for round in 0..rounds() / 20 {
        let points: [(f64, f64); 3] = core::array::from_fn(|_| {
            let mut part = || random.below(16 * 256) as f64;
            (part(), part())
        });
        let corners = points.map(|(x, y)| Corner {
            x: x as f32 / 256.0,
            y: y as f32 / 256.0,
            ..Corner::default()
        });
        let rules = TriangleRules {
            tie: TieBreakRule::Minus180In0Out,
            front_ccw: true,
            conservative: true,
        };
        let Some(triangle) = Primitive::triangle(corners, rules) else {
            continue;
        };
        let sampling = Sampling {
            pattern: SamplePattern::Rotated4xGrid,
            each_sample: true,
            mask: 0xffff,
        };
        for pixel in 0..324 {
            let (x, y) = (pixel % 18, pixel / 18);
            let within = PixelBox {
                min_x: x,
                min_y: y,
                max_x: x,
                max_y: y,
            };
            let mut quads = Vec::new();
            cover(&triangle, &sampling, within, &mut quads);
            let area = square_in_grown(points, (x, y));
            let lane = usize::from(y & 1) << 1 | usize::from(x & 1);
            let got = quads.first().map_or(0, |quad| quad.coverage[lane]);
            if area > 1e-3 {
                assert_eq!(got, 0xf, "round {round}: {points:?} touches {x}, {y}");
                inside += 1;
            } else if area == 0.0 {
                // An empty polygon: the square lies outside a side by more than rounding could hide, or touches it.
                outside += usize::from(got == 0);
                assert!(
                    got == 0 || touches(points, (x, y)),
                    "round {round}: {points:?} covers {x}, {y}"
                );
            }
        }
    }
    assert!(
        inside > 1000 && outside > 1000,
        "{inside} inside, {outside} outside"
    );
}

/// Tells whether a square a thousandth of a subpixel larger would meet the grown triangle: the rounding of the oracle.
fn touches(corners: [(f64, f64); 3], pixel: (u16, u16)) -> bool {
    let centre = (
        f64::from(pixel.0) * 256.0 + 128.0,
        f64::from(pixel.1) * 256.0 + 128.0,
    );
    // Shrinking the triangle towards the square's centre is the same as growing the square.
    let scale = 128.0 / 128.001;
    let moved = corners.map(|(x, y)| {
        (
            centre.0 + (x - centre.0) * scale,
            centre.1 + (y - centre.1) * scale,
        )
    });
    square_in_grown(moved, pixel) > 0.0
}
