//! The device: what a host sees of it.
//!
//! Guarantees: no call panics or takes unbounded time, whatever the host does; all state is in fields, none is global.

use crate::activity::Drawn;
use crate::clock::Nanoseconds;
use crate::config::{Config, Product};
use crate::control::{Consequence, Control};
use crate::defect::{Defect, Line};
use crate::diagnosis::{Diagnosis, Misuse, RegisterMisuse};
use crate::fabric::{Due, Fabric};
use crate::fidelity::{Fidelity, Inexact};
use crate::firmware::Mcu;
use crate::injection::{Aim, Injection};
use crate::irq::Lines;
use crate::memory::PhysicalMemory;
use crate::pace::UnitTimes;
use crate::power::Power;
use crate::trace::{Event, Sink};
use crate::window::{self, Write};
use alloc::boxed::Box;
use alloc::vec::Vec;
use eitri_csf::registers::control::{COHERENCY_ENABLE, gpu_status};
use eitri_csf::registers::doorbell::{DOORBELL, KERNEL_DOORBELL, doorbell};
use eitri_csf::registers::identity::{CORE_FEATURES, GPU_ID};
use eitri_csf::registers::power::Domain;

/// Instructions of streams and warps between two looks at what is due. Who asks for fewer gets exactly so many; of a larger budget the
/// last turn of a workgroup is not cut short.
const SLICE: u64 = 1000;

/// How long one call of [`Gpu::run`] may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Virtual time that passes at most.
    pub time: Nanoseconds,
    /// Instructions of streams and warps that are executed at most: what bounds the host's time. Of 1000 and more it may be as many more
    /// as a workgroup's turn has.
    pub instructions: u64,
}

impl Budget {
    /// `time` of virtual time, and as many instructions as a slow host executes in a few milliseconds.
    pub const fn of(time: Nanoseconds) -> Budget {
        Budget {
            time,
            instructions: 20_000,
        }
    }
}

/// What [`Gpu::run`] left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// An interrupt line has risen, at the time that the clock shows: the host may want to answer before time goes on.
    Interrupt,
    /// There is work that could go on at once: call again.
    Busy,
    /// Nothing happens before this time, unless the host does something.
    Waiting(Nanoseconds),
    /// Nothing happens until the host does something.
    Idle,
}

/// The GPU. A clone goes on as the original does; nobody traces it.
#[derive(Clone)]
pub struct Gpu {
    pub(crate) fabric: Fabric,
    pub(crate) power: Power,
    pub(crate) control: Control,
    pub(crate) mcu: Mcu,
}

impl Gpu {
    /// A GPU as it is after power was applied: everything off, nothing mapped.
    pub fn new(config: Config) -> Gpu {
        let part = config.product.part;
        Gpu {
            power: Power::new(part.l2_present, part.tiler_present, part.shader_present),
            control: Control::default(),
            mcu: Mcu::new(),
            fabric: Fabric::new(config),
        }
    }

    /// The host reads the 32-bit register word at `offset` bytes of the window.
    ///
    /// Offsets without a register read as 0; misuse is diagnosed. Time advances by one access.
    pub fn read32(&mut self, memory: &mut dyn PhysicalMemory, offset: u32) -> u32 {
        self.read32_at(memory, offset, None)
    }

    /// As [`Gpu::read32`], with the host's program counter for diagnoses.
    pub fn read32_at(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        offset: u32,
        pc: Option<u64>,
    ) -> u32 {
        self.fabric.journal.set_context(self.fabric.clock.now(), pc);
        let value = window::read(self, offset);
        let value = self.fabric.defects.read(offset, value);
        self.fabric.journal.trace(Event::Read { offset, value });
        if self.fabric.fidelity.is_on() {
            self.note_read(offset);
        }
        // What the host saw was the state before this look at the device; what is due now shows at the next.
        self.pass_access(memory);
        value
    }

