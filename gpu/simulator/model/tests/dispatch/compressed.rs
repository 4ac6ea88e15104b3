//! Textures in AFBC, in 64 KiB memory and in compressed blocks, fetched texel by texel. The bytes are laid out here, by hand.
//!
//! Facts: hardware/graphics-framebuffer.md 5.8.2, 5.8.4, 5.8.5; hardware/graphics-texture.md 7.3; hardware/graphics-model.md
//! 4.6; hardware/graphics-compression.md 1, 4, 6.

use super::typed::{FREE, LINEAR, R32_UINT, plane_of, run, texture, uniforms};
use super::{BUFFER, Bench, Dispatch};

/// What the texture holds at a texel.
fn texel(x: u32, y: u32) -> u32 {
    0x0001_0000 * y + 0x101 * x + 7
}

/// The texels of row 21 from column 0 on, of the texture that `fill` makes.
#[track_caller]
fn fetched(fill: impl Fn(&mut Bench)) -> [u32; 48] {
    let dispatch = Dispatch {
        groups: [3, 1, 1],
        uniforms: uniforms(&[1 << 27 | FREE.1 << 16, 0]),
        ..Dispatch::default()
    };
    let text = "
        MOV.i32 r4, r60
        IADD_IMM.i32 r5, 0x0, #0x15
        TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        STORE.i32.slot0.wait0 @r8, r0, offset:0
        NOP.end";
    let mut bench = run(&dispatch, text, fill);
    std::array::from_fn(|x| bench.get32(1, BUFFER + 4 * x as u64))
}

/// The header entry of a superblock of 16 by 16 pixels whose subblocks are all uncompressed.
fn uncompressed(offset: u32) -> [u8; 16] {
    let sizes = (0..16).fold(0_u128, |bits, index| bits | 1 << (32 + 6 * index));
    (sizes | u128::from(offset)).to_le_bytes()
}

/// A texture of 32 by 32 texels of 4 bytes in AFBC, of `size` bytes, with the header entries of its lower superblocks.
fn compressed(bench: &mut Bench, size: u64, entries: [[u8; 16]; 2]) {
    let plane = plane_of(bench, 0, R32_UINT, 1 << 12);
    let mode = 10 << 26;
    bench.put_words(
        1,
        plane,
        &[
            10 | 6 << 4 | mode | size << 32,
            LINEAR,
            32 | 64 << 32,
            (31 | 31 << 16) << 32,
        ],
    );
    for (index, entry) in (2..).zip(entries) {
        bench.put(1, LINEAR + 16 * index, &entry);
    }
}

/// Row 21 of the third superblock, in its body at `offset`: row 5 of its pixels.
fn put_row(bench: &mut Bench, offset: u64) {
    for x in 0..16_u32 {
        // Subblocks of 4 by 4 pixels in rows of four; row 5 is row 1 of the second row of subblocks.
        let index = 16 * (4 + x / 4) + 4 + x % 4;
        let at = LINEAR + offset + u64::from(4 * index);
        bench.put(1, at, &texel(x, 21).to_le_bytes());
    }
}

#[test]
fn uncompressed_subblocks_and_solid_superblocks_are_fetched() {
    let mut solid = [0; 16];
    solid[8..12].copy_from_slice(&0x1234_5678_u32.to_le_bytes());
    let found = fetched(|bench| {
        compressed(bench, 0x2000, [uncompressed(0x80), solid]);
        put_row(bench, 0x80);
    });
    for (x, found) in (0..).zip(found) {
        let expected = match x {
            0..16 => texel(x, 21),
            16..32 => 0x1234_5678,
            _ => 0,
        };
        assert_eq!(found, expected, "column {x}");
    }
}

#[test]
fn a_body_beyond_the_plane_reads_as_0() {
    let found = fetched(|bench| {
        // The row lies at 0x80 + 4 * 68 to 0x80 + 4 * 120.
        compressed(bench, 0x80 + 4 * 100, [uncompressed(0x80), [0; 16]]);
        put_row(bench, 0x80);
    });
    assert_eq!(
        found[..8],
        std::array::from_fn::<_, 8, _>(|x| texel(x as u32, 21))
    );
    assert_eq!(found[8..], [0; 40]);
}

