//! The writer: commands and their data into blocks of memory that the GPU sees, one block after the other.
//!
//! In a block instructions grow from the front and data from the back. When they meet, the block ends in a link to the next
//! (hardware/command-stream.md 6.1).  Guarantees: a block always has room for its link; what [`Writer::finish`] gives is
//! complete and clean in memory.  Never: allocates; the recorder brings blocks.

use crate::platform::{PhysicalAddress, Platform};
use crate::vm::GpuAddress;
use eitri_cs::builder::{Checked, Link, Load32};

/// Bytes that a block keeps free for its link.
const LINK_BYTES: u32 = Link::WORDS as u32 * 8;
/// Alignment of data, and of blocks.
pub(crate) const ALIGNMENT: u32 = 64;

/// Memory for commands and their data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// As the GPU sees it: a multiple of 64.
    pub(crate) address: GpuAddress,
    pub(crate) memory: PhysicalAddress,
    /// Its length, a multiple of 64.
    pub(crate) bytes: u32,
}

/// Writes into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    block: Block,
    /// Where the next instruction goes, and where data begins.
    next: u32,
    data: u32,
    /// Where the block before loads this one's length, and the load.
    link: Option<(PhysicalAddress, Load32)>,
    start: GpuAddress,
    /// The bytes of the first block's instructions, when it is closed.
    first_bytes: u32,
}

impl Writer {
    /// Begins in an empty block.
    pub(crate) const fn new(block: Block) -> Writer {
        Writer {
            block,
            next: 0,
            data: block.bytes,
            link: None,
            start: block.address,
            first_bytes: 0,
        }
    }

    /// Changes places with another, in pieces of at most 32 bytes: larger ones are copied by calls where accesses must be aligned.
    pub(crate) const fn exchange(&mut self, other: &mut Writer) {
        let Writer {
            block,
            next,
            data,
            link,
            start,
            first_bytes,
        } = self;
        (*block, other.block) = (other.block, *block);
        (*link, other.link) = (other.link, *link);
        (*next, other.next) = (other.next, *next);
        (*data, other.data) = (other.data, *data);
        (*start, other.start) = (other.start, *start);
        (*first_bytes, other.first_bytes) = (other.first_bytes, *first_bytes);
    }

    /// Bytes that are left, the link's aside.
    const fn left(&self) -> u32 {
        self.free().saturating_sub(LINK_BYTES)
    }

    /// Whether so many instructions fit into the block.
    pub(crate) const fn has_room(&self, words: u32) -> bool {
        words.saturating_mul(8) <= self.left()
    }

    /// Bytes that are to be free for so many instructions beside so many bytes of data, a multiple of [`ALIGNMENT`].
    pub(crate) const fn wanted(words: u32, data: u32) -> u32 {
        data.saturating_add(words.saturating_mul(8))
            .saturating_add(LINK_BYTES)
    }

    /// Whether so many instructions fit into the block beside so many bytes of data, a multiple of [`ALIGNMENT`].
    pub(crate) const fn has_room_for(&self, words: u32, data: u32) -> bool {
        Writer::wanted(words, data) <= self.free()
    }

    /// Bytes that are free, the link's among them.
    pub(crate) const fn free(&self) -> u32 {
        self.data.saturating_sub(self.next)
    }

    /// Bytes of a block that has room for this much data, and some instructions.
    pub(crate) const fn block_for(data: u32) -> u32 {
        data.saturating_add(2 * ALIGNMENT + LINK_BYTES)
            .next_multiple_of(ALIGNMENT)
    }

    /// Appends an instruction; there is room.
    pub(crate) fn put<P: Platform>(&mut self, platform: &mut P, it: Checked) {
        debug_assert!(self.next.saturating_add(8) <= self.data, "room was made");
        platform.store64(self.end(), it.word());
        self.next = self.next.wrapping_add(8);
    }

    /// Appends the words of instructions; there is room.
    #[inline]
    pub(crate) fn put_words<P: Platform>(&mut self, platform: &mut P, words: &[u64]) {
        platform.write_words(self.end(), words);
        self.skip(words.len() as u32);
    }

    /// Whether it has so many instructions, and nothing else.
    pub(crate) const fn holds_only(&self, words: u32) -> bool {
        self.link.is_none() && self.next == words.saturating_mul(8)
    }

    /// Where the next instruction goes.
    pub(crate) const fn end(&self) -> PhysicalAddress {
        self.block.memory.offset(self.next as u64)
    }

    /// Says that instructions stand up to there, which there was room for.
    pub(crate) const fn end_at(&mut self, end: PhysicalAddress) {
        self.next = end.0.wrapping_sub(self.block.memory.0) as u32;
        debug_assert!(self.next <= self.data, "room was made");
    }

