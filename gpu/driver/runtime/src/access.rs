//! RegisterAccess: registers and shared words by the rows of the tables, never by bare offsets.
//!
//! A 64-bit register is two accesses, low word first; a 64-bit word of memory is one, unless the
//! firmware has put its block at an odd multiple of 4. Then the halves are read so that they belong together, and written low
//! half first: a counter that crosses 2^32 at that moment looks smaller than it is, never larger.
//! Facts: hardware/csf-mmio.md section 1, csf-firmware.md section 6.

use crate::platform::{PhysicalAddress, Platform};
use eitri_csf::registers::doorbell::{DOORBELL, doorbell};
use eitri_csf::table::{Register, Width};

/// Reads and writes registers by table row, for every platform.
pub trait RegisterAccess: Platform {
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

    /// Rings a doorbell: whoever it wakes finds everything that was stored before.
    fn ring(&mut self, number: u32) {
        self.publish();
        self.write(DOORBELL.at(number), u64::from(doorbell::RING.word(true)));
    }
}

impl<P: Platform> RegisterAccess for P {}

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

    /// Where the block begins.
    pub(crate) const fn base(self) -> PhysicalAddress {
        self.base
    }

    /// Where a word of the block lies.
    #[inline(always)]
    pub(crate) const fn address(self, word: Register) -> PhysicalAddress {
        self.base.offset(word.offset as u64)
    }

    /// Reads a word of the block, after what a cache may hold of it was dropped. Order is the caller's
    /// ([`Platform::observe`]).
    #[inline(always)]
    pub(crate) fn read<P: Platform>(self, platform: &mut P, word: Register) -> u64 {
        let address = self.address(word);
        match word.width {
            Width::Bits32 => u64::from(load32(platform, address)),
            Width::Bits64 => load64(platform, address),
        }
    }

    /// Reads a 32-bit word of the block.
    #[inline(always)]
    pub(crate) fn read_word<P: Platform>(self, platform: &mut P, word: Register) -> u32 {
        load32(platform, self.address(word))
    }

    /// Writes a word of the block to memory. The GPU sees it after the next [`Platform::publish`].
    #[inline(always)]
    pub(crate) fn write<P: Platform>(self, platform: &mut P, word: Register, value: u64) {
        let address = self.address(word);
        match word.width {
            Width::Bits32 => store32(platform, address, value as u32),
            Width::Bits64 => store64(platform, address, value),
        }
    }
}

// A row of the tables is large. Where one is named, the functions above are inlined, so that no copy of it is made.

#[inline]
fn load32<P: Platform>(platform: &mut P, address: PhysicalAddress) -> u32 {
    platform.invalidate(address.span(4));
    platform.load32(address)
}

#[inline]
fn load64<P: Platform>(platform: &mut P, address: PhysicalAddress) -> u64 {
    platform.invalidate(address.span(8));
    if address.0.is_multiple_of(8) {
        platform.load64(address)
    } else {
        read_halves(|offset| platform.load32(address.offset(offset)))
    }
}

#[inline]
fn store32<P: Platform>(platform: &mut P, address: PhysicalAddress, value: u32) {
    platform.store32(address, value);
    platform.clean(address.span(4));
}

#[inline]
fn store64<P: Platform>(platform: &mut P, address: PhysicalAddress, value: u64) {
    if address.0.is_multiple_of(8) {
        platform.store64(address, value);
    } else {
        platform.store32(address, value as u32);
        platform.store32(address.offset(4), (value >> 32) as u32);
    }
    platform.clean(address.span(8));
}

/// A word of 64 bits that is loaded by halves and may change meanwhile: the lower half is that of the upper one.
fn read_halves(mut load: impl FnMut(u64) -> u32) -> u64 {
    let (before, low, high) = (load(4), load(0), load(4));
    // A carry in between: the lower half may be that of either. It is far from the next carry now.
    let low = if before == high { low } else { load(0) };
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whenever the counter crosses 2^32, no value is read that it never had.
    #[test]
    fn a_counter_that_is_read_by_halves_is_never_torn() {
        const CARRY: u64 = 1 << 32;
        for crossed in 0..6 {
            let mut loads = 0;
            let value = read_halves(|offset| {
                let counter = CARRY - crossed + loads;
                loads += 1;
                (counter >> (offset * 8)) as u32
            });
            let had = CARRY - crossed..CARRY - crossed + loads;
            assert!(had.contains(&value), "{value:#x} is none of {had:#x?}");
        }
    }
}
