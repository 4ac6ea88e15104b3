//! Formats of colour targets against vectors that were computed elsewhere: what BLEND stores, as memory has it in the end.
//!
//! Each pass stores all vectors of a family, a pixel each, in one format; `dispatch/format_vectors.rs` stores them by ST_CVT.
//! Facts: hardware/graphics-formats.md 3 to 5.

use super::bench::EACH;
use super::vector_files::{FIRST, bits, float, integer, list, number};
use super::{BUFFER, Colour, Pass, Rectangle};
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat, FloatColorFormat};
use serde_json::Value;

/// Stores the colour of the pixel's number, x + 16 y, in the buffer: u6 is 12, u8 0, u9 0xffff.
const COLOUR: &str = "
    RSHIFT_OR.i32 r0, r59, u6.b00, 0x0
    RSHIFT_AND.i32 r1, r59, u8.b00, u9
    IADD.u32 r0, r0, r1
    SHADDX.u64 r2, u4, r0.w0, shift:0x4
    LOAD.i128.unsigned.slot0.wait0 @r0:r1:r2:r3, r2, offset:0
    BLEND.slot0.v4.f32.end @r0:r1:r2:r3, u0, r60, target:0x0";

/// A target: formats in the tile and in memory, the conversion word, and the fields in memory, red first.
#[derive(Clone, Copy)]
struct Target {
    internal: ColorBufferInternalFormat,
    written: Written,
    word: u32,
    bytes: u32,
    fields: [(u32, u32); 4],
}

/// The format of the write-back, of one of two lists.
#[derive(Clone, Copy)]
enum Written {
    Codes(ColorFormat),
    Floats(FloatColorFormat),
}

const RGBA8: Target = Target {
    internal: ColorBufferInternalFormat::R8G8B8A8,
    written: Written::Codes(ColorFormat::R8G8B8A8),
    word: 0x0e_d000,
    bytes: 4,
    fields: [(0, 8), (8, 8), (16, 8), (24, 8)],
};
const SRGB8: Target = Target {
    word: 0x1e_d000,
    ..RGBA8
};
const RGBA4: Target = Target {
    internal: ColorBufferInternalFormat::R4G4B4A4,
    written: Written::Codes(ColorFormat::R4G4B4A4),
    word: 0x0e_9000,
    bytes: 2,
    fields: [(0, 4), (4, 4), (8, 4), (12, 4)],
};
const RGB565: Target = Target {
    internal: ColorBufferInternalFormat::R5G6B5A0,
    written: Written::Codes(ColorFormat::R5G6B5),
    word: 0x0e_3010,
    bytes: 2,
    fields: [(0, 5), (5, 6), (11, 5), (0, 0)],
};
const RGB5A1: Target = Target {
    internal: ColorBufferInternalFormat::R5G5B5A1,
    written: Written::Codes(ColorFormat::R5G5B5A1),
    word: 0x0e_1000,
    bytes: 2,
    fields: [(0, 5), (5, 5), (10, 5), (15, 1)],
};
const RGB10A2: Target = Target {
    internal: ColorBufferInternalFormat::R10G10B10A2,
    written: Written::Codes(ColorFormat::R10G10B10A2),
    word: 0x0e_e000,
    bytes: 4,
    fields: [(0, 10), (10, 10), (20, 10), (30, 2)],
};
/// Raw bits in the tile: the conversion alone knows the format.
const RAW: Target = Target {
    internal: ColorBufferInternalFormat::RAW32,
    written: Written::Codes(ColorFormat::RAW32),
    ..RGBA8
};
const RGBA8_SNORM: Target = Target {
    word: 0x07_b000,
    ..RAW
};
const RG16: Target = Target {
    word: 0x0a_c000,
    fields: [(0, 16), (16, 16), (0, 0), (0, 0)],
    ..RAW
};
const RG16_SNORM: Target = Target {
    word: 0x06_c000,
    ..RG16
};
const RGB9E5: Target = Target {
    word: 0x05_b000,
    ..RAW
};
const RG16F: Target = Target {
    internal: ColorBufferInternalFormat::RG16F,
    written: Written::Floats(FloatColorFormat::RG16F),
    word: 0x0c_f000,
    ..RG16
};
const RG11F_B10F: Target = Target {
    internal: ColorBufferInternalFormat::RG11FB10F,
    written: Written::Floats(FloatColorFormat::RG11FB10F),
    word: 0x05_9000,
    bytes: 4,
    fields: [(0, 11), (11, 11), (22, 10), (0, 0)],
};

impl Target {
    /// The code of the write-back; the internal format tells which list it is of.
    fn code(self) -> ColorFormat {
        match self.written {
            Written::Codes(code) => code,
            Written::Floats(code) => {
                ColorFormat::from_number(code as u32).expect("a code of the other list, too")
            }
        }
    }
}

/// Stores a colour in each of the first pixels, and gives what memory has of them: the same on every generation.
#[track_caller]
fn stored(target: Target, colours: &[[f32; 4]]) -> Vec<u32> {
    let mut all = EACH.map(|gpu| stored_on(gpu, target, colours)).into_iter();
    let first = all.next().expect("a product");
    assert!(
        all.all(|other| other == first),
        "generations store {:#x} alike",
        target.word
    );
    first
}

