//! Values at points: what interpolation, depth and their choices of a point must hold.

use super::fixed::snap;
use super::interpolate::Weights;
use super::*;
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{SamplePattern, TieBreakRule, ZInternalFormat};

const RULES: TriangleRules = TriangleRules {
    tie: TieBreakRule::Minus180In0Out,
    front_ccw: true,
    conservative: false,
};

const FOUR: Sampling = Sampling {
    pattern: SamplePattern::Rotated4xGrid,
    each_sample: true,
    mask: 0xffff,
};

fn corner(x: f32, y: f32, z: f32, inv_w: f32) -> Corner {
    Corner { x, y, z, inv_w }
}

fn subpixels(x: f32, y: f32) -> Point {
    let snapped = |it| snap(it).expect("near the origin");
    Point {
        x: snapped(x),
        y: snapped(y),
    }
}

/// A triangle whose corners have nothing in common.
fn uneven() -> [Corner; 3] {
    [
        corner(3.3, 2.7, 0.137, 1.7),
        corner(21.9, 5.1, 0.911, 0.23),
        corner(7.7, 19.2, 0.402, 3.1),
    ]
}

#[test]
fn values_at_a_vertex_are_the_vertex_s_own() {
    let corners = uneven();
    for order in [[0, 1, 2], [0, 2, 1], [2, 1, 0]] {
        let corners = order.map(|index: usize| corners[index]);
        let triangle = Primitive::triangle(corners, RULES).expect("an area");
        for (index, vertex) in corners.iter().enumerate() {
            let weights = triangle.weights(subpixels(vertex.x, vertex.y));
            let values = [1.0e-3f32, 12345.678, -7.0e8];
            let got = weights.perspective(&values.map(f64::from)) as f32;
            assert_eq!(got, values[index], "value at vertex {index} of {order:?}");
            assert_eq!(
                weights.depth() as f32,
                vertex.z,
                "depth at vertex {index} of {order:?}"
            );
            assert_eq!(
                weights.inv_w() as f32,
                vertex.inv_w,
                "1/w at vertex {index} of {order:?}"
            );
        }
    }
}

#[test]
fn what_all_vertices_share_is_the_same_everywhere() {
    let corners = uneven().map(|it| Corner { z: 0.1, ..it });
    let triangle = Primitive::triangle(corners, RULES).expect("an area");
    for at in [(4.0, 4.0), (12.3, 9.9), (-50.0, 80.0), (1000.0, -3.0)] {
        let weights = triangle.weights(subpixels(at.0, at.1));
        assert_eq!(weights.depth() as f32, 0.1, "depth at {at:?}");
    }
    let weights = triangle.weights(subpixels(9.0, 9.0));
    assert_eq!(weights.perspective(&[0.3f32; 3].map(f64::from)) as f32, 0.3);
}

#[test]
fn the_side_that_is_seen_follows_the_winding() {
    let [a, b, c] = uneven();
    let facing = |corners, front_ccw| {
        let rules = TriangleRules { front_ccw, ..RULES };
        Primitive::triangle(corners, rules).expect("an area").facing
    };
    // Clockwise on the screen.
    assert_eq!(facing([a, b, c], true), Facing::Back);
    assert_eq!(facing([a, b, c], false), Facing::Front);
    assert_eq!(facing([a, c, b], true), Facing::Front);
    assert_eq!(facing([a, c, b], false), Facing::Back);
}

