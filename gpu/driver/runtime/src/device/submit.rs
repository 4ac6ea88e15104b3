//! Submission: jobs into the rings of a queue. Nothing is allocated, and nothing waits.
//!
//! What a job needs was found out before: the wrapper's words stand in the ring already but for address and length
//! ([`crate::queue`]), and what the commands use is counted as used for as long as they are submitted again ([`super::objects`]).
//! Facts: hardware/csf-scheduling.md sections 2 to 5.

use super::semaphores::SemaphorePoint;
use super::{Device, Kind};
use crate::access::RegisterAccess;
use crate::command::{CommandError, Level};
use crate::error::{Error, Table, Thing};
use crate::fault::{Cause, Recovery};
use crate::graphics::Drawing;
use crate::group::{Group, Residency, Stage, doorbell};
use crate::handle::{CommandBuffer, Fence, Queue};
use crate::platform::Platform;
use crate::queue::{CacheUse, Code, NewJob, PushError, SubQueue, fault_of};
use crate::slab::Key;
use crate::vm::GpuAddress;

/// How a job is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmitInfo<'a> {
    /// The stream of the queue that runs it. Streams run side by side.
    pub sub_queue: SubQueue,
    /// What it waits for before it begins, four points at most. They may be waited for before anybody was told to signal them.
    pub waits: &'a [SemaphorePoint],
    /// What it signals when everything of it is done, four points at most. A job that fails, is cancelled, or is lost with the
    /// GPU signals all the same, so that nobody waits for it for ever. The values of one semaphore must rise in the order in which
    /// its jobs end, as Vulkan wants it of timelines: the GPU writes each as it stands here. A value that is not larger than the
    /// semaphore's, or than what the stream signals before, is refused; of other streams that is the caller's to see to.
    pub signals: &'a [SemaphorePoint],
}