#[track_caller]
fn stored_on(gpu: &'static str, target: Target, colours: &[[f32; 4]]) -> Vec<u32> {
    assert!(colours.len() <= 256, "a pixel each");
    let operand = [0x19, target.word];
    let pass = Pass {
        gpu,
        uniforms: vec![
            operand[0],
            operand[1],
            0,
            0,
            BUFFER as u32,
            0,
            12,
            0,
            0,
            0xffff,
        ],
        draws: vec![Rectangle {
            program: COLOUR,
            ..Rectangle::default()
        }],
        colour: Colour {
            internal: target.internal,
            format: target.code(),
            blend: [1 << 9, 0xf012_2122, operand[0], operand[1]],
            ..Colour::default()
        },
        ..Pass::default()
    };
    let mut drawn = pass.run_with(|bench| {
        let bytes: Vec<u8> = colours
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        bench.put(1, BUFFER, &bytes);
    });
    (0..colours.len() as u32)
        .map(|number| drawn.texel([number % 16, number / 16], target.bytes))
        .collect()
}

fn code(texel: u32, (low, width): (u32, u32)) -> u32 {
    (u64::from(texel) >> low & ((1 << width) - 1)) as u32
}

fn greys(vectors: &[Value]) -> Vec<[f32; 4]> {
    vectors.iter().map(|it| [float(&it["f32"]); 4]).collect()
}

/// Checks that stored values have the codes of a family's vectors, in each component of their width.
#[track_caller]
fn check_fractions(family: &str, targets: &[Target]) {
    let vectors = list(FIRST, family);
    let mut checked = vec![false; vectors.len()];
    for target in targets {
        let texels = stored(*target, &greys(&vectors));
        for (at, (vector, texel)) in vectors.iter().zip(texels).enumerate() {
            for field in target
                .fields
                .iter()
                .filter(|it| it.1 == number(&vector["bits"]))
            {
                let wanted = integer(&vector["value"]) as u32 & ((1 << field.1) - 1);
                assert_eq!(
                    code(texel, *field),
                    wanted,
                    "{:#x}, bits from {} on: {vector}",
                    target.word,
                    field.0
                );
                checked[at] = true;
            }
        }
    }
    let left = vectors.iter().zip(checked).find(|(_, checked)| !checked);
    assert_eq!(left, None, "no target has components of this width");
}

#[test]
fn drawn_fractions_have_the_codes_of_every_vector() {
    check_fractions(
        "unorm_encode",
        &[RGBA8, RGBA4, RGB565, RGB5A1, RGB10A2, RG16],
    );
    check_fractions("snorm_encode", &[RGBA8_SNORM, RG16_SNORM]);
}

#[test]
fn drawn_srgb_colours_have_the_codes_of_every_vector() {
    let vectors = list(FIRST, "srgb8_encode");
    for (vector, texel) in vectors.iter().zip(stored(SRGB8, &greys(&vectors))) {
        for field in &SRGB8.fields[..3] {
            assert_eq!(
                code(texel, *field),
                number(&vector["value"]),
                "bits from {} on: {vector}",
                field.0
            );
        }
    }
}

/// Whether bits of a float with five bits of exponent above `mantissa` bits are no number.
fn is_nan(bits: u32, mantissa: u32) -> bool {
    bits >> mantissa & 0x1f == 0x1f && bits & ((1 << mantissa) - 1) != 0
}

#[test]
fn drawn_halves_are_those_of_every_vector() {
    let vectors = list(FIRST, "f32_to_half");
    for (vector, texel) in vectors.iter().zip(stored(RG16F, &greys(&vectors))) {
        let wanted = bits(&vector["rne"]);
        for found in [texel & 0xffff, texel >> 16] {
            let same = found == wanted || is_nan(found, 10) && is_nan(wanted, 10);
            assert!(same, "{found:#x}: {vector}");
        }
    }
}

#[test]
fn drawn_floats_without_sign_are_those_of_every_vector() {
    let vectors = list(FIRST, "f32_to_uf11_uf10");
    for (vector, texel) in vectors.iter().zip(stored(RG11F_B10F, &greys(&vectors))) {
        for (field, (name, mantissa)) in
            RG11F_B10F
                .fields
                .iter()
                .zip([("uf11", 6), ("uf11", 6), ("uf10", 5)])
        {
            let found = code(texel, *field);
            let [nearest, cut] = ["rne", "rtz"].map(|way| bits(&vector[format!("{name}_{way}")]));
            // A finite value stays finite, though the vectors round it to infinity.
            let right = match nearest == 0x1f << mantissa && float(&vector["f32"]).is_finite() {
                true => found == cut,
                false => found == nearest || is_nan(found, mantissa) && is_nan(nearest, mantissa),
            };
            assert!(right, "{name} {found:#x}: {vector}");
        }
    }
}

#[test]
fn drawn_colours_share_the_exponent_of_every_vector() {
    let vectors = list(FIRST, "rgb_to_e5b9g9r9");
    let colour = |it: &Value| [&it["rgb"][0], &it["rgb"][1], &it["rgb"][2]].map(float);
    let colours: Vec<[f32; 4]> = vectors
        .iter()
        .map(colour)
        .map(|[r, g, b]| [r, g, b, 1.0])
        .collect();
    for (vector, texel) in vectors.iter().zip(stored(RGB9E5, &colours)) {
        assert_eq!(texel, bits(&vector["word"]), "{vector}");
    }
}
