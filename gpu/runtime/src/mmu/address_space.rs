//! Address spaces: which tables the hardware walks, and changes to them while it does.
//!
//! A space has a number only while the hardware uses it; 0 is the firmware's. A change to a live space is lock, edit, flush,
//! unlock, whatever the architecture.
//! Facts: hardware/gpu-mmu.md sections 2 to 6.

use super::fault::MmuFault;
use super::tables::{Emptied, MapError, PageTables};
use crate::access::Access;
use crate::gpu::caches;
use crate::memory::Memory;
use crate::platform::{PhysicalAddress, Platform};
use crate::wait::{Condition, Pace, TimedOut, ms, us, wait_until};
use core::ops::Range;
use eitri_csf::Arch;
use eitri_csf::command::{AsCommand, CacheFlush};
use eitri_csf::page_table::{
    Attributes, MEMATTR, MEMATTR_COHERENT, lock_region, transcfg_4k, transcfg_unmapped,
};
use eitri_csf::registers::address_space::{
    AS_COMMAND, AS_FAULTADDRESS, AS_FAULTSTATUS, AS_LOCKADDR, AS_MEMATTR, AS_STATUS, AS_TRANSCFG,
    AS_TRANSTAB, as_command, as_status,
};
use eitri_csf::registers::control::Coherency;
use eitri_csf::registers::interrupts::MMU_IRQ;
use thiserror::Error;

/// A command of an address space that does not end: the GPU must be reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "address space {space} does not finish {command}: {timed_out}\n  help: the GPU must be reset"
)]
pub struct AsCommandStuck {
    /// The address space.
    pub space: u32,
    /// The command that was given or was to be given.
    pub command: AsCommand,
    /// What was waited for.
    pub timed_out: TimedOut,
}

/// Why an address space can't be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MmuError {
    /// The tables can't be changed so.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The hardware does not finish a command.
    #[error(transparent)]
    Stuck(#[from] AsCommandStuck),
    /// The caches are not flushed in time.
    #[error(
        "caches are not flushed after a change of page tables: {0}\n  help: the GPU must be reset"
    )]
    Flush(TimedOut),
    /// The GPU has no such address width.
    #[error("an address space of {0} bits can't be set up")]
    Width(u32),
}

impl MmuError {
    /// Whether the hardware does not obey, so that only a reset helps.
    pub const fn costs_the_device(&self) -> bool {
        matches!(self, MmuError::Stuck(_) | MmuError::Flush(_))
    }
}

/// A virtual address space with its tables, enabled in the hardware or not.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    /// Its number in the hardware, while that uses it.
    number: Option<u32>,
    tables: PageTables,
    /// Tables that were taken out, until the hardware is known to have forgotten them.
    emptied: Emptied,
    coherency: Coherency,
}

impl AddressSpace {
    /// An empty space that the hardware does not use; `coherency` is what the L2 was told.
    pub(crate) fn new<P: Platform>(
        platform: &mut P,
        memory: &mut Memory,
        va_bits: u32,
        coherency: Coherency,
    ) -> Result<AddressSpace, MmuError> {
        let tables = PageTables::new(platform, memory, va_bits)?;
        Ok(AddressSpace {
            number: None,
            tables,
            emptied: Emptied::new(),
            coherency,
        })
    }

    /// Where an address is mapped to, and how.
    #[cfg(test)]
    pub(crate) fn translate<P: Platform>(
        &self,
        platform: &mut P,
        address: u64,
    ) -> Option<(PhysicalAddress, Attributes)> {
        self.tables.translate(platform, address)
    }

    /// Whether a page holds one of the tables.
    pub(crate) fn has_table<P: Platform>(&self, platform: &mut P, page: PhysicalAddress) -> bool {
        self.tables.has_table(platform, page)
    }

    /// Its number in the hardware, while that uses it.
    pub(crate) const fn number(&self) -> Option<u32> {
        self.number
    }

    /// Lets the hardware use the tables, as the space of a number that nothing else has.
    pub(crate) fn enable<P: Platform>(
        &mut self,
        platform: &mut P,
        number: u32,
    ) -> Result<(), MmuError> {
        let coherent = self.coherency == Coherency::AceLite;
        let bits = self.tables.va_bits();
        let transcfg = transcfg_4k(bits, coherent).ok_or(MmuError::Width(bits))?;
        let memattr = if coherent { MEMATTR_COHERENT } else { MEMATTR };
        unmask_faults(platform, number);
        configure(platform, number, self.tables.root().0, memattr, transcfg)?;
        self.number = Some(number);
        Ok(())
    }

    /// Makes every access fault, and forgets what the hardware holds of the tables.
    pub(crate) fn disable<P: Platform>(&mut self, platform: &mut P) -> Result<(), MmuError> {
        // Whatever goes wrong from here on, the space is not to be relied on.
        let Some(number) = self.number.take() else {
            return Ok(());
        };
        let mask = platform.read(MMU_IRQ.mask);
        platform.write(MMU_IRQ.mask, mask & !fault_bit(number));
        caches::flush(platform, CacheFlush::ALL).map_err(MmuError::Flush)?;
        configure(platform, number, 0, 0, transcfg_unmapped())?;
        Ok(())
    }

    /// Says that a reset has disabled it.
    pub(crate) fn forget(&mut self) {
        self.number = None;
    }

