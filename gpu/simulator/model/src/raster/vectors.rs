//! Coverage and interpolation against vectors that were computed elsewhere, with exact rational arithmetic.
//!
//! Facts: data/graphics-vectors.json and graphics-vectors2.json; `about` in them explains the members.

use super::fixed::snap;
use super::shape::area;
use super::*;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{SamplePattern, TieBreakRule, ZInternalFormat};
use serde_json::Value;
use std::{format, vec};

/// One list of a vector file.
fn vectors(file: &str, list: &str) -> Vec<Value> {
    let path = eitri_testdata::kept(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value: Value = serde_json::from_str(&text).expect("the vectors are JSON");
    let vectors = value[list].as_array().cloned().unwrap_or_default();
    assert!(!vectors.is_empty(), "{file} has no {list}");
    vectors
}

fn float(value: &Value) -> f32 {
    match value.as_str() {
        Some(bits) => f32::from_bits(u32::from_str_radix(bits, 16).expect("hexadecimal bits")),
        None => value.as_f64().expect("a number") as f32,
    }
}

fn floats(value: &Value) -> Vec<f32> {
    value
        .as_array()
        .expect("a list")
        .iter()
        .map(float)
        .collect()
}

fn sampling(vector: &Value) -> Sampling {
    let pattern = vector["pattern"].as_u64().expect("a pattern") as u32;
    Sampling {
        pattern: SamplePattern::from_number(pattern).expect("a pattern's code"),
        each_sample: true,
        mask: 0xffff,
    }
}

/// Rows of hexadecimal masks, as the vectors have them.
fn picture(primitive: &Primitive, sampling: &Sampling, side: u16) -> Vec<String> {
    let within = PixelBox {
        min_x: 0,
        min_y: 0,
        max_x: side - 1,
        max_y: side - 1,
    };
    let mut quads = Vec::new();
    cover(primitive, sampling, within, &mut quads);
    let mut rows = vec![vec![0; usize::from(side)]; usize::from(side)];
    for quad in &quads {
        for lane in 0..4 {
            let (x, y) = quad.pixel(lane);
            rows[usize::from(y)][usize::from(x)] |= quad.coverage[lane];
        }
    }
    let row = |row: &Vec<u16>| {
        let masks: Vec<String> = row.iter().map(|mask| format!("{mask:x}")).collect();
        masks.join(" ")
    };
    rows.iter().map(row).collect()
}

/// The triangle of a vector; positions and whatever depths and 1/w it has.
fn triangle(vector: &Value, tie: u32) -> Option<Primitive> {
    let optional = |name: &str| match &vector[name] {
        Value::Null => vec![0.0; 3],
        list => floats(list),
    };
    let (z, inv_w) = (optional("z"), optional("inv_w"));
    let corners = core::array::from_fn(|index| {
        let xy = floats(&vector["xy"][index]);
        Corner {
            x: xy[0],
            y: xy[1],
            z: z[index],
            inv_w: inv_w[index],
        }
    });
    let rules = TriangleRules {
        tie: TieBreakRule::from_number(tie).expect("a code"),
        front_ccw: true,
        conservative: false,
    };
    Primitive::triangle(corners, rules)
}

fn expected_rows(vector: &Value) -> Vec<&str> {
    let rows = vector["rows"].as_array().expect("rows").iter();
    rows.map(|row| row.as_str().expect("a row")).collect()
}

#[test]
fn triangles_cover_the_samples_of_every_vector() {
    for vector in vectors("graphics-vectors.json", "triangle_coverage") {
        let tie = vector["tie"].as_u64().expect("a code") as u32;
        let got = triangle(&vector, tie).map(|it| picture(&it, &sampling(&vector), 16));
        let expected = vector["rows"].as_array().map(|_| expected_rows(&vector));
        let got = got
            .as_ref()
            .map(|rows| rows.iter().map(String::as_str).collect());
        assert_eq!(
            got, expected,
            "{}, tie {tie}, rows of samples",
            vector["xy"]
        );
        let xy = core::array::from_fn(|index| {
            let xy = floats(&vector["xy"][index]);
            Point {
                x: snap(xy[0]).expect("near"),
                y: snap(xy[1]).expect("near"),
            }
        });
        let [a, b, c] = xy;
        assert_eq!(
            Some(area(a, b, c)),
            vector["area2_65536"].as_i64(),
            "area of {}",
            vector["xy"]
        );
    }
}

#[test]
fn points_cover_the_samples_of_every_vector() {
    for vector in vectors("graphics-vectors2.json", "point_coverage") {
        let size = PointSize::new(float(&vector["size"]), Arch::V10);
        let centre = Corner {
            x: float(&vector["x"]),
            y: float(&vector["y"]),
            ..Corner::default()
        };
        let primitive = Primitive::point(centre, size).expect("near the origin");
        let got = picture(&primitive, &sampling(&vector), 8);
        let about = format!(
            "{}, {} of size {}",
            vector["x"], vector["y"], vector["size"]
        );
        assert_eq!(
            got,
            expected_rows(&vector),
            "{about}, pattern {}",
            vector["pattern"]
        );
    }
}

/// Tells whether `got` is `expected`, which is printed with nine digits.
fn agrees(got: f64, expected: &Value) -> bool {
    let expected: f64 = expected.as_str().expect("digits").parse().expect("digits");
    (got - expected).abs() <= expected.abs().max(1e-30) * 1e-8
}

#[test]
fn values_agree_with_every_vector() {
    for vector in vectors("graphics-vectors.json", "barycentric") {
        let primitive = triangle(&vector, 2).expect("the vector has an area");
        let pixel = core::array::from_fn(|index| vector["pixel"][index].as_u64().expect("a pixel"));
        let [x, y] = pixel.map(|coordinate: u64| coordinate as u16);
        let sampling = Sampling {
            pattern: SamplePattern::SingleSampled,
            each_sample: true,
            mask: 0xffff,
        };
        let at = Evaluation::Centre.point(&primitive, &sampling, (x, y), 1);
        let weights = primitive.weights(at);
        let attribute: Vec<f64> = floats(&vector["attr"]).into_iter().map(f64::from).collect();
        for (name, got) in [
            ("frag_z", weights.depth()),
            ("frag_w", weights.inv_w()),
            ("value", weights.perspective(&attribute)),
        ] {
            assert!(
                agrees(got, &vector[name]),
                "{name} is {got}, wanted {} in {vector}",
                vector[name]
            );
        }
    }
}

#[test]
fn varyings_of_very_wide_triangles_drift_as_measured() {
    // A ramp of a value in each pixel of a row (hardware/graphics-model.md 3.1): measured is 12275.53 where 12287.5 is right.
    let ramp = |width: f32| {
        let at = |x: f32, y: f32| Corner {
            x,
            y,
            z: 0.5,
            inv_w: 1.0,
        };
        let corners = [at(0.0, 0.0), at(width, 0.0), at(0.0, 64.0)];
        let rules = TriangleRules {
            tie: TieBreakRule::Minus180In0Out,
            front_ccw: true,
            conservative: false,
        };
        Primitive::triangle(corners, rules)
            .expect("an area")
            .drifting()
    };
    let value = |width: f32, pixel: i32| {
        let weights = ramp(width).weights(Point {
            x: 256 * pixel + 128,
            y: 0,
        });
        assert_eq!((weights.inv_w(), weights.depth()), (1.0, 0.5));
        weights.perspective(&[0.0, f64::from(width), 0.0])
    };
    assert_eq!(value(8192.0, 8191), 8191.5);
    let found = value(12288.0, 12287);
    assert!((found - 12275.53).abs() < 0.1, "{found}");
}

#[test]
fn depth_bias_agrees_with_every_vector() {
    for vector in vectors("graphics-vectors2.json", "depth_bias") {
        let bias = DepthBias {
            units: float(&vector["units"]),
            factor: float(&vector["factor"]),
            clamp: float(&vector["clamp"]),
            format: match vector["format"].as_str() {
                Some("D16") => ZInternalFormat::D16,
                Some("D24") => ZInternalFormat::D24,
                _ => ZInternalFormat::D32,
            },
        };
        let primitive = triangle(&vector, 2).expect("an area").biased(&bias);
        let weights = primitive.weights(Point { x: 1000, y: 1000 });
        let (raw, biased) = (weights.depth(), weights.biased_depth());
        // The sum has an error of its own: half of the last place of the depth.
        let got = biased - raw;
        let expected: f64 = vector["bias"]
            .as_str()
            .expect("digits")
            .parse()
            .expect("digits");
        let error = expected.abs() * 1e-7 + raw.abs() * 1e-15;
        assert!(
            (got - expected).abs() <= error,
            "bias is {got}, wanted {expected} in {vector}"
        );
    }
}
