//! The ring buffer of a stream: where the host writes and how far the hardware has read.
//!
//! Offsets only grow; the place in the ring is the offset modulo its size, a power of two. A block may wrap around
//! the end. Blocks fill whole slots; a slot that holds the wrapper of a job without semaphores is taken by the next such wrapper
//! by changing only the words that differ.
//! Where reading begins (EXTRACT_INIT) is said when the stream is started or resumed, which is when the firmware reads it.
//! Facts: hardware/csf-firmware.md section 10, csf-scheduling.md sections 3.1 and 4.

use super::wrapper::{OWN, SAME, WRAPPER_WORDS};
use crate::access::SharedBlock;
use crate::platform::{PhysicalAddress, Platform};
use core::ops::Range;
use eitri_csf::interface::user_pages::{CS_EXTRACT, CS_EXTRACT_INIT, CS_INSERT};

/// Jobs without semaphores that a ring has room for.
const SLOTS: usize = 128;
const SLOT_BYTES: u64 = WRAPPER_WORDS as u64 * 8;
const RING_BYTES: u64 = SLOTS as u64 * SLOT_BYTES;

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    /// Anything.
    Other,
    /// The wrapper of a job without semaphores and without a flush.
    Plain,
    /// The same with a flush.
    Flush,
}

/// A wrapper of a job without semaphores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain<'a> {
    /// The first words, which are the job's: those of the flush, the address, the length, the wait for the flush.
    pub(crate) own: [u64; OWN],
    /// It flushes.
    pub(crate) flushes: bool,
    /// The words behind them.
    pub(crate) same: &'a [u64; SAME],
}

/// A block of words that is being written to a ring.
pub(crate) struct Block<'a, P> {
    platform: &'a mut P,
    memory: PhysicalAddress,
    offset: u64,
}

impl<P: Platform> Block<'_, P> {
    /// Where the next word goes, counted as INSERT is.
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Puts the next words.
    #[inline(always)]
    pub(crate) fn put(&mut self, words: &[u64]) {
        let bytes = (words.len() as u64).wrapping_mul(8);
        let start = self.offset % RING_BYTES;
        if start.wrapping_add(bytes) <= RING_BYTES {
            self.platform.write_words(self.memory.offset(start), words);
            self.offset = self.offset.wrapping_add(bytes);
        } else {
            self.put_around(words);
        }
    }

    /// Puts words around the end of the ring.
    #[cold]
    #[inline(never)]
    fn put_around(&mut self, words: &[u64]) {
        for word in words {
            let at = self.memory.offset(self.offset % RING_BYTES);
            self.platform.store64(at, *word);
            self.offset = self.offset.wrapping_add(8);
        }
    }
}

/// A ring buffer with its user pages.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: PhysicalAddress,
    input: SharedBlock,
    output: SharedBlock,
    insert: u64,
    /// What the hardware had consumed when that was last looked at.
    consumed: u64,
    /// Entries before this offset are skipped.
    skipped: u64,
    slots: [Slot; SLOTS],
}

impl Ring {
    /// Bytes of a ring.
    pub(crate) const BYTES: u64 = RING_BYTES;

    /// An empty ring of [`Ring::BYTES`] at `memory`, with its user pages.
    pub(crate) const fn new(
        memory: PhysicalAddress,
        input: SharedBlock,
        output: SharedBlock,
    ) -> Ring {
        Ring {
            memory,
            input,
            output,
            insert: 0,
            consumed: 0,
            skipped: 0,
            slots: [Slot::Other; SLOTS],
        }
    }

    /// Bytes written, ever.
    pub(crate) const fn insert(&self) -> u64 {
        self.insert
    }

    /// Bytes that the hardware has consumed, ever, or that were skipped.
    pub(crate) fn extract<P: Platform>(&self, platform: &mut P) -> u64 {
        self.output.read(platform, CS_EXTRACT).max(self.skipped)
    }

    /// Lets reading begin there when the stream is started, also if more was consumed: the GPU is stopped.
    pub(crate) fn begin_at<P: Platform>(&mut self, platform: &mut P, offset: u64) {
        // The GPU has written in that line: what a cache holds of it is dropped, and not written back with the word.
        self.output.read(platform, CS_EXTRACT);
        self.output.write(platform, CS_EXTRACT, offset);
        self.skipped = offset;
        self.consumed = offset;
    }

