//! Loss: what takes the whole device down, and what is done then.
//!
//! The GPU is stopped before anything that it could write to has a new owner.
//! Facts: hardware/csf-mmio.md sections 8, 11 and 16.9.

use super::{BringUpError, Device};
use crate::access::Access;
use crate::fault::{Cause, GpuFault, JobFault, Recovery};
use crate::firmware::RequestIgnored;
use crate::gpu::reset::stop_gpu;
use crate::mmu::{MmuError, MmuFault};
use crate::platform::Platform;
use core::fmt;
use eitri_csf::registers::mcu::MCU_STATUS;
use thiserror::Error;

/// Firmware that has crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub struct FirmwareCrash {
    /// `MCU_STATUS`.
    pub mcu_status: u32,
    /// `GLB_HALT_STATUS`, as the firmware left it.
    pub halt_status: u32,
    /// The fault of the firmware's address space, if it has one.
    pub fault: Option<MmuFault>,
}

impl fmt::Display for FirmwareCrash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = MCU_STATUS.decode(u64::from(self.mcu_status));
        write!(
            f,
            "the firmware has crashed: {status}, GLB_HALT_STATUS = {:#x}",
            self.halt_status
        )?;
        match self.fault {
            Some(fault) => write!(f, "\n  {fault}"),
            None => Ok(()),
        }
    }
}

/// Why nothing works until [`Device::restart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DeviceLost {
    /// The firmware has crashed.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Firmware(FirmwareCrash),
    /// The firmware does not answer.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Silent(RequestIgnored),
    /// The GPU reports a fault of its own.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Gpu(GpuFault),
    /// An address space does not obey.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Mmu(MmuError),
    /// A stream says that only a reset helps.
    #[error("{0}")]
    Stream(JobFault),
    /// It was to be started again, which failed.
    #[error("the GPU could not be started again: {0}")]
    Restart(BringUpError),
}

impl<P: Platform> Device<'_, '_, P> {
    /// Gives the device up until it is restarted. The GPU is stopped first: what it was given may have a new owner
    /// afterwards. One that does not even reset keeps all that it has.
    ///
    /// The first loss is the one that is told.
    pub(super) fn lose(&mut self, lost: DeviceLost) -> DeviceLost {
        if let Some(first) = self.lost {
            return first;
        }
        self.lost = Some(lost);
        self.fail_queues();
        self.save_caches();
        let stopped = stop_gpu(&mut self.platform);
        self.memory.set_gpu_runs_free(stopped.is_err());
        self.forget_spaces();
        lost
    }

    /// Says that nothing is mapped in the hardware: from here on only tables in memory are changed.
    pub(super) fn forget_spaces(&mut self) {
        self.firmware_vm.space.forget();
        for (_, vm) in self.spaces.iter_mut() {
            vm.space.forget();
        }
        self.space_seats.clear();
    }

    /// Says of every queue that it went down with the device.
    pub(super) fn fail_queues(&mut self) {
        for index in 0..self.groups.capacity() {
            if let Some(key) = self.groups.key_at(index) {
                self.end_group(key, Cause::Lost, Recovery::Restart);
            }
        }
        self.slot_seats.clear();
    }

    pub(super) fn crash(&mut self, fault: Option<MmuFault>) -> DeviceLost {
        let mcu_status = self.platform.read_word(MCU_STATUS);
        let halt_status = self.interface.global.halt_status(&mut self.platform);
        DeviceLost::Firmware(FirmwareCrash {
            mcu_status,
            halt_status,
            fault,
        })
    }
}
