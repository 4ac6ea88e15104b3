//! Reset: the GPU into a known state, whatever a boot loader left.
//!
//! Afterwards everything a host configured is lost: power is off, address spaces are unmapped, the microcontroller
//! is stopped, interrupt masks must be written again.  Facts: hardware/csf-mmio.md sections 6, 16.2.

use super::interrupts::mask_all;
use super::mcu::stop;
use super::power::PowerState;
use crate::access::Access;
use crate::platform::{Lines, Platform};
use crate::wait::{Condition, Pace, TimedOut, ms, wait_until};
use core::time::Duration;
use eitri_csf::command::{GpuCommand, ResetKind};
use eitri_csf::registers::control::GPU_COMMAND;
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use thiserror::Error;

/// How long a soft reset may take before a hard one is tried, and a hard one before the device is given up: each as the
/// vendor driver has it. No limit of the hardware's own is published (hardware/csf-mmio.md 16.2).
const LIMIT: Duration = ms(500);

/// A reset that did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the GPU did not reset, neither softly nor hard: {timed_out}\n{power}\n  help: is the GPU's clock running? `eitri explain GPU_COMMAND` tells more"
)]
pub struct ResetError {
    /// What was waited for last.
    pub timed_out: TimedOut,
    /// Power at that time.
    pub power: PowerState,
}

/// Resets the GPU: softly, or hard if that does not complete. No interrupt is let through afterwards.
///
/// # Errors
/// If neither completes.
pub(crate) fn reset<P: Platform>(platform: &mut P) -> Result<ResetKind, ResetError> {
    mask_all(platform);
    if attempt(platform, ResetKind::Soft).is_ok() {
        return Ok(ResetKind::Soft);
    }
    match attempt(platform, ResetKind::Hard) {
        Ok(()) => Ok(ResetKind::Hard),
        Err(timed_out) => Err(ResetError {
            timed_out,
            power: PowerState::read(platform),
        }),
    }
}

fn attempt<P: Platform>(platform: &mut P, kind: ResetKind) -> Result<(), TimedOut> {
    let completed = gpu_irq::RESET_COMPLETED.mask();
    platform.write(GPU_IRQ.clear, completed);
    platform.write(GPU_IRQ.mask, completed);
    platform.write(GPU_COMMAND, u64::from(GpuCommand::Reset(kind).word()));
    // RAWSTAT rather than STATUS: whether masks survive a reset is not established.
    let pace = Pace::interrupt(Lines::GPU, LIMIT);
    let done = wait_until(platform, GPU_IRQ.rawstat, Condition::set(completed), pace);
    platform.write(GPU_IRQ.clear, completed);
    platform.write(GPU_IRQ.mask, 0);
    done.map(|_| ())
}

/// Stops the GPU at once, so that it reaches no memory any more: the microcontroller, then all of it by a reset.
///
/// # Errors
/// If it does not even reset: then it may go on writing wherever it could.
pub(crate) fn stop_gpu<P: Platform>(platform: &mut P) -> Result<ResetKind, ResetError> {
    // A microcontroller that does not stop is stopped by the reset.
    let _ = stop(platform);
    reset(platform)
}
