//! Access: registers and shared words by the rows of the tables, never by bare offsets.
//!
//! A 64-bit register is two accesses, low word first.
//! Facts: hardware/csf-mmio.md section 1.

use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::table::{Register, Width};

/// Reads and writes by table row, for every platform.
pub trait Access: Platform {
    /// Reads a register of the window.
    fn read(&mut self, register: Register) -> u64 {
        let low = u64::from(self.read32(register.offset));
        match register.width {
            Width::Bits32 => low,
            Width::Bits64 => low | u64::from(self.read32(high_word(register.offset))) << 32,
        }
    }

    /// Reads a 32-bit register of the window.
    fn read_word(&mut self, register: Register) -> u32 {
        self.read32(register.offset)
    }

    /// Writes a register of the window.
    fn write(&mut self, register: Register, value: u64) {
        self.write32(register.offset, value as u32);
        if register.width == Width::Bits64 {
            self.write32(high_word(register.offset), (value >> 32) as u32);
        }
    }

    /// Reads 64 bits of memory as two words.
    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        let low = u64::from(self.load32(address));
        low | u64::from(self.load32(address.offset(4))) << 32
    }

    /// Writes 64 bits of memory as two words, low first.
    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        self.store32(address, value as u32);
        self.store32(address.offset(4), (value >> 32) as u32);
    }
}

impl<P: Platform> Access for P {}

const fn high_word(offset: u32) -> u32 {
    offset.wrapping_add(4)
}

/// A block of words in memory that the GPU writes or reads: control, input and output blocks, user pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedBlock {
    base: PhysicalAddress,
}

impl SharedBlock {
    /// The block that begins at `base`.
    pub(crate) const fn new(base: PhysicalAddress) -> SharedBlock {
        SharedBlock { base }
    }

    /// Where a word of the block lies.
    pub(crate) const fn address(self, word: Register) -> PhysicalAddress {
        self.base.offset(word.offset as u64)
    }

    /// Reads a word of the block, after what a cache may hold of it was dropped.
    pub(crate) fn read<P: Platform>(self, platform: &mut P, word: Register) -> u64 {
        let address = self.address(word);
        platform.invalidate(address.span(u64::from(word.width.bytes())));
        match word.width {
            Width::Bits32 => u64::from(platform.load32(address)),
            Width::Bits64 => platform.load64(address),
        }
    }

    /// Reads a 32-bit word of the block.
    pub(crate) fn read_word<P: Platform>(self, platform: &mut P, word: Register) -> u32 {
        self.read(platform, word) as u32
    }

    /// Writes a word of the block and lets the GPU see it.
    pub(crate) fn write<P: Platform>(self, platform: &mut P, word: Register, value: u64) {
        let address = self.address(word);
        match word.width {
            Width::Bits32 => platform.store32(address, value as u32),
            Width::Bits64 => platform.store64(address, value),
        }
        platform.clean(address.span(u64::from(word.width.bytes())));
    }
}
