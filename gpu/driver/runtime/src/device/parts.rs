//! Submissions over several streams: their parts, of which the last stands for all, and what becomes of them in a loss.
//!
//! A submission is lost as a whole: with one part that had begun go the others, also those whose turn had not come, and those
//! that were over, as what they left for the others is void.
//! Nothing here is reached in an image that never draws: see [`Drawing`](crate::graphics::Drawing).
//! Facts: hardware/graphics.md 1.1, 1.11 and 2.2, csf-scheduling.md 2 to 5.

use super::submit::has_failed;
use super::{Device, Kind, SubmitInfo};
use crate::access::RegisterAccess;
use crate::command::{CommandError, Recorded, Streams};
use crate::error::{Error, Thing};
use crate::graphics::{JobPart, PassParts};
use crate::group::{Residency, doorbell};
use crate::handle::{CommandBuffer, Fence, Queue};
use crate::platform::Platform;
use crate::queue::{CacheUse, Code, Join, MOST_JOINS, NewJob, PartPlaces, PushError, SubQueue};
use crate::slab::Key;
use crate::vm::GpuAddress;
use heapless::Vec;

/// A part that is about to be submitted.
#[derive(Clone, Copy, Debug)]
struct NewPart {
    stream: SubQueue,
    code: Code,
    uses: CacheUse,
    after: Streams,
}

/// The parts of commands, in the order in which they are submitted: the last one stands for all.
fn parts(recorded: &Recorded, own: SubQueue) -> Vec<NewPart, 3> {
    let mut parts = Vec::new();
    let mut add = |stream, code, uses, after| {
        // There is room: there are as many streams.
        let _ = parts.push(NewPart {
            stream,
            code,
            uses,
            after,
        });
    };
    let (code, uses, after) = (recorded.code(), recorded.uses, recorded.after);
    match &recorded.passes {
        None => add(own, code, uses, after),
        Some(PassParts {
            tiling,
            fragments,
            computes,
            ..
        }) => {
            if let Some(tiling) = tiling {
                add(
                    SubQueue::VertexTiler,
                    tiling.code,
                    tiling.uses,
                    tiling.after,
                );
            }
            add(
                SubQueue::Fragment,
                fragments.code,
                fragments.uses,
                fragments.after,
            );
            if *computes {
                add(SubQueue::Compute, code, uses, after);
            }
        }
    }
    parts
}

impl<P: Platform> Device<'_, '_, P> {
    /// Submits commands that concern several streams: all parts, or none.
    pub(crate) fn submit_parts(
        &mut self,
        queue: Queue,
        commands: CommandBuffer,
        info: &SubmitInfo<'_>,
    ) -> Result<Fence, Error> {
        let recorded = self.recorded(commands)?;
        let key = commands.0;
        let space = self.object(key, Thing::CommandBuffer)?.space;
        let parts = parts(&recorded, info.sub_queue);
        self.accepts(queue, space, info.sub_queue)?;
        let (page, base) = self.page_of(queue, recorded.passes.is_some())?;
        let again = self.commands_mut(key).is_some_and(|it| it.jobs > 0);
        if recorded.exclusive {
            self.check_exclusive_beside(key, queue)?;
        }
        self.check_room(queue, parts.len())?;
        if self.commands_mut(key).is_some_and(|it| !it.held) {
            // It is counted as used while it holds, and let go when it has no jobs.
            self.hold(key)?;
        }
        // Commands that write into memory of their own follow one another, whatever their streams.
        let all = recorded.passes.is_some() && again;
        let all_points = self.points_of_parts(queue, space, &parts, info)?;
        let mut pushed: Vec<(Key, Join), 3> = Vec::new();
        let mut last = None;
        for ((number, part), points) in parts.iter().enumerate().zip(all_points) {
            let stands_for_all = number.saturating_add(1) == parts.len();
            let work = NewJob {
                queue,
                code: part.code,
                commands: Some(key),
                space,
                uses: part.uses,
                points,
            };
            let before = self.joins(queue, part, all, &pushed);
            let after: Vec<Join, 3> = if stands_for_all {
                pushed.iter().map(|(_, join)| *join).collect()
            } else {
                Vec::new()
            };
            let (job, point) =
                self.push_part(&work, part.stream, (page, base), (&before, &after))?;
            if let Some(group) = self.groups.get(queue.0)
                && let Some(stream) = group.stream(part.stream)
            {
                let _ = pushed.push((job, stream.join_at(point)));
            }
            last = Some((
                job,
                Fence {
                    queue,
                    sub_queue: part.stream,
                    point,
                },
            ));
        }
        let gone = Error::Gone { what: Thing::Queue };
        let (whole, fence) = last.ok_or(gone)?;
        for (part, _) in &pushed {
            if *part != whole
                && let Some(job) = self.jobs.get_mut(*part)
            {
                job.part = JobPart::of(whole);
            }
        }
        if let Some(passes) = &recorded.passes
            && let Some(group) = self.groups.get_mut(queue.0)
            && let Some(tiler) = &mut group.tiler
        {
            tiler.base = base.saturating_add(passes.counts.into()).saturating_add(1);
        }
        self.ring_for(queue);
        Ok(fence)
    }

