//! Agreement: whether what a board states fits together.
//!
//! For constants: a board whose parts do not agree is not compiled; one of a file or of a device tree is refused.

use crate::board::{Description, Gic, Gpu};
use crate::region::Region;
use crate::steps::bus::REPLY_BYTES;
use crate::steps::{Action, Channel, Doorbell, Step};

/// What blocks of the initial map are multiples of.
const BLOCK: usize = 2 << 20;
/// What pages are multiples of.
const PAGE: usize = 4096;

impl Description {
    /// What of it does not agree with the rest.
    pub(crate) const fn problem(&self) -> Option<&'static str> {
        let memory = &self.memory;
        if !memory.image.is_whole(BLOCK) {
            return Some("image: no whole 2 MiB");
        }
        self.problem_of_rest()
    }

    /// The same for an image that lies wherever its loader has put it.
    pub(crate) const fn problem_of_rest(&self) -> Option<&'static str> {
        let memory = &self.memory;
        if !memory.heap.is_whole(BLOCK) {
            return Some("heap: no whole 2 MiB");
        }
        if !memory.shared.is_whole(PAGE) || !self.gpu.window.is_whole(PAGE) {
            return Some("shared memory or window: no whole pages");
        }
        let controller = match memory.controller {
            Some(region) => region,
            // Behind everything.
            None => Region {
                base: usize::MAX / PAGE * PAGE,
                bytes: 0,
            },
        };
        let regions = [
            memory.image,
            memory.heap,
            memory.shared,
            self.gpu.window,
            controller,
        ];
        let mut index = 0;
        while index < regions.len() {
            if regions[index].base == 0 {
                return Some("memory at address 0");
            }
            let mut other = 0;
            while other < index {
                if regions[index].overlaps(regions[other]) {
                    return Some("an overlap");
                }
                other += 1;
            }
            let mut device = 0;
            while device < memory.devices.len() {
                let registers = memory.devices[device];
                if !registers.is_whole(PAGE) {
                    return Some("a device: no whole pages");
                }
                if regions[index].overlaps(registers) {
                    return Some("a device overlaps");
                }
                device += 1;
            }
            let mut never = 0;
            while never < memory.never.len() {
                if regions[index].overlaps(memory.never[never]) {
                    return Some("memory that is not ours");
                }
                never += 1;
            }
            index += 1;
        }
        if let Some(problem) = self.problem_of_registers() {
            return Some(problem);
        }
        steps_problem(&self.gpu, memory.devices, self.power_controllers)
    }

    const fn problem_of_registers(&self) -> Option<&'static str> {
        if !self.is_device(self.console.base().address()) {
            return Some("console: no device");
        }
        if let Some(problem) = self.console.problem() {
            return Some(problem);
        }
        if let Some(watchdog) = self.watchdog
            && !self.is_device(watchdog.base.address())
        {
            return Some("watchdog: no device");
        }
        if !self.is_device(self.gic.distributor().address()) {
            return Some("GICD: no device");
        }
        if !self.is_device(self.gic.of_cpus().address()) {
            return Some(match self.gic {
                Gic::V3 { .. } => "GICR: no device",
                Gic::V2 { .. } => "GICC: no device",
            });
        }
        None
    }

    /// Whether an address is memory that the board knows, its own or somebody else's, or the GPU's.
    #[cfg(feature = "drivers")]
    pub(crate) fn is_taken(&self, address: usize) -> bool {
        let memory = &self.memory;
        [memory.image, memory.heap, memory.shared, self.gpu.window]
            .iter()
            .chain(&memory.controller)
            .chain(memory.never)
            .any(|region| region.contains(address))
    }

    const fn is_device(&self, address: usize) -> bool {
        is_listed(self.memory.devices, address)
    }
}

/// Whether an address lies in one of these regions.
pub(crate) const fn is_listed(regions: &[Region], address: usize) -> bool {
    let mut index = 0;
    while index < regions.len() {
        if regions[index].contains(address) {
            return true;
        }
        index += 1;
    }
    false
}

/// What is wrong with the steps of a GPU whose devices and power controllers are these.
pub(crate) const fn steps_problem(
    gpu: &Gpu,
    devices: &[Region],
    controllers: &[Channel],
) -> Option<&'static str> {
    let mut index = 0;
    while index < controllers.len() {
        let channel = &controllers[index];
        if !is_listed(devices, channel.page) {
            return Some("power controller: no device");
        }
        if let Doorbell::Mailbox { at, .. } = channel.doorbell
            && !is_listed(devices, at)
        {
            return Some("a mailbox: no device");
        }
        index += 1;
    }
    let sequences = [gpu.supply, gpu.power_on, gpu.power_off];
    let mut index = 0;
    while index < sequences.len() {
        if let Some(problem) = sequence_problem(sequences[index], gpu, devices, controllers) {
            return Some(problem);
        }
        index += 1;
    }
    None
}

const fn sequence_problem(
    steps: &[Action],
    gpu: &Gpu,
    devices: &[Region],
    controllers: &[Channel],
) -> Option<&'static str> {
    let mut index = 0;
    while index < steps.len() {
        if let Some(at) = steps[index].step.register() {
            let mapped = is_listed(devices, at) || gpu.window.contains(at);
            if !mapped || !at.is_multiple_of(4) {
                return Some("a step: no register");
            }
        }
        match steps[index].step {
            Step::Transfer(transfer) if transfer.reply.len() > REPLY_BYTES => {
                return Some("a reply: too long");
            }
            Step::Scmi(message) if message.to >= controllers.len() => {
                return Some("a message to nobody");
            }
            Step::Mailbox(message) => {
                let registers = message.registers();
                let mut register = 0;
                while register < registers.len() {
                    if !is_listed(devices, registers[register]) {
                        return Some("a mailbox: no device");
                    }
                    register += 1;
                }
                if !message.fits() {
                    return Some("a message: too long");
                }
            }
            Step::Choose { so, otherwise, .. } => {
                if let Some(problem) = sequence_problem(so, gpu, devices, controllers) {
                    return Some(problem);
                }
                if let Some(problem) = sequence_problem(otherwise, gpu, devices, controllers) {
                    return Some(problem);
                }
            }
            _ => {}
        }
        index += 1;
    }
    None
}
