//! Page-table entries: AArch64 stage 1, 4 KiB granule, as the GPU's MMU walks them.
//!
//! Guarantees: an entry is built from its parts, checked, and taken apart by the same constants; any 64-bit number
//! decodes without a panic.  Bits that the hardware ignores (58:55 everywhere, 11:2 and 58:52 of table entries) are
//! ignored here too.  Facts: hardware/gpu-mmu.md sections 3, 4, 5 and 7.

use crate::registers::address_space::{TranslationMode, WalkMemory, WalkShareability, transcfg};
use core::fmt;

/// Bytes of a page and of a table.
pub const PAGE_BYTES: u64 = 4096;
/// Entries of a table.
pub const ENTRIES: usize = 512;
/// Bits of an entry that hold an address.
const ADDRESS: u64 = 0x0000_FFFF_FFFF_F000;

/// A level of the walk. With 48-bit addresses it starts at level 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Entries of 512 GiB: tables only.
    L0,
    /// Entries of 1 GiB.
    L1,
    /// Entries of 2 MiB.
    L2,
    /// Entries of 4 KiB: pages only.
    L3,
}

impl Level {
    /// All levels, from the root of a 48-bit walk.
    pub const ALL: [Level; 4] = [Level::L0, Level::L1, Level::L2, Level::L3];

    /// The level's number, 0 to 3.
    pub const fn number(self) -> u32 {
        self as u32
    }

    /// log2 of the bytes that one entry covers.
    pub const fn shift(self) -> u32 {
        39 - 9 * self.number()
    }

    /// Bytes that one entry covers.
    pub const fn bytes(self) -> u64 {
        1 << self.shift()
    }

    /// Which entry of a table at this level `address` uses, 0 to 511.
    pub const fn index(self, address: u64) -> usize {
        ((address >> self.shift()) & 511) as usize
    }

    /// The level below; `None` at the last.
    pub const fn next(self) -> Option<Level> {
        match self {
            Level::L0 => Some(Level::L1),
            Level::L1 => Some(Level::L2),
            Level::L2 => Some(Level::L3),
            Level::L3 => None,
        }
    }

    /// Where a walk begins for addresses of `bits` bits, 25 to 48.
    pub const fn start(bits: u32) -> Option<Level> {
        match bits {
            40..=48 => Some(Level::L0),
            31..=39 => Some(Level::L1),
            25..=30 => Some(Level::L2),
            _ => None,
        }
    }
}

/// Which byte of `AS_MEMATTR` describes the memory, 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeIndex(u8);

impl AttributeIndex {
    /// Uncached.
    pub const UNCACHED: AttributeIndex = AttributeIndex(0);
    /// Cached, write-back, read and write allocate.
    pub const CACHED: AttributeIndex = AttributeIndex(1);

    /// The index with this number.
    pub const fn new(number: u8) -> Option<AttributeIndex> {
        if number < 8 {
            Some(AttributeIndex(number))
        } else {
            None
        }
    }

    /// Its number, 0 to 7.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// Who shares the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shareability {
    /// Nobody.
    None,
    /// Not a valid number (1).
    Reserved,
    /// The system.
    Outer,
    /// The GPU, or the CPU's inner domain: the attribute byte's coherency says.
    Inner,
}

impl Shareability {
    const fn from_bits(bits: u64) -> Shareability {
        match bits & 3 {
            0 => Shareability::None,
            1 => Shareability::Reserved,
            2 => Shareability::Outer,
            _ => Shareability::Inner,
        }
    }
}

/// What a mapping allows and how it is cached: everything in a block or page entry but its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Which byte of `AS_MEMATTR`.
    pub memory: AttributeIndex,
    /// Who shares it.
    pub shareability: Shareability,
    /// Whether the GPU may read at all (AP bit 1). Drivers always set it.
    pub readable: bool,
    /// Whether the GPU may write.
    pub writable: bool,
    /// Whether shaders or the firmware may be fetched from it (bit 54 clear).
    pub executable: bool,
    /// Privileged execute-never (bit 53). Drivers set it together with bit 54, to no effect of its own.
    pub privileged_never: bool,
    /// Access flag; clear makes any access fault.
    pub accessed: bool,
    /// Not global: no effect on the GPU.
    pub not_global: bool,
}

