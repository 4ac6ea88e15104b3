//! The running phase: what the three interrupt lines and the firmware's words say, and what is to be done about it.
//!
//! Interrupts are cleared first and memory is read after, so that nothing is missed in between. Every request to the firmware
//! is a state with a deadline, looked at here; nothing is waited for.
//! Facts: hardware/csf-firmware.md section 11, gpu-mmu.md section 8, csf-mmio.md sections 7 and 8, csf-scheduling.md.

use super::backlog::{Backlog, Filed};
use super::{Device, DeviceLost};
use crate::access::Access;
use crate::fault::{Cause, GpuFault, Recovery};
use crate::firmware::{ANSWER, Asked};
use crate::gpu::interrupts::clear_job_line;
use crate::group::{
    CHANGED, Doom, Group, Residency, STARTED, STREAMS, Whom, discard_events, doorbell, ring,
};
use crate::handle::Queue;
use crate::mmu::{MmuFault, pending_faults};
use crate::platform::{Instant, Lines, Platform};
use crate::queue::{Stream, fail};
use crate::slab::Key;
use core::time::Duration;
use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::{GPU_COMMAND, GPU_FAULTADDRESS, GPU_FAULTSTATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ, gpu_irq, job_irq};
use eitri_csf::registers::mcu::{MCU_STATUS, McuState, mcu_status};

/// What to sleep on until the next [`Device::poll`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Interrupt lines that call for it.
    pub lines: Lines,
    /// When it is due even if none of them rises; `None`: never.
    pub at: Option<Instant>,
}

/// Time between two pings, as the vendor driver has it.
const PING_EVERY: Duration = Duration::from_secs(12);
/// How long a lost interrupt may go unnoticed while the firmware is asked for something, and while jobs run.
const LOOK_AT_REQUESTS: Duration = Duration::from_millis(1);
const LOOK_AT_JOBS: Duration = Duration::from_millis(10);
/// How long streams may take to say which job a page fault belongs to.
const NAMED: Duration = Duration::from_millis(10);

/// Whether the firmware lives.
#[derive(Debug)]
pub(super) struct Watch {
    /// A sign of life that is asked for.
    asked: Option<Asked>,
    /// When to ask next.
    next: Instant,
}

impl Watch {
    /// It has just shown a sign of life.
    pub(super) const fn new(now: Instant) -> Watch {
        Watch {
            asked: None,
            next: now.after(PING_EVERY),
        }
    }

    /// Asks at the next look.
    pub(super) const fn ask_now(&mut self, now: Instant) {
        self.next = now;
    }

