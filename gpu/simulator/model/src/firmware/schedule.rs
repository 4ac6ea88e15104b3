//! Scheduling: streams of all groups in turn, jobs on cores, and what becomes true when they have worked.
//!
//! Guarantees: every runnable stream gets its turn; a call ends within its budget.
//!
//! Facts: hardware/command-stream.md 8 (interpreter loop), csf-scheduling.md 11.

use super::Mcu;
use super::group::{Group, Phase};
use super::interface::{Stop, Words};
use super::interfaces::Candidate;
use super::protected::Protection;
use crate::activity::{INTERFACES, State};
use crate::clock::Nanoseconds;
use crate::diagnosis::StreamMisuse;
use crate::fabric::{Due, Fabric};
use crate::injection::Injection;
use crate::memory::PhysicalMemory;
use crate::power::Power;
use crate::stream::{Blocked, Effects, HeapWait, Identity, Stream, Work, exception};
use crate::trace::Event;
use crate::work::Ended;
use alloc::vec::Vec;
use eitri_csf::interface::global::glb_req;
use eitri_csf::interface::group::csg_req;
use eitri_csf::registers::power::Domain;

/// Instructions of a stream before the next has its turn.
const TURN: u32 = 32;

impl Mcu {
    /// The streams that may be executed.
    fn streams(&self) -> impl Iterator<Item = &Stream> {
        let groups = self.slots.iter().filter_map(|slot| slot.group.as_ref());
        let streams = groups
            .filter(|group| group.phase == Phase::Active)
            .flat_map(|group| group.streams.iter().flatten().map(|stream| &**stream));
        streams.filter(|stream| self.may_run(stream.identity.group, stream.is_in_region()))
    }

    /// Whether anything could be executed at once.
    pub(crate) fn is_busy(&self, fabric: &Fabric, power: &Power) -> bool {
        self.is_running()
            && (self.streams().any(Stream::can_step) || self.cores.can_work(fabric, power))
    }

    /// Whether jobs are queued or running.
    pub(crate) fn has_jobs(&self) -> bool {
        self.cores.has_jobs()
    }

    /// Executes instructions until `limit` of them or `time` is used up, or a line rises; how many it were.
    pub(crate) fn work(
        &mut self,
        fabric: &mut Fabric,
        power: &mut Power,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
        time: Nanoseconds,
    ) -> u64 {
        let end = fabric.clock.now().saturating_add(time);
        let mut used = 0;
        let before = fabric.irq.lines();
        while used < limit
            && fabric.clock.now() < end
            && self.is_running()
            && !fabric.irq.lines().rose_since(before)
        {
            let mut round = self.run_streams(fabric, memory, limit - used);
            self.note_activity(fabric, power);
            let before = self.cores.busy();
            let (warps, until) = self.cores.work(fabric, power, memory, limit - used);
            // Jobs may have come and gone within the round.
            fabric.activity.set_busy_cores(before | self.cores.busy());
            fabric.pass(until.saturating_sub(fabric.clock.now()));
            round += warps;
            self.settle(fabric, power, memory);
            self.note_activity(fabric, power);
            if round == 0 {
                break;
            }
            used += round;
        }
        used
    }

    /// Puts streams on the hardware's interfaces.
    fn share_interfaces(&mut self, fabric: &Fabric) {
        let priority = |slot: u8| {
            let slot = self.slots.get(usize::from(slot));
            let group = slot.and_then(|slot| slot.group.as_ref());
            group.map_or(0, Group::priority)
        };
        let candidates: Vec<Candidate> = self
            .streams()
            .map(|stream| Candidate {
                name: (stream.identity.group, stream.identity.stream),
                priority: (priority(stream.identity.group), stream.priority),
                can_step: stream.can_step(),
            })
            .collect();
        let count = fabric.config.product.stream_interfaces();
        self.interfaces.share(count, &candidates);
    }