    /// Says where reading begins when the stream is started.
    pub(crate) fn prepare_start<P: Platform>(&self, platform: &mut P) {
        let extract = self.extract(platform);
        self.input.write(platform, CS_EXTRACT_INIT, extract);
        self.input.write(platform, CS_INSERT, self.insert);
    }

    /// Whether there is room for `bytes` more.
    #[inline]
    pub(crate) fn has_room<P: Platform>(&mut self, platform: &mut P, bytes: u64) -> bool {
        if self.fits(bytes) {
            return true;
        }
        self.refresh_consumed(platform);
        self.fits(bytes)
    }

    #[inline(never)]
    fn refresh_consumed<P: Platform>(&mut self, platform: &mut P) {
        self.consumed = self.extract(platform);
    }

    /// Whether there is, by what the hardware had consumed when that was last looked at.
    const fn fits(&self, bytes: u64) -> bool {
        // Nonsense from the hardware (more consumed than was written) counts as a full ring.
        match self.insert.checked_sub(self.consumed) {
            Some(used) => used <= RING_BYTES && bytes <= RING_BYTES.wrapping_sub(used),
            None => false,
        }
    }

    /// Puts a job without semaphores there. There is room; the doorbell is the caller's.
    #[inline]
    pub(crate) fn push_plain<P: Platform>(&mut self, platform: &mut P, job: &Plain<'_>) {
        let start = self.memory.offset(self.insert % RING_BYTES);
        let slot = (self.insert / SLOT_BYTES) as usize % SLOTS;
        let now = if job.flushes {
            Slot::Flush
        } else {
            Slot::Plain
        };
        let was = self.slots.get_mut(slot);
        let was = was.map_or(Slot::Other, |slot| core::mem::replace(slot, now));
        let [_, _, address, length, _] = job.own;
        if (was, now) == (Slot::Plain, Slot::Plain) {
            write(platform, start.offset(16), &[address, length]);
        } else {
            write(platform, start, &job.own);
            if was == Slot::Other {
                write(platform, start.offset(OWN as u64 * 8), job.same);
            }
        }
        self.publish_insert(platform, self.insert.wrapping_add(SLOT_BYTES));
    }

