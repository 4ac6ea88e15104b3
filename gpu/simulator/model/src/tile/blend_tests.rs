//! Blending of pixels of a tile: vectors, masks, formats.

use super::*;
use crate::tile::operand::TilePlane;
use crate::tile::tests::{bits_of_hex, framebuffer, packed, parameters, rgba8, vectors};
use crate::tile::{BlendOperand, Loaded, Output, Pixel, Source, TileBuffer, TileError, TileIndex};
use eitri_descriptors::blend::{BlendEquation, BlendFixedFunction, InternalBlend};
use eitri_descriptors::framebuffer::BlockFormat;
use eitri_descriptors::target::{ColorBufferInternalFormat, ColorFormat, RgbRenderTarget, RtClear};
use eitri_descriptors::{Arch, Descriptor};
use serde_json::Value as Json;
use std::vec;
use std::vec::Vec;

const PIXEL: Pixel = Pixel { x: 2, y: 1 };
const RGBA8: u32 = 0x0e_d000;

/// A tile of one sample whose targets hold these bits.
fn tile(targets: &[(ColorBufferInternalFormat, u32)]) -> TileBuffer {
    let targets: Vec<[u32; 16]> = targets
        .iter()
        .map(|(internal_format, clear)| {
            let target = RgbRenderTarget {
                internal_format: *internal_format,
                writeback_format: ColorFormat::RAW32,
                write_enable: false,
                clear: RtClear {
                    color_0: *clear,
                    color_1: *clear,
                    color_2: *clear,
                    color_3: *clear,
                },
                ..rgba8(BlockFormat::Linear, 0, 64)
            };
            packed(Arch::V10, target)
        })
        .collect();
    let parameters = parameters([16, 16], 1, 256);
    TileBuffer::new(&framebuffer(Arch::V10, parameters, None, &targets))
}

/// A descriptor of a target with the equation of a ready-made word.
fn descriptor(target: u32, equation: u32, constant: u32) -> Blend {
    let equation = BlendEquation::unpack_at(Arch::V10, &[equation], 0).expect("an equation");
    let fixed_function = Some(BlendFixedFunction {
        rt: target,
        ..BlendFixedFunction::default()
    });
    Blend {
        equation,
        blend_constant: constant,
        internal: InternalBlend {
            fixed_function,
            ..InternalBlend::default()
        },
        ..Blend::default()
    }
}

fn output(target: u32, word: u32) -> Output {
    let low = 0x1a | target << 16;
    let operand = u64::from(word) << 32 | u64::from(low);
    match BlendOperand::decode(Arch::V10, operand) {
        Ok(BlendOperand::FixedFunction(output)) => output,
        other => panic!("mode 2 is fixed function: {other:?}"),
    }
}

/// The bits that a pixel of one target has after one blend.
fn blended_bits(
    internal: ColorBufferInternalFormat,
    (word, old): (u32, u32),
    equation: u32,
    source: Colour,
) -> u32 {
    let mut tile = tile(&[(internal, old)]);
    let state = BlendState {
        descriptors: vec![descriptor(0, equation, 0)],
    };
    tile.blend(&output(0, word), &state, PIXEL, 1, &Source::Colour(source))
        .expect("a blend");
    tile.bits(0, PIXEL, 0).expect("a sample") as u32
}

/// Driver's formula of the constant's field for components of 8 bits.
fn constant_field(constant: f32) -> u32 {
    (f64::from(constant) * f64::from(255 << 8)) as u32
}

/// The bytes of RGBA8 that a case of the vectors becomes.
fn blended_case(case: &Json, equation: u32, source: Colour) -> Vec<u64> {
    let old = case["dst"].as_array().expect("a list").iter().rev();
    let old = old.fold(0, |bits, byte| {
        bits << 8 | byte.as_u64().expect("a byte") as u32
    });
    let constant = f32::from_bits(bits_of_hex(&case["constant"]));
    let mut tile = tile(&[(ColorBufferInternalFormat::R8G8B8A8, old)]);
    let state = BlendState {
        descriptors: vec![descriptor(0, equation, constant_field(constant))],
    };
    tile.blend(&output(0, RGBA8), &state, PIXEL, 1, &Source::Colour(source))
        .expect("a blend");
    let bits = tile.bits(0, PIXEL, 0).expect("a sample") as u32;
    bits.to_le_bytes().map(u64::from).to_vec()
}

fn expected(case: &Json) -> Vec<u64> {
    let result = case["result"].as_array().expect("a list").iter();
    result.map(|byte| byte.as_u64().expect("a byte")).collect()
}

