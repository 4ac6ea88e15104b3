//! Stub firmware: an image in the vendor's format for hosts that have none.
//!
//! It holds what a loader and the model look at: vectors, a page of code, data with a stack, and a shared section whose
//! control blocks are filled as the vendor's images fill them. The code itself only waits: no part would run it.
//!
//! Facts: hardware/csf-firmware.md 1 to 7 (layout of the 10.8 image).

use crate::memory::PAGE;
use alloc::vec;
use alloc::vec::Vec;
use eitri_csf::image::{ImagePlan, Release, SectionFlags, SectionPlan, write};
use eitri_csf::interface::control::{
    GLB_GROUP_NUM, GLB_GROUP_STRIDE, GLB_INPUT_VA, GLB_OUTPUT_VA, GROUP_CONTROL_OFFSET,
    GROUP_INPUT_VA, GROUP_OUTPUT_VA, GROUP_STREAM_NUM, GROUP_STREAM_STRIDE, SHARED_VA,
    STREAM_CONTROL_OFFSET, STREAM_INPUT_VA, STREAM_OUTPUT_VA, Version,
};
use eitri_csf::table::Register;

const GROUPS: u32 = 8;
const STREAMS: u32 = 8;
const GROUP_STRIDE: u32 = 0xA0;
const STREAM_STRIDE: u32 = 0xC;

// Where the vendor's images put the blocks, as offsets of the shared section.
const GLB_INPUT: u32 = 0x2000;
const CSG_INPUT: u32 = 0x3000;
const CS_INPUT: u32 = 0x3400;
const CSG_INPUT_STRIDE: u32 = 0x80;
const CS_INPUT_STRIDE: u32 = 0x80;
const GLB_OUTPUT: u32 = 0x6000;
const CSG_OUTPUT: u32 = 0x7000;
const CSG_OUTPUT_STRIDE: u32 = 0x40;
const CS_OUTPUT: u32 = 0x7200;
const CS_OUTPUT_STRIDE: u32 = 0x100;
const SHARED_BYTES: u32 = 0xC000;
/// Initial data of the shared section: the control blocks.
const SHARED_DATA: usize = 0x2000;

const CODE: u32 = 0x0080_0000;
/// Bytes of it that a stub has at most.
const MOST_CODE: usize = 0x4000;
const DATA: u32 = 0x0200_0000;
const DATA_BYTES: u32 = 0x4_0000;
const STACK: u32 = DATA + 0x3_0000;

/// Flags of the sections, as the vendor's images have them.
const READ_CACHED: u32 = 0x0000_0009;
const CODE_CACHED: u32 = 0x0000_000D;
const DATA_CACHED_ZERO: u32 = 0x8000_000B;
const SHARED: u32 = 0xC000_001B;

/// Thumb code that waits for ever: `wfi` and a branch back to it, as little-endian halves.
const WAIT: [u8; 4] = [0x30, 0xbf, 0xfd, 0xe7];

/// What it says of itself where the vendor's images have the hash of their source.
const BUILD: &[u8; 40] = b"stub (runs on the model only)           ";

/// A firmware image for the model, in the format of `mali_csffw.bin`.
///
/// ```
/// let image = eitri_model::stub_firmware();
/// assert!(eitri_csf::image::Image::parse(&image).is_ok());
/// ```
pub fn stub_firmware() -> Vec<u8> {
    stub(Version::new(1, 1), STACK, CODE | 1)
}

/// The same with the version and the vectors of a released image, by which the model takes it for that one.
pub fn stub_firmware_like(release: &Release) -> Vec<u8> {
    stub(release.version, release.stack, release.reset)
}

