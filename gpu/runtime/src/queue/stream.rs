//! A stream: ring, sync object, and the jobs that are on their way.
//!
//! Bounded: at most 32 jobs are in flight.  Facts: hardware/csf-scheduling.md sections 2 to 6.

use super::SubQueue;
use super::ring::{RING_BYTES, Ring};
use super::wrapper::{StreamShape, WRAPPER_WORDS, wrapper};
use crate::access::SharedBlock;
use crate::fault::{JobFault, StreamStatus};
use crate::firmware::StreamBlocks;
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
pub(crate) const MAX_JOBS: usize = 32;

/// A job in the ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// The value of the sync object when it is done.
    pub(crate) point: u64,
    /// Where its wrapper begins and ends in the ring.
    start: u64,
    end: u64,
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
    pub(crate) sub_queue: SubQueue,
    memory: StreamMemory,
    ring: Ring,
    sync: SharedBlock,
    shape: StreamShape,
    jobs: Deque<Job, MAX_JOBS>,
    submitted: u64,
    fault: Option<JobFault>,
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
    pub(crate) fn new(sub_queue: SubQueue, memory: StreamMemory, shape: StreamShape) -> Stream {
        let pages = memory.pages.memory();
        let input = SharedBlock::new(pages);
        let output = SharedBlock::new(pages.offset(PAGE_BYTES));
        Stream {
            sub_queue,
            ring: Ring::new(memory.ring.memory(), input, output),
            sync: SharedBlock::new(memory.sync.memory()),
            memory,
            shape,
            jobs: Deque::new(),
            submitted: 0,
            fault: None,
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
        self.retire(platform);
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
        self.sync.read(platform, SYNC64_VALUE)
    }

    /// The status that came with it: not zero if work has failed.
    pub(crate) fn sync_status<P: Platform>(&self, platform: &mut P) -> u32 {
        self.sync.read_word(platform, SYNC64_STATUS)
    }

    /// Forgets the status, so that the next job's is its own.
    pub(crate) fn clear_sync_status<P: Platform>(&self, platform: &mut P) {
        self.sync.write(platform, SYNC64_STATUS, 0);
    }

    /// The last point that was submitted.
    pub(crate) const fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Forgets jobs that are done.
    pub(crate) fn retire<P: Platform>(&mut self, platform: &mut P) {
        let reached = self.reached(platform);
        while self.jobs.front().is_some_and(|job| job.point <= reached) {
            let _ = self.jobs.pop_front();
        }
    }

    /// The job that the hardware is at: the one whose part of the ring holds EXTRACT, or the oldest that is not done.
    ///
    /// FACT: the facts do not say where EXTRACT stands after a recoverable fault.
    pub(crate) fn current_job<P: Platform>(&self, platform: &mut P) -> Option<u64> {
        let extract = self.ring.extract(platform);
        let reached = self.reached(platform);
        let open = || self.jobs.iter().filter(|job| job.point > reached);
        let inside = open().find(|job| (job.start..job.end).contains(&extract));
        inside.or_else(|| open().next()).map(|job| job.point)
    }

    /// Keeps a fault for whoever waits for the job. The first fatal one stays.
    pub(crate) fn record(&mut self, fault: JobFault) {
        match self.fault {
            Some(kept) if kept.recovery >= fault.recovery => {}
            _ => self.fault = Some(fault),
        }
    }

    /// The fault that is kept.
    pub(crate) fn fault(&self) -> Option<&JobFault> {
        self.fault.as_ref()
    }

    /// Takes the fault, so that a queue that goes on starts clean.
    pub(crate) fn take_fault(&mut self) -> Option<JobFault> {
        self.fault.take()
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