    /// Fails if a queue takes no jobs of a space.
    fn accepts(&mut self, queue: Queue, space: Key, stream: SubQueue) -> Result<(), Error> {
        self.alive()?;
        let group = self.group(queue)?;
        if group.space != space {
            let what = Thing::CommandBuffer;
            return Err(Error::OtherSpace { what });
        }
        if group.ending.is_some() || group.residency == Residency::Dead {
            return Err(has_failed(group, queue, stream));
        }
        Ok(())
    }

    /// The page of a queue, and from where on its streams count.
    fn page_of(&self, queue: Queue, draws: bool) -> Result<(GpuAddress, u64), Error> {
        let tiler = self.group(queue)?.tiler;
        let tiler = tiler.filter(|tiler| self.objects.get(tiler.heap).is_some());
        match tiler {
            Some(tiler) => Ok((tiler.page, tiler.base)),
            None if draws => Err(CommandError::NoTilerHeap.into()),
            None => Ok((GpuAddress(0), 0)),
        }
    }

    /// Fails if there is no room for so many parts of a queue.
    fn check_room(&mut self, queue: Queue, count: usize) -> Result<(), Error> {
        let free = self.jobs.capacity().saturating_sub(self.jobs.len());
        let points = self.points.capacity().saturating_sub(self.points.len());
        if free.min(points) < count {
            return Err(self.jobs_are_full());
        }
        let gone = Error::Gone { what: Thing::Queue };
        let group = self.groups.get_mut(queue.0).ok_or(gone)?;
        for stream in &mut group.streams {
            if !stream.has_room_for_part(&mut self.hw.platform) {
                return Err(Error::RingFull { queue });
            }
        }
        Ok(())
    }

