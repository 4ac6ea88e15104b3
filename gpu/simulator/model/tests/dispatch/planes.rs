//! Textures with planes of luma and chroma, slices of compressed images, texels that are not there.
//!
//! Facts: hardware/descriptors.md 8, 9, 10.3; hardware/graphics-texture.md 7.11; hardware/graphics-model.md 5.4.

use super::format_vectors::dispatched;
use super::texture_vectors::{HANDLE, LOAD, PLANES, STORE, put};
use super::typed::{FREE, LINEAR, uniforms};
use super::{Bench, Dispatch};
use crate::bench::stream_output;
use eitri_descriptors::plane::{Chroma2pPlane, ClumpFormat, ClumpOrdering, GenericPlane};
use eitri_descriptors::texture::{Sampler, Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};

/// Texels of luma along a side.
const SIDE: u32 = 8;
/// Where the components of chroma lie.
const CHROMA: u64 = LINEAR + 0x1000;
const SECOND_CHROMA: u64 = LINEAR + 0x2000;

/// Fetches texels by their coordinates, and the word of offsets: level in the top byte, sample in the third.
const FETCH: &str =
    "TEX_FETCH.slot0.reserved.32.2d.texel_offset.wait0 @r8:r9:r10:r11, @r4:r5:r6, u2";

#[track_caller]
fn fetched(payloads: &[[u32; 4]], fill: impl Fn(&mut Bench)) -> Vec<[u32; 4]> {
    let text = format!("{LOAD}\n{FETCH}\n{STORE}");
    dispatched(&text, [0; 2], payloads, fill)
}

fn put_texture(bench: &mut Bench, word: u32, array_size: u32) {
    let texture = Texture {
        dimension: TextureDimension::TwoD,
        format: PixelFormat(word),
        width: SIDE,
        height: SIDE,
        swizzle: Swizzle::IDENTITY,
        array_size,
        surfaces: Aligned::new(PLANES).expect("aligned"),
        ..Texture::default()
    };
    put(bench, FREE.0, &texture);
}

fn luma(x: u32, y: u32) -> u8 {
    (16 * y + x) as u8
}

/// The two components of a chroma sample.
fn chroma(x: u32, y: u32) -> [u8; 2] {
    [(100 + 10 * y + x) as u8, (200 + 10 * y + x) as u8]
}

fn plane(clump_format: ClumpFormat, pointer: u64) -> GenericPlane {
    GenericPlane {
        clump_ordering: ClumpOrdering::Linear,
        clump_format,
        size: 0x1000,
        pointer: Address(pointer),
        row_stride: 64,
        width: SIDE,
        height: SIDE,
        ..GenericPlane::default()
    }
}

/// Two planes, the second of pairs, or three.
fn put_planes(bench: &mut Bench, clump: ClumpFormat, split: bool) {
    put(bench, PLANES, &plane(clump, LINEAR));
    if split {
        let two = Chroma2pPlane {
            clump_ordering: ClumpOrdering::Linear,
            clump_format: clump,
            size: 0x1000,
            pointer: Address(CHROMA),
            row_stride: 64,
            secondary_pointer: Address(SECOND_CHROMA),
            ..Chroma2pPlane::default()
        };
        put(bench, PLANES + 32, &two);
    } else {
        put(bench, PLANES + 32, &plane(clump, CHROMA));
    }
    for y in 0..SIDE {
        for x in 0..SIDE {
            let row = u64::from(64 * y);
            bench.put(1, LINEAR + row + u64::from(x), &[luma(x, y)]);
            let [first, second] = chroma(x, y);
            if split {
                bench.put(1, CHROMA + row + u64::from(x), &[first]);
                bench.put(1, SECOND_CHROMA + row + u64::from(x), &[second]);
            } else {
                bench.put(1, CHROMA + row + u64::from(2 * x), &[first, second]);
            }
        }
    }
}

#[test]
fn luma_and_chroma_are_fetched_from_their_planes() {
    let places: Vec<[u32; 4]> = (0..SIDE * SIDE)
        .map(|texel| [texel % SIDE, texel / SIDE, 0, 0])
        .collect();
    // Code, clump, whether chroma has a plane each, rows of luma to a row of chroma; rows of hardware/descriptors.md 10.3.
    for (word, clump, split, rows) in [
        (0x02_6600, ClumpFormat::Y8UV8_420, false, 2),
        (0x02_7600, ClumpFormat::Y8UV8_420, true, 2),
        (36 << 12 | 1 << 9, ClumpFormat::Y8UV8_422, false, 1),
        (37 << 12 | 1 << 9, ClumpFormat::Y8UV8_422, true, 1),
        (0x02_6601, ClumpFormat::Y8UV8_420, false, 2),
    ] {
        let found = fetched(&places, |bench| {
            put_texture(bench, word, 2);
            put_planes(bench, clump, split);
        });
        for ([x, y, ..], found) in places.iter().zip(found) {
            let [first, second] = chroma(x / 2, y / rows);
            let (second, first) = if word & 1 != 0 {
                (first, second)
            } else {
                (second, first)
            };
            let wanted = [luma(*x, *y), first, second, 255];
            let wanted = wanted.map(|code| (f64::from(code) / 255.0) as f32);
            assert_eq!(found.map(f32::from_bits), wanted, "{word:#x}: {x}, {y}");
        }
    }
}

