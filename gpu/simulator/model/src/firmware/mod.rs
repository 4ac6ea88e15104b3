//! The firmware, played: the microcontroller's life, the interface in shared memory, groups on slots.
//!
//! The image's code is not executed, but nothing happens unless an image was loaded and mapped correctly (`boot`), and
//! nothing is looked at before a doorbell. Guarantees: input blocks are never written; interrupts follow the words.
//!
//! Facts: hardware/csf-mmio.md 11 and 16.5 to 16.7, csf-firmware.md 6 to 11 and 14.

mod boot;
mod counters;
mod global;
mod group;
mod heap;
mod interface;
mod interfaces;
mod protected;
mod schedule;
mod slot;
mod snapshot;
mod status;
mod streams;
pub(crate) mod stub;
mod suspended;

use crate::diagnosis::{FirmwareMisuse, RegisterMisuse};
use crate::fabric::{Due, Fabric};
use crate::fidelity::Inexact;
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::mmu::MCU_SPACE;
use crate::power::Power;
use crate::stream::Work;
use crate::work::Cores;
use alloc::vec::Vec;
use boot::Conditions;
use eitri_csf::interface::global::{GLB_HALT_STATUS, HALT_STATUS_OK, HALT_STATUS_PANIC};
use eitri_csf::interface::group::csg_req;
use eitri_csf::registers::interrupts::{gpu_irq, job_irq};
use eitri_csf::registers::mcu::{McuRequest, McuState, mcu_control};
use eitri_csf::registers::power::Domain;
use global::{Global, Wanted};
use interface::{Interface, Stop, Words};
use interfaces::Interfaces;
use protected::Protection;
use slot::{Change, Slot};
use suspended::SuspendStore;

/// The microcontroller and what its firmware knows.
#[derive(Clone, Debug)]
pub(crate) struct Mcu {
    state: McuState,
    /// What MCU_CONTROL asks for.
    request: McuRequest,
    /// Whether the last stop was an orderly halt, so that memory is still the firmware's own.
    warm: bool,
    interface: Option<Interface>,
    global: Global,
    slots: Vec<Slot>,
    cores: Cores,
    suspended: SuspendStore,
    interfaces: Interfaces,
    protection: Protection,
    /// Whether it halted to sleep: a doorbell wakes it, with its groups still on their slots.
    sleeping: bool,
    /// A doorbell was rung meanwhile.
    rung_asleep: bool,
    /// Whether the host was told that all groups are idle.
    idle_reported: bool,
}

/// Whether the firmware waits because a part of its own space is locked. The lock may be of a part that it does not want; but
/// it does one thing after the other, so that it is enough to do nothing while there is one (hardware/gpu-mmu.md 9).
fn waits(fabric: &Fabric) -> bool {
    fabric.mmu.space(MCU_SPACE).has_lock()
}

impl Mcu {
    pub(crate) fn new() -> Mcu {
        Mcu {
            state: McuState::Disabled,
            request: McuRequest::Disable,
            warm: false,
            interface: None,
            global: Global::default(),
            slots: Vec::new(),
            cores: Cores::default(),
            suspended: SuspendStore::default(),
            interfaces: Interfaces::default(),
            protection: Protection::Off,
            sleeping: false,
            rung_asleep: false,
            idle_reported: false,
        }
    }

    /// The shader cores.
    pub(crate) fn cores(&self) -> &Cores {
        &self.cores
    }

    /// The shader cores, to change.
    pub(crate) fn cores_mut(&mut self) -> &mut Cores {
        &mut self.cores
    }

    /// MCU_CONTROL.
    pub(crate) fn request(&self) -> u32 {
        mcu_control::DOORBELLS_HELD.set32(self.request.number(), self.sleeping)
    }

    /// MCU_STATUS.
    pub(crate) fn status(&self) -> u32 {
        self.state.number()
    }

    /// Whether it answers doorbells.
    pub(crate) fn is_running(&self) -> bool {
        self.state == McuState::Enabled
    }

    /// Whether it has crashed, and was not disabled since.
    pub(crate) fn is_fatal(&self) -> bool {
        self.state == McuState::Fatal
    }

    fn enter(&mut self, fabric: &mut Fabric, state: McuState) {
        if self.state != state {
            self.state = state;
            fabric.irq.gpu.raise(gpu_irq::MCU_STATUS_CHANGED.mask32());
        }
    }

