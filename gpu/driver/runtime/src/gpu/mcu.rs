//! The microcontroller's switch, and the states that it reaches.
//!
//! Facts: hardware/csf-mmio.md sections 11 and 16.6.

use crate::access::RegisterAccess;
use crate::platform::{Instant, Platform};
use crate::wait::{Condition, RegisterWait, TimedOut, ms};
use core::time::Duration;
use eitri_csf::registers::interrupts::JOB_IRQ;
use eitri_csf::registers::mcu::{
    MCU_CONTROL, MCU_STATUS, McuRequest, McuState, mcu_control, mcu_status,
};
use thiserror::Error;

/// How long the microcontroller may take to stop.
const STOP: Duration = ms(100);

/// Firmware that did not stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the firmware did not {what}: {timed_out}")]
pub struct HaltError {
    /// What it was to do: "halt" or "stop".
    pub what: &'static str,
    /// What was waited for.
    pub timed_out: TimedOut,
}

/// A state that the microcontroller is to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) struct McuTransition {
    what: &'static str,
    awaited: RegisterWait,
}

impl McuTransition {
    /// Waits for the microcontroller, which was told to `what`, to reach `state`.
    pub(crate) fn new<P: Platform>(
        platform: &P,
        now: Instant,
        what: &'static str,
        state: McuState,
        limit: Duration,
    ) -> McuTransition {
        let wanted = Condition::equal(mcu_status::STATE.mask(), u64::from(state.number()));
        let awaited = RegisterWait::new(platform, now, &MCU_STATUS, wanted, limit);
        McuTransition { what, awaited }
    }

    /// Whether it has.
    ///
    /// # Errors
    /// If it does not in time.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, HaltError> {
        let what = self.what;
        let looked = self.awaited.poll(platform, now);
        looked.map_err(|timed_out| HaltError { what, timed_out })
    }

    /// How long to leave it alone after a look in vain.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        self.awaited.pause(now)
    }
}

/// Stops the microcontroller at once: it does when the state is reached.
pub(crate) fn begin_stop<P: Platform>(platform: &mut P, now: Instant) -> McuTransition {
    platform.write(JOB_IRQ.mask, 0);
    let request = mcu_control::REQUEST.word(McuRequest::Disable);
    platform.write(MCU_CONTROL, u64::from(request));
    McuTransition::new(platform, now, "stop", McuState::Disabled, STOP)
}
