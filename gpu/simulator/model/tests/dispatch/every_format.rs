//! Every format of the facts by every instruction that converts it, against formulas that stand here.
//!
//! Texels of all kinds lie in memory: those of `formats.json` say where their components are. A dispatch has a workgroup for each
//! format, so that one run tests them all. The tests pass where the facts are missing.
//! Facts: data/formats.json; hardware/graphics-formats.md 1 to 3.

use super::format_vectors::TEXELS;
use super::texture_vectors::{LOAD, STORE, put};
use super::typed::{FREE, run, uniforms};
use super::vector_files::formats::{Format, TEXELS as LANES, formats};
use super::{BUFFER, BUFFER_BYTES, Bench, DESCRIPTORS, Dispatch};
use eitri_descriptors::plane::{ClumpFormat, ClumpOrdering, GenericPlane};
use eitri_descriptors::resource::{Attribute, AttributeFrequency, AttributeType};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};

/// Bytes from one row of texels to the next; a format has two rows.
const ROW: u64 = 0x200;
/// Payloads of the threads: beyond the results.
const PAYLOADS: u64 = BUFFER + 0x6_0000;
/// Table 2: descriptors by the number of their format.
const TABLE: u64 = BUFFER + 0x8_0000;
const PLANES: u64 = BUFFER + 0xA_0000;

fn clump_format(code: u64) -> ClumpFormat {
    match code {
        0 => ClumpFormat::RAW8,
        1 => ClumpFormat::RAW16,
        2 => ClumpFormat::RAW32,
        3 => ClumpFormat::RAW64,
        4 => ClumpFormat::RAW128,
        8 => ClumpFormat::RAW24,
        9 => ClumpFormat::RAW48,
        10 => ClumpFormat::RAW96,
        22 => ClumpFormat::S8,
        26 => ClumpFormat::A8,
        other => panic!("no clump of single texels is {other}"),
    }
}

/// Where the texels of a format lie.
fn place(number: usize) -> u64 {
    TEXELS + 3 * ROW * number as u64
}

/// A texture and an attribute of each format: handles 2 n and 2 n + 1 of table 2.
fn fill(bench: &mut Bench, formats: &[Format], order: ClumpOrdering) {
    bench.put_words(1, DESCRIPTORS + 0xa0, &[TABLE | 1 << 56, 0x1_0000]);
    bench.put_words(
        1,
        FREE.0 - 64,
        &[9 | 1 << 4 | BUFFER_BYTES << 32, BUFFER, 0, 0],
    );
    // The sampler that a fetch does not use.
    bench.put_words(1, FREE.0 + 32, &[0x5a89_9901, 0, 0, 0]);
    for (index, format) in formats.iter().enumerate() {
        let plane = PLANES + 64 * index as u64;
        let texture = Texture {
            dimension: TextureDimension::TwoD,
            format: PixelFormat(format.word),
            width: LANES as u32,
            height: 2,
            swizzle: Swizzle::IDENTITY,
            texel_interleave: order != ClumpOrdering::Linear,
            surfaces: Aligned::new(plane).expect("aligned"),
            ..Texture::default()
        };
        put(bench, TABLE + 64 * index as u64, &texture);
        let generic = GenericPlane {
            clump_ordering: order,
            clump_format: clump_format(format.clump),
            size: 0x1_0000,
            pointer: Address(place(index)),
            row_stride: match order {
                ClumpOrdering::Linear => ROW as u32,
                ClumpOrdering::TiledUInterleaved => 256 * format.bytes as u32,
                _ => 0x1_0000,
            },
            width: LANES as u32,
            height: 2,
            ..GenericPlane::default()
        };
        put(bench, plane, &generic);
        let attribute = Attribute {
            attribute_type: AttributeType::OneD,
            offset_enable: true,
            format: PixelFormat(format.word),
            table: 1,
            frequency: AttributeFrequency::Vertex,
            offset: (place(index) - BUFFER) as i32,
            stride: format.bytes as u32,
            ..Attribute::default()
        };
        put(bench, TABLE + 64 * index as u64 + 32, &attribute);
        for (x, texel) in (0..).zip(&format.texels) {
            let number: u64 = match order {
                ClumpOrdering::Linear => x,
                // In the first row of tiles of both kinds, the bits of x are the even ones.
                _ => (0..4).fold(0, |number, bit| number | (x >> bit & 1) << (2 * bit)),
            };
            let at = place(index) + number * format.bytes as u64;
            bench.put(1, at, &texel.to_le_bytes()[..format.bytes]);
        }
    }
}

