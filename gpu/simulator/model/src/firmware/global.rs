//! The global interface: configuration, ping, halt, and which slots the host rang for.
//!
//! Facts: hardware/csf-firmware.md 8, 8.1, 11 and 14.

use super::counters::{Counters, Sampled};
use super::interface::{Interface, Stop, Words};
use crate::clock::Nanoseconds;
use crate::diagnosis::FirmwareMisuse;
use crate::fabric::Due;
use crate::injection::Injection;
use crate::trace::Event;
use eitri_csf::arch::Arch;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::global::{
    GLB_ACK, GLB_ACK_IRQ_MASK, GLB_ALLOC_EN, GLB_DB_ACK, GLB_DB_REQ, GLB_IDLE_TIMER,
    GLB_PROGRESS_TIMER, GLB_PWROFF_TIMER, GLB_REQ, GlbState, TimerSource, glb_req, timer,
};
use eitri_csf::interface::handshake;
use eitri_csf::registers::interrupts::job_irq;
use eitri_csf::table::{Role, role_mask};

/// Requests answered by copying REQ into ACK at once: not what takes time, and not SLEEP, whose bit is STATE's later.
const TOGGLES: u32 = role_mask(glb_req::FIELDS, Role::Toggle)
    & !glb_req::PRFCNT_SAMPLE.mask32()
    & !glb_req::PROTM_ENTER.mask32()
    & !glb_req::SLEEP.mask32();
/// Events that firmware raises.
const EVENTS: u32 = role_mask(glb_req::FIELDS, Role::Event);
/// Levels that ACK follows: all but HALT, and STATE, whose ACK shows what is reached.
const LEVELS: u32 =
    role_mask(glb_req::FIELDS, Role::Level) & !glb_req::HALT.mask32() & !glb_req::STATE.mask32();
/// Requests that are known but not modelled: they are reported, and never answered.
const NOT_MODELLED: u32 = glb_req::ITER_TRACE_ENABLE.mask32() | glb_req::DEBUG_HOST.mask32();

/// The firmware's global state.
#[derive(Clone, Debug, Default)]
pub(super) struct Global {
    ack: u32,
    /// Events that were raised and not acknowledged.
    raised: u32,
    doorbell_ack: u32,
    /// Cores that groups may have.
    pub(super) alloc: u64,
    /// Time without progress before a group is reported; `None` is never.
    pub(super) progress_limit: Option<Nanoseconds>,
    /// Time until idle cores are powered off; `None` is never.
    pub(super) power_off_after: Option<Nanoseconds>,
    /// Time until idleness is reported; `None` while idle events are off.
    pub(super) idle_after: Option<Nanoseconds>,
    pub(super) counters: Counters,
}

/// What a look at the global interface found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Slots that the host rang for, a bit a slot.
    pub(super) slots: u32,
    /// What the host wants of the microcontroller.
    pub(super) wanted: Wanted,
    /// PROTM_ENTER.
    pub(super) protect: bool,
    /// PING.
    pub(super) pinged: bool,
}

/// What the host wants of the microcontroller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To go on.
    Run,
    /// To halt.
    Halt,
    /// To sleep until a doorbell.
    Sleep,
}

impl Global {
    /// The state after boot. After a warm boot nothing is pending.
    pub(super) fn new(
        words: &mut Words<'_>,
        interface: &Interface,
        warm: bool,
    ) -> Result<Global, Stop> {
        let mut global = Global {
            ack: words.get32(interface.output, GLB_ACK)?,
            doorbell_ack: words.get32(interface.output, GLB_DB_ACK)?,
            alloc: u64::MAX,
            ..Global::default()
        };
        if warm {
            global.ack = words.get32(interface.input, GLB_REQ)? & !glb_req::HALT.mask32();
            words.set32(interface.output, GLB_ACK, global.ack)?;
            global.doorbell_ack = words.get32(interface.input, GLB_DB_REQ)?;
            words.set32(interface.output, GLB_DB_ACK, global.doorbell_ack)?;
        }
        Ok(global)
    }

