//! Events of the device: what the three interrupt lines say.
//!
//! Interrupts are cleared first and memory is read after, so that nothing is missed in between.
//! Facts: hardware/csf-firmware.md section 11, gpu-mmu.md section 8, csf-mmio.md sections 7 and 8.

use super::{BringUpError, Device};
use crate::access::Access;
use crate::fault::{Cause, GpuFault, JobFault, Recovery};
use crate::firmware::{ANSWER, MAX_STREAMS, RequestIgnored};
use crate::gpu::interrupts::clear_job_line;
use crate::gpu::reset::stop_gpu;
use crate::group::{Group, GroupState, MAX_GROUPS, Verdict};
use crate::mmu::{MmuError, MmuFault};
use crate::platform::{Lines, Platform};
use crate::vm::Space;
use crate::wait::{Pace, poll};
use core::fmt;
use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::{GPU_COMMAND, GPU_FAULTADDRESS, GPU_FAULTSTATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};
use heapless::Vec;
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
    /// It was to be started again, which failed.
    #[error("the GPU could not be started again: {0}")]
    Restart(BringUpError),
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

    /// Gives the device up until it is restarted. The GPU is stopped first: what it was given may have a new owner
    /// afterwards. One that does not even reset keeps all that it has.
    ///
    /// The first loss is the one that is told.
    pub(crate) fn lose(&mut self, lost: DeviceLost) -> DeviceLost {
        if let Some(first) = self.lost {
            return first;
        }
        self.lost = Some(lost);
        self.fail_queues();
        let stopped = stop_gpu(&mut self.platform);
        self.memory.set_gpu_runs_free(stopped.is_err());
        // Nothing is mapped in the hardware: from here on only tables in memory are changed.
        self.firmware_vm.space.forget();
        self.job_vm.space.forget();
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
        let fault = GpuFault::decode(status, address, protected);
        // A fault in a space of jobs is theirs. One that can't be laid to anybody may be everybody's.
        match fault.space {
            Some(space) if !protected && space == Space::Jobs.number() => {
                self.blame_jobs(fault);
                Ok(())
            }
            _ => Err(DeviceLost::Gpu(fault)),
        }
    }

    /// Fails the jobs that streams are at: an access of one of them went wrong. The queues go on.
    fn blame_jobs(&mut self, fault: GpuFault) {
        let running = self.groups.iter_mut();
        let running = running.filter(|group| group.state == GroupState::Active);
        for stream in running.flat_map(|group| &mut group.streams) {
            let job = stream.current_job(&mut self.platform);
            stream.fail(stream.fault(job, Cause::Gpu(fault), Recovery::Continue));
        }
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
                if let Some(fault) = group.stopped()
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
        let before = self.reached();
        poll(
            self,
            |device| &mut device.platform,
            Pace::interrupt(Lines::JOB, ANSWER / 10),
            |device| {
                device.look_at_firmware()?;
                let mut stopped = device.groups.iter().filter_map(Group::stopped);
                Ok(stopped.next().is_some().then_some(()))
            },
        )?;
        let global = self.interface.global;
        for (group, before) in self.groups.iter_mut().zip(&before) {
            for (stream, before) in group.streams.iter_mut().zip(before) {
                stream.explain(*before, fault);
                if let Some(job) = stream.current_job(&mut self.platform)
                    && stream.fault_of(job).is_none()
                {
                    stream.stop(stream.fault(Some(job), Cause::Mmu(fault), Recovery::NewQueue));
                }
            }
            if group.stopped().is_some() {
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

    /// The points that the streams of every group have reached.
    fn reached(&mut self) -> Vec<[u64; MAX_STREAMS], MAX_GROUPS> {
        let mut all = Vec::new();
        for group in &self.groups {
            let mut points = [0; MAX_STREAMS];
            for (point, stream) in points.iter_mut().zip(&group.streams) {
                *point = stream.reached(&mut self.platform);
            }
            // There is room: there are no more groups than that.
            let _ = all.push(points);
        }
        all
    }

    /// Says of every queue that it went down with the device.
    pub(crate) fn fail_queues(&mut self) {
        for group in &mut self.groups {
            group.end(&mut self.platform, Recovery::Restart);
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
