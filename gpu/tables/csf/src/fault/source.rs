//! Source ids: which unit made the access that failed, as fault status registers name it.
//!
//! Facts: hardware/gpu-mmu.md section 8.1. All of it is known from the vendor's driver only.

use super::fault_access::AccessKind;
use crate::arch::{Arch, ArchSet};
use core::fmt;

/// A unit that accesses memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// A shader core, by its bit in `SHADER_PRESENT`.
    ShaderCore(u8),
    /// A slice of the level-2 cache.
    L2Slice(u8),
    /// A tiler; there is one on parts known.
    Tiler(u8),
    /// The MMU.
    Mmu,
    /// The command-stream front end, the microcontroller included.
    FrontEnd,
    /// The memory system, unspecified.
    MemorySystem,
}

/// The source of an access: bits 31:16 of `AS_FAULTSTATUS` and `GPU_FAULTSTATUS`, with what is needed to read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSource {
    /// The generation, which decides the layout of the id.
    pub arch: Arch,
    /// The id.
    pub id: u16,
    /// The access: a requester's number means another requester for reads.
    pub access: AccessKind,
}

/// Requesters inside the front end.
pub mod front_end {
    /// Prefetch of stream instructions (reads).
    pub const PREFETCH: u8 = 0;
    /// Load/store unit: stream loads and stores, sync objects, heap.
    pub const LOAD_STORE: u8 = 12;
    /// Microcontroller.
    pub const MCU: u8 = 13;
}

/// Requesters inside a shader core's micro-TLB 0.
pub mod shader_core {
    /// Instruction cache 0 (reads).
    pub const INSTRUCTIONS: u8 = 0;
    /// Load/store cache.
    pub const LOAD_STORE: u8 = 8;
    /// The first texture unit (reads), the first writer of tiles (others).
    pub const TEXTURE_OR_TILE: u8 = 12;
}

/// Requesters inside the tiler's micro-TLB 0.
pub mod tiler {
    /// Primitive cache, which writes back too.
    pub const PRIMITIVE_CACHE: u8 = 1;
}

/// Accesses to which a requester's number applies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Read,
    Other,
    Both,
}
use Side::{Both, Other, Read};

/// Kinds of units that have requesters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    FrontEnd,
    Core,
    Tiler,
}
use Kind::{Core, FrontEnd, Tiler};

