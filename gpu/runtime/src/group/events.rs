//! Events of a slot: what its interrupt says, in the order that loses nothing.
//!
//! The answer to `CSG_IRQ_REQ` is given before streams are looked at, so that an event in between interrupts again.
//! Facts: hardware/csf-firmware.md section 11, csf-scheduling.md sections 6 and 7.2.

use super::Group;
use crate::fault::{Cause, Recovery, StreamException};
use crate::firmware::{Global, StreamBlocks};
use crate::platform::Platform;
use crate::queue::Stream;
use eitri_csf::fault::Exception;
use eitri_csf::interface::group::{CSG_IRQ_ACK, CSG_IRQ_REQ, csg_req};
use eitri_csf::interface::stream::{
    CS_FATAL, CS_FATAL_INFO, CS_FAULT, CS_FAULT_INFO, CS_TILER_HEAP_END, CS_TILER_HEAP_START,
    cs_fault, cs_req,
};

/// What a group needs after its events were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing.
    Fine,
    /// It must be terminated.
    Terminate,
}

impl Group {
    /// Looks at everything that the slot reports.
    pub(crate) fn process_events<P: Platform>(
        &mut self,
        platform: &mut P,
        global: &Global,
    ) -> Verdict {
        let requests = self.slot.requests();
        let irq_req = self.slot.output.read_word(platform, CSG_IRQ_REQ);
        let irq_ack = self.slot.input.read_word(platform, CSG_IRQ_ACK);
        if irq_req != irq_ack {
            self.slot
                .input
                .write(platform, CSG_IRQ_ACK, u64::from(irq_req));
        }
        let events = requests.take_events(platform, GROUP_EVENTS);
        let streams = irq_req ^ irq_ack;
        if events == 0 && streams == 0 {
            return Verdict::Fine;
        }
        // What the events are about stands in words that are read after them.
        platform.observe();
        let mut verdict = Verdict::Fine;
        let mut bells = 0;
        for (number, (stream, blocks)) in (0..).zip(self.streams.iter_mut().zip(&self.slot.streams))
        {
            let bit = 1_u32.checked_shl(number).unwrap_or(0);
            if csg_req::PROGRESS_TIMER_EVENT.get(events) {
                stop(platform, stream, Cause::NoProgress, Recovery::NewQueue);
                verdict = Verdict::Terminate;
            }
            if streams & bit != 0 {
                let outcome = process_stream(platform, stream, blocks);
                bells |= if outcome.ring { bit } else { 0 };
                verdict = if outcome.dead {
                    Verdict::Terminate
                } else {
                    verdict
                };
            }
        }
        if bells != 0 {
            self.doorbells().toggle(platform, bells);
        }
        global.ring_slots(platform, self.slot_bit());
        verdict
    }

    /// Answers whatever the slot has to say of a group that is not on it any more, or not yet: its next user must not
    /// hear of it. (hardware/csf-scheduling.md 3.4 step 4.)
    pub(super) fn discard_events<P: Platform>(&self, platform: &mut P) {
        let irq_req = self.slot.output.read_word(platform, CSG_IRQ_REQ);
        self.slot
            .input
            .write(platform, CSG_IRQ_ACK, u64::from(irq_req));
        self.slot.requests().take_events(platform, GROUP_EVENTS);
        for blocks in &self.slot.streams {
            blocks.requests().take_events(platform, STREAM_EVENTS);
        }
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
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// Its doorbell must be rung: it waits for the answer.
    ring: bool,
    /// It will never go on.
    dead: bool,
}

fn process_stream<P: Platform>(
    platform: &mut P,
    stream: &mut Stream,
    blocks: &StreamBlocks,
) -> Outcome {
    let requests = blocks.requests();
    let (req, ack) = requests.read(platform);
    platform.observe();
    let events = req ^ ack;
    let mut outcome = Outcome::default();
    if cs_req::FATAL.get(events) {
        let word = blocks.output.read_word(platform, CS_FATAL);
        let info = blocks.output.read(platform, CS_FATAL_INFO);
        let it = exception(word, info, true);
        let recovery = if it.exception.needs_reset() {
            Recovery::Restart
        } else {
            Recovery::NewQueue
        };
        stop(platform, stream, Cause::Exception(it), recovery);
        requests.take_events(platform, cs_req::FATAL.mask32());
        outcome.dead = true;
    }
    if cs_req::FAULT.get(events) {
        let word = blocks.output.read_word(platform, CS_FAULT);
        let info = blocks.output.read(platform, CS_FAULT_INFO);
        let it = exception(word, info, false);
        fail(platform, stream, Cause::Exception(it));
        requests.take_events(platform, cs_req::FAULT.mask32());
        // A stream with a fault stays stopped until it is acknowledged and rung.
        outcome.ring = true;
    }
    if cs_req::TILER_OOM.get(events) {
        fail(platform, stream, Cause::TilerMemory);
        blocks.input.write(platform, CS_TILER_HEAP_START, 0);
        blocks.input.write(platform, CS_TILER_HEAP_END, 0);
        requests.take_events(platform, cs_req::TILER_OOM.mask32());
        outcome.ring = true;
    }
    if cs_req::PROTM_PEND.get(events) {
        stop(platform, stream, Cause::ProtectedMode, Recovery::NewQueue);
        requests.take_events(platform, cs_req::PROTM_PEND.mask32());
        outcome.dead = true;
    }
    outcome
}

fn exception(word: u32, info: u64, fatal: bool) -> StreamException {
    StreamException {
        exception: Exception(cs_fault::EXCEPTION.get(word) as u8),
        data: cs_fault::DATA.get(word),
        info,
        fatal,
    }
}

/// The job that the stream is at has failed; the stream goes on.
fn fail<P: Platform>(platform: &mut P, stream: &mut Stream, cause: Cause) {
    let job = stream.current_job(platform);
    stream.fail(stream.fault(job, cause, Recovery::Continue));
}

/// The job that the stream is at has failed, and the stream with it.
fn stop<P: Platform>(platform: &mut P, stream: &mut Stream, cause: Cause, recovery: Recovery) {
    let job = stream.current_job(platform);
    stream.stop(stream.fault(job, cause, recovery));
}