    /// A turn of every stream on an interface that can go on.
    fn run_streams(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> u64 {
        if !self.streams().any(Stream::can_step) {
            return 0;
        }
        self.share_interfaces(fabric);
        let mut used = 0;
        for index in 0..self.interfaces.len() {
            let Some((slot, number)) = self.interfaces.turn(index) else {
                continue;
            };
            let group = self.slots.get_mut(usize::from(slot));
            let Some(group) = group.and_then(|slot| slot.group.as_mut()) else {
                continue;
            };
            let Some(Some(stream)) = group.streams.get_mut(usize::from(number)) else {
                continue;
            };
            let mut effects = Effects::default();
            let mut turn = 0;
            while stream.can_step() && turn < TURN && used < limit {
                if inject(fabric, stream) {
                    break;
                }
                let accesses = stream.accesses;
                let outcome = stream.step(fabric, memory);
                turn += 1;
                used += 1;
                let latency = fabric.config.latencies.stream;
                fabric.activity.executing += latency;
                fabric.activity.accessing += (stream.accesses - accesses) * latency;
                fabric.pass(latency);
                effects.join(outcome.effects);
                if let Some(job) = outcome.job {
                    self.cores.queue(stream.identity, job);
                }
                // Others see what this instruction did before its successor runs.
                if outcome.effects.wake_group || outcome.effects.flush_started {
                    break;
                }
            }
            if turn != 0 {
                group.last_progress = fabric.clock.now();
            }
            if effects.wake_group {
                group.wake();
            }
            if effects.wake_all {
                group.pending_events |= csg_req::SYNC_UPDATE.mask32();
            }
            group.settle_shared_waits(&effects);
            self.spread(fabric, effects);
        }
        used
    }

    /// Notes what the device is doing from now on, for the counters and for whoever traces.
    pub(crate) fn note_activity(&mut self, fabric: &mut Fabric, power: &Power) {
        let flushing = fabric.agenda.holds(Due::Flush) || fabric.agenda.holds(Due::StreamFlush);
        let has_jobs = self.cores.has_jobs();
        let blocked = Work::ALL.map(|work| {
            let queued = self.cores.has_jobs_of_kind(work);
            (
                work,
                queued,
                queued && !self.cores.can_work_on(work, fabric, power),
            )
        });
        let busy = flushing || has_jobs || self.is_busy(fabric, power);
        let firmware = [Due::Boot, Due::Doorbell, Due::Sample];
        let answering = firmware.iter().any(|due| fabric.agenda.holds(*due));
        let lines = fabric.irq.lines();
        fabric.note_lines(lines);
        let activity = &mut fabric.activity;
        activity.set(State::Gpu, busy);
        activity.set(State::Mcu, answering);
        activity.set(State::Interrupt, lines.any());
        activity.set(State::Flush, flushing);
        activity.set(State::AnyQueued, has_jobs);
        for (work, queued, blocked) in blocked {
            activity.set(State::Queued(work), queued);
            activity.set(State::QueueBlocked(work), blocked);
        }
        activity.set_busy_cores(self.cores.busy());
        let mut on = [None; INTERFACES];
        for (index, (slot, number)) in self.interfaces.residents() {
            let group = self.slots.get(usize::from(slot));
            let group = group.and_then(|slot| slot.group.as_ref());
            let stream = group.and_then(|group| group.streams.get(usize::from(number))?.as_ref());
            if let (Some(stream), Some(place)) = (stream, on.get_mut(index)) {
                *place = Some(stream);
            }
        }
        for (number, stream) in (0..).zip(on) {
            let enabled = stream.is_some_and(|stream| stream.blocked != Blocked::Empty);
            let waits = enabled && stream.is_some_and(|stream| !stream.can_step());
            activity.set(State::Interface(number), enabled);
            activity.set(State::InterfaceBlocked(number), waits);
        }
        if fabric.journal.is_traced() {
            self.trace_streams(fabric);
        }
    }

    /// Tells whoever traces what streams do that they did not do before.
    fn trace_streams(&mut self, fabric: &mut Fabric) {
        let groups = self.slots.iter_mut().filter_map(|slot| slot.group.as_mut());
        for stream in groups.flat_map(|group| group.streams.iter_mut().flatten()) {
            let doing = stream.blocked.name();
            if stream.shown != doing {
                stream.shown = doing;
                fabric.trace(Event::Stream {
                    group: stream.identity.group,
                    stream: stream.identity.stream,
                    doing,
                });
            }
        }
    }

    /// Effects that reach beyond a group.
    fn spread(&mut self, fabric: &mut Fabric, effects: Effects) {
        if effects.wake_all {
            for group in self.slots.iter_mut().filter_map(|slot| slot.group.as_mut()) {
                group.wake();
            }
        }
        if effects.flush_started {
            fabric.later(fabric.config.latencies.flush, Due::StreamFlush);
        }
    }

    /// Cache flushes of streams are complete.
    pub(crate) fn flushes_completed(&mut self, fabric: &mut Fabric) {
        fabric.flush_completed();
        for slot in &mut self.slots {
            let streams = slot
                .group
                .iter_mut()
                .flat_map(|group| group.streams.iter_mut());
            streams
                .flatten()
                .for_each(|stream| stream.flushes_completed());
        }
    }

    /// Everything that may happen now without a further instruction happens.
    pub(crate) fn settle(
        &mut self,
        fabric: &mut Fabric,
        power: &mut Power,
        memory: &mut dyn PhysicalMemory,
    ) {
        if !self.is_running() {
            return;
        }
        self.deliver_jobs(fabric);
        self.note_exhausted_heaps();
        let mut effects = Effects::default();
        for slot in &mut self.slots {
            let Some(group) = &mut slot.group else {
                continue;
            };
            let mut group_effects = Effects::default();
            for stream in group.streams.iter_mut().flatten() {
                group_effects.join(stream.settle(fabric, memory));
            }
            if group_effects.wake_group {
                group.wake();
            }
            if group_effects.wake_all {
                group.pending_events |= csg_req::SYNC_UPDATE.mask32();
            }
            group.settle_progress_waits();
            group.settle_heap_waits();
            for stream in group.streams.iter().flatten() {
                if stream.heap_wait.is_none() {
                    self.cores.resume_tiling(stream.identity);
                }
            }
            group.settle_shared_waits(&group_effects);
            effects.join(group_effects);
        }
        self.spread(fabric, effects);
        self.power_cores(fabric, power);
        let mut words = Words { fabric, memory };
        if self.settle_protected(&mut words) == Err(Stop::Crash) {
            return self.panic(fabric, memory);
        }
        match self.answer(fabric, memory) {
            Ok(()) | Err(Stop::Wait) => {}
            Err(Stop::Crash) => self.panic(fabric, memory),
        }
    }

    /// Tells streams whose tiling has run out of memory.
    fn note_exhausted_heaps(&mut self) {
        for owner in self.cores.take_exhausted() {
            let slot = self.slots.get_mut(usize::from(owner.group));
            let group = slot.and_then(|slot| slot.group.as_mut());
            let stream = group.and_then(|it| it.streams.get_mut(usize::from(owner.stream)));
            if let Some(Some(stream)) = stream {
                stream.heap_wait = Some(HeapWait::Wanted);
            }
        }
    }

    /// Tells streams of jobs that have ended.
    fn deliver_jobs(&mut self, fabric: &mut Fabric) {
        let now = fabric.clock.now();
        for slot in self.cores.take_progressed() {
            let slot = self.slots.get_mut(usize::from(slot));
            if let Some(group) = slot.and_then(|slot| slot.group.as_mut()) {
                group.last_progress = now;
            }
        }
        for Ended {
            owner,
            number,
            queue,
            slot,
            progress,
            fault,
        } in self.cores.take_ended()
        {
            if let Some(queue) = queue {
                fabric.activity.queue_mut(queue).jobs += 1;
            }
            fabric.trace(Event::JobEnded {
                group: owner.group,
                stream: owner.stream,
                number,
                exception: fault.map_or(0, |fault| fault.exception),
            });
            let group = self
                .slots
                .get_mut(usize::from(owner.group))
                .and_then(|slot| slot.group.as_mut());
            let Some(group) = group else { continue };
            group.last_progress = now;
            let Some(Some(stream)) = group.streams.get_mut(usize::from(owner.stream)) else {
                continue;
            };
            stream.count_down(slot);
            if progress {
                stream.progress = stream.progress.wrapping_add(1);
            }
            if let Some(fault) = fault {
                if fault.exception == exception::CS_ENDPOINT_FAULT {
                    stream.fatal(fault.exception, fault.address);
                } else {
                    stream.fault(fault.exception, fault.address);
                }
            }
        }
    }

    /// Firmware powers cores while there are jobs, and off when there have been none for a while.
    fn power_cores(&mut self, fabric: &mut Fabric, power: &mut Power) {
        let mask = fabric.config.product.part.shader_present;
        if self.cores.has_jobs() {
            fabric.agenda.remove(|due| due == Due::CoresOff);
            power.switch(fabric, Domain::Shader, true, mask);
        } else if power.ready(Domain::Shader) != 0
            && let Some(delay) = self.global.power_off_after
        {
            fabric.later(delay, Due::CoresOff);
        }
    }

    /// PWROFF_TIMER ran out.
    pub(crate) fn cores_off(
        &mut self,
        fabric: &mut Fabric,
        power: &mut Power,
        memory: &mut dyn PhysicalMemory,
    ) {
        if !self.cores.has_jobs() {
            // What they counted is lost with their power.
            self.sample_before_power_off(fabric, power, memory);
            fabric.cores_lose_power();
            power.switch(fabric, Domain::Shader, false, u64::MAX);
        }
    }

    /// Writes what the host is to see: positions, faults, events, suspended groups.
    fn answer(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) -> Result<(), Stop> {
        if super::waits(fabric) {
            return Err(Stop::Wait);
        }
        let Some(interface) = &self.interface else {
            return Ok(());
        };
        let mut words = Words { fabric, memory };
        let mut any_group = false;
        let mut all_idle = true;
        for (slot, blocks) in self.slots.iter_mut().zip(&interface.groups) {
            slot.publish(&mut words)?;
            let protected = self.protection == Protection::On(slot.number);
            slot.look_at_rings(&mut words)?;
            slot.report_faults(&mut words, blocks, protected)?;
            slot.report_protected_regions(&mut words, blocks)?;
            slot.report_exhausted_heaps(&mut words, blocks)?;
            let number = slot.number;
            let Some(group) = &mut slot.group else {
                continue;
            };
            any_group = true;
            let drained = !self.cores.has_jobs_of(number);
            if group.phase == Phase::Suspending {
                if self.cores.can_save_jobs_of(number) {
                    let streams = group.streams.iter_mut().flatten();
                    streams.for_each(|stream| stream.flushes_completed());
                    let (store, cores) = (&mut self.suspended, &mut self.cores);
                    slot.finish_suspend(&mut words, blocks, store, cores)?;
                }
                all_idle = false;
                continue;
            }
            let idle = drained && group.is_idle(&mut words, blocks)?;
            if idle && !group.idle_reported {
                group.pending_events |= csg_req::IDLE.mask32();
            }
            group.idle_reported = idle;
            all_idle &= idle;
            let now = words.fabric.clock.now();
            let limit = self.global.progress_limit.unwrap_or(Nanoseconds::MAX);
            if idle || group.waits_for_sync_only() && drained {
                group.last_progress = now;
                group.progress_reported = false;
            } else if now - group.last_progress > limit && !group.progress_reported {
                group.progress_reported = true;
                group.pending_events |= csg_req::PROGRESS_TIMER_EVENT.mask32();
            }
            slot.raise_events(&mut words, blocks)?;
        }
        match self.global.idle_after {
            Some(delay) if any_group && all_idle => {
                if !self.idle_reported {
                    words.fabric.later(delay, Due::Idle);
                }
            }
            _ => {
                words.fabric.agenda.remove(|due| due == Due::Idle);
                self.idle_reported = false;
            }
        }
        Ok(())
    }

    /// All groups have been idle for IDLE_TIMER.
    pub(crate) fn idle_timer(&mut self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        let Some(interface) = &self.interface else {
            return;
        };
        self.idle_reported = true;
        let mut words = Words { fabric, memory };
        let event = glb_req::IDLE_EVENT.mask32();
        if self.global.raise(&mut words, interface, event) == Err(Stop::Crash) {
            self.panic(fabric, memory);
        }
    }

    /// Reports every stream that waits for a sync object: the answer to "why does nothing happen?".
    pub(crate) fn report_waits(&self, fabric: &mut Fabric, memory: &mut dyn PhysicalMemory) {
        for stream in self.streams() {
            let misuse: Option<StreamMisuse> = stream.awaited(fabric, memory);
            if let Some(misuse) = misuse {
                stream.report_here(fabric, misuse);
            }
        }
    }
}

/// Injected faults strike a stream that would execute something.
fn inject(fabric: &mut Fabric, stream: &mut Stream) -> bool {
    let Identity {
        group,
        stream: number,
        ..
    } = stream.identity;
    let (open_pass, draws) = (stream.has_open_pass(), stream.draws);
    let struck = fabric.strike_at(Some(group), Some(number), |injection| match injection {
        Injection::StreamFatal { .. } | Injection::StreamFault { .. } => Some(injection),
        // Where something is drawn, the tiler itself runs out.
        Injection::TilerOutOfMemory if open_pass && !draws => Some(injection),
        _ => None,
    });
    let address = stream.address();
    match struck {
        Some(Injection::StreamFatal { exception }) => stream.fatal(exception, address),
        Some(Injection::StreamFault { exception }) => stream.fault(exception, address),
        Some(Injection::TilerOutOfMemory) => {
            stream.heap_wait = Some(HeapWait::Wanted);
            stream.blocked = Blocked::Heap;
        }
        _ => return false,
    }
    true
}
