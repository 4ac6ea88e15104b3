//! Loss: what takes the whole device down. What is done then is in `recovery.rs`.
//!
//! Facts: hardware/csf-mmio.md sections 8, 11 and 16.9.

use super::{BringUpError, Device};
use crate::access::RegisterAccess;
use crate::fault::{GpuFault, JobFault};
use crate::firmware::RequestIgnored;
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

/// Why a GPU has to be started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DeviceLost {
    /// The firmware has crashed.
    #[error("{0}")]
    Firmware(FirmwareCrash),
    /// The firmware does not answer.
    #[error("{0}")]
    Silent(RequestIgnored),
    /// The GPU reports a fault of its own.
    #[error("{0}")]
    Gpu(GpuFault),
    /// An address space does not obey.
    #[error("{0}")]
    Mmu(MmuError),
    /// A stream says that only a reset helps.
    #[error("{0}")]
    Stream(JobFault),
    /// It was to be started again, which failed.
    #[error("the GPU could not be started again: {0}")]
    Restart(BringUpError),
}

impl<P: Platform> Device<'_, '_, P> {
    /// Says that nothing is mapped in the hardware: from here on only tables in memory are changed.
    pub(super) fn forget_spaces(&mut self) {
        self.firmware_vm.space.forget();
        for (_, vm) in self.spaces.iter_mut() {
            vm.space.forget();
            vm.faulted = false;
        }
        self.space_seats.clear();
    }

    pub(super) fn crash(&mut self, fault: Option<MmuFault>) -> DeviceLost {
        let mcu_status = self.hw.platform.read_word(MCU_STATUS);
        let halt_status = self.hw.interface.global.halt_status(&mut self.hw.platform);
        DeviceLost::Firmware(FirmwareCrash {
            mcu_status,
            halt_status,
            fault,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::firmware::{control_blocks, device, image};

    /// A space that has faulted is kept off the hardware until its jobs are gone. With the GPU they are.
    #[test]
    fn a_space_that_has_faulted_is_used_again_behind_a_loss() {
        let image = image(&control_blocks());
        let mut device = device(&image);
        let space = device.create_space().expect("memory").0;
        if let Some(vm) = device.spaces.get_mut(space) {
            vm.faulted = true;
        }
        device.forget_spaces();
        let vm = device.spaces.get(space).expect("there");
        assert!(!vm.faulted && vm.space.holds().is_none());
    }
}