/// Runs a program with a workgroup a format; the payload of each thread comes from the number of its format and its own.
#[track_caller]
fn dispatched(
    text: &str,
    (formats, order): (&[Format], ClumpOrdering),
    payload: impl Fn(usize, usize) -> [u32; 4],
) -> Bench {
    let dispatch = Dispatch {
        groups: [formats.len() as u32, 1, 1],
        uniforms: uniforms(&[0, 0, PAYLOADS as u32, (PAYLOADS >> 32) as u32]),
        ..Dispatch::default()
    };
    run(&dispatch, text, |bench| {
        fill(bench, formats, order);
        let lanes =
            (0..formats.len()).flat_map(|format| (0..LANES).map(move |lane| (format, lane)));
        for (thread, (format, lane)) in (0..).zip(lanes) {
            let words = payload(format, lane);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bench.put(1, PAYLOADS + 16 * thread, &bytes);
        }
    })
}

/// Checks that an instruction loads what each texel of each format is worth.
#[track_caller]
fn check_loads(text: &str, formats: &[Format], payload: impl Fn(usize, usize) -> [u32; 4]) {
    check_loads_from(text, (formats, ClumpOrdering::Linear), payload);
}

/// As [`check_loads`], from planes of an order.
#[track_caller]
fn check_loads_from(
    text: &str,
    (formats, order): (&[Format], ClumpOrdering),
    payload: impl Fn(usize, usize) -> [u32; 4],
) {
    if formats.is_empty() {
        return;
    }
    let text = format!("{LOAD}\n{text}\n{STORE}");
    let mut bench = dispatched(&text, (formats, order), payload);
    for (index, format) in formats.iter().enumerate() {
        // What fills up depth and stencil is the view's business.
        let count = if format.is_depth_or_stencil() { 1 } else { 4 };
        for (lane, texel) in format.texels.iter().enumerate() {
            let at = BUFFER + 16 * (LANES * index + lane) as u64;
            for channel in 0..count {
                let found = bench.get32(1, at + 4 * channel as u64);
                let wanted = format.registers(*texel)[channel];
                let is_float = !format.is_integer();
                let [one, other] = [found, wanted].map(f32::from_bits);
                let same = found == wanted || is_float && one.is_nan() && other.is_nan();
                assert!(
                    same,
                    "{}, texel {texel:#x}, component {channel}: {found:#x} ({one}), wanted {wanted:#x} ({other})",
                    format.name
                );
            }
        }
    }
}

/// The narrow handle of the texture of a format.
fn texture_handle(format: usize) -> u32 {
    2 << 27 | (2 * format as u32) << 16 | 1 << 11 | (FREE.1 + 1)
}

/// The handle of a format's descriptor in table 2: its texture, or behind it its attribute.
fn descriptor_handle(format: usize, attribute: bool) -> u32 {
    0x0200_0000 + 2 * format as u32 + u32::from(attribute)
}

/// The two words of an address.
fn words_of(address: u64) -> [u32; 2] {
    [address as u32, (address >> 32) as u32]
}

#[test]
fn every_sampled_format_is_fetched() {
    let text = "TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, r6";
    check_loads(text, &formats(&["sampled"]), |format, lane| {
        [lane as u32, 0, texture_handle(format), 0]
    });
}

