//! Pictures that captures come without, computed from their source: `../shared/hardware/worked/source/vkgfx.c`.
//!
//! Vulkan's rules in f64, pixel by pixel, with nothing of the model: triangles with linear colours, depth, blending.

use super::capture::Capture;
use super::pictures::{compare, expected};
use super::player::Player;

const SIDE: usize = 64;

/// Clear colour of most cases: 0.125, 0.25, 0.5, 1 as codes.
const CLEAR: [u8; 4] = [32, 64, 128, 255];

/// A vertex in normalised device coordinates, with its colour.
#[derive(Clone, Copy)]
struct Vertex {
    at: [f64; 3],
    colour: [f64; 4],
}

/// A covered pixel: its place in the picture, depth, colour.
struct Fragment {
    pixel: usize,
    depth: f64,
    colour: [f64; 4],
}

const fn vertex(at: [f64; 3], colour: [f64; 4]) -> Vertex {
    Vertex { at, colour }
}

/// The two overlapping triangles of most cases.
const TWO: [[Vertex; 3]; 2] = [
    [
        vertex([-0.75, -0.75, 0.25], [1.0, 0.0, 0.0, 0.5]),
        vertex([0.75, -0.5, 0.25], [1.0, 0.0, 0.0, 0.5]),
        vertex([-0.25, 0.75, 0.25], [1.0, 0.0, 0.0, 0.5]),
    ],
    [
        vertex([0.75, 0.75, 0.75], [0.0, 1.0, 0.0, 0.75]),
        vertex([-0.75, 0.5, 0.1], [0.0, 1.0, 0.0, 0.25]),
        vertex([0.25, -0.75, 0.1], [0.0, 1.0, 0.0, 1.0]),
    ],
];

/// The triangle of `tri.vert`.
const TRIANGLE: [Vertex; 3] = [
    vertex([-0.75, -0.75, 0.25], [1.0, 0.0, 0.0, 1.0]),
    vertex([0.75, -0.5, 0.25], [0.0, 1.0, 0.0, 1.0]),
    vertex([-0.25, 0.75, 0.25], [0.0, 0.0, 1.0, 1.0]),
];

/// A vertex on the screen, snapped to 1/256 pixel.
fn screen(vertex: &Vertex) -> [f64; 2] {
    let snapped = |value: f64| ((value + 1.0) * 32.0 * 256.0).round() / 256.0;
    [snapped(vertex.at[0]), snapped(vertex.at[1])]
}

/// The pixels whose centre lies in a triangle, or on its top or a left edge.
fn fragments(triangle: &[Vertex; 3]) -> Vec<Fragment> {
    let [a, b, c] = [0, 1, 2].map(|index: usize| screen(&triangle[index]));
    let cross = |p: [f64; 2], q: [f64; 2], r: [f64; 2]| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    let area = cross(a, b, c);
    let mut covered = Vec::new();
    for pixel in 0..SIDE * SIDE {
        let centre = [(pixel % SIDE) as f64 + 0.5, (pixel / SIDE) as f64 + 0.5];
        let weights = [
            cross(b, c, centre),
            cross(c, a, centre),
            cross(a, b, centre),
        ];
        let weights = weights.map(|weight| weight / area);
        // The sides opposite of the corners, clockwise on the screen: left ones go up, the top one goes right.
        let sides = [(b, c), (c, a), (a, b)].map(|(from, to)| {
            let side = [to[0] - from[0], to[1] - from[1]];
            side.map(|along| along * area.signum())
        });
        let inclusive = |[x, y]: [f64; 2]| y < 0.0 || y == 0.0 && x > 0.0;
        let outside = |(weight, side): (&f64, &[f64; 2])| {
            *weight < 0.0 || *weight == 0.0 && !inclusive(*side)
        };
        if weights.iter().zip(&sides).any(outside) {
            continue;
        }
        let mix = |value: &dyn Fn(&Vertex) -> f64| -> f64 {
            let pairs = triangle.iter().zip(weights);
            pairs.map(|(vertex, weight)| value(vertex) * weight).sum()
        };
        covered.push(Fragment {
            pixel,
            depth: mix(&|vertex| vertex.at[2]),
            // A program's values are of 32 bits.
            colour: [0, 1, 2, 3]
                .map(|index: usize| f64::from(mix(&|vertex| vertex.colour[index]) as f32)),
        });
    }
    covered
}

fn code(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
}

