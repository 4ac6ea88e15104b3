//! GPU control: commands, reset, cache flushes, status, the settings that must stand before the L2 is on.
//!
//! Facts: hardware/csf-mmio.md 4, 6, 8, 16 and 18.

use crate::diagnosis::RegisterMisuse;
use crate::fabric::{Due, Fabric};
use crate::injection::Injection;
use crate::mmu::AccessKind;
use crate::power::Power;
use eitri_csf::arch::Arch;
use eitri_csf::command::{CacheFlush, FlushMode, GpuCommand, RangeFlush};
use eitri_csf::registers::control::{Coherency, coherency_enable, gpu_status, l2_config};
use eitri_csf::registers::identity::coherency_features;
use eitri_csf::registers::interrupts::gpu_irq;

/// Settings and the state of commands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    pub(crate) l2_config: u32,
    pub(crate) hash: [u32; 3],
    /// GPU_COMMAND_ARG0 and 1: first and last physical address of FLUSH_PA_RANGE.
    pub(crate) range: [u64; 2],
    /// COHERENCY_ENABLE, where it was written since the last reset.
    coherency: Option<u32>,
    /// The hash in force: that of the moment the L2 came on.
    latched_hash: Option<[u32; 3]>,
    resetting: bool,
    flushing: Option<Flush>,
}

/// A cache flush in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    /// Of whole caches.
    All(CacheFlush),
    /// Of a range of physical addresses, in these caches.
    Range(CacheFlush),
}

impl Flush {
    /// Whether the L2 forgets what it has: tables that were changed are read anew.
    fn reaches_l2(self) -> bool {
        let (Flush::All(flush) | Flush::Range(flush)) = self;
        matches!(flush.l2, FlushMode::Invalidate | FlushMode::CleanInvalidate)
    }
}

/// What a command leaves to the device as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consequence {
    /// Nothing.
    None,
    /// Everything stops and loses its state.
    Reset,
}

impl Control {
    /// A write to GPU_COMMAND.
    pub(crate) fn command(
        &mut self,
        fabric: &mut Fabric,
        power: &Power,
        value: u32,
    ) -> Consequence {
        if let Some(exception) = fabric.strike_at(None, None, |injection| match injection {
            Injection::GpuFault { exception } => Some(exception),
            _ => None,
        }) {
            fabric.record_gpu_fault(exception, AccessKind::Read, None);
        }
        let Some(command) = GpuCommand::decode(value) else {
            fabric
                .journal
                .report(RegisterMisuse::UnknownCommand { value });
            return Consequence::None;
        };
        if self.resetting {
            fabric
                .journal
                .report(RegisterMisuse::CommandWhileResetting { value });
            return Consequence::None;
        }
        match command {
            GpuCommand::Nop => {}
            GpuCommand::Time(on) => fabric.clock.count_cycles(on),
            GpuCommand::ClearFault => fabric.gpu_fault = None,
            GpuCommand::Reset(_) => {
                *self = Control {
                    resetting: true,
                    ..Control::default()
                };
                return Consequence::Reset;
            }
            GpuCommand::FlushCaches(flush) => self.flush(fabric, power, flush, value),
            GpuCommand::FlushPaRange(range) if fabric.config.product.arch() >= Arch::V12 => {
                let [first, last] = self.range;
                if first > last {
                    let misuse = RegisterMisuse::FlushRange { first, last };
                    fabric.journal.report(misuse);
                }
                self.start_flush(fabric, power, Flush::Range(whole(range)), value);
            }
            GpuCommand::SetProtectedMode | GpuCommand::FinishHalt | GpuCommand::FlushPaRange(_) => {
                fabric
                    .journal
                    .report(RegisterMisuse::UnknownCommand { value });
            }
        }
        Consequence::None
    }

    fn flush(&mut self, fabric: &mut Fabric, power: &Power, flush: CacheFlush, value: u32) {
        let other = matches!(flush.other, FlushMode::Clean | FlushMode::CleanInvalidate);
        if flush.l2 == FlushMode::Invalidate || flush.load_store == FlushMode::Invalidate || other {
            fabric
                .journal
                .report(RegisterMisuse::UselessFlush { value });
        }
        self.start_flush(fabric, power, Flush::All(flush), value);
    }