/// One requester: unit, micro-TLB (`None`: either), first and last number, accesses, generations, name.
type Row = (Kind, Option<u8>, u8, u8, Side, ArchSet, &'static str);

const ALL: ArchSet = ArchSet::range(Arch::V10, Arch::V13);
const TO_V11: ArchSet = ArchSet::range(Arch::V10, Arch::V11);
const FROM_V12: ArchSet = ArchSet::range(Arch::V12, Arch::V13);

/// Names in quotes are short forms for which no expansion is published.
#[rustfmt::skip]
const REQUESTERS: &[Row] = &[
//   unit      TLB      first last side   archs     name
    (FrontEnd, None,     0,    0,  Read,  ALL,      "instruction prefetch"),
    (FrontEnd, None,     4,    4,  Read,  ALL,      "iterator"),
    (FrontEnd, None,     8,    8,  Other, ALL,      "\"pcb\" write-back"),
    (FrontEnd, None,    12,   12,  Both,  ALL,      "load/store unit"),
    (FrontEnd, None,    13,   13,  Both,  ALL,      "microcontroller"),
    (Core,     Some(0),  0,    1,  Read,  ALL,      "instruction cache"),
    (Core,     Some(0),  2,    2,  Read,  ALL,      "\"adc\""),
    (Core,     Some(0),  3,    3,  Read,  FROM_V12, "ray tracing"),
    (Core,     Some(0),  4,    4,  Read,  ALL,      "\"scm\""),
    (Core,     Some(0),  5,    5,  Read,  TO_V11,   "\"vl\""),
    (Core,     Some(0),  6,    6,  Read,  ALL,      "\"plr\""),
    (Core,     Some(0),  7,    7,  Read,  ALL,      "\"fsdc\""),
    (Core,     Some(0),  8,    8,  Both,  ALL,      "load/store cache"),
    (Core,     Some(0),  9,    9,  Read,  ALL,      "\"cse\""),
    (Core,     Some(0), 10,   10,  Read,  ALL,      "tile buffer"),
    (Core,     Some(0), 11,   15,  Read,  ALL,      "texture unit"),
    (Core,     Some(0),  0,    0,  Other, ALL,      "\"pcb\""),
    (Core,     Some(0), 12,   15,  Other, ALL,      "tile buffer"),
    (Core,     Some(1),  0,   15,  Both,  ALL,      "load/store cache"),
    (Tiler,    Some(0),  0,    0,  Read,  ALL,      "\"pf\""),
    (Tiler,    Some(0),  1,    1,  Read,  ALL,      "primitive cache"),
    (Tiler,    Some(0),  2,    2,  Read,  ALL,      "\"tcu\""),
    (Tiler,    Some(0),  3,    3,  Read,  ALL,      "index fetch"),
    (Tiler,    Some(0),  1,    1,  Other, ALL,      "primitive cache write-back"),
    (Tiler,    Some(0),  2,    2,  Other, ALL,      "\"tcu\" context"),
    (Tiler,    Some(1),  0,   15,  Both,  ALL,      "polygon list writer"),
];

/// Core ids of units that are no shader core: bits 15:9 before v14.
const MEMORY_SYSTEM: u16 = 48;
const TILER: u16 = 51;
const MMU: u16 = 55;
const FRONT_END: u16 = 62;

impl Unit {
    /// The core id before v14.
    const fn core_id(self) -> u16 {
        match self {
            Unit::ShaderCore(core) => core as u16 & 31,
            Unit::L2Slice(slice) => 47 - 2 * (slice as u16 & 7),
            Unit::MemorySystem => MEMORY_SYSTEM,
            Unit::Tiler(_) => TILER,
            Unit::Mmu => MMU,
            Unit::FrontEnd => FRONT_END,
        }
    }

    const fn of_core_id(id: u16) -> Option<Unit> {
        Some(match id {
            0..=31 => Unit::ShaderCore(id as u8),
            33..=47 if id % 2 == 1 => Unit::L2Slice((47 - id as u8) / 2),
            MEMORY_SYSTEM => Unit::MemorySystem,
            TILER => Unit::Tiler(0),
            MMU => Unit::Mmu,
            FRONT_END => Unit::FrontEnd,
            _ => return None,
        })
    }

    /// Type and number from v14 on: bits 15:12 and 11:6.
    const fn kind_and_number(self) -> (u16, u16) {
        match self {
            Unit::ShaderCore(number) => (0, number as u16),
            Unit::L2Slice(number) => (1, number as u16),
            Unit::Tiler(number) => (2, number as u16),
            Unit::Mmu => (3, 0),
            Unit::FrontEnd => (4, 0),
            Unit::MemorySystem => (5, 0),
        }
    }
}

impl FaultSource {
    /// The source with this unit, micro-TLB (0 or 1; not part of the id from v14 on) and requester.
    pub const fn new(
        arch: Arch,
        unit: Unit,
        micro_tlb: u8,
        requester: u8,
        access: AccessKind,
    ) -> FaultSource {
        let id = if arch as u8 >= Arch::V14 as u8 {
            let (kind, number) = unit.kind_and_number();
            kind << 12 | (number & 63) << 6 | (requester as u16 & 63)
        } else {
            unit.core_id() << 9 | (micro_tlb as u16 & 1) << 8 | (requester as u16 & 15) << 4
        };
        FaultSource { arch, id, access }
    }

    const fn is_v14(self) -> bool {
        self.arch as u8 >= Arch::V14 as u8
    }

    /// The unit; `None` if no unit has this id.
    pub const fn unit(self) -> Option<Unit> {
        if !self.is_v14() {
            return Unit::of_core_id(self.id >> 9);
        }
        let number = (self.id >> 6 & 63) as u8;
        Some(match self.id >> 12 {
            0 => Unit::ShaderCore(number),
            1 => Unit::L2Slice(number),
            2 => Unit::Tiler(number),
            3 => Unit::Mmu,
            4 => Unit::FrontEnd,
            5 => Unit::MemorySystem,
            _ => return None,
        })
    }

    /// The requester's number inside the unit.
    pub const fn requester(self) -> u8 {
        if self.is_v14() {
            self.id as u8 & 63
        } else {
            (self.id >> 4) as u8 & 15
        }
    }

    /// The requester's name, where one is known.
    pub fn requester_name(self) -> Option<&'static str> {
        let kind = match self.unit()? {
            Unit::FrontEnd => FrontEnd,
            Unit::ShaderCore(_) => Core,
            Unit::Tiler(_) => Tiler,
            Unit::L2Slice(_) | Unit::Mmu | Unit::MemorySystem => return None,
        };
        let mut number = self.requester();
        let mut arch = self.arch;
        if self.is_v14() {
            // Only the front end's requesters are known; 16 is added for spaces other than 0.
            if kind != FrontEnd {
                return None;
            }
            number &= 15;
            arch = Arch::V13;
        }
        let micro_tlb = (self.id >> 8 & 1) as u8;
        let reads = self.access == AccessKind::Read;
        let fits = |&&(unit, tlb, first, last, side, archs, _): &&Row| {
            unit == kind
                && tlb.is_none_or(|tlb| tlb == micro_tlb)
                && (first..=last).contains(&number)
                && (side == Both || (side == Read) == reads)
                && archs.contains(arch)
        };
        REQUESTERS.iter().find(fits).map(|row| row.6)
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unit::ShaderCore(core) => write!(f, "shader core {core}"),
            Unit::L2Slice(slice) => write!(f, "L2 slice {slice}"),
            Unit::Tiler(_) => f.write_str("tiler"),
            Unit::Mmu => f.write_str("MMU"),
            Unit::FrontEnd => f.write_str("command-stream front end"),
            Unit::MemorySystem => f.write_str("memory system"),
        }
    }
}