    /// A reset of the GPU. Suspended groups live in memory and survive.
    pub(crate) fn reset(&mut self) {
        *self = Mcu {
            suspended: core::mem::take(&mut self.suspended),
            ..Mcu::new()
        };
    }

    /// Takes note of jobs that run while the GPU is stopped.
    pub(crate) fn note_running_jobs(&self, fabric: &mut Fabric) {
        self.cores.note_running(fabric, None);
    }

    /// The firmware is gone, and with it every group on a slot.
    fn forget(&mut self) {
        self.interface = None;
        self.slots.clear();
        self.cores = Cores::default();
        self.interfaces = Interfaces::default();
        self.protection = Protection::Off;
        (self.sleeping, self.rung_asleep) = (false, false);
        self.idle_reported = false;
    }

    /// A write to MCU_CONTROL.
    pub(crate) fn control(&mut self, fabric: &mut Fabric, value: u32) {
        let Some(request) = mcu_control::REQUEST.get(value) else {
            return fabric.journal.report(RegisterMisuse::McuRequest { value });
        };
        self.request = request;
        let delay = match request {
            McuRequest::Disable => {
                fabric.agenda.remove(|due| due == Due::Boot);
                fabric.after(fabric.config.latencies.stop, Due::Stop);
                return;
            }
            McuRequest::Enable => {
                fabric.journal.report(RegisterMisuse::McuNotAuto);
                fabric.config.latencies.boot
            }
            McuRequest::Auto => fabric.config.latencies.boot,
        };
        if self.state != McuState::Disabled || fabric.agenda.holds(Due::Boot) {
            return fabric
                .journal
                .report(RegisterMisuse::McuAlreadyRunning { value });
        }
        fabric.after(delay, Due::Boot);
    }

    /// The boot is over: either all was well, or the state says that it was not.
    pub(crate) fn boot(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        l2_on: bool,
        hash_good: bool,
    ) {
        let conditions = Conditions {
            l2_on,
            hash_good,
            cold: !self.warm,
        };
        if fabric.strikes(Injection::BootFails) {
            return self.panic(fabric, memory);
        }
        match self.take_over(fabric, memory, conditions) {
            Ok(()) => {
                self.enter(fabric, McuState::Enabled);
                if !fabric.strikes(Injection::BootNeverCompletes) {
                    fabric.raise_job(job_irq::GLOBAL.mask32());
                }
            }
            Err(Stop::Crash) => self.panic(fabric, memory),
            Err(Stop::Wait) => fabric.later(fabric.config.latencies.firmware, Due::Boot),
        }
    }

    /// Reads the interface and sets up what answers through it.
    fn take_over(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        conditions: Conditions,
    ) -> Result<(), Stop> {
        let interface = boot::boot(fabric, memory, conditions)?;
        let mut words = Words { fabric, memory };
        let warm = !conditions.cold;
        self.forget();
        self.global = Global::new(&mut words, &interface, warm)?;
        for (number, blocks) in interface.groups.iter().enumerate() {
            let slot = Slot::new(&mut words, number as u8, blocks, warm)?;
            self.slots.push(slot);
        }
        self.interface = Some(interface);
        Ok(())
    }

    /// Doorbell 0 has arrived.
    pub(crate) fn doorbell(
        &mut self,
        fabric: &mut Fabric,
        power: &mut Power,
        memory: &mut dyn PhysicalMemory,
    ) {
        if !self.is_running() {
            return;
        }
        if fabric.strikes(Injection::McuCrash) {
            return self.panic(fabric, memory);
        }
        if waits(fabric) {
            return fabric.later(fabric.config.latencies.firmware, Due::Doorbell);
        }
        match self.look(fabric, memory) {
            Ok(()) => self.settle(fabric, power, memory),
            Err(Stop::Wait) => fabric.later(fabric.config.latencies.firmware, Due::Doorbell),
            Err(Stop::Crash) => self.panic(fabric, memory),
        }
    }