    /// Whether an answer is awaited, or a question due.
    pub(super) fn is_asking(&self, now: Instant) -> bool {
        self.asked.is_some() || now >= self.next
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Looks at everything that the GPU reports, does what is to be done, and says when to be called again. Never waits for
    /// the firmware, a job, or any other part of the hardware.
    ///
    /// `now` is the platform's clock ([`Platform::now`]): deadlines are compared with it, here and inside. With the time of another
    /// clock a firmware that answers looks silent, which costs a recovery.
    ///
    /// A GPU that is lost is started again, call by call: what was saved, and what had not begun, goes on.
    pub fn poll(&mut self, now: Instant) -> Next {
        let held = self.held_loss.filter(|_| !self.hold_faults);
        let looked = match held {
            Some(lost) => Err(lost),
            None if self.is_running() => self.look(now),
            None => Ok(now),
        };
        if let Err(lost) = looked {
            self.lose(lost, now);
        }
        self.due = match (looked, self.is_running()) {
            (Ok(due), true) => Some(due),
            (Err(_), true) => Some(now),
            (_, false) => self.look_at_phase(now),
        };
        let lines = match self.due {
            Some(_) => Lines::ALL,
            None => Lines::NONE,
        };
        Next {
            lines,
            at: self.due,
        }
    }

    fn look(&mut self, now: Instant) -> Result<Instant, DeviceLost> {
        if self.holds_a_fault() {
            return Ok(now);
        }
        self.look_at_gpu()?;
        // Read once for all spaces: a fault that comes after this keeps its line high until the next look.
        let faults = pending_faults(&mut self.platform);
        self.look_at_health(faults)?;
        // What the firmware reports stands in the words of the global block and of each slot: the bits of the JOB line say
        // only where something changed.
        let reported = clear_job_line(&mut self.platform);
        let all = self.restless || faults != 0 || now >= self.look_at;
        if reported == 0 && !all && self.in_flight == 0 {
            return Ok(self.look_at);
        }
        // What is asked for from here on is looked at next time.
        self.restless = false;
        self.look_at_reports(reported, all, now)?;
        if self.holds_a_fault() {
            self.restless = true;
            return Ok(now);
        }
        let all = all || self.restless;
        let mut asking = false;
        if all {
            self.look_at_spaces(now, faults)?;
            asking = self.watch(now)?;
        }
        let arranged = match all || self.backlog.has_ready() {
            true => self.arrange(now)?,
            false => None,
        };
        #[cfg(debug_assertions)]
        self.check_backlog();
        let jobs = match self.in_flight {
            0 => self.look_at,
            _ => now.after(LOOK_AT_JOBS),
        };
        if !all && !self.restless && arranged.is_none() {
            self.look_at = self.look_at.min(jobs);
            return Ok(self.look_at);
        }
        let moves = |group: &Group| {
            let on = matches!(group.residency, Residency::On { .. });
            !on || group.doom.is_some()
        };
        let requests = self.seated_groups().any(moves);
        let requests = requests || asking;
        let soon = match (requests, self.in_flight > 0) {
            (true, _) => now.after(LOOK_AT_REQUESTS),
            (false, true) => now.after(LOOK_AT_JOBS),
            (false, false) => self.watch.next,
        };
        let at = soon.min(self.watch.next);
        let at = arranged.map_or(at, |other| other.min(at));
        let off = self.look_at_power(now);
        let at = off.map_or(at, |other| other.min(at));
        // Whatever else was noted meanwhile was seen to above.
        let doomed = self.backlog.first(Filed::Doomed).is_some();
        self.restless = requests || doomed || self.spaces_faulted || self.spaces_move;
        // Without an interrupt everything is looked at all the same when it is due.
        self.look_at = if all { at } else { at.min(self.look_at) };
        Ok(self.look_at)
    }

    /// Takes in what the firmware reports where the JOB line says so, or everywhere; ends the jobs that are over; and goes on with
    /// groups that are on their way.
    fn look_at_reports(
        &mut self,
        reported: u32,
        all: bool,
        now: Instant,
    ) -> Result<(), DeviceLost> {
        if all || job_irq::GLOBAL.get(reported) {
            self.take_global_events();
        }
        if self.holds_a_fault() {
            return Ok(());
        }
        let before = self.in_flight;
        let mut changed = false;
        for seat in 0..self.interface.slots.len() {
            let Some(key) = self.group_on(seat) else {
                continue;
            };
            let says = reported.checked_shr(seat as u32).unwrap_or(0) & 1 != 0;
            match all || says {
                true => changed |= self.look_at_group(key, now)?,
                false => self.retire(key),
            }
        }
        if all {
            let mut next = self.backlog.first(Filed::Doomed);
            // There are no more in a list than groups.
            for _ in 0..self.groups.capacity() {
                let Some(key) = next else { break };
                next = Backlog::after(&self.groups, key);
                changed |= self.look_at_group(key, now)?;
            }
        }
        if changed {
            self.look_at_blocked();
        }
        // Nothing is left to do: who wants it off when it is idle counts from now on.
        if before > 0 && self.in_flight == 0 && self.options.idle_off.is_some() {
            self.restless = true;
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
        let fault = GpuFault::decode(self.properties.arch, status, address, protected);
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
        let groups = self.groups.iter();
        let on_slots = groups.filter(|(_, group)| group.space == space && group.slot.is_some());
        for stream in on_slots.flat_map(|(_, group)| &group.streams) {
            if let Some(job) = stream.current_job(&mut self.platform, &self.jobs) {
                fail(&mut self.jobs, job, Cause::Gpu(fault), Recovery::Continue);
            }
        }
    }

    /// Whether the firmware has crashed; `faults` are those of all spaces.
    pub(super) fn look_at_health(&mut self, faults: u64) -> Result<(), DeviceLost> {
        let arch = self.properties.arch;
        let space = &self.firmware_vm.space;
        if let Some(fault) = space.take_fault(&mut self.platform, arch, faults) {
            return Err(self.crash(Some(fault)));
        }
        if mcu_status::STATE.get(self.platform.read(MCU_STATUS)) == Some(McuState::Fatal) {
            return Err(self.crash(None));
        }
        Ok(())
    }

    /// Looks at what a group's slot reports, and whether the firmware has done what it was asked for; whether a sync object
    /// has changed.
    fn look_at_group(&mut self, key: Key, now: Instant) -> Result<bool, DeviceLost> {
        let changed = self.take_reports(key, true, Whom::Asking);
        self.answer_heaps(key);
        self.retire(key);
        let Some(group) = self.groups.get(key) else {
            return Ok(changed);
        };
        if let Some(fault) = group.stopped
            && !group.is_off()
            && fault.recovery == Recovery::Reset
        {
            return Err(DeviceLost::Stream(fault));
        }
        let (residency, doom) = (group.residency, group.doom);
        match residency {
            Residency::Off => {
                if let Some(doom) = doom {
                    self.end_group(key, doom.cause(), Recovery::NewQueue);
                }
            }
            Residency::Seating => match doom {
                Some(_) => self.leave_slot(key, Residency::Off),
                None => self.start_seated(key, now),
            },
            Residency::Starting { until } => {
                if self.answered(key, "the start of a group", STARTED, now >= until)? {
                    self.started(key, now);
                }
            }
            Residency::On { .. } => match doom {
                None => {}
                Some(Doom::Space {
                    fault,
                    until,
                    reached,
                }) => self.doom_by_space(key, now, fault, until, reached),
                Some(_) => self.terminate(key, now),
            },
            Residency::Suspending { until } => {
                match self.answered(key, "the suspension of a group", CHANGED, now >= until) {
                    Ok(true) => self.suspended(key),
                    Ok(false) => {}
                    // What can't be saved is dropped.
                    Err(_) => {
                        if let Some(group) = self.groups.get_mut(key) {
                            group.doom = group.doom.or(Some(Doom::NotSuspended));
                        }
                        self.terminate(key, now);
                    }
                }
            }
            Residency::Terminating { until } => {
                if self.answered(key, "the end of a group", CHANGED, now >= until)? {
                    self.stop_streams(key);
                    let doom = doom.unwrap_or(Doom::Cancelled);
                    self.end_group(key, doom.cause(), Recovery::NewQueue);
                }
            }
            Residency::Dead => {}
        }
        Ok(changed)
    }

    /// Takes in what a group's slot reports, and answers it if the firmware `lives`; whether a sync object has changed.
    pub(super) fn take_reports(&mut self, key: Key, lives: bool, whom: Whom) -> bool {
        let Some(group) = self.groups.get_mut(key) else {
            return false;
        };
        let Some(slot) = group.slot.and_then(|slot| self.interface.slots.get(slot)) else {
            return false;
        };
        let (platform, jobs) = (&mut self.platform, &mut self.jobs);
        let reported = group.process_events(platform, jobs, Queue(key), (slot, whom));
        if reported.answered && lives {
            ring(&mut self.platform, &self.interface.global, slot);
        }
        reported.sync_changed
    }

    /// Ends the jobs of a group that the hardware is through with.
    pub(super) fn retire(&mut self, key: Key) {
        for number in 0..STREAMS {
            loop {
                let group = self.groups.get_mut(key);
                let stream = group.and_then(|group| group.streams.get_mut(number));
                let Some(stream) = stream else { break };
                let Some(ended) = stream.retire(&mut self.platform, &mut self.jobs) else {
                    break;
                };
                if ended.well {
                    self.attempts = 0;
                }
                self.count_end(key, ended);
            }
        }
    }

    /// Whether the firmware has done what a group's slot asks for.
    pub(super) fn answered(
        &mut self,
        key: Key,
        what: &'static str,
        mask: u32,
        late: bool,
    ) -> Result<bool, DeviceLost> {
        let limit = self.scaled(ANSWER);
        let slot = self.groups.get(key).and_then(|group| group.slot);
        let Some(slot) = slot.and_then(|slot| self.interface.slots.get(slot)) else {
            return Ok(true);
        };
        let requests = slot.requests();
        match requests.is_answered(&mut self.platform, mask) {
            true => {
                // What the answer tells of stands in words that are read after it.
                self.platform.observe();
                Ok(true)
            }
            false if late => {
                let ignored = requests.ignored(&mut self.platform, what, mask, limit);
                Err(DeviceLost::Silent(ignored))
            }
            false => Ok(false),
        }
    }

    pub(super) fn started(&mut self, key: Key, now: Instant) {
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        group.residency = Residency::On { since: now };
        group.saved = false;
        // What came into the rings since it was asked for may not have been seen.
        let unseen = core::mem::replace(&mut group.unseen, false);
        let slot = group.slot.and_then(|slot| self.interface.slots.get(slot));
        if let Some(slot) = slot
            && unseen
            && group.has_words(&mut self.platform)
        {
            self.platform.ring(doorbell(slot));
        }
    }

    pub(super) fn suspended(&mut self, key: Key) {
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        group.saved = true;
        if let Some(slot) = group.slot.and_then(|slot| self.interface.slots.get(slot)) {
            group.note_waiting(&mut self.platform, slot);
            if let Some(vm) = self.spaces.get(group.space) {
                group.blocked = group.is_busy() && group.waits(&mut self.platform, &vm.space);
            }
        }
        group.idle = false;
        self.stop_streams(key);
        self.leave_slot(key, Residency::Off);
    }

    /// Leaves the slot of a group that is not on it any more to its next user: takes in what is left, and says that its streams
    /// are stopped.
    pub(super) fn stop_streams(&mut self, key: Key) {
        let slot = self.groups.get(key).and_then(|group| group.slot);
        let Some(slot) = slot.and_then(|slot| self.interface.slots.get(slot)) else {
            return;
        };
        for blocks in &slot.streams {
            Stream::mark_stopped(&mut self.platform, blocks);
        }
        let _ = self.take_reports(key, true, Whom::Everyone);
        if let Some(slot) = self
            .groups
            .get(key)
            .and_then(|group| self.interface.slots.get(group.slot?))
        {
            discard_events(&mut self.platform, slot);
        }
        self.retire(key);
    }

    /// Says that nothing of a group runs any more. Jobs of which nothing was reported failed for `cause`.
    pub(super) fn end_group(&mut self, key: Key, cause: Cause, recovery: Recovery) {
        self.retire(key);
        for number in 0..STREAMS {
            loop {
                let group = self.groups.get_mut(key);
                let stream = group.and_then(|group| group.streams.get_mut(number));
                let Some(stream) = stream else { break };
                let Some(ended) = stream.abandon(&mut self.jobs, cause, recovery) else {
                    break;
                };
                self.count_end(key, ended);
            }
        }
        self.leave_slot(key, Residency::Dead);
    }

    /// A group whose space has a fault goes when its streams have said which job made it, or when they have had time to.
    fn doom_by_space(
        &mut self,
        key: Key,
        now: Instant,
        fault: MmuFault,
        until: Instant,
        reached: [u64; STREAMS],
    ) {
        let Some(group) = self.groups.get(key) else {
            return;
        };
        if now < until && !group.has_fault(&self.jobs, key) {
            return;
        }
        self.blame_space(key, fault, reached);
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
            *current = stream.current_job(&mut self.platform, &self.jobs);
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
                        let mut new = crate::queue::fault_of(it.fence, cause, Recovery::NewQueue);
                        new.near = near;
                        it.fault = Some(new);
                        stopped = stopped.or(Some(new));
                    }
                    None => {}
                }
            }
        }
        if let (Some(group), Some(fault)) = (self.groups.get_mut(key), stopped) {
            group.stopped = Some(fault);
        }
    }

    /// Page faults: the groups that have work in the space have to go; the others go on, and so does the space for them.
    fn look_at_spaces(&mut self, now: Instant, faults: u64) -> Result<(), DeviceLost> {
        if faults == 0 && !self.spaces_faulted {
            return Ok(());
        }
        self.spaces_faulted = false;
        let arch = self.properties.arch;
        for index in 0..self.spaces.capacity() {
            let Some(key) = self.spaces.key_at(index) else {
                continue;
            };
            let Some(vm) = self.spaces.get_mut(key) else {
                continue;
            };
            if let Some(fault) = vm.space.take_fault(&mut self.platform, arch, faults) {
                // Accesses stall until the space is reconfigured; unmapped, they fail, which drains the jobs.
                vm.faulted = true;
                self.spaces_move = true;
                self.doom_space(key, fault, now.after(self.scaled(NAMED)));
            }
            let dooms = |group: &Group| {
                let by_space = matches!(group.doom, Some(Doom::Space { .. }));
                group.space == key && !group.is_off() && by_space
            };
            let doomed = self.seated_groups().any(dooms);
            if let Some(vm) = self.spaces.get_mut(key)
                && vm.faulted
            {
                if doomed || vm.space.holds().is_some() {
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

    fn doom_space(&mut self, space: Key, fault: MmuFault, until: Instant) {
        for index in 0..self.groups.capacity() {
            let Some(key) = self.groups.key_at(index) else {
                continue;
            };
            let Some(group) = self.groups.get_mut(key) else {
                continue;
            };
            if group.space != space || group.is_off() || !group.is_busy() {
                continue;
            }
            let reached = group.reached(&mut self.platform);
            group.doom = group.doom.or(Some(Doom::Space {
                fault,
                until,
                reached,
            }));
        }
    }

    /// Asks the firmware for a sign of life from time to time; whether one is or was asked for, which takes bits of the JOB line.
    fn watch(&mut self, now: Instant) -> Result<bool, DeviceLost> {
        let global = self.interface.global;
        match &self.watch.asked {
            None if now >= self.watch.next => {
                self.watch.asked = Some(global.begin_ping(&mut self.platform, now));
                Ok(true)
            }
            None => Ok(false),
            Some(asked) => match asked.look(&mut self.platform, now) {
                Ok(true) => {
                    self.watch = Watch::new(now);
                    Ok(true)
                }
                Ok(false) => Ok(true),
                Err(ignored) => Err(DeviceLost::Silent(ignored)),
            },
        }
    }
}