    fn start_flush(&mut self, fabric: &mut Fabric, power: &Power, flush: Flush, value: u32) {
        if self.flushing.is_some() {
            fabric
                .journal
                .report(RegisterMisuse::FlushWhileFlushing { value });
            return;
        }
        if !power.is_l2_on() {
            fabric
                .journal
                .report(RegisterMisuse::FlushWithoutL2 { value });
        }
        self.flushing = Some(flush);
        if flush.reaches_l2() {
            fabric.mmu.flush_begins();
        }
        if !fabric.strikes(Injection::FlushNeverCompletes) {
            fabric.after(fabric.config.latencies.flush, Due::Flush);
        }
    }

    pub(crate) fn flush_completed(&mut self, fabric: &mut Fabric) {
        let bit = match self.flushing.take() {
            Some(Flush::All(flush)) => {
                fabric.flush(flush);
                fabric.mmu.flush_completed(flush == CacheFlush::ALL);
                gpu_irq::CLEAN_CACHES_COMPLETED.mask32()
            }
            // Of more than was asked for, if the L2 is modelled: it is the same to who asked.
            Some(Flush::Range(flush)) => {
                fabric.flush(flush);
                fabric.mmu.flush_completed(false);
                gpu_irq::FLUSH_PA_RANGE_COMPLETED.mask32()
            }
            None => return,
        };
        fabric.flush_completed();
        fabric.irq.gpu.raise(bit);
    }

    pub(crate) fn reset_completed(&mut self, fabric: &mut Fabric) {
        self.resetting = false;
        fabric.irq.gpu.raise(gpu_irq::RESET_COMPLETED.mask32());
    }

    /// Whether the host has written the register since the reset.
    pub(crate) fn has_coherency(&self) -> bool {
        self.coherency.is_some()
    }

    pub(crate) fn coherency(&self) -> u32 {
        // FACT: the reset value is not published (hardware/csf-mmio.md 4), and drivers write the register before each
        // power-on of the L2; "none" is what a system without coherency needs. Settled by reading it after a reset on any
        // board.
        self.coherency.unwrap_or(Coherency::None.number())
    }

    pub(crate) fn set_coherency(&mut self, fabric: &mut Fabric, power: &Power, value: u32) {
        if power.is_l2_on() {
            fabric
                .journal
                .report(RegisterMisuse::CoherencyUnderPower { value });
        }
        let known = match coherency_enable::PROTOCOL.get(value) {
            Some(Coherency::None) => true,
            Some(Coherency::AceLite) => coherency_features::ACE_LITE
                .get(fabric.config.product.part.limits.coherency_features),
            _ => false,
        };
        if !known {
            fabric
                .journal
                .report(RegisterMisuse::UnknownCoherency { value });
        }
        self.coherency = Some(value);
    }

    /// The L2 begins to power up: the settings in force now count.
    pub(crate) fn latch_l2_settings(&mut self, fabric: &mut Fabric) {
        if self.coherency.is_none() {
            fabric.journal.report(RegisterMisuse::CoherencyNotChosen);
        }
        let enabled = l2_config::ASN_HASH_ENABLE.get(self.l2_config);
        self.latched_hash = enabled.then_some(self.hash);
    }

    /// Whether this part's caches find anything with the hash in force.
    pub(crate) fn has_needed_hash(&self, fabric: &Fabric) -> bool {
        let needed = fabric.config.product.needs_hash;
        needed.is_none() || needed == self.latched_hash
    }

    /// GPU_STATUS.
    pub(crate) fn status(&self, fabric: &Fabric, power: &Power, busy: bool) -> u32 {
        let power_active = eitri_csf::registers::power::Domain::ALL
            .iter()
            .any(|domain| power.changing(*domain) != 0);
        let status = gpu_status::GPU_ACTIVE.word(busy || self.resetting || self.flushing.is_some());
        let status = gpu_status::POWER_ACTIVE.set32(status, power_active);
        let status = gpu_status::PAGE_FAULT.set32(status, fabric.irq.mmu.raw() & 0xffff != 0);
        gpu_status::CYCLE_COUNT.set32(status, fabric.clock.is_counting())
    }
}

/// What a flush of a range does to caches, taken for all of their lines.
fn whole(range: RangeFlush) -> CacheFlush {
    let of = |acts| if acts { range.mode } else { FlushMode::None };
    CacheFlush {
        l2: of(range.l2),
        load_store: of(range.load_store),
        // They hold nothing to clean.
        other: if range.other && range.mode != FlushMode::None {
            FlushMode::Invalidate
        } else {
            FlushMode::None
        },
    }
}