impl Attributes {
    const fn plain(memory: AttributeIndex, shareability: Shareability) -> Attributes {
        Attributes {
            memory,
            shareability,
            readable: true,
            writable: true,
            executable: false,
            privileged_never: true,
            accessed: true,
            not_global: true,
        }
    }

    /// Cached data: read and write, never executable.
    pub const CACHED: Attributes = Attributes::plain(AttributeIndex::CACHED, Shareability::Inner);
    /// Uncached data: read and write, never executable.
    pub const UNCACHED: Attributes =
        Attributes::plain(AttributeIndex::UNCACHED, Shareability::Outer);
    /// Cached code: read-only and executable.
    pub const CODE: Attributes = Attributes::CACHED.read_only().execute();

    /// The same, read-only.
    pub const fn read_only(mut self) -> Attributes {
        self.writable = false;
        self
    }

    /// The same, executable.
    pub const fn execute(mut self) -> Attributes {
        self.executable = true;
        self.privileged_never = false;
        self
    }

    const fn bits(self) -> u64 {
        let shareability = match self.shareability {
            Shareability::None => 0,
            Shareability::Reserved => 1,
            Shareability::Outer => 2,
            Shareability::Inner => 3,
        };
        (self.memory.0 as u64) << 2
            | (self.readable as u64) << 6
            | (!self.writable as u64) << 7
            | shareability << 8
            | (self.accessed as u64) << 10
            | (self.not_global as u64) << 11
            | (self.privileged_never as u64) << 53
            | (!self.executable as u64) << 54
    }

    const fn from_bits(bits: u64) -> Attributes {
        Attributes {
            memory: AttributeIndex((bits >> 2 & 7) as u8),
            shareability: Shareability::from_bits(bits >> 8),
            readable: bits >> 6 & 1 == 1,
            writable: bits >> 7 & 1 == 0,
            executable: bits >> 54 & 1 == 0,
            privileged_never: bits >> 53 & 1 == 1,
            accessed: bits >> 10 & 1 == 1,
            not_global: bits >> 11 & 1 == 1,
        }
    }
}

/// What an entry is at its level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Nothing mapped: bit 0 is clear.
    Invalid,
    /// The next table, at this physical address.
    Table {
        /// Physical address, page aligned.
        address: u64,
    },
    /// Memory: a page at level 3, a block at levels 1 and 2.
    Leaf {
        /// Physical address, aligned to what an entry of the level covers.
        address: u64,
        /// Permissions and caching.
        attributes: Attributes,
    },
    /// A type that the level does not have, or a block that is not aligned: a translation fault.
    Malformed,
}

/// What a table forbids below it ([`Entry::forbids`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// Any access.
    pub access: bool,
    /// Writing.
    pub writing: bool,
    /// Execution.
    pub execution: bool,
}

/// Why an entry cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryError {
    /// The level has no leaves (level 0) or no tables (level 3).
    NotAtLevel(Level),
    /// The address is not a multiple of the alignment, or has more than 48 bits.
    Misaligned {
        /// The address.
        address: u64,
        /// Bytes it must be a multiple of.
        alignment: u64,
    },
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryError::NotAtLevel(level) => {
                write!(f, "level {} has no entry of this type", level.number())
            }
            EntryError::Misaligned { address, alignment } => {
                write!(
                    f,
                    "address {address:#x} is not a 48-bit multiple of {alignment:#x}"
                )
            }
        }
    }
}

impl core::error::Error for EntryError {}

/// An entry of a page table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub u64);

impl Entry {
    /// Nothing mapped.
    pub const INVALID: Entry = Entry(0);

