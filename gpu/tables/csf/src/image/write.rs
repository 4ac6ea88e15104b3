//! The writer: an image in the vendor's format from a list of sections, for stub firmware and tests.
//!
//! Guarantees: what it writes, [`super::Image::parse`] accepts.  Allocates nothing: the caller gives the buffer.
//! Facts: hardware/csf-firmware.md sections 1 to 3.

use super::format::{
    BUILD_HASH_DIGITS, BUILD_INFO_PREFIX, EntryKind, FORMAT_MAJOR, FORMAT_MINOR, HEADER_BYTES,
    MAGIC, MAJOR_OFFSET, MINOR_OFFSET, SECTION_WORDS, SectionFlags, TABLE_END_OFFSET,
    VERSION_OFFSET, entry_header,
};
use super::parse::{Image, ImageError};
use crate::interface::control::Version;
use core::fmt;
use core::ops::Range;

/// A section to write.
#[derive(Clone, Debug)]
pub struct SectionPlan<'a> {
    /// Permissions and caching.
    pub flags: SectionFlags,
    /// Addresses, page aligned.
    pub va: Range<u32>,
    /// Initial contents.
    pub data: &'a [u8],
    /// Where execution of the section begins; its own start in most images.
    pub execute_from: u32,
}

/// An image to write.
#[derive(Clone, Debug)]
pub struct ImagePlan<'a> {
    /// Interface version in the header.
    pub version: Version,
    /// Sections, in file order.
    pub sections: &'a [SectionPlan<'a>],
    /// Forty hex digits of build information, if any.
    pub git_sha: Option<[u8; BUILD_HASH_DIGITS]>,
}

/// Why an image cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The buffer is too small.
    BufferTooSmall {
        /// Bytes needed at least.
        needed: usize,
    },
    /// What was written is not a legal image: the plan is at fault.
    Illegal(ImageError),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::BufferTooSmall { needed } => {
                write!(f, "the buffer is too small: {needed} bytes are needed")
            }
            WriteError::Illegal(error) => write!(f, "the plan gives no legal image: {error}"),
        }
    }
}

impl core::error::Error for WriteError {}

/// Bytes of a section entry: an empty name, the execution start, padding.
const SECTION_ENTRY: u32 = SECTION_WORDS * 4 + 8;
/// Bytes of a build information entry: header word, offset, size.
const BUILD_INFO_ENTRY: u32 = 12;
/// Bytes of build information: prefix, hash, a mark, NUL.
const BUILD_INFO_DATA: usize = BUILD_INFO_PREFIX.len() + BUILD_HASH_DIGITS + 2;

/// Writes an image into `out` and returns its length.
///
/// # Errors
/// If the buffer is too small, or the plan breaks a rule of the format.
pub fn write(plan: &ImagePlan<'_>, out: &mut [u8]) -> Result<usize, WriteError> {
    let build_entry = if plan.git_sha.is_some() {
        BUILD_INFO_ENTRY
    } else {
        0
    };
    let table_end = HEADER_BYTES + plan.sections.len() as u32 * SECTION_ENTRY + build_entry;
    let mut table = HEADER_BYTES;
    let mut data = table_end;
    let mut image = Output { bytes: out };

    image.put(0, &[0; HEADER_BYTES as usize])?;
    image.put_word(0, MAGIC)?;
    image.put(MINOR_OFFSET, &[FORMAT_MINOR])?;
    image.put(MAJOR_OFFSET, &[FORMAT_MAJOR])?;
    image.put_word(VERSION_OFFSET, plan.version.word())?;
    image.put_word(TABLE_END_OFFSET, table_end)?;

    for section in plan.sections {
        let end = image.put(data, section.data)?;
        let [e0, e1, e2, e3] = section.execute_from.to_le_bytes();
        let words = [
            header(EntryKind::Section, SECTION_ENTRY),
            section.flags.word(),
            section.va.start,
            section.va.end,
            data,
            end,
            // An empty name: one NUL, then the execution start at an odd offset, then padding.
            u32::from_le_bytes([0, e0, e1, e2]),
            u32::from_le_bytes([e3, 0, 0, 0]),
        ];
        for word in words {
            table = image.put_word(table, word)?;
        }
        let padding = [0; 3]
            .get(..(end.next_multiple_of(4) - end) as usize)
            .unwrap_or(&[]);
        data = image.put(end, padding)?;
    }
    if let Some(hash) = plan.git_sha {
        let words = [
            entry_header::OPTIONAL.set32(header(EntryKind::BuildInfo, BUILD_INFO_ENTRY), true),
            data,
            BUILD_INFO_DATA as u32,
        ];
        for word in words {
            table = image.put_word(table, word)?;
        }
        for part in [BUILD_INFO_PREFIX, &hash, b" \0"] {
            data = image.put(data, part)?;
        }
    }
    let length = data as usize;
    let written = image.bytes.get(..length).unwrap_or(&[]);
    Image::parse(written).map_err(WriteError::Illegal)?;
    Ok(length)
}