    /// The host rang doorbell 0: does what GLB_REQ asks for.
    pub(super) fn process(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
    ) -> Result<Found, Stop> {
        let input = interface.input;
        let req = words.get32(input, GLB_REQ)?;
        let reserved = GLB_REQ.reserved_bits() as u32 & req;
        if reserved != 0 {
            words.fabric.journal.report(FirmwareMisuse::ReservedBits {
                word: GLB_REQ.name,
                value: req,
                reserved,
            });
        }
        words.defend(interface.output, GLB_ACK, self.ack)?;
        words.check_events(GLB_REQ, req, self.ack, EVENTS, &mut self.raised);
        let asks = |bit: u32| handshake::pending(req, self.ack, bit);
        let (progress, alloc, power_off, idle) = (
            asks(glb_req::CFG_PROGRESS_TIMER.mask32()),
            asks(glb_req::CFG_ALLOC_EN.mask32()),
            asks(glb_req::CFG_PWROFF_TIMER.mask32()),
            asks(glb_req::IDLE_ENABLE.mask32()),
        );
        let unknown = (req ^ self.ack) & NOT_MODELLED;
        if unknown != 0 {
            words.fabric.journal.report(FirmwareMisuse::NotModelled {
                word: GLB_REQ.name,
                bits: unknown,
            });
        }
        if progress {
            let cycles = u64::from(words.get32(input, GLB_PROGRESS_TIMER)?) * 1024;
            self.progress_limit = (cycles != 0).then(|| words.fabric.clock.time_of_cycles(cycles));
        }
        if alloc {
            self.alloc = words.get(input, GLB_ALLOC_EN)?;
            let absent = self.alloc & !words.fabric.config.product.part.shader_present;
            if absent != 0 {
                let misuse = FirmwareMisuse::AllocAbsentCores { mask: absent };
                words.fabric.journal.report(misuse);
            }
        }
        if power_off {
            let value = words.get32(input, GLB_PWROFF_TIMER)?;
            self.power_off_after = (value != 0).then(|| duration(words, value));
        }
        if idle {
            let value = words.get32(input, GLB_IDLE_TIMER)?;
            self.idle_after = glb_req::IDLE_ENABLE
                .get(req)
                .then(|| duration(words, value));
        }
        words
            .fabric
            .clock
            .count_cycles(glb_req::COUNTER_ENABLE.get(req));
        let requests = (req ^ self.ack) & !EVENTS;
        if requests != 0 {
            words.fabric.trace(Event::Request {
                slot: None,
                bits: requests,
            });
        }
        let pinged = asks(glb_req::PING.mask32());
        let protect = asks(glb_req::PROTM_ENTER.mask32());
        let mut answered = (TOGGLES | LEVELS) & !NOT_MODELLED;
        let wanted = self.wanted(words, req, &mut answered);
        if !self.process_counters(words, interface, req, &mut answered)? {
            answered &= !glb_req::PRFCNT_ENABLE.mask32();
        }
        if pinged && words.fabric.strikes(Injection::PingIgnored) {
            answered &= !glb_req::PING.mask32();
        }
        self.acknowledge(words, interface, handshake::answer(req, self.ack, answered))?;

        let doorbells = words.get32(input, GLB_DB_REQ)?;
        let slots = doorbells ^ self.doorbell_ack;
        self.doorbell_ack = doorbells;
        words.set32(interface.output, GLB_DB_ACK, doorbells)?;
        let absent = slots >> interface.groups.len();
        if absent != 0 {
            words
                .fabric
                .journal
                .report(FirmwareMisuse::DoorbellOfAbsentGroup {
                    bits: absent << interface.groups.len(),
                });
        }
        Ok(Found {
            slots,
            wanted,
            protect,
            pinged,
        })
    }

    /// What the host wants of the microcontroller, by HALT and SLEEP or, from interface 4.1 on, by STATE.
    fn wanted(&self, words: &mut Words<'_>, req: u32, answered: &mut u32) -> Wanted {
        let can_sleep = words.fabric.config.product.arch() >= Arch::V11;
        let journal = &mut words.fabric.journal;
        let halt = glb_req::HALT.get(req);
        let state = glb_req::STATE.mask32();
        if words.fabric.interface < Version::GLB_STATE {
            let sleep = glb_req::SLEEP.mask32();
            let sleeps = handshake::pending(req, self.ack, sleep);
            if sleeps && !can_sleep {
                journal.report(FirmwareMisuse::SleepNotKnown);
            } else if sleeps {
                *answered |= sleep;
                return Wanted::Sleep;
            }
            return if halt { Wanted::Halt } else { Wanted::Run };
        }
        if halt {
            journal.report(FirmwareMisuse::HaltInState);
        }
        match glb_req::STATE.get(req) {
            Some(GlbState::Active) => {
                *answered |= state;
                Wanted::Run
            }
            Some(GlbState::Halt) => Wanted::Halt,
            Some(GlbState::Sleep) if can_sleep => Wanted::Sleep,
            _ => {
                let value = (req & state) >> state.trailing_zeros();
                journal.report(FirmwareMisuse::StateNotKnown { value });
                Wanted::Run
            }
        }
    }

