//! Formats against vectors that were computed elsewhere: components that shaders store and load.
//!
//! Values go to memory by ST_CVT; codes come from memory by LD_CVT, by LD_ATTR, and as texels by TEX_FETCH. Tests of render
//! passes (`passes/format_vectors.rs`) store the same values by BLEND.

use super::texture_vectors::{HANDLE, LOAD, PAYLOADS, PLANES, STORE, put};
use super::typed::{FREE, LINEAR, run, uniforms};
use super::vector_files::{FIRST, bits, decimal, float, integer, list, number};
use super::{BUFFER, BUFFER_BYTES, Bench, Dispatch};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering, GenericPlane};
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};

/// A format in memory.
#[derive(Clone, Copy)]
struct Format {
    /// Code and order of components.
    word: u32,
    bytes: usize,
    /// Lowest bit and width of each component, red first; the width 0 where there is none.
    fields: [(u32, u32); 4],
}

const RGB565: Format = Format {
    word: 0x04_0010,
    bytes: 2,
    fields: [(0, 5), (5, 6), (11, 5), (0, 0)],
};
const RGB5A1: Format = Format {
    word: 0x04_1000,
    bytes: 2,
    fields: [(0, 5), (5, 5), (10, 5), (15, 1)],
};
const RGBA4: Format = Format {
    word: 0x0b_a000,
    bytes: 2,
    fields: [(0, 4), (4, 4), (8, 4), (12, 4)],
};
const RGBA8: Format = Format {
    word: 0x0b_b000,
    bytes: 4,
    fields: [(0, 8), (8, 8), (16, 8), (24, 8)],
};
const RGB10A2: Format = Format {
    word: 0x04_3000,
    bytes: 4,
    fields: [(0, 10), (10, 10), (20, 10), (30, 2)],
};
const RGBA16: Format = Format {
    word: 0x0b_c000,
    bytes: 8,
    fields: [(0, 16), (16, 16), (32, 16), (48, 16)],
};
const RGBA8_SNORM: Format = Format {
    word: 0x07_b000,
    ..RGBA8
};
const RGBA16_SNORM: Format = Format {
    word: 0x07_c000,
    ..RGBA16
};
const RGBA16F: Format = Format {
    word: 0x0d_f000,
    ..RGBA16
};
const RG11F_B10F: Format = Format {
    word: 0x05_9010,
    bytes: 4,
    fields: [(0, 11), (11, 11), (22, 10), (0, 0)],
};
const RGB9E5: Format = Format {
    word: 0x05_b010,
    bytes: 4,
    fields: [(0, 32), (0, 0), (0, 0), (0, 0)],
};
const SRGB8: Format = Format {
    word: 0x1b_b000,
    ..RGBA8
};
const Z24X8: Format = Format {
    word: 0x04_d000,
    bytes: 4,
    fields: [(0, 24), (0, 0), (0, 0), (0, 0)],
};

/// Formats of unsigned fractions that shaders store and load.
const FRACTIONS: [Format; 6] = [RGB565, RGB5A1, RGBA4, RGBA8, RGB10A2, RGBA16];

/// What lies at each lane's result: 16 bytes.
fn results(bench: &mut Bench, lanes: usize) -> Vec<[u32; 4]> {
    let word = |bench: &mut Bench, lane: usize, index: u64| {
        bench.get32(1, BUFFER + 16 * lane as u64 + 4 * index)
    };
    (0..lanes)
        .map(|lane| [0, 1, 2, 3].map(|index| word(bench, lane, index)))
        .collect()
}

/// Runs a program whose lanes have these payloads; u6 and u7 are `more`.
#[track_caller]
pub(super) fn dispatched(
    text: &str,
    more: [u32; 2],
    payloads: &[[u32; 4]],
    fill: impl Fn(&mut Bench),
) -> Vec<[u32; 4]> {
    let dispatch = Dispatch {
        groups: [payloads.len().div_ceil(16) as u32, 1, 1],
        uniforms: uniforms(&[
            HANDLE,
            0,
            PAYLOADS as u32,
            (PAYLOADS >> 32) as u32,
            more[0],
            more[1],
        ]),
        ..Dispatch::default()
    };
    let mut bench = run(&dispatch, text, |bench| {
        for (lane, payload) in (0..).zip(payloads) {
            let bytes: Vec<u8> = payload.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, PAYLOADS + 16 * lane, &bytes);
        }
        fill(bench);
    });
    results(&mut bench, payloads.len())
}