    /// Looks at the global interface and at every slot that the host rang for.
    fn look(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) -> Result<(), Stop> {
        let Some(interface) = &self.interface else {
            return Ok(());
        };
        let spurious = fabric.strikes(Injection::SpuriousSyncUpdate);
        let mut words = Words { fabric, memory };
        let found = self.global.process(&mut words, interface)?;
        let part = words.fabric.config.product.part;
        let (alloc, tilers) = (self.global.alloc & part.shader_present, part.tiler_present);
        for (slot, blocks) in self.slots.iter_mut().zip(&interface.groups) {
            if found.slots >> slot.number & 1 != 0 {
                slot.silent_since = None;
                let change = slot.process(&mut words, blocks, &mut self.suspended)?;
                self.cores.resume_jobs(self.suspended.take_resumed());
                if change == Change::Done && slot.group.is_none() {
                    self.cores.note_running(words.fabric, Some(slot.number));
                    self.cores.drop_jobs_of(slot.number);
                }
            } else {
                slot.report_silent_requests(&mut words, blocks)?;
            }
            // A host that has changed a sync object itself rings so that everybody looks.
            if let Some(group) = &mut slot.group {
                group.wake();
                if spurious {
                    group.pending_events |= csg_req::SYNC_UPDATE.mask32();
                }
                group.permit(alloc, tilers);
                for work in Work::ALL {
                    let endpoints = group.endpoints_for(work, alloc);
                    self.cores.allow(words.fabric, slot.number, work, endpoints);
                }
            }
            slot.store_endpoints(&mut words, blocks)?;
        }
        let stops = found.wanted != Wanted::Run && !words.fabric.strikes(Injection::HaltIgnored);
        if stops {
            words.set32(interface.output, GLB_HALT_STATUS, HALT_STATUS_OK)?;
            self.global.acknowledge_state(&mut words, interface)?;
        }
        if found.protect {
            self.enter_protected(&mut words)?;
        }
        self.report_equal_priorities(fabric);
        if found.pinged {
            self.abandon_protected(fabric);
        }
        match found.wanted {
            Wanted::Halt if stops => self.halt(fabric),
            Wanted::Sleep if stops => self.sleep(fabric),
            _ => {}
        }
        Ok(())
    }

    /// SLEEP: halts with the groups on their slots.
    fn sleep(&mut self, fabric: &mut Fabric) {
        self.sleeping = true;
        self.enter(fabric, McuState::Halted);
    }

    /// Whether a doorbell would wake it.
    pub(crate) fn is_asleep(&self) -> bool {
        self.sleeping && self.state == McuState::Halted
    }

    /// A doorbell rang while it sleeps: the host is told, and once the L2 is on, it wakes.
    pub(crate) fn ring_asleep(&mut self, fabric: &mut Fabric, power: &Power) {
        self.rung_asleep = true;
        fabric.irq.gpu.hold(gpu_irq::DOORBELL_MIRROR.mask32(), true);
        self.wake_if_rung(fabric, power);
    }

    /// Wakes if a doorbell rang while it slept and the L2 is on.
    pub(crate) fn wake_if_rung(&mut self, fabric: &mut Fabric, power: &Power) {
        if self.is_asleep() && self.rung_asleep && power.is_l2_on() {
            fabric.later(fabric.config.latencies.firmware, Due::Wake);
        }
    }

    /// It is awake again, and looks at its doorbells.
    pub(crate) fn woken(&mut self, fabric: &mut Fabric) {
        if !self.is_asleep() {
            return;
        }
        (self.sleeping, self.rung_asleep) = (false, false);
        fabric
            .irq
            .gpu
            .hold(gpu_irq::DOORBELL_MIRROR.mask32(), false);
        self.enter(fabric, McuState::Enabled);
        for group in self.slots.iter_mut().filter_map(|slot| slot.group.as_mut()) {
            group.look_at_rings = true;
        }
        fabric.later(fabric.config.latencies.firmware, Due::Doorbell);
    }

    /// A sample of the counters that the host asked for is due.
    pub(crate) fn take_sample(
        &mut self,
        fabric: &mut Fabric,
        power: &Power,
        memory: &mut dyn PhysicalMemory,
    ) {
        if !self.is_running() {
            return;
        }
        let Some(interface) = &self.interface else {
            return;
        };
        let delay = fabric.config.latencies.firmware;
        let ready = power.ready(Domain::Shader);
        let mut words = Words { fabric, memory };
        match self.global.take_sample(&mut words, interface, ready) {
            Ok(true) => {}
            Ok(false) | Err(Stop::Wait) => fabric.later(delay, Due::Sample),
            Err(Stop::Crash) => self.panic(fabric, memory),
        }
    }