    /// GLB_ACK.STATE: the state that the host asked for is reached, or as good as.
    pub(super) fn acknowledge_state(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
    ) -> Result<(), Stop> {
        if words.fabric.interface < Version::GLB_STATE {
            return Ok(());
        }
        self.answer(words, interface, glb_req::STATE.mask32())
    }

    /// Answers the requests of `mask`.
    pub(super) fn answer(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        mask: u32,
    ) -> Result<(), Stop> {
        let req = words.get32(interface.input, GLB_REQ)?;
        self.acknowledge(words, interface, handshake::answer(req, self.ack, mask))
    }

    /// PRFCNT_ENABLE and PRFCNT_SAMPLE; whether ENABLE may be answered.
    fn process_counters(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        req: u32,
        answered: &mut u32,
    ) -> Result<bool, Stop> {
        let enable = glb_req::PRFCNT_ENABLE.get(req);
        if enable != self.counters.is_on() {
            if words.fabric.strikes(Injection::CountersIgnored) {
                return Ok(false);
            }
            if enable {
                self.counters.switch_on(words, interface)?;
            } else {
                self.counters.switch_off();
            }
        }
        let sample = glb_req::PRFCNT_SAMPLE.mask32();
        let asked = handshake::pending(req, self.ack, sample);
        if self.counters.pending && !asked {
            words.fabric.journal.report(FirmwareMisuse::SampleTwice);
        } else if asked && !self.counters.is_on() {
            words.fabric.journal.report(FirmwareMisuse::SampleWhileOff);
            *answered |= sample;
        } else if asked && !self.counters.pending {
            self.counters.pending = true;
            // Longer than an answer: a whole sample is written.
            let delay = 4 * words.fabric.config.latencies.firmware;
            words.fabric.later(delay, Due::Sample);
        }
        Ok(true)
    }

    /// The sample that was asked for: memory first, then INSERT, then ACK; whether it was taken.
    pub(super) fn take_sample(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        ready_cores: u64,
    ) -> Result<bool, Stop> {
        if !self.counters.pending {
            return Ok(true);
        }
        if words.fabric.strikes(Injection::ExtraSample) {
            self.sample(words, interface, ready_cores)?;
        }
        if !self.sample(words, interface, ready_cores)? {
            return Ok(false);
        }
        self.counters.pending = false;
        self.answer(words, interface, glb_req::PRFCNT_SAMPLE.mask32())?;
        Ok(true)
    }

    /// Takes a sample and raises what follows from it; whether memory could be written.
    pub(super) fn sample(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        ready_cores: u64,
    ) -> Result<bool, Stop> {
        match self.counters.sample(words, interface, ready_cores)? {
            Sampled::Later => Ok(false),
            Sampled::Done(0) => Ok(true),
            Sampled::Done(events) => self.raise(words, interface, events).map(|()| true),
        }
    }

    fn acknowledge(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        ack: u32,
    ) -> Result<(), Stop> {
        let changed = self.ack ^ ack;
        if changed == 0 {
            return Ok(());
        }
        self.ack = ack;
        words.fabric.trace(Event::Answer {
            slot: None,
            bits: changed,
        });
        words.set32(interface.output, GLB_ACK, ack)?;
        let mask = words.get32(interface.input, GLB_ACK_IRQ_MASK)?;
        if changed & mask != 0 {
            words.fabric.raise_job(job_irq::GLOBAL.mask32());
        }
        Ok(())
    }

    /// Raises a global event unless the last one is unacknowledged.
    pub(super) fn raise(
        &mut self,
        words: &mut Words<'_>,
        interface: &Interface,
        event: u32,
    ) -> Result<(), Stop> {
        let req = words.get32(interface.input, GLB_REQ)?;
        self.raised |= event;
        let ack = handshake::raise(req, self.ack, event);
        self.acknowledge(words, interface, ack)
    }
}

/// The time that a timer word stands for: units of 1024 ticks of its source.
fn duration(words: &Words<'_>, value: u32) -> Nanoseconds {
    let ticks = u64::from(timer::VALUE.get(value)) * 1024;
    match timer::SOURCE.get(value) {
        Some(TimerSource::CycleCount) => words.fabric.clock.time_of_cycles(ticks),
        _ => words.fabric.clock.time_of_ticks(ticks),
    }
}
