//! Faults: what the GPU, the firmware and address spaces report by themselves, and whose jobs that concerns.
//!
//! Facts: hardware/gpu-mmu.md section 8, csf-mmio.md sections 7 and 8.

use super::{Device, DeviceLost};
use crate::access::RegisterAccess;
use crate::fault::{Cause, GpuFault, Recovery};
use crate::graphics::{FailedAccess, News};
use crate::group::{STREAMS, SpaceFault, Termination};
use crate::mmu::MmuFault;
use crate::platform::{Instant, Platform};
use crate::policy::{Event, Outcome, outcome};
use crate::queue::{fail, fault_of};
use crate::slab::Key;
use core::time::Duration;
use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::{GPU_COMMAND, GPU_FAULTADDRESS, GPU_FAULTSTATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};

/// How long streams may take to report which job a page fault belongs to.
const NAMED: Duration = Duration::from_millis(10);

impl<P: Platform> Device<'_, '_, P> {
    /// Takes a fault that the GPU reports. One of an access in a space of jobs is theirs.
    pub(super) fn check_gpu(&mut self) -> Result<(), DeviceLost> {
        let faults = gpu_irq::GPU_FAULT.mask() | gpu_irq::GPU_PROTECTED_FAULT.mask();
        let seen = self.hw.platform.read(GPU_IRQ.rawstat) & faults;
        if seen == 0 {
            return Ok(());
        }
        self.hw.platform.write(GPU_IRQ.clear, seen);
        let status = self.hw.platform.read_word(GPU_FAULTSTATUS);
        let address = self.hw.platform.read(GPU_FAULTADDRESS);
        self.hw
            .platform
            .write(GPU_COMMAND, u64::from(GpuCommand::ClearFault.word()));
        let protected = gpu_irq::GPU_PROTECTED_FAULT.get(seen);
        let fault = GpuFault::decode(self.hw.properties.arch, status, address, protected);
        // A fault in a space of jobs is theirs. One that can't be laid to anybody may be everybody's.
        let has = |number: Option<u32>| number.is_some() && number == fault.space;
        let of_jobs = self.spaces.iter().find(|(_, vm)| has(vm.space.number()));
        match of_jobs.map(|(key, _)| key) {
            Some(space) if !protected => {
                self.blame(space, fault);
                Ok(())
            }
            _ => Err(DeviceLost::Gpu(fault)),
        }
    }

    /// Fails the jobs of a space that streams are at: an access of one of them went wrong. The queues go on.
    fn blame(&mut self, space: Key, fault: GpuFault) {
        // The address is a physical one.
        let access = FailedAccess {
            address: None,
            unit: fault.unit,
        };
        self.name_failed(News::Access(space, access));
        for (_, group) in self.groups.iter() {
            let outcome = outcome(Event::GpuFault, group.residency.state());
            if group.space != space || outcome != Outcome::JobFails {
                continue;
            }
            for stream in &group.streams {
                if let Some(job) = stream.current_job(&mut self.hw.platform, &self.jobs) {
                    fail(&mut self.jobs, job, Cause::Gpu(fault), outcome.recovery());
                }
            }
        }
        self.name_failed(News::FaultsIn(space));
    }

    /// Fails if the firmware has crashed; `faults` are those of all spaces.
    pub(super) fn check_firmware(&mut self, faults: u64) -> Result<(), DeviceLost> {
        let arch = self.hw.properties.arch;
        let space = &self.firmware_vm.space;
        if faults != 0
            && let Some(fault) = space.take_fault(&mut self.hw.platform, arch, faults)
        {
            return Err(self.crash(Some(fault)));
        }
        if mcu_status::STATE.get(self.hw.platform.read(MCU_STATUS)) == Some(McuState::Fatal) {
            return Err(self.crash(None));
        }
        Ok(())
    }

