//! The container's numbers: header, entry types, section flags.
//!
//! Facts: hardware/csf-firmware.md sections 1 to 3.

use crate::table::{fields, values};
use core::fmt;

/// First word of an image.
pub(super) const MAGIC: u32 = 0xC3F1_3A6E;
/// The only format major that is understood.
pub(super) const FORMAT_MAJOR: u8 = 0;
/// The format minor that images have.
pub(super) const FORMAT_MINOR: u8 = 3;
/// Bytes of the header; the entry table follows.
pub(super) const HEADER_BYTES: u32 = 0x14;
/// Offsets in the header.
pub(super) const MINOR_OFFSET: u32 = 0x04;
pub(super) const MAJOR_OFFSET: u32 = 0x05;
pub(super) const VERSION_OFFSET: u32 = 0x08;
pub(super) const TABLE_END_OFFSET: u32 = 0x10;
/// Words of a section entry, the header word included, before its name.
pub(super) const SECTION_WORDS: u32 = 6;
/// Address ranges are multiples of this.
pub(super) const PAGE: u32 = 4096;
/// What build information starts with.
pub(super) const BUILD_INFO_PREFIX: &[u8] = b"git_sha: ";
/// Hex digits of the hash in build information.
pub(super) const BUILD_HASH_DIGITS: usize = 40;

values! {
    /// Type of an entry.
    EntryKind {
        0 Section          "memory section: what a loader loads";
        1 Configuration    "configuration item: a word that the host may set";
        2 UnitTest         "unit test; none in released images";
        3 TraceBuffer      "trace buffer that the host may provide";
        4 Timeline         "timeline metadata: the firmware's states and messages by name";
        5 Structures       "not named by any driver read (?)";
        6 BuildInfo        "build information: git hash";
        7 CallList         "function call list, for switching logging (V)";
        8 PageFaultCounter "address of a page fault counter (V)";
        9 CoreDump         "address of the saved-register block (V)";
    }
    /// How a section is cached.
    CacheMode {
        0 None           "not cached";
        1 Cached         "cached";
        2 Coherent       "uncached, coherent";
        3 CachedCoherent "cached, coherent";
    }
}

fields! {
    /// First word of an entry.
    entry_header {
        7:0  KIND:     EntryKind = "type";
        15:8 SIZE:     u32       = "bytes of the entry, this word included; a multiple of 4";
        30   UPDATE:   bool      = "the item may be changed while the firmware runs";
        31   OPTIONAL: bool      = "a loader that does not know the type skips it";
    }
    /// Flags of a section.
    section_flags {
        0   READ:      bool      = "the firmware may read it";
        1   WRITE:     bool      = "the firmware may write it";
        2   EXECUTE:   bool      = "the firmware may execute it";
        4:3 CACHE:     CacheMode = "how it is cached";
        5   PROTECTED: bool      = "for protected mode: must lie in protected memory";
        30  SHARED:    bool      = "shared with the host";
        31  ZERO:      bool      = "zero what the initial data does not cover";
    }
}

/// The flags that a section entry may have.
const KNOWN_FLAGS: u32 = {
    let mut mask = 0;
    let mut i = 0;
    while i < section_flags::FIELDS.len() {
        mask |= section_flags::FIELDS[i].mask() as u32;
        i += 1;
    }
    mask
};

/// Flags of a section, none of them unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionFlags(u32);

/// One yes-or-no flag of a section.
pub type Flag = crate::table::Field<bool>;

impl SectionFlags {
    /// The flags in `word`; `None` if a bit is set that has no meaning.
    pub const fn from_word(word: u32) -> Option<SectionFlags> {
        if word & !KNOWN_FLAGS == 0 {
            Some(SectionFlags(word))
        } else {
            None
        }
    }

    /// The word with these flags.
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Whether a flag of [`section_flags`] is set.
    pub fn has(self, flag: Flag) -> bool {
        flag.get(self.0)
    }

    /// How the section is cached.
    pub fn cache(self) -> CacheMode {
        // Two bits, four modes: every number has one.
        section_flags::CACHE.get(self.0).unwrap_or(CacheMode::None)
    }
}

impl fmt::Display for SectionFlags {
    /// `R-X cached`, `RW- cached shared zero`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = |flag, letter| if self.has(flag) { letter } else { '-' };
        let read = mark(section_flags::READ, 'R');
        let write = mark(section_flags::WRITE, 'W');
        let execute = mark(section_flags::EXECUTE, 'X');
        let cache = match self.cache() {
            CacheMode::None => "uncached",
            CacheMode::Cached => "cached",
            CacheMode::Coherent => "coherent",
            CacheMode::CachedCoherent => "cached coherent",
        };
        write!(f, "{read}{write}{execute} {cache}")?;
        for (flag, name) in [
            (section_flags::PROTECTED, " protected"),
            (section_flags::SHARED, " shared"),
            (section_flags::ZERO, " zero"),
        ] {
            if self.has(flag) {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}
