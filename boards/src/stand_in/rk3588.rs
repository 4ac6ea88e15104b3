//! RK3588: clocks, power domain and bus of the GPU.
//!
//! Facts: hardware/boards-rk3588.md 7, 8, 10 and 16.

use super::{News, StandIn};
use crate::steps::SmcCall;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

const CLKSEL_158: usize = 0xFD7C_0578;
/// Dividers of stacks and buses: no step changes them.
const OTHER_CLOCKS: [usize; 3] = [0xFD7C_057C, 0xFD7C_0580, 0xFD7C_0584];
const RESETS: [usize; 2] = [0xFD7C_0B08, 0xFD7C_0B0C];
const GATES: [usize; 2] = [0xFD7C_0908, 0xFD7C_090C];
const IDLE_REQUEST: usize = 0xFD8D_810C;
const IDLE_ACK: usize = 0xFD8D_8118;
const IDLE_STATUS: usize = 0xFD8D_8120;
const POWER_GATE: usize = 0xFD8D_814C;
const POWER_GATE_STATUS: usize = 0xFD8D_8180;
const REPAIR_STATUS: usize = 0xFD8D_8290;
/// Quality of service of the GPU's masters: lost with the domain, touched only while it is on.
const QOS: core::ops::Range<usize> = 0xFDF3_5000..0xFDF3_5700;
/// Gates of path, source, GPU, core group and stacks.
const NEEDED_GATES: u32 = 0xDA;
/// CLKSEL 158: divider, source, and the choice of the ring oscillator.
const DIVIDER: u32 = 0x1F;
const SOURCE: u32 = 0x7 << 5;
const PVTPLL: u32 = 1 << 14;
/// Megahertz of the sources.
const SOURCES: [f32; 5] = [1188.0, 1500.0, 786.43, 850.0, 702.0];
/// Above this, a voltage has to be known first (section 11).
const MOST_MHZ: f32 = 200.0;
/// Resets of the GPU, SYS_GPU, and the buses between them and the memory (section 8).
const NEEDED_RESETS: u32 = 0x1F30;
/// Resets that may be released (section 8, item 3).
const RELEASED: u32 = 0xDF30;
/// Bits of a gate register that are not the GPU's own: bit 0 of the first.
const FOREIGN_GATES: [u32; 2] = [0x0001, 0xFFF0];

/// The chip.
pub struct Rk3588 {
    /// The regulator gives VDD_GPU.
    pub supplied: bool,
    /// SOFTRST_CON66 and 67: a bit for each reset that is asserted.
    pub resets: [u32; 2],
    /// Gates of CLKGATE_CON66 that stay closed whatever is written.
    pub stuck_gates: u32,
    /// The power gate stays closed though the repair status says that the domain is on.
    pub stuck_power_gate: bool,
    powered: bool,
    idle: bool,
    gates: [u32; 2],
    clock: u32,
    gate_register: u32,
    idle_register: u32,
    qos: [u32; 0x1C0],
    /// Looks until a change is done.
    pending: u32,
    news: News,
}

/// As at its coldest: everything off, and a clock that is too fast for a voltage that nobody knows.
impl Default for Rk3588 {
    fn default() -> Rk3588 {
        Rk3588 {
            supplied: true,
            resets: [0; 2],
            stuck_gates: 0,
            stuck_power_gate: false,
            powered: false,
            idle: true,
            gates: [0xFFFE, 0xF],
            clock: PVTPLL,
            gate_register: 1,
            idle_register: 1,
            qos: [0; 0x1C0],
            pending: 0,
            news: News::default(),
        }
    }
}

impl Rk3588 {
    /// Whether the domain is on, and its bus runs.
    pub fn is_on(&self) -> bool {
        self.powered && !self.idle
    }

    /// Whether everything of the GPU is off.
    pub fn is_off(&self) -> bool {
        !self.powered && self.idle
    }

    fn is_in_reset(&self) -> bool {
        self.resets[0] & NEEDED_RESETS != 0
    }

    fn clocks_run(&self) -> bool {
        self.gates[0] & NEEDED_GATES == 0
    }

    fn megahertz(&self) -> f32 {
        let source = SOURCES.get(((self.clock & SOURCE) >> 5) as usize);
        source.copied().unwrap_or(0.0) / ((self.clock & DIVIDER) + 1) as f32
    }

    fn settled(&mut self) -> bool {
        self.pending = self.pending.saturating_sub(1);
        self.pending == 0
    }

    fn tell(&mut self, what: String) {
        self.news.tell(what);
    }