#[test]
fn lines_interpolate_along_the_segment_and_not_beyond() {
    let rules = LineRules {
        tie: TieBreakRule::Minus180In0Out,
        width: LineWidth::new(3.0),
        bresenham: false,
    };
    let ends = [corner(2.0, 4.0, 0.25, 1.0), corner(10.0, 4.0, 0.75, 0.5)];
    let line = Primitive::line(ends, rules).expect("a length");
    let at = |x: f32, y: f32| -> Weights { line.weights(subpixels(x, y)) };
    for (x, depth) in [
        (2.0, 0.25),
        (4.0, 0.375),
        (10.0, 0.75),
        (0.0, 0.25),
        (99.0, 0.75),
    ] {
        assert_eq!(at(x, 4.0).depth(), depth, "depth at {x}");
        assert_eq!(at(x, 5.5).depth(), depth, "depth beside {x}");
    }
    // Halfway on the screen: weights 1/2 and 1/4 of 3/4.
    assert_eq!(at(6.0, 4.0).inv_w(), 0.75);
    assert_eq!(at(6.0, 4.0).perspective(&[3.0, 6.0]), 4.0);
    let biased = DepthBias {
        units: 1.0e6,
        factor: 0.0,
        clamp: 0.0,
        format: ZInternalFormat::D16,
    };
    let weights = line.biased(&biased).weights(subpixels(2.0, 4.0));
    assert_eq!(weights.biased_depth(), 0.25, "lines are not biased");
}

#[test]
fn a_line_covers_its_rectangle() {
    let line = |a: (f32, f32), b: (f32, f32), width: f32| {
        let rules = LineRules {
            tie: TieBreakRule::Minus180Out0In,
            width: LineWidth::new(width),
            bresenham: false,
        };
        let ends = [a, b].map(|(x, y)| corner(x, y, 0.0, 1.0));
        Primitive::line(ends, rules)
    };
    let pixels = |primitive: &Primitive| {
        let sampling = Sampling {
            pattern: SamplePattern::SingleSampled,
            ..FOUR
        };
        let within = PixelBox {
            min_x: 0,
            min_y: 0,
            max_x: 31,
            max_y: 31,
        };
        let mut quads = alloc::vec::Vec::new();
        cover(primitive, &sampling, within, &mut quads);
        let mut covered = alloc::vec::Vec::new();
        for quad in &quads {
            let lanes = (0..4).filter(|lane| quad.coverage[*lane] != 0);
            covered.extend(lanes.map(|lane| quad.pixel(lane)));
        }
        covered.sort_by_key(|(x, y)| (*y, *x));
        covered
    };
    let along = |it: Option<Primitive>| pixels(&it.expect("a length"));
    assert_eq!(
        along(line((2.0, 4.5), (5.0, 4.5), 1.0)),
        [(2, 4), (3, 4), (4, 4)]
    );
    assert_eq!(
        along(line((5.0, 4.5), (2.0, 4.5), 1.0)),
        [(2, 4), (3, 4), (4, 4)]
    );
    let two = along(line((4.5, 2.0), (4.5, 4.0), 3.0));
    assert_eq!(two, [(3, 2), (4, 2), (5, 2), (3, 3), (4, 3), (5, 3)]);
    // A diagonal of 3-4-5: 5 pixels long, 5 wide.
    assert_eq!(along(line((8.25, 8.25), (11.25, 12.25), 5.0)).len(), 25);
    assert_eq!(line((2.0, 4.5), (2.0, 4.5), 1.0), None, "no length");
    assert_eq!(line((2.0, 4.5), (5.0, 4.5), 0.0), None, "no width");
    assert_eq!(line((2.0, 4.5), (5.0, 4.5), f32::NAN), None, "no width");
}

#[test]
fn points_have_coordinates_in_their_square() {
    let size = PointSize::new(4.0, Arch::V10);
    let point = Primitive::point(corner(8.0, 8.0, 0.5, 2.0), size).expect("near the origin");
    let at = |x: f32, y: f32| point.point_coordinate(subpixels(x, y));
    assert_eq!(at(6.0, 6.0), Some([0.0, 0.0]));
    assert_eq!(at(7.0, 10.0), Some([0.25, 1.0]));
    assert_eq!(at(8.0, 8.0), Some([0.5, 0.5]));
    assert_eq!(point.weights(subpixels(6.0, 6.0)).perspective(&[7.0]), 7.0);
    let triangle = Primitive::triangle(uneven(), RULES).expect("an area");
    assert_eq!(triangle.point_coordinate(subpixels(8.0, 8.0)), None);
}

