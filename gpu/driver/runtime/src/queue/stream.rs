//! A stream: ring, sync object, and the jobs that are on their way.
//!
//! Each job has its own outcome: a fault belongs to the job that the hardware was at, never to the stream. A job that ended
//! well leaves nothing behind; one that failed keeps its place in the storage until its owner discards it.
//! Facts: hardware/csf-scheduling.md sections 2 to 6.

use super::flush::Begin;
use super::job::{Ended, Job, NewJob, Status, fail};
use super::points::Points;
use super::ring::{Plain, Ring};
use super::wrapper::{
    SAME, StreamShape, WRAPPER_WORDS, own_words, same_words, words_with, wrapper_with,
};
use crate::access::SharedBlock;
use crate::fault::{Cause, Recovery, StreamStatus};
use crate::firmware::StreamBlocks;
use crate::graphics::JobPart;
use crate::handle::Fence;
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::{Key, Slab};
use crate::vm::GpuAddress;
use eitri_cs::SubQueue;
use eitri_csf::interface::stream::{
    CS_ACK_IRQ_MASK, CS_BASE, CS_CONFIG, CS_SIZE, CS_STATUS_BLOCKED_REASON, CS_STATUS_CMD_PTR,
    CS_STATUS_SCOREBOARDS, CS_STATUS_WAIT, CS_TILER_HEAP_END, CS_TILER_HEAP_START, CS_USER_INPUT,
    CS_USER_OUTPUT, CsState, cs_config, cs_req,
};
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use eitri_csf::page_table::PAGE_BYTES;

/// Where the parts of a stream are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The ring, as the stream's space has it, and in memory.
    pub(crate) ring: (GpuAddress, PhysicalAddress),
    /// The sync object, likewise.
    pub(crate) sync: (GpuAddress, PhysicalAddress),
    /// The two user pages, as the firmware's space has them, and in memory.
    pub(crate) pages: (GpuAddress, PhysicalAddress),
}

/// A stream of a group.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) sub_queue: SubQueue,
    pub(super) places: Places,
    pub(super) ring: Ring,
    sync: SharedBlock,
    pub(super) shape: StreamShape,
    /// The words of wrappers that are the same for all jobs without semaphores.
    same: [u64; SAME],
    /// Its priority among the streams of its group.
    priority: u8,
    /// The jobs in flight: the oldest and the newest.
    pub(super) first: Option<Key>,
    last: Option<Key>,
    pub(super) submitted: u64,
    /// The GPU was stopped before the oldest job began.
    pub(super) kept: bool,
    /// The last point whose outcome is not kept any more because a failure was discarded.
    discarded: u64,
    /// Jobs that failed and were not discarded.
    failures: u32,
}

/// Why a job does not get into the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    RingFull,
    JobsFull,
}

impl Stream {
    /// Bytes of the user pages: input and output.
    pub(crate) const USER_BYTES: u64 = 2 * PAGE_BYTES;

    /// A stream with nothing in its ring.
    pub(crate) const fn new(
        sub_queue: SubQueue,
        places: Places,
        shape: StreamShape,
        priority: u8,
    ) -> Stream {
        let (_, pages) = places.pages;
        let input = SharedBlock::new(pages);
        let output = SharedBlock::new(pages.offset(PAGE_BYTES));
        Stream {
            sub_queue,
            ring: Ring::new(places.ring.1, input, output),
            sync: SharedBlock::new(places.sync.1),
            same: same_words(&shape, places.sync.0),
            places,
            shape,
            priority,
            first: None,
            last: None,
            submitted: 0,
            kept: false,
            discarded: 0,
            failures: 0,
        }
    }

    /// Where the stream's space has the ring.
    pub(crate) const fn ring_address(&self) -> GpuAddress {
        self.places.ring.0
    }

