//! Compressed blocks through the texture unit: every texel of every vector is fetched from a texture of one block.
//!
//! Facts: data/compression-vectors.json, whose `about` explains the encodings; hardware/graphics-compression.md 1.

use super::texture_vectors::{HANDLE, LOAD, PAYLOADS, PLANES, STORE, put};
use super::typed::{FREE, LINEAR, run, uniforms};
use super::vector_files::{BLOCKS, integer as number, list};
use super::{BUFFER, Bench, Dispatch};
use eitri_descriptors::plane::{
    Astc2DDimension, Astc2DPlane, Astc3DDimension, Astc3DPlane, ClumpFormat, ClumpOrdering,
    GenericPlane,
};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};
use serde_json::Value;

fn text(value: &Value) -> &str {
    value
        .as_str()
        .unwrap_or_else(|| panic!("{value} is no text"))
}

/// How the block of a case lies in memory.
enum Kind {
    /// A clump format and the interchange format's code.
    Clump(ClumpFormat, u32),
    Astc {
        wide: bool,
        hdr: bool,
    },
}

fn kind(case: &Value) -> Kind {
    use ClumpFormat as Clump;
    let (clump, code) = match text(&case["format"]) {
        "ETC2_R8G8B8" => (Clump::ETC2RGB8, 187),
        "ETC2_R8G8B8A1" => (Clump::ETC2RGB8A1, 187),
        "ETC2_R8G8B8A8" => (Clump::ETC2RGBA8, 187),
        "EAC_R11_UNORM" => (Clump::ETC2R11Unorm, 164),
        "EAC_R11_SNORM" => (Clump::ETC2R11Snorm, 100),
        "EAC_R11G11_UNORM" => (Clump::ETC2RG11Unorm, 172),
        "BC1_RGBA" => (Clump::BC1Unorm, 187),
        "BC2" => (Clump::BC2Unorm, 187),
        "BC3" => (Clump::BC3Unorm, 187),
        "BC4_UNORM" => (Clump::BC4Unorm, 164),
        "BC4_SNORM" => (Clump::BC4Snorm, 100),
        "BC6H_UFLOAT" => (Clump::BC6HUF16, 223),
        "BC6H_SFLOAT" => (Clump::BC6HSF16, 223),
        "BC7" => (Clump::BC7Unorm, 187),
        _ => {
            return Kind::Astc {
                wide: text(&case["encoding"]) != "rgba8",
                hdr: text(&case["note"]).starts_with("hdr"),
            };
        }
    };
    Kind::Clump(clump, code)
}

fn half(bits: u32) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 0x1f, f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2.0_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f64.powi(exponent as i32 - 15),
    };
    if sign == 0 { size } else { -size }
}

/// The components of each texel that a case tells, and how far off they may be.
fn wanted(case: &Value) -> (Vec<Vec<f64>>, f64) {
    let hex = |width: usize, value: &dyn Fn(u32) -> f64| -> Vec<Vec<f64>> {
        let texel = |texel: &str| {
            let parts = texel.as_bytes().chunks(width).map(|part| {
                let part = std::str::from_utf8(part).expect("digits are ASCII");
                value(u32::from_str_radix(part, 16).expect("hexadecimal digits"))
            });
            parts.collect()
        };
        text(&case["texels"]).split(' ').map(texel).collect()
    };
    let texels = || case["texels"].as_array().expect("a list of texels").iter();
    // Eleven bits and fractions are converted to 16 bits once, on the way.
    let word = 1.0 / 65535.0 + 1e-7;
    match text(&case["encoding"]) {
        "rgba8" => (hex(2, &|code| f64::from(code) / 255.0), 1e-7),
        "half4" | "half3" => (hex(4, &half), 0.0),
        "error" => (vec![vec![1.0, 0.0, 1.0, 1.0]; 16], 0.0),
        encoding @ ("int11" | "int11s") => {
            let most = if encoding == "int11" { 2047.0 } else { 1023.0 };
            let value = |code: &Value| number(code) as f64 / most;
            let texel = |texel: &Value| match texel.as_array() {
                Some(pair) => pair.iter().map(value).collect(),
                None => vec![value(texel)],
            };
            (
                texels().map(texel).collect(),
                if most > 2000.0 { word } else { 2.0 * word },
            )
        }
        "rational" => {
            let signed = text(&case["format"]).ends_with("SNORM");
            let most = if signed { 127.0 } else { 255.0 };
            let texel = |it: &Value| vec![number(&it[0]) as f64 / number(&it[1]) as f64 / most];
            (
                texels().map(texel).collect(),
                if signed { 2.0 * word } else { word },
            )
        }
        encoding => panic!("{encoding}: no such encoding"),
    }
}

fn planar(side: u32) -> Astc2DDimension {
    match side {
        4 => Astc2DDimension::Four,
        5 => Astc2DDimension::Five,
        6 => Astc2DDimension::Six,
        8 => Astc2DDimension::Eight,
        10 => Astc2DDimension::Ten,
        _ => Astc2DDimension::Twelve,
    }
}

