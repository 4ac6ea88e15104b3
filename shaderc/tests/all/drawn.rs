//! Drawn scenes in the interpreter, vertex and fragment shader fitted to each other, against arithmetic that this file does
//! itself.
use std::collections::BTreeMap;

use eitri_shaderc::interp::{Buffer, Image, Resources, Sampler, TexelFormat, Triangle, Wrap};
use eitri_shaderc::ir::Function;
use eitri_shaderc::{LoweredGraphics, Options, graphics_front_end};

use crate::support::drawing::{color, draw_to, floats, quads, shade, triangle, vertices};

/// Both shaders of a scene, plain and optimised modules; none if the scenes aren't there.
fn scene(name: &str) -> Vec<LoweredGraphics> {
    let Some(scenes) = eitri_testdata::shared("scenes") else {
        return vec![];
    };
    let forms = ["", "-opt"].map(|form| {
        let read = |stage: &str| {
            let path = scenes.join(format!("{name}/{name}{form}.{stage}.spv"));
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let options = Options {
            check: true,
            ..Options::default()
        };
        let (vertex, fragment) = (read("vert"), read("frag"));
        let made = graphics_front_end((&vertex, &options), Some((&fragment, &options)));
        made.unwrap_or_else(|errors| panic!("{name}{form}: {errors:?}"))
    });
    forms.into()
}

fn fragment(made: &LoweredGraphics) -> &Function {
    &made.fragment.as_ref().expect("it was given").function
}

/// The triangle over all pixels that shaders without attributes make.
fn whole(made: &LoweredGraphics, size: [u32; 2]) -> Triangle {
    let none = vec![BTreeMap::new(); 3];
    triangle(&made.vertex.function, &draw_to(size), &vertices(&none))
}

#[test]
fn derivatives_are_differences_in_quads() {
    const SIZE: [u32; 2] = [16, 16];
    for made in scene("derivatives") {
        let whole = whole(&made, SIZE);
        let quads = quads(SIZE, &whole);
        let mut none = Resources::default();
        let pixels = shade(fragment(&made), &draw_to(SIZE), &whole, &quads, &mut none);
        assert_eq!(pixels.len(), 256);
        for ([x, y], outputs) in pixels {
            // a = 3x + y/4, b = x² + 3y², between the columns and the rows of the quad.
            let [left, top] = [x & !1, y & !1].map(|at| at as f32);
            let [x, y] = [x, y].map(|at| at as f32);
            let (bx, by) = (2.0 * left + 1.0, 3.0 * (2.0 * top + 1.0));
            assert_eq!(floats(&outputs, 0), [3.0, 0.25, bx, by], "at {x}, {y}");
            assert_eq!(floats(&outputs, 1), [3.25, bx + by, y, x], "at {x}, {y}");
        }
    }
}

#[test]
fn discarded_fragments_change_nothing() {
    const SIZE: [u32; 2] = [16, 16];
    for made in scene("discard") {
        let whole = whole(&made, SIZE);
        let mut resources = Resources::default();
        let buffer = Buffer { bytes: vec![0; 8] };
        resources.buffers.insert((0, 0, 0), buffer);
        let quads = quads(SIZE, &whole);
        let pixels = shade(
            fragment(&made),
            &draw_to(SIZE),
            &whole,
            &quads,
            &mut resources,
        );
        let all = (0..16).flat_map(|y| (0..16).map(move |x| [x, y]));
        let kept: Vec<[u32; 2]> = all.filter(|[x, y]| (x * 5 + y * 3) % 7 >= 3).collect();
        let count = kept.len() as u32;
        let sum: u32 = kept.iter().map(|[x, y]| x + y * 16).sum();
        let words: Vec<u8> = [count, sum]
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        assert_eq!(resources.buffers[&(0, 0, 0)].bytes, words);
        assert_eq!(pixels.len(), kept.len());
        for [x, y] in kept {
            let outputs = &pixels[&[x, y]];
            let expected = [x as f32, y as f32, 85.0, 255.0].map(|byte| byte / 255.0);
            for (got, expected) in floats(outputs, 0).iter().zip(expected) {
                assert!(
                    (got - expected).abs() < 1e-6,
                    "at {x}, {y}: {got}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn inputs_are_interpolated_with_perspective_and_without() {
    const SIZE: [u32; 2] = [8, 8];
    // x, y, z, w before the division; then the attribute.
    let corners: [([f32; 4], [f32; 4]); 3] = [
        ([-1.0, -1.0, 0.0, 1.0], [0.0, 1.0, 8.0, -2.0]),
        ([6.0, -2.0, 0.5, 2.0], [4.0, 0.0, 8.0, 6.0]),
        ([-4.0, 12.0, 1.0, 4.0], [0.0, 2.0, -8.0, 3.0]),
    ];
    let given = corners.map(|(position, attribute)| {
        let words = |floats: [f32; 4]| floats.map(f32::to_bits);
        BTreeMap::from([(0, words(position)), (1, words(attribute))])
    });
    for made in scene("interpolation") {
        let triangle = triangle(&made.vertex.function, &draw_to(SIZE), &vertices(&given));
        let quads = quads(SIZE, &triangle);
        let mut none = Resources::default();
        let pixels = shade(
            fragment(&made),
            &draw_to(SIZE),
            &triangle,
            &quads,
            &mut none,
        );
        assert!(pixels.len() > 20, "{} pixels", pixels.len());
        // The window positions, by hand.
        let window = corners.map(|([x, y, z, w], _)| {
            let [x, y, z, w] = [x, y, z, w].map(f64::from);
            [(x / w + 1.0) * 4.0, (y / w + 1.0) * 4.0, z / w, 1.0 / w]
        });
        for ([x, y], outputs) in pixels {
            let at = [f64::from(x) + 0.5, f64::from(y) + 0.5];
            let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
                (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
            };
            let [a, b, c] = window.map(|[x, y, ..]| [x, y]);
            let whole = area(a, b, c);
            let weights = [
                area(b, c, at) / whole,
                area(c, a, at) / whole,
                area(a, b, at) / whole,
            ];
            let mean = |of: &dyn Fn(usize) -> f64| -> f64 {
                (0..3).map(|vertex| weights[vertex] * of(vertex)).sum()
            };
            let reciprocal = mean(&|vertex| window[vertex][3]);
            let near = |got: f32, expected: f64, what: &str| {
                let error = (f64::from(got) - expected).abs();
                assert!(
                    error < 1e-4 * (1.0 + expected.abs()),
                    "{what} at {x}, {y}: {got}, not {expected}"
                );
            };
            for component in 0..4 {
                let own = |vertex: usize| f64::from(corners[vertex].1[component]);
                let smooth = mean(&|vertex| own(vertex) * window[vertex][3]) / reciprocal;
                near(floats(&outputs, 0)[component], smooth, "smooth");
                near(floats(&outputs, 1)[component], mean(&own), "noperspective");
                let first = (corners[0].1[component] * 16.0) as i32;
                assert_eq!(color(&outputs, 2)[component], first.cast_unsigned(), "flat");
            }
            let expected = [at[0], at[1], mean(&|vertex| window[vertex][2]), reciprocal];
            for (got, expected) in floats(&outputs, 3).into_iter().zip(expected) {
                near(got, expected, "gl_FragCoord");
            }
        }
    }
}

#[test]
fn a_texture_is_sampled_at_the_level_that_the_quad_asks_for() {
    const SIZE: [u32; 2] = [8, 8];
    // Each level is filled with its number.
    let format = TexelFormat::of_name("R32G32B32A32_SFLOAT").expect("it is a format");
    let mut image = Image::new(format, [64, 64, 1]);
    image.levels = 7;
    let levels = (0..7u32).flat_map(|level| {
        let texels = (64 >> level) * (64 >> level);
        let bytes = (level as f32).to_le_bytes();
        std::iter::repeat_n(bytes, 4 * texels as usize).flatten()
    });
    image.bytes = levels.collect();
    let sampler = Sampler {
        mipmap_linear: true,
        wrap: [Wrap::Repeat; 3],
        lod: [0.0, 100.0],
        ..Sampler::default()
    };
    for texels_a_pixel in [1.0f32, 3.0, 8.0, 20.0] {
        for made in scene("implicit_lod") {
            // A triangle twice as large as the picture; coordinates grow along x, half as fast along y.
            let far = texels_a_pixel / 64.0 * 16.0;
            let corners = [
                ([-1.0, -1.0], [0.0, 0.0]),
                ([3.0, -1.0], [far, 0.0]),
                ([-1.0, 3.0], [0.0, far / 2.0]),
            ];
            let given = corners.map(|([x, y], [u, v])| {
                let words = |floats: [f32; 4]| floats.map(f32::to_bits);
                BTreeMap::from([(0, words([x, y, 0.0, 1.0])), (1, words([u, v, 0.0, 0.0]))])
            });
            let triangle = triangle(&made.vertex.function, &draw_to(SIZE), &vertices(&given));
            let mut resources = Resources::default();
            resources.images.insert((0, 0, 0), image.clone());
            resources.samplers.insert((0, 0, 0), sampler.clone());
            let quads = quads(SIZE, &triangle);
            let pixels = shade(
                fragment(&made),
                &draw_to(SIZE),
                &triangle,
                &quads,
                &mut resources,
            );
            assert_eq!(pixels.len(), 64);
            for (at, outputs) in pixels {
                let got = floats(&outputs, 0)[0];
                let expected = texels_a_pixel.log2();
                assert!(
                    (got - expected).abs() < 1e-3,
                    "at {at:?}: level {got}, not {expected}"
                );
            }
        }
    }
}
