//! Around the GPU: on a board that is not QEMU's, its console, and the stand-ins for clocks, resets, power, firmware and
//! watchdog, which tell what is wrong with an access.

use crate::machine;
use crate::physical_memory::GuestMemory;
use crate::report::say;
use alloc::boxed::Box;
use core::time::Duration;
use eitri_boards::qemu_virt::BOARD as QEMU;
use eitri_boards::stand_in::{self, SharedMemory, StandIn, Uart};
use eitri_boards::steps::SmcCall;
use eitri_boards::uart::Width;
use eitri_model::PhysicalMemory;

/// Functions of PSCI, and the version that boards have: hardware/boards.md 3.2.
const PSCI_VERSION: u32 = 0x8400_0000;
const PSCI_SYSTEM_RESET: u32 = 0x8400_0009;
const VERSION_1_0: u64 = 0x1_0000;
/// What the SMC calling convention says for an unknown call.
const UNKNOWN: u64 = u64::MAX;

/// What a call of the firmware comes to.
pub(crate) enum Called {
    /// x0.
    Answer(u64),
    /// The machine is reset: the image has ended.
    Reset,
}

/// All of that.
pub(crate) struct Around {
    chip: Option<Box<dyn StandIn>>,
    console: Option<Uart>,
}

impl Around {
    /// What is around the GPU of the machine's board.
    pub(crate) fn new() -> Around {
        let board = machine::board();
        Around {
            chip: stand_in::of(board),
            console: Uart::of(&board.console),
        }
    }

    /// Whether there is a register of such a device at an address.
    pub(crate) fn has(&self, address: usize) -> bool {
        let mut devices = machine::board().memory.devices.iter();
        self.chip.is_some() && devices.any(|region| region.contains(address))
    }

    /// Whether the register at an address is one byte, and no word.
    pub(crate) fn has_byte(&self, address: usize) -> bool {
        let of_bytes = self.console.as_ref().filter(|console| console.has(address));
        of_bytes.is_some_and(|console| console.width() == Width::Byte)
    }

    /// A load.
    pub(crate) fn read(&mut self, at: usize) -> u32 {
        match (&self.console, &mut self.chip) {
            (Some(console), _) if console.has(at) => console.read(at),
            (_, Some(chip)) => {
                let word = chip.read(at);
                chip.work(&mut OfImage);
                word
            }
            _ => 0,
        }
    }

    /// A store.
    pub(crate) fn write(&mut self, at: usize, value: u32) {
        match (&mut self.console, &mut self.chip) {
            (Some(console), _) if console.has(at) => {
                if let Some(byte) = console.write(at, value) {
                    send(byte);
                }
            }
            (_, Some(chip)) => {
                chip.write(at, value);
                chip.work(&mut OfImage);
            }
            _ => {}
        }
    }

    /// A call of the firmware.
    pub(crate) fn call(&mut self, call: SmcCall) -> Called {
        let of_chip = self.chip.as_mut().and_then(|chip| chip.smc(call));
        match (of_chip, call.function) {
            (Some(answer), _) => Called::Answer(answer),
            (None, PSCI_VERSION) => Called::Answer(VERSION_1_0),
            (None, PSCI_SYSTEM_RESET) => Called::Reset,
            (None, function) => {
                say!(
                    "diagnosis: a call of the firmware, {function:#x}, that this board does not know"
                );
                Called::Answer(UNKNOWN)
            }
        }
    }

    /// Whether the GPU's registers answer.
    pub(crate) fn gpu_answers(&mut self) -> bool {
        let mut chip = self.chip.as_mut();
        chip.as_mut().is_none_or(|chip| chip.gpu_answers())
    }

    /// Time passes.
    pub(crate) fn now(&mut self, time: Duration) {
        if let Some(chip) = &mut self.chip {
            chip.now(time);
        }
    }

    /// Says what was wrong since the last call.
    pub(crate) fn say_news(&mut self) {
        let news = self.chip.as_mut().map(|chip| chip.take_news());
        for line in news.unwrap_or_default() {
            say!("diagnosis: {}: {line}", machine::board().name);
        }
    }
}

/// The image's memory, for who is around the GPU.
struct OfImage;

impl SharedMemory for OfImage {
    fn read(&mut self, at: u64) -> Option<u32> {
        GuestMemory.read32(at).ok()
    }

    fn write(&mut self, at: u64, value: u32) -> bool {
        GuestMemory.write32(at, value).is_ok()
    }
}

/// Sends a character over QEMU's console.
fn send(byte: u8) {
    let data = QEMU.console.base().address() as *mut u32;
    // SAFETY: the data register of QEMU's UART, mapped as a device; the image does not see it.
    unsafe { data.write_volatile(u32::from(byte)) };
}