    /// Notes that the host reads a register, and what its contents rest on.
    fn note_read(&mut self, offset: u32) {
        let fabric = &mut self.fabric;
        fabric.fidelity.register(offset, false);
        if offset == CORE_FEATURES.offset {
            fabric.fidelity.meet_in_register(Inexact::CoreFeatures);
        }
        if offset == COHERENCY_ENABLE.offset && !self.control.has_coherency() {
            fabric.fidelity.meet_in_register(Inexact::CoherencyReset);
        }
        if offset == GPU_ID.offset && fabric.config.product.is_stand_in() {
            fabric.fidelity.meet_in_register(Inexact::StandIn);
        }
    }

    /// How far results can be trusted, if [`Config::fidelity`] asks for it.
    pub fn fidelity(&self) -> &Fidelity {
        &self.fabric.fidelity
    }

    /// The word that [`Gpu::read32`] would give, for whoever watches the device: no time passes, nothing is traced, and injected
    /// failures of reads do not strike.
    pub fn peek32(&mut self, offset: u32) -> u32 {
        window::read(self, offset)
    }

    /// How many faults the device has reported to the host: of address spaces, of streams, and its own.
    pub fn faults(&self) -> u64 {
        self.fabric.journal.faults()
    }

    /// The host writes the 32-bit register word at `offset` bytes of the window.
    ///
    /// Writes to nothing and to read-only registers are ignored and diagnosed. Time advances by one access.
    pub fn write32(&mut self, memory: &mut dyn PhysicalMemory, offset: u32, value: u32) {
        self.write32_at(memory, offset, value, None);
    }

    /// As [`Gpu::write32`], with the host's program counter for diagnoses.
    pub fn write32_at(
        &mut self,
        memory: &mut dyn PhysicalMemory,
        offset: u32,
        value: u32,
        pc: Option<u64>,
    ) {
        self.pass_access(memory);
        self.fabric.journal.set_context(self.fabric.clock.now(), pc);
        self.fabric.journal.trace(Event::Write { offset, value });
        self.fabric.fidelity.register(offset, true);
        if !self.fabric.defects.loses_write(offset) {
            window::write(self, offset, value);
        }
    }

    /// Lets the device work until the budget is used up, nothing is left to do in its time, or an interrupt line rises. A
    /// line that is high already ends nothing.
    ///
    /// Virtual time passes even while nothing happens: a host without a clock of its own waits by calling this.
    pub fn run(&mut self, memory: &mut dyn PhysicalMemory, budget: Budget) -> Progress {
        let progress = self.run_within(memory, budget);
        // The host may look at them now.
        if let Some(job) = self.mcu.cores_mut().compute_mut() {
            job.begin_workgroups();
        }
        progress
    }

    fn run_within(&mut self, memory: &mut dyn PhysicalMemory, budget: Budget) -> Progress {
        self.fabric.clock.observe();
        let end = self.fabric.clock.now().saturating_add(budget.time);
        let mut instructions = budget.instructions;
        self.fabric.changes += 1;
        let whole_turns = instructions >= SLICE;
        self.fabric.whole_turns = whole_turns;
        let before = self.lines();
        loop {
            self.handle_due(memory);
            if self.lines().rose_since(before) {
                return Progress::Interrupt;
            }
            let now = self.fabric.clock.now();
            if now >= end {
                break;
            }
            if instructions == 0 {
                return Progress::Busy;
            }
            if self.mcu.is_busy(&self.fabric, &self.power) {
                let slice = match whole_turns {
                    true => SLICE,
                    false => instructions,
                };
                let time = end - now;
                let used = self
                    .mcu
                    .work(&mut self.fabric, &mut self.power, memory, slice, time);
                instructions -= used.min(instructions);
                if used != 0 {
                    continue;
                }
            }
            let wake = self
                .fabric
                .agenda
                .next()
                .map_or(end, |due| due.clamp(now, end));
            if wake == now {
                // Due but not yet to be seen: an observation of the host is missing.
                break;
            }
            self.fabric.pass(wake - now);
        }
        let now = self.fabric.clock.now();
        let Fabric { mmu, journal, .. } = &mut self.fabric;
        mmu.report_waits(now, journal);
        self.progress()
    }