    /// An entry at `level` that points to the next table at `address`.
    ///
    /// # Errors
    /// At level 3; if the address is not page aligned or has more than 48 bits.
    pub const fn table(level: Level, address: u64) -> Result<Entry, EntryError> {
        if level as u8 == Level::L3 as u8 {
            return Err(EntryError::NotAtLevel(level));
        }
        if address & !ADDRESS != 0 {
            return Err(EntryError::Misaligned {
                address,
                alignment: PAGE_BYTES,
            });
        }
        Ok(Entry(address | 3))
    }

    /// An entry at `level` that maps `address`: a page at level 3, a block at levels 1 and 2.
    ///
    /// # Errors
    /// At level 0; if the address is not aligned to what the entry covers or has more than 48 bits.
    pub const fn leaf(
        level: Level,
        address: u64,
        attributes: Attributes,
    ) -> Result<Entry, EntryError> {
        let kind = match level {
            Level::L0 => return Err(EntryError::NotAtLevel(level)),
            Level::L1 | Level::L2 => 1,
            Level::L3 => 3,
        };
        let alignment = level.bytes();
        if address & !ADDRESS != 0 || address & (alignment - 1) != 0 {
            return Err(EntryError::Misaligned { address, alignment });
        }
        Ok(Entry(address | attributes.bits() | kind))
    }

    /// What an entry that points to a table takes from everything below it.
    ///
    /// It counts unless `TRANSCFG` says to ignore it (`IGNORE_HIERARCHICAL`); no driver known sets it.
    pub const fn forbids(self) -> Forbidden {
        Forbidden {
            access: self.0 >> 61 & 1 == 1,
            writing: self.0 >> 62 & 1 == 1,
            execution: self.0 >> 60 & 1 == 1,
        }
    }

    /// What a walker makes of the entry at `level`.
    pub const fn decode(self, level: Level) -> Decoded {
        let address = self.0 & ADDRESS;
        match (self.0 & 3, level) {
            (0 | 2, _) => Decoded::Invalid,
            (3, Level::L0 | Level::L1 | Level::L2) => Decoded::Table { address },
            (3, Level::L3) | (1, Level::L1 | Level::L2) if address & (level.bytes() - 1) == 0 => {
                Decoded::Leaf {
                    address,
                    attributes: Attributes::from_bits(self.0),
                }
            }
            _ => Decoded::Malformed,
        }
    }
}

/// `AS_TRANSCFG` for 4 KiB tables with addresses of `va_bits` bits (25 to 48); `None` for other widths.
pub fn transcfg_4k(va_bits: u32, coherent: bool) -> Option<u64> {
    Level::start(va_bits)?;
    let word = transcfg::MODE.set(0, TranslationMode::Aarch64K4);
    let word = transcfg::INPUT_SIZE.set(word, 55 - va_bits);
    let word = transcfg::WALK_MEMORY.set(word, WalkMemory::WriteBack);
    let word = transcfg::WALK_READ_ALLOCATE.set(word, true);
    let shared = if coherent {
        WalkShareability::Outer
    } else {
        WalkShareability::None
    };
    Some(transcfg::WALK_SHAREABILITY.set(word, shared))
}

/// `AS_TRANSCFG` of an address space in which every access faults.
pub fn transcfg_unmapped() -> u64 {
    transcfg::MODE.set(0, TranslationMode::Unmapped)
}

/// `AS_MEMATTR` on a system without coherency: index 0 uncached, 1 cached, 2 uncached, 3 cached without allocation.
pub const MEMATTR: u64 = 0x4C4C_4C4C_8C4C_8F4C;
/// The same on a coherent system.
pub const MEMATTR_COHERENT: u64 = 0x4C4C_4C4C_9C4C_9F4C;

/// log2 of the smallest region that can be locked on all architectures: 32 KiB.
const SMALLEST_LOCK: u32 = 15;

