//! Events of a slot: what its interrupt says, in the order that loses nothing.
//!
//! The words of the slot are read once. The answer to `CSG_IRQ_REQ` is given before streams are looked at, so that an event in between
//! interrupts again. A stream's bit of it differs from that of `CSG_IRQ_ACK` from its first event on until the answer, however many
//! follow: the others have nothing to say.
//! Facts: hardware/csf-firmware.md section 11, csf-scheduling.md sections 6 and 7.2.

use super::{ALL_STREAMS, Group, Termination, doorbells};
use crate::fault::{Cause, JobFault, StreamException};
use crate::firmware::{SlotBlocks, StreamBlocks};
use crate::handle::{Fence, Queue};
use crate::platform::Platform;
use crate::policy::{Event, Outcome, State, outcome};
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
        slot: &SlotBlocks,
        words: SlotWords,
        whom: Whom,
    ) -> Reported {
        let asking = words.asking();
        if asking != 0 {
            slot.input
                .write(platform, CSG_IRQ_ACK, u64::from(words.irq_req));
        }
        let requests = slot.requests();
        let events = requests.take_events_of(platform, words.requests, GROUP_EVENTS);
        if asking == 0 && events == 0 && whom == Whom::Asking {
            return Reported::NOTHING;
        }
        // What the events are about stands in words that are read after them.
        platform.observe();
        let mut bells = 0;
        let mut answered = events != 0 || asking != 0;
        let mut exhausted = 0;
        if let Some(seated) = self.residency.seated_mut() {
            seated.idle |= csg_req::IDLE.get(events);
        }
        // The progress timer is the group's: it says nothing of streams.
        let all = whom == Whom::Everyone || csg_req::PROGRESS_TIMER_EVENT.get(events);
        let state = self.residency.state();
        let mut left = if all { ALL_STREAMS } else { asking };
        while left != 0 {
            let number = left.trailing_zeros() as usize;
            let bit = left & left.wrapping_neg();
            left ^= bit;
            let (Some(stream), Some(blocks)) = (self.streams.get(number), slot.streams.get(number))
            else {
                continue;
            };
            let fence = Fence {
                queue,
                sub_queue: stream.sub_queue,
                point: 0,
            };
            let mut report = StreamReport::new(fence, state);
            if csg_req::PROGRESS_TIMER_EVENT.get(events) && stream.is_busy() {
                let (event, cause) = (Event::NoProgress, Cause::NoProgress);
                report.answer(platform, jobs, stream, event, cause);
            }
            answered |= report.process(platform, jobs, stream, blocks);
            bells |= if report.ring { bit } else { 0 };
            exhausted |= if report.exhausted { bit } else { 0 };
            if let Some(fault) = report.fatal {
                self.end_for(Termination::Stream).note(fault);
            }
        }
        if bells != 0 {
            doorbells(slot).toggle(platform, bells);
        }
        Reported {
            answered,
            sync_changed: csg_req::SYNC_UPDATE.get(events),
            exhausted,
        }
    }
}

/// The words in which a slot reports, as they were read once for all who ask for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotWords {
    irq_req: u32,
    irq_ack: u32,
    /// `CSG_REQ` and `CSG_ACK`.
    requests: (u32, u32),
}

impl SlotWords {
    /// Reads the words of a slot.
    pub(crate) fn read<P: Platform>(platform: &mut P, slot: &SlotBlocks) -> SlotWords {
        SlotWords {
            irq_req: slot.output.read_word(platform, CSG_IRQ_REQ),
            irq_ack: slot.input.read_word(platform, CSG_IRQ_ACK),
            requests: slot.requests().read(platform),
        }
    }

    /// The streams that ask for a look, a bit each.
    pub(crate) const fn asking(self) -> u32 {
        self.irq_req ^ self.irq_ack
    }

    /// Whether the progress timer has run out.
    pub(crate) fn is_stuck(self) -> bool {
        let (req, ack) = self.requests;
        csg_req::PROGRESS_TIMER_EVENT.get(req ^ ack)
    }

    /// Whether something is reported that may be a failure: a stream asks for a look, or the progress timer has run out. Most polls find
    /// neither.
    pub(crate) fn may_be_failure(self) -> bool {
        self.asking() != 0 || self.is_stuck()
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
    /// Streams whose tiler heaps have no memory left, a bit for each: the device answers them.
    pub(crate) exhausted: u32,
}

impl Reported {
    pub(crate) const NOTHING: Reported = Reported {
        answered: false,
        sync_changed: false,
        exhausted: 0,
    };
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
struct StreamReport {
    /// The stream, with no job of it.
    stream: Fence,
    /// State of the stream's group.
    state: State,
    /// Its doorbell must be rung: it waits for the answer.
    ring: bool,
    /// Its tiler heap has no memory left.
    exhausted: bool,
    /// The fault that stopped the stream for good.
    fatal: Option<JobFault>,
}

impl StreamReport {
    const fn new(stream: Fence, state: State) -> StreamReport {
        StreamReport {
            stream,
            state,
            ring: false,
            exhausted: false,
            fatal: None,
        }
    }

    /// Does with the job that the stream is at, and with the stream, as the policy says of an event.
    fn answer<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        stream: &Stream,
        event: Event,
        cause: Cause,
    ) {
        let outcome = outcome(event, self.state);
        let recovery = outcome.recovery();
        let job = stream.current_job(platform, jobs);
        let of_job = job.and_then(|job| fail(jobs, job, cause, recovery));
        if outcome != Outcome::JobFails {
            let of_stream = JobFault {
                job: None,
                ..fault_of(self.stream, cause, recovery)
            };
            self.fatal = Some(of_job.unwrap_or(of_stream));
        }
    }

    /// Answers what a stream reports; whether there was anything.
    fn process<P: Platform>(
        &mut self,
        platform: &mut P,
        jobs: &mut Slab<'_, Job>,
        stream: &Stream,
        blocks: &StreamBlocks,
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
            let event = if it.exception.needs_reset() {
                Event::FatalForReset
            } else {
                Event::Fatal
            };
            self.answer(platform, jobs, stream, event, Cause::Exception(it));
            requests.take_events(platform, cs_req::FATAL.mask32());
        }
        if cs_req::FAULT.get(events) {
            let word = blocks.output.read_word(platform, CS_FAULT);
            let info = blocks.output.read(platform, CS_FAULT_INFO);
            let it = exception(word, info, false);
            self.answer(platform, jobs, stream, Event::Fault, Cause::Exception(it));
            requests.take_events(platform, cs_req::FAULT.mask32());
            // A stream with a fault stays stopped until it is acknowledged and rung.
            self.ring = true;
        }
        // The answer is the device's, which has the heaps.
        self.exhausted = cs_req::TILER_OOM.get(events);
        if cs_req::PROTM_PEND.get(events) {
            let (event, cause) = (Event::ProtectedMode, Cause::ProtectedMode);
            self.answer(platform, jobs, stream, event, cause);
            requests.take_events(platform, cs_req::PROTM_PEND.mask32());
        }
        true
    }
}

fn exception(word: u32, info: u64, fatal: bool) -> StreamException {
    StreamException {
        exception: Exception(cs_fault::EXCEPTION.get(word) as u8),
        data: cs_fault::DATA.get(word),
        info,
        fatal,
    }
}
