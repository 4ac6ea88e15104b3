//! The parser: a cursor over the bytes; every refusal says at which offset.
//!
//! Needs: nothing of the bytes.  Guarantees: [`Image::parse`] has walked the whole table, so that the iterators
//! yield every entry; sums are checked; unknown bits are refused.  Allocates nothing.
//! Facts: hardware/csf-firmware.md sections 1 to 3.

use super::format::{
    BUILD_HASH_DIGITS, BUILD_INFO_PREFIX, EntryKind, FORMAT_MAJOR, HEADER_BYTES, MAGIC,
    MAJOR_OFFSET, PAGE, SECTION_WORDS, SectionFlags, TABLE_END_OFFSET, VERSION_OFFSET,
    entry_header, section_flags,
};
use crate::interface::control::{SHARED_VA, Version};
use core::fmt;
use core::ops::Range;

/// What is wrong with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The file ends before something that it should hold.
    Truncated {
        /// Bytes of the file.
        length: usize,
        /// Bytes it needs.
        needed: u64,
    },
    /// The first word is not that of a firmware image.
    Magic(u32),
    /// A format major that is not understood.
    FormatMajor(u8),
    /// The entry table ends before it begins, or beyond the file.
    TableEnd(u32),
    /// An entry's size is not a multiple of 4, is too small for its type, or crosses the end of the table.
    EntrySize {
        /// The size.
        size: u32,
        /// Bytes left in the table.
        left: u32,
    },
    /// An entry of a type that is not known and not optional.
    UnknownEntry(u32),
    /// Flags of a section that have no meaning.
    SectionFlags(u32),
    /// A range of file offsets that is reversed or beyond the file.
    DataRange {
        /// First byte.
        start: u32,
        /// Byte after the last.
        end: u32,
    },
    /// A range of addresses that is reversed or not page aligned.
    AddressRange {
        /// First address.
        start: u32,
        /// Address after the last.
        end: u32,
    },
    /// More initial data than the section holds.
    DataTooLong {
        /// Bytes of data.
        data: u32,
        /// Bytes of the section.
        section: u32,
    },
    /// Two sections share addresses.
    SectionsOverlap {
        /// Start of the other section.
        other: u32,
    },
    /// More than [`MAX_SECTIONS`] sections.
    TooManySections,
    /// No section at 0x04000000 that is shared with the host.
    NoSharedSection,
}

/// The most sections that an image may have: each is compared with all others. Released images have eight or nine
/// (hardware/csf-firmware.md 2).
pub const MAX_SECTIONS: u32 = 256;

/// A refusal: what, and at which offset of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageError {
    /// Offset of the word that is wrong.
    pub offset: u32,
    /// What is wrong with it.
    pub problem: Problem,
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "firmware image, offset {:#x}: ", self.offset)?;
        match self.problem {
            Problem::Truncated { length, needed } => {
                write!(f, "the file has {length} bytes and needs {needed}")
            }
            Problem::Magic(got) => write!(
                f,
                "not a firmware image: first word {got:#010x}, wanted {MAGIC:#010x}"
            ),
            Problem::FormatMajor(got) => {
                write!(f, "format {got} is not known, wanted {FORMAT_MAJOR}")
            }
            Problem::TableEnd(end) => write!(
                f,
                "the entry table ends at {end:#x}, which is not inside the file"
            ),
            Problem::EntrySize { size, left } => {
                write!(
                    f,
                    "an entry of {size} bytes does not fit: {left} bytes of the table are left"
                )
            }
            Problem::UnknownEntry(kind) => {
                write!(f, "entry type {kind} is not known and not optional")
            }
            Problem::SectionFlags(word) => {
                write!(f, "section flags {word:#010x} have bits without meaning")
            }
            Problem::DataRange { start, end } => {
                write!(f, "data {start:#x}..{end:#x} is not inside the file")
            }
            Problem::AddressRange { start, end } => {
                write!(
                    f,
                    "addresses {start:#x}..{end:#x} are reversed or not page aligned"
                )
            }
            Problem::DataTooLong { data, section } => {
                write!(f, "{data} bytes of data for a section of {section} bytes")
            }
            Problem::SectionsOverlap { other } => {
                write!(f, "the section shares addresses with the one at {other:#x}")
            }
            Problem::TooManySections => {
                write!(f, "more than {MAX_SECTIONS} sections")
            }
            Problem::NoSharedSection => write!(
                f,
                "there is no section shared with the host at {SHARED_VA:#x}"
            ),
        }
    }
}

impl core::error::Error for ImageError {}