/// `AS_LOCKADDR` for the smallest lockable region that holds `start..end`; `None` if that is empty.
///
/// A region is a power of two of at least 32 KiB, aligned to its size.
pub const fn lock_region(start: u64, end: u64) -> Option<u64> {
    if end <= start {
        return None;
    }
    let differing = u64::BITS - (start ^ (end - 1)).leading_zeros();
    let bits = if differing < SMALLEST_LOCK {
        SMALLEST_LOCK
    } else {
        differing
    };
    let base = if bits >= u64::BITS {
        0
    } else {
        start >> bits << bits
    };
    Some(base | (bits - 1) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_page(attributes: Attributes, expected: u64) {
        let page = 0x12_3456_7000;
        let entry = Entry::leaf(Level::L3, page, attributes).expect("aligned");
        assert_eq!(entry.0, page | expected, "{attributes:?}: {:#x}", entry.0);
        assert_eq!(
            entry.decode(Level::L3),
            Decoded::Leaf {
                address: page,
                attributes
            }
        );
        let block = 0x12_3440_0000;
        let entry = Entry::leaf(Level::L2, block, attributes).expect("aligned");
        assert_eq!(entry.0, block | (expected & !2));
        assert_eq!(
            entry.decode(Level::L2),
            Decoded::Leaf {
                address: block,
                attributes
            }
        );
    }

    #[test]
    fn the_mappings_of_the_facts() {
        check_page(Attributes::CACHED, 0x0060_0000_0000_0F47);
        check_page(Attributes::CACHED.execute(), 0x0000_0000_0000_0F47);
        check_page(Attributes::CODE, 0x0000_0000_0000_0FC7);
        check_page(Attributes::CACHED.read_only(), 0x0060_0000_0000_0FC7);
        check_page(Attributes::UNCACHED, 0x0060_0000_0000_0E43);
    }

    #[test]
    fn types_hang_on_the_level() {
        for level in Level::ALL {
            assert_eq!(Entry(0).decode(level), Decoded::Invalid);
            assert_eq!(
                Entry(2).decode(level),
                Decoded::Invalid,
                "the vendor's invalid value"
            );
        }
        assert_eq!(Entry(1).decode(Level::L0), Decoded::Malformed);
        assert_eq!(Entry(1).decode(Level::L3), Decoded::Malformed);
        assert_eq!(
            Entry(0x1001).decode(Level::L2),
            Decoded::Malformed,
            "block not aligned"
        );
        let software = 1 << 55 | 1 << 10 | 0x5000 | 3;
        assert_eq!(
            Entry(software).decode(Level::L1),
            Decoded::Table { address: 0x5000 }
        );
    }

    #[test]
    fn impossible_entries_are_refused() {
        let data = Attributes::CACHED;
        assert_eq!(
            Entry::table(Level::L3, 0),
            Err(EntryError::NotAtLevel(Level::L3))
        );
        assert_eq!(
            Entry::leaf(Level::L0, 0, data),
            Err(EntryError::NotAtLevel(Level::L0))
        );
        let misaligned = EntryError::Misaligned {
            address: 0x1000,
            alignment: 0x20_0000,
        };
        assert_eq!(Entry::leaf(Level::L2, 0x1000, data), Err(misaligned));
        assert!(Entry::leaf(Level::L3, 1 << 48, data).is_err());
        assert!(Entry::table(Level::L0, 0x10).is_err());
    }

    #[test]
    fn register_values_of_the_facts() {
        assert_eq!(transcfg_4k(48, false), Some(0x4200_01C6));
        assert_eq!(transcfg_4k(48, true), Some(0x6200_01C6));
        assert_eq!(transcfg_4k(49, false), None);
        assert_eq!(transcfg_unmapped(), 1);
        assert_eq!(lock_region(0x10000, 0x11000), Some(0x1000E));
        assert_eq!(lock_region(0x4F000, 0x51000), Some(0x40010));
        assert_eq!(lock_region(0, 1 << 48), Some(0x2F));
        assert_eq!(lock_region(0, u64::MAX), Some(0x3F));
        assert_eq!(lock_region(7, 7), None);
    }

    #[test]
    fn an_address_is_taken_apart_by_level() {
        let address = 0x1_2345_6789 | 3 << 39;
        let indices = Level::ALL.map(|level| level.index(address));
        assert_eq!(indices, [3, 4, 0x11A, 0x56]);
        assert_eq!(Level::start(48), Some(Level::L0));
        assert_eq!(Level::start(39), Some(Level::L1));
    }
}
