//! What finishes later: deferred operations, loads and stores, and the waits for them.
//!
//! Loads and stores finish as late as they may: only when something waits. So a program that forgets a wait sees it.
//!
//! Facts: hardware/command-stream.md 1.6 to 1.9, 3.5.

use super::{Blocked, Effects, SLOTS, Stream, SyncWait, exception};
use crate::defect::{Defect, DrawDefect};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::fidelity::Inexact;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use alloc::vec::Vec;
use eitri_cs::enums::{StoredState, SyncScope};
use eitri_csf::command::CacheFlush;
use eitri_csf::interface::stream::SyncCondition;

/// Most operations that may be deferred, and most transfers outstanding, before a stream waits.
pub(super) const OUTSTANDING: usize = 64;

/// An operation that may be deferred, its operands read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Adds to or sets a sync object.
    Sync {
        address: u64,
        value: u64,
        wide: bool,
        add: bool,
        propagate: bool,
        scope: SyncScope,
    },
    /// Stores an item of state.
    StoreState { address: u64, state: StoredState },
    /// Moves a counter of the tiler heap.
    Heap { counter: u8 },
    /// Gives the list of chunks from `first` to `last` back to the heap, and may count a render pass as done.
    FinishFragment { first: u64, last: u64, done: bool },
    /// Flushes caches.
    Flush { id: u32, flush: CacheFlush },
    /// Counts up a shared scoreboard of the group.
    SharedIncrement { entry: u8 },
    /// Known, and without an effect here.
    Nothing,
}

/// An operation that waits for slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deferred {
    pub(super) word: u64,
    pub(super) wait: u16,
    /// The slot that counts it; none for SHARED_SB_INC.
    pub(super) slot: Option<u8>,
    pub(super) operation: Operation,
}

/// A load or store that has not completed: the registers of a load are not valid yet, those of a store were read at issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transfer {
    pub(super) slot: u8,
    /// Registers and the values that will be in them; none of a store.
    pub(super) loaded: Vec<(u8, u32)>,
}

impl Transfer {
    pub(super) fn loads(&self, number: u8) -> bool {
        self.loaded.iter().any(|(register, _)| *register == number)
    }
}

