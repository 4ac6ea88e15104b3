//! Caches: upkeep by address, to the point where every device sees the same memory.
//!
//! Works whatever the attributes of the mapping are.
//! Facts: hardware/boards.md 3.1 items 2 and 3.

use cortex_a::asm::barrier::{SY, dsb};
use eitri_aarch64::CacheType;
use eitri_boards::Region;

/// Bytes of the smallest data cache line.
pub fn line_bytes() -> usize {
    let value: u64;
    // SAFETY: reads a constant of the CPU.
    unsafe {
        core::arch::asm!("mrs {}, ctr_el0", out(reg) value, options(nostack, nomem, preserves_flags));
    }
    CacheType(value).data_line_bytes()
}

fn for_each_line(region: Region, upkeep: impl Fn(usize)) {
    let line = line_bytes();
    let mut address = region.base & !(line - 1);
    while address < region.end() {
        upkeep(address);
        address += line;
    }
    dsb(SY);
}

/// Writes back what the caches hold of a region, and forgets it: before memory that was cached is used uncached, so that
/// no line is written over it later.
pub fn clean_and_invalidate(region: Region) {
    for_each_line(region, |address| {
        // SAFETY: writes to memory what the program has written already.
        unsafe { core::arch::asm!("dc civac, {}", in(reg) address, options(nostack)) };
    });
}

/// Waits until what was written past the caches is where every device sees it.
pub fn finish_writes() {
    dsb(SY);
}