    /// Says that so many more instructions stand there, which there was room for.
    #[inline(always)]
    pub(crate) const fn skip(&mut self, words: u32) {
        self.next = self.next.wrapping_add(words.wrapping_mul(8));
        debug_assert!(self.next <= self.data, "room was made");
    }

    /// Room for data: where it is in memory and for the GPU. `None` if the block has no such room.
    pub(crate) fn data(&mut self, bytes: u32) -> Option<(PhysicalAddress, GpuAddress)> {
        let bytes = bytes.checked_next_multiple_of(ALIGNMENT)?;
        (bytes <= self.left()).then(|| self.take(bytes))
    }

    /// The same where room was made for them: a multiple of [`ALIGNMENT`].
    pub(crate) const fn take(&mut self, bytes: u32) -> (PhysicalAddress, GpuAddress) {
        debug_assert!(bytes <= self.left(), "room was made");
        self.data = self.data.wrapping_sub(bytes);
        let offset = self.data as u64;
        (
            self.block.memory.offset(offset),
            self.block.address.offset(offset),
        )
    }

    /// Where [`Writer::take`] would make room.
    pub(crate) const fn behind(&self, bytes: u32) -> (PhysicalAddress, GpuAddress) {
        let mut other = *self;
        other.take(bytes)
    }

    /// Goes on in another block, which `link` leads to.
    pub(crate) fn go_on<P: Platform>(&mut self, platform: &mut P, block: Block, link: Link) {
        let words = self.next;
        for word in link.words() {
            self.put(platform, word);
        }
        let length = u64::from(words).wrapping_add((link.length_word() as u64).wrapping_mul(8));
        let length = self.block.memory.offset(length);
        self.close(platform);
        self.block = block;
        self.next = 0;
        self.data = block.bytes;
        self.link = Some((length, link.length_load()));
    }

    /// Says to the link that leads here how long the block is, and cleans what was written.
    fn close<P: Platform>(&mut self, platform: &mut P) {
        match &self.link {
            Some((at, load)) => {
                platform.store64(*at, load.with(self.next).word());
                platform.clean(at.span(8));
            }
            None => self.first_bytes = self.next,
        }
        let memory = self.block.memory;
        platform.clean(memory.span(self.next.into()));
        let (data, end) = (u64::from(self.data), u64::from(self.block.bytes));
        if data < end {
            platform.clean(memory.offset(data).span(end.wrapping_sub(data)));
        }
    }

    /// Ends the commands: where they begin, and the bytes of the first block's instructions.
    pub(crate) fn finish<P: Platform>(&mut self, platform: &mut P) -> (GpuAddress, u32) {
        self.close(platform);
        (self.start, self.first_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, MEMORY};
    use eitri_cs::Arch;
    use eitri_cs::builder::Config;
    use eitri_cs::instr::Nop;
    use std::vec::Vec;

    const SEEN: u64 = 0x7000_0000;

    fn block(number: u64, bytes: u32) -> Block {
        Block {
            address: GpuAddress(SEEN + number * 0x1000),
            memory: PhysicalAddress(MEMORY + number * 0x1000),
            bytes,
        }
    }

    fn words(fake: &mut Fake, block: Block, count: u64) -> Vec<u64> {
        (0..count)
            .map(|word| fake.load64(block.memory.offset(8 * word)))
            .collect()
    }

    /// The worked link of hardware/command-stream.md 7.5, with other addresses.
    #[test]
    fn a_block_goes_on_in_the_next() {
        let mut fake = Fake::new(0x4000);
        let config = Config::new(Arch::V10);
        let nop = config.checked(Nop::default()).expect("legal");
        let (a, b) = (block(0, 128), block(1, 128));
        let mut writer = Writer::new(a);
        let (memory, seen) = writer.data(1).expect("room");
        assert_eq!((memory, seen), (a.memory.offset(64), a.address.offset(64)));
        for left in [4, 3, 2, 1] {
            assert!(writer.has_room(left) && !writer.has_room(left + 1));
            writer.put(&mut fake, nop);
        }
        assert!(!writer.has_room(1));
        assert_eq!(writer.data(1), None);
        let link = Link::to(b.address.0, &config).expect("aligned");
        writer.go_on(&mut fake, b, link);
        writer.put(&mut fake, nop);
        writer.put(&mut fake, nop);
        assert_eq!(writer.finish(&mut fake), (a.address, 7 * 8));
        let link = [
            0x015e_0000_7000_1000,
            0x025d_0000_0000_0010,
            0x2100_5e5d_0000_0000,
        ];
        assert_eq!(words(&mut fake, a, 7)[4..], link);
    }

    #[test]
    fn a_block_for_data_has_room_for_it() {
        for bytes in [1, 64, 65, 4096] {
            let mut writer = Writer::new(block(0, Writer::block_for(bytes)));
            assert!(writer.data(bytes).is_some(), "{bytes}");
            assert!(writer.has_room(4), "{bytes}");
        }
    }
}
