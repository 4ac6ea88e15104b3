//! Protected mode as a stream knows it: the region that it is in, or waits to enter.
//!
//! Facts: hardware/command-stream.md 3.3 (PROT_REGION), csf-scheduling.md 8.

use super::execute::Step;
use super::{Blocked, Stream};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;

/// Instructions that run in protected mode, by their positions in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// Frames in use where it began.
    depth: usize,
    start: u64,
    end: u64,
    /// Whether protected mode was entered for it.
    entered: bool,
}

impl Stream {
    /// The position of the next instruction: its address in a called buffer, its offset in the ring.
    pub(super) fn position(&self) -> u64 {
        self.frames
            .last()
            .map_or(self.ring.position, |frame| frame.next)
    }

    /// Protected mode was entered for the region that the stream waits at.
    pub(crate) fn enter_region(&mut self) {
        if let Some(region) = &mut self.region {
            region.entered = true;
        }
        // A region that was interrupted goes on where it was.
        if self
            .region
            .is_some_and(|region| self.position() < region.start)
        {
            self.advance();
        }
        self.blocked = Blocked::No;
        self.leave_region();
    }

    /// Protected mode was left in the middle of a region: the rest waits for it.
    pub(crate) fn interrupt_region(&mut self) {
        if let Some(region) = &mut self.region
            && region.entered
        {
            region.entered = false;
            self.blocked = Blocked::Protected;
            self.protected_reported = false;
        }
    }

    /// Whether it is in a region for which protected mode was entered.
    pub(crate) fn is_in_region(&self) -> bool {
        self.region.is_some_and(|region| region.entered)
    }

    /// Ends the region when the stream has left it.
    pub(super) fn leave_region(&mut self) {
        let Some(region) = self.region.filter(|region| region.entered) else {
            return;
        };
        let depth = self.frames.len();
        let within = (region.start..region.end).contains(&self.position());
        if depth < region.depth || depth == region.depth && !within {
            self.region = None;
        }
    }

    /// The next `size` bytes run in protected mode: the stream waits for it.
    pub(super) fn prot_region(&mut self, fabric: &mut Fabric, word: u64, size: u64) -> Step {
        let start = self.position().wrapping_add(8);
        let wanted = start.saturating_add(size);
        let end = self
            .frames
            .last()
            .map_or(wanted, |frame| frame.end.min(wanted));
        if end != wanted {
            self.report(fabric, word, StreamMisuse::RegionTooLong { size });
        }
        self.region = Some(Region {
            depth: self.frames.len(),
            start,
            end,
            entered: false,
        });
        Step::Blocked(Blocked::Protected)
    }
}
