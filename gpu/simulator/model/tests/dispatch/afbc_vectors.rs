//! Headers of AFBC images against vectors that were computed elsewhere: where the texture unit finds subblocks.
//!
//! Facts: hardware/graphics-framebuffer.md 5.8.4.

use super::layout_vectors::{IMAGE, PLANES, map_once};
use super::texture_vectors::{HANDLE, LOAD, PAYLOADS, STORE, put};
use super::typed::{FREE, uniforms};
use super::vector_files::{FIRST, list, number, numbers};
use super::{BUFFER, DONE, Dispatch};
use eitri_csf::page_table::Attributes;
use eitri_descriptors::plane::{AfbcPlane, AfbcSuperblockSize};
use eitri_descriptors::texture::{Texture, TextureDimension};
use eitri_descriptors::{Address, Aligned, PixelFormat, Swizzle};
use std::collections::BTreeSet;

/// A byte of a payload: neighbours of any length are others everywhere.
fn payload_byte(at: u64) -> u8 {
    (((at * at + 7 * at) >> 3) ^ (at * 0x9d)) as u8
}

#[test]
fn headers_lead_to_the_subblocks_of_every_vector() {
    const TEXEL: u64 = 4;
    const UNCOMPRESSED: u32 = 1;
    for vector in list(FIRST, "afbc_header") {
        let digits = vector["header"].as_str().expect("digits");
        let header = u128::from_str_radix(digits, 16)
            .expect("hexadecimal digits")
            .swap_bytes();
        let offset = u64::from(number(&vector["offset"]));
        let sizes = numbers(&vector["sizes"]);
        assert_eq!(vector["solid"].as_bool(), Some(sizes[0] == 0), "{vector}");
        let bytes = |size: &u32| match *size {
            UNCOMPRESSED => 16 * TEXEL,
            size => size.into(),
        };
        let payload: u64 = sizes.iter().map(bytes).sum();
        assert_eq!(
            u64::from(number(&vector["payload_bytes_bpp32"])),
            payload.next_multiple_of(16)
        );
        // Lane k reads the first texel of subblock k in superblock k, whose header has that subblock uncompressed.
        let dispatch = Dispatch {
            uniforms: uniforms(&[HANDLE, 0, PAYLOADS as u32, 0]),
            ..Dispatch::default()
        };
        let fetch = "TEX_FETCH.slot0.reserved.32.2d.wait0 @r8:r9:r10:r11, @r4:r5, u2";
        let mut bench = dispatch.prepare(&format!("{LOAD}\n{fetch}\n{STORE}"));
        let texture = Texture {
            dimension: TextureDimension::TwoD,
            format: PixelFormat(0x08_5010),
            width: 256,
            height: 16,
            swizzle: Swizzle::IDENTITY,
            texel_interleave: true,
            surfaces: Aligned::new(PLANES).expect("aligned"),
            ..Texture::default()
        };
        put(&mut bench, FREE.0, &texture);
        bench.map(1, PLANES, 32, Attributes::CACHED);
        let plane = AfbcPlane {
            superblock_size: AfbcSuperblockSize::SixteenX16,
            size: u32::MAX,
            pointer: Address(IMAGE),
            header_row_stride: 256,
            ..AfbcPlane::default()
        };
        put(&mut bench, PLANES, &plane);
        let mut mapped = BTreeSet::new();
        map_once(&mut bench, &mut mapped, IMAGE, 256);
        map_once(
            &mut bench,
            &mut mapped,
            IMAGE + offset,
            payload + 16 * TEXEL,
        );
        let body: Vec<u8> = (0..payload + 16 * TEXEL).map(payload_byte).collect();
        bench.put(1, IMAGE + offset, &body);
        for index in 0..16 {
            let field = 32 + 6 * index;
            let entry = header & !(0x3f << field) | u128::from(UNCOMPRESSED) << field;
            bench.put(1, IMAGE + 16 * u64::from(index), &entry.to_le_bytes());
            let texel = [16 * index + index % 4 * 4, index / 4 * 4];
            let payload: Vec<u8> = texel
                .iter()
                .flat_map(|word: &u32| word.to_le_bytes())
                .collect();
            bench.put(1, PAYLOADS + 16 * u64::from(index), &payload);
        }
        dispatch.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1, "{vector}\n{}", bench.report());
        bench.expect_no_diagnoses();
        for index in 0..16_usize {
            let before: u64 = sizes[..index].iter().map(bytes).sum();
            let wanted = [0, 1, 2, 3].map(|byte| payload_byte(before + byte));
            let found = bench.get32(1, BUFFER + 16 * index as u64).to_le_bytes();
            assert_eq!(found, wanted, "subblock {index}: {vector}");
        }
    }
}