#[test]
fn every_sampled_format_is_fetched_from_tiles() {
    let text = "TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, r6";
    let payload = |format, lane| [lane as u32, 0, texture_handle(format), 0];
    let mut formats = formats(&["sampled"]);
    let order = ClumpOrdering::TiledUInterleaved;
    check_loads_from(text, (&formats, order), payload);
    // Blocks of 64 KiB have elements of powers of two alone.
    formats.retain(|format| format.bytes.is_power_of_two());
    let order = ClumpOrdering::Interleaved64k;
    check_loads_from(text, (&formats, order), payload);
}

#[test]
fn every_vertex_format_is_fetched() {
    let text = "LD_ATTR.v4.auto.slot0.wait0 @r8:r9:r10:r11, r4, r61, r6";
    let formats = formats(&["vertex", "vertex_hw_only"]);
    check_loads(text, &formats, |format, lane| {
        [lane as u32, 0, descriptor_handle(format, true), 0]
    });
}

#[test]
fn every_format_of_buffers_is_loaded() {
    let text = "LD_CVT.auto.v4.slot0.wait0 @r8:r9:r10:r11, r4, r6, offset:0x0";
    let formats = formats(&["texel_buffer", "storage_image"]);
    check_loads(text, &formats, |index, lane| {
        let format = &formats[index];
        let [low, high] = words_of(place(index) + (format.bytes * lane) as u64);
        [low, high, format.word, 0]
    });
}

#[test]
fn every_format_of_images_is_loaded() {
    let text = "LD_TEX.auto.v4.slot0.wait0 @r8:r9:r10:r11, r4, 0x0, r6";
    check_loads(text, &formats(&["storage_image"]), |format, lane| {
        [lane as u32, 0, descriptor_handle(format, false), 0]
    });
}

/// Checks that the second row of each format holds what the first is worth.
#[track_caller]
fn check_stores(text: &str, formats: &[Format], payload: impl Fn(usize, usize) -> [u32; 4]) {
    if formats.is_empty() {
        return;
    }
    let text = format!("{LOAD}\n{text}\nNOP.end");
    let mut bench = dispatched(&text, (formats, ClumpOrdering::Linear), payload);
    for (index, format) in formats.iter().enumerate() {
        for (lane, texel) in format.texels.iter().enumerate() {
            let Some(wanted) = format.stored_again(*texel) else {
                continue;
            };
            let at = place(index) + ROW + (format.bytes * lane) as u64;
            let byte =
                |bench: &mut Bench, at: u64| bench.get32(1, at & !3) >> (8 * (at & 3)) & 0xff;
            let bytes = (0..format.bytes as u64).rev();
            let found = bytes.fold(0_u128, |all, offset| {
                all << 8 | u128::from(byte(&mut bench, at + offset))
            });
            assert_eq!(
                found, wanted,
                "{}: {found:#x} for {texel:#x}, wanted {wanted:#x}",
                format.name
            );
        }
    }
}

#[test]
fn every_format_of_buffers_is_stored() {
    let text = "
        LD_CVT.auto.v4.slot0.wait0 @r8:r9:r10:r11, r4, r6, offset:0x0
        IADD_IMM.i32 r4, r4, #0x200
        ST_CVT.auto.v4.slot0.wait0 @r8:r9:r10:r11, r4, r6, offset:0x0";
    let formats = formats(&["texel_buffer"]);
    check_stores(text, &formats, |index, lane| {
        let format = &formats[index];
        let [low, high] = words_of(place(index) + (format.bytes * lane) as u64);
        [low, high, format.word, 0]
    });
}

#[test]
fn every_format_of_images_is_stored() {
    let text = "
        LD_TEX.auto.v4.slot0.wait0 @r8:r9:r10:r11, r4, 0x0, r6
        LEA_TEX.slot0.wait0 @r12:r13:r14, r5, 0x0, r6
        ST_CVT.auto.v4.slot0.wait0 @r8:r9:r10:r11, r12, r14, offset:0x0";
    check_stores(text, &formats(&["storage_image"]), |format, lane| {
        let below = lane as u32 | 1 << 16;
        [lane as u32, below, descriptor_handle(format, false), 0]
    });
}