impl fmt::Display for FaultSource {
    /// `shader core 2, load/store cache`; the bare number of a unit that is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(unit) = self.unit() else {
            return write!(f, "unit {:#06x}", self.id);
        };
        write!(f, "{unit}")?;
        match (unit, self.requester_name()) {
            (_, Some(name)) => write!(f, ", {name}"),
            (Unit::L2Slice(_) | Unit::Mmu | Unit::MemorySystem, None) => Ok(()),
            (_, None) => write!(f, ", requester {}", self.requester()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccessKind::{Execute, Read, Write};
    use std::string::ToString;

    #[track_caller]
    fn check(arch: Arch, id: u16, access: AccessKind, text: &str) {
        assert_eq!(FaultSource { arch, id, access }.to_string(), text);
    }

    #[test]
    fn ids_read_as_the_facts_say() {
        // Seen on an Immortalis-G720.
        check(
            Arch::V12,
            0x7DC0,
            Read,
            "command-stream front end, load/store unit",
        );
        check(
            Arch::V10,
            0x7CD0,
            Write,
            "command-stream front end, microcontroller",
        );
        check(
            Arch::V10,
            0x7C00,
            Read,
            "command-stream front end, instruction prefetch",
        );
        check(Arch::V10, 0x6610, Read, "tiler, primitive cache");
        check(Arch::V10, 0x0580, Write, "shader core 2, load/store cache");
        check(Arch::V10, 0x24C0, Read, "shader core 18, texture unit");
        check(Arch::V10, 0x24C0, Write, "shader core 18, tile buffer");
        check(Arch::V10, 0x0050, Read, "shader core 0, \"vl\"");
        check(Arch::V12, 0x0050, Read, "shader core 0, requester 5");
        check(Arch::V10, 0x0000, Execute, "shader core 0, \"pcb\"");
        check(Arch::V10, 47 << 9, Read, "L2 slice 0");
        check(Arch::V10, 33 << 9, Read, "L2 slice 7");
        check(Arch::V10, 55 << 9, Read, "MMU");
        check(Arch::V10, 34 << 9, Read, "unit 0x4400");
        check(
            Arch::V14,
            0x401C,
            Read,
            "command-stream front end, load/store unit",
        );
        check(Arch::V14, 0x0088, Read, "shader core 2, requester 8");
        check(Arch::V14, 0xF000, Read, "unit 0xf000");
    }

    #[test]
    fn units_lead_back_from_their_ids() {
        let units = [
            Unit::ShaderCore(23),
            Unit::L2Slice(3),
            Unit::Tiler(0),
            Unit::Mmu,
            Unit::FrontEnd,
            Unit::MemorySystem,
        ];
        for arch in crate::arch::SUPPORTED.iter() {
            for unit in units {
                let source = FaultSource::new(arch, unit, 1, 12, Read);
                assert_eq!((source.unit(), source.requester()), (Some(unit), 12));
            }
            for id in 0..=u16::MAX {
                let _ = FaultSource {
                    arch,
                    id,
                    access: Read,
                }
                .to_string();
            }
        }
    }
}