    /// Puts a block of whole slots there, of so many words: `write` puts them in their order. There is room; the doorbell is the
    /// caller's.
    #[inline]
    pub(crate) fn push<P: Platform>(
        &mut self,
        platform: &mut P,
        words: usize,
        write: impl FnOnce(&mut Block<'_, P>),
    ) {
        let bytes = (words as u64).wrapping_mul(8);
        let (memory, start) = (self.memory, self.insert);
        write(&mut Block {
            platform,
            memory,
            offset: start,
        });
        // It may wrap around the end.
        let start = start % RING_BYTES;
        let straight = bytes.min(RING_BYTES.wrapping_sub(start));
        platform.clean(memory.offset(start).span(straight));
        if straight < bytes {
            platform.clean(memory.span(bytes.wrapping_sub(straight)));
        }
        for slot in (self.insert / SLOT_BYTES..).take(words.div_ceil(WRAPPER_WORDS)) {
            if let Some(slot) = self.slots.get_mut(slot as usize % SLOTS) {
                *slot = Slot::Other;
            }
        }
        self.publish_insert(platform, self.insert.wrapping_add(bytes));
    }

    /// Overwrites a word with NOP wherever it stands in a part of the ring: the GPU is stopped.
    pub(crate) fn take_out<P: Platform>(&self, platform: &mut P, part: Range<u64>, word: u64) {
        for offset in part.step_by(8) {
            let at = self.memory.offset(offset % RING_BYTES);
            if platform.load64(at) == word {
                write(platform, at, &[0]);
            }
        }
    }

    /// Publishes how far there are words.
    fn publish_insert<P: Platform>(&mut self, platform: &mut P, insert: u64) {
        self.insert = insert;
        // A stream that is still busy sees INSERT without a doorbell: the words stand before it.
        platform.publish();
        // User pages are pages: the word is aligned.
        let at = self.input.address(CS_INSERT);
        platform.store64(at, insert);
        platform.clean(at.span(8));
    }
}

/// Writes words to memory.
#[inline]
fn write<P: Platform>(platform: &mut P, at: PhysicalAddress, words: &[u64]) {
    platform.write_words(at, words);
    platform.clean(at.span((words.len() as u64).wrapping_mul(8)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, MEMORY};
    use std::vec::Vec;

    fn ring() -> (Fake, Ring) {
        let mut fake = Fake::new(RING_BYTES + 0x2000);
        let memory = fake.allocate(RING_BYTES + 0x2000, 4096);
        let memory = memory.expect("memory").start();
        let input = SharedBlock::new(memory.offset(RING_BYTES));
        let output = SharedBlock::new(memory.offset(RING_BYTES + 0x1000));
        (fake, Ring::new(memory, input, output))
    }

    fn consume(fake: &mut Fake, ring: &Ring, offset: u64) {
        ring.output.write(fake, CS_EXTRACT, offset);
    }

    #[test]
    fn a_block_wraps_around_the_end() {
        let (mut fake, mut ring) = ring();
        ring.insert = RING_BYTES - SLOT_BYTES;
        consume(&mut fake, &ring, RING_BYTES - SLOT_BYTES);
        assert!(ring.has_room(&mut fake, 2 * SLOT_BYTES), "it is empty");
        ring.push(&mut fake, 2 * WRAPPER_WORDS, |block| {
            block.put(&[0xA; WRAPPER_WORDS]);
            block.put(&[0xB; WRAPPER_WORDS]);
        });
        let start = PhysicalAddress(MEMORY);
        assert_eq!(fake.load64(start.offset(RING_BYTES - 8)), 0xA);
        assert_eq!(fake.load64(start), 0xB);
        assert_eq!(ring.insert(), RING_BYTES + SLOT_BYTES);
        assert_eq!(
            ring.input.read(&mut fake, CS_INSERT),
            RING_BYTES + SLOT_BYTES
        );
    }

    /// Whatever a slot held before.
    #[test]
    fn a_slot_holds_all_words_of_its_job() {
        let (mut fake, mut ring) = ring();
        let same = [7; SAME];
        let plain = |own, flushes| Plain {
            own,
            flushes,
            same: &same,
        };
        let (quiet, other) = ([0, 0, 3, 4, 0], [0, 0, 8, 9, 0]);
        let flush = [1, 2, 5, 6, 10];
        let jobs = [
            Some(plain(quiet, false)),
            Some(plain(other, false)),
            Some(plain(flush, true)),
            Some(plain(quiet, false)),
            None,
            Some(plain(other, false)),
            None,
            Some(plain(flush, true)),
            Some(plain(flush, true)),
        ];
        for (round, job) in jobs.iter().enumerate() {
            consume(&mut fake, &ring, ring.insert());
            assert!(ring.has_room(&mut fake, RING_BYTES), "round {round}");
            let expected = match job {
                Some(job) => {
                    ring.push_plain(&mut fake, job);
                    [job.own.as_slice(), job.same.as_slice()].concat()
                }
                None => {
                    let words = [0xEE; WRAPPER_WORDS];
                    ring.push(&mut fake, WRAPPER_WORDS, |block| block.put(&words));
                    [0xEE; WRAPPER_WORDS].to_vec()
                }
            };
            let start = PhysicalAddress(MEMORY);
            let at = |word: usize| start.offset(word as u64 * 8);
            let found: Vec<u64> = (0..WRAPPER_WORDS).map(|it| fake.load64(at(it))).collect();
            assert_eq!(found, expected, "round {round}");
            for _ in 1..SLOTS {
                ring.push_plain(&mut fake, &plain(other, false));
            }
        }
    }

    #[test]
    fn room_is_what_the_hardware_has_consumed() {
        let (mut fake, mut ring) = ring();
        ring.insert = RING_BYTES;
        assert!(!ring.has_room(&mut fake, 8));
        consume(&mut fake, &ring, 128);
        assert!(ring.has_room(&mut fake, 128) && !ring.has_room(&mut fake, 136));
        let (_, mut ring) = self::ring();
        ring.insert = RING_BYTES;
        consume(&mut fake, &ring, RING_BYTES + 8);
        assert!(
            !ring.has_room(&mut fake, 8),
            "more consumed than was written"
        );
    }
}