fn header(kind: EntryKind, size: u32) -> u32 {
    entry_header::SIZE.set32(entry_header::KIND.word(kind), size)
}

struct Output<'a> {
    bytes: &'a mut [u8],
}

impl Output<'_> {
    /// Writes at `offset` and returns the offset behind.
    fn put(&mut self, offset: u32, part: &[u8]) -> Result<u32, WriteError> {
        let start = offset as usize;
        let end = start.saturating_add(part.len());
        let too_small = WriteError::BufferTooSmall { needed: end };
        let place = self.bytes.get_mut(start..end).ok_or(too_small)?;
        place.copy_from_slice(part);
        u32::try_from(end).map_err(|_| too_small)
    }

    fn put_word(&mut self, offset: u32, word: u32) -> Result<u32, WriteError> {
        self.put(offset, &word.to_le_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::section_flags;
    use super::super::parse::Problem;
    use super::*;
    use std::string::ToString;
    use std::vec;
    use std::vec::Vec;

    fn shared() -> SectionPlan<'static> {
        SectionPlan {
            flags: SectionFlags::from_word(0xC000_001B).expect("flags of the facts"),
            va: 0x0400_0000..0x0401_0000,
            data: b"interface",
            execute_from: 0x0400_0000,
        }
    }

    fn code() -> SectionPlan<'static> {
        SectionPlan {
            flags: SectionFlags::from_word(0x0000_000D).expect("flags of the facts"),
            va: 0x0080_0000..0x0080_1000,
            data: b"code",
            execute_from: 0x0080_0000,
        }
    }

    fn plan<'a>(sections: &'a [SectionPlan<'a>]) -> ImagePlan<'a> {
        ImagePlan {
            version: Version::new(1, 1),
            sections,
            git_sha: Some([b'a'; 40]),
        }
    }

    fn written(sections: &[SectionPlan<'_>]) -> Vec<u8> {
        let mut out = vec![0xEE; 16384];
        let length = write(&plan(sections), &mut out).expect("legal plan");
        out.truncate(length);
        out
    }

    #[test]
    fn what_is_written_is_read_back() {
        let bytes = written(&[code(), shared()]);
        let image = Image::parse(&bytes).expect("checked by the writer");
        let sections: Vec<_> = image.sections().collect();
        assert_eq!(sections.len(), 2);
        assert_eq!(
            (sections[0].va.clone(), sections[0].data),
            (0x0080_0000..0x0080_1000, &b"code"[..])
        );
        assert_eq!(sections[1].data, b"interface");
        assert_eq!(
            sections[1].flags.to_string(),
            "RW- cached coherent shared zero"
        );
        assert_eq!(image.version(), Some(Version::new(1, 1)));
        assert_eq!(image.build_info(), Some("a".repeat(40).as_str()));
        assert_eq!(image.entries().count(), 3);
        assert_eq!(
            entry_header::SIZE.get(u32::from_le_bytes([
                bytes[20], bytes[21], bytes[22], bytes[23]
            ])),
            32
        );
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let mut bytes = written(&[code(), shared()]);
        change(&mut bytes);
        let got = Image::parse(&bytes)
            .map(|_| "accepted")
            .map_err(|error| error.to_string());
        assert_eq!(got, Err(expected.to_string()));
    }

    fn set(bytes: &mut [u8], offset: usize, word: u32) {
        bytes[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
    }

    #[test]
    fn every_refusal_says_where_and_what() {
        check_refused(
            |b| b.truncate(3),
            "firmware image, offset 0x0: the file has 3 bytes and needs 4",
        );
        check_refused(
            |b| b.truncate(18),
            "firmware image, offset 0x10: the file has 18 bytes and needs 20",
        );
        check_refused(
            |b| b[0] = 0,
            "firmware image, offset 0x0: not a firmware image: first word 0xc3f13a00, wanted 0xc3f13a6e",
        );
        check_refused(
            |b| b[5] = 1,
            "firmware image, offset 0x5: format 1 is not known, wanted 0",
        );
        check_refused(
            |b| set(b, 0x10, 0x9999),
            "firmware image, offset 0x10: the entry table ends at 0x9999, which is not inside the file",
        );
        check_refused(
            |b| b[0x15] = 0,
            "firmware image, offset 0x14: an entry of 0 bytes does not fit: 76 bytes of the table are left",
        );
        check_refused(
            |b| b[0x15] = 16,
            "firmware image, offset 0x14: an entry of 16 bytes does not fit: 24 bytes of the table are left",
        );
        check_refused(
            |b| b[0x14] = 0x77,
            "firmware image, offset 0x14: entry type 119 is not known and not optional",
        );
        check_refused(
            |b| set(b, 0x18, 0x40),
            "firmware image, offset 0x18: section flags 0x00000040 have bits without meaning",
        );
        check_refused(
            |b| set(b, 0x1C, 0x0080_0001),
            "firmware image, offset 0x1c: addresses 0x800001..0x801000 are reversed or not page aligned",
        );
        check_refused(
            |b| set(b, 0x24, 0xFFFF_FFFF),
            "firmware image, offset 0x24: data 0xffffffff..0x64 is not inside the file",
        );
        check_refused(
            |b| set(b, 0x20, 0x0080_0000),
            "firmware image, offset 0x24: 4 bytes of data for a section of 0 bytes",
        );
        check_refused(
            |b| set(b, 0x3C, 0x0080_0000),
            "firmware image, offset 0x34: the section shares addresses with the one at 0x800000",
        );
        check_refused(
            |b| set(b, 0x38, 0x0000_001B),
            "firmware image, offset 0x14: there is no section shared with the host at 0x4000000",
        );
    }

    #[test]
    fn a_small_buffer_and_a_bad_plan_are_refused() {
        let sections = [code(), shared()];
        let got = write(&plan(&sections), &mut [0; 64]);
        assert_eq!(got, Err(WriteError::BufferTooSmall { needed: 100 }));
        let got = write(&plan(&[code()]), &mut [0; 4096]);
        let Err(WriteError::Illegal(error)) = got else {
            panic!("{got:?}")
        };
        assert_eq!(error.problem, Problem::NoSharedSection);
        assert!(SectionFlags::from_word(1 << 6).is_none());
        assert!(!code().flags.has(section_flags::WRITE));
    }

    /// Each section is compared with all others, so that no file takes long.
    #[test]
    fn there_is_a_limit_to_sections() {
        let empty = SectionPlan {
            va: 0..0,
            data: &[],
            ..code()
        };
        let mut sections = vec![empty; super::super::MAX_SECTIONS as usize - 1];
        sections.push(shared());
        assert_eq!(
            Image::parse(&written(&sections))
                .unwrap()
                .sections()
                .count(),
            super::super::MAX_SECTIONS as usize
        );
        sections.insert(0, sections[0].clone());
        let Err(WriteError::Illegal(error)) = write(&plan(&sections), &mut [0; 16384]) else {
            panic!("no image has so many sections");
        };
        assert_eq!(error.problem, Problem::TooManySections);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let bytes = written(&[code(), shared()]);
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7F, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = value;
                if let Ok(image) = Image::parse(&changed) {
                    let _ = (
                        image.sections().count(),
                        image.build_info(),
                        image.shared_section(),
                    );
                }
            }
        }
    }
}