/// A firmware image that has been checked.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    bytes: &'a [u8],
    version: u32,
    table_end: u32,
}

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Offset in the file.
    pub offset: u32,
    /// Type; `None` for an optional one that is not known.
    pub kind: Option<EntryKind>,
    /// Whether the item may be changed while the firmware runs.
    pub update: bool,
    /// What follows the header word.
    pub body: &'a [u8],
}

/// A memory section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Offset of its entry in the file.
    pub offset: u32,
    /// Permissions and caching.
    pub flags: SectionFlags,
    /// Addresses in the firmware's space; may be empty.
    pub va: Range<u32>,
    /// Initial contents, no longer than `va`.
    pub data: &'a [u8],
    /// Name; empty in released images.
    pub name: &'a [u8],
}

impl<'a> Image<'a> {
    /// Checks an image from end to end.
    ///
    /// # Errors
    /// On anything that section 1 of the facts lists, and on sections that overlap.
    pub fn parse(bytes: &'a [u8]) -> Result<Image<'a>, ImageError> {
        let at = |offset, problem| ImageError { offset, problem };
        let magic = word(bytes, 0)?;
        if magic != MAGIC {
            return Err(at(0, Problem::Magic(magic)));
        }
        let table_end = word(bytes, TABLE_END_OFFSET)?;
        let major = slice(bytes, MAJOR_OFFSET..MAJOR_OFFSET + 1)?
            .first()
            .copied()
            .unwrap_or(u8::MAX);
        if major != FORMAT_MAJOR {
            return Err(at(MAJOR_OFFSET, Problem::FormatMajor(major)));
        }
        if table_end < HEADER_BYTES || slice(bytes, 0..table_end).is_err() {
            return Err(at(TABLE_END_OFFSET, Problem::TableEnd(table_end)));
        }
        let version = word(bytes, VERSION_OFFSET)?;
        let image = Image {
            bytes,
            version,
            table_end,
        };
        image.check_entries()?;
        Ok(image)
    }

    fn check_entries(&self) -> Result<(), ImageError> {
        let mut offset = HEADER_BYTES;
        let mut shared = false;
        let mut sections = 0_u32;
        while offset < self.table_end {
            let (entry, next) = self.entry(offset)?;
            if entry.kind == Some(EntryKind::Section) {
                let section = self.section(&entry)?;
                sections = sections.saturating_add(1);
                if sections > MAX_SECTIONS {
                    let problem = Problem::TooManySections;
                    return Err(ImageError { offset, problem });
                }
                self.check_overlap(&section)?;
                shared |= section.va.start == SHARED_VA && section.flags.has(section_flags::SHARED);
            }
            offset = next;
        }
        if !shared {
            return Err(ImageError {
                offset: HEADER_BYTES,
                problem: Problem::NoSharedSection,
            });
        }
        Ok(())
    }

    fn check_overlap(&self, section: &Section<'_>) -> Result<(), ImageError> {
        let earlier = self
            .sections()
            .take_while(|other| other.offset < section.offset);
        for other in earlier {
            let apart = section.va.end <= other.va.start || other.va.end <= section.va.start;
            if !(apart || section.va.is_empty() || other.va.is_empty()) {
                let problem = Problem::SectionsOverlap {
                    other: other.va.start,
                };
                return Err(ImageError {
                    offset: section.offset,
                    problem,
                });
            }
        }
        Ok(())
    }

    /// The interface version that the header names; the running firmware tells its own.
    pub fn version(&self) -> Option<Version> {
        Version::from_word(self.version)
    }

    /// All entries, in file order.
    pub fn entries(&self) -> Entries<'a> {
        Entries {
            image: *self,
            offset: HEADER_BYTES,
        }
    }

