//! MT8196: the GPUEB that powers the GPU, the registers that wake it, and its mailbox.
//!
//! Facts: hardware/boards-others.md 2.2.

use super::{News, SharedMemory, StandIn};
use crate::steps::SmcCall;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use core::time::Duration;

const STARTED: usize = 0x4B09_FD28;
const MAGIC: usize = 0x4B09_FD34;
const BUFFERS: Range<usize> = 0x4B09_FD80..0x4B0A_0000;
const MESSAGE: usize = 0x4B09_FD90;
const REPLY: usize = 0x4B09_FE70;
const SENT: usize = 0x4B17_0000;
const SEND: usize = 0x4B17_0004;
const CLEAR: usize = 0x4B17_0074;
const ARRIVED: usize = 0x4B17_0078;
const STATE: usize = 0x4B80_0504;
const TRIGGER_E2: usize = 0x4B80_0658;
const CONTROLS: usize = 0x4B80_0800;
const BUSY: usize = 0x4B80_09A4;
const REVISION: usize = 0x4B86_0128;

/// The revision whose trigger is elsewhere.
const E2: u32 = 0x101;
const TRIGGER: u32 = 1 << 0;
const REQUEST: u32 = 1 << 2;
const ON: u32 = 0b11 << 30;
/// What this one wants messages to begin with.
const OWN_MAGIC: u32 = 0x4755_4542;
/// The bit of the channel for power.
const POWER_CHANNEL: u32 = 1 << 1;
/// Words of a message.
const WORDS: usize = 8;
const GIVE_MEMORY: u32 = 0;
const POWER: u32 = 6;
const MEMORY_MAGIC: u32 = 0xBABA_DADA;
/// Behind both tables of operating points, if the second has room for as many as the first: 0x9A4 + (0x9A4 - 0x314).
const MEMORY_BYTES: u32 = 0x1034;
const SHADER_PRESENT: u64 = 0xD8;
/// Eleven cores of the twelve.
const USABLE: u32 = 0x6E_0077;
/// Looks until something is done.
const LOOKS: u32 = 3;

/// The chip.
pub struct Mt8196 {
    /// The revision of the hardware.
    pub revision: u32,
    on: bool,
    trigger: bool,
    request: bool,
    /// The request went down while its trigger was set.
    went_down: bool,
    busy: u32,
    starting: u32,
    sent: u32,
    arrived: u32,
    buffers: [u32; 0x280 / 4],
    /// Looks until the message is taken.
    work: u32,
    gpu: bool,
    news: News,
}

/// As at its coldest, of the later revision.
impl Default for Mt8196 {
    fn default() -> Mt8196 {
        Mt8196 {
            revision: E2,
            on: false,
            trigger: false,
            request: true,
            went_down: false,
            busy: LOOKS,
            starting: LOOKS,
            sent: 0,
            arrived: 0,
            buffers: [0; 0x280 / 4],
            work: 0,
            gpu: false,
            news: News::default(),
        }
    }
}

impl Mt8196 {
    /// Whether the GPU has power.
    pub fn is_on(&self) -> bool {
        self.gpu
    }

    fn tell(&mut self, what: String) {
        self.news.tell(what);
    }

    fn trigger_register(&self) -> usize {
        match self.revision {
            E2 => TRIGGER_E2,
            _ => CONTROLS,
        }
    }

    fn set_trigger(&mut self, at: usize, on: bool) {
        if at != self.trigger_register() {
            self.tell(format!(
                "{at:#x} has no trigger in revision {:#x}",
                self.revision
            ));
            return;
        }
        if on && self.busy > 0 {
            self.tell("the GPUEB's domain is triggered while something is under way there".into());
        }
        self.trigger = on;
    }

    fn set_request(&mut self, on: bool) {
        if !self.trigger {
            self.tell("a request to the GPUEB's domain without its trigger".into());
            return;
        }
        if on && !self.went_down {
            self.tell("a request to the GPUEB's domain that was not taken down before".into());
        }
        self.went_down |= !on;
        self.on |= on && self.went_down;
        self.request = on;
    }

    fn controls(&mut self, value: u32) {
        let before = u32::from(self.request) << 2
            | u32::from(self.trigger && self.trigger_register() == CONTROLS);
        let changed = before ^ value;
        if changed & !(REQUEST | TRIGGER) != 0 {
            self.tell(format!(
                "{CONTROLS:#x} = {value:#x}: bits that no step of the facts has"
            ));
        }
        if changed & TRIGGER != 0 {
            self.set_trigger(CONTROLS, value & TRIGGER != 0);
        }
        if changed & REQUEST != 0 {
            self.set_request(value & REQUEST != 0);
        }
    }