/// Stores colours in a format by ST_CVT: the texel of each.
#[track_caller]
fn stored(format: Format, colours: &[[f32; 4]]) -> Vec<u64> {
    let text = format!(
        "{LOAD}
        SHADDX.u64 r0, u0, r60.w0, shift:0x4
        ST_CVT.f32.v4.slot0.wait0 @r4:r5:r6:r7, r0, u6, offset:0x0
        NOP.end"
    );
    let payloads: Vec<[u32; 4]> = colours
        .iter()
        .map(|colour| colour.map(f32::to_bits))
        .collect();
    let results = dispatched(&text, [format.word, 0], &payloads, |_| {});
    let texel = |[low, high, ..]: &[u32; 4]| u64::from(*low) | u64::from(*high) << 32;
    results.iter().map(texel).collect()
}

/// Where texels or elements of a test lie: beyond the payloads.
pub(super) const TEXELS: u64 = LINEAR;

fn put_texels(bench: &mut Bench, format: Format, texels: &[u64]) {
    let bytes: Vec<u8> = texels
        .iter()
        .flat_map(|texel| texel.to_le_bytes().into_iter().take(format.bytes))
        .collect();
    bench.put(1, TEXELS, &bytes);
}

fn floats(results: Vec<[u32; 4]>) -> Vec<[f32; 4]> {
    results
        .into_iter()
        .map(|words| words.map(f32::from_bits))
        .collect()
}

/// Loads texels of a format by LD_CVT.
#[track_caller]
fn loaded(format: Format, texels: &[u64]) -> Vec<[f32; 4]> {
    let text = format!(
        "{LOAD}
        LD_CVT.f32.v4.slot0.wait0 @r8:r9:r10:r11, r4, u6, offset:0x0
        {STORE}"
    );
    // Lanes of the last warp that have no texel load the last one.
    let last = texels.len() - 1;
    let payloads: Vec<[u32; 4]> = (0..texels.len().next_multiple_of(16))
        .map(|index| TEXELS + (format.bytes * index.min(last)) as u64)
        .map(|address| [address as u32, (address >> 32) as u32, 0, 0])
        .collect();
    floats(dispatched(&text, [format.word, 0], &payloads, |bench| {
        put_texels(bench, format, texels);
    }))
}

/// Fetches the elements of an attribute of a format by LD_ATTR.
#[track_caller]
fn attributes(format: Format, texels: &[u64]) -> Vec<[f32; 4]> {
    let text = format!(
        "LD_ATTR_IMM.v4.f32.slot0.wait0 @r8:r9:r10:r11, r60, r61, index:0x2, table:0x1
        {STORE}"
    );
    let payloads = vec![[0; 4]; texels.len()];
    floats(dispatched(&text, [0; 2], &payloads, |bench| {
        let attribute = Attribute {
            attribute_type: AttributeType::OneD,
            offset_enable: true,
            format: PixelFormat(format.word),
            table: 1,
            frequency: AttributeFrequency::Vertex,
            offset: (TEXELS - BUFFER) as i32,
            stride: format.bytes as u32,
            ..Attribute::default()
        };
        put_attribute(bench, &attribute);
        put_texels(bench, format, texels);
    }))
}

/// Puts the attribute behind the buffers, and makes the first of these as large as its memory.
pub(super) fn put_attribute(bench: &mut Bench, attribute: &Attribute) {
    put(bench, FREE.0, attribute);
    bench.put_words(
        1,
        FREE.0 - 64,
        &[9 | 1 << 4 | BUFFER_BYTES << 32, BUFFER, 0, 0],
    );
}

