//! A stream: ring, sync object, and the jobs that are on their way.
//!
//! Each job has its own outcome: a fault belongs to the job that the hardware was at, never to the stream.
//!
//! Bounded: at most 32 jobs are in flight, and the last 8 faults are kept; of a job that is older than a fault that had to
//! go it is known that it is not known.  Facts: hardware/csf-scheduling.md sections 2 to 6.

use super::SubQueue;
use super::ring::{RING_BYTES, Ring};
use super::wrapper::{StreamShape, WRAPPER_WORDS, wrapper};
use crate::access::SharedBlock;
use crate::fault::{Cause, JobFault, Recovery, StreamStatus};
use crate::firmware::StreamBlocks;
use crate::mmu::MmuFault;
use crate::platform::Platform;
use crate::vm::{GpuAddress, Object};
use eitri_cs::EncodeError;
use eitri_csf::interface::stream::{
    CS_ACK_IRQ_MASK, CS_BASE, CS_CONFIG, CS_SIZE, CS_STATUS_BLOCKED_REASON, CS_STATUS_CMD_PTR,
    CS_STATUS_SCOREBOARDS, CS_STATUS_WAIT, CS_TILER_HEAP_END, CS_TILER_HEAP_START, CS_USER_INPUT,
    CS_USER_OUTPUT, CsState, cs_config, cs_req,
};
use eitri_csf::interface::sync_object::{SYNC64_STATUS, SYNC64_VALUE};
use eitri_csf::page_table::PAGE_BYTES;
use heapless::Deque;

/// Jobs of a stream that may be in flight at once.
const MAX_JOBS: usize = 32;
/// Faults of a stream that are kept.
const MAX_FAULTS: usize = 8;

/// A job in the ring.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// The value of the sync object when it is done.
    point: u64,
    /// Where its wrapper begins and ends in the ring.
    start: u64,
    end: u64,
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    /// It is on its way.
    Pending,
    /// It ended well.
    Done,
    /// It failed.
    Failed(JobFault),
    /// It ended, and too many have failed since to say how.
    Forgotten,
}

/// Memory of a stream.
#[derive(Debug)]
pub(crate) struct StreamMemory {
    /// Ring buffer, in the space of jobs.
    pub(crate) ring: Object,
    /// Sync object, in the space of jobs.
    pub(crate) sync: Object,
    /// User pages, in the firmware's space: input, then output.
    pub(crate) pages: Object,
}

/// A stream of a group.
#[derive(Debug)]
pub(crate) struct Stream {
    sub_queue: SubQueue,
    /// The slot that its group is on.
    slot: u32,
    memory: StreamMemory,
    ring: Ring,
    sync: SharedBlock,
    shape: StreamShape,
    jobs: Deque<Job, MAX_JOBS>,
    submitted: u64,
    /// What was reported of jobs: at most one fault a job. The next goes to the place `next_fault`, where the oldest is.
    faults: [Option<JobFault>; MAX_FAULTS],
    next_fault: usize,
    /// The last point whose fault is not kept any more.
    forgotten: u64,
    /// What stopped the stream for good.
    stopped: Option<JobFault>,
    /// The last point that was reached when the stream ended, and what the owner of the jobs after it has to do.
    ended: Option<(u64, Recovery)>,
}

/// Why a job does not get into the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    Full,
    Encode(EncodeError),
}

impl Stream {
    /// Bytes of the user pages: input and output.
    pub(crate) const USER_BYTES: u64 = 2 * PAGE_BYTES;
    /// Bytes of the ring.
    pub(crate) const RING_BYTES: u64 = RING_BYTES;

    /// A stream with nothing in its ring.
    pub(crate) fn new(
        sub_queue: SubQueue,
        slot: u32,
        memory: StreamMemory,
        shape: StreamShape,
    ) -> Stream {
        let pages = memory.pages.memory();
        let input = SharedBlock::new(pages);
        let output = SharedBlock::new(pages.offset(PAGE_BYTES));
        Stream {
            sub_queue,
            slot,
            ring: Ring::new(memory.ring.memory(), input, output),
            sync: SharedBlock::new(memory.sync.memory()),
            memory,
            shape,
            jobs: Deque::new(),
            submitted: 0,
            faults: [None; MAX_FAULTS],
            next_fault: 0,
            forgotten: 0,
            stopped: None,
            ended: None,
        }
    }

