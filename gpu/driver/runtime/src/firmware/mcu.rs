//! The microcontroller with firmware on it: started, until it announces itself.
//!
//! Facts: hardware/csf-mmio.md sections 11 and 16.5.

use crate::access::RegisterAccess;
use crate::gpu::interrupts::unmask;
use crate::mmu::{AddressSpace, MmuFault, pending_faults};
use crate::platform::{Instant, Platform};
use crate::wait::{Condition, RegisterWait, TimedOut, ms};
use core::fmt;
use core::time::Duration;
use eitri_csf::Arch;
use eitri_csf::registers::interrupts::{JOB_IRQ, job_irq};
use eitri_csf::registers::mcu::{
    MCU_CONTROL, MCU_STATUS, McuRequest, McuState, mcu_control, mcu_status,
};
use thiserror::Error;

/// How long the firmware may take to boot.
const BOOTED: Duration = ms(1000);

/// Firmware that did not come up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct BootError {
    /// What was waited for.
    pub timed_out: TimedOut,
    /// `MCU_STATUS` at that time.
    pub mcu_status: u32,
    /// The fault of the firmware's address space, if it has one.
    pub fault: Option<MmuFault>,
}

impl fmt::Display for BootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = u64::from(self.mcu_status);
        writeln!(
            f,
            "the firmware did not announce itself: {}",
            self.timed_out
        )?;
        writeln!(f, "  {}", MCU_STATUS.decode(status))?;
        if let Some(fault) = self.fault {
            writeln!(f, "  {fault}")?;
        }
        f.write_str(match mcu_status::STATE.get(status) {
            Some(McuState::Fatal) => "  help: a bad image, a bad mapping, or a bus fault",
            Some(McuState::Disabled) => "  help: the microcontroller never started: is the L2 on?",
            Some(McuState::Enabled) => {
                "  help: it runs but does not boot: is it the image for this GPU?"
            }
            Some(McuState::Halted) | None => "  help: `eitri explain MCU_STATUS` tells more",
        })
    }
}

/// The boot notice of firmware that was started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notice(RegisterWait);

impl Notice {
    /// Starts the microcontroller. Its address space must be enabled and the L2 on.
    pub(crate) fn begin<P: Platform>(platform: &mut P, now: Instant) -> Notice {
        unmask(platform, JOB_IRQ, u32::MAX);
        let request = mcu_control::REQUEST.word(McuRequest::Auto);
        // The image is in memory before the microcontroller looks for it.
        platform.publish();
        platform.write(MCU_CONTROL, u64::from(request));
        let wanted = Condition::set(job_irq::GLOBAL.mask());
        Notice(RegisterWait::new(
            platform,
            now,
            &JOB_IRQ.rawstat,
            wanted,
            BOOTED,
        ))
    }

    /// Whether it has come.
    ///
    /// # Errors
    /// If it does not in time, or the microcontroller fails first: then it will not come any more.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
        space: &AddressSpace,
        arch: Arch,
    ) -> Result<bool, BootError> {
        let mcu_status = platform.read_word(MCU_STATUS);
        let fatal = mcu_status::STATE.get(mcu_status) == Some(McuState::Fatal);
        let looked = if fatal {
            Err(self.0.missed(platform))
        } else {
            self.0.poll(platform, now)
        };
        let came = looked.map_err(|timed_out| BootError {
            timed_out,
            mcu_status,
            fault: {
                let pending = pending_faults(platform);
                space.take_fault(platform, arch, pending)
            },
        })?;
        if came {
            // The first global interrupt is the notice itself, whatever the interface says.
            platform.write(JOB_IRQ.clear, job_irq::GLOBAL.mask());
            // The control blocks that it announces are read after it.
            platform.observe();
        }
        Ok(came)
    }
}
