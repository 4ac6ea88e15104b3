//! The firmware, played: the microcontroller's life, the interface in shared memory, groups on slots.
//!
//! The image's code is not executed, but nothing happens unless an image was loaded and mapped correctly (`boot`), and
//! nothing is looked at before a doorbell. Guarantees: input blocks are never written; interrupts follow the words.
//!
//! Facts: hardware/csf-mmio.md 11 and 16.5 to 16.7, csf-firmware.md 6 to 11 and 14.

mod boot;
mod interface;
pub(crate) mod stub;

use crate::config::Config;
use crate::diagnosis::RegisterMisuse;
use crate::fabric::{Due, Fabric};
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::power::Power;
use boot::Conditions;
use eitri_csf::registers::interrupts::{gpu_irq, job_irq};
use eitri_csf::registers::mcu::{McuRequest, McuState, mcu_control};
use interface::Interface;

/// The microcontroller and what its firmware knows.
#[derive(Debug)]
pub(crate) struct Mcu {
    state: McuState,
    /// What MCU_CONTROL asks for.
    request: McuRequest,
    /// Whether the last stop was an orderly halt, so that memory is still the firmware's own.
    warm: bool,
    interface: Option<Interface>,
}

impl Mcu {
    pub(crate) fn new(_config: &Config) -> Mcu {
        Mcu {
            state: McuState::Disabled,
            request: McuRequest::Disable,
            warm: false,
            interface: None,
        }
    }

    /// MCU_CONTROL.
    pub(crate) fn request(&self) -> u32 {
        self.request.number()
    }

    /// MCU_STATUS.
    pub(crate) fn status(&self) -> u32 {
        self.state.number()
    }

    /// Whether it answers doorbells.
    pub(crate) fn is_running(&self) -> bool {
        self.state == McuState::Enabled
    }

    fn enter(&mut self, fabric: &mut Fabric, state: McuState) {
        if self.state != state {
            self.state = state;
            fabric.irq.gpu.raise(gpu_irq::MCU_STATUS_CHANGED.mask32());
        }
    }

    /// A reset of the GPU.
    pub(crate) fn reset(&mut self) {
        self.state = McuState::Disabled;
        self.request = McuRequest::Disable;
        self.warm = false;
        self.interface = None;
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
        if fabric.injections.holds(Injection::BootFails) {
            return self.crash(fabric);
        }
        match boot::boot(fabric, memory, conditions) {
            Ok(interface) => {
                self.interface = Some(interface);
                self.enter(fabric, McuState::Enabled);
                if !fabric.injections.holds(Injection::BootNeverCompletes) {
                    fabric.irq.job.raise(job_irq::GLOBAL.mask32());
                }
            }
            Err(interface::Stop::Crash) => self.crash(fabric),
            Err(interface::Stop::Wait) => {
                fabric.later(fabric.config.latencies.firmware, Due::Boot);
            }
        }
    }

    /// MCU_CONTROL = 0 has taken effect: groups are lost, shared memory is kept.
    pub(crate) fn stopped(&mut self, fabric: &mut Fabric) {
        self.warm = self.state == McuState::Halted;
        self.interface = None;
        self.enter(fabric, McuState::Disabled);
    }

    /// The microcontroller can't go on.
    pub(crate) fn crash(&mut self, fabric: &mut Fabric) {
        self.warm = false;
        self.enter(fabric, McuState::Fatal);
    }
}