impl Stream {
    /// Everything that may finish now finishes: transfers if something waits, operations whose slots have drained.
    pub(crate) fn settle(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Effects {
        let mut effects = Effects::default();
        if self.blocked != Blocked::No {
            self.finish_transfers();
        }
        // One operation after another, in the order of issue.
        while let Some(index) = self
            .deferred
            .iter()
            .position(|deferred| deferred.wait & self.busy_slots() == 0)
        {
            let deferred = self.deferred[index];
            match self.perform(
                fabric,
                memory,
                deferred.word,
                deferred.operation,
                deferred.slot,
            ) {
                Ok(done) => {
                    effects.join(done);
                    self.deferred.remove(index);
                    if let Some(slot) = deferred.slot
                        && !done.flush_started
                    {
                        self.count_down(slot);
                    }
                }
                Err(Refused::Stalled(stall)) => {
                    if self.blocked == Blocked::No {
                        self.blocked = Blocked::Memory(stall);
                    }
                    break;
                }
                Err(Refused::Failed(address)) => {
                    self.deferred.remove(index);
                    if let Some(slot) = deferred.slot {
                        self.count_down(slot);
                    }
                    self.fault(exception::CS_BUS_FAULT, address);
                }
            }
        }
        self.unblock(fabric, memory);
        effects
    }

    fn finish_transfers(&mut self) {
        for transfer in core::mem::take(&mut self.transfers) {
            for (register, value) in transfer.loaded {
                self.registers.set_raw(register, value);
            }
            self.count_down(transfer.slot);
        }
    }

    /// Lets the stream go on if what it waits for has come.
    fn unblock(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        let free = match self.blocked {
            Blocked::Scoreboards(mask) => mask & self.busy_slots() == 0,
            Blocked::Full => self.has_room(),
            Blocked::SlotChoice => self.mask_stream & !self.busy_slots() != 0,
            Blocked::Memory(stall) => fabric.mmu.may_retry(stall),
            Blocked::Sync(wait) => {
                if !core::mem::take(&mut self.look_at_sync) {
                    return;
                }
                match self.sync_value(fabric, memory, wait) {
                    Ok((value, _)) => wait.holds(value),
                    // The instruction is executed again and finds out itself.
                    Err(_) => true,
                }
            }
            Blocked::No
            | Blocked::Empty
            | Blocked::Shared(_)
            | Blocked::Progress { .. }
            | Blocked::Protected
            | Blocked::Heap
            | Blocked::Fault
            | Blocked::Fatal => false,
        };
        if free {
            self.blocked = Blocked::No;
        }
    }

    /// The value and error word of a sync object.
    pub(super) fn sync_value(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        wait: SyncWait,
    ) -> Result<(u64, u32), Refused<u64>> {
        let access = self.access(wait.address);
        if fabric.defects.has(Defect::SyncWaitNeverEnds) {
            let never = match wait.condition {
                SyncCondition::LessEqual => u64::MAX,
                SyncCondition::Greater | SyncCondition::GreaterEqual => 0,
            };
            return Ok((never, 0));
        }
        let read = |fabric: &mut Fabric, memory: &mut dyn PhysicalMemory| {
            if wait.wide {
                let value = fabric.read64(memory, access)?;
                let error = fabric.read32(memory, access.to(wait.address.wrapping_add(8)))?;
                Ok((value, error))
            } else {
                let both = fabric.read64(memory, access)?;
                Ok((both & 0xffff_ffff, (both >> 32) as u32))
            }
        };
        read(fabric, memory).map_err(|refusal: Refusal| refusal.at(wait.address))
    }

    /// The value of the object that the stream waits for, for diagnoses; `None` if it waits for none.
    pub(crate) fn awaited(
        &self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Option<StreamMisuse> {
        let Blocked::Sync(wait) = self.blocked else {
            return None;
        };
        let (value, _) = self.sync_value(fabric, memory, wait).ok()?;
        Some(StreamMisuse::NeverSignalled {
            address: wait.address,
            value,
            reference: wait.reference,
        })
    }

    /// Reports `misuse` at the current instruction.
    pub(crate) fn report_here(&self, fabric: &mut Fabric, misuse: StreamMisuse) {
        self.report(fabric, 0, misuse);
    }

    /// Issues an operation: at once, or when the slots of `wait` have drained.
    pub(super) fn issue(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        issue: Issue,
    ) -> Result<Effects, Refused<u64>> {
        let Issue {
            word,
            wait,
            slot,
            always_counted,
            operation,
        } = issue;
        if wait == 0 && !always_counted {
            return self.perform(fabric, memory, word, operation, slot);
        }
        if let Some(slot) = slot {
            if usize::from(slot) < SLOTS && wait >> slot & 1 != 0 {
                let slot = slot.into();
                self.report(fabric, word, StreamMisuse::WaitsForItself { slot });
            }
            self.count_up(slot);
        }
        self.deferred.push(Deferred {
            word,
            wait,
            slot,
            operation,
        });
        Ok(Effects::default())
    }

    /// The flushes that this stream started are complete.
    pub(crate) fn flushes_completed(&mut self) {
        for slot in core::mem::take(&mut self.flushing) {
            self.count_down(slot);
        }
    }

    /// Whether another deferred operation or transfer fits.
    pub(super) fn has_room(&self) -> bool {
        let outstanding = [
            &self.deferred.len(),
            &self.transfers.len(),
            &self.flushing.len(),
        ];
        outstanding.iter().all(|&&count| count < OUTSTANDING)
    }

    fn perform(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        word: u64,
        operation: Operation,
        slot: Option<u8>,
    ) -> Result<Effects, Refused<u64>> {
        let mut effects = Effects::default();
        self.idle_instructions = 0;
        self.accesses += u64::from(!matches!(operation, Operation::Nothing));
        match operation {
            Operation::Nothing => {}
            Operation::SharedIncrement { entry } => effects.shared[usize::from(entry) % SLOTS] = 1,
            Operation::Heap { .. } | Operation::FinishFragment { .. } if self.heap_context == 0 => {
                self.report(fabric, word, StreamMisuse::WithoutHeap);
            }
            Operation::Heap { counter } => {
                if counter == 1 && !self.has_open_pass() {
                    self.report(fabric, word, StreamMisuse::HeapOrder);
                }
                self.move_heap(counter);
            }
            Operation::FinishFragment { first, last, done } => {
                if (first == 0) != (last == 0) {
                    self.report(fabric, word, StreamMisuse::ChunkList { first, last });
                } else if first != 0 && !fabric.defects.draw_has(DrawDefect::UsedChunksForgotten) {
                    self.give_back(fabric, memory, first, last)?;
                }
                if done {
                    self.move_heap(2);
                }
            }
            Operation::Flush { id, flush } => {
                // FACT: how the hardware compares flush ids is not published (hardware/command-stream.md 10, 19); a
                // difference of 24 bits with a sign is what an id that wraps needs. Settled by a flush with an id that is
                // half a turn old on any board.
                let moved = fabric.latest_flush.wrapping_sub(id) & 0xff_ffff;
                if moved >= 0x80_0000 {
                    fabric.fidelity.meet(Inexact::FlushIds);
                }
                let skipped = id != 0 && moved != 0 && moved < 0x80_0000;
                if skipped {
                    return Ok(effects);
                }
                fabric.flush(flush);
                self.flushing.extend(slot);
                effects.flush_started = true;
            }
            Operation::StoreState { address, state } => {
                let value = self.stored_state(fabric, word, state);
                let access = self.access(address);
                fabric
                    .write(memory, access, &value.to_le_bytes())
                    .map_err(|refusal| refusal.at(address))?;
            }
            Operation::Sync {
                address,
                value,
                wide,
                add,
                propagate,
                scope,
            } => {
                let wait = SyncWait {
                    address,
                    reference: 0,
                    wide,
                    condition: SyncCondition::LessEqual,
                    inherit: false,
                };
                let (old, _) = self.sync_value(fabric, memory, wait)?;
                let new = if add { old.wrapping_add(value) } else { value };
                let error = u32::from(propagate && self.error != 0);
                let mut bytes = [0; 12];
                let length = if wide {
                    bytes[..8].copy_from_slice(&new.to_le_bytes());
                    bytes[8..].copy_from_slice(&error.to_le_bytes());
                    12
                } else {
                    bytes[..4].copy_from_slice(&(new as u32).to_le_bytes());
                    bytes[4..8].copy_from_slice(&error.to_le_bytes());
                    8
                };
                let access = self.access(address);
                fabric
                    .write(memory, access, &bytes[..length])
                    .map_err(|refusal| refusal.at(address))?;
                effects.wake_group = true;
                effects.wake_all = scope == SyncScope::System;
            }
        }
        Ok(effects)
    }

    fn stored_state(&self, fabric: &mut Fabric, word: u64, state: StoredState) -> u64 {
        match state {
            StoredState::Timestamp => fabric.clock.timestamp(),
            StoredState::CycleCount => {
                if !fabric.clock.is_counting() {
                    self.report(fabric, word, StreamMisuse::CounterDisabled);
                    return 0;
                }
                fabric.clock.cycles()
            }
            StoredState::DisjointCount => 0,
            StoredState::ErrorStatus => self.error.into(),
        }
    }
}

impl SyncWait {
    /// Whether the stream may go on with this value of the object.
    pub(super) fn holds(self, value: u64) -> bool {
        let reference = if self.wide {
            self.reference
        } else {
            self.reference & 0xffff_ffff
        };
        match self.condition {
            SyncCondition::LessEqual => value <= reference,
            SyncCondition::Greater => value > reference,
            SyncCondition::GreaterEqual => value >= reference,
        }
    }
}

/// An operation to issue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issue {
    pub(super) word: u64,
    pub(super) wait: u16,
    /// The slot that counts it; none for SHARED_SB_INC.
    pub(super) slot: Option<u8>,
    /// FLUSH_CACHE2 counts even when it waits for nothing.
    pub(super) always_counted: bool,
    pub(super) operation: Operation,
}