    /// Writes the stream's interface words before its group starts or resumes.
    pub(crate) fn prepare_start<P: Platform>(
        &self,
        platform: &mut P,
        blocks: &StreamBlocks,
        doorbell: u32,
    ) {
        let input = blocks.input;
        let (pages, _) = self.places.pages;
        self.ring.prepare_start(platform);
        input.write(platform, CS_BASE, self.places.ring.0.0);
        input.write(platform, CS_SIZE, Ring::BYTES);
        input.write(platform, CS_USER_INPUT, pages.0);
        input.write(platform, CS_USER_OUTPUT, pages.offset(PAGE_BYTES).0);
        input.write(platform, CS_TILER_HEAP_START, 0);
        input.write(platform, CS_TILER_HEAP_END, 0);
        let config = cs_config::DOORBELL.set(0, doorbell);
        let config = cs_config::PRIORITY.set(config, self.priority.into());
        input.write(platform, CS_CONFIG, config);
        input.write(platform, CS_ACK_IRQ_MASK, u64::from(u32::MAX));
        let idle = cs_req::IDLE_SYNC_WAIT.mask32() | cs_req::IDLE_EMPTY.mask32();
        let mask = cs_req::STATE.mask32() | idle;
        blocks
            .requests()
            .set(platform, mask, cs_req::STATE.word(CsState::Start) | idle);
    }

    /// Says that the slot's next user must start cleanly.
    pub(crate) fn mark_stopped<P: Platform>(platform: &mut P, blocks: &StreamBlocks) {
        let state = cs_req::STATE.mask32();
        blocks
            .requests()
            .set(platform, state, cs_req::STATE.word(CsState::Stop));
    }

