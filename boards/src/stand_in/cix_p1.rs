//! CIX P1: the secure firmware that switches the GPU's domain, its reset line, and the unit that gates its clocks.
//!
//! Facts: hardware/boards-others.md 1.3, 1.4 and 1.5.

use super::scmi::{INVALID, NOT_SUPPORTED, Page, Received, SUCCESS};
use super::{News, StandIn};
use crate::steps::SmcCall;
use crate::steps::header::{CLOCK_ATTRIBUTES, CLOCK_CONFIG, POWER_GET, POWER_SET};
use crate::steps::power_state::{OFF, ON};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

const FIRMWARE_PAGE: usize = 0x8438_0000;
const FIRMWARE_CALL: SmcCall = SmcCall {
    function: 0xC200_0001,
    arguments: [0x8_4380, 0],
};
const CONTROLLER_PAGE: usize = 0x0659_0000;
const CONTROLLER_DOORBELL: usize = 0x0659_0080;
const RESETS: usize = 0x1600_0400;
const GPU_RESET_N: u32 = 1 << 6;
const RCSU_RESETS: usize = 0x1600_0800;
const RCSU_RESET_N: u32 = 1 << 28;
const RCSU: core::ops::Range<usize> = 0x1500_0000..0x1501_0000;
const RCSU_GATING: usize = 0x1500_0218;
const Q_CHANNEL: u32 = 1 << 0;
const GPU_DOMAIN: u32 = 21;
const GPU_CLOCKS: [u32; 4] = [30, 31, 32, 272];

/// The chip.
pub struct CixP1 {
    firmware: Page,
    controller: Page,
    domain: u32,
    /// The GPU's reset stays asserted whatever is written.
    pub stuck_reset: bool,
    /// The GPU's reset and clock unit is in reset.
    pub rcsu_in_reset: bool,
    /// The reset and clock unit does not take what is written.
    pub stuck_gating: bool,
    resets: u32,
    gating: u32,
    /// The reset line was pulled since the domain went on.
    was_reset: bool,
    news: News,
}

impl Default for CixP1 {
    fn default() -> CixP1 {
        CixP1 {
            firmware: Page::new(FIRMWARE_PAGE),
            controller: Page::new(CONTROLLER_PAGE),
            domain: OFF,
            stuck_reset: false,
            rcsu_in_reset: false,
            stuck_gating: false,
            // Whatever else hangs on this register runs.
            resets: 0x7F,
            gating: 0,
            was_reset: false,
            news: News::default(),
        }
    }
}

impl CixP1 {
    /// State of the GPU's domain.
    pub fn domain(&self) -> u32 {
        self.domain
    }

    fn of_firmware(&mut self, message: &Received) -> Vec<u32> {
        match (message.header, message.payload.as_slice()) {
            (POWER_GET, [GPU_DOMAIN]) => vec![SUCCESS, self.domain],
            (POWER_SET, [0, GPU_DOMAIN, state @ (ON | OFF)]) => {
                self.domain = *state;
                self.was_reset = false;
                vec![SUCCESS]
            }
            (header, payload) => {
                self.news.tell(format!("SCMI: message {header:#x} with {payload:x?} to the firmware, which no step of the facts has"));
                vec![NOT_SUPPORTED]
            }
        }
    }

    fn of_controller(&mut self, message: &Received) -> Vec<u32> {
        match (message.header, message.payload.as_slice()) {
            (CLOCK_ATTRIBUTES, [clock]) if GPU_CLOCKS.contains(clock) => vec![SUCCESS, 1],
            (CLOCK_CONFIG, [clock, 0 | 1, 0]) if GPU_CLOCKS.contains(clock) => {
                if self.domain != ON {
                    self.news.tell(format!(
                        "SCMI: clock {clock} is switched while the GPU's domain is off"
                    ));
                }
                vec![SUCCESS]
            }
            (header, payload) => {
                self.news.tell(format!("SCMI: message {header:#x} with {payload:x?} to the power controller: nothing that the GPU needs"));
                vec![INVALID]
            }
        }
    }

    fn reset(&mut self, value: u32) {
        let changed = self.resets ^ value;
        if changed & !GPU_RESET_N != 0 {
            self.news.tell(format!(
                "the machine stops: bits {:#x} of the reset register are not the GPU's",
                changed & !GPU_RESET_N
            ));
        }
        if self.domain != ON {
            self.news
                .tell("the GPU's reset is changed while its domain is off".into());
        }
        self.was_reset |= value & GPU_RESET_N == 0;
        self.resets = match self.stuck_reset {
            true => value & !GPU_RESET_N,
            false => value,
        };
    }

    fn needs_rcsu(&mut self) {
        if self.rcsu_in_reset {
            self.news
                .tell("an access to the reset and clock unit while it is in reset".into());
        }
    }

    fn stranger(&mut self, access: &str, at: usize) {
        self.news.tell(format!(
            "a {access} of {at:#x}, which no step of the facts has"
        ));
    }
}

impl StandIn for CixP1 {
    fn read(&mut self, at: usize) -> u32 {
        match at {
            RESETS => self.resets,
            RCSU_RESETS if self.rcsu_in_reset => 0,
            RCSU_RESETS => RCSU_RESET_N,
            RCSU_GATING => {
                self.needs_rcsu();
                self.gating
            }
            CONTROLLER_DOORBELL => 0,
            _ => match self.firmware.read(at).or_else(|| self.controller.read(at)) {
                Some(word) => word,
                None => {
                    self.stranger("read", at);
                    0
                }
            },
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        match at {
            RESETS => self.reset(value),
            RCSU_GATING => {
                self.needs_rcsu();
                if value & !Q_CHANNEL != self.gating & !Q_CHANNEL {
                    self.news.tell(format!(
                        "{at:#x} = {value:#x}: the power gate there is the firmware's"
                    ));
                }
                if self.domain != ON || self.resets & GPU_RESET_N == 0 {
                    self.news
                        .tell("clock gating is set while the GPU is off or in reset".into());
                }
                if !self.stuck_gating {
                    self.gating = value;
                }
            }
            CONTROLLER_DOORBELL => {
                if let Some(message) = self.controller.take(&mut self.news) {
                    let reply = self.of_controller(&message);
                    self.controller.answer(&reply);
                }
            }
            at if RCSU.contains(&at) => self.stranger("write", at),
            _ => {
                let news = &mut self.news;
                let page = self.firmware.write(at, value, news);
                if page
                    .or_else(|| self.controller.write(at, value, news))
                    .is_none()
                {
                    self.stranger("write", at);
                }
            }
        }
    }

    fn smc(&mut self, call: SmcCall) -> Option<u64> {
        if call != FIRMWARE_CALL {
            return None;
        }
        if let Some(message) = self.firmware.take(&mut self.news) {
            let reply = self.of_firmware(&message);
            self.firmware.answer(&reply);
        }
        Some(0)
    }

    fn gpu_answers(&mut self) -> bool {
        let answers = self.domain == ON && self.resets & GPU_RESET_N != 0;
        if !answers {
            self.news.tell("an access to the GPU is an error of the secure world: its domain is off, or it is in reset".into());
        } else if !self.was_reset {
            self.news
                .tell("an access to a GPU that was not reset since its domain went on".into());
        } else if self.gating & Q_CHANNEL == 0 {
            self.news
                .tell("an access to the GPU before its clocks are gated by the Q-channel".into());
        }
        answers
    }

    fn now(&mut self, _: Duration) {}

    fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }
}
