//! Events of a slot: what its interrupt says, in the order that loses nothing.
//!
//! The answer to `CSG_IRQ_REQ` is given before streams are looked at, so that an event in between interrupts again. A stream's bit
//! of it differs from that of `CSG_IRQ_ACK` from its first event on until the answer, however many follow: the others have
//! nothing to say.
//! Facts: hardware/csf-firmware.md section 11, csf-scheduling.md sections 6 and 7.2.

use super::{Doom, Group, doorbells};
use crate::fault::{Cause, JobFault, Recovery, StreamException};
use crate::firmware::{SlotBlocks, StreamBlocks};
use crate::handle::{Fence, Queue};
use crate::platform::Platform;
use crate::queue::{Job, Stream, fail, fault_of};
use crate::slab::Slab;
use eitri_csf::fault::Exception;
use eitri_csf::interface::group::{CSG_IRQ_ACK, CSG_IRQ_REQ, csg_req};
use eitri_csf::interface::stream::{
    CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, cs_fault, cs_req,
};

impl Group {
    /// Looks at everything that the slot reports, and answers it. The doorbell is the caller's.
    pub(crate) fn process_events<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        queue: Queue,
        (slot, whom): (&SlotBlocks, Whom),
    ) -> Reported {
        let irq_req = slot.output.read_word(platform, CSG_IRQ_REQ);
        let asking = irq_req ^ slot.input.read_word(platform, CSG_IRQ_ACK);
        if asking != 0 {
            slot.input.write(platform, CSG_IRQ_ACK, u64::from(irq_req));
        }
        let events = slot.requests().take_events(platform, GROUP_EVENTS);
        // What the events are about stands in words that are read after them.
        platform.observe();
        let mut bells = 0;
        let mut answered = events != 0 || asking != 0;
        self.idle |= csg_req::IDLE.get(events);
        // The progress timer is the group's: it says nothing of streams.
        let all = whom == Whom::Everyone || csg_req::PROGRESS_TIMER_EVENT.get(events);
        for number in 0..self.streams.len() {
            let bit = u32::try_from(number)
                .ok()
                .and_then(|it| 1_u32.checked_shl(it));
            let bit = bit.unwrap_or(0);
            if !all && asking & bit == 0 {
                continue;
            }
            let (Some(stream), Some(blocks)) = (self.streams.get(number), slot.streams.get(number))
            else {
                continue;
            };
            let mut found = Found::new(Fence {
                queue,
                sub_queue: stream.sub_queue,
                point: 0,
            });
            if csg_req::PROGRESS_TIMER_EVENT.get(events) && stream.is_busy() {
                found.stopped(
                    platform,
                    jobs,
                    stream,
                    Cause::NoProgress,
                    Recovery::NewQueue,
                );
            }
            answered |= process_stream(platform, jobs, stream, blocks, &mut found);
            bells |= if found.ring { bit } else { 0 };
            self.exhausted |= if found.exhausted { bit } else { 0 };
            if found.dead {
                self.doom = self.doom.or(Some(Doom::Stream));
            }
            if let Some(fault) = found.fault {
                self.stop(fault);
            }
        }
        if bells != 0 {
            doorbells(slot).toggle(platform, bells);
        }
        Reported {
            answered,
            sync_changed: csg_req::SYNC_UPDATE.get(events),
        }
    }
}

/// The streams of a slot that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    /// Those that ask for it.
    Asking,
    /// All, whatever they ask for: the slot changes hands, or its firmware may be dead.
    Everyone,
}

/// What a slot had to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reported {
    /// There was something, and it was answered.
    pub(crate) answered: bool,
    /// A sync object has changed.
    pub(crate) sync_changed: bool,
}

/// Answers everything that a slot reports.
pub(super) fn discard<P: Platform>(platform: &mut P, slot: &SlotBlocks) {
    let irq_req = slot.output.read_word(platform, CSG_IRQ_REQ);
    slot.input.write(platform, CSG_IRQ_ACK, u64::from(irq_req));
    slot.requests().take_events(platform, GROUP_EVENTS);
    for blocks in &slot.streams {
        blocks.requests().take_events(platform, STREAM_EVENTS);
    }
}