    /// The firmware takes a sample by itself before cores lose their power.
    pub(super) fn sample_before_power_off(
        &mut self,
        fabric: &mut Fabric,
        power: &Power,
        memory: &mut dyn PhysicalMemory,
    ) {
        let Some(interface) = &self.interface else {
            return;
        };
        if !self.global.counters.is_on() {
            return;
        }
        self.global.counters.note_power_off();
        let mut words = Words { fabric, memory };
        let ready = power.ready(Domain::Shader);
        // A sample that cannot be written now is lost with the power.
        if self.global.sample(&mut words, interface, ready) == Err(Stop::Crash) {
            self.panic(fabric, memory);
        }
    }

    /// GPU_STATUS bit 2.
    pub(crate) fn counts(&self) -> bool {
        self.global.counters.is_on()
    }

    /// The GPU was reset to leave protected mode, and the firmware has booted again.
    pub(crate) fn leave_completed(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        let mut words = Words { fabric, memory };
        if self.left_protected(&mut words) == Err(Stop::Crash) {
            self.panic(fabric, memory);
        }
    }

    fn report_equal_priorities(&self, fabric: &mut Fabric) {
        let mut seen: [Option<u8>; 16] = [None; 16];
        for slot in &self.slots {
            let Some(group) = &slot.group else { continue };
            let priority = group.priority();
            if let Some(other) = seen[priority as usize % 16].replace(slot.number) {
                fabric.journal.report(FirmwareMisuse::EqualPriority {
                    group: other,
                    other: slot.number,
                    priority,
                });
            }
        }
    }

    fn halt(&mut self, fabric: &mut Fabric) {
        let occupied = self.slots.iter().filter(|slot| slot.group.is_some());
        let slots = occupied.fold(0, |mask, slot| mask | 1 << slot.number);
        if slots != 0 {
            fabric
                .journal
                .report(FirmwareMisuse::HaltWithGroups { slots });
        }
        self.forget();
        self.enter(fabric, McuState::Halted);
    }

    /// The doorbell of a stream has arrived.
    pub(crate) fn user_doorbell(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        number: u8,
    ) {
        if !self.is_running() {
            return;
        }
        if waits(fabric) {
            return fabric.later(fabric.config.latencies.firmware, Due::UserDoorbell(number));
        }
        let mut words = Words { fabric, memory };
        let mut found = false;
        for slot in &mut self.slots {
            match slot.user_doorbell(&mut words, number.into()) {
                Ok(here) => found |= here,
                Err(Stop::Wait) => {
                    let delay = words.fabric.config.latencies.firmware;
                    return words.fabric.later(delay, Due::UserDoorbell(number));
                }
                Err(Stop::Crash) => return self.panic(fabric, memory),
            }
        }
        if !found {
            let number = number.into();
            fabric
                .journal
                .report(RegisterMisuse::DoorbellUnused { number });
        }
    }

    /// MCU_CONTROL = 0 has taken effect: groups are lost, shared memory is kept.
    pub(crate) fn stopped(&mut self, fabric: &mut Fabric) {
        self.warm = self.state == McuState::Halted;
        self.forget();
        self.enter(fabric, McuState::Disabled);
    }

    /// The firmware can't go on: it says so in shared memory, if it can still reach that, and stops.
    // FACT: sources disagree about the numbers of HALT_STATUS (hardware/csf-firmware.md 8); Linux's number of a panic stands
    // for every crash. Settled by reading the word after a provoked crash on any board.
    fn panic(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        fabric.fidelity.meet(Inexact::HaltStatus);
        if let Some(interface) = &self.interface {
            let output = interface.output;
            let mut words = Words { fabric, memory };
            // It may be this memory that can't be reached.
            let _ = words.set32(output, GLB_HALT_STATUS, HALT_STATUS_PANIC);
        }
        self.crash(fabric);
    }

    /// The microcontroller stops where it is.
    pub(crate) fn crash(&mut self, fabric: &mut Fabric) {
        self.warm = false;
        self.forget();
        self.enter(fabric, McuState::Fatal);
    }
}
