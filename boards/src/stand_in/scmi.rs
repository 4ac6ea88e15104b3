//! The other side of an SCMI page: the controller that takes a message and answers.
//!
//! Facts: hardware/boards.md 3.3.

use super::News;
use alloc::format;
use alloc::vec::Vec;

/// Words of a page that a message may have.
const WORDS: usize = 32;
/// Looks at the status until a message is answered: whoever does not look again takes the old words for the reply.
const LOOKS: u32 = 3;
/// Statuses of replies.
pub(super) const SUCCESS: u32 = 0;
pub(super) const NOT_SUPPORTED: u32 = -1i32 as u32;
pub(super) const INVALID: u32 = -2i32 as u32;
pub(super) const DENIED: u32 = -3i32 as u32;
pub(super) const OUT_OF_RANGE: u32 = -5i32 as u32;

/// Words of the page, by their numbers: a quarter of their offsets.
#[rustfmt::skip]
mod word {
    pub(super) const STATUS:  usize = 1; // 0x04
    pub(super) const FLAGS:   usize = 4; // 0x10
    pub(super) const LENGTH:  usize = 5; // 0x14
    pub(super) const HEADER:  usize = 6; // 0x18
    pub(super) const PAYLOAD: usize = 7; // 0x1C
}

/// A page of shared memory.
pub(super) struct Page {
    base: usize,
    words: [u32; WORDS],
    /// Looks until the page is free again; 0 when it is.
    busy: u32,
    /// Nobody is at the other side.
    pub(super) dead: bool,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Message, type, protocol and token.
    pub header: u32,
    /// Words after it.
    pub payload: Vec<u32>,
}

impl Page {
    pub(super) fn new(base: usize) -> Page {
        let mut words = [0; WORDS];
        words[word::STATUS] = 1;
        Page {
            base,
            words,
            busy: 0,
            dead: false,
        }
    }

    fn index(&self, at: usize) -> Option<usize> {
        let offset = at.checked_sub(self.base)?;
        (offset < 4 * WORDS && offset.is_multiple_of(4)).then_some(offset / 4)
    }

    /// The word at an address; `None` where the page has none.
    pub(super) fn read(&mut self, at: usize) -> Option<u32> {
        let index = self.index(at)?;
        if index == word::STATUS && self.busy > 0 && !self.dead {
            self.busy -= 1;
            if self.busy == 0 {
                self.words[word::STATUS] = 1;
            }
        }
        Some(self.words[index])
    }

    /// Sets a word; `None` where the page has none.
    pub(super) fn write(&mut self, at: usize, value: u32, news: &mut News) -> Option<()> {
        let index = self.index(at)?;
        if self.busy > 0 {
            news.tell(format!(
                "SCMI: {at:#x} is written while the controller has the page"
            ));
        }
        self.words[index] = value;
        Some(())
    }

    /// The doorbell rings: the message, if there is one that can be understood.
    pub(super) fn take(&mut self, news: &mut News) -> Option<Received> {
        if self.words[word::STATUS] & 1 != 0 {
            news.tell("SCMI: the doorbell rings while the page is marked free".into());
            return None;
        }
        if self.words[word::FLAGS] != 0 {
            news.tell("SCMI: an interrupt is asked for, which nobody handles".into());
        }
        let length = self.words[word::LENGTH] as usize;
        let words = length.wrapping_sub(4) / 4;
        if !length.is_multiple_of(4) || words > WORDS - word::PAYLOAD {
            news.tell(format!("SCMI: a message of {length} bytes"));
            return None;
        }
        let payload = &self.words[word::PAYLOAD..word::PAYLOAD + words];
        Some(Received {
            header: self.words[word::HEADER],
            payload: payload.to_vec(),
        })
    }

    /// Answers: status and words.
    pub(super) fn answer(&mut self, reply: &[u32]) {
        for (place, word) in self.words[word::PAYLOAD..].iter_mut().zip(reply) {
            *place = *word;
        }
        self.words[word::LENGTH] = 4 + 4 * reply.len() as u32;
        self.busy = LOOKS;
    }
}