#[test]
fn ready_made_equations_blend_as_the_vectors_say() {
    for case in &vectors("graphics-vectors2.json", "blend_words") {
        let source = core::array::from_fn(|index| case["src"][index].as_f64().expect("a number"));
        let found = blended_case(case, bits_of_hex(&case["w1"]), source);
        assert_eq!(found, expected(case), "{case}");
    }
}

#[test]
fn components_outside_the_mask_keep_their_code() {
    use ColorBufferInternalFormat::{R5G6B5A0, R8G8B8A8};
    // Replace with a mask of green and alpha.
    let bits = blended_bits(R8G8B8A8, (RGBA8, 0x4433_2211), 0xa012_2122, [1.0; 4]);
    assert_eq!(bits, 0xff33_ff11);
    // Codes of 5, 6 and 5 bits above their fractions; green alone.
    let bits = blended_bits(R5G6B5A0, (0x0e_3000, 0x000f_c3e0), 0x2012_2122, [0.0; 4]);
    assert_eq!(bits, 0x3e0);
}

#[test]
fn a_target_without_alpha_has_destination_alpha_1() {
    use ColorBufferInternalFormat::R5G6B5A0;
    // Destination alpha times source, added to nothing: 31 of 31 in red.
    let multiply = 0xf062_1621;
    for word in [0x0e_3000, 0x0e_3010] {
        let bits = blended_bits(R5G6B5A0, (word, 0), multiply, [1.0, 0.0, 0.0, 0.5]);
        assert_eq!(bits, 31 << 5, "{word:#x}");
    }
}

#[test]
fn srgb_targets_blend_linear_colours() {
    use ColorBufferInternalFormat::R8G8B8A8;
    // Half of nothing and half of white: 188 of 255 on the curve, alpha linear.
    let over = 0xf050_3503;
    let bits = blended_bits(R8G8B8A8, (0x1e_d000, 0), over, [1.0, 1.0, 1.0, 0.5]);
    assert_eq!(bits, 0x40bc_bcbc);
}

#[test]
fn float_targets_are_not_clamped_and_round_once() {
    use ColorBufferInternalFormat::RG16F;
    let add = 0xf093_2932;
    let bits = blended_bits(RG16F, (0x0c_f000, 0x3c00_4000), add, [2.5, -3.0, 0.0, 0.0]);
    assert_eq!(bits, 0xc000_4480);
}

#[test]
fn sources_of_normalised_targets_are_clamped_before_they_are_blended() {
    use ColorBufferInternalFormat::R8G8B8A8;
    let subtract = 0xf09b_29b2;
    let source = [3.0, f64::NAN, 1.0, 1.0];
    let bits = blended_bits(R8G8B8A8, (RGBA8, 0x0000_00ff), subtract, source);
    assert_eq!(bits, 0xffff_0000);
}

#[test]
fn the_constant_is_target_0s_and_descriptors_are_found_by_their_target() {
    use ColorBufferInternalFormat::R8G8B8A8;
    let mut tile = tile(&[(R8G8B8A8, 0), (R8G8B8A8, 0)]);
    let constant = 0xf070_3703;
    // The descriptors stand in the wrong order, and each has a constant of its own.
    let state = BlendState {
        descriptors: vec![
            descriptor(1, constant, constant_field(1.0)),
            descriptor(0, constant, constant_field(0.2)),
        ],
    };
    let white = Source::Colour([1.0; 4]);
    tile.blend(&output(1, RGBA8), &state, PIXEL, 1, &white)
        .expect("a blend");
    assert_eq!(tile.bits(1, PIXEL, 0), Ok(0x3333_3333));
    assert_eq!(tile.bits(0, PIXEL, 0), Ok(0));
}

#[test]
fn a_descriptor_of_another_mode_does_not_hide_the_equation() {
    use ColorBufferInternalFormat::R8G8B8A8;
    let mut tile = tile(&[(R8G8B8A8, 0)]);
    let mut off = descriptor(0, 0, 0);
    off.internal.mode = BlendMode::Off;
    let mut add = descriptor(0, 0xf093_2932, 0);
    add.internal.mode = BlendMode::FixedFunction;
    let state = BlendState {
        descriptors: vec![off, add],
    };
    let white = Source::Colour([1.0; 4]);
    tile.blend(&output(0, RGBA8), &state, PIXEL, 1, &white)
        .expect("a blend");
    assert_eq!(tile.bits(0, PIXEL, 0), Ok(0xffff_ffff));
}