    /// The memory, when the stream is no longer on a slot.
    pub(crate) fn into_memory(self) -> StreamMemory {
        self.memory
    }

    /// Writes the stream's interface words before its group starts.
    pub(crate) fn prepare_start<P: Platform>(
        &self,
        platform: &mut P,
        blocks: &StreamBlocks,
        doorbell: u32,
    ) {
        let input = blocks.input;
        let pages = self.memory.pages.address();
        self.ring.prepare_start(platform);
        input.write(platform, CS_BASE, self.memory.ring.address().0);
        input.write(platform, CS_SIZE, RING_BYTES);
        input.write(platform, CS_USER_INPUT, pages.0);
        input.write(platform, CS_USER_OUTPUT, pages.offset(PAGE_BYTES).0);
        input.write(platform, CS_TILER_HEAP_START, 0);
        input.write(platform, CS_TILER_HEAP_END, 0);
        // One stream of each kind: they need no priority among themselves.
        input.write(platform, CS_CONFIG, cs_config::DOORBELL.set(0, doorbell));
        input.write(platform, CS_ACK_IRQ_MASK, u64::from(u32::MAX));
        let idle = cs_req::IDLE_SYNC_WAIT.mask32() | cs_req::IDLE_EMPTY.mask32();
        let mask = cs_req::STATE.mask32() | idle;
        blocks
            .requests()
            .set(platform, mask, cs_req::STATE.word(CsState::Start) | idle);
    }

    /// Says that the slot's next user must start cleanly.
    pub(crate) fn mark_stopped<P: Platform>(&self, platform: &mut P, blocks: &StreamBlocks) {
        let state = cs_req::STATE.mask32();
        blocks
            .requests()
            .set(platform, state, cs_req::STATE.word(CsState::Stop));
    }

    /// Puts a job into the ring; gives the point that it will reach.
    pub(crate) fn push<P: Platform>(
        &mut self,
        platform: &mut P,
        start: GpuAddress,
        bytes: u32,
    ) -> Result<u64, PushError> {
        self.settle(platform);
        let length = (WRAPPER_WORDS as u64).wrapping_mul(8);
        if self.jobs.is_full() || !self.ring.has_room(platform, length) {
            return Err(PushError::Full);
        }
        let sync = self.memory.sync.address();
        let block = wrapper(&self.shape, start, bytes, sync).map_err(PushError::Encode)?;
        let begin = self.ring.insert();
        self.ring.push(platform, &block);
        self.submitted = self.submitted.wrapping_add(1);
        let job = Job {
            point: self.submitted,
            start: begin,
            end: self.ring.insert(),
        };
        // There is room: it was looked for above.
        let _ = self.jobs.push_back(job);
        Ok(job.point)
    }

    /// The sync object, for a test to play the GPU.
    #[cfg(test)]
    pub(super) const fn sync_object(&self) -> SharedBlock {
        self.sync
    }

    /// The point that was reached.
    pub(crate) fn reached<P: Platform>(&self, platform: &mut P) -> u64 {
        let reached = self.sync.read(platform, SYNC64_VALUE);
        // What the jobs up to here wrote is read after this.
        platform.observe();
        reached
    }

    /// The last point that was submitted.
    pub(crate) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Sees which jobs are over. Faults were looked at before: a stream with a fault goes on only when it was answered.
    pub(crate) fn settle<P: Platform>(&mut self, platform: &mut P) {
        let reached = self.reached(platform);
        while let Some(job) = self
            .jobs
            .front()
            .copied()
            .filter(|job| job.point <= reached)
        {
            let _ = self.jobs.pop_front();
            if job.point < reached {
                continue;
            }
            // The status is that of the last job that signalled; of another it says nothing. The CPU never writes it: the
            // GPU may write the same line at any time.
            let status = self.sync.read_word(platform, SYNC64_STATUS);
            if status != 0 && self.fault_of(job.point).is_none() {
                let cause = Cause::Unreported { status };
                self.keep(self.fault(Some(job.point), cause, Recovery::Continue));
            }
        }
    }

