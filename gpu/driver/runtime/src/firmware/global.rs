//! The global interface: doorbells, configuration after every boot, ping, halt.
//!
//! Facts: hardware/csf-firmware.md sections 8, 8.1, 8.2 and 11.

use super::channel::{ANSWER, Channel, PendingRequest};
use crate::access::RegisterAccess;
use crate::gpu::mcu::McuTransition;
use crate::gpu::timer_clock::TimerClock;
use crate::platform::{Instant, Platform};
use crate::wait::ms;
use core::time::Duration;
use eitri_csf::interface::control::Version;
use eitri_csf::interface::global::{
    GLB_ACK_IRQ_MASK, GLB_ALLOC_EN, GLB_DB_ACK, GLB_DB_REQ, GLB_HALT_STATUS, GLB_IDLE_TIMER,
    GLB_PROGRESS_TIMER, GLB_PWROFF_TIMER, GlbState, glb_req,
};
use eitri_csf::registers::doorbell::KERNEL_DOORBELL;
use eitri_csf::registers::mcu::McuState;
use eitri_csf::table::{Role, role_mask};

/// Idle time, in microseconds, before tiler and shader cores are powered off.
const POWER_OFF_US: u64 = 10_000;
/// Time, in microseconds, for which all groups are idle before the firmware says so.
const IDLE_US: u64 = 800;
/// GPU cycles / 1024 without progress before a group is reported: about 5 s at 500 MHz, and more on a slower clock, as
/// it should be.
const PROGRESS_CYCLES: u32 = 2_560_000;

/// How long the firmware may take to take its configuration in, and to halt.
const CONFIGURED: Duration = ms(1000);
const HALTED: Duration = ms(1000);

/// The request for a sign of life.
const PING: u32 = glb_req::PING.mask32();

/// The global requests and their doorbells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Global {
    pub(crate) version: Version,
    pub(crate) requests: Channel,
}

impl Global {
    /// Makes the firmware look at the global requests.
    pub(crate) fn ring<P: Platform>(&self, platform: &mut P) {
        platform.ring(KERNEL_DOORBELL);
    }

    /// Makes the firmware look at the requests of these slots.
    pub(crate) fn ring_slots<P: Platform>(&self, platform: &mut P, slots: u32) {
        let bells = Channel {
            req: &GLB_DB_REQ,
            ack: &GLB_DB_ACK,
            ..self.requests
        };
        bells.toggle(platform, slots);
        self.ring(platform);
    }

    /// Writes cores and timers, as must be done after every boot, and asks the firmware to take them.
    pub(crate) fn begin_configure<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
        cores: u64,
        timers: TimerClock,
    ) -> PendingRequest {
        let input = self.requests.input;
        input.write(platform, GLB_ALLOC_EN, cores);
        let (power_off, idle) = (timers.word(POWER_OFF_US), timers.word(IDLE_US));
        input.write(platform, GLB_PWROFF_TIMER, u64::from(power_off));
        input.write(platform, GLB_IDLE_TIMER, u64::from(idle));
        input.write(platform, GLB_PROGRESS_TIMER, u64::from(PROGRESS_CYCLES));

        let toggles = glb_req::CFG_ALLOC_EN.mask32()
            | glb_req::CFG_PROGRESS_TIMER.mask32()
            | glb_req::CFG_PWROFF_TIMER.mask32();
        // The firmware mirrors these two in GLB_ACK (hardware/csf-firmware.md 8.1).
        let levels = glb_req::COUNTER_ENABLE.mask32() | glb_req::IDLE_ENABLE.mask32();
        let mut interrupts = toggles | glb_req::PING.mask32() | glb_req::IDLE_ENABLE.mask32();
        interrupts |= glb_req::IDLE_EVENT.mask32();
        if self.version >= Version::GLB_STATE {
            interrupts |= glb_req::STATE.mask32();
        }
        input.write(platform, GLB_ACK_IRQ_MASK, u64::from(interrupts));
        self.requests.set(platform, levels, levels);
        self.requests.toggle(platform, toggles);
        self.ring(platform);
        let what = "the global configuration";
        let mask = toggles | levels;
        PendingRequest::new(platform, now, self.requests, what, mask, CONFIGURED)
    }

    /// Asks for a sign of life.
    pub(crate) fn begin_ping<P: Platform>(&self, platform: &mut P, now: Instant) -> PendingRequest {
        self.requests.toggle(platform, PING);
        self.ring(platform);
        PendingRequest::new(platform, now, self.requests, "a ping", PING, ANSWER)
    }

    /// Asks for an orderly stop: no group may be on a slot.
    pub(crate) fn begin_halt<P: Platform>(&self, platform: &mut P, now: Instant) -> McuTransition {
        if self.version >= Version::GLB_STATE {
            let halt = glb_req::STATE.word(GlbState::Halt);
            self.requests.set(platform, glb_req::STATE.mask32(), halt);
        } else {
            let halt = glb_req::HALT.mask32();
            self.requests.set(platform, halt, halt);
        }
        self.ring(platform);
        McuTransition::new(platform, now, "halt", McuState::Halted, HALTED)
    }

    /// Takes the request for a stop back, in memory: before firmware that has halted is started again.
    pub(crate) fn clear_halt<P: Platform>(&self, platform: &mut P) {
        let (mask, active) = if self.version >= Version::GLB_STATE {
            (
                glb_req::STATE.mask32(),
                glb_req::STATE.word(GlbState::Active),
            )
        } else {
            (glb_req::HALT.mask32(), 0)
        };
        self.requests.set(platform, mask, active);
    }

    /// Acknowledges what the firmware reports, so that it can report it again.
    pub(crate) fn take_events<P: Platform>(&self, platform: &mut P) -> u32 {
        const EVENTS: u32 = role_mask(glb_req::FIELDS, Role::Event);
        self.requests.take_events(platform, EVENTS)
    }

    /// `GLB_HALT_STATUS`: why the firmware stopped.
    pub(crate) fn halt_status<P: Platform>(&self, platform: &mut P) -> u32 {
        self.requests.output.read_word(platform, GLB_HALT_STATUS)
    }
}
