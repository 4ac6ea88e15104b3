//! Reset: the GPU into a known state, whatever a boot loader left.
//!
//! Afterwards everything a host configured is lost: power is off, address spaces are unmapped, the microcontroller
//! is stopped, interrupt masks must be written again.  Facts: hardware/csf-mmio.md sections 6, 16.2.

use super::interrupts::mask_all;
use super::mcu::begin_stop;
use super::power::PowerState;
use crate::access::RegisterAccess;
use crate::platform::{Instant, Lines, Platform};
use crate::wait::{Condition, RegisterWait, TimedOut, finish, ms, us};
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

/// A reset under way: soft, or hard if that did not complete.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    kind: ResetKind,
    awaited: RegisterWait,
}

impl Reset {
    /// Asks for a soft one. No interrupt but that of its end is let through.
    pub(crate) fn begin<P: Platform>(platform: &mut P, now: Instant) -> Reset {
        mask_all(platform);
        Reset::ask(platform, now, ResetKind::Soft)
    }

    fn ask<P: Platform>(platform: &mut P, now: Instant, kind: ResetKind) -> Reset {
        let completed = gpu_irq::RESET_COMPLETED.mask();
        platform.write(GPU_IRQ.clear, completed);
        platform.write(GPU_IRQ.mask, completed);
        platform.write(GPU_COMMAND, u64::from(GpuCommand::Reset(kind).word()));
        // RAWSTAT rather than STATUS: whether masks survive a reset is not established.
        let wanted = Condition::set(completed);
        let awaited = RegisterWait::new(platform, now, &GPU_IRQ.rawstat, wanted, LIMIT);
        Reset { kind, awaited }
    }

    /// Which kind has completed, if one has: then no interrupt is let through.
    ///
    /// # Errors
    /// If neither does in time.
    pub(crate) fn poll<P: Platform>(
        &mut self,
        platform: &mut P,
        now: Instant,
    ) -> Result<Option<ResetKind>, ResetError> {
        let looked = self.awaited.poll(platform, now);
        if looked == Ok(false) {
            return Ok(None);
        }
        platform.write(GPU_IRQ.clear, gpu_irq::RESET_COMPLETED.mask());
        platform.write(GPU_IRQ.mask, 0);
        match (looked, self.kind) {
            (Ok(_), kind) => Ok(Some(kind)),
            (Err(_), ResetKind::Fast | ResetKind::Soft) => {
                *self = Reset::ask(platform, now, ResetKind::Hard);
                Ok(None)
            }
            (Err(timed_out), ResetKind::Hard) => Err(ResetError {
                timed_out,
                power: PowerState::read(platform),
            }),
        }
    }
}

/// Resets the GPU: softly, or hard if that does not complete. No interrupt is let through afterwards.
///
/// # Errors
/// If neither completes.
pub(crate) fn reset<P: Platform>(platform: &mut P) -> Result<ResetKind, ResetError> {
    let now = platform.now();
    let mut reset = Reset::begin(platform, now);
    let mut kind = ResetKind::Soft;
    finish(platform, Lines::GPU, ms(1), |it, now| {
        let done = reset.poll(it, now)?;
        kind = done.unwrap_or(kind);
        Ok::<_, ResetError>(done.is_some())
    })?;
    Ok(kind)
}

/// Stops the GPU at once, so that it reaches no memory any more: the microcontroller, then all of it by a reset.
///
/// # Errors
/// If it does not even reset: then it may go on writing wherever it could.
pub(crate) fn stop_gpu<P: Platform>(platform: &mut P) -> Result<ResetKind, ResetError> {
    let now = platform.now();
    let stopping = begin_stop(platform, now);
    // A microcontroller that does not stop is stopped by the reset.
    let _ = finish(platform, Lines::NONE, us(10), |it, now| {
        stopping.poll(it, now)
    });
    reset(platform)
}
