//! The ring buffer of a stream: where the host writes and how far the hardware has read.
//!
//! Offsets only grow; the place in the ring is the offset modulo its size, a power of two. A block may wrap around
//! the end.  Facts: hardware/csf-firmware.md section 10, csf-scheduling.md section 4.

use crate::access::SharedBlock;
use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::interface::user_pages::{CS_EXTRACT, CS_EXTRACT_INIT, CS_INSERT};

/// Bytes of a ring: 128 jobs.
const RING_BYTES: u64 = 16 * 1024;

/// Room in a ring: what the hardware had consumed when it was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    extract: u64,
}

/// A ring buffer with its user pages.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: PhysicalAddress,
    input: SharedBlock,
    output: SharedBlock,
    insert: u64,
    /// What was to be consumed before this is not any more.
    skipped: u64,
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
            skipped: 0,
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
        self.output.write(platform, CS_EXTRACT, offset);
        self.skipped = offset;
    }

    /// Says where reading begins when the stream is started.
    pub(crate) fn prepare_start<P: Platform>(&self, platform: &mut P) {
        let extract = self.extract(platform);
        self.input.write(platform, CS_EXTRACT_INIT, extract);
        self.input.write(platform, CS_INSERT, self.insert);
    }

    /// Room for `bytes` more, if they fit.
    pub(crate) fn room<P: Platform>(&self, platform: &mut P, bytes: u64) -> Option<Room> {
        let extract = self.extract(platform);
        // Nonsense from the hardware (more consumed than was written) counts as a full ring.
        let used = self.insert.checked_sub(extract).unwrap_or(RING_BYTES);
        let needed = used.checked_add(bytes)?;
        (needed <= RING_BYTES).then_some(Room { extract })
    }

    /// Writes a block, and then says that it is there. The doorbell is the caller's.
    pub(crate) fn push<P: Platform>(&mut self, platform: &mut P, block: &[u64], room: Room) {
        let bytes = (block.len() as u64).wrapping_mul(8);
        let start = self.insert & RING_BYTES.wrapping_sub(1);
        // It may wrap around the end.
        let straight = bytes.min(RING_BYTES.wrapping_sub(start));
        let words = (straight / 8) as usize;
        let (before, behind) = (block.get(..words), block.get(words..));
        platform.write_words(self.memory.offset(start), before.unwrap_or(&[]));
        platform.clean(self.memory.offset(start).span(straight));
        if straight < bytes {
            platform.write_words(self.memory, behind.unwrap_or(&[]));
            platform.clean(self.memory.span(bytes.wrapping_sub(straight)));
        }
        self.input.write(platform, CS_EXTRACT_INIT, room.extract);
        self.insert = self.insert.wrapping_add(bytes);
        // A stream that is still busy sees INSERT without a doorbell: the words stand before it.
        platform.publish();
        self.input.write(platform, CS_INSERT, self.insert);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, MEMORY};

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
        ring.insert = RING_BYTES - 8;
        consume(&mut fake, &ring, RING_BYTES - 8);
        let room = ring.room(&mut fake, 16).expect("empty");
        ring.push(&mut fake, &[0xA, 0xB], room);
        let start = PhysicalAddress(MEMORY);
        assert_eq!(fake.load64(start.offset(RING_BYTES - 8)), 0xA);
        assert_eq!(fake.load64(start), 0xB);
        assert_eq!(ring.insert(), RING_BYTES + 8);
        assert_eq!(ring.input.read(&mut fake, CS_INSERT), RING_BYTES + 8);
        assert_eq!(ring.input.read(&mut fake, CS_EXTRACT_INIT), RING_BYTES - 8);
    }

    #[test]
    fn room_is_what_the_hardware_has_consumed() {
        let (mut fake, mut ring) = ring();
        ring.insert = RING_BYTES;
        let has_room = |fake: &mut Fake, bytes| ring.room(fake, bytes).is_some();
        assert!(!has_room(&mut fake, 8));
        consume(&mut fake, &ring, 128);
        assert!(has_room(&mut fake, 128) && !has_room(&mut fake, 136));
        consume(&mut fake, &ring, RING_BYTES + 8);
        assert!(!has_room(&mut fake, 8), "more consumed than was written");
    }
}