    /// A change of a register whose upper half says which bits of the lower are written.
    fn hiword(&mut self, at: usize, kept: u32, value: u32, foreign: u32) -> u32 {
        let mask = value >> 16;
        if mask & foreign != 0 {
            self.tell(format!(
                "{at:#x} = {value:#010x}: bits {:#x} are not the GPU's",
                mask & foreign
            ));
        }
        if value & 0xFFFF & !mask != 0 {
            self.tell(format!(
                "{at:#x} = {value:#010x}: bits that the upper half does not let through"
            ));
        }
        kept & !mask | value & mask
    }

    fn power_gate(&mut self, value: u32) {
        self.gate_register = self.hiword(POWER_GATE, self.gate_register, value, 0xFFFE);
        let on = self.gate_register & 1 == 0;
        if on && !self.clocks_run() {
            self.tell("the power gate goes on while clocks of the GPU are gated: its memories are not repaired".into());
        }
        if on && (self.clock & PVTPLL != 0 || self.megahertz() > MOST_MHZ) {
            self.tell(
                "the power gate goes on before the GPU's clock is set to 200 MHz or less".into(),
            );
        }
        if !on && !self.idle {
            self.tell("the power gate goes off while the GPU's bus runs".into());
        }
        self.powered = on && self.supplied && self.clocks_run();
        self.pending = 3;
    }

    fn idle_request(&mut self, value: u32) {
        self.idle_register = self.hiword(IDLE_REQUEST, self.idle_register, value, 0xFFFE);
        if !self.powered {
            self.tell("the bus of the GPU is asked for before its domain is on".into());
            return;
        }
        if self.pending > 0 {
            self.tell("the bus of the GPU is asked for before its domain was seen to be on".into());
        }
        self.idle = self.idle_register & 1 == 1;
        self.pending = 3;
    }
}

impl StandIn for Rk3588 {
    fn read(&mut self, at: usize) -> u32 {
        if let Some(index) = RESETS.iter().position(|reset| *reset == at) {
            return self.resets[index];
        }
        match at {
            POWER_GATE_STATUS => u32::from(!self.powered || self.stuck_power_gate),
            at if OTHER_CLOCKS.contains(&at) => 0,
            REPAIR_STATUS => u32::from(self.settled() && self.powered) << 1,
            IDLE_ACK | IDLE_STATUS => u32::from(!self.settled() || self.idle),
            POWER_GATE => self.gate_register,
            IDLE_REQUEST => self.idle_register,
            CLKSEL_158 => self.clock,
            at if QOS.contains(&at) => {
                if !self.is_on() {
                    self.tell(format!(
                        "a read of {at:#x} hangs the machine: the domain is off"
                    ));
                }
                self.qos.get((at - QOS.start) / 4).copied().unwrap_or(0)
            }
            at => match GATES.iter().position(|gate| *gate == at) {
                Some(index) => self.gates[index],
                None => {
                    self.tell(format!("a read of {at:#x}, which no step of the facts has"));
                    0
                }
            },
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        match at {
            at if at == RESETS[0] => {
                self.resets[0] = self.hiword(at, self.resets[0], value, !RELEASED);
            }
            POWER_GATE => self.power_gate(value),
            IDLE_REQUEST => self.idle_request(value),
            CLKSEL_158 => {
                self.clock = self.hiword(at, self.clock, value, !(DIVIDER | SOURCE | PVTPLL))
            }
            at if QOS.contains(&at) => {
                if !self.is_on() {
                    self.tell(format!(
                        "a write of {at:#x} hangs the machine: the domain is off"
                    ));
                }
                if let Some(place) = self.qos.get_mut((at - QOS.start) / 4) {
                    *place = value;
                }
            }
            at => match GATES.iter().position(|gate| *gate == at) {
                Some(index) => {
                    self.gates[index] =
                        self.hiword(at, self.gates[index], value, FOREIGN_GATES[index]);
                    self.gates[0] |= self.stuck_gates;
                }
                None => self.tell(format!(
                    "a write of {value:#x} to {at:#x}, which no step of the facts has"
                )),
            },
        }
    }

    fn smc(&mut self, _: SmcCall) -> Option<u64> {
        None
    }

    fn gpu_answers(&mut self) -> bool {
        let settled = self.pending == 0;
        let answers =
            self.is_on() && self.clocks_run() && !self.is_in_reset() && !self.stuck_power_gate;
        if !answers {
            self.tell(
                "an access to the GPU hangs the machine: it has no power, no clock or no bus, or is in reset"
                    .into(),
            );
        } else if !settled {
            self.tell("an access to the GPU before its bus was seen to run".into());
        }
        answers
    }

    fn now(&mut self, _: Duration) {}

    fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }
}