fn value(code: u8) -> f64 {
    f64::from(code) / 255.0
}

/// What becomes of a pixel that a fragment's colour meets.
type Mixer = fn([f64; 4], [u8; 4]) -> [u8; 4];

fn replace(source: [f64; 4], _: [u8; 4]) -> [u8; 4] {
    source.map(code)
}

/// Source alpha, one minus source alpha; one, one minus source alpha.
fn over(source: [f64; 4], below: [u8; 4]) -> [u8; 4] {
    let alpha = source[3];
    core::array::from_fn(|index| {
        let factor = if index == 3 { 1.0 } else { alpha };
        code(source[index] * factor + value(below[index]) * (1.0 - alpha))
    })
}

/// Constant colour, destination alpha; alpha as `over`.
fn constant(source: [f64; 4], below: [u8; 4]) -> [u8; 4] {
    let constant = [0.25, 0.5, 0.75];
    let mut mixed = over(source, below);
    for index in 0..3 {
        mixed[index] =
            code(source[index] * constant[index] + value(below[index]) * value(below[3]));
    }
    mixed
}

fn exclusive_or(source: [f64; 4], below: [u8; 4]) -> [u8; 4] {
    core::array::from_fn(|index| code(source[index]) ^ below[index])
}

/// Triangles one after another without depth.
fn mixed(triangles: &[[Vertex; 3]], mix: Mixer) -> Vec<[u8; 4]> {
    let mut picture = vec![CLEAR; SIDE * SIDE];
    for fragment in triangles.iter().flat_map(fragments) {
        picture[fragment.pixel] = mix(fragment.colour, picture[fragment.pixel]);
    }
    picture
}

/// Triangles with "less" against depth 1; how many fragments of each pass.
fn tested(triangles: &[[Vertex; 3]]) -> (Vec<[u8; 4]>, Vec<u64>) {
    let mut picture = vec![CLEAR; SIDE * SIDE];
    let mut depths = vec![1.0; SIDE * SIDE];
    let mut counts = Vec::new();
    for triangle in triangles {
        let mut count = 0;
        for fragment in fragments(triangle) {
            if fragment.depth < depths[fragment.pixel] {
                depths[fragment.pixel] = fragment.depth;
                picture[fragment.pixel] = fragment.colour.map(code);
                count += 1;
            }
        }
        counts.push(count);
    }
    (picture, counts)
}

/// Five small triangles, each with its own place and colour.
fn instances() -> Vec<[Vertex; 3]> {
    let places = [
        [-0.5, -0.5, 1.0, 0.0],
        [0.5, -0.5, 0.0, 1.0],
        [-0.5, 0.5, 1.0, 1.0],
        [0.5, 0.5, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.5],
    ];
    let corners = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]];
    let instance = |(number, [x, y, red, green]): (usize, [f64; 4])| {
        let blue = number as f64 * 0.25;
        let at = |[dx, dy]: [f64; 2]| [dx * 0.2 + x, dy * 0.2 + y, 0.0];
        corners.map(|corner| vertex(at(corner), [red, green, blue, 1.0]))
    };
    places.into_iter().enumerate().map(instance).collect()
}

/// Lines of width 1 through the corners of the triangle, as rectangles.
fn line_strip() -> Vec<[u8; 4]> {
    let mut picture = vec![CLEAR; SIDE * SIDE];
    for pair in TRIANGLE.windows(2) {
        let (a, b) = (screen(&pair[0]), screen(&pair[1]));
        let along = [b[0] - a[0], b[1] - a[1]];
        let length = along[0].hypot(along[1]);
        for (pixel, colour) in picture.iter_mut().enumerate() {
            let centre = [(pixel % SIDE) as f64 + 0.5, (pixel / SIDE) as f64 + 0.5];
            let from = [centre[0] - a[0], centre[1] - a[1]];
            let part = (from[0] * along[0] + from[1] * along[1]) / (length * length);
            let beside = (from[0] * along[1] - from[1] * along[0]).abs() / length;
            if (0.0..=1.0).contains(&part) && beside <= 0.5 {
                let mix = |index: usize| {
                    pair[0].colour[index] * (1.0 - part) + pair[1].colour[index] * part
                };
                *colour = [0, 1, 2, 3].map(|index| code(mix(index)));
            }
        }
    }
    picture
}