#[test]
fn layers_and_levels_have_two_planes_each() {
    let text = format!(
        "{LOAD}
        TEX_FETCH.slot0.reserved.32.2d.array_enable.texel_offset.wait0 @r8:r9:r10:r11, @r4:r5:r6:r7, u2
        {STORE}"
    );
    // Texel (1, 1) of each layer and level, and of a layer that is not there.
    let places: Vec<[u32; 4]> = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
        .map(|(layer, level)| [1, 1, layer, level << 24])
        .to_vec();
    let found = dispatched(&text, [0; 2], &places, |bench| {
        let texture = Texture {
            dimension: TextureDimension::TwoD,
            // NV12.
            format: PixelFormat(0x02_6600),
            width: SIDE,
            height: SIDE,
            levels: 2,
            swizzle: Swizzle::IDENTITY,
            array_size: 4,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        for number in 0..8_u64 {
            let pointer = LINEAR + 0x100 * number;
            put(
                bench,
                PLANES + 32 * number,
                &plane(ClumpFormat::Y8UV8_420, pointer),
            );
            bench.put(1, pointer, &[number as u8 + 1; 0x100]);
        }
    });
    let code = |code: u32| (f64::from(code) / 255.0) as f32;
    for (number, found) in (0..4).zip(&found) {
        // Luma from the first plane of the pair, chroma from the second.
        let [luma, chroma] = [2 * number + 1, 2 * number + 2].map(code);
        assert_eq!(
            found.map(f32::from_bits),
            [luma, chroma, chroma, 1.0],
            "{number}"
        );
    }
    assert_eq!(found[4].map(f32::from_bits), [0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn texels_that_are_not_there_have_the_constants_of_their_order() {
    const LEVEL: u32 = 1 << 24;
    const SAMPLE: u32 = 1 << 16;
    let one = 1.0_f32.to_bits();
    let places = [
        [7, 7, 0, 0],
        [8, 0, 0, 0],
        [0, u32::MAX, 0, 0],
        [0, 0, LEVEL, 0],
        [0, 0, SAMPLE, 0],
    ];
    // R8 and RGBA8 of ones: beyond the edges alpha is 1 where texels have none. No level, no sample: 0.
    for (word, clump, inside, beyond) in [
        (
            0x0a_3010,
            ClumpFormat::RAW8,
            [one, 0, 0, one],
            [0, 0, 0, one],
        ),
        (0x0b_b000, ClumpFormat::RAW32, [one; 4], [0; 4]),
    ] {
        let found = fetched(&places, |bench| {
            put_texture(bench, word, 1);
            // What would be the plane of a second level is there, too.
            put(bench, PLANES, &plane(clump, LINEAR));
            put(bench, PLANES + 32, &plane(clump, LINEAR));
            bench.put(1, LINEAR, &[0xff; 0x200]);
        });
        let wanted = [inside, beyond, beyond, [0; 4], [0; 4]];
        assert_eq!(found, wanted, "{word:#x}");
    }
    // The constant format of a null texture is what its order says: 0000 and 0001.
    for (order, alpha) in [(231, 0), (230, one)] {
        let found = fetched(&places[..1], |bench| {
            put_texture(bench, 95 << 12 | order, 1);
        });
        assert_eq!(found, [[0, 0, 0, alpha]], "order {order}");
    }
}

#[test]
fn slices_of_a_compressed_image_have_headers_of_their_own() {
    let text = format!(
        "{LOAD}
        TEX_FETCH.slot0.reserved.32.3d.wait0 @r8:r9:r10:r11, @r4:r5:r6, u2
        {STORE}"
    );
    let places: Vec<[u32; 4]> = (0..3).map(|slice| [5, 9, slice, 0]).collect();
    let found = dispatched(&text, [0; 2], &places, |bench| {
        let texture = Texture {
            dimension: TextureDimension::ThreeD,
            format: PixelFormat(0x08_5010),
            width: 16,
            height: 16,
            depth: 3,
            swizzle: Swizzle::IDENTITY,
            texel_interleave: true,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(bench, FREE.0, &texture);
        // R8G8B8A8, headers 0x40 apart; the last slice lies beyond the plane's memory.
        let words = [
            10 | 6 << 4 | 10 << 26 | 0x80 << 32,
            LINEAR,
            16 | 16 << 32,
            0x40,
        ];
        bench.put_words(1, PLANES, &words);
        // Solid superblocks: the colour lies at byte 8.
        for slice in 0..3_u64 {
            bench.put_words(1, LINEAR + 0x40 * slice, &[0, 0x1234_5678 + slice]);
        }
    });
    let red: Vec<u32> = found.iter().map(|colour| colour[0]).collect();
    assert_eq!(red, [0x1234_5678, 0x1234_5679, 0]);
}

#[test]
fn raw_conversions_move_bits_as_they_are() {
    // RG16F with the raw bit: no conversion to or from the registers' floats.
    const RAW_RG16F: u32 = 0x0c_f010 | 1 << 22;
    let text = format!(
        "{LOAD}
        LD_CVT.f32.v2.slot0.wait0 @r8:r9, r4, u6, offset:0x0
        ST_CVT.f32.v2.slot0.wait0 @r8:r9, r4, u6, offset:0x8
        LOAD.i32.unsigned.slot0.wait0 @r10, r4, offset:8
        MOV.i32 r11, 0x0
        {STORE}"
    );
    let payload = [LINEAR as u32, (LINEAR >> 32) as u32, 0, 0];
    let found = dispatched(&text, [RAW_RG16F, 0], &[payload; 16], |bench| {
        bench.put_words(1, LINEAR, &[0x4000_3c00, 0]);
    });
    assert_eq!(found[0], [0x4000_3c00, 0, 0x4000_3c00, 0]);
}

#[test]
fn gathers_take_the_component_that_they_name_after_the_swizzle() {
    // Four texels of RGBA8, each component of which says where it is from.
    let texel = |x: u32, y: u32| [0, 1, 2, 3].map(|component| (64 * y + 16 * x + component) as u8);
    for (name, component) in [("r", 0), ("g", 1), ("b", 2), ("a", 3)] {
        for (swizzle, taken) in [
            (Swizzle::IDENTITY, component),
            (Swizzle(0o0123), 3 - component),
        ] {
            let text = format!(
                "{LOAD}
                TEX_GATHER.slot0.reserved.32.2d.gather4_{name}.wait0 @r8:r9:r10:r11, @r4:r5, u2
                {STORE}"
            );
            let middle = 0.5_f32.to_bits();
            let found = dispatched(&text, [0; 2], &[[middle, middle, 0, 0]; 16], |bench| {
                let texture = Texture {
                    dimension: TextureDimension::TwoD,
                    format: PixelFormat(0x0b_b000),
                    width: 2,
                    height: 2,
                    swizzle,
                    surfaces: Aligned::new(PLANES).expect("aligned"),
                    ..Texture::default()
                };
                put(bench, FREE.0, &texture);
                put(bench, FREE.0 + 32, &Sampler::default());
                put(bench, PLANES, &plane(ClumpFormat::RAW32, LINEAR));
                for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                    bench.put(1, LINEAR + u64::from(64 * y + 4 * x), &texel(x, y));
                }
            });
            let wanted = [(0, 1), (1, 1), (1, 0), (0, 0)]
                .map(|(x, y)| (f64::from(texel(x, y)[taken]) / 255.0) as f32);
            assert_eq!(found[0].map(f32::from_bits), wanted, "{name}, {swizzle:?}");
        }
    }
}

#[test]
fn formats_of_ycbcr_without_rules_are_refused_by_name() {
    // YUV8, YUYV8 and VYUY8 as tables have them, YUYV10, Y10 UV10 420, Y16 UV16 420.
    for word in [32 << 12, 0x02_2203, 0x02_320a, 44 << 12, 47 << 12, 55 << 12] {
        let dispatch = Dispatch {
            uniforms: uniforms(&[HANDLE, 0]),
            ..Dispatch::default()
        };
        let text = format!("MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\n{FETCH}\nNOP.end");
        let mut bench = dispatch.prepare(&text);
        put_texture(&mut bench, word, 2);
        put_planes(&mut bench, ClumpFormat::Y8UV8_422, false);
        dispatch.submit(&mut bench);
        bench.poll_shared(stream_output(0) + 0x80, 0xff, 0x51);
        bench.expect_diagnosis(&format!(
            "a texture of the pixel format {word:#x} is known but not modelled: how packed formats of YCbCr"
        ));
    }
}