    /// Ends a group whose space has a fault when its streams have reported which job caused it, or have had time to.
    pub(super) fn end_by_space(&mut self, key: Key, now: Instant, it: SpaceFault) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        if now < it.until && !group.has_fault(&self.jobs, key) {
            return;
        }
        self.blame_space(key, it.fault, it.reached);
        self.terminate(key, now);
    }

    /// Tells the jobs of a group that a fault of its space concerns: those that streams are at, and those that reported it.
    pub(super) fn blame_space(&mut self, key: Key, fault: MmuFault, reached: [u64; STREAMS]) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let near = self.nearest(group.space, fault.address);
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let mut current = [None; STREAMS];
        for (current, stream) in current.iter_mut().zip(&group.streams) {
            *current = stream.current_job(&mut self.hw.platform, &self.jobs);
        }
        let mut stopped = None;
        for (number, current) in current.into_iter().enumerate() {
            let before = reached.get(number).copied().unwrap_or(0);
            for (job, it) in self.jobs.iter_mut() {
                let of_stream = it.fence.queue.0 == key && it.fence.sub_queue as usize == number;
                if !of_stream || it.over || it.fence.point <= before {
                    continue;
                }
                match &mut it.fault {
                    Some(reported) => {
                        if let Cause::Exception(_) = reported.cause {
                            reported.mmu = Some(fault);
                            reported.near = near;
                            reported.recovery = reported.recovery.max(Recovery::NewQueue);
                        }
                        stopped = stopped.or(Some(*reported));
                    }
                    None if current == Some(job) => {
                        let cause = Cause::Mmu(fault);
                        let mut new = fault_of(it.fence, cause, Recovery::NewQueue);
                        new.near = near;
                        it.fault = Some(new);
                        stopped = stopped.or(Some(new));
                    }
                    None => {}
                }
            }
        }
        let group = self.groups.get_mut(key);
        let ending = group.and_then(|group| group.ending.as_mut());
        if let (Some(ending), Some(_)) = (ending, stopped) {
            ending.fault = stopped;
        }
        self.name_failed(News::Faults(key));
    }

    /// Page faults: the groups that have work in the space have to end; the others go on, and so does the space for them.
    pub(super) fn check_spaces(&mut self, now: Instant, faults: u64) -> Result<(), DeviceLost> {
        if faults == 0 && !self.spaces_faulted {
            return Ok(());
        }
        self.spaces_faulted = false;
        let arch = self.hw.properties.arch;
        for index in 0..self.spaces.capacity() {
            let Some(key) = self.spaces.key_at(index) else {
                continue;
            };
            let Some(vm) = self.spaces.get_mut(key) else {
                continue;
            };
            if let Some(fault) = vm.space.take_fault(&mut self.hw.platform, arch, faults) {
                // Accesses stall until the space is reconfigured; unmapped, they fail, which drains the jobs.
                vm.faulted = true;
                self.spaces_move = true;
                let until = now.after(self.hw.scaled(NAMED));
                self.name_failed(News::Access(key, fault.into()));
                self.end_groups_of(key, fault, until);
            }
            let ends = self.seated_groups().any(|group| {
                let why = group.ending.map(|ending| ending.why);
                group.space == key && matches!(why, Some(Termination::Space(_)))
            });
            if let Some(vm) = self.spaces.get_mut(key)
                && vm.faulted
            {
                if ends || vm.space.holds().is_some() {
                    self.spaces_faulted = true;
                    continue;
                }
                // Whoever is left in it may have it again.
                vm.faulted = false;
                self.spaces_move = true;
                if self.space_seats.pins(index) == 0 {
                    self.space_seats.leave(index);
                }
            }
        }
        Ok(())
    }

    /// Lets the groups end that have work in a space with a fault.
    fn end_groups_of(&mut self, space: Key, fault: MmuFault, until: Instant) {
        for (_, group) in self.groups.iter_mut() {
            let outcome = outcome(Event::SpaceFault, group.residency.state());
            if group.space != space || outcome != Outcome::EndsOnceNamed || !group.is_busy() {
                continue;
            }
            let reached = group.reached(&mut self.hw.platform);
            group.end_for(Termination::Space(SpaceFault {
                fault,
                until,
                reached,
            }));
        }
    }
}
