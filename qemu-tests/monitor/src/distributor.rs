//! Distributor: the GIC's, as the image sees it.
//!
//! On QEMU's own machine it is QEMU's. The image of another board has no shared interrupts but the GPU's, which have no physical
//! line, and may have numbers that QEMU's has not; so there it is registers that keep what is written, and the list registers
//! follow it. It has as many interrupts as there can be.
//!
//! Facts: the registers are the architecture's (GICv3, 12.9); hardware/boards.md 5 (step 6). What version 2 has otherwise is
//! `arm-gic`'s layout: see `kernel/src/interrupts/v2.rs`.

use crate::{cpus, machine};
use alloc::boxed::Box;
use alloc::vec;
use arm_gic::gicv2::registers::Gicd as GicdV2;
use core::mem::offset_of;
use eitri_aarch64::{Access, Direction};
use eitri_boards::{Gic, Region, Spi};

const BYTES: usize = 0x1_0000;
/// Of one of version 2.
const BYTES_V2: usize = 0x1000;
/// GICD_TYPER: 32 times so many interrupts, less one.
const TYPER: usize = 0x4;
const LINES: u32 = 31;
/// The same of version 2, with one CPU: whoever is not secure sees one group.
const SECURE_TOO: u32 = 1 << 10;
/// GICD_CTLR, whose bit 31 says that a write is under way.
const CTLR: usize = 0x0;
const WRITE_PENDING: u32 = 1 << 31;
/// The same of version 2: interrupts are passed on.
const ENABLE: u32 = 1;
/// GICD_PIDR2: the architecture's version is in bits 4 to 7.
const PIDR2: usize = 0xFFE8;
const VERSION_3: u32 = 3 << 4;
/// Pairs of banks, of which the first sets bits and the second clears them: enabled, pending, active.
const PAIRS: [usize; 3] = [0x100, 0x200, 0x300];
const BANK: usize = 0x80;
/// GICD_IROUTER: a CPU's affinities, or whichever takes it.
const ROUTES: usize = 0x6000;
const ANY_CPU: u32 = 1 << 31;
/// GICD_ITARGETSR, of version 2: a byte for each interrupt, with a bit for each CPU. Those of private interrupts name the CPU that reads.
const TARGETS: usize = offset_of!(GicdV2, itargetsr);
/// First number of a shared interrupt.
const FIRST_SHARED: usize = 32;

/// The registers of a board that is not QEMU's.
pub(crate) struct Distributor(Box<[u8]>);

/// Where the image sees it.
pub(crate) fn region() -> Region {
    let bytes = if is_v2() { BYTES_V2 } else { BYTES };
    Region::new(machine::board().gic.distributor().address(), bytes)
}

fn is_v2() -> bool {
    matches!(machine::board().gic, Gic::V2 { .. })
}

impl Distributor {
    pub(crate) fn new() -> Distributor {
        Distributor(vec![0; BYTES].into_boxed_slice())
    }

    fn word(&self, offset: usize) -> u32 {
        let bytes = self.0.get(offset..offset + 4);
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_le_bytes)
    }

    fn set_word(&mut self, offset: usize, value: u32) {
        if let Some(place) = self.0.get_mut(offset..offset + 4) {
            place.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// The register of a pair that keeps the bits, and whether this one clears them.
    fn of_pair(offset: usize) -> Option<(usize, bool)> {
        let first = PAIRS
            .into_iter()
            .find(|first| (*first..first + 2 * BANK).contains(&offset))?;
        let inside = (offset - first) % BANK;
        Some((first + inside, offset - first >= BANK))
    }

    fn read_word(&self, offset: usize) -> u32 {
        match offset {
            CTLR => self.word(CTLR) & !WRITE_PENDING,
            TYPER if is_v2() => LINES | SECURE_TOO,
            TYPER => LINES,
            _ if is_v2() && (TARGETS..TARGETS + FIRST_SHARED).contains(&offset) => {
                u32::from_le_bytes([1 << cpus::own(); 4])
            }
            PIDR2 => VERSION_3,
            _ => match Distributor::of_pair(offset) {
                Some((kept, _)) => self.word(kept),
                None => self.word(offset),
            },
        }
    }

    /// Does what the image wanted to. Gives what a load loads.
    pub(crate) fn access(&mut self, access: Access, value: u64) -> u64 {
        let offset = access.address as usize - region().base;
        let bytes = access.width.bytes() as usize;
        let aligned = offset & !3;
        match (access.direction, bytes) {
            (Direction::Read, 8) => {
                u64::from(self.read_word(offset + 4)) << 32 | u64::from(self.read_word(offset))
            }
            (Direction::Read, _) => {
                let word = self.read_word(aligned) >> (8 * (offset - aligned));
                u64::from(word)
            }
            (Direction::Write, 4) if Distributor::of_pair(offset).is_some() => {
                if let Some((kept, clears)) = Distributor::of_pair(offset) {
                    let before = self.word(kept);
                    let bits = value as u32;
                    let after = if clears {
                        before & !bits
                    } else {
                        before | bits
                    };
                    self.set_word(kept, after);
                }
                0
            }
            (Direction::Write, _) => {
                if let Some(place) = self.0.get_mut(offset..offset + bytes) {
                    for (to, from) in place.iter_mut().zip(value.to_le_bytes()) {
                        *to = from;
                    }
                }
                0
            }
        }
    }

    /// Whether the image has enabled a shared interrupt, and wants it on this CPU.
    pub(crate) fn gives_to_this_cpu(&self, spi: Spi) -> bool {
        let number = FIRST_SHARED + spi.0 as usize;
        let [enabled, ..] = PAIRS;
        let word = self.register(enabled + 4 * (number / 32));
        word >> (number % 32) & 1 == 1 && self.is_for(number, cpus::own())
    }

    /// Whether an interrupt goes to a CPU.
    fn is_for(&self, number: usize, cpu: usize) -> bool {
        if !is_v2() {
            return self.target(number) == cpu;
        }
        let targets = self.register(TARGETS + number / 4 * 4) >> (8 * (number % 4));
        self.register(CTLR) & ENABLE != 0 && targets >> cpu & 1 == 1
    }

    /// The CPU that gets an interrupt; the first where any may.
    fn target(&self, number: usize) -> usize {
        let route = self.register(ROUTES + 8 * number);
        match route & ANY_CPU {
            0 => (route & 0xFF) as usize,
            _ => 0,
        }
    }

    fn register(&self, offset: usize) -> u32 {
        match machine::is_qemu(machine::board()) {
            // SAFETY: a register of QEMU's distributor, mapped as a device, whose reads have no effect.
            true => unsafe { ((region().base + offset) as *const u32).read_volatile() },
            false => self.word(offset),
        }
    }
}