    /// All memory sections, in file order.
    pub fn sections(&self) -> Sections<'a> {
        Sections {
            entries: self.entries(),
        }
    }

    /// The section that host and firmware share.
    pub fn shared_section(&self) -> Option<Section<'a>> {
        self.sections().find(|section| {
            section.va.start == SHARED_VA && section.flags.has(section_flags::SHARED)
        })
    }

    /// The git hash of the build with its mark (`+` if the tree was modified), if the image has one.
    pub fn build_info(&self) -> Option<&'a str> {
        let entry = self
            .entries()
            .find(|entry| entry.kind == Some(EntryKind::BuildInfo))?;
        let start = word(entry.body, 0).ok()?;
        let end = start.checked_add(word(entry.body, 4).ok()?)?;
        let text = slice(self.bytes, start..end)
            .ok()?
            .strip_prefix(BUILD_INFO_PREFIX)?;
        let (last, text) = text.split_last()?;
        if *last != 0 || text.len() != BUILD_HASH_DIGITS + 1 {
            return None;
        }
        core::str::from_utf8(text).ok().map(str::trim_ascii_end)
    }

    /// The entry at `offset` and the offset of the next.
    fn entry(&self, offset: u32) -> Result<(Entry<'a>, u32), ImageError> {
        let header = word(self.bytes, offset)?;
        let size = entry_header::SIZE.get(header);
        let left = self.table_end.saturating_sub(offset);
        let wrong = ImageError {
            offset,
            problem: Problem::EntrySize { size, left },
        };
        let next = offset.checked_add(size).ok_or(wrong)?;
        if size < 4 || !size.is_multiple_of(4) || size > left {
            return Err(wrong);
        }
        let kind = entry_header::KIND.get(header);
        if kind.is_none() && !entry_header::OPTIONAL.get(header) {
            let problem = Problem::UnknownEntry(header & entry_header::KIND.mask32());
            return Err(ImageError { offset, problem });
        }
        let update = entry_header::UPDATE.get(header);
        let body = slice(self.bytes, offset + 4..next)?;
        Ok((
            Entry {
                offset,
                kind,
                update,
                body,
            },
            next,
        ))
    }

    fn section(&self, entry: &Entry<'a>) -> Result<Section<'a>, ImageError> {
        let body = entry.body;
        let start = entry.offset + 4;
        let fail = |place: u32, problem| {
            Err(ImageError {
                offset: start + place,
                problem,
            })
        };
        if body.len() < (SECTION_WORDS as usize - 1) * 4 {
            let size = body.len() as u32 + 4;
            let problem = Problem::EntrySize {
                size,
                left: SECTION_WORDS * 4,
            };
            return Err(ImageError {
                offset: entry.offset,
                problem,
            });
        }
        let flags = word(body, 0)?;
        let Some(flags) = SectionFlags::from_word(flags) else {
            return fail(0, Problem::SectionFlags(flags));
        };
        let va = word(body, 4)?..word(body, 8)?;
        if va.end < va.start || va.start % PAGE != 0 || va.end % PAGE != 0 {
            return fail(
                4,
                Problem::AddressRange {
                    start: va.start,
                    end: va.end,
                },
            );
        }
        let data = word(body, 12)?..word(body, 16)?;
        let Ok(bytes) = slice(self.bytes, data.clone()) else {
            return fail(
                12,
                Problem::DataRange {
                    start: data.start,
                    end: data.end,
                },
            );
        };
        let (length, room) = (data.end - data.start, va.end - va.start);
        if length > room {
            return fail(
                12,
                Problem::DataTooLong {
                    data: length,
                    section: room,
                },
            );
        }
        let tail = body.get(20..).unwrap_or(&[]);
        let name = tail.split(|byte| *byte == 0).next().unwrap_or(&[]);
        Ok(Section {
            offset: entry.offset,
            flags,
            va,
            data: bytes,
            name,
        })
    }
}

/// Entries of an image.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    image: Image<'a>,
    offset: u32,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.offset >= self.image.table_end {
            return None;
        }
        let (entry, next) = self.image.entry(self.offset).ok()?;
        self.offset = next;
        Some(entry)
    }
}

/// Memory sections of an image.
#[derive(Clone, Debug)]
pub struct Sections<'a> {
    entries: Entries<'a>,
}

impl<'a> Iterator for Sections<'a> {
    type Item = Section<'a>;

    fn next(&mut self) -> Option<Section<'a>> {
        let image = self.entries.image;
        self.entries
            .by_ref()
            .filter(|entry| entry.kind == Some(EntryKind::Section))
            .find_map(|entry| image.section(&entry).ok())
    }
}

/// The bytes of a range of file offsets.
fn slice(bytes: &[u8], range: Range<u32>) -> Result<&[u8], ImageError> {
    let reversed = range.end < range.start;
    let places = range.start as usize..range.end as usize;
    bytes.get(places).filter(|_| !reversed).ok_or(ImageError {
        offset: range.start,
        problem: Problem::Truncated {
            length: bytes.len(),
            needed: u64::from(range.end),
        },
    })
}

/// The little-endian word at a file offset.
fn word(bytes: &[u8], offset: u32) -> Result<u32, ImageError> {
    let needed = u64::from(offset) + 4;
    let found = bytes
        .get(offset as usize..)
        .and_then(|rest| rest.first_chunk());
    match found {
        Some(word) => Ok(u32::from_le_bytes(*word)),
        None => Err(ImageError {
            offset,
            problem: Problem::Truncated {
                length: bytes.len(),
                needed,
            },
        }),
    }
}