fn solid(side: u32) -> Astc3DDimension {
    match side {
        3 => Astc3DDimension::Three,
        4 => Astc3DDimension::Four,
        5 => Astc3DDimension::Five,
        _ => Astc3DDimension::Six,
    }
}

/// Puts the texture of a case, its plane and its block.
fn put_block(bench: &mut Bench, case: &Value, [width, height, depth]: [u32; 3]) {
    let kind = kind(case);
    let code = match kind {
        Kind::Clump(_, code) => code,
        Kind::Astc { wide: true, .. } => 223,
        Kind::Astc { wide: false, .. } => 187,
    };
    let texture = Texture {
        dimension: match depth {
            1 => TextureDimension::TwoD,
            _ => TextureDimension::ThreeD,
        },
        format: PixelFormat(code << 12),
        width,
        height,
        depth,
        swizzle: Swizzle::IDENTITY,
        texel_interleave: true,
        surfaces: Aligned::new(PLANES).expect("aligned"),
        ..Texture::default()
    };
    put(bench, FREE.0, &texture);
    let (pointer, clump_ordering) = (Address(LINEAR), ClumpOrdering::Linear);
    match kind {
        Kind::Clump(clump_format, _) => put(
            bench,
            PLANES,
            &GenericPlane {
                clump_ordering,
                clump_format,
                size: 16,
                pointer,
                row_stride: 64,
                width,
                height,
                ..GenericPlane::default()
            },
        ),
        Kind::Astc { wide, hdr } if depth == 1 => put(
            bench,
            PLANES,
            &Astc2DPlane {
                clump_ordering,
                decode_hdr: hdr,
                decode_wide: wide,
                block_width: planar(width),
                block_height: planar(height),
                size: 16,
                pointer,
                row_stride: 64,
                width,
                height,
                ..Astc2DPlane::default()
            },
        ),
        Kind::Astc { wide, hdr } => put(
            bench,
            PLANES,
            &Astc3DPlane {
                clump_ordering,
                decode_hdr: hdr,
                decode_wide: wide,
                block_width: solid(width),
                block_height: solid(height),
                block_depth: solid(depth),
                size: 16,
                pointer,
                row_stride: 64,
                width,
                height,
                ..Astc3DPlane::default()
            },
        ),
    }
    let digits = text(&case["block"]).as_bytes().chunks(2);
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits are ASCII");
        u8::from_str_radix(pair, 16).expect("two digits")
    };
    bench.put(1, LINEAR, &digits.map(byte).collect::<Vec<u8>>());
}

/// The texels of a case as the texture unit gives them.
#[track_caller]
fn fetched(case: &Value) -> Vec<[f64; 4]> {
    let size = [0, 1, 2].map(|axis| number(&case["dims"][axis]) as u32);
    let [width, height, depth] = size;
    let count = width * height * depth;
    let (kind, payload) = match depth {
        1 => ("2d", "@r4:r5"),
        _ => ("3d", "@r4:r5:r6"),
    };
    let fetch = format!("TEX_FETCH.slot0.reserved.32.{kind}.wait0 @r8:r9:r10:r11, {payload}, u2");
    let dispatch = Dispatch {
        groups: [count.div_ceil(16), 1, 1],
        uniforms: uniforms(&[HANDLE, 0, PAYLOADS as u32, (PAYLOADS >> 32) as u32]),
        ..Dispatch::default()
    };
    let mut bench = run(&dispatch, &format!("{LOAD}\n{fetch}\n{STORE}"), |bench| {
        put_block(bench, case, size);
        for texel in 0..count {
            let place = [
                texel % width,
                texel / width % height,
                texel / width / height,
            ];
            let bytes: Vec<u8> = place.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, PAYLOADS + 16 * u64::from(texel), &bytes);
        }
    });
    let component = |bench: &mut Bench, texel: u32, index: u64| {
        let at = BUFFER + 16 * u64::from(texel) + 4 * index;
        f64::from(f32::from_bits(bench.get32(1, at)))
    };
    (0..count)
        .map(|texel| [0, 1, 2, 3].map(|index| component(&mut bench, texel, index)))
        .collect()
}

#[test]
fn every_texel_of_every_vector_is_fetched() {
    let cases = list(BLOCKS, "vectors");
    assert_eq!(cases.len(), 207);
    let mut wrong = Vec::new();
    for case in &cases {
        let (wanted, tolerance) = wanted(case);
        let is_off = |(found, wanted): (&f64, &f64)| {
            found != wanted
                && !(found.is_nan() && wanted.is_nan())
                && (found - wanted).abs() > tolerance
        };
        for (texel, (found, wanted)) in fetched(case).iter().zip(&wanted).enumerate() {
            if found.iter().zip(wanted).any(is_off) {
                wrong.push(format!(
                    "{} ({}) {}, texel {texel}: {found:?}, expected {wanted:?}",
                    text(&case["format"]),
                    case["note"].as_str().unwrap_or(""),
                    text(&case["block"]),
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
