//! The registers of address spaces: what writes and commands do.
//!
//! Facts: hardware/gpu-mmu.md 2 to 5 and 9.

use crate::diagnosis::MmuMisuse;
use crate::fabric::Due;
use crate::gpu::Gpu;
use crate::injection::Injection;
use crate::mmu::{MCU_SPACE, SPACES, Space};
use crate::window::Write;
use eitri_csf::arch::Arch;
use eitri_csf::command::{AsCommand, CacheFlush, FlushMode};
use eitri_csf::registers::address_space::{
    TranslationMode, as_command, as_faultstatus, lockaddr, transcfg,
};
use eitri_csf::registers::interrupts::mmu_irq;

impl Gpu {
    pub(crate) fn space(&self, number: u32) -> &Space {
        self.fabric.mmu.space(number as u8)
    }

    fn space_to_write(&mut self, number: u32) -> &mut Space {
        if self.product().part.as_present >> number & 1 == 0 {
            self.report(MmuMisuse::AbsentSpace {
                space: number as u8,
            });
        }
        self.fabric.mmu.space_mut(number as u8)
    }

    pub(crate) fn write_transtab(&mut self, write: Write) {
        let register = &mut self.space_to_write(write.index).programmed.transtab;
        *register = write.into(*register);
    }

    pub(crate) fn write_memattr(&mut self, write: Write) {
        let register = &mut self.space_to_write(write.index).programmed.memattr;
        *register = write.into(*register);
    }

    pub(crate) fn write_transcfg(&mut self, write: Write) {
        let register = &mut self.space_to_write(write.index).programmed.transcfg;
        *register = write.into(*register);
    }

    pub(crate) fn write_lockaddr(&mut self, write: Write) {
        let register = &mut self.space_to_write(write.index).lockaddr;
        *register = write.into(*register);
    }

    pub(crate) fn as_fault_status(&self, number: u32) -> u32 {
        self.space(number).fault.map_or(0, |fault| {
            let status = as_faultstatus::EXCEPTION.word(fault.exception.into());
            let status = as_faultstatus::ACCESS.set32(status, fault.kind);
            let status = as_faultstatus::DECODE_FAULT.set32(status, true);
            let id = fault.source.id(self.product().arch(), fault.kind);
            as_faultstatus::SOURCE.set32(status, id.into())
        })
    }

    pub(crate) fn write_as_command(&mut self, write: Write) {
        let (space, value) = (write.index as u8, write.value);
        debug_assert!(usize::from(space) < SPACES);
        if self.product().part.as_present >> space & 1 == 0 {
            return self.report(MmuMisuse::AbsentSpace { space });
        }
        let Some(command) = as_command::COMMAND.get(value) else {
            return self.report(MmuMisuse::UnknownCommand { space, value });
        };
        if self.space(write.index).pending.is_some() {
            return self.report(MmuMisuse::CommandWhileBusy { space, value });
        }
        if self.mcu.is_protected() {
            return self.report(MmuMisuse::CommandInProtectedMode { space, value });
        }
        if matches!(command, AsCommand::FlushPt | AsCommand::FlushMem)
            && self.product().arch() > Arch::V11
        {
            self.report(MmuMisuse::DeprecatedCommand { space, value });
        }
        if !self.power.is_l2_on() {
            self.report(MmuMisuse::CommandWithoutL2 { space, value });
        }
        self.fabric.mmu.space_mut(space).pending = Some(value);
        let stuck = Injection::AddressSpaceStuck { space };
        if !self.fabric.strikes(stuck) {
            let delay = self.fabric.config.latencies.address_space;
            self.fabric.after(delay, Due::AddressSpace(space));
        }
    }

    pub(crate) fn complete_as_command(&mut self, number: u8) {
        let smallest = self.smallest_lock(number);
        let l2_on = self.power.is_l2_on();
        let space = self.fabric.mmu.space_mut(number);
        let Some(command) = space
            .pending
            .take()
            .and_then(|value| as_command::COMMAND.get(value))
        else {
            return;
        };
        match command {
            AsCommand::Nop => {}
            AsCommand::Update => {
                // The firmware's own space is never given up: it goes with a reset.
                let leaves = space.leaves_unflushed() && number != MCU_SPACE;
                space.update();
                if leaves {
                    self.report(MmuMisuse::LeaveWithoutFlush { space: number });
                }
                self.check_setup(number);
            }
            AsCommand::Lock => {
                space.lock(smallest);
                if !l2_on {
                    space.caches_lost();
                }
            }
            AsCommand::Unlock => {
                let flushed = space.is_flushed();
                if !space.unlock() {
                    self.report(MmuMisuse::UnlockWithoutLock { space: number });
                } else if !flushed {
                    self.report(MmuMisuse::UnlockBeforeFlush { space: number });
                }
            }
            // Both release the lock they were given; without one they only flush.
            AsCommand::FlushPt | AsCommand::FlushMem => {
                space.lock(smallest);
                space.unlock();
                let flush = match command {
                    AsCommand::FlushMem => CacheFlush::ALL,
                    _ => CacheFlush {
                        l2: FlushMode::CleanInvalidate,
                        load_store: FlushMode::None,
                        other: FlushMode::None,
                    },
                };
                self.fabric.flush(flush);
                self.fabric.mmu.flush_completed(flush == CacheFlush::ALL);
                self.fabric.flush_completed();
            }
        }
        let bit = mmu_irq::COMPLETED.word(1 << number);
        self.fabric.irq.mmu.raise(bit);
    }

    /// log2 of the least bytes of a region that can be locked.
    fn smallest_lock(&mut self, number: u8) -> u32 {
        let smallest = if self.product().arch() >= Arch::V12 {
            12
        } else {
            15
        };
        let space = self.fabric.mmu.space(number);
        let locks = space.pending == Some(AsCommand::Lock.number());
        let lockaddr = space.lockaddr;
        if locks && lockaddr::SIZE.get(lockaddr) + 1 < smallest {
            self.report(MmuMisuse::SmallLock {
                space: number,
                lockaddr,
            });
        }
        smallest
    }

    /// Reports what is wrong with a space's new settings.
    fn check_setup(&mut self, space: u8) {
        let setup = self.fabric.mmu.space(space).active;
        let transcfg = setup.transcfg;
        match transcfg::MODE.get(transcfg) {
            Some(TranslationMode::Unmapped) => return,
            Some(TranslationMode::Aarch64K4 | TranslationMode::Identity) => {}
            _ => return self.report(MmuMisuse::UnknownMode { space, transcfg }),
        }
        if !(7..=30).contains(&transcfg::INPUT_SIZE.get(transcfg)) {
            self.report(MmuMisuse::InputSize { space, transcfg });
        }
        if setup.transtab & 0xf != 0 {
            self.report(MmuMisuse::MisalignedTable {
                space,
                transtab: setup.transtab,
            });
        }
    }
}
