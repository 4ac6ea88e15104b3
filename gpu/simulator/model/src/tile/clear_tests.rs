//! Clear words: what a cleared tile holds.

use super::tests::{framebuffer, packed, parameters, rgba8};
use super::{Pixel, StoredZs, TileBuffer};
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::{BlockFormat, FramebufferParameters, ZInternalFormat};
use eitri_descriptors::target::{ColorBufferInternalFormat as Internal, RgbRenderTarget, RtClear};

/// The bits of a sample of a cleared tile.
fn cleared(internal_format: Internal, words: [u32; 4], dithered_clear: bool) -> u128 {
    let target = RgbRenderTarget {
        internal_format,
        dithered_clear,
        write_enable: false,
        clear: RtClear {
            color_0: words[0],
            color_1: words[1],
            color_2: words[2],
            color_3: words[3],
        },
        ..rgba8(BlockFormat::Linear, 0, 64)
    };
    let target = packed(Arch::V10, target);
    let parameters = parameters([16, 16], 4, 64);
    let tile = TileBuffer::new(&framebuffer(Arch::V10, parameters, None, &[target]));
    let all = (0..8).flat_map(|y| (0..8).map(move |x| Pixel { x, y }));
    let first = tile.bits(0, Pixel { x: 0, y: 0 }, 0).expect("a sample");
    for (pixel, sample) in all.flat_map(|pixel| (0..4).map(move |sample| (pixel, sample))) {
        assert_eq!(tile.bits(0, pixel, sample), Ok(first), "{pixel:?} {sample}");
    }
    first
}

#[test]
fn clear_words_without_dithering_are_codes_above_zeros() {
    // Words of hardware/graphics-framebuffer.md 5.5.
    for (internal, word) in [
        (Internal::R8G8B8A8, 0x8000_ff64_u32),
        (Internal::R4G4B4A4, 0x8000_f020),
        (Internal::R5G5B5A1, 0x000f_8080),
        (Internal::R5G6B5A0, 0x000f_c080),
        (Internal::R10G10B10A2, 0x800f_fc82),
    ] {
        assert_eq!(
            cleared(internal, [word; 4], false),
            word.into(),
            "{internal:?}"
        );
    }
}

#[test]
fn dithered_clear_words_are_rounded_to_codes() {
    // The same colours, dithered: (0.127, 2.4, -1, 0.5).
    for (internal, word, rounded) in [
        (Internal::R4G4B4A4, 0x7800_f01e_u32, 0x8000_f020_u128),
        (Internal::R5G6B5A0, 0x000f_c07e, 0x000f_c080),
        (Internal::R5G5B5A1, 0x400f_807e, 0x000f_8080),
    ] {
        assert_eq!(cleared(internal, [word; 4], true), rounded, "{internal:?}");
        // Without the bit fractions are cut off.
        assert_ne!(cleared(internal, [word; 4], false), rounded, "{internal:?}");
    }
    // The greatest code stays: its fraction does not carry.
    assert_eq!(
        cleared(Internal::R4G4B4A4, [0xffff_ffff; 4], true),
        0xf0f0_f0f0
    );
}

#[test]
fn raw_and_float_targets_take_the_words_as_they_are() {
    let words = [1, 2, 3, 4];
    let all = 4 << 96 | 3 << 64 | 2 << 32 | 1;
    assert_eq!(cleared(Internal::RAW128, words, false), all);
    assert_eq!(cleared(Internal::RAW64, words, true), 2 << 32 | 1);
    assert_eq!(cleared(Internal::RGBA16F, words, false), 2 << 32 | 1);
    assert_eq!(cleared(Internal::RAW8, [0x0101_0101; 4], false), 1);
}

#[test]
fn depth_is_cleared_to_its_code() {
    for (z_internal_format, depth) in [
        (ZInternalFormat::D16, 0x8000),
        (ZInternalFormat::D24, 0x80_0000),
        (ZInternalFormat::D32, 0x3f00_0000),
    ] {
        let parameters = FramebufferParameters {
            z_internal_format,
            z_clear: 0.5,
            s_clear: 0x5a,
            ..parameters([16, 16], 2, 64)
        };
        let target = packed(Arch::V10, rgba8(BlockFormat::Linear, 0, 64));
        let tile = TileBuffer::new(&framebuffer(Arch::V10, parameters, None, &[target]));
        let expected = StoredZs {
            depth,
            stencil: 0x5a,
        };
        assert_eq!(tile.zs(Pixel { x: 7, y: 7 }, 1), Ok(expected));
    }
}
