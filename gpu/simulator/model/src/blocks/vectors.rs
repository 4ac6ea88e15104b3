//! Blocks against texels that were computed elsewhere.
//!
//! Facts: data/compression-vectors.json, whose `about` explains the encodings.

use super::{Astc, BlockFormat};
use serde_json::Value;
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// The format of a case's name. ASTC is wide if the texels are half floats, and of high range as the note says.
fn format_of(case: &Value) -> BlockFormat {
    let name = text(&case["format"]);
    match name {
        "ETC2_R8G8B8" => BlockFormat::Etc2Rgb,
        "ETC2_R8G8B8A1" => BlockFormat::Etc2Rgba1,
        "ETC2_R8G8B8A8" => BlockFormat::Etc2Rgba,
        "EAC_R11_UNORM" => BlockFormat::EacR { signed: false },
        "EAC_R11_SNORM" => BlockFormat::EacR { signed: true },
        "EAC_R11G11_UNORM" => BlockFormat::EacRg { signed: false },
        "BC1_RGBA" => BlockFormat::Bc1,
        "BC2" => BlockFormat::Bc2,
        "BC3" => BlockFormat::Bc3,
        "BC4_UNORM" => BlockFormat::Bc4 { signed: false },
        "BC4_SNORM" => BlockFormat::Bc4 { signed: true },
        "BC6H_UFLOAT" => BlockFormat::Bc6h { signed: false },
        "BC6H_SFLOAT" => BlockFormat::Bc6h { signed: true },
        "BC7" => BlockFormat::Bc7,
        _ => {
            let dims = case["dims"].as_array().expect("three numbers");
            let note = text(&case["note"]);
            BlockFormat::Astc(Astc {
                footprint: [0, 1, 2].map(|axis| number(&dims[axis]) as u32),
                wide: text(&case["encoding"]) != "rgba8",
                hdr: note.starts_with("hdr"),
            })
        }
    }
}

/// The texels of a case as texels of its interchange format.
fn wanted(case: &Value) -> Vec<u64> {
    let words = |width: usize| -> Vec<u64> {
        let texels = text(&case["texels"]).split(' ');
        let texel = |texel: &str| {
            let digits: Vec<char> = texel.chars().collect();
            let parts = digits.chunks(width).map(|part| {
                let part: String = part.iter().collect();
                u64::from_str_radix(&part, 16).unwrap_or_else(|_| panic!("{part} is no number"))
            });
            let mut parts: Vec<u64> = parts.collect();
            if width == 4 && parts.len() == 3 {
                parts.push(0x3c00);
            }
            let places = parts.into_iter().enumerate();
            places.fold(0, |all, (index, part)| all | part << (4 * width * index))
        };
        texels.map(texel).collect()
    };
    let numbers = || case["texels"].as_array().expect("a list of texels").iter();
    let of_eleven = |value: &Value, signed: bool| {
        let value = number(value);
        let wide = if signed {
            value.signum() * (value.abs() << 5 | value.abs() >> 5)
        } else {
            value << 5 | value >> 6
        };
        wide as u16 as u64
    };
    match text(&case["encoding"]) {
        "rgba8" => words(2),
        "half4" | "half3" => words(4),
        "error" => vec![0x3c00_3c00_0000_3c00; 16],
        encoding @ ("int11" | "int11s") => {
            let signed = encoding == "int11s";
            let texel = |texel: &Value| match texel.as_array() {
                Some(pair) => of_eleven(&pair[0], signed) | of_eleven(&pair[1], signed) << 16,
                None => of_eleven(texel, signed),
            };
            numbers().map(texel).collect()
        }
        "rational" => {
            let signed = text(&case["format"]).ends_with("SNORM");
            let (up, down) = if signed {
                (32767.0, 127.0)
            } else {
                (65535.0, 255.0)
            };
            let texel = |texel: &Value| {
                let value = number(&texel[0]) as f64 / number(&texel[1]) as f64;
                (value * up / down).round() as i64 as u16 as u64
            };
            numbers().map(texel).collect()
        }
        encoding => panic!("{encoding}: no such encoding"),
    }
}

#[test]
fn every_vector_decodes_to_its_texels() {
    let cases = eitri_testdata::kept("compression-vectors.json");
    let cases = std::fs::read_to_string(&cases).expect("testdata keeps the file");
    let cases: Value = serde_json::from_str(&cases).expect("the file is JSON");
    let cases = cases["vectors"].as_array().expect("a list of vectors");
    assert_eq!(cases.len(), 207);
    let mut wrong = Vec::new();
    for case in cases {
        let format = format_of(case);
        let digits = text(&case["block"]).as_bytes().chunks(2);
        let mut block = 0;
        for (index, pair) in digits.enumerate() {
            let pair = std::str::from_utf8(pair).expect("digits are ASCII");
            let byte = u128::from_str_radix(pair, 16).expect("two digits");
            block |= byte << (8 * index);
        }
        let [width, height, depth] = format.texels();
        let places = (0..depth)
            .flat_map(|z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
        for (place, wanted) in places.zip(wanted(case)) {
            let found = format.texel(block, place);
            if found != wanted {
                let name = text(&case["format"]);
                let note = case["note"].as_str().unwrap_or("");
                let block = text(&case["block"]);
                wrong.push(format!(
                    "{name} ({note}) {block}, texel {place:?}: {found:x}, expected {wanted:x}"
                ));
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn any_bits_decode_to_something() {
    // A generator of numbers without a pattern: every format takes every one.
    let mut state = 0x9e37_79b9_7f4a_7c15_u128;
    let mut next = move || {
        state = state
            .wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645)
            .wrapping_add(1);
        state ^ state >> 64
    };
    let astc = [[4, 4, 1], [12, 12, 1], [5, 4, 1], [3, 3, 3], [6, 6, 6]].map(|footprint| {
        BlockFormat::Astc(Astc {
            footprint,
            wide: true,
            hdr: footprint[0] != 5,
        })
    });
    let formats = (0..64).filter_map(BlockFormat::of_clump).chain(astc);
    for format in formats {
        let last = format.texels().map(|size| size - 1);
        for _ in 0..2000 {
            let block = next();
            format.texel(block, [0; 3]);
            format.texel(block, last);
        }
    }
}
