//! Address spaces: which tables the hardware walks, and changes to them while it does.
//!
//! A space has a number only while the hardware uses it; 0 is the firmware's. Entering and leaving the hardware is a state that
//! is looked at ([`AddressSpace::step`]); a change to a live space is lock, edit, flush, unlock, whatever the architecture, and
//! waits for each.
//! Facts: hardware/gpu-mmu.md sections 2 to 6.

use super::fault::MmuFault;
use super::tables::{Emptied, MapError, PageTables};
use crate::access::RegisterAccess;
use crate::gpu::caches::{self, Flush};
use crate::memory::Memory;
use crate::platform::{Instant, Lines, PhysicalAddress, Platform};
use crate::wait::{Condition, RegisterWait, TimedOut, finish, ms, us};
use core::ops::Range;
use core::time::Duration;
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
use eitri_csf::registers::interrupts::{MMU_IRQ, mmu_irq};
use thiserror::Error;

/// How long a command may take, and how often one looks.
const LIMIT: Duration = ms(100);
pub(crate) const LOOK: Duration = us(10);

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

/// Whether the hardware uses a space.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// It does not.
    Out,
    /// It is being told of it, as this number.
    Entering(u32, Update),
    /// It does, as this number.
    In(u32),
    /// Caches are being flushed before it forgets it.
    Flushing(u32, Flush),
    /// It is being told to forget it.
    Leaving(u32, Update),
}

/// A range that is to be mapped to contiguous memory.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) range: Range<u64>,
    pub(crate) physical: PhysicalAddress,
    pub(crate) attributes: Attributes,
}

