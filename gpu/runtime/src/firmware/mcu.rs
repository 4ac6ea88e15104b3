//! The microcontroller with firmware on it: start until it announces itself, orderly halt.
//!
//! Facts: hardware/csf-mmio.md sections 11, 16.5 and 16.6.

use super::global::Global;
use crate::access::Access;
use crate::gpu::interrupts::unmask;
use crate::gpu::mcu::{HaltError, reach};
use crate::mmu::{AddressSpace, MmuFault};
use crate::platform::{Lines, Platform};
use crate::wait::{Condition, Pace, TimedOut, ms, poll, us};
use core::fmt;
use eitri_csf::Arch;
use eitri_csf::registers::interrupts::{JOB_IRQ, job_irq};
use eitri_csf::registers::mcu::{
    MCU_CONTROL, MCU_STATUS, McuRequest, McuState, mcu_control, mcu_status,
};
use thiserror::Error;

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

/// Starts the microcontroller and waits for its boot notice. Its address space must be enabled and the L2 on.
///
/// # Errors
/// If the notice does not come, or the microcontroller fails first.
pub(crate) fn start<P: Platform>(
    platform: &mut P,
    space: &AddressSpace,
    arch: Arch,
) -> Result<(), BootError> {
    unmask(platform, JOB_IRQ, u32::MAX);
    let request = mcu_control::REQUEST.word(McuRequest::Auto);
    // The image is in memory before the microcontroller looks for it.
    platform.publish();
    platform.write(MCU_CONTROL, u64::from(request));
    let notice = job_irq::GLOBAL.mask();
    let pace = Pace::interrupt(Lines::JOB, ms(1000));
    let mut seen = 0;
    let booted = poll(
        platform,
        |it| it,
        pace,
        |platform| {
            seen = platform.read(JOB_IRQ.rawstat);
            let fatal = mcu_status::STATE.get(platform.read(MCU_STATUS)) == Some(McuState::Fatal);
            // A crash ends the wait: the notice will not come any more.
            if fatal {
                Err(())
            } else {
                Ok((seen & notice != 0).then_some(()))
            }
        },
    );
    if booted != Ok(Some(())) {
        let wanted = Condition::set(notice);
        let timed_out = TimedOut {
            register: JOB_IRQ.rawstat,
            address: None,
            value: seen,
            wanted,
            limit: pace.limit(platform),
        };
        let mcu_status = platform.read_word(MCU_STATUS);
        return Err(BootError {
            timed_out,
            mcu_status,
            fault: space.take_fault(platform, arch),
        });
    }
    // The first global interrupt is the notice itself, whatever the interface says.
    platform.write(JOB_IRQ.clear, notice);
    // The control blocks that it announces are read after it.
    platform.observe();
    Ok(())
}

/// Halts the firmware in an orderly way: no group may be on a slot.
///
/// # Errors
/// If it does not halt; the next start must then reload the image.
pub(crate) fn halt<P: Platform>(platform: &mut P, global: &Global) -> Result<(), HaltError> {
    global.request_halt(platform);
    reach(
        platform,
        "halt",
        McuState::Halted,
        Pace::polling(us(10), ms(1000)),
    )
}
