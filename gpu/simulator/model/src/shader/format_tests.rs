//! Formats by hand: colours of texels, borders.

use super::*;

/// Words of hardware/descriptors.md 10.2.
#[track_caller]
fn check(word: u32, texel: u128, colour: Colour, bytes: u8) {
    let format = PixelFormat::of(word).expect("a format");
    assert_eq!(format.bytes(), bytes, "{word:#x}");
    assert_eq!(format.unpack(texel), colour, "{word:#x} from {texel:#x}");
    assert_eq!(format.pack(colour), texel, "{word:#x} to {texel:#x}");
}

#[test]
fn a_border_lacks_what_texels_lack_and_is_not_reordered() {
    let white = [1.0; 4];
    let border = |word: u32, colour| PixelFormat::of(word).expect("a format").border(colour);
    assert_eq!(border(0x08_3010, white), [1.0, 0.0, 0.0, 1.0], "R8_UINT");
    assert_eq!(border(0x0a_b010, [0.25; 4]), [0.25, 0.25, 0.0, 1.0], "RG8");
    assert_eq!(border(0x04_b000, white), [1.0, 0.0, 0.0, 0.0], "D16");
    let colour = [0.125, 0.25, 0.5, 0.75];
    assert_eq!(border(0x0b_b000, colour), colour, "RGBA8");
    assert_eq!(border(0x0b_b004, colour), colour, "BGRA8");
}

#[test]
fn components_are_aligned_and_packed_texels_whole() {
    let alignment = |word: u32| PixelFormat::of(word).expect("a format").alignment();
    // R8G8B8A8, R16G16B16, R32G32, A2B10G10R10, R5G6B5, E5B9G9R9.
    let words = [
        0x0b_b000, 0x0d_7010, 0x0a_f010, 0x04_3000, 0x04_0014, 0x05_b010,
    ];
    assert_eq!(words.map(alignment), [1, 2, 4, 4, 2, 4]);
}

#[test]
fn texels_become_colours_and_back() {
    // R8G8B8A8_UNORM, and the same with red and blue exchanged.
    check(0x0b_b000, 0xff00_00ff, [1.0, 0.0, 0.0, 1.0], 4);
    check(0x0b_b004, 0xff00_00ff, [0.0, 0.0, 1.0, 1.0], 4);
    // R5G6B5_UNORM_PACK16: red in the high bits.
    check(0x04_0014, 0xf800, [1.0, 0.0, 0.0, 1.0], 2);
    // A2B10G10R10_UINT_PACK32.
    check(0x04_7000, 0xc000_0801, [1.0, 2.0, 0.0, 3.0], 4);
    // B4G4R4A4_UNORM_PACK16: alpha in the low bits, blue in the high ones.
    check(0x0b_a008, 0xf00f, [0.0, 0.0, 1.0, 1.0], 2);
    // R32_SINT, R32G32_UINT, R32_SFLOAT, R16G16B16A16_SFLOAT.
    check(0x0c_5010, 0xffff_fffe, [-2.0, 0.0, 0.0, 1.0], 4);
    check(
        0x08_d010,
        0xffff_ffff_0000_0007,
        [7.0, 4_294_967_295.0, 0.0, 1.0],
        8,
    );
    check(0x0a_7010, 0xbf80_0000, [-1.0, 0.0, 0.0, 1.0], 4);
    check(0x0d_f000, 0x3c00_4000_c000_0000, [0.0, -2.0, 2.0, 1.0], 8);
    // B10G11R11_UFLOAT_PACK32: 1.0 in each is exponent 15.
    check(0x05_9010, 0x781e_03c0, [1.0, 1.0, 1.0, 1.0], 4);
    // E5B9G9R9_UFLOAT_PACK32: 1.0, 0.5, 0.25 share exponent 16 (a fraction of 256 is 1.0).
    check(0x05_b010, 0x8101_0100, [1.0, 0.5, 0.25, 1.0], 4);
}

#[test]
fn what_cannot_be_stored_is_clamped_and_rounded() {
    let pack = |word, colour| PixelFormat::of(word).expect("a format").pack(colour);
    assert_eq!(pack(0x0b_b000, [2.0, -1.0, f64::NAN, 0.5]), 0x8000_00ff);
    assert_eq!(pack(0x07_b000, [-2.0, 1.0, 0.0, -1.0]), 0x8100_7f81);
    assert_eq!(pack(0x08_3010, [300.0, 0.0, 0.0, 0.0]), 0xff);
    assert_eq!(pack(0x0c_3010, [-300.0, 0.0, 0.0, 0.0]), 0x80);
    // R8G8B8A8_SRGB: half the light is 188 of 255.
    assert_eq!(pack(0x1b_b000, [0.5, 0.0, 1.0, 0.5]), 0x80ff_00bc);
}

