//! Every format of colour targets: what passes store by BLEND and write back, and what they blend.
//!
//! Texels are what a format's own texels are worth, so that memory must have the same bits again; sums are formed here. The tests
//! pass where the facts are missing. Facts: data/formats.json; hardware/graphics-formats.md 3 to 5; graphics-framebuffer.md 5.3, 6.1.

use super::bench::EACH;
use super::vector_files::formats::{Format, Kind, TEXELS, component_value, formats};
use super::vector_files::{bits, number};
use super::{BUFFER, COLOUR, Colour, Pass, Rectangle, SIDE};
use eitri_descriptors::Swizzle;
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat};

/// Stores or blends the colour of the pixel's number, x + 16 y: its address is behind the first uniform, the operand in u0.
macro_rules! program {
    ($colours:literal, $operand:literal, $register:literal) => {
        concat!(
            "RSHIFT_OR.i32 r0, r59, u6.b00, 0x0
            RSHIFT_AND.i32 r1, r59, u8.b00, u9
            IADD.u32 r0, r0, r1
            SHADDX.u64 r2, ",
            $colours,
            ", r0.w0, shift:0x4
            LOAD.i128.unsigned.slot0.wait0 @r0:r1:r2:r3, r2, offset:0
            BLEND.slot0.v4.",
            $register,
            ".end @r0:r1:r2:r3, ",
            $operand,
            ", r60, target:0x0"
        )
    };
}
const FLOATS: &str = program!("u4", "u0", "f32");
const UNSIGNED: &str = program!("u4", "u0", "u32");
const SIGNED: &str = program!("u4", "u0", "s32");
const BLENDED: &str = program!("u10", "u12", "f32");

/// Blends nothing, and stores all components.
const REPLACE: u32 = 0xf012_2122;
/// Adds source and destination.
const ADD: u32 = 0xf093_2932;
/// Source times the constant, plus destination times what is left.
const CONSTANT: u32 = 0xf070_3703;
/// Source times its alpha, plus destination times what is left.
const OVER: u32 = 0xf050_3503;

/// Whether the tile holds bits of the format, not components that can be exchanged.
fn is_raw(format: &Format) -> bool {
    let internal = format.row["tile"]["internal"].as_str();
    internal.is_some_and(|name| name.starts_with("RAW"))
}

/// The formats of colour targets. Bits have the order red to alpha, whatever the format's (graphics-formats.md 4).
fn targets() -> Vec<Format> {
    let formats = formats(&["color_attachment"]).into_iter();
    let stored = |format: Format| {
        if is_raw(&format) {
            format.canonical()
        } else {
            format
        }
    };
    formats.map(stored).collect()
}

/// The colour target of a format: the memory's components in the order of their bits are the tile's by the swizzle.
fn colour(format: &Format, blend: [u32; 4]) -> Colour {
    let tile = &format.row["tile"];
    let code = number(&tile["internal_code"]);
    let internal = ColorBufferInternalFormat::from_number(code).expect("a format of the tile");
    let code = number(&tile["writeback_code"]);
    let mut components = format.components.clone();
    components.sort_by_key(|(_, low, ..)| *low);
    let selector = |at: usize| components.get(at).map_or(4, |(index, ..)| *index as u32);
    let swizzle = (0..4).fold(0, |all, at| all | selector(at) << (3 * at));
    Colour {
        internal,
        format: ColorFormat::from_number(code).expect("a format of the write-back"),
        bytes: format.bytes as u32,
        swizzle: if is_raw(format) {
            Swizzle::IDENTITY
        } else {
            Swizzle(swizzle as u16)
        },
        srgb: format.row["mali"]["srgb"] == true,
        clear: 0,
        blend,
    }
}

/// A pass that stores colours by an opaque BLEND, and perhaps blends others onto them.
#[track_caller]
fn drawn(
    gpu: &'static str,
    format: &Format,
    (colours, [equation, constant]): (&[[u32; 4]], [u32; 2]),
    second: Option<&[[u32; 4]]>,
) -> Vec<u128> {
    const MORE: u64 = BUFFER + 0x1000;
    let word = bits(&format.row["tile"]["blend_word"]);
    // Fixed function takes the order RGBA alone (graphics-framebuffer.md 6.1).
    let blended = word & !0xfff;
    let program = match format.components[0].3 {
        Kind::Uint => UNSIGNED,
        Kind::Sint => SIGNED,
        _ => FLOATS,
    };
    let rectangle = |program| Rectangle {
        program,
        ..Rectangle::default()
    };
    let mut draws = vec![rectangle(program)];
    draws.extend(second.map(|_| rectangle(BLENDED)));
    let uniforms = [
        [0x19, word, 0, 0, BUFFER as u32, 0],
        [12, 0, 0, 0xffff, MORE as u32, 0],
        [0x1a, blended, 0, 0, 0, 0],
    ];
    let pass = Pass {
        gpu,
        uniforms: uniforms.concat(),
        draws,
        colour: colour(
            format,
            [1 | 1 << 9 | constant << 16, equation, 0x1a, blended],
        ),
        ..Pass::default()
    };
    let mut drawn = pass.run_with(|bench| {
        for (at, colours) in [(BUFFER, Some(colours)), (MORE, second)] {
            let words = colours.into_iter().flatten().flatten();
            let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, at, &bytes);
        }
    });
    let byte = |drawn: &mut super::Drawn, at: u64| {
        u128::from(drawn.bench.get32(1, COLOUR + (at & !3)) >> (8 * (at & 3)) & 0xff)
    };
    (0..TEXELS as u64)
        .map(|texel| {
            let first = texel * format.bytes as u64;
            let bytes = (0..format.bytes as u64).rev();
            bytes.fold(0, |all, at| all << 8 | byte(&mut drawn, first + at))
        })
        .collect()
}