    fn keep(&mut self, fault: JobFault) {
        let Some(place) = self.faults.get_mut(self.next_fault) else {
            // The number is always below the length.
            return;
        };
        if let Some(oldest) = place.replace(fault) {
            self.forgotten = self.forgotten.max(oldest.job.unwrap_or(0));
        }
        self.next_fault = self.next_fault.wrapping_add(1) % MAX_FAULTS;
    }

    /// What was reported of a job.
    pub(crate) fn fault_of(&self, point: u64) -> Option<&JobFault> {
        let mut faults = self.faults.iter().flatten();
        faults.find(|fault| fault.job == Some(point))
    }

    /// What became of the job that was to reach `point`, as far as [`Stream::settle`] has seen.
    pub(crate) fn state(&self, point: u64) -> JobState {
        let open = self.jobs.iter().any(|job| job.point == point);
        match (self.fault_of(point), self.ended) {
            (_, None) if open => JobState::Pending,
            (Some(fault), _) => JobState::Failed(*fault),
            (None, Some((reached, recovery))) if point > reached => {
                JobState::Failed(self.fault(Some(point), Cause::Lost, recovery))
            }
            (None, _) if point <= self.forgotten => JobState::Forgotten,
            (None, _) => JobState::Done,
        }
    }

    /// The job that the hardware is at: the one whose part of the ring holds EXTRACT, which stands inside the entry that
    /// is being executed (hardware/csf-scheduling.md 6); or the oldest that is not done.
    pub(crate) fn current_job<P: Platform>(&self, platform: &mut P) -> Option<u64> {
        let extract = self.ring.extract(platform);
        let reached = self.reached(platform);
        let open = || self.jobs.iter().filter(|job| job.point > reached);
        let inside = open().find(|job| (job.start..job.end).contains(&extract));
        inside.or_else(|| open().next()).map(|job| job.point)
    }

    /// A fault of a job of this stream.
    pub(crate) const fn fault(
        &self,
        job: Option<u64>,
        cause: Cause,
        recovery: Recovery,
    ) -> JobFault {
        JobFault {
            slot: self.slot,
            sub_queue: self.sub_queue,
            job,
            cause,
            mmu: None,
            recovery,
        }
    }

    /// Says that the job of `fault` failed. The first fault of a job stays, unless a later one costs more.
    pub(crate) fn fail(&mut self, fault: JobFault) {
        let Some(point) = fault.job else { return };
        let mut faults = self.faults.iter_mut().flatten();
        match faults.find(|kept| kept.job == Some(point)) {
            Some(kept) if kept.recovery < fault.recovery => *kept = fault,
            Some(_) => {}
            None => self.keep(fault),
        }
    }

    /// Says that `fault` has stopped the stream for good; the first or the costliest is kept.
    pub(crate) fn stop(&mut self, fault: JobFault) {
        self.fail(fault);
        if self
            .stopped
            .is_none_or(|kept| kept.recovery < fault.recovery)
        {
            self.stopped = Some(fault);
        }
    }

    /// What stopped the stream for good.
    pub(crate) const fn stopped(&self) -> Option<&JobFault> {
        self.stopped.as_ref()
    }

    /// Ends the stream: of the jobs that are left, those of which nothing was reported were lost with it.
    pub(crate) fn end<P: Platform>(&mut self, platform: &mut P, recovery: Recovery) {
        if self.ended.is_some() {
            return;
        }
        self.settle(platform);
        self.ended = Some((self.reached(platform), recovery));
        let lost = self.fault(None, Cause::Lost, recovery);
        self.stopped = self.stopped.or(Some(lost));
        while self.jobs.pop_front().is_some() {}
    }

    /// Adds the fault of the address space to what was reported of jobs after the point `reached`: it is behind a
    /// stream's bus fault.
    pub(crate) fn explain(&mut self, reached: u64, fault: MmuFault) {
        let all = self
            .faults
            .iter_mut()
            .flatten()
            .chain(self.stopped.as_mut());
        for it in all.filter(|it| it.job.is_some_and(|job| job > reached)) {
            if let Cause::Exception(_) = it.cause {
                it.mmu = Some(fault);
                it.recovery = it.recovery.max(Recovery::NewQueue);
            }
        }
    }

    /// What is to be seen of the stream.
    pub(crate) fn status<P: Platform>(
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