#[test]
fn memory_of_64_kib_blocks_is_fetched_in_morton_order() {
    let found = fetched(|bench| {
        texture(bench, 0, 8, LINEAR, 0x1_0000);
        for x in 0..32_u32 {
            let index = (0..5).fold(0, |index, bit| {
                index | (x >> bit & 1) << (2 * bit) | (21 >> bit & 1) << (2 * bit + 1)
            });
            let at = LINEAR + u64::from(4 * index);
            bench.put(1, at, &texel(x, 21).to_le_bytes());
        }
    });
    for (x, found) in (0..).zip(found) {
        let expected = if x < 32 { texel(x, 21) } else { 0 };
        assert_eq!(found, expected, "column {x}");
    }
}

#[test]
fn blocks_of_bc1_are_fetched_from_rows_of_blocks() {
    const RGBA8: u64 = 0x0b_b000;
    let found = fetched(|bench| {
        let plane = plane_of(bench, 0, RGBA8, 1 << 12);
        let words = [10 | 1 << 4 | 2 << 8 | 48 << 24 | 512 << 32, LINEAR, 64, 0];
        bench.put_words(1, plane, &words);
        for block in 0..8_u64 {
            // Red of 3 * block + 1 of 31, and black; in the second row of texels the indices are 0 to 3.
            let ends = (3 * block + 1) << 11;
            let at = LINEAR + 5 * 64 + 8 * block;
            bench.put_words(1, at, &[ends | 0b11_10_01_00 << 40]);
        }
    });
    for (x, found) in (0..).zip(found) {
        let end = 3 * (x / 4) + 1;
        let end = end << 3 | end >> 2;
        let red = match x {
            32.. => 0,
            _ => [end, 0, 2 * end / 3, end / 3][x as usize % 4],
        };
        let expected = (f64::from(red) / 255.0) as f32;
        assert_eq!(f32::from_bits(found), expected, "column {x}");
    }
}

#[test]
fn blocks_of_astc_are_fetched_from_tiles_of_blocks() {
    const RGBA16F: u64 = 0x0d_f000;
    // 8 by 5 texels, wide.
    const FOOTPRINT: u64 = 0x32;
    let found = fetched(|bench| {
        let plane = plane_of(bench, 0, RGBA16F, 1 << 12);
        let words = [
            10 | 4 << 4 | 1 << 8 | FOOTPRINT << 24 | 4096 << 32,
            LINEAR,
            256,
            0,
        ];
        bench.put_words(1, plane, &words);
        // Row 21 is in the fifth row of blocks, the first of the second row of tiles.
        for (block, place) in (0..4_u64).zip([0, 1, 4, 5]) {
            let one_colour = 0xffff_ffff_ffff_fdfc;
            let at = LINEAR + 256 + 16 * place;
            bench.put_words(1, at, &[one_colour, 0x1000 * (block + 1)]);
        }
    });
    for (x, found) in (0..).zip(found) {
        let expected = match x {
            32.. => 0.0,
            _ => (x / 8 + 1) as f32 / 16.0,
        };
        assert_eq!(f32::from_bits(found), expected, "column {x}");
    }
}

#[test]
fn a_block_whose_texels_the_format_does_not_fit_is_not_modelled() {
    let dispatch = Dispatch {
        uniforms: uniforms(&[1 << 27 | FREE.1 << 16, 0]),
        ..Dispatch::default()
    };
    let text = "TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2";
    let text = format!("MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\n{text}\nNOP.end");
    let mut bench = dispatch.prepare(&text);
    // BC4 gives components of 16 bits, not bytes.
    let plane = plane_of(&mut bench, 0, 0x0a_3010, 1 << 12);
    let words = [10 | 1 << 4 | 2 << 8 | 51 << 24 | 512 << 32, LINEAR, 64, 0];
    bench.put_words(1, plane, &words);
    dispatch.submit(&mut bench);
    bench.poll_shared(super::stream_output(0) + 0x80, 0xff, 0x51);
    bench.expect_diagnosis("not modelled");
}
