//! Found: where a driver has put its rings, their INSERT words and its sync objects, by what it tells the firmware.
//!
//! Facts: hardware/csf-firmware.md sections 6, 7 and 10 (control blocks, user pages), gpu-mmu.md 7 (tables), csf-scheduling.md 4.

use alloc::vec::Vec;
use core::ops::Range;
use eitri_cs::Arch;
use eitri_cs::instr::Instr;
use eitri_csf::interface::control::{
    GLB_GROUP_NUM, GLB_GROUP_STRIDE, GROUP_CONTROL_OFFSET, GROUP_INPUT_VA, GROUP_STREAM_NUM,
    GROUP_STREAM_STRIDE, SHARED_VA, STREAM_CONTROL_OFFSET, STREAM_INPUT_VA,
};
use eitri_csf::interface::group::{CSG_CONFIG, csg_config};
use eitri_csf::interface::stream::{CS_BASE, CS_SIZE, CS_USER_INPUT};
use eitri_csf::interface::user_pages::CS_INSERT;
use eitri_csf::page_table::{Decoded, Entry, Level};
use eitri_csf::table::Register;
use eitri_runtime::{PhysicalAddress, Platform};

/// Roots of the tables that the hardware walks, by address space.
pub(super) type Roots = [Option<u64>; 16];

/// A ring that the firmware was told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    /// Where its words are in memory.
    pub(super) words: Range<u64>,
    /// Where INSERT is.
    pub(super) insert: u64,
    /// The address space of its group.
    pub(super) space: usize,
    /// INSERT when this was noted, or stored since.
    pub(super) filled: u64,
}

/// Where the entry for a virtual address leads.
pub(super) fn translate<P: Platform>(it: &mut P, root: u64, address: u64) -> Option<u64> {
    let (mut table, mut level) = (root, Level::L0);
    loop {
        let at = PhysicalAddress(table + 8 * level.index(address) as u64);
        let entry = Entry(it.load64(at));
        match entry.decode(level) {
            Decoded::Table { address: below } => (table, level) = (below, level.next()?),
            Decoded::Leaf { address: page, .. } => {
                return Some(page | address & (level.bytes() - 1));
            }
            _ => return None,
        }
    }
}

/// Words of the firmware's address space.
struct Firmware<'p, P> {
    platform: &'p mut P,
    root: u64,
}

impl<P: Platform> Firmware<'_, P> {
    fn word(&mut self, block: u32, word: Register) -> Option<u32> {
        let address = u64::from(block) + u64::from(word.offset);
        let at = translate(self.platform, self.root, address)?;
        Some(self.platform.load32(PhysicalAddress(at)))
    }

    fn wide(&mut self, block: u32, word: Register) -> Option<u64> {
        let address = u64::from(block) + u64::from(word.offset);
        let at = translate(self.platform, self.root, address)?;
        let [low, high] = [at, at + 4].map(|at| self.platform.load32(PhysicalAddress(at)));
        Some(u64::from(low) | u64::from(high) << 32)
    }

    fn ring(&mut self, roots: &Roots, group: u32, stream: u32) -> Option<Ring> {
        let space = csg_config::JASID.get(self.word(group, CSG_CONFIG)?) as usize;
        let base = self.wide(stream, CS_BASE).filter(|base| *base != 0)?;
        let bytes = self.word(stream, CS_SIZE)?;
        let pages = self.wide(stream, CS_USER_INPUT).filter(|page| *page != 0)?;
        let insert = translate(
            self.platform,
            self.root,
            pages + u64::from(CS_INSERT.offset),
        )?;
        let root = roots.get(space).copied().flatten().filter(|_| space > 0)?;
        let start = translate(self.platform, root, base)?;
        Some(Ring {
            words: start..start + u64::from(bytes),
            insert,
            space,
            filled: self.platform.load64(PhysicalAddress(insert)),
        })
    }
}

/// The rings of all streams that the firmware has been told of, with what they hold left out if they are not mapped now. A ring lies in
/// contiguous memory, as the driver's do.
pub(super) fn rings<P: Platform>(platform: &mut P, roots: &Roots) -> Vec<Ring> {
    let mut rings = Vec::new();
    let Some(root) = roots[0] else {
        return rings;
    };
    let mut firmware = Firmware { platform, root };
    let groups = firmware.word(SHARED_VA, GLB_GROUP_NUM).unwrap_or(0) & 0x1F;
    let stride = firmware.word(SHARED_VA, GLB_GROUP_STRIDE).unwrap_or(0);
    for number in 0..groups {
        let control = SHARED_VA + GROUP_CONTROL_OFFSET + number * stride;
        let Some(input) = firmware.word(control, GROUP_INPUT_VA) else {
            continue;
        };
        let streams = firmware.word(control, GROUP_STREAM_NUM).unwrap_or(0) & 0x3F;
        let apart = firmware.word(control, GROUP_STREAM_STRIDE).unwrap_or(0);
        for stream in 0..streams {
            let stream = control + STREAM_CONTROL_OFFSET + stream * apart;
            let stream = firmware.word(stream, STREAM_INPUT_VA);
            rings.extend(stream.and_then(|stream| firmware.ring(roots, input, stream)));
        }
    }
    rings
}

/// A sync object that words of a ring change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sync {
    /// The timeline of a stream, which each job adds to.
    Timeline,
    /// A semaphore, which jobs set.
    Semaphore,
}

/// The sync objects that words of a ring change, as addresses of its space.
pub(super) fn sync_objects(words: &[u64]) -> Vec<(u64, Sync)> {
    let mut found = Vec::new();
    let mut loaded = Vec::new();
    for word in words {
        // All architectures have these with the same bits.
        let pair = match Instr::decode(*word, Arch::V10) {
            Ok(Instr::Move48(it)) => {
                loaded.retain(|(to, _)| *to != it.destination);
                loaded.push((it.destination, it.immediate));
                continue;
            }
            Ok(Instr::SyncAdd64(it)) => (it.address, Sync::Timeline),
            Ok(Instr::SyncSet64(it)) => (it.address, Sync::Semaphore),
            _ => continue,
        };
        let (pair, kind) = pair;
        let address = loaded.iter().find(|(to, _)| *to == pair);
        found.extend(address.map(|(_, address)| (*address, kind)));
    }
    found
}