/// Products on which a test runs: one, and in the long form one of each generation.
fn products() -> &'static [&'static str] {
    if eitri_testdata::long() {
        &EACH
    } else {
        &EACH[..1]
    }
}

#[test]
fn every_colour_format_is_stored_and_written_back() {
    assert_eq!(TEXELS as u32, SIDE, "texels are a row of pixels");
    for format in targets() {
        let colours: Vec<[u32; 4]> = format
            .texels
            .iter()
            .map(|it| format.registers(*it))
            .collect();
        for gpu in products() {
            let found = drawn(gpu, &format, (&colours, [REPLACE, 0]), None);
            for (texel, found) in format.texels.iter().zip(found) {
                if let Some(wanted) = format.stored_again(*texel) {
                    assert_eq!(
                        found, wanted,
                        "{} on {gpu}: {found:#x}, wanted {wanted:#x}",
                        format.name
                    );
                }
            }
        }
    }
}

/// The code of a fraction, on the sRGB curve or not.
fn encoded(kind: Kind, value: f64, width: u32) -> u128 {
    let value = value.clamp(0.0, 1.0);
    let value = match kind {
        Kind::Srgb if value < 0.003_130_8 => 12.92 * value,
        Kind::Srgb => 1.055 * value.powf(1.0 / 2.4) - 0.055,
        _ => value,
    };
    (value * (2_f64.powi(width as i32) - 1.0)).round_ties_even() as u128
}

#[test]
fn every_format_of_fractions_that_blends_does_so_by_the_equation() {
    let blends = |format: &Format| {
        let fractions = matches!(format.components[0].3, Kind::Unorm | Kind::Srgb);
        fractions && format.row["tile"]["fixed_function_blend"] == true
    };
    for format in targets().into_iter().filter(blends) {
        let first: Vec<[u32; 4]> = format
            .texels
            .iter()
            .map(|it| format.registers(*it))
            .collect();
        let second: Vec<[f32; 4]> = (0..TEXELS)
            .map(|at| [0.3, 0.6, 0.9, 1.0].map(|part| part * at as f32 / TEXELS as f32))
            .collect();
        let bits_of: Vec<[u32; 4]> = second.iter().map(|it| it.map(f32::to_bits)).collect();
        // 0.3 in the field of a format whose widest component has so many bits (graphics-model.md 4.4).
        let widest = format.components.iter().map(|it| it.2).max();
        let unit = ((1 << widest.expect("components")) - 1) << (16 - widest.expect("components"));
        let field = (0.3 * f64::from(unit)) as u32;
        let constant = f64::from(field) / f64::from(unit);
        for (equation, name) in [(ADD, "add"), (OVER, "over"), (CONSTANT, "constant")] {
            let found = drawn(
                EACH[0],
                &format,
                (&first, [equation, field]),
                Some(&bits_of),
            );
            for ((texel, source), found) in format.texels.iter().zip(&second).zip(found) {
                let alpha = f64::from(source[3]);
                let mut wanted = 0;
                for (index, low, width, kind) in &format.components {
                    let code = (texel >> low) as u32 & (u32::MAX >> (32 - width));
                    let old = component_value(*kind, code, *width).expect("a fraction");
                    let new = f64::from(source[*index]);
                    let sum = match equation {
                        ADD => new + old,
                        CONSTANT => new * constant + old * (1.0 - constant),
                        _ => new * alpha + old * (1.0 - alpha),
                    };
                    wanted |= encoded(*kind, sum, *width) << low;
                }
                assert_eq!(
                    found, wanted,
                    "{name} in {}: {found:#x} of {texel:#x} and {source:?}, wanted {wanted:#x}",
                    format.name
                );
            }
        }
    }
}

#[test]
fn every_format_of_floats_that_blends_does_so_by_the_equation() {
    let blends = |format: &Format| {
        format.components[0].3 == Kind::Float && format.row["tile"]["fixed_function_blend"] == true
    };
    for format in targets().into_iter().filter(blends) {
        // Eighths, whose sums every one of the formats holds.
        let eighths = |at: usize, factor: usize| {
            [1, 2, 3, 4].map(|part| (at * factor % (part + 7)) as f32 / 8.0)
        };
        let first: Vec<[f32; 4]> = (0..TEXELS).map(|at| eighths(at, 3)).collect();
        let second: Vec<[f32; 4]> = (0..TEXELS).map(|at| eighths(at, 5)).collect();
        let sums: Vec<[u32; 4]> = first
            .iter()
            .zip(&second)
            .map(|(one, other)| std::array::from_fn(|at| (one[at] + other[at]).to_bits()))
            .collect();
        let words = |colours: &[[f32; 4]]| -> Vec<[u32; 4]> {
            colours.iter().map(|it| it.map(f32::to_bits)).collect()
        };
        let (first, second) = (words(&first), words(&second));
        let blended = drawn(EACH[0], &format, (&first, [ADD, 0]), Some(&second));
        for (blended, sum) in blended.iter().zip(&sums) {
            for (index, ..) in &format.components {
                let found = format.registers(*blended)[*index];
                assert_eq!(
                    found, sum[*index],
                    "{}, component {index}: {blended:#x}",
                    format.name
                );
            }
        }
    }
}