    /// Puts a job without semaphores into the ring; gives the point that it reaches. The doorbell is the caller's.
    #[inline]
    pub(crate) fn push<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        work: &NewJob,
        begin: &Begin,
    ) -> Result<u64, PushError> {
        const LENGTH: u64 = WRAPPER_WORDS as u64 * 8;
        if !self.ring.has_room(platform, LENGTH) {
            return Err(PushError::RingFull);
        }
        let (_, point) = self.add_job(jobs, work, begin, LENGTH)?;
        let job = Plain {
            own: own_words(&self.shape, work.code, begin),
            flushes: begin.reach.is_some(),
            same: &self.same,
        };
        self.ring.push_plain(platform, &job);
        Ok(point)
    }

    /// The same for a job with semaphores.
    pub(crate) fn push_with<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        work: &NewJob,
        begin: &Begin,
        points: &Points,
    ) -> Result<u64, PushError> {
        let (sync, _) = self.places.sync;
        let words = words_with(points);
        let length = (words as u64).wrapping_mul(8);
        if !self.ring.has_room(platform, length) {
            return Err(PushError::RingFull);
        }
        let (_, point) = self.add_job(jobs, work, begin, length)?;
        self.ring.push(platform, words, |block| {
            wrapper_with(&self.shape, work.code, sync, begin, points, block);
        });
        Ok(point)
    }

    /// Keeps what is known of a job whose wrapper is the next in the ring; gives its place and its point.
    #[inline]
    pub(super) fn add_job(
        &mut self,
        jobs: &mut Slab<'_, Job>,
        work: &NewJob,
        begins: &Begin,
        length: u64,
    ) -> Result<(Key, u64), PushError> {
        let insert = self.ring.insert();
        let point = self.submitted.wrapping_add(1);
        let (key, job) = jobs.reuse(|| Job::EMPTY).ok_or(PushError::JobsFull)?;
        let Job {
            fence,
            start,
            end,
            commands,
            uses,
            begin,
            points,
            next,
            part,
            begun,
            fault,
            over,
        } = job;
        *fence = Fence {
            queue: work.queue,
            sub_queue: self.sub_queue,
            point,
        };
        (*start, *end) = (insert, insert.wrapping_add(length));
        (*commands, *uses, *points) = (work.commands, work.uses, work.points);
        *begin = *begins;
        (*next, *part, *fault) = (None, JobPart::WHOLE, None);
        (*begun, *over) = (false, false);
        match self.last.and_then(|last| jobs.get_mut(last)) {
            Some(last) => last.next = Some(key),
            None => self.first = self.first.or(Some(key)),
        }
        self.last = Some(key);
        self.submitted = point;
        Ok((key, point))
    }

    /// The sync object, for a test to play the GPU.
    #[cfg(test)]
    pub(crate) const fn sync_object(&self) -> SharedBlock {
        self.sync
    }

    /// The point that was reached.
    pub(crate) fn reached<P: Platform>(&self, platform: &mut P) -> u64 {
        let reached = self.sync.read(platform, SYNC64_VALUE);
        // What the jobs up to here wrote is read after this.
        platform.observe();
        reached
    }

    /// Whether jobs are in flight.
    pub(crate) const fn is_busy(&self) -> bool {
        self.first.is_some()
    }

    /// Whether the ring holds what was not consumed.
    pub(crate) fn has_words<P: Platform>(&self, platform: &mut P) -> bool {
        self.ring.extract(platform) != self.ring.insert()
    }

    /// Ends the oldest job if the hardware is through with it. Faults were looked at before: a stream with a fault goes on only
    /// when it was answered. `late`: what the job wrote goes with the caches, and what helps then.
    pub(crate) fn retire<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        late: Option<Recovery>,
    ) -> Option<Ended> {
        let first = self.first?;
        let reached = self.reached(platform);
        let point = jobs.get(first)?.fence.point;
        if point > reached {
            return None;
        }
        // The status is that of the last job that signalled; of another it says nothing. The CPU never writes it: the GPU may
        // write the same line at any time.
        let status = if point == reached {
            self.sync.read_word(platform, SYNC64_STATUS)
        } else {
            0
        };
        if status != 0 {
            fail(
                jobs,
                first,
                Cause::Unreported { status },
                Recovery::Continue,
            );
        }
        if let Some(recovery) = late {
            fail(jobs, first, Cause::LostWithGpu, recovery);
        }
        self.end_first(jobs, true)
    }

    /// Takes the oldest job out of flight, whatever became of it.
    fn end_first(&mut self, jobs: &mut Slab<'_, Job>, ran: bool) -> Option<Ended> {
        let first = self.first?;
        let job = jobs.get_mut(first)?;
        self.first = job.next.take();
        if self.first.is_none() {
            self.last = None;
        }
        job.over = true;
        let (whole, failed) = (job.part.whole(), job.fault.is_some());
        let ended = Ended {
            commands: job.commands.take(),
            uses: job.uses,
            begin: job.begin,
            points: job.points.take(),
            ran,
            well: ran && !failed,
        };
        if let Some(whole) = whole {
            let fault = job.fault;
            if let Some(whole) = jobs.get_mut(whole) {
                whole.begun = true;
                if let Some(fault) = fault {
                    whole.fail(fault);
                }
            }
        }
        if failed && whole.is_none() {
            self.failures = self.failures.saturating_add(1);
        } else {
            let _ = jobs.release(first);
        }
        Some(ended)
    }

    /// Takes the oldest job out of flight: it will not end any more. If nothing was reported of it, it failed for `cause`.
    pub(crate) fn abandon(
        &mut self,
        jobs: &mut Slab<'_, Job>,
        cause: Cause,
        recovery: Recovery,
    ) -> Option<Ended> {
        let first = self.first?;
        if jobs.get(first)?.fault.is_none() {
            fail(jobs, first, cause, recovery);
        }
        self.end_first(jobs, false)
    }

    /// Whether jobs are kept that failed and were not discarded.
    pub(crate) const fn keeps_failures(&self) -> bool {
        self.failures > 0
    }

    /// The oldest job in flight.
    pub(crate) fn oldest<'j>(&self, jobs: &'j Slab<'_, Job>) -> Option<&'j Job> {
        jobs.get(self.first?)
    }

    /// The GPU was stopped while the oldest job still waited for a semaphore: the stream begins with it when it is started again.
    pub(crate) fn keep_current<P: Platform>(&mut self, platform: &mut P, jobs: &Slab<'_, Job>) {
        let start = self.oldest(jobs).map(|job| job.start);
        if let Some(start) = start {
            self.ring.begin_at(platform, start);
            self.kept = true;
        }
    }

    /// The GPU was stopped: takes the job out of flight that it may have been at, which is the oldest, and lets the stream
    /// begin with the next when it is started again. That one has not begun: an entry of the ring is left only when everything
    /// of its job is done.
    pub(crate) fn lose_current<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
    ) -> Option<Ended> {
        if core::mem::take(&mut self.kept) {
            return None;
        }
        let job = jobs.get(self.first?)?;
        let (point, end) = (job.fence.point, job.end);
        self.ring.begin_at(platform, end);
        self.sync.write(platform, SYNC64_STATUS, 0);
        self.sync.write(platform, SYNC64_VALUE, point);
        self.abandon(jobs, Cause::LostWithGpu, Recovery::Continue)
    }

    /// Whether a job is in flight, as far as [`Stream::retire`] has seen. Jobs end in their order: from the oldest in flight on all
    /// are.
    pub(crate) fn is_pending(&self, jobs: &Slab<'_, Job>, fence: Fence) -> bool {
        let oldest = self.oldest(jobs);
        fence.point <= self.submitted
            && oldest.is_some_and(|oldest| fence.point >= oldest.fence.point)
    }

    /// What became of the job that was to reach `point`, as far as [`Stream::retire`] has seen. Jobs are searched only while
    /// failed ones of the stream are kept.
    pub(crate) fn status(&self, jobs: &Slab<'_, Job>, fence: Fence) -> Status {
        if self.is_pending(jobs, fence) {
            return Status::Pending;
        }
        if fence.point == 0 || fence.point > self.submitted {
            return Status::Unknown;
        }
        let mut kept = (self.failures > 0)
            .then(|| jobs.iter())
            .into_iter()
            .flatten();
        match kept.find(|(_, job)| job.fence == fence) {
            Some((_, job)) => job.fault.map_or(Status::Pending, Status::Failed),
            None if fence.point <= self.discarded => Status::Unknown,
            None => Status::Done,
        }
    }

    /// Notes that the outcome of a failed job is not asked for any more.
    pub(crate) fn note_discarded(&mut self, point: u64) {
        self.discarded = self.discarded.max(point);
        self.failures = self.failures.saturating_sub(1);
    }

    /// The job that the hardware is at: the one whose part of the ring holds EXTRACT, which stands inside the entry that
    /// is being executed (hardware/csf-scheduling.md 6); or the oldest that is not done.
    pub(crate) fn current_job<P: Platform>(
        &self,
        platform: &mut P,
        jobs: &Slab<'_, Job>,
    ) -> Option<Key> {
        let extract = self.ring.extract(platform);
        let reached = self.reached(platform);
        let mut at = self.first;
        let mut oldest = None;
        // A list has no more jobs than there are.
        for _ in 0..jobs.capacity() {
            let Some((key, job)) = at.and_then(|key| Some((key, jobs.get(key)?))) else {
                break;
            };
            if job.fence.point > reached {
                if (job.start..job.end).contains(&extract) {
                    return Some(key);
                }
                oldest = oldest.or(Some(key));
            }
            at = job.next;
        }
        oldest
    }

    /// What is to be seen of the stream.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        blocks: &StreamBlocks,
        fresh: bool,
    ) -> StreamStatus {
        let output = blocks.output;
        StreamStatus {
            command_pointer: output.read(platform, CS_STATUS_CMD_PTR),
            blocked: output.read_word(platform, CS_STATUS_BLOCKED_REASON),
            wait: output.read_word(platform, CS_STATUS_WAIT),
            scoreboards: output.read_word(platform, CS_STATUS_SCOREBOARDS),
            insert: self.ring.insert(),
            extract: self.ring.extract(platform),
            fresh,
        }
    }
}
