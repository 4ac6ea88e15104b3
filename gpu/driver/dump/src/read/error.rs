//! Why a file is no dump.

use crate::elf::{NotCore, SEGMENT_BYTES};
use core::fmt;

/// Why a file is no dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// It does not begin as an ELF file.
    NotElf,
    /// It is ELF, but not of 64 bits, little endian.
    ElfKind,
    /// It is ELF, but of another type than a core file (4).
    ElfType(u16),
    /// Its program headers are not of 56 bytes.
    SegmentSize(u16),
    /// It is shorter than its headers say.
    Truncated {
        /// What lies beyond the end.
        what: &'static str,
        /// Where it ends, as the headers say.
        end: u64,
        /// Bytes of the file.
        bytes: u64,
    },
    /// A segment has more bytes in the file than in memory, or ends beyond the address space.
    Segment {
        /// Its physical address.
        address: u64,
    },
    /// Two segments hold the same memory.
    Overlap {
        /// A physical address that both have.
        address: u64,
    },
    /// A note is malformed.
    Note {
        /// Where it begins in the file.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// No note says anything about a GPU: a core file of something else.
    NotOfGpu,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::NotElf => f.write_str("not an ELF file"),
            ReadError::ElfKind => f.write_str("not a 64-bit little-endian ELF file"),
            ReadError::ElfType(found) => write!(f, "ELF file of type {found}, not a core file (4)"),
            ReadError::SegmentSize(found) => {
                write!(f, "program headers of {found} bytes, not {SEGMENT_BYTES}")
            }
            ReadError::Truncated { what, end, bytes } => {
                write!(
                    f,
                    "cut short: {what} ends at {end:#x}, the file at {bytes:#x}"
                )
            }
            ReadError::Segment { address } => {
                write!(f, "the segment at {address:#x} has an impossible size")
            }
            ReadError::Overlap { address } => {
                write!(f, "two segments hold the memory at {address:#x}")
            }
            ReadError::Note { offset, what } => write!(f, "the note at offset {offset:#x} {what}"),
            ReadError::NotOfGpu => {
                f.write_str("a core file without a note of the owner Mali-CSF: not a GPU's")
            }
        }
    }
}

impl core::error::Error for ReadError {}

impl From<NotCore> for ReadError {
    fn from(error: NotCore) -> ReadError {
        match error {
            NotCore::NotElf => ReadError::NotElf,
            NotCore::Kind => ReadError::ElfKind,
            NotCore::Type(found) => ReadError::ElfType(found),
            NotCore::SegmentSize(found) => ReadError::SegmentSize(found),
        }
    }
}
