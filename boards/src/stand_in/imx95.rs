//! i.MX95: the System Manager behind its mailbox, and the watchdog that U-Boot has started.
//!
//! Facts: hardware/boards-imx95.md 6, 7 and 8.

use super::scmi::{DENIED, INVALID, NOT_SUPPORTED, OUT_OF_RANGE, Page, Received, SUCCESS};
use super::{News, StandIn};
use crate::steps::SmcCall;
use crate::steps::header::{
    BASE_VERSION, CLOCK_CONFIG, LEVEL_GET, LEVEL_SET, POWER_GET, POWER_SET,
};
use crate::steps::power_state::{OFF, ON};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

const PAGE: usize = 0x445B_1000;
const DOORBELL: usize = 0x445B_0114;
const WATCHDOG_CS: usize = 0x4249_0000;
const WATCHDOG_CNT: usize = 0x4249_0004;
/// It runs, and takes commands of 32 bits.
const WATCHDOG_RUNS: u32 = 1 << 13 | 1 << 7;
const REFRESH: u32 = 0xB480_A602;
const WATCHDOG_EXPIRES: Duration = Duration::from_secs(40);
/// Message of the System Manager's own protocol.
const BUILD: u32 = 0x2_1006;
const GPU_DOMAIN: u32 = 14;
const GPU_CLOCK: u32 = 174;
/// Clocks of the GPU that are not granted to the A55.
const NOT_GRANTED: [u32; 2] = [83, 84];
const GPU_PERFORMANCE: u32 = 9;
const LEVELS: u32 = 4;

/// The chip.
pub struct Imx95 {
    page: Page,
    domain: u32,
    clock: u32,
    level: u32,
    /// The base protocol's version was asked for, which tells whether anybody is there.
    greeted: bool,
    /// The header of a message that is refused.
    refuses: Option<u32>,
    /// What came.
    pub messages: Vec<Received>,
    time: Duration,
    refreshed: Duration,
    news: News,
}

impl Default for Imx95 {
    fn default() -> Imx95 {
        Imx95 {
            page: Page::new(PAGE),
            domain: OFF,
            clock: 0,
            level: 0,
            greeted: false,
            refuses: None,
            messages: Vec::new(),
            time: Duration::ZERO,
            refreshed: Duration::ZERO,
            news: News::default(),
        }
    }
}

impl Imx95 {
    /// A System Manager that never answers.
    pub fn dead() -> Imx95 {
        let mut chip = Imx95::default();
        chip.page.dead = true;
        chip
    }

    /// A System Manager that refuses messages with this header.
    pub fn refusing(header: u32) -> Imx95 {
        Imx95 {
            refuses: Some(header),
            ..Imx95::default()
        }
    }

    /// State of the power domain, whether its clock is on, and its performance level.
    pub fn state(&self) -> (u32, u32, u32) {
        (self.domain, self.clock, self.level)
    }

    fn answer(&mut self, message: &Received) -> Vec<u32> {
        let off = self.domain != ON;
        match (message.header, message.payload.as_slice()) {
            (BASE_VERSION, []) => {
                self.greeted = true;
                vec![SUCCESS, 0x2_0001]
            }
            (BUILD, []) => vec![SUCCESS, 512, 0xABCD],
            (POWER_GET, [GPU_DOMAIN]) => vec![SUCCESS, self.domain],
            (POWER_SET, [0, GPU_DOMAIN, state @ (ON | OFF)]) => {
                if !self.greeted {
                    self.news.tell("SCMI: the domain is switched before anybody asked whether the System Manager is there".into());
                }
                if *state == OFF && self.clock != 0 {
                    self.news
                        .tell("SCMI: the domain goes off while its clock is on".into());
                }
                self.domain = *state;
                vec![SUCCESS]
            }
            (CLOCK_CONFIG, [GPU_CLOCK, state @ (0 | 1), 0]) => {
                if off {
                    self.news
                        .tell("SCMI: the GPU's clock is switched while its domain is off".into());
                }
                self.clock = *state;
                vec![SUCCESS]
            }
            (CLOCK_CONFIG, [clock, ..]) if NOT_GRANTED.contains(clock) => {
                self.news
                    .tell(format!("SCMI: clock {clock} is not granted to the A55"));
                vec![DENIED]
            }
            (LEVEL_GET, [GPU_PERFORMANCE]) => vec![SUCCESS, self.level],
            (LEVEL_SET, [GPU_PERFORMANCE, level]) if *level < LEVELS => {
                if off {
                    self.news
                        .tell("SCMI: a performance level is set while the domain is off".into());
                }
                self.level = *level;
                vec![SUCCESS]
            }
            (LEVEL_SET, [GPU_PERFORMANCE, _]) => vec![OUT_OF_RANGE],
            (POWER_GET | POWER_SET | CLOCK_CONFIG | LEVEL_GET | LEVEL_SET, payload) => {
                self.news.tell(format!(
                    "SCMI: message {:#x} with {payload:x?}: nothing that the GPU needs",
                    message.header
                ));
                vec![INVALID]
            }
            (header, _) => {
                self.news.tell(format!(
                    "SCMI: message {header:#x}, which no step of the facts has"
                ));
                vec![NOT_SUPPORTED]
            }
        }
    }

    fn ring(&mut self, value: u32) {
        if value != 1 {
            self.news
                .tell(format!("the doorbell of another channel rings: {value:#x}"));
            return;
        }
        let Some(message) = self.page.take(&mut self.news) else {
            return;
        };
        let reply = match self.refuses {
            Some(refused) if refused == message.header => vec![DENIED],
            _ => self.answer(&message),
        };
        self.messages.push(message);
        self.page.answer(&reply);
    }
}

impl StandIn for Imx95 {
    fn read(&mut self, at: usize) -> u32 {
        match at {
            // The bit clears itself.
            DOORBELL => 0,
            WATCHDOG_CS => WATCHDOG_RUNS,
            _ => self.page.read(at).unwrap_or_else(|| {
                let what = format!("a read of {at:#x}, which no step of the facts has");
                self.news.tell(what);
                0
            }),
        }
    }

    fn write(&mut self, at: usize, value: u32) {
        match at {
            DOORBELL => self.ring(value),
            WATCHDOG_CNT if value == REFRESH => self.refreshed = self.time,
            WATCHDOG_CNT => {
                let what = format!("the watchdog resets the machine: {value:#x} is no refresh");
                self.news.tell(what);
            }
            _ => {
                if self.page.write(at, value, &mut self.news).is_none() {
                    let what =
                        format!("a write of {value:#x} to {at:#x}, which no step of the facts has");
                    self.news.tell(what);
                }
            }
        }
    }

    fn smc(&mut self, _: SmcCall) -> Option<u64> {
        None
    }

    fn gpu_answers(&mut self) -> bool {
        let answers = self.domain == ON && self.clock == 1;
        if !answers {
            self.news
                .tell("an access to the GPU is a bus error: its domain or its clock is off".into());
        }
        answers
    }

    fn now(&mut self, time: Duration) {
        self.time = time;
        if time.saturating_sub(self.refreshed) > WATCHDOG_EXPIRES {
            self.news.tell(String::from(
                "the watchdog has reset the machine: it was not refreshed for 40 s",
            ));
        }
    }

    fn take_news(&mut self) -> Vec<String> {
        self.news.take()
    }
}
