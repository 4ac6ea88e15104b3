//! A channel: the request word of a block and its acknowledge word, with the rules by which they change.
//!
//! Facts: hardware/csf-firmware.md section 11.

use crate::access::{RegisterAccess, SharedBlock};
use crate::gpu::interrupts::clear_job_line;
use crate::platform::{Instant, Platform};
use crate::wait::{Condition, TimedOut, ms, scaled};
use core::time::Duration;
use eitri_csf::interface::handshake;
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_csf::table::Register;
use thiserror::Error;

/// How long the firmware may take to answer a request.
pub(crate) const ANSWER: Duration = ms(100);

/// A request that the firmware did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the firmware did not answer {what}: {timed_out}\n  {}", MCU_STATUS.decode(u64::from(*mcu_status)))]
pub struct RequestIgnored {
    /// What was requested.
    pub what: &'static str,
    /// What was waited for.
    pub timed_out: TimedOut,
    /// `MCU_STATUS` at that time.
    pub mcu_status: u32,
}

/// A request word and its acknowledge word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) input: SharedBlock,
    pub(crate) output: SharedBlock,
    pub(crate) req: &'static Register,
    pub(crate) ack: &'static Register,
}

impl Channel {
    /// The two words as they are.
    pub(crate) fn read<P: Platform>(&self, platform: &mut P) -> (u32, u32) {
        let req = self.input.read_word(platform, *self.req);
        (req, self.output.read_word(platform, *self.ack))
    }

    /// Requests the toggles of `mask`.
    pub(crate) fn toggle<P: Platform>(&self, platform: &mut P, mask: u32) {
        let (req, ack) = self.read(platform);
        self.write(platform, handshake::request(req, ack, mask));
    }

    /// Writes the level or value bits of `mask`.
    pub(crate) fn set<P: Platform>(&self, platform: &mut P, mask: u32, value: u32) {
        let req = self.input.read_word(platform, *self.req);
        self.write(platform, (req & !mask) | (value & mask));
    }

    /// The events of `mask` that are raised; acknowledges them.
    pub(crate) fn take_events<P: Platform>(&self, platform: &mut P, mask: u32) -> u32 {
        let words = self.read(platform);
        self.take_events_of(platform, words, mask)
    }

    /// The same of words that were read before, as [`Channel::read`] gives them. The firmware tells of what it raises meanwhile anew.
    pub(crate) fn take_events_of<P: Platform>(
        &self,
        platform: &mut P,
        (req, ack): (u32, u32),
        mask: u32,
    ) -> u32 {
        let events = (req ^ ack) & mask;
        if events != 0 {
            self.write(platform, handshake::acknowledge(req, ack, events));
        }
        events
    }

    /// Checks whether the firmware has made ACK equal REQ in all bits of `mask`. Words that an answer is about are read after it.
    pub(crate) fn is_answered<P: Platform>(&self, platform: &mut P, mask: u32) -> bool {
        let (req, ack) = self.read(platform);
        let answered = (req ^ ack) & mask == 0;
        if answered {
            platform.observe();
        }
        answered
    }

    /// The error that the firmware has not done so within `limit`.
    pub(crate) fn ignored<P: Platform>(
        &self,
        platform: &mut P,
        what: &'static str,
        mask: u32,
        limit: Duration,
    ) -> RequestIgnored {
        let (req, ack) = self.read(platform);
        RequestIgnored {
            what,
            timed_out: TimedOut {
                register: self.ack,
                offset: self.ack.offset,
                address: Some(self.output.address(*self.ack)),
                value: u64::from(ack),
                wanted: Condition::equal(u64::from(mask), u64::from(req)),
                limit,
            },
            mcu_status: platform.read_word(MCU_STATUS),
        }
    }

    fn write<P: Platform>(&self, platform: &mut P, req: u32) {
        // The words that a request is about stand before the request does.
        platform.publish();
        self.input.write(platform, *self.req, u64::from(req));
    }
}

/// A request that the firmware has to answer by some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingRequest {
    channel: Channel,
    what: &'static str,
    mask: u32,
    limit: Duration,
    until: Instant,
}

impl PendingRequest {
    /// The bits of `mask` were requested just now; `limit` is that of a GPU at full clock.
    pub(crate) fn new<P: Platform>(
        platform: &P,
        now: Instant,
        channel: Channel,
        what: &'static str,
        mask: u32,
        limit: Duration,
    ) -> PendingRequest {
        let limit = scaled(platform, limit);
        PendingRequest {
            channel,
            what,
            mask,
            limit,
            until: now.after(limit),
        }
    }

    /// Whether the firmware has made ACK equal REQ in all bits that were asked for.
    ///
    /// # Errors
    /// If it has not, and `now` is too late.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, RequestIgnored> {
        let PendingRequest {
            channel,
            what,
            mask,
            limit,
            until,
        } = *self;
        // The line first, then memory: an answer in between raises it again. What slots report is not lost by this: it
        // stands in their own words.
        clear_job_line(platform);
        if channel.is_answered(platform, mask) {
            return Ok(true);
        }
        if now >= until {
            return Err(channel.ignored(platform, what, mask, limit));
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::PhysicalAddress;
    use crate::testing::{Fake, MEMORY};
    use eitri_csf::interface::group::{CSG_ACK, CSG_REQ};

    fn channel() -> (Fake, Channel) {
        let block = |at| SharedBlock::new(PhysicalAddress(MEMORY + at));
        let channel = Channel {
            input: block(0),
            output: block(0x1000),
            req: &CSG_REQ,
            ack: &CSG_ACK,
        };
        (Fake::new(0x2000), channel)
    }

    /// Events that are asked for are raised where REQ and ACK differ, whatever the words hold, and once.
    #[test]
    fn events_are_raised_where_the_words_differ() {
        let (mut fake, channel) = channel();
        for (req, ack, events) in [
            (0b00_00, 0b00_00, 0),
            (0b01_11, 0b01_11, 0),
            (0b00_01, 0b00_10, 0b11),
            (0b00_11, 0b00_10, 0b01),
            (0b00_00, 0b01_00, 0),
        ] {
            channel.input.write(&mut fake, CSG_REQ, req);
            channel.output.write(&mut fake, CSG_ACK, ack);
            assert_eq!(
                channel.take_events(&mut fake, 0b11),
                events,
                "{req:#b}, {ack:#b}"
            );
            assert_eq!(
                channel.take_events(&mut fake, 0b11),
                0,
                "{req:#b}, {ack:#b}"
            );
            let left = channel.read(&mut fake);
            assert_eq!(
                u64::from(left.0 & !0b11),
                req & !0b11,
                "no other is acknowledged"
            );
        }
    }

    #[test]
    fn a_load_barrier_stands_behind_an_answer() {
        const MASK: u32 = 0b110;
        let (mut fake, channel) = channel();
        // REQ, ACK, and whether that is an answer: bits outside of the mask count for nothing.
        for (req, ack, answered) in [
            (0, 0, true),
            (2, 0, false),
            (6, 7, true),
            (1, 8, true),
            (6, 2, false),
        ] {
            channel.input.write(&mut fake, CSG_REQ, req);
            channel.output.write(&mut fake, CSG_ACK, ack);
            assert_eq!(
                channel.is_answered(&mut fake, MASK),
                answered,
                "{req:#b}, {ack:#b}"
            );
            assert_eq!(fake.unobserved == 0, answered, "{req:#b}, {ack:#b}");
        }
    }
}