#[test]
fn values_are_evaluated_where_the_program_asks() {
    // Left of x = 8.5: in pixel 8 samples 0 and 2 are covered, the centre is on the border.
    let corners = [(8.5, -20.0), (8.5, 40.0), (-20.0, 10.0)].map(|(x, y)| corner(x, y, 0.0, 1.0));
    let triangle = Primitive::triangle(corners, RULES).expect("an area");
    let covered = 0b0101;
    let at = |evaluation: Evaluation, x: u16, covered| {
        let point = evaluation.point(&triangle, &FOUR, (x, 8), covered);
        (point.x - i32::from(x) * 256, point.y - 8 * 256)
    };
    assert_eq!(at(Evaluation::Centre, 8, covered), (128, 128));
    assert_eq!(at(Evaluation::Sample(3), 8, covered), (160, 224));
    assert_eq!(
        at(Evaluation::Explicit { x: -3, y: 300 }, 8, covered),
        (-3, 300)
    );
    assert_eq!(
        at(Evaluation::Centroid, 8, covered),
        (96, 32),
        "the first covered sample"
    );
    assert_eq!(
        at(Evaluation::Centroid, 8, 0b0100),
        (32, 160),
        "the first covered sample"
    );
    assert_eq!(
        at(Evaluation::Centroid, 8, 0b0001),
        (96, 32),
        "the only covered sample"
    );
    assert_eq!(at(Evaluation::Centroid, 8, 0), (128, 128), "a helper");
    assert_eq!(
        at(Evaluation::Centroid, 4, 0b1000),
        (128, 128),
        "the centre is covered"
    );
}

#[test]
fn without_multisampling_the_centre_decides_for_all_samples() {
    let corners = [(8.5, -20.0), (8.5, 40.0), (-20.0, 10.0)].map(|(x, y)| corner(x, y, 0.0, 1.0));
    let triangle = Primitive::triangle(corners, RULES).expect("an area");
    let sampling = Sampling {
        each_sample: false,
        mask: 0b0111,
        ..FOUR
    };
    let within = PixelBox {
        min_x: 7,
        min_y: 8,
        max_x: 9,
        max_y: 8,
    };
    let mut quads = alloc::vec::Vec::new();
    cover(&triangle, &sampling, within, &mut quads);
    // The right edge goes down: code 2 excludes it.
    assert_eq!(
        quads,
        [Quad {
            x: 6,
            y: 8,
            coverage: [0, 0b0111, 0, 0]
        }]
    );
    assert_eq!(sampling.depth_position(2), Point { x: 128, y: 128 });
    assert_eq!(FOUR.depth_position(2), Point { x: 32, y: 160 });
}

#[test]
fn samples_beyond_a_culling_depth_are_removed() {
    // Depth is x / 16.
    let corners = [(0.0, 0.0), (16.0, 0.0), (0.0, 16.0)].map(|(x, y)| corner(x, y, x / 16.0, 1.0));
    let triangle = Primitive::triangle(corners, RULES).expect("an area");
    let bounds = DepthBounds {
        low: 0.28125,
        high: 0.296875,
        cull_low: true,
        cull_high: true,
    };
    let left = |bounds: DepthBounds| {
        let mut quads = alloc::vec![Quad {
            x: 4,
            y: 4,
            coverage: [0xf; 4],
        }];
        depths_after_culling(&triangle, &FOUR, &bounds, &mut quads);
        quads[0].coverage
    };
    // x = 4.125, 4.375, 4.625, 4.875 for samples 2, 0, 3, 1; kept from 4.5 to 4.75.
    assert_eq!(left(bounds), [0b1000, 0, 0b1000, 0]);
    assert_eq!(
        left(DepthBounds {
            cull_low: false,
            ..bounds
        }),
        [0b1101, 0, 0b1101, 0]
    );
    assert_eq!(
        left(DepthBounds {
            cull_high: false,
            ..bounds
        }),
        [0b1010, 0xf, 0b1010, 0xf]
    );
    assert_eq!(
        left(DepthBounds {
            cull_low: false,
            cull_high: false,
            ..bounds
        }),
        [0xf; 4]
    );
}