/// Submits commands with parts for several streams.
pub(crate) type SubmitParts<'s, 'd, P> =
    fn(&mut Device<'s, 'd, P>, Queue, CommandBuffer, &SubmitInfo<'_>) -> Result<Fence, Error>;

impl Default for SubmitInfo<'_> {
    /// To the compute stream, with no semaphores.
    fn default() -> Self {
        SubmitInfo {
            sub_queue: SubQueue::Compute,
            waits: &[],
            signals: &[],
        }
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Submits commands to the compute stream of a queue, and returns at once. Nothing is allocated. While a lost GPU is being
    /// started again jobs are taken all the same.
    ///
    /// # Errors
    /// If there is no room for a job, the queue has failed, or the device was given up. Nothing is submitted then.
    pub fn submit(&mut self, queue: Queue, commands: CommandBuffer) -> Result<Fence, Error> {
        self.submit_to(queue, SubQueue::Compute, commands)
    }

    /// As [`Device::submit`], to any stream of the queue. Streams run side by side.
    ///
    /// # Errors
    /// As [`Device::submit`].
    pub fn submit_to(
        &mut self,
        queue: Queue,
        sub_queue: SubQueue,
        commands: CommandBuffer,
    ) -> Result<Fence, Error> {
        let info = SubmitInfo {
            sub_queue,
            ..SubmitInfo::default()
        };
        self.submit_points(queue, commands, &info)
    }

    /// As [`Device::submit`], as `info` says: to any stream, with semaphores to wait for and to signal.
    ///
    /// # Errors
    /// As [`Device::submit`]; also if there are more than four semaphores of either kind, one is not mapped in the queue's
    /// space for what the job does with it ([`Device::map_semaphore`]), or a signal would not raise its semaphore.
    pub fn submit_with(
        &mut self,
        queue: Queue,
        commands: CommandBuffer,
        info: SubmitInfo<'_>,
    ) -> Result<Fence, Error> {
        self.submit_points(queue, commands, &info)
    }

    fn submit_points(
        &mut self,
        queue: Queue,
        commands: CommandBuffer,
        info: &SubmitInfo<'_>,
    ) -> Result<Fence, Error> {
        let sub_queue = info.sub_queue;
        const GONE: Error = Error::Gone {
            what: Thing::CommandBuffer,
        };
        let key = commands.0;
        let object = self.objects.get_mut(key).ok_or(GONE)?;
        let Kind::Commands(it) = &mut object.kind else {
            return Err(GONE);
        };
        let recorded = it.recorded.as_ref().ok_or(Error::NotRecorded)?;
        if recorded.level != Level::Primary {
            return Err(CommandError::Secondary.into());
        }
        let mut work = NewJob {
            queue,
            code: Code {
                start: recorded.start,
                bytes: recorded.bytes,
            },
            commands: Some(key),
            space: object.space,
            uses: recorded.uses,
            points: None,
        };
        let (held, exclusive) = (it.held, recorded.exclusive);
        if recorded.has_parts()
            && let Some(submit) = self.drawing.as_ref().map(Drawing::submit)
        {
            return submit(self, queue, commands, info);
        }
        it.jobs = it.jobs.saturating_add(1);
        let ready = if held && !exclusive {
            Ok(())
        } else {
            self.make_ready(key, exclusive, queue, sub_queue)
        };
        let pushed = match (ready, info.waits.is_empty() && info.signals.is_empty()) {
            (Ok(()), true) => self.push(sub_queue, &work),
            (Ok(()), false) => self.push_points(&mut work, info),
            (Err(error), _) => Err(error),
        };
        if pushed.is_err()
            && let Some(it) = self.commands_mut(key)
        {
            it.jobs = it.jobs.saturating_sub(1);
        }
        pushed
    }

    /// Looks at commands that hold nothing yet, or that may not run beside another of theirs.
    #[cold]
    #[inline(never)]
    fn make_ready(
        &mut self,
        key: Key,
        exclusive: bool,
        queue: Queue,
        sub_queue: SubQueue,
    ) -> Result<(), Error> {
        if exclusive {
            self.check_exclusive(key, queue, sub_queue)?;
        }
        if self.commands_mut(key).is_some_and(|it| !it.held) {
            self.hold(key)
        } else {
            Ok(())
        }
    }

    /// Submits a job with semaphores.
    #[inline(never)]
    fn push_points(&mut self, work: &mut NewJob, info: &SubmitInfo<'_>) -> Result<Fence, Error> {
        let (queue, sub_queue, space) = (work.queue, info.sub_queue, work.space);
        let stream = Fence {
            queue,
            sub_queue,
            point: 0,
        };
        let points = self.new_points(space, stream, info)?;
        work.points = Some(points);
        let pushed = self.push(sub_queue, work);
        match &pushed {
            Ok(fence) => self.count_points(points, *fence),
            Err(_) => drop(self.points.release(points)),
        }
        pushed
    }

    /// Submits a called buffer of command-stream instructions that its owner wrote: `bytes`, a multiple of 8, at `start`, a
    /// multiple of 64, in the queue's space. It must not rely on the four topmost registers. What it leaves in the others the
    /// next one finds: if that is lost with the GPU, so is the queue.
    ///
    /// # Errors
    /// As [`Device::submit`].
    pub fn submit_stream(
        &mut self,
        queue: Queue,
        sub_queue: SubQueue,
        start: GpuAddress,
        bytes: u32,
    ) -> Result<Fence, Error> {
        let work = NewJob {
            queue,
            code: Code { start, bytes },
            commands: None,
            space: self.group(queue)?.space,
            uses: CacheUse::UNKNOWN,
            points: None,
        };
        let fence = self.push(sub_queue, &work)?;
        if let Some(group) = self.groups.get_mut(queue.0) {
            group.relies_on_registers = true;
        }
        Ok(fence)
    }

    fn push(&mut self, sub_queue: SubQueue, work: &NewJob) -> Result<Fence, Error> {
        self.alive()?;
        const GONE: Error = Error::Gone { what: Thing::Queue };
        let queue = work.queue;
        let group = self.groups.get_mut(queue.0).ok_or(GONE)?;
        if group.is_destroyed() {
            return Err(GONE);
        }
        if group.space != work.space {
            let what = Thing::CommandBuffer;
            return Err(Error::OtherSpace { what });
        }
        if group.ending.is_some() || group.residency == Residency::Dead {
            return Err(has_failed(group, queue, sub_queue));
        }
        let stream = group.stream_mut(sub_queue).ok_or(GONE)?;
        let begins = self.caches.begin(work.uses);
        let (platform, jobs) = (&mut self.hw.platform, &mut self.jobs);
        let points = work.points.and_then(|points| self.points.get(points));
        let pushed = match points {
            None => stream.push(platform, jobs, work, &begins),
            Some(points) => stream.push_with(platform, jobs, work, &begins, points),
        };
        let point = match pushed {
            Ok(point) => point,
            Err(error) => {
                self.caches.end(work.uses, begins, false);
                return Err(match error {
                    PushError::RingFull => Error::RingFull { queue },
                    PushError::JobsFull => self.jobs_are_full(),
                });
            }
        };
        self.in_flight = self.in_flight.saturating_add(1);
        self.power.idle_since = None;
        let space = group.space;
        let slot = group.wake();
        let slot = slot.and_then(|slot| self.hw.interface.slots.get(slot));
        match slot.map(doorbell) {
            Some(doorbell) if self.is_running() && self.seated(space).is_some() => {
                self.hw.platform.ring(doorbell);
            }
            _ => self.make_seen(queue.0),
        }
        Ok(Fence {
            queue,
            sub_queue,
            point,
        })
    }

    /// A group that can't look at its ring at once has work there: a doorbell does not help.
    #[cold]
    #[inline(never)]
    pub(super) fn make_seen(&mut self, key: Key) {
        let running = self.is_running();
        self.file(key);
        self.restless = true;
        let Some(group) = self.groups.get(key) else {
            return;
        };
        let has_space = self.seated(group.space).is_some();
        let group = self.groups.get_mut(key);
        if let Some(seated) = group.and_then(|group| group.residency.seated_mut()) {
            // A group that is about to start looks at its rings; so does one that is resumed. See what `poll` does once it is on,
            // and once its space is in the hardware.
            match seated.stage {
                Stage::Starting { .. } => seated.unseen = true,
                Stage::Running { .. } => {
                    seated.unseen |= !has_space;
                    return;
                }
                Stage::Waiting | Stage::Suspending { .. } | Stage::Terminating { .. } => {}
            }
        }
        let now = self.hw.platform.now();
        if running {
            if let Err(lost) = self.arrange(now) {
                self.lose(lost, now);
            }
        } else {
            self.wake_for_work(now)
        }
    }

    pub(super) fn jobs_are_full(&self) -> Error {
        Error::Full {
            table: Table::Jobs,
            places: self.jobs.capacity(),
        }
    }
}

/// The refusal of a group that takes no more jobs.
#[cold]
#[inline(never)]
pub(super) fn has_failed(group: &Group, queue: Queue, sub_queue: SubQueue) -> Error {
    let stream = Fence {
        queue,
        sub_queue,
        point: 0,
    };
    let why = group.ending.map(|ending| ending.why);
    let cause = why.map_or(Cause::Lost, |why| why.cause_of_refusal());
    let mut fault = fault_of(stream, cause, Recovery::NewQueue);
    fault.job = None;
    let fault = group
        .ending
        .and_then(|ending| ending.fault)
        .unwrap_or(fault);
    Error::QueueFailed { queue, fault }
}