/// A virtual address space with its tables, enabled in the hardware or not.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    place: Place,
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
            place: Place::Out,
            tables,
            emptied: Emptied::new(),
            coherency,
        })
    }

    /// Where an address is mapped to, and how.
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

    /// Its number, while the hardware uses it.
    pub(crate) const fn number(&self) -> Option<u32> {
        match self.place {
            Place::In(number) => Some(number),
            _ => None,
        }
    }

    /// The number that nobody else can have now: from the moment that it begins to enter until it has left.
    pub(crate) const fn holds(&self) -> Option<u32> {
        match self.place {
            Place::Out => None,
            Place::In(number)
            | Place::Entering(number, _)
            | Place::Flushing(number, _)
            | Place::Leaving(number, _) => Some(number),
        }
    }

    /// Whether it is on its way: [`AddressSpace::step`] goes on.
    pub(crate) const fn moves(&self) -> bool {
        !matches!(self.place, Place::Out | Place::In(_))
    }

    /// Whether it has a flush of the caches under way.
    pub(crate) const fn is_flushing(&self) -> bool {
        matches!(self.place, Place::Flushing(..))
    }

    /// Begins to let the hardware use the tables, as the space of a number that nothing else has.
    ///
    /// # Errors
    /// If the GPU has no addresses as wide.
    pub(crate) fn begin_enter<P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
        number: u32,
    ) -> Result<(), MmuError> {
        let coherent = self.coherency == Coherency::AceLite;
        let bits = self.tables.va_bits();
        let transcfg = transcfg_4k(bits, coherent).ok_or(MmuError::Width(bits))?;
        let memattr = if coherent { MEMATTR_COHERENT } else { MEMATTR };
        unmask_faults(platform, number);
        let words = [self.tables.root().0, memattr, transcfg];
        let update = Update::begin(platform, now, number, words);
        self.place = Place::Entering(number, update);
        Ok(())
    }

    /// Begins to make every access fault, and to let the hardware forget what it holds of the tables. No other flush may be
    /// under way.
    pub(crate) fn begin_leave<P: Platform>(&mut self, platform: &mut P, now: Instant) {
        if let Place::In(number) = self.place {
            let mask = platform.read(MMU_IRQ.mask);
            platform.write(MMU_IRQ.mask, mask & !fault_bit(number));
            let flush = Flush::begin(platform, now, CacheFlush::ALL);
            self.place = Place::Flushing(number, flush);
        }
    }

    /// Goes on with what was begun; whether it is done.
    ///
    /// # Errors
    /// If the hardware does not obey in time.
    pub(crate) fn step<P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, MmuError> {
        match &mut self.place {
            Place::Out | Place::In(_) => return Ok(true),
            Place::Flushing(number, flush) => {
                let number = *number;
                if flush.poll(platform, now).map_err(MmuError::Flush)? {
                    let words = [0, 0, transcfg_unmapped()];
                    let update = Update::begin(platform, now, number, words);
                    self.place = Place::Leaving(number, update);
                }
            }
            Place::Entering(number, update) => {
                let number = *number;
                if update.poll(platform, now, number)? {
                    self.place = Place::In(number);
                }
            }
            Place::Leaving(number, update) => {
                let number = *number;
                if update.poll(platform, now, number)? {
                    self.place = Place::Out;
                }
            }
        }
        Ok(!self.moves())
    }

    /// Makes every access fault, and forgets what the hardware holds of the tables.
    pub(crate) fn disable<P: Platform>(&mut self, platform: &mut P) -> Result<(), MmuError> {
        let now = platform.now();
        self.begin_leave(platform, now);
        finish(platform, Lines::GPU, LOOK, |it, now| self.step(it, now))
    }

    /// Says that a reset has disabled it.
    pub(crate) fn forget(&mut self) {
        self.place = Place::Out;
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

    /// Maps parts, all or none.
    pub(crate) fn map<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        parts: &[Part],
    ) -> Result<(), MmuError> {
        let all = around(parts.iter().map(|part| &part.range));
        let mapped = self.change(platform, memory, all, |it, platform, memory| {
            for (number, part) in parts.iter().enumerate() {
                let mapped = it.tables.map(
                    platform,
                    memory,
                    part.range.clone(),
                    part.physical,
                    part.attributes,
                );
                if mapped.is_err() {
                    it.unmap_all(platform, memory, parts.iter().take(number))?;
                    return mapped;
                }
            }
            Ok(())
        });
        if mapped.is_err_and(|error| error.costs_the_device()) {
            // The tables may hold the mapping already, and the caller is about to stop the GPU and take the memory back.
            self.unmap_all(platform, memory, parts)?;
        }
        mapped
    }

    /// Takes parts out of the tables.
    fn unmap_all<'p, P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        parts: impl IntoIterator<Item = &'p Part>,
    ) -> Result<(), MapError> {
        for part in parts {
            let range = part.range.clone();
            self.tables
                .unmap(platform, memory, range, &mut self.emptied)?;
        }
        Ok(())
    }

    /// Unmaps ranges.
    pub(crate) fn unmap<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        ranges: &[Range<u64>],
    ) -> Result<(), MmuError> {
        if ranges.is_empty() {
            return Ok(());
        }
        let all = around(ranges);
        self.change(platform, memory, all, |it, platform, memory| {
            for range in ranges {
                let tables = &it.tables;
                tables.unmap(platform, memory, range.clone(), &mut it.emptied)?;
            }
            Ok(())
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

    /// Reads the fault that this space reports, if it is among those that are `pending` ([`pending_faults`]), and clears its
    /// interrupt.
    pub(crate) fn take_fault<P: Platform>(
        &self,
        platform: &mut P,
        arch: Arch,
        pending: u64,
    ) -> Option<MmuFault> {
        let fault = self.fault(platform, arch, pending)?;
        platform.write(MMU_IRQ.clear, fault_bit(fault.space));
        Some(fault)
    }

    /// Reads the fault that this space reports, and leaves its interrupt.
    #[inline]
    pub(crate) fn fault<P: Platform>(
        &self,
        platform: &mut P,
        arch: Arch,
        pending: u64,
    ) -> Option<MmuFault> {
        let number = self.number()?;
        if pending & fault_bit(number) == 0 {
            return None;
        }
        let status = platform.read_word(AS_FAULTSTATUS.at(number));
        let address = platform.read(AS_FAULTADDRESS.at(number));
        Some(MmuFault::decode(arch, number, status, address))
    }

    fn change<P: Platform>(
        &mut self,
        platform: &mut P,
        memory: &mut Memory,
        range: Range<u64>,
        edit: impl FnOnce(&mut AddressSpace, &mut P, &mut Memory) -> Result<(), MapError>,
    ) -> Result<(), MmuError> {
        let Some(number) = self.number() else {
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

/// The range from the first address of some to the last.
fn around<'r>(ranges: impl IntoIterator<Item = &'r Range<u64>>) -> Range<u64> {
    let (mut start, mut end) = (u64::MAX, 0);
    for range in ranges {
        (start, end) = (range.start.min(start), range.end.max(end));
    }
    start..end
}

/// The spaces that report faults, a bit for each number.
pub(crate) fn pending_faults<P: Platform>(platform: &mut P) -> u64 {
    u64::from(mmu_irq::PAGE_FAULT.get(platform.read_word(MMU_IRQ.rawstat)))
}

fn unmask_faults<P: Platform>(platform: &mut P, number: u32) {
    platform.write(MMU_IRQ.clear, fault_bit(number));
    let mask = platform.read(MMU_IRQ.mask);
    platform.write(MMU_IRQ.mask, mask | fault_bit(number));
}

fn fault_bit(number: u32) -> u64 {
    1_u64.checked_shl(number).unwrap_or(0)
}

/// New words for an address space being taken over.
#[derive(Clone, Copy, Debug)]
struct Update {
    /// TRANSTAB, MEMATTR and TRANSCFG, until they are written.
    words: Option<[u64; 3]>,
    /// The condition that no command is in progress.
    idle: RegisterWait,
}

impl Update {
    fn begin<P: Platform>(platform: &P, now: Instant, number: u32, words: [u64; 3]) -> Update {
        Update {
            words: Some(words),
            idle: idle(platform, now, number),
        }
    }

    fn poll<P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
        space: u32,
    ) -> Result<bool, AsCommandStuck> {
        loop {
            let command = AsCommand::Update;
            let looked = self.idle.poll(platform, now);
            if !looked.map_err(|timed_out| AsCommandStuck {
                space,
                command,
                timed_out,
            })? {
                return Ok(false);
            }
            let Some([transtab, memattr, transcfg]) = self.words.take() else {
                return Ok(true);
            };
            platform.write(AS_TRANSTAB.at(space), transtab);
            platform.write(AS_MEMATTR.at(space), memattr);
            platform.write(AS_TRANSCFG.at(space), transcfg);
            give(platform, space, command);
            self.idle = idle(platform, now, space);
        }
    }
}

/// The condition that no command of a space is in progress.
fn idle<P: Platform>(platform: &P, now: Instant, number: u32) -> RegisterWait {
    let wanted = Condition::clear(as_status::ACTIVE.mask());
    RegisterWait::new(platform, now, &AS_STATUS, wanted, LIMIT).at(number)
}

fn give<P: Platform>(platform: &mut P, number: u32, command: AsCommand) {
    let word = as_command::COMMAND.word(command);
    // What was written to the tables so far is what the walker finds after the command.
    platform.publish();
    platform.write(AS_COMMAND.at(number), u64::from(word));
}

/// Gives a command and waits until it is done.
fn command<P: Platform>(
    platform: &mut P,
    number: u32,
    command: AsCommand,
) -> Result<(), AsCommandStuck> {
    let until_idle = |platform: &mut P| {
        let now = platform.now();
        let idle = idle(platform, now, number);
        let done = finish(platform, Lines::NONE, LOOK, |it, now| idle.poll(it, now));
        done.map_err(|timed_out| AsCommandStuck {
            space: number,
            command,
            timed_out,
        })
    };
    until_idle(platform)?;
    give(platform, number, command);
    until_idle(platform)
}
