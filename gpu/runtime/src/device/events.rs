//! Events of the device: what the three interrupt lines say.
//!
//! Interrupts are cleared first and memory is read after, so that nothing is missed in between.
//! Facts: hardware/csf-firmware.md section 11, gpu-mmu.md section 8, csf-mmio.md sections 7 and 8.

use super::Device;
use crate::access::Access;
use crate::fault::{Cause, GpuFault, JobFault, Recovery};
use crate::firmware::{ANSWER, RequestIgnored, clear_job_line};
use crate::group::{GroupState, Verdict};
use crate::mmu::{MmuError, MmuFault};
use crate::platform::{Lines, Platform};
use crate::wait::{Pace, poll};
use core::fmt;
use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::{GPU_COMMAND, GPU_FAULTADDRESS, GPU_FAULTSTATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};
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
    /// The address space of jobs can't be set up again.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Mmu(MmuError),
    /// A stream says that only a reset helps.
    #[error("{0}")]
    Stream(JobFault),
}

impl<P: Platform> Device<'_, P> {
    /// Looks at everything the GPU reports, and does what it asks for.
    ///
    /// # Errors
    /// If the device is lost, now or before.
    pub(crate) fn process_events(&mut self) -> Result<(), DeviceLost> {
        self.alive()?;
        self.look_at_lines().map_err(|lost| self.lose(lost))
    }

    /// Gives the device up until it is restarted.
    pub(crate) fn lose(&mut self, lost: DeviceLost) -> DeviceLost {
        self.lost = Some(lost);
        // Nothing obeys any more: from here on only tables in memory are changed.
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();
        self.record_lost();
        lost
    }

    /// Gives the device up because the firmware did not answer; finds out whether it has crashed.
    pub(crate) fn silent(&mut self, ignored: RequestIgnored) -> DeviceLost {
        let fault = self.firmware_vm.space.take_fault(&mut self.platform);
        let fatal = mcu_status::STATE.get(self.platform.read(MCU_STATUS)) == Some(McuState::Fatal);
        let lost = match fatal || fault.is_some() {
            true => self.crash(fault),
            false => DeviceLost::Silent(ignored),
        };
        self.lose(lost)
    }

    fn look_at_lines(&mut self) -> Result<(), DeviceLost> {
        self.look_at_gpu()?;
        if let Some(fault) = self.firmware_vm.space.take_fault(&mut self.platform) {
            return Err(self.crash(Some(fault)));
        }
        if mcu_status::STATE.get(self.platform.read(MCU_STATUS)) == Some(McuState::Fatal) {
            return Err(self.crash(None));
        }
        self.look_at_firmware()?;
        if let Some(fault) = self.job_vm.space.take_fault(&mut self.platform) {
            self.job_space_fault(fault)?;
        }
        Ok(())
    }

    fn look_at_gpu(&mut self) -> Result<(), DeviceLost> {
        let faults = gpu_irq::GPU_FAULT.mask() | gpu_irq::GPU_PROTECTED_FAULT.mask();
        let seen = self.platform.read(GPU_IRQ.rawstat) & faults;
        if seen == 0 {
            return Ok(());
        }
        self.platform.write(GPU_IRQ.clear, seen);
        let status = self.platform.read_word(GPU_FAULTSTATUS);
        let address = self.platform.read(GPU_FAULTADDRESS);
        self.platform
            .write(GPU_COMMAND, u64::from(GpuCommand::ClearFault.word()));
        let protected = gpu_irq::GPU_PROTECTED_FAULT.get(seen);
        Err(DeviceLost::Gpu(GpuFault::decode(
            status, address, protected,
        )))
    }

    /// Looks at what the firmware reports. It stands in the words of the global block and of each slot: the bits of the
    /// JOB line say only that something changed, and may have been cleared by a wait for an answer.
    fn look_at_firmware(&mut self) -> Result<(), DeviceLost> {
        clear_job_line(&mut self.platform);
        let global = self.interface.global;
        global.take_events(&mut self.platform);
        for group in &mut self.groups {
            if group.state != GroupState::Active {
                continue;
            }
            if group.process_events(&mut self.platform, &global) == Verdict::Terminate {
                group
                    .terminate(&mut self.platform, &global)
                    .map_err(DeviceLost::Silent)?;
                let faults = group.streams.iter().filter_map(|stream| stream.fault());
                if let Some(fault) = faults.max_by_key(|fault| fault.recovery)
                    && fault.recovery == Recovery::Restart
                {
                    return Err(DeviceLost::Stream(*fault));
                }
            }
        }
        Ok(())
    }

    /// A fault in the space of jobs: every group with work in it is lost. The space is usable again afterwards.
    fn job_space_fault(&mut self, fault: MmuFault) -> Result<(), DeviceLost> {
        // Accesses stall until the space is reconfigured; unmapped, they fail, which drains the jobs.
        self.job_vm
            .space
            .disable(&mut self.platform)
            .map_err(DeviceLost::Mmu)?;
        // Streams may name the job that did it: give them time to.
        let pace = Pace::interrupt(Lines::JOB, ANSWER / 10);
        poll(
            self,
            |device| &mut device.platform,
            pace,
            |device| {
                device.look_at_firmware()?;
                let mut faults = device.groups.iter().flat_map(|group| &group.streams);
                Ok(faults.any(|stream| stream.fault().is_some()).then_some(()))
            },
        )?;
        let global = self.interface.global;
        for group in &mut self.groups {
            let slot = group.slot.number;
            for stream in &mut group.streams {
                let job = stream.current_job(&mut self.platform);
                let Some(job) = job else { continue };
                let sub_queue = stream.sub_queue;
                let reported = stream.take_fault();
                let (job, cause) = match reported {
                    Some(JobFault { job, cause, .. }) => (job, cause),
                    None => (Some(job), Cause::Mmu(fault)),
                };
                let mmu = Some(fault).filter(|_| reported.is_some());
                let recovery = Recovery::NewQueue;
                stream.record(JobFault {
                    slot,
                    sub_queue,
                    job,
                    cause,
                    mmu,
                    recovery,
                });
            }
            if group.streams.iter().any(|stream| stream.fault().is_some()) {
                group
                    .terminate(&mut self.platform, &global)
                    .map_err(DeviceLost::Silent)?;
            }
        }
        self.job_vm
            .space
            .enable(&mut self.platform)
            .map_err(DeviceLost::Mmu)
    }

    fn crash(&mut self, fault: Option<MmuFault>) -> DeviceLost {
        let mcu_status = self.platform.read_word(MCU_STATUS);
        let halt_status = self.interface.global.halt_status(&mut self.platform);
        DeviceLost::Firmware(FirmwareCrash {
            mcu_status,
            halt_status,
            fault,
        })
    }

    /// Says of every queue that it went down with the device.
    pub(crate) fn record_lost(&mut self) {
        for group in &mut self.groups {
            group.state = GroupState::Dead;
            let slot = group.slot.number;
            for stream in &mut group.streams {
                let job = stream.current_job(&mut self.platform);
                let sub_queue = stream.sub_queue;
                let (cause, recovery) = (Cause::Lost, Recovery::Restart);
                if stream.fault().is_none() {
                    stream.record(JobFault {
                        slot,
                        sub_queue,
                        job,
                        cause,
                        mmu: None,
                        recovery,
                    });
                }
            }
        }
    }

    /// Waits for a sign of life of the firmware: a host that has nothing else to do calls this every few seconds.
    ///
    /// # Errors
    /// If the firmware does not answer: the device is lost.
    pub fn ping(&mut self) -> Result<(), DeviceLost> {
        self.process_events()?;
        let answer = self.interface.global.ping(&mut self.platform);
        answer.map_err(|ignored| self.silent(ignored))
    }
}