    fn progress(&self) -> Progress {
        if self.mcu.is_busy(&self.fabric, &self.power) {
            Progress::Busy
        } else {
            self.fabric
                .agenda
                .next()
                .map_or(Progress::Idle, Progress::Waiting)
        }
    }

    /// The levels of the interrupt lines.
    pub fn lines(&self) -> Lines {
        let lines = self.fabric.irq.lines();
        let defects = &self.fabric.defects;
        Lines {
            job: defects.level(Line::Job, lines.job),
            mmu: defects.level(Line::Mmu, lines.mmu),
            gpu: defects.level(Line::Gpu, lines.gpu),
        }
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Nanoseconds {
        self.fabric.clock.now()
    }

    /// When something happens by itself next; `None` if nothing will.
    pub fn next_event(&self) -> Option<Nanoseconds> {
        self.fabric.agenda.next()
    }

    /// What the driver did wrong so far; at most [`crate::diagnosis::KEPT_DIAGNOSES`] different ones.
    pub fn diagnoses(&self) -> &[Diagnosis] {
        self.fabric.journal.diagnoses()
    }

    /// What is worth a word to a person and wrong by no rule; as many at most.
    pub fn notes(&self) -> &[Diagnosis] {
        self.fabric.journal.notes()
    }

    /// How many diagnoses were not kept.
    pub fn dropped_diagnoses(&self) -> u64 {
        self.fabric.journal.dropped()
    }

    /// Forgets all diagnoses and notes.
    pub fn clear_diagnoses(&mut self) {
        self.fabric.journal.clear();
    }

    /// Reports, as a diagnosis each, the streams that wait for a sync object, with its value and what they wait for.
    ///
    /// Waiting is no misuse by itself: a host asks this when it has waited in vain.
    pub fn explain_waits(&mut self, memory: &mut dyn PhysicalMemory) {
        self.fabric
            .journal
            .set_context(self.fabric.clock.now(), None);
        self.mcu.report_waits(&mut self.fabric, memory);
    }

    /// From now on `injection` goes wrong, at the next occasion.
    pub fn inject(&mut self, injection: Injection) {
        self.inject_aimed(injection, Aim::NOW);
    }

    /// From now on `injection` goes wrong when and where `aim` says.
    pub fn inject_aimed(&mut self, injection: Injection, aim: Aim) {
        self.fabric.injections.add(injection, aim);
    }

    /// `injection` goes right again, however it was aimed. What is stuck already stays stuck until a reset.
    pub fn withdraw(&mut self, injection: Injection) {
        self.fabric.injections.remove(injection);
    }

    /// Sends events to `sink`, or to nobody.
    pub fn trace_to(&mut self, sink: Option<Box<dyn Sink>>) {
        self.fabric.journal.set_sink(sink);
    }

    /// What was drawn since the device got power.
    pub fn drawn(&self) -> Drawn {
        self.fabric.activity.drawn()
    }

    /// Warps of compute and vertex work and tiles that were begun since the device got power: as long as it grows, jobs get on.
    pub fn work_begun(&self) -> u64 {
        self.fabric.activity.work_begun()
    }

    /// For how long the units of each core have been busy since the device got power, by the core's number.
    pub fn unit_times(&self) -> Vec<UnitTimes> {
        self.fabric.pace.unit_times(&self.fabric.activity)
    }

    /// Turns of workgroups that [`Config::workers`] have executed ahead, and how many of them were as one thread would have executed them.
    /// The others were executed again.
    pub fn turns_ahead(&self) -> (u64, u64) {
        (self.fabric.turns_ahead, self.fabric.turns_taken)
    }

    /// How the model is set up.
    pub fn config(&self) -> &Config {
        &self.fabric.config
    }

    /// Which part this is.
    pub fn product(&self) -> &Product {
        &self.fabric.config.product
    }

    pub(crate) fn report(&mut self, misuse: impl Into<Misuse>) {
        self.fabric.journal.report(misuse);
    }

    /// One access of the host passes: time, one observation, and what is due.
    fn pass_access(&mut self, memory: &mut dyn PhysicalMemory) {
        self.fabric.pass(self.fabric.config.latencies.access);
        self.fabric.clock.observe();
        self.handle_due(memory);
    }

    fn handle_due(&mut self, memory: &mut dyn PhysicalMemory) {
        while let Some(due) = self.fabric.agenda.take_due(&self.fabric.clock) {
            self.fabric
                .journal
                .set_context(self.fabric.clock.now(), None);
            let fabric = &mut self.fabric;
            match due {
                Due::Reset => self.control.reset_completed(fabric),
                Due::Power(domain) => {
                    self.power.complete(fabric, domain);
                    self.mcu.wake_if_rung(fabric, &self.power);
                }
                Due::Flush => self.control.flush_completed(fabric),
                Due::AddressSpace(number) => self.complete_as_command(number),
                Due::Boot => {
                    let hash = self.control.has_needed_hash(fabric);
                    self.mcu.boot(fabric, memory, self.power.is_l2_on(), hash);
                }
                Due::Stop => self.mcu.stopped(fabric),
                Due::Doorbell => self.mcu.doorbell(fabric, &mut self.power, memory),
                Due::UserDoorbell(number) => self.mcu.user_doorbell(fabric, memory, number),
                Due::Idle => self.mcu.idle_timer(fabric, memory),
                Due::CoresOff => self.mcu.cores_off(fabric, &mut self.power, memory),
                Due::StreamFlush => self.mcu.flushes_completed(fabric),
                Due::Wake => self.mcu.woken(fabric),
                Due::LeaveProtected => self.mcu.leave_completed(fabric, memory),
                Due::Sample => self.mcu.take_sample(fabric, &self.power, memory),
            }
            self.fabric.settle_caches(memory, self.power.is_l2_on());
        }
        self.mcu.settle(&mut self.fabric, &mut self.power, memory);
        self.mcu.note_activity(&mut self.fabric, &self.power);
    }

    // What registers do; the rows of `window` name these.

    pub(crate) fn command(&mut self, value: u32) {
        let consequence = self.control.command(&mut self.fabric, &self.power, value);
        if consequence == Consequence::Reset {
            self.reset();
        }
    }

    /// Supply and clock go: everything stops and loses its state, registers included; shared memory is untouched. When they come
    /// back, nothing runs. Who accesses registers in between is the host's to notice.
    pub fn cut_power(&mut self) {
        self.lose_state();
        self.control = Control::default();
        let irq = &mut self.fabric.irq;
        for block in [&mut irq.job, &mut irq.mmu, &mut irq.gpu] {
            block.set_mask(0);
        }
    }

    fn reset(&mut self) {
        self.lose_state();
        let fabric = &mut self.fabric;
        if !fabric.strikes(Injection::ResetNeverCompletes) {
            fabric.after(fabric.config.latencies.reset, Due::Reset);
        }
    }

    /// Everything stops and loses its state; shared memory is untouched.
    fn lose_state(&mut self) {
        let fabric = &mut self.fabric;
        self.mcu.note_running_jobs(fabric);
        fabric.agenda.remove(|_| true);
        fabric.mmu.reset();
        fabric.gpu_fault = None;
        fabric.clock.count_cycles(false);
        if !fabric.defects.has(Defect::ResetKeepsPower) {
            self.power.reset();
        }
        self.mcu.reset();
        for block in [
            &mut fabric.irq.job,
            &mut fabric.irq.mmu,
            &mut fabric.irq.gpu,
        ] {
            block.clear(u32::MAX);
            if !fabric.config.masks_survive_reset {
                block.set_mask(0);
            }
        }
    }

    pub(crate) fn status(&mut self) -> u32 {
        let busy = self.mcu.is_busy(&self.fabric, &self.power);
        let status = self.control.status(&self.fabric, &self.power, busy);
        let status = gpu_status::PRFCNT_ACTIVE.set32(status, self.mcu.counts());
        gpu_status::PROTECTED_MODE.set32(status, self.mcu.is_protected())
    }

    pub(crate) fn active_units(&self, domain: Domain) -> u64 {
        let active = match domain {
            Domain::L2 => self.mcu.is_running(),
            Domain::Tiler => false,
            Domain::Shader => self.mcu.has_jobs(),
        };
        if active { self.power.ready(domain) } else { 0 }
    }

    pub(crate) fn write_l2_config(&mut self, write: Write) {
        self.check_l2_off("L2_CONFIG", write.value);
        self.control.l2_config = write.value;
    }

    pub(crate) fn write_hash(&mut self, write: Write) {
        self.check_l2_off("ASN_HASH", write.value);
        self.control.hash[write.index as usize % 3] = write.value;
    }

    pub(crate) fn write_flush_range(&mut self, which: usize, write: Write) {
        let end = &mut self.control.range[which % 2];
        *end = write.into(*end);
    }

    fn check_l2_off(&mut self, name: &'static str, value: u32) {
        if self.power.is_l2_on() {
            self.report(RegisterMisuse::ConfigUnderPower { name, value });
        }
    }

    pub(crate) fn write_timestamp_offset(&mut self, write: Write) {
        let clock = &mut self.fabric.clock;
        clock.timestamp_offset = write.into(clock.timestamp_offset);
    }

    pub(crate) fn write_coherency(&mut self, write: Write) {
        let power = self.power;
        self.control
            .set_coherency(&mut self.fabric, &power, write.value);
    }

    pub(crate) fn write_power(&mut self, domain: Domain, on: bool, mask: u64) {
        if mask == 0 {
            return;
        }
        if domain != Domain::L2 {
            let register = if on {
                domain.power_on()
            } else {
                domain.power_off()
            };
            self.report(RegisterMisuse::HostPowersCores {
                name: register.name,
                units: mask,
            });
        } else if on {
            self.control.latch_l2_settings(&mut self.fabric);
        } else if self.mcu.is_running() {
            self.report(RegisterMisuse::L2OffUnderMcu);
            self.mcu.crash(&mut self.fabric);
        }
        self.power.request(&mut self.fabric, domain, on, mask);
    }

    pub(crate) fn write_mcu_control(&mut self, value: u32) {
        self.mcu.control(&mut self.fabric, value);
    }

    pub(crate) fn read_latest_flush(&mut self) -> u32 {
        if !self.power.is_l2_on() {
            self.report(RegisterMisuse::LatestFlushWithoutPower);
        }
        self.fabric.latest_flush
    }

    pub(crate) fn write_doorbell(&mut self, write: Write) {
        let number = write.index;
        if write.value & !doorbell::RING.mask32() != 0 {
            self.report(RegisterMisuse::DoorbellBits {
                number,
                value: write.value,
            });
        }
        if !doorbell::RING.get(write.value) {
            return;
        }
        if self.mcu.is_asleep() {
            return self.mcu.ring_asleep(&mut self.fabric, &self.power);
        }
        if !self.mcu.is_running() {
            // Nobody tells the host at once that the MCU has crashed, so a doorbell behind a crash is no misuse.
            if !self.mcu.is_fatal() {
                self.report(RegisterMisuse::DoorbellWithoutMcu { number });
            }
            return;
        }
        debug_assert!(number < DOORBELL.count);
        let delay = self.fabric.config.latencies.firmware;
        if number == KERNEL_DOORBELL {
            self.fabric.after(delay, Due::Doorbell);
        } else {
            self.fabric.after(delay, Due::UserDoorbell(number as u8));
        }
    }
}
