//! The microcontroller's switch, and the states that it reaches.
//!
//! Facts: hardware/csf-mmio.md sections 11 and 16.6.

use crate::access::Access;
use crate::platform::Platform;
use crate::wait::{Condition, Pace, TimedOut, ms, us, wait_until};
use eitri_csf::registers::interrupts::JOB_IRQ;
use eitri_csf::registers::mcu::{
    MCU_CONTROL, MCU_STATUS, McuRequest, McuState, mcu_control, mcu_status,
};
use thiserror::Error;

/// Firmware that did not stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the firmware did not {what}: {timed_out}")]
pub struct HaltError {
    /// What it was to do: "halt" or "stop".
    pub what: &'static str,
    /// What was waited for.
    pub timed_out: TimedOut,
}

/// Stops the microcontroller at once.
///
/// # Errors
/// If it does not stop.
pub(crate) fn stop<P: Platform>(platform: &mut P) -> Result<(), HaltError> {
    platform.write(JOB_IRQ.mask, 0);
    let request = mcu_control::REQUEST.word(McuRequest::Disable);
    platform.write(MCU_CONTROL, u64::from(request));
    reach(
        platform,
        "stop",
        McuState::Disabled,
        Pace::polling(us(10), ms(100)),
    )
}

/// Waits until the microcontroller has reached a state.
///
/// # Errors
/// If it does not in time.
pub(crate) fn reach<P: Platform>(
    platform: &mut P,
    what: &'static str,
    state: McuState,
    pace: Pace,
) -> Result<(), HaltError> {
    let wanted = Condition::equal(mcu_status::STATE.mask(), u64::from(state.number()));
    let done = wait_until(platform, MCU_STATUS, wanted, pace);
    done.map(|_| ())
        .map_err(|timed_out| HaltError { what, timed_out })
}