#[test]
fn depths_of_quads_are_those_of_weights() {
    let bias = DepthBias {
        units: 3.0,
        factor: 0.5,
        clamp: 0.0,
        format: ZInternalFormat::D24,
    };
    let bounds = DepthBounds {
        low: 0.3,
        high: 0.6,
        cull_low: true,
        cull_high: true,
    };
    let triangle = Primitive::triangle(uneven(), RULES).expect("an area");
    let triangle = triangle.biased(&bias);
    let within = PixelBox {
        min_x: 0,
        min_y: 0,
        max_x: 31,
        max_y: 31,
    };
    let mut quads = alloc::vec::Vec::new();
    cover(&triangle, &FOUR, within, &mut quads);
    let all = quads.clone();
    let depths = depths_after_culling(&triangle, &FOUR, &bounds, &mut quads);
    let weights = |quad: &Quad, lane: usize, sample: usize| {
        let (x, y) = quad.pixel(lane);
        let within = FOUR.depth_position(sample);
        triangle.weights(Point {
            x: i32::from(x) * SUBPIXELS + within.x,
            y: i32::from(y) * SUBPIXELS + within.y,
        })
    };
    let mut kept = all;
    for quad in &mut kept {
        for lane in 0..4 {
            for sample in 0..4 {
                if !bounds.keep(weights(quad, lane, sample).depth()) {
                    quad.coverage[lane] &= !(1 << sample);
                }
            }
        }
    }
    kept.retain(|quad| quad.coverage != [0; 4]);
    assert_eq!(quads, kept);
    assert!(quads.len() > 20, "{}", quads.len());
    for (number, quad) in quads.iter().enumerate() {
        for lane in 0..4 {
            let expected = [0, 1, 2, 3].map(|sample| weights(quad, lane, sample).biased_depth());
            assert_eq!(depths.of_lane(4 * number + lane), expected, "{quad:?}");
        }
    }
    let some = depths.of_quads(2..5);
    assert_eq!(some.of_lane(5), depths.of_lane(13));
    assert!(some.of_lane(12).is_empty());
}

/// A triangle cut into pieces has the values that it would have had whole.
#[test]
fn pieces_take_their_values_from_the_vertices_before_clipping() {
    let whole = uneven();
    let [a, b, c] = whole;
    let triangle = Primitive::triangle(whole, RULES).expect("an area");
    // The middle of the side from b to c, in homogeneous space: half of each.
    let (wb, wc) = (1.0 / f64::from(b.inv_w), 1.0 / f64::from(c.inv_w));
    let w = (wb + wc) / 2.0;
    let mix = |b: f32, c: f32| ((f64::from(b) * wb + f64::from(c) * wc) / 2.0 / w) as f32;
    let middle = corner(
        mix(b.x, c.x),
        mix(b.y, c.y),
        mix(b.z, c.z),
        (1.0 / w) as f32,
    );
    let piece = Primitive::triangle([a, b, middle], RULES).expect("an area");
    let piece = piece.clipped_from([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]);
    let values = [1.0, -4.0, 9.0];
    for at in [(6.0, 5.0), (10.0, 6.0), (15.5, 6.5)] {
        let at = subpixels(at.0, at.1);
        let (expected, got) = (triangle.weights(at), piece.weights(at));
        // The corner is snapped, which moves values a little.
        let near = |a: f64, b: f64| (a - b).abs() < 0.02;
        assert!(
            near(got.perspective(&values), expected.perspective(&values)),
            "{at:?}: {got:?}, {expected:?}"
        );
        assert!(
            near(got.depth(), expected.depth()),
            "{at:?}: {got:?}, {expected:?}"
        );
        assert!(
            near(got.inv_w(), expected.inv_w()),
            "{at:?}: {got:?}, {expected:?}"
        );
    }
}