#[test]
fn missing_components_are_0_0_0_1_and_unknown_codes_are_refused() {
    let grey = PixelFormat::of(0x0a_3010).expect("R8_UNORM");
    assert_eq!(grey.unpack(0xff), [1.0, 0.0, 0.0, 1.0]);
    let null = PixelFormat::of(95 << 12 | 231).expect("the constant format");
    assert_eq!((null.bytes(), null.unpack(u128::MAX)), (0, [0.0; 4]));
    // The tile buffer's own codes, packed YCbCr.
    assert_eq!(PixelFormat::of(237 << 12), None);
    assert_eq!(PixelFormat::of(34 << 12), None);
}

#[test]
fn names_that_begin_with_the_last_component_have_it_in_the_lowest_bits() {
    let unpack = |code: u32, texel| {
        let format = PixelFormat::of(code << 12).expect("a format");
        assert_eq!(format.pack(format.unpack(texel)), texel, "code {code}");
        format.unpack(texel)
    };
    // A1 BGR5: alpha in bit 0, red in the highest bits.
    assert_eq!(unpack(66, 31 << 11 | 1), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(unpack(68, 0x3ff << 2), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(
        unpack(72, 5 << 22 | 6 << 12 | 7 << 2 | 3),
        [5.0, 6.0, 7.0, 3.0]
    );
    assert_eq!(unpack(70, 0x1ff << 22), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(unpack(74, 0x200 << 12), [0.0, -512.0, 0.0, 0.0]);
    // B10F G11F R11F: 1.0 is exponent 15.
    assert_eq!(unpack(90, 15 << 5 | 15 << 27), [1.0, 0.0, 1.0, 0.0]);
    // E5F B9F G9F R9F: 256 times 2^(16 - 24).
    assert_eq!(unpack(92, 16 | 256 << 23), [1.0, 0.0, 0.0, 1.0]);
    // X8Z24: depth above eight unused bits.
    let depth = PixelFormat::of(78 << 12).expect("X8Z24");
    assert_eq!((depth.bytes(), depth.unpack(0xffff_ff12)[0]), (4, 1.0));
}

#[test]
fn rare_numbers_are_what_their_names_say() {
    let unpack = |word: u32, texel| PixelFormat::of(word).map(|format| format.unpack(texel));
    // Two bits a component, 16 bits below the point, floats that are stored with another rounding.
    assert_eq!(
        unpack(185 << 12, 0b11_10_01_00),
        Some([0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0])
    );
    assert_eq!(unpack(81 << 12, 0xfffe_8000), Some([-1.5, 0.0, 0.0, 0.0]));
    let fixed = PixelFormat::of(81 << 12).expect("R32_FIXED");
    assert_eq!(fixed.pack([-1.5, 0.0, 0.0, 0.0]), 0xfffe_8000);
    assert_eq!(
        unpack(239 << 12, 0x4000_0000_3f80_0000),
        Some([1.0, 2.0, 0.0, 0.0])
    );
    // RRRA: alpha is the second of two components, and the fourth of four.
    assert_eq!(unpack(139 << 12 | 228, 0x0907), Some([7.0, 7.0, 7.0, 9.0]));
    assert_eq!(
        unpack(155 << 12 | 228, 0x0400_0001),
        Some([1.0, 1.0, 1.0, 4.0])
    );
    // 000A has one byte.
    let alpha = PixelFormat::of(0x0b_b0e5).expect("A8");
    assert_eq!(
        (alpha.bytes(), alpha.unpack(0xff)),
        (1, [0.0, 0.0, 0.0, 1.0])
    );
    assert_eq!(alpha.pack([0.5, 0.5, 0.5, 1.0]), 0xff);
}

#[test]
fn luma_and_chroma_are_in_the_order_of_the_swizzle() {
    // Stored: luma 1, chroma 0 and 0.2.
    let unpack = |bits: u32| PixelFormat::of(38 << 12 | bits).map(|it| it.unpack(0x33_00_ff));
    let [y, u, v] = [1.0, 0.0, 0.2];
    for (swizzle, wanted) in [
        (0, [y, u, v]),
        (1, [y, v, u]),
        (2, [u, y, v]),
        (3, [u, v, y]),
        (4, [v, u, y]),
        (5, [v, y, u]),
        (6, [y, 0.0, 0.0]),
    ] {
        let wanted = [wanted[0], wanted[1], wanted[2], 1.0];
        assert_eq!(unpack(swizzle), Some(wanted), "swizzle {swizzle}");
        // The siting changes no texel.
        assert_eq!(unpack(swizzle | 3 << 9), Some(wanted), "swizzle {swizzle}");
    }
    // Chroma exchanged.
    assert_eq!(unpack(8), Some([y, v, u, 1.0]));
}