/// Fetches the texels of a texture of a format by TEX_FETCH.
#[track_caller]
fn fetched(format: Format, texels: &[u64]) -> Vec<[f32; 4]> {
    let clump = match format.bytes {
        2 => ClumpFormat::RAW16,
        4 => ClumpFormat::RAW32,
        _ => ClumpFormat::RAW64,
    };
    floats(fetched_from(format, clump, texels))
}

/// Fetches the texels of a texture whose elements are a clump's.
#[track_caller]
fn fetched_from(format: Format, clump_format: ClumpFormat, texels: &[u64]) -> Vec<[u32; 4]> {
    let text = format!(
        "{LOAD}
        TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2
        {STORE}"
    );
    let payloads: Vec<[u32; 4]> = (0..texels.len() as u32).map(|x| [x, 0, 0, 0]).collect();
    dispatched(&text, [0; 2], &payloads, |bench| {
        let width = texels.len() as u32;
        let texture = Texture {
            dimension: TextureDimension::TwoD,
            format: PixelFormat(format.word),
            width,
            height: 1,
            swizzle: Swizzle::IDENTITY,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        let plane = GenericPlane {
            clump_ordering: ClumpOrdering::Linear,
            clump_format,
            size: 0x1000,
            pointer: Address(TEXELS),
            row_stride: 0x1000,
            width,
            height: 1,
            ..GenericPlane::default()
        };
        put(bench, PLANES, &plane);
        put_texels(bench, format, texels);
    })
}

/// The code of a component.
fn code(texel: u64, (low, width): (u32, u32)) -> u64 {
    texel >> low & ((1 << width) - 1)
}

/// Checks that stored values have the codes of all vectors of a family, in each component of their width.
#[track_caller]
fn check_encoded(family: &str, formats: &[Format]) {
    let vectors = list(FIRST, family);
    let mut checked = vec![false; vectors.len()];
    for format in formats {
        let colours: Vec<[f32; 4]> = vectors.iter().map(|it| [float(&it["f32"]); 4]).collect();
        let texels = stored(*format, &colours);
        for (at, (vector, texel)) in vectors.iter().zip(texels).enumerate() {
            for field in format
                .fields
                .iter()
                .filter(|field| field.1 == number(&vector["bits"]))
            {
                let mask = (1 << field.1) - 1;
                let wanted = integer(&vector["value"]) as u64 & mask;
                assert_eq!(
                    code(texel, *field),
                    wanted,
                    "{:#x}, bits from {} on: {vector}",
                    format.word,
                    field.0
                );
                checked[at] = true;
            }
        }
    }
    let left = vectors.iter().zip(checked).find(|(_, checked)| !checked);
    assert_eq!(left, None, "no format has components of this width");
}

#[test]
fn stored_fractions_have_the_codes_of_every_vector() {
    check_encoded("unorm_encode", &FRACTIONS);
    check_encoded("snorm_encode", &[RGBA8_SNORM, RGBA16_SNORM]);
}

#[test]
fn loaded_fractions_have_the_values_of_every_vector() {
    let vectors = list(FIRST, "unorm_decode");
    let mut checked = vec![false; vectors.len()];
    for format in FRACTIONS.iter().chain(&[Z24X8]) {
        let texel = |vector: &serde_json::Value| {
            let fields = format
                .fields
                .iter()
                .filter(|it| it.1 == number(&vector["bits"]));
            let code = u64::from(number(&vector["value"]));
            fields.fold(0, |texel, (low, _)| texel | code << low)
        };
        let texels: Vec<u64> = vectors.iter().map(texel).collect();
        let mut ways = vec![("TEX_FETCH", fetched(*format, &texels))];
        // Depth has no vertex format and no conversion (hardware/data/formats.json).
        if format.word != Z24X8.word {
            ways.push(("LD_CVT", loaded(*format, &texels)));
            ways.push(("LD_ATTR", attributes(*format, &texels)));
        }
        for (way, colours) in ways {
            for (at, (vector, colour)) in vectors.iter().zip(colours).enumerate() {
                for (channel, field) in format.fields.iter().enumerate() {
                    if field.1 != number(&vector["bits"]) {
                        continue;
                    }
                    let found = colour[channel].to_bits();
                    assert_eq!(
                        found,
                        bits(&vector["f32"]),
                        "{way}, {:#x}, component {channel}: {vector}",
                        format.word
                    );
                    checked[at] = true;
                }
            }
        }
    }
    let left = vectors.iter().zip(checked).find(|(_, checked)| !checked);
    assert_eq!(left, None, "no format has components of this width");
}

/// Whether bits of a float with five bits of exponent above `mantissa` bits are no number.
fn is_nan(bits: u64, mantissa: u32) -> bool {
    bits >> mantissa & 0x1f == 0x1f && bits & ((1 << mantissa) - 1) != 0
}

#[test]
fn stored_halves_are_those_of_every_vector() {
    let vectors = list(FIRST, "f32_to_half");
    let colours: Vec<[f32; 4]> = vectors.iter().map(|it| [float(&it["f32"]); 4]).collect();
    for (vector, texel) in vectors.iter().zip(stored(RGBA16F, &colours)) {
        let wanted = u64::from(bits(&vector["rne"]));
        for field in RGBA16F.fields {
            let found = code(texel, field);
            let same = found == wanted || is_nan(found, 10) && is_nan(wanted, 10);
            assert!(same, "{found:#x}: {vector}");
        }
    }
}

#[test]
fn halves_are_rounded_both_ways_as_every_vector() {
    let vectors = list(FIRST, "f32_to_half");
    let payloads: Vec<[u32; 4]> = vectors.iter().map(|it| [bits(&it["f32"]); 4]).collect();
    let text = format!(
        "{LOAD}
        V2F32_TO_V2F16 r8, r4, r5
        V2F32_TO_V2F16.rtz r9, r4, r5
        MOV.i32 r10, 0x0
        MOV.i32 r11, 0x0
        {STORE}"
    );
    let results = dispatched(&text, [0; 2], &payloads, |_| {});
    for (vector, [nearest, cut, ..]) in vectors.iter().zip(results) {
        for (way, found) in [("rne", nearest), ("rtz", cut)] {
            let wanted = bits(&vector[way]);
            for found in [found & 0xffff, found >> 16] {
                let same = found == wanted || is_nan(found.into(), 10) && is_nan(wanted.into(), 10);
                assert!(same, "{way} {found:#x}: {vector}");
            }
        }
    }
}

/// Whether a float without a sign is what a vector allows: rounded either way, and never infinite where the value is finite.
pub(super) fn is_unsigned_float(
    vector: &serde_json::Value,
    name: &str,
    mantissa: u32,
    found: u64,
) -> bool {
    let [nearest, cut] =
        ["rne", "rtz"].map(|way| u64::from(bits(&vector[format!("{name}_{way}")])));
    let infinity = 0x1f << mantissa;
    if nearest == infinity && float(&vector["f32"]).is_finite() {
        found == cut
    } else {
        found == nearest || is_nan(found, mantissa) && is_nan(nearest, mantissa)
    }
}

#[test]
fn stored_floats_without_sign_are_those_of_every_vector() {
    let vectors = list(FIRST, "f32_to_uf11_uf10");
    let colours: Vec<[f32; 4]> = vectors.iter().map(|it| [float(&it["f32"]); 4]).collect();
    for (vector, texel) in vectors.iter().zip(stored(RG11F_B10F, &colours)) {
        for (channel, (name, mantissa)) in [("uf11", 6), ("uf11", 6), ("uf10", 5)]
            .into_iter()
            .enumerate()
        {
            let found = code(texel, RG11F_B10F.fields[channel]);
            assert!(
                is_unsigned_float(vector, name, mantissa, found),
                "component {channel}, {found:#x}: {vector}"
            );
        }
    }
}

#[test]
fn loaded_floats_without_sign_are_those_of_every_vector() {
    let vectors = list(FIRST, "uf11_to_f32");
    let texels: Vec<u64> = vectors
        .iter()
        .map(|it| u64::from(bits(&it["uf11"])))
        .map(|code| code | code << 11)
        .collect();
    for (way, colours) in [
        ("TEX_FETCH", fetched(RG11F_B10F, &texels)),
        ("LD_CVT", loaded(RG11F_B10F, &texels)),
        ("LD_ATTR", attributes(RG11F_B10F, &texels)),
    ] {
        for (vector, colour) in vectors.iter().zip(colours) {
            let wanted = float(&vector["f32"]);
            for found in &colour[..2] {
                let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
                assert!(same, "{way} {found}: {vector}");
            }
        }
    }
}

#[test]
fn stored_colours_share_the_exponent_of_every_vector() {
    let vectors = list(FIRST, "rgb_to_e5b9g9r9");
    let colour = |it: &serde_json::Value| [&it["rgb"][0], &it["rgb"][1], &it["rgb"][2]].map(float);
    let colours: Vec<[f32; 4]> = vectors
        .iter()
        .map(colour)
        .map(|[r, g, b]| [r, g, b, 1.0])
        .collect();
    let texels = stored(RGB9E5, &colours);
    for (vector, texel) in vectors.iter().zip(&texels) {
        assert_eq!(*texel as u32, bits(&vector["word"]), "{vector}");
    }
    // And back: a component is its nine bits times 2^(exponent - 24).
    for (way, colours) in [
        ("TEX_FETCH", fetched(RGB9E5, &texels)),
        ("LD_ATTR", attributes(RGB9E5, &texels)),
    ] {
        for (vector, colour) in vectors.iter().zip(colours) {
            let word = bits(&vector["word"]);
            let scale = 2.0_f32.powi((word >> 27) as i32 - 24);
            let wanted = [0, 9, 18].map(|low| (word >> low & 0x1ff) as f32 * scale);
            assert_eq!(colour[..3], wanted, "{way}: {vector}");
        }
    }
}

#[test]
fn fetched_srgb_codes_have_the_values_of_every_vector() {
    let vectors = list(FIRST, "srgb8_decode");
    assert_eq!(vectors.len(), 256);
    let texels: Vec<u64> = (0..256).map(|code| code * 0x0101_0101).collect();
    let colours = fetched(SRGB8, &texels);
    for (code, (vector, colour)) in vectors.iter().zip(colours).enumerate() {
        // The vectors have nine digits, which is an f32 but for its last bit.
        let wanted = decimal(vector);
        for found in &colour[..3] {
            let found = f64::from(*found);
            assert!(
                (found - wanted).abs() <= wanted * 1e-7,
                "code {code}: {found}, wanted {vector}"
            );
        }
        assert_eq!(colour[3], code as f32 / 255.0, "alpha is not on the curve");
    }
}

#[test]
fn depth_and_stencil_are_parts_of_the_elements_of_their_clumps() {
    // S8 UINT, and D32: a byte and a float among eight bytes whose numbers are others.
    let stencil = Format {
        word: 0x08_3010,
        ..RGBA8
    };
    let depth = Format {
        word: 0x04_c000,
        ..RGBA16
    };
    let element = 0x8877_6655_4433_2211;
    for (format, bytes, clump, wanted) in [
        (depth, 8, ClumpFormat::D32X32, 0x4433_2211),
        (depth, 8, ClumpFormat::X32D32, 0x8877_6655),
        (stencil, 8, ClumpFormat::X32S8X24, 0x55),
        (stencil, 8, ClumpFormat::X24S8X32, 0x44),
        (stencil, 4, ClumpFormat::X24S8, 0x44),
        (stencil, 4, ClumpFormat::S8X24, 0x11),
        (stencil, 1, ClumpFormat::S8, 0x11),
    ] {
        let format = Format { bytes, ..format };
        let found = fetched_from(format, clump, &[0, element, 0, element]);
        let red: Vec<u32> = found.iter().map(|colour| colour[0]).collect();
        assert_eq!(red, [0, wanted, 0, wanted], "{clump:?}");
    }
}