/// A 32 x 32 image stretched over a part of a cleared one, filtered linearly.
fn stretched() -> Vec<[u8; 4]> {
    let texel = |x: i64, y: i64| {
        let (x, y) = (x.clamp(0, 31) as u8, y.clamp(0, 31) as u8);
        let blue = if (x >> 2 ^ y >> 2) & 1 != 0 { 255 } else { 0 };
        [8 * x, 8 * y, blue, 255].map(f64::from)
    };
    let mut picture = vec![[64, 128, 191, 255]; SIDE * SIDE];
    for (x, y) in (4..56).flat_map(|y| (8..60).map(move |x| (x, y))) {
        let place = |pixel: usize, start: usize| (pixel - start) as f64 * 32.0 / 52.0;
        let half = 16.0 / 52.0 - 0.5;
        let (u, v) = (place(x, 8) + half, place(y, 4) + half);
        let (left, top) = (u.floor(), v.floor());
        let (right_part, below_part) = (u - left, v - top);
        let mix = |index: usize| {
            let row = |y: i64| {
                let [one, other] = [0, 1].map(|step| texel(left as i64 + step, y)[index]);
                one * (1.0 - right_part) + other * right_part
            };
            let (above, below) = (row(top as i64), row(top as i64 + 1));
            (above * (1.0 - below_part) + below * below_part) / 255.0
        };
        picture[y * SIDE + x] = [0, 1, 2, 3].map(|index| code(mix(index)));
    }
    picture
}

/// Plays a case and compares its picture; at most so many pixels may differ by 1 of 255, none by more.
fn check(case: &str, wanted: &[[u8; 4]], inexact: usize) -> Option<Player> {
    let capture = Capture::read(case)?;
    let mut player = Player::new(&capture);
    let drawn = player.play(&capture).expect("the last job reads back");
    compare(case, &player, &drawn, wanted, SIDE * SIDE - inexact);
    Some(player)
}

macro_rules! references {
    ($($name:ident $case:literal $wanted:expr, inexact $inexact:literal;)*) => {
        /// The captures of this table.
        pub const CASES: &[&str] = &[$($case),*];

        $(
            #[test]
            fn $name() {
                check($case, &$wanted, $inexact);
            }
        )*
    };
}

references! {
    lines "lines" line_strip(), inexact 0;
    depth "depth" tested(&TWO).0, inexact 0;
    blend "blend" mixed(&TWO, over), inexact 340;
    blend_noafbc "blend-noafbc" mixed(&TWO, over), inexact 340;
    blendload "blendload" mixed(&TWO, over), inexact 340;
    blendload_noafbc "blendload-noafbc" mixed(&TWO, over), inexact 340;
    blendconst "blendconst" mixed(&TWO, constant), inexact 1080;
    logicop "logicop" mixed(&TWO, exclusive_or), inexact 0;
    instanced "instanced" mixed(&instances(), replace), inexact 0;
    instanced_noafbc "instanced-noafbc" mixed(&instances(), replace), inexact 0;
    instind "instind" mixed(&instances(), replace), inexact 0;
    blit "blit" stretched(), inexact 0;
    blit_noafbc "blit-noafbc" stretched(), inexact 0;
    mrt "mrt" expected("triangle"), inexact 71;
    mrt_noafbc "mrt-noafbc" expected("triangle"), inexact 71;
}

/// Results of the two queries: the samples of each triangle that pass.
#[track_caller]
fn check_occlusion(case: &str) {
    let (picture, counts) = tested(&TWO);
    let Some(mut player) = check(case, &picture, 0) else {
        return;
    };
    let capture = Capture::read(case).expect("read before");
    let draws = capture
        .jobs
        .iter()
        .filter(|job| job.text.starts_with("RUN_IDVS"));
    let slots: Vec<u64> = draws.map(|job| job.pair(46)).collect();
    let found: Vec<u64> = slots.iter().map(|slot| player.read64(*slot)).collect();
    // Queries that are not precise tell only whether anything passed.
    let passed = |counts: &[u64]| counts.iter().map(|count| *count != 0).collect::<Vec<_>>();
    assert_eq!(passed(&found), passed(&counts), "{found:?}");
    let precise = found.iter().all(|count| *count > 1);
    assert!(
        !precise || found == counts,
        "{found:?}, expected {counts:?}"
    );
}

#[test]
fn occlusion() {
    check_occlusion("occlusion");
}

#[test]
fn occlusion_noafbc() {
    check_occlusion("occlusion-noafbc");
}