    fn has_started(&self) -> bool {
        self.on && self.starting == 0
    }

    fn send(&mut self, value: u32) {
        if value != POWER_CHANNEL {
            self.tell(format!(
                "a message on channels {value:#x}, where the GPUEB expects none"
            ));
        }
        if !self.has_started() {
            self.tell("a message to the GPUEB before it was seen to have started".into());
            return;
        }
        if self.sent & POWER_CHANNEL != 0 {
            self.tell("a message to the GPUEB before the one before was taken".into());
        }
        self.sent |= value & POWER_CHANNEL;
        self.work = LOOKS;
    }

    fn message(&self) -> [u32; WORDS] {
        let first = (MESSAGE - BUFFERS.start) / 4;
        core::array::from_fn(|index| self.buffers[first + index])
    }

    fn obey(&mut self, memory: &mut dyn SharedMemory) {
        let message = self.message();
        let [magic, command, target, zero, first, second, third, _] = message;
        if magic != OWN_MAGIC || zero != 0 || target != 0 {
            self.tell(format!("a message to the GPUEB that is none: {message:x?}"));
            return;
        }
        match (command, first) {
            (GIVE_MEMORY, _) => {
                let base = u64::from(second) << 32 | u64::from(first);
                if memory.read(base) != Some(MEMORY_MAGIC) {
                    self.tell(format!(
                        "memory for the GPUEB at {base:#x} that is not marked"
                    ));
                }
                if third < MEMORY_BYTES {
                    self.tell(format!(
                        "memory for the GPUEB of {third:#x} bytes: too little"
                    ));
                } else if !memory.write(base + SHADER_PRESENT, USABLE) {
                    self.tell(format!("memory for the GPUEB at {base:#x} that is none"));
                }
            }
            (POWER, 0 | 1) => self.gpu = first == 1,
            _ => self.tell(format!(
                "a message that no step of the facts has: {message:x?}"
            )),
        }
    }
}

/// One look fewer until something is done.
fn look(looks: &mut u32) -> bool {
    *looks = looks.saturating_sub(1);
    *looks == 0
}

impl StandIn for Mt8196 {
    fn read(&mut self, at: usize) -> u32 {
        match at {
            REVISION => self.revision,
            STATE => match self.on && !self.trigger {
                true => ON,
                false => 0,
            },
            BUSY => u32::from(!look(&mut self.busy)) << 16,
            CONTROLS => {
                let own = self.trigger && self.trigger_register() == CONTROLS;
                u32::from(self.request) << 2 | u32::from(own)
            }
            TRIGGER_E2 => u32::from(self.trigger && self.trigger_register() == TRIGGER_E2),
            STARTED => u32::from(self.on && look(&mut self.starting)),
            MAGIC => match self.has_started() {
                true => OWN_MAGIC,
                false => 0,
            },
            SENT => self.sent,
            ARRIVED => self.arrived,
            at if BUFFERS.contains(&at) => self.buffers[(at - BUFFERS.start) / 4],
            _ => {
                self.tell(format!("a read of {at:#x}, which no step of the facts has"));
                0
            }
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        match at {
            CONTROLS => self.controls(value),
            TRIGGER_E2 => {
                if value & !TRIGGER != 0 {
                    self.tell(format!(
                        "{at:#x} = {value:#x}: bits that no step of the facts has"
                    ));
                }
                self.set_trigger(at, value & TRIGGER != 0);
            }
            SEND => self.send(value),
            CLEAR => self.arrived &= !value,
            at if (MESSAGE..MESSAGE + 4 * WORDS).contains(&at) => {
                if self.sent & POWER_CHANNEL != 0 {
                    self.tell("the buffer of a message is written before that was taken".into());
                }
                self.buffers[(at - BUFFERS.start) / 4] = value;
            }
            _ => self.tell(format!(
                "a write of {value:#x} to {at:#x}, which no step of the facts has"
            )),
        }
    }

    fn smc(&mut self, _: SmcCall) -> Option<u64> {
        None
    }

    fn work(&mut self, memory: &mut dyn SharedMemory) {
        if self.sent & POWER_CHANNEL == 0 || !look(&mut self.work) {
            return;
        }
        self.obey(memory);
        self.sent &= !POWER_CHANNEL;
        let first = (REPLY - BUFFERS.start) / 4;
        let message = self.message();
        self.buffers[first..first + WORDS].copy_from_slice(&message);
        self.arrived |= POWER_CHANNEL;
    }

    fn gpu_answers(&mut self) -> bool {
        if !self.gpu {
            self.tell("an access to the GPU, which the GPUEB was not asked to switch on".into());
        }
        self.gpu
    }

    fn now(&mut self, _: Duration) {}

    fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }
}
