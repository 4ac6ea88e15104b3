//! ELF: the file header and program headers of a 64-bit little-endian core file.
//!
//! Only what a core file needs: no sections.  Facts: the System V ABI, chapters "ELF header" and "Program header".

/// Bytes of the file header.
pub(crate) const HEADER_BYTES: u64 = 64;
/// Bytes of a program header.
pub(crate) const SEGMENT_BYTES: u64 = 56;
/// Most program headers that the 16-bit count can state.
pub(crate) const MOST_SEGMENTS: usize = 0xFFFE;
/// Memory segments begin at a multiple of this in the file, as they do in memory.
pub(crate) const ALIGNMENT: u64 = 4096;

/// Program header types.
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_NOTE: u32 = 4;

/// Segment flag: readable.
const PF_R: u32 = 4;

const MAGIC: [u8; 4] = *b"\x7FELF";
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const VERSION: u8 = 1;
const ET_CORE: u16 = 4;
/// No machine: the memory is that of no CPU. Other values are read too.
const EM_NONE: u16 = 0;

/// What is wrong with a file header.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotCore {
    /// Not ELF at all.
    NotElf,
    /// ELF, but not of 64 bits, little endian, version 1.
    Kind,
    /// ELF, but no core file; the type it has.
    Type(u16),
    /// Program headers of another size.
    SegmentSize(u16),
}

/// What the file header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Where the program headers stand.
    pub(crate) segments_at: u64,
    /// How many there are.
    pub(crate) segments: u16,
}

impl Header {
    pub(crate) fn bytes(self) -> [u8; HEADER_BYTES as usize] {
        let mut bytes = [0; HEADER_BYTES as usize];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(4, &[CLASS_64, LITTLE_ENDIAN, VERSION]);
        put(16, &ET_CORE.to_le_bytes());
        put(18, &EM_NONE.to_le_bytes());
        put(20, &u32::from(VERSION).to_le_bytes());
        put(32, &self.segments_at.to_le_bytes());
        put(52, &(HEADER_BYTES as u16).to_le_bytes());
        put(54, &(SEGMENT_BYTES as u16).to_le_bytes());
        put(56, &self.segments.to_le_bytes());
        bytes
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn parse(bytes: &[u8]) -> Result<Header, NotCore> {
        let Some(bytes) = bytes.first_chunk::<{ HEADER_BYTES as usize }>() else {
            return Err(NotCore::NotElf);
        };
        if bytes[..4] != MAGIC {
            return Err(NotCore::NotElf);
        }
        if bytes[4..7] != [CLASS_64, LITTLE_ENDIAN, VERSION] {
            return Err(NotCore::Kind);
        }
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        if half(16) != ET_CORE {
            return Err(NotCore::Type(half(16)));
        }
        let segments = half(56);
        if segments != 0 && u64::from(half(54)) != SEGMENT_BYTES {
            return Err(NotCore::SegmentSize(half(54)));
        }
        let mut segments_at = [0; 8];
        segments_at.copy_from_slice(&bytes[32..40]);
        Ok(Header {
            segments_at: u64::from_le_bytes(segments_at),
            segments,
        })
    }
}

/// A program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) kind: u32,
    /// Where its bytes stand in the file.
    pub(crate) offset: u64,
    /// Physical address; 0 for notes.
    pub(crate) address: u64,
    /// Bytes in the file.
    pub(crate) file_bytes: u64,
    /// Bytes of memory: what is not in the file is zero.
    pub(crate) memory_bytes: u64,
}

impl Segment {
    pub(crate) fn bytes(self) -> [u8; SEGMENT_BYTES as usize] {
        let mut bytes = [0; SEGMENT_BYTES as usize];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        let alignment: u64 = if self.kind == PT_LOAD { ALIGNMENT } else { 4 };
        put(0, &self.kind.to_le_bytes());
        put(4, &PF_R.to_le_bytes());
        put(8, &self.offset.to_le_bytes());
        put(16, &self.address.to_le_bytes());
        put(24, &self.address.to_le_bytes());
        put(32, &self.file_bytes.to_le_bytes());
        put(40, &self.memory_bytes.to_le_bytes());
        put(48, &alignment.to_le_bytes());
        bytes
    }

    #[cfg(feature = "alloc")]
    pub(crate) fn parse(bytes: &[u8; SEGMENT_BYTES as usize]) -> Segment {
        let word = |at: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(word)
        };
        Segment {
            kind: word(0) as u32,
            offset: word(8),
            address: word(24),
            file_bytes: word(32),
            memory_bytes: word(40),
        }
    }
}