#[test]
fn opaque_writes_look_at_no_descriptor_and_raw_words_are_not_converted() {
    use ColorBufferInternalFormat::{R8G8B8A8, RAW64};
    let mut tile = tile(&[(R8G8B8A8, 0), (RAW64, 0)]);
    let source = Source::Colour([70_000.0, 2.0, 3.0, 4.0]);
    let uint16 = output(1, 0x09_c000);
    tile.write_opaque(&uint16, PIXEL, 1, &source)
        .expect("a write");
    assert_eq!(tile.bits(1, PIXEL, 0), Ok(0x0004_0003_0002_ffff));
    let raw = output(1, 0x49_c000);
    let words = Source::Raw([0x89ab_cdef, 0x0123_4567, 9, 9]);
    tile.write_opaque(&raw, PIXEL, 1, &words).expect("a write");
    assert_eq!(tile.bits(1, PIXEL, 0), Ok(0x0123_4567_89ab_cdef));
    let index = TileIndex {
        sample: Some(0),
        plane: TilePlane::Colour(1),
        pixel: None,
    };
    let loaded = tile.load(index, PIXEL, raw.conversion);
    assert_eq!(loaded, Ok(Loaded::Raw([0x89ab_cdef, 0x0123_4567, 0, 0])));
    let loaded = tile.load(index, PIXEL, uint16.conversion);
    let Ok(Loaded::Colour(colour, format)) = loaded else {
        panic!("four integers of 16 bits: {loaded:?}");
    };
    assert_eq!(
        colour,
        [
            f64::from(0xcdef),
            f64::from(0x89ab),
            f64::from(0x4567),
            f64::from(0x123)
        ]
    );
    assert!(format.is_integer());
    tile.store(
        index,
        PIXEL,
        1,
        uint16.conversion,
        &Source::Colour([1.0; 4]),
    )
    .expect("a store");
    tile.store(
        index,
        PIXEL,
        0,
        uint16.conversion,
        &Source::Colour([9.0; 4]),
    )
    .expect("a store of nothing");
    assert_eq!(tile.bits(1, PIXEL, 0), Ok(0x0001_0001_0001_0001));
}

#[test]
fn what_can_not_be_done_is_an_error_and_changes_nothing() {
    use ColorBufferInternalFormat::{R8G8B8A8, RAW32};
    let mut tile = tile(&[(R8G8B8A8, 5), (RAW32, 6)]);
    let state = BlendState::default();
    let white = Source::Colour([1.0; 4]);
    let mut blend =
        |target, word, source: &Source| tile.blend(&output(target, word), &state, PIXEL, 1, source);
    assert_eq!(
        blend(0, RGBA8, &white),
        Err(TileError::NoEquation { target: 0 })
    );
    assert_eq!(
        blend(1, RGBA8, &white),
        Err(TileError::NotBlendable { target: 1 })
    );
    assert_eq!(
        blend(7, RGBA8, &white),
        Err(TileError::NoTarget { target: 7 })
    );
    let raw = Source::Raw([0; 4]);
    let wrong = TileError::Conversion {
        target: 0,
        word: RGBA8,
    };
    assert_eq!(blend(0, RGBA8, &raw), Err(wrong));
    let outside = Pixel { x: 16, y: 0 };
    let written = tile.write_opaque(&output(0, RGBA8), outside, 1, &white);
    assert_eq!(written, Err(TileError::Outside { pixel: outside }));
    assert_eq!(
        (tile.bits(0, PIXEL, 0), tile.bits(1, PIXEL, 0)),
        (Ok(5), Ok(6))
    );
}

#[test]
fn alpha_to_one_takes_the_source_for_opaque() {
    let format = PixelFormat::of_tile(RGBA8).expect("a format of the tile");
    // Source times its alpha, plus destination times what is left.
    let over = descriptor(0, 0xf050_3503, 0);
    let operands = Operands {
        source: [0.5, 0.5, 0.5, 0.25],
        destination: [1.0; 4],
        constant: 0.0,
    };
    let red = |alpha_to_one| {
        let blend = Blend {
            alpha_to_one,
            ..over
        };
        blended(&blend, &format, operands)[0]
    };
    assert_eq!([red(false), red(true)], [0.875, 0.5]);
}

#[test]
fn targets_are_replaced_by_opaque_descriptors_that_name_them() {
    let opaque = |target: u32, load_destination: bool, enable: bool| {
        let mut blend = descriptor(target, 0, 0);
        blend.internal.mode = BlendMode::Opaque;
        (blend.load_destination, blend.enable) = (load_destination, enable);
        blend
    };
    let state = BlendState {
        descriptors: vec![
            opaque(3, false, true),
            opaque(5, true, true),
            opaque(6, false, false),
            descriptor(2, 0, 0),
            opaque(0, false, true),
        ],
    };
    assert_eq!(state.replaced(), 1 << 3 | 1);
}
