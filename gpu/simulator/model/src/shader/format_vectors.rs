//! Encoding and decoding of components against the vectors of hardware/data/graphics-vectors.json.

use super::super::float::wide32;
use super::*;
use crate::tile::tests::{bits_of_hex, vectors};
use serde_json::Value as Json;

/// Runs `check` on each case of a list of the vectors.
fn each(list: &str, check: impl Fn(&Json)) {
    let cases = vectors("graphics-vectors.json", list);
    assert!(!cases.is_empty(), "{list}");
    cases.iter().for_each(check);
}

fn float(json: &Json) -> f64 {
    wide32(bits_of_hex(json))
}

fn format(word: u32) -> PixelFormat {
    PixelFormat::of_tile(word).expect("a format")
}

#[test]
fn normalised_components_are_encoded_to_nearest_even() {
    each("unorm_encode", |case| {
        let bits = case["bits"].as_u64().expect("a number") as u8;
        let found = bits_of(Number::Unorm, float(&case["f32"]), bits);
        assert_eq!(Some(u64::from(found)), case["value"].as_u64(), "{case}");
    });
    each("snorm_encode", |case| {
        let bits = case["bits"].as_u64().expect("a number") as u8;
        let found = bits_of(Number::Snorm, float(&case["f32"]), bits);
        let up = 32 - u32::from(bits);
        let found = i64::from((found << up) as i32 >> up);
        assert_eq!(Some(found), case["value"].as_i64(), "{case}");
    });
    each("unorm_decode", |case| {
        let bits = case["bits"].as_u64().expect("a number") as u8;
        let code = case["value"].as_u64().expect("a number") as u32;
        let found = value(Number::Unorm, code, bits) as f32;
        assert_eq!(found.to_bits(), bits_of_hex(&case["f32"]), "{case}");
    });
}

#[test]
fn half_floats_are_rounded_to_nearest_even() {
    let half = format(0x0c_7000);
    each("f32_to_half", |case| {
        let found = half.pack([float(&case["f32"]), 0.0, 0.0, 0.0]) as u32;
        let expected = bits_of_hex(&case["rne"]);
        let nan = |bits: u32| bits & 0x7c00 == 0x7c00 && bits & 0x3ff != 0;
        assert!(
            found == expected || nan(found) && nan(expected),
            "{case}: {found:#x}"
        );
    });
}

#[test]
fn floats_without_sign_are_rounded_and_stay_finite() {
    let packed = format(0x05_9000);
    each("f32_to_uf11_uf10", |case| {
        let value = float(&case["f32"]);
        let texel = packed.pack([value, 0.0, value, 0.0]) as u32;
        for (found, bits, name) in [(texel & 0x7ff, 11, "uf11"), (texel >> 22, 10, "uf10")] {
            let expected = |way: &str| bits_of_hex(&case[std::format!("{name}_{way}")]);
            let infinity = 0x1f << (bits - 5);
            let (nearest, truncated) = (expected("rne"), expected("rtz"));
            // The vectors round what is finite and too large to infinity; here it is the greatest finite number, as truncated.
            let right = if nearest == infinity && value.is_finite() {
                found == truncated
            } else {
                found == nearest || found > infinity && nearest > infinity
            };
            assert!(right, "{case}: {name} {found:#x}");
        }
    });
    each("uf11_to_f32", |case| {
        let found = packed.unpack(bits_of_hex(&case["uf11"]).into())[0] as f32;
        let expected = f32::from_bits(bits_of_hex(&case["f32"]));
        assert!(
            found == expected || found.is_nan() && expected.is_nan(),
            "{case}"
        );
    });
}

#[test]
fn components_share_an_exponent_as_the_vectors_say() {
    let shared = format(0x05_b000);
    each("rgb_to_e5b9g9r9", |case| {
        let [r, g, b] = [0, 1, 2].map(|index| float(&case["rgb"][index]));
        let found = shared.pack([r, g, b, 1.0]) as u32;
        assert_eq!(found, bits_of_hex(&case["word"]), "{case}");
    });
}

#[test]
fn the_srgb_curve_is_that_of_the_vectors() {
    let srgb = format(0x1e_d000);
    each("srgb8_encode", |case| {
        let found = srgb.pack([float(&case["f32"]), 0.0, 0.0, 0.0]) as u8;
        assert_eq!(Some(u64::from(found)), case["value"].as_u64(), "{case}");
    });
    for (code, case) in (0..).zip(&vectors("graphics-vectors.json", "srgb8_decode")) {
        let expected: f32 = case.as_str().expect("digits").parse().expect("a number");
        let found = srgb.unpack(code)[0];
        // The vectors have nine digits, which is an f32 but for its last bit.
        let near = (found - f64::from(expected)).abs() <= found * 1e-7;
        assert!(near, "{code}: {found}, expected {expected}");
        // Alpha is not on the curve.
        assert_eq!(srgb.unpack(code << 24)[3], code as f64 / 255.0);
    }
}

#[test]
fn the_tile_buffers_codes_hold_components_above_fractions() {
    let rgb565 = format(0x0e_3010);
    assert_eq!((rgb565.bytes(), rgb565.widest()), (4, 6));
    let white = rgb565.pack([1.0; 4]);
    assert_eq!(white, 31 << 5 | 63 << 14 | 31 << 25);
    assert_eq!(rgb565.unpack(white), [1.0; 4]);
    assert_eq!(rgb565.channel_bits(3), 0);
    // Dithered words mean the same.
    assert_eq!(format(0x0e_2010), rgb565);
    let rgba4 = format(0x0e_9000);
    let texel = rgba4.pack([1.0, 0.0, 2.0 / 15.0, 7.0 / 15.0]);
    assert_eq!(
        (texel, rgba4.stored_codes(texel)),
        (0x7020_00f0, [15, 0, 2, 7])
    );
    assert_eq!(rgba4.texel_of_codes([15, 0, 2, 7]), texel);
    assert_eq!(format(0x0f_2000).pack([0.0, 0.0, 0.0, 1.0]), 3 << 30);
}