    /// Where `bytes` bytes can be mapped inside `within`, with a page unmapped around them.
    pub(crate) fn find_free<P: Platform>(
        &self,
        platform: &mut P,
        within: Range<u64>,
        bytes: u64,
        alignment: u64,
    ) -> Option<u64> {
        self.tables.find_free(platform, within, bytes, alignment)
    }

    /// Gives the tables back. The hardware does not use them: the space is disabled, or the GPU was reset.
    pub(crate) fn release<P: Platform>(mut self, platform: &mut P, memory: &mut Memory) {
        self.emptied.release(platform, memory);
        self.tables.release(platform, memory);
    }

    /// Maps `range` to contiguous memory.
    pub(crate) fn map<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        physical: PhysicalAddress,
        attributes: Attributes,
    ) -> Result<(), MmuError> {
        let mapped = self.change(platform, memory, range.clone(), |it, platform, memory| {
            it.tables
                .map(platform, memory, range.clone(), physical, attributes)
        });
        if mapped.is_err_and(|error| error.costs_the_device()) {
            // The tables may hold the mapping already, and the caller is about to stop the GPU and take the memory back.
            self.tables
                .unmap(platform, memory, range, &mut self.emptied)?;
        }
        mapped
    }

    /// Unmaps `range`.
    pub(crate) fn unmap<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
    ) -> Result<(), MmuError> {
        self.change(platform, memory, range.clone(), |it, platform, memory| {
            it.tables.unmap(platform, memory, range, &mut it.emptied)
        })
    }

    /// Unmaps whatever leads to a part of memory, wherever it is.
    pub(crate) fn unmap_memory<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        part: Range<PhysicalAddress>,
    ) -> Result<(), MmuError> {
        let everything = 0..1_u64.checked_shl(self.tables.va_bits()).unwrap_or(u64::MAX);
        self.change(platform, memory, everything, |it, platform, _| {
            it.tables.unmap_memory(platform, part);
            Ok(())
        })
    }

    /// Reads the fault that this space reports, if it does, and clears its interrupt.
    pub(crate) fn take_fault<P: Platform>(&self, platform: &mut P, arch: Arch) -> Option<MmuFault> {
        let number = self.number?;
        if platform.read(MMU_IRQ.rawstat) & fault_bit(number) == 0 {
            return None;
        }
        let status = platform.read_word(AS_FAULTSTATUS.at(number));
        let address = platform.read(AS_FAULTADDRESS.at(number));
        platform.write(MMU_IRQ.clear, fault_bit(number));
        Some(MmuFault::decode(arch, number, status, address))
    }

    fn change<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        edit: impl FnOnce(&mut AddressSpace, &mut P, &mut Memory) -> Result<(), MapError>,
    ) -> Result<(), MmuError> {
        let Some(number) = self.number else {
            edit(self, platform, memory)?;
            self.emptied.release(platform, memory);
            return Ok(());
        };
        let bad = MapError::BadRange {
            start: range.start,
            end: range.end,
            bits: self.tables.va_bits(),
        };
        let region = lock_region(range.start, range.end).ok_or(bad)?;
        platform.write(AS_LOCKADDR.at(number), region);
        command(platform, number, AsCommand::Lock)?;
        let edited = edit(self, platform, memory);
        // Unlock in any case: a region left locked would stall the GPU for ever.
        let flushed = caches::flush(platform, CacheFlush::ALL);
        command(platform, number, AsCommand::Unlock)?;
        edited?;
        flushed.map_err(MmuError::Flush)?;
        self.emptied.release(platform, memory);
        Ok(())
    }
}

fn unmask_faults<P: Platform>(platform: &mut P, number: u32) {
    platform.write(MMU_IRQ.clear, fault_bit(number));
    let mask = platform.read(MMU_IRQ.mask);
    platform.write(MMU_IRQ.mask, mask | fault_bit(number));
}

fn fault_bit(number: u32) -> u64 {
    1_u64.checked_shl(number).unwrap_or(0)
}

fn configure<P: Platform>(
    platform: &mut P,
    number: u32,
    transtab: u64,
    memattr: u64,
    transcfg: u64,
) -> Result<(), AsCommandStuck> {
    idle(platform, number, AsCommand::Update)?;
    platform.write(AS_TRANSTAB.at(number), transtab);
    platform.write(AS_MEMATTR.at(number), memattr);
    platform.write(AS_TRANSCFG.at(number), transcfg);
    command(platform, number, AsCommand::Update)
}

fn command<P: Platform>(
    platform: &mut P,
    number: u32,
    command: AsCommand,
) -> Result<(), AsCommandStuck> {
    idle(platform, number, command)?;
    let word = as_command::COMMAND.word(command);
    // What was written to the tables so far is what the walker finds after the command.
    platform.publish();
    platform.write(AS_COMMAND.at(number), u64::from(word));
    idle(platform, number, command)
}

fn idle<P: Platform>(
    platform: &mut P,
    number: u32,
    command: AsCommand,
) -> Result<(), AsCommandStuck> {
    let pace = Pace::polling(us(10), ms(100));
    let status = AS_STATUS.at(number);
    let done = wait_until(
        platform,
        status,
        Condition::clear(as_status::ACTIVE.mask()),
        pace,
    );
    done.map(|_| ()).map_err(|timed_out| AsCommandStuck {
        space: number,
        command,
        timed_out,
    })
}
