//! The table walk: from a virtual address to a page, or to the exception that says why not.
//!
//! Guarantees: at most one entry a level is read, so cyclic tables end like any others.
//! Facts: hardware/gpu-mmu.md 3, 7, 8 and, for the order of checks, 9 item 6.

use super::Source;
use super::space::{Setup, Translation};
use crate::memory::{BusError, PAGE, PhysicalMemory};
pub use eitri_csf::fault::fault_access::AccessKind;
use eitri_csf::page_table::{Decoded, Entry, Level};
use eitri_csf::registers::address_space::{MemoryType, TranslationMode, memattr_byte, transcfg};

/// An access that an address space refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFault {
    /// Address space.
    pub space: u8,
    /// Virtual address.
    pub address: u64,
    /// What was tried.
    pub kind: AccessKind,
    /// Exception code: translation, permission, access flag, address size, attribute.
    pub exception: u8,
    /// Which unit tried.
    pub source: Source,
}

/// Why a walk gave no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Exception(u8),
    Bus(BusError),
}

// Codes of the first level; the level is added. The named table of codes is `eitri_csf::fault`.
const TRANSLATION: u8 = 0xC0;
const MALFORMED: u8 = 0xC4;
const PERMISSION: u8 = 0xC8;
const ACCESS_FLAG: u8 = 0xD8;
const ADDRESS_SIZE_IN: u8 = 0xE0;
const ADDRESS_SIZE_OUT: u8 = 0xE4;
const MEMORY_ATTRIBUTE: u8 = 0xE8;

/// What the walker can do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walker {
    /// Bits of virtual addresses.
    pub(super) va_bits: u32,
    /// Bits of physical ones.
    pub(super) pa_bits: u32,
    /// Whether it knows blocks of 1 GiB.
    pub(super) gibibytes: bool,
}

pub(super) fn walk(
    setup: &Setup,
    memory: &mut dyn PhysicalMemory,
    address: u64,
    kind: AccessKind,
    walker: Walker,
) -> Result<Translation, Failure> {
    let Walker {
        va_bits, pa_bits, ..
    } = walker;
    match transcfg::MODE.get(setup.transcfg) {
        Some(TranslationMode::Aarch64K4) => {}
        Some(TranslationMode::Identity) => {
            return Ok(Translation {
                frame: address / PAGE * PAGE,
                readable: true,
                writable: true,
                executable: true,
                cached: false,
            });
        }
        _ => return Err(Failure::Exception(TRANSLATION)),
    }
    let field = transcfg::INPUT_SIZE.get(setup.transcfg);
    let bits = match field {
        7..=30 => va_bits.min(55 - field),
        _ => return Err(Failure::Exception(TRANSLATION)),
    };
    if address >> bits != 0 {
        return Err(Failure::Exception(ADDRESS_SIZE_IN));
    }
    let Some(mut level) = Level::start(bits) else {
        return Err(Failure::Exception(TRANSLATION));
    };
    let honour_tables = !transcfg::IGNORE_HIERARCHICAL.get(setup.transcfg);
    let mut table = setup.transtab & !0xf;
    let (mut readable, mut writable, mut executable) = (true, true, true);
    loop {
        let number = level.number() as u8;
        if table >> pa_bits != 0 {
            return Err(Failure::Exception(ADDRESS_SIZE_OUT + number));
        }
        let entry = memory
            .read64(table + 8 * level.index(address) as u64)
            .map_err(Failure::Bus)?;
        match (Entry(entry).decode(level), level.next()) {
            (Decoded::Table { address: next }, Some(below)) => {
                if honour_tables {
                    let forbidden = Entry(entry).forbids();
                    readable &= !forbidden.access;
                    writable &= !forbidden.writing;
                    executable &= !forbidden.execution;
                }
                (table, level) = (next, below);
            }
            (Decoded::Leaf { .. }, _) if level == Level::L1 && !walker.gibibytes => {
                return Err(Failure::Exception(TRANSLATION + number));
            }
            (
                Decoded::Leaf {
                    address: base,
                    attributes,
                },
                _,
            ) => {
                if !attributes.accessed && !transcfg::NO_ACCESS_FLAG_FAULT.get(setup.transcfg) {
                    return Err(Failure::Exception(ACCESS_FLAG + number));
                }
                let offset = address & (level.bytes() - 1);
                let attribute = setup.memattr >> (8 * attributes.memory.number()) & 0xff;
                let kept = memattr_byte::TYPE.get(attribute);
                let translation = Translation {
                    frame: (base | offset) / PAGE * PAGE,
                    readable: readable && attributes.readable,
                    writable: writable && attributes.readable && attributes.writable,
                    executable: executable && attributes.executable,
                    cached: kept == Some(MemoryType::WriteBack),
                };
                if !translation.allows(kind) {
                    return Err(Failure::Exception(PERMISSION + number));
                }
                if base >> pa_bits != 0 {
                    return Err(Failure::Exception(ADDRESS_SIZE_OUT + number));
                }
                if kept == Some(MemoryType::Fault) {
                    return Err(Failure::Exception(MEMORY_ATTRIBUTE + number));
                }
                return Ok(translation);
            }
            (Decoded::Invalid, _) => return Err(Failure::Exception(TRANSLATION + number)),
            (Decoded::Table { .. } | Decoded::Malformed, _) => {
                return Err(Failure::Exception(MALFORMED));
            }
        }
    }
}
