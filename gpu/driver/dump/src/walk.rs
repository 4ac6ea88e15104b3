//! Walks: address spaces as registers and page tables in physical memory describe them.
//!
//! Tables are hostile: they may point to themselves or to nothing.  Guarantees: a look-up reads at most four entries, a visit at
//! most as many tables as its budget says.  Facts: hardware/gpu-mmu.md sections 2, 3, 7 and 9.

use crate::source::Memory;
use core::fmt;
use eitri_csf::page_table::{Attributes, Decoded, Entry, Level, PAGE_BYTES};
use eitri_csf::registers::address_space::{
    AS_MEMATTR, AS_TRANSCFG, AS_TRANSTAB, TranslationMode, transcfg,
};
use eitri_csf::registers::identity::{MMU_FEATURES, mmu_features};
use eitri_csf::table::Register;

/// Address spaces that registers can describe.
pub const SPACES: u8 = 16;

/// Tables that a visit of an address space reads at most: of pages alone they map 32 GiB.
pub const MOST_TABLES: u32 = 1 << 14;

/// An address space, by its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its number, 0 to 15.
    pub number: u8,
    /// `AS_TRANSTAB`.
    pub transtab: u64,
    /// `AS_TRANSCFG`.
    pub transcfg: u64,
    /// `AS_MEMATTR`.
    pub memattr: u64,
    /// Bits of a virtual address that the MMU has (`MMU_FEATURES`); 48 where that is not known.
    pub va_bits: u32,
}

/// How an address space translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// Nothing is mapped.
    Unmapped,
    /// Virtual is physical.
    Identity,
    /// By tables of 4 KiB pages.
    Tables {
        /// Physical address of the root table.
        root: u64,
        /// The level of the root table.
        level: Level,
        /// Bits of a virtual address.
        bits: u32,
    },
    /// A mode or an input size that is not read here.
    Unknown,
}

/// A page or a block that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Its first virtual address.
    pub address: u64,
    /// Its first physical address.
    pub physical: u64,
    /// Bytes: 4 KiB, 2 MiB or 1 GiB.
    pub bytes: u64,
    /// What it allows; permissions with those of the tables above.
    pub attributes: Attributes,
}

impl Mapping {
    /// The physical address of `address`, which is in the mapping.
    pub const fn physical_of(&self, address: u64) -> u64 {
        self.physical | (address & (self.bytes - 1))
    }
}

/// Why an address has no mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// The address space translates nothing, or in a way that is not read here.
    NoTables(Translation),
    /// The address has more bits than the space.
    TooLarge {
        /// Bits of an address of the space.
        bits: u32,
    },
    /// An entry maps nothing.
    Entry {
        /// The level of its table.
        level: Level,
        /// The entry.
        entry: u64,
    },
    /// A table is not in memory.
    TableMissing {
        /// The level of the table.
        level: Level,
        /// Its physical address.
        physical: u64,
    },
    /// It is mapped, but what it is mapped to is not in memory.
    MemoryMissing {
        /// Physical address.
        physical: u64,
    },
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Miss::NoTables(Translation::Unmapped) => f.write_str("the address space maps nothing"),
            Miss::NoTables(_) => f.write_str("the address space has no tables that are known"),
            Miss::TooLarge { bits } => write!(f, "the address has more than {bits} bits"),
            Miss::Entry { level, entry } => {
                write!(f, "the entry of level {} is {entry:#x}", level.number())
            }
            Miss::TableMissing { level, physical } => write!(
                f,
                "the table of level {} is at {physical:#x}, where there is no memory",
                level.number()
            ),
            Miss::MemoryMissing { physical } => {
                write!(f, "it is mapped to {physical:#x}, where there is no memory")
            }
        }
    }
}

/// What a visit meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// A table, at this physical address.
    Table(u64),
    /// A page or block.
    Mapping(Mapping),
}

/// What tables take from the permissions of everything below.
#[derive(Clone, Copy)]
struct Allowed {
    read: bool,
    write: bool,
    execute: bool,
}

impl Allowed {
    const ALL: Allowed = Allowed {
        read: true,
        write: true,
        execute: true,
    };

    fn below(self, entry: Entry, space: &Space) -> Allowed {
        if transcfg::IGNORE_HIERARCHICAL.get(space.transcfg) {
            return self;
        }
        let forbidden = entry.forbids();
        Allowed {
            read: self.read && !forbidden.access,
            write: self.write && !forbidden.writing,
            execute: self.execute && !forbidden.execution,
        }
    }

    fn apply(self, mut attributes: Attributes) -> Attributes {
        attributes.readable &= self.read;
        attributes.writable &= self.write;
        attributes.executable &= self.execute;
        attributes
    }
}

impl Space {
    /// Address space `number`, as `register` reads.
    pub fn read(number: u8, register: &mut dyn FnMut(Register) -> u64) -> Space {
        let index = number.into();
        let va_bits = mmu_features::VA_BITS.get(register(MMU_FEATURES));
        Space {
            number,
            transtab: register(AS_TRANSTAB.at(index)),
            transcfg: register(AS_TRANSCFG.at(index)),
            memattr: register(AS_MEMATTR.at(index)),
            va_bits: if va_bits == 0 { 48 } else { va_bits },
        }
    }

