//! Free addresses: the tables are the only record of what is mapped, so that there is none that could forget.

use super::PageTables;
use crate::platform::Platform;
use core::ops::Range;
use eitri_csf::page_table::{Decoded, PAGE_BYTES};

impl PageTables {
    /// Where `bytes` bytes can be mapped inside `within`: the first place at a multiple of `alignment` that has an
    /// unmapped page after it, and one before it if it does not begin with `within`.
    pub(crate) fn find_free<P: Platform>(
        &self,
        platform: &mut P,
        within: Range<u64>,
        bytes: u64,
        alignment: u64,
    ) -> Option<u64> {
        let limit = 1_u64.checked_shl(self.va_bits).unwrap_or(u64::MAX);
        let most = within.end.min(limit);
        let mut start = within.start.checked_next_multiple_of(alignment)?;
        let mut seen = start.saturating_sub(PAGE_BYTES).max(within.start);
        loop {
            // Nothing is mapped from the page before `start` up to `seen`.
            let end = start.checked_add(bytes)?.checked_add(PAGE_BYTES)?;
            if end > most {
                return None;
            }
            if seen >= end {
                return Some(start);
            }
            let (slot, level) = self.find(platform, seen);
            let size = level.bytes();
            let next = (seen & !size.wrapping_sub(1)).checked_add(size)?;
            if slot.entry.decode(level) != Decoded::Invalid {
                start = next
                    .checked_add(PAGE_BYTES)?
                    .checked_next_multiple_of(alignment)?;
            }
            seen = next;
        }
    }
}