/// A stub with these vectors.
fn stub(version: Version, stack: u32, reset: u32) -> Vec<u8> {
    let mut vectors = [0; 8];
    vectors[..4].copy_from_slice(&stack.to_le_bytes());
    vectors[4..].copy_from_slice(&reset.to_le_bytes());
    let entry = ((reset & !1).saturating_sub(CODE) as usize).min(MOST_CODE - WAIT.len());
    let mut code = vec![0; entry];
    code.extend(WAIT);
    let code_bytes = code.len().next_multiple_of(PAGE as usize) as u32;
    let control = control_blocks();
    let section = |flags, start: u32, bytes: u32, data| {
        SectionFlags::from_word(flags).map(|flags| SectionPlan {
            flags,
            va: start..start + bytes,
            data,
            execute_from: start,
        })
    };
    let sections: Vec<_> = [
        section(READ_CACHED, 0, 0x1000, &vectors[..]),
        section(CODE_CACHED, CODE, code_bytes, &code[..]),
        section(DATA_CACHED_ZERO, DATA, DATA_BYTES, &[][..]),
        section(SHARED, SHARED_VA, SHARED_BYTES, &control[..]),
    ]
    .into_iter()
    .flatten()
    .collect();
    let plan = ImagePlan {
        version,
        sections: &sections,
        git_sha: Some(*BUILD),
    };
    let mut image = vec![0; SHARED_DATA + code.len() + 0x1000];
    // The plan is a constant that the tests write: it neither overflows the buffer nor breaks a rule.
    let length = write(&plan, &mut image).unwrap_or(0);
    image.truncate(length);
    image
}

/// The control blocks: counts, strides and addresses; what running firmware knows is left zero.
fn control_blocks() -> Vec<u8> {
    let mut bytes = vec![0; SHARED_DATA];
    let mut set = |block: u32, word: Register, value: u32| {
        let at = (block + word.offset) as usize;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    };
    set(0, GLB_INPUT_VA, SHARED_VA + GLB_INPUT);
    set(0, GLB_OUTPUT_VA, SHARED_VA + GLB_OUTPUT);
    set(0, GLB_GROUP_NUM, GROUPS);
    set(0, GLB_GROUP_STRIDE, GROUP_STRIDE);
    for group in 0..GROUPS {
        let block = GROUP_CONTROL_OFFSET + group * GROUP_STRIDE;
        set(
            block,
            GROUP_INPUT_VA,
            SHARED_VA + CSG_INPUT + group * CSG_INPUT_STRIDE,
        );
        set(
            block,
            GROUP_OUTPUT_VA,
            SHARED_VA + CSG_OUTPUT + group * CSG_OUTPUT_STRIDE,
        );
        set(block, GROUP_STREAM_NUM, STREAMS);
        set(block, GROUP_STREAM_STRIDE, STREAM_STRIDE);
        for stream in 0..STREAMS {
            let at = block + STREAM_CONTROL_OFFSET + stream * STREAM_STRIDE;
            let number = group * STREAMS + stream;
            set(
                at,
                STREAM_INPUT_VA,
                SHARED_VA + CS_INPUT + number * CS_INPUT_STRIDE,
            );
            set(
                at,
                STREAM_OUTPUT_VA,
                SHARED_VA + CS_OUTPUT + number * CS_OUTPUT_STRIDE,
            );
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::image::Image;

    #[test]
    fn the_stub_is_an_image_with_the_vendors_layout() {
        let bytes = stub_firmware();
        let Ok(image) = Image::parse(&bytes) else {
            panic!("{:?}", Image::parse(&bytes));
        };
        assert_eq!(image.sections().count(), 4);
        let Some(shared) = image.shared_section() else {
            panic!("no shared section");
        };
        let word = |at: usize| {
            u32::from_le_bytes([
                shared.data[at],
                shared.data[at + 1],
                shared.data[at + 2],
                shared.data[at + 3],
            ])
        };
        assert_eq!(word(0x10), 8, "group slots");
        // Stream 2 of slot 1, by the layout of csf-firmware.md 6.
        assert_eq!(
            word(0x1000 + 0xA0 + 0x40 + 2 * 0xC + 4),
            0x0400_3400 + 0x80 * 10
        );
    }
}