    /// How it translates.
    pub fn translation(&self) -> Translation {
        // A space that was never set up reads as zero, and maps nothing.
        if self.transtab == 0 && self.transcfg == 0 {
            return Translation::Unmapped;
        }
        let field = transcfg::INPUT_SIZE.get(self.transcfg);
        let bits = 55u32.saturating_sub(field).min(self.va_bits);
        match transcfg::MODE.get(self.transcfg) {
            Some(TranslationMode::Unmapped) => Translation::Unmapped,
            Some(TranslationMode::Identity) => Translation::Identity,
            Some(TranslationMode::Aarch64K4) => match Level::start(bits) {
                Some(level) if field != 0 => Translation::Tables {
                    root: self.transtab & !0xf,
                    level,
                    bits,
                },
                _ => Translation::Unknown,
            },
            _ => Translation::Unknown,
        }
    }

    /// The mapping of `address`.
    ///
    /// # Errors
    /// Where the walk ends without one.
    pub fn look(&self, memory: &mut impl Memory, address: u64) -> Result<Mapping, Miss> {
        let (root, start, bits) = match self.translation() {
            Translation::Tables { root, level, bits } => (root, level, bits),
            Translation::Identity => {
                return Ok(Mapping {
                    address: address & !(PAGE_BYTES - 1),
                    physical: address & !(PAGE_BYTES - 1),
                    bytes: PAGE_BYTES,
                    attributes: Attributes::CACHED.execute(),
                });
            }
            other => return Err(Miss::NoTables(other)),
        };
        if address >> bits != 0 {
            return Err(Miss::TooLarge { bits });
        }
        let (mut table, mut level, mut allowed) = (root, start, Allowed::ALL);
        loop {
            let mut bytes = [0; 8];
            let at = table.saturating_add(8 * level.index(address) as u64);
            memory
                .read(at, &mut bytes)
                .map_err(|_| Miss::TableMissing {
                    level,
                    physical: table,
                })?;
            let entry = Entry(u64::from_le_bytes(bytes));
            match (entry.decode(level), level.next()) {
                (Decoded::Table { address: next }, Some(below)) => {
                    allowed = allowed.below(entry, self);
                    (table, level) = (next, below);
                }
                (
                    Decoded::Leaf {
                        address: physical,
                        attributes,
                    },
                    _,
                ) => {
                    return Ok(Mapping {
                        address: address & !(level.bytes() - 1),
                        physical,
                        bytes: level.bytes(),
                        attributes: allowed.apply(attributes),
                    });
                }
                _ => {
                    let entry = entry.0;
                    return Err(Miss::Entry { level, entry });
                }
            }
        }
    }

    /// Meets every table and every mapping, by rising address. `budget` is how many tables may still be read; gives the number
    /// of tables that were not, because it was used up.
    pub fn visit<M: Memory>(
        &self,
        memory: &mut M,
        budget: &mut u32,
        meet: &mut dyn FnMut(&mut M, Met),
    ) -> u64 {
        let Translation::Tables { root, level, .. } = self.translation() else {
            return 0;
        };
        let mut visit = Visit {
            space: self,
            memory,
            budget,
            meet,
            skipped: 0,
        };
        visit.table(root, level, 0, Allowed::ALL);
        visit.skipped
    }
}

/// Entries that are read at once.
const BATCH: usize = 8;

struct Visit<'v, M> {
    space: &'v Space,
    memory: &'v mut M,
    budget: &'v mut u32,
    meet: &'v mut dyn FnMut(&mut M, Met),
    skipped: u64,
}

impl<M: Memory> Visit<'_, M> {
    /// As deep as there are levels.
    fn table(&mut self, table: u64, level: Level, base: u64, allowed: Allowed) {
        if *self.budget == 0 {
            self.skipped += 1;
            return;
        }
        *self.budget -= 1;
        (self.meet)(self.memory, Met::Table(table & !(PAGE_BYTES - 1)));
        for first in (0..eitri_csf::page_table::ENTRIES).step_by(BATCH) {
            let mut bytes = [0; 8 * BATCH];
            let at = table.saturating_add(8 * first as u64);
            if self.memory.read(at, &mut bytes).is_err() {
                return;
            }
            for (index, bytes) in (first as u64..).zip(bytes.chunks_exact(8)) {
                let mut entry = [0; 8];
                entry.copy_from_slice(bytes);
                let address = base | index << level.shift();
                self.entry(Entry(u64::from_le_bytes(entry)), level, address, allowed);
            }
        }
    }

    fn entry(&mut self, entry: Entry, level: Level, address: u64, allowed: Allowed) {
        match (entry.decode(level), level.next()) {
            (Decoded::Table { address: next }, Some(below)) => {
                self.table(next, below, address, allowed.below(entry, self.space));
            }
            (
                Decoded::Leaf {
                    address: physical,
                    attributes,
                },
                _,
            ) => {
                let mapping = Mapping {
                    address,
                    physical,
                    bytes: level.bytes(),
                    attributes: allowed.apply(attributes),
                };
                (self.meet)(self.memory, Met::Mapping(mapping));
            }
            _ => {}
        }
    }
}

/// Copies the bytes from the virtual `address` of a space on into `bytes`.
///
/// # Errors
/// Why the first address that can't be read can't, with the address.
pub fn read_virtual(
    space: &Space,
    memory: &mut impl Memory,
    address: u64,
    bytes: &mut [u8],
) -> Result<(), (u64, Miss)> {
    let mut at = address;
    let mut rest = bytes;
    while !rest.is_empty() {
        let mapping = space.look(memory, at).map_err(|miss| (at, miss))?;
        let room = (PAGE_BYTES - at % PAGE_BYTES).min(rest.len() as u64) as usize;
        let (now, later) = rest.split_at_mut(room);
        let physical = mapping.physical_of(at);
        memory
            .read(physical, now)
            .map_err(|_| (at, Miss::MemoryMissing { physical }))?;
        at = at.wrapping_add(room as u64);
        rest = later;
    }
    Ok(())
}
