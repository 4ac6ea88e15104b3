//! The global interface: configuration, ping, halt, and which slots the host rang for.
//!
//! Facts: hardware/csf-firmware.md 8, 8.1, 11 and 14.

use super::interface::{Interface, Stop, Words};
use crate::clock::Nanoseconds;
use crate::diagnosis::FirmwareMisuse;
use crate::injection::Injection;
use eitri_csf::interface::global::{
    GLB_ACK, GLB_ACK_IRQ_MASK, GLB_ALLOC_EN, GLB_DB_ACK, GLB_DB_REQ, GLB_IDLE_TIMER,
    GLB_PROGRESS_TIMER, GLB_PWROFF_TIMER, GLB_REQ, TimerSource, glb_req, timer,
};
use eitri_csf::interface::handshake;
use eitri_csf::registers::interrupts::job_irq;
use eitri_csf::table::{Role, role_mask};

/// Requests answered by copying REQ into ACK.
const TOGGLES: u32 = role_mask(glb_req::FIELDS, Role::Toggle);
/// Events that firmware raises.
const EVENTS: u32 = role_mask(glb_req::FIELDS, Role::Event);
/// Levels that ACK follows: all but HALT and, before interface 4.1, STATE.
const LEVELS: u32 =
    role_mask(glb_req::FIELDS, Role::Level) & !glb_req::HALT.mask32() & !glb_req::STATE.mask32();
/// Requests that are known but not modelled: they are reported, and never answered.
const NOT_MODELLED: u32 = glb_req::PROTM_ENTER.mask32()
    | glb_req::PRFCNT_SAMPLE.mask32()
    | glb_req::PRFCNT_ENABLE.mask32()
    | glb_req::ITER_TRACE_ENABLE.mask32()
    | glb_req::STATE.mask32()
    | glb_req::DEBUG_HOST.mask32();

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
}

/// What a look at the global interface found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Slots that the host rang for, a bit a slot.
    pub(super) slots: u32,
    /// The host wants the microcontroller to halt.
    pub(super) halt: bool,
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
        let pinged = handshake::pending(req, self.ack, glb_req::PING.mask32());
        let mut answered = (TOGGLES | LEVELS) & !NOT_MODELLED;
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
            halt: glb_req::HALT.get(req),
        })
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