    /// The semaphores of all parts: each waits for all, and the last one signals.
    fn points_of_parts(
        &mut self,
        queue: Queue,
        space: Key,
        parts: &[NewPart],
        info: &SubmitInfo<'_>,
    ) -> Result<Vec<Option<Key>, 3>, Error> {
        let mut all = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let stands_for_all = number.saturating_add(1) == parts.len();
            let stream = Fence {
                queue,
                sub_queue: part.stream,
                point: 0,
            };
            let info = SubmitInfo {
                sub_queue: part.stream,
                waits: info.waits,
                signals: if stands_for_all { info.signals } else { &[] },
            };
            match self.points_of(space, stream, &info) {
                // There is room: there are as many streams.
                Ok(points) => drop(all.push(points)),
                Err(error) => {
                    for points in all.into_iter().flatten() {
                        let _ = self.points.release(points);
                    }
                    return Err(error);
                }
            }
        }
        Ok(all)
    }

    /// The semaphores of a part.
    fn points_of(
        &mut self,
        space: Key,
        stream: Fence,
        info: &SubmitInfo<'_>,
    ) -> Result<Option<Key>, Error> {
        if info.waits.is_empty() && info.signals.is_empty() {
            return Ok(None);
        }
        self.new_points(space, stream, info).map(Some)
    }

    /// What a part waits for on other streams before it begins: what was submitted to them before, where it has to.
    fn joins(
        &self,
        queue: Queue,
        part: &NewPart,
        all: bool,
        pushed: &[(Key, Join)],
    ) -> Vec<Join, MOST_JOINS> {
        let own = Streams::of(part.stream);
        let wanted = if all { Streams::ALL } else { part.after };
        let wanted = wanted.without(own);
        let mut joins = Vec::new();
        let Some(group) = self.groups.get(queue.0) else {
            return joins;
        };
        for stream in group.streams.iter().filter(|it| wanted.has(it.sub_queue)) {
            let Some(mut join) = stream.to_join() else {
                continue;
            };
            // Not for another part of this submission, which was pushed just now: for what was there before it.
            if pushed.iter().any(|(_, own)| own.timeline == join.timeline) {
                join.point = join.point.saturating_sub(1);
            }
            if join.point > 0 {
                let _ = joins.push(join);
            }
        }
        joins
    }

    /// Puts a part into its ring; gives its place and its point.
    fn push_part(
        &mut self,
        work: &NewJob,
        stream: SubQueue,
        (page, base): (GpuAddress, u64),
        (before, after): (&[Join], &[Join]),
    ) -> Result<(Key, u64), Error> {
        let queue = work.queue;
        let gone = Error::Gone { what: Thing::Queue };
        let shape = self.drawing.as_ref().map(|drawing| drawing.part_shape);
        let shape = shape.ok_or(CommandError::NoTilerHeap)?;
        let places = PartPlaces {
            shape: &shape,
            page,
            base,
            before,
            after,
        };
        let begin = self.caches.begin(work.uses);
        let group = self.groups.get_mut(queue.0).ok_or(gone.clone())?;
        let stream = group.stream_mut(stream).ok_or(gone)?;
        let fence = Fence {
            queue,
            sub_queue: stream.sub_queue,
            point: 0,
        };
        let points = work.points.and_then(|points| self.points.get(points));
        let (platform, jobs) = (&mut self.hw.platform, &mut self.jobs);
        let pushed = stream.push_part(platform, jobs, work, &begin, (points, &places));
        match pushed {
            Ok((job, point)) => {
                self.in_flight = self.in_flight.saturating_add(1);
                if let Some(it) = work.commands.and_then(|key| self.commands_mut(key)) {
                    it.jobs = it.jobs.saturating_add(1);
                }
                if let Some(points) = work.points {
                    self.count_points(points, Fence { point, ..fence });
                }
                Ok((job, point))
            }
            Err(error) => {
                self.caches.end(work.uses, begin, false);
                if let Some(points) = work.points {
                    let _ = self.points.release(points);
                }
                Err(match error {
                    PushError::RingFull => Error::RingFull { queue },
                    PushError::JobsFull => self.jobs_are_full(),
                })
            }
        }
    }

    /// Lets a queue look at its rings.
    fn ring_for(&mut self, queue: Queue) {
        self.power.idle_since = None;
        let Some(group) = self.groups.get_mut(queue.0) else {
            return;
        };
        let space = group.space;
        let slot = group.wake();
        let slot = slot.and_then(|slot| self.hw.interface.slots.get(slot));
        match slot.map(doorbell) {
            Some(doorbell) if self.is_running() && self.seated(space).is_some() => {
                self.hw.platform.ring(doorbell);
            }
            _ => self.make_seen(queue.0),
        }
    }

    /// The GPU was stopped with jobs of a group in it: what has begun of a submission takes the rest of it along, and the tiler
    /// heap begins anew.
    pub(crate) fn lose_parts(&mut self, key: Key) {
        let Some(group) = self.groups.get_mut(key) else {
            return;
        };
        for stream in &group.streams {
            stream.note_begun(&mut self.jobs);
        }
        for stream in &mut group.streams {
            stream.void_begun(&mut self.hw.platform, &mut self.jobs);
        }
        if let Some(tiler) = group.tiler {
            self.rebuild_heap(tiler.heap);
        }
    }

    /// Fails if commands with memory of their own can't run beside jobs in flight of other queues. Those of this queue they wait
    /// for.
    fn check_exclusive_beside(&mut self, commands: Key, queue: Queue) -> Result<(), Error> {
        if let Some(Kind::Commands(_)) = self.objects.get(commands).map(|object| &object.kind) {
            self.check_exclusive_but(commands, |fence| fence.queue == queue)
        } else {
            Ok(())
        }
    }
}