/// The events of a slot that are its group's own.
const GROUP_EVENTS: u32 =
    csg_req::SYNC_UPDATE.mask32() | csg_req::IDLE.mask32() | csg_req::PROGRESS_TIMER_EVENT.mask32();

/// The events of a stream.
const STREAM_EVENTS: u32 = cs_req::FATAL.mask32()
    | cs_req::FAULT.mask32()
    | cs_req::TILER_OOM.mask32()
    | cs_req::PROTM_PEND.mask32();

/// What a stream's events ask for.
#[derive(Debug)]
struct Found {
    /// The stream, with no job of it.
    stream: Fence,
    /// Its doorbell must be rung: it waits for the answer.
    ring: bool,
    /// Its tiler heap has no memory left.
    exhausted: bool,
    /// It will never go on.
    dead: bool,
    /// What stopped it.
    fault: Option<JobFault>,
}

impl Found {
    const fn new(stream: Fence) -> Found {
        Found {
            stream,
            ring: false,
            exhausted: false,
            dead: false,
            fault: None,
        }
    }

    /// The job that the stream is at has failed, and the stream with it.
    fn stopped<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        stream: &Stream,
        cause: Cause,
        recovery: Recovery,
    ) {
        let job = stream.current_job(platform, jobs);
        self.dead = true;
        let of_job = job.and_then(|job| fail(jobs, job, cause, recovery));
        let of_stream = JobFault {
            job: None,
            ..fault_of(self.stream, cause, recovery)
        };
        self.fault = Some(of_job.unwrap_or(of_stream));
    }
}

/// The job that the stream is at has failed; the stream goes on.
fn failed<P: Platform>(platform: &mut P, jobs: &mut Slab<'_, Job>, stream: &Stream, cause: Cause) {
    if let Some(job) = stream.current_job(platform, jobs) {
        fail(jobs, job, cause, Recovery::Continue);
    }
}

/// Answers what a stream reports; whether there was anything.
fn process_stream<P: Platform>(
    platform: &mut P,
    jobs: &mut Slab<'_, Job>,
    stream: &Stream,
    blocks: &StreamBlocks,
    found: &mut Found,
) -> bool {
    let requests = blocks.requests();
    let (req, ack) = requests.read(platform);
    let events = (req ^ ack) & STREAM_EVENTS;
    if events == 0 {
        return false;
    }
    platform.observe();
    if cs_req::FATAL.get(events) {
        let word = blocks.output.read_word(platform, CS_FATAL);
        let info = blocks.output.read(platform, CS_FATAL_INFO);
        let it = exception(word, info, true);
        let recovery = if it.exception.needs_reset() {
            Recovery::Reset
        } else {
            Recovery::NewQueue
        };
        found.stopped(platform, jobs, stream, Cause::Exception(it), recovery);
        requests.take_events(platform, cs_req::FATAL.mask32());
    }
    if cs_req::FAULT.get(events) {
        let word = blocks.output.read_word(platform, CS_FAULT);
        let info = blocks.output.read(platform, CS_FAULT_INFO);
        let it = exception(word, info, false);
        failed(platform, jobs, stream, Cause::Exception(it));
        requests.take_events(platform, cs_req::FAULT.mask32());
        // A stream with a fault stays stopped until it is acknowledged and rung.
        found.ring = true;
    }
    // The answer is the device's, which has the heaps.
    found.exhausted = cs_req::TILER_OOM.get(events);
    if cs_req::PROTM_PEND.get(events) {
        let cause = Cause::ProtectedMode;
        found.stopped(platform, jobs, stream, cause, Recovery::NewQueue);
        requests.take_events(platform, cs_req::PROTM_PEND.mask32());
    }
    true
}

fn exception(word: u32, info: u64, fatal: bool) -> StreamException {
    StreamException {
        exception: Exception(cs_fault::EXCEPTION.get(word) as u8),
        data: cs_fault::DATA.get(word),
        info,
        fatal,
    }
}
