//! Times of a warp: when it issues, and when its messages have been worked on, by the rates of the units and by nothing else.
//!
//! The warp is taken to have its core's units for itself: what other warps make it wait for is in the times of the core
//! (`pace.rs`), and latencies of memory are in no source. So a wait is what of the unit's work the warp has not filled with other
//! instructions.
//!
//! Needs: that instructions are traced; else no warp has times.  Guarantees: nothing of the device depends on them.

use crate::pace::{self, LATENCY, Parts};
use eitri_isa::Arch;
use eitri_isa::row::Unit;

/// Slots of the scoreboard.
const SLOTS: usize = 8;

/// Units that work on messages.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
enum Worker {
    LoadStore,
    Texture,
    Varying,
}

/// The times of a warp since it began, in parts of a cycle.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarpTimes {
    /// When the warp issues its next instruction.
    next: Parts,
    /// By unit, when it has done what the warp has sent to it.
    units: [Parts; 3],
    /// By slot, when its messages have been worked on.
    slots: [Parts; SLOTS],
    /// Slots that the instruction waits for which is executed now, a bit each.
    due: u8,
}

impl WarpTimes {
    /// The warp issues an instruction, which waits for these slots in the end.
    pub(super) fn issue(&mut self, waits: u8) {
        self.next = self.next.saturating_add(LATENCY);
        self.due = waits;
    }

    /// The instruction that was issued has sent a message of so many lines, or of so many components, on a slot.
    pub(super) fn send(
        &mut self,
        slot: u8,
        unit: Unit,
        (lines, components): (u64, u8),
        arch: Arch,
    ) {
        let costs = pace::MessageCosts::of(arch);
        let work: [(Worker, Parts); 2] = match unit {
            Unit::Ls => [
                (Worker::LoadStore, lines * costs.line),
                (Worker::LoadStore, 0),
            ],
            Unit::T => [(Worker::Texture, costs.texture), (Worker::Texture, 0)],
            Unit::V => [
                (Worker::Varying, u64::from(components) * costs.component),
                (Worker::Varying, 0),
            ],
            Unit::Vt => [
                (Worker::Varying, u64::from(components) * costs.component),
                (Worker::Texture, costs.texture),
            ],
            _ => return,
        };
        // The texture unit has its coordinates when they are interpolated.
        let done = work.into_iter().fold(self.next, |start, (worker, cost)| {
            let unit = &mut self.units[worker as usize];
            let done = start.max(*unit).saturating_add(cost);
            if cost != 0 {
                *unit = done;
            }
            if cost == 0 { start } else { done }
        });
        if let Some(slot) = self.slots.get_mut(usize::from(slot)) {
            *slot = done.max(*slot);
        }
    }

    /// The instruction has been executed: how long it waits for each slot, one behind the other. `None` if it does not.
    pub(super) fn wait(&mut self) -> Option<[u32; SLOTS]> {
        let due = core::mem::take(&mut self.due);
        let mut slots: [(Parts, usize); SLOTS] =
            core::array::from_fn(|slot| (self.slots[slot], slot));
        slots.sort_unstable();
        let mut waited = [0; SLOTS];
        let before = self.next;
        for (done, slot) in slots.into_iter().filter(|(_, slot)| due >> slot & 1 != 0) {
            waited[slot] = u32::try_from(done.saturating_sub(self.next)).unwrap_or(u32::MAX);
            self.next = self.next.max(done);
        }
        (self.next != before).then_some(waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::CYCLE;

    const ARCH: Arch = Arch::V10;

    /// Cycles that are waited for, by slot.
    fn cycles(waited: Option<[u32; SLOTS]>) -> Vec<(usize, u64)> {
        let waited = waited.unwrap_or_default();
        let all = waited.iter().enumerate().filter(|(_, parts)| **parts != 0);
        all.map(|(slot, parts)| (slot, u64::from(*parts) / CYCLE))
            .collect()
    }

    use alloc::vec::Vec;

    #[test]
    fn a_message_of_sixteen_lines_is_waited_for_as_long_as_nothing_else_was_issued() {
        let mut times = WarpTimes::default();
        times.issue(1);
        times.send(0, Unit::Ls, (16, 0), ARCH);
        assert_eq!(cycles(times.wait()), [(0, 16)]);
        // Three instructions take twelve of the sixteen cycles.
        times.issue(0);
        times.send(0, Unit::Ls, (16, 0), ARCH);
        assert_eq!(times.wait(), None);
        for waits in [0, 0, 1] {
            times.issue(waits);
        }
        assert_eq!(cycles(times.wait()), [(0, 4)]);
        // It has been waited for.
        times.issue(1);
        assert_eq!(times.wait(), None);
    }

    #[test]
    fn slots_are_waited_for_one_behind_the_other_and_a_unit_does_one_thing_at_a_time() {
        let mut times = WarpTimes::default();
        times.issue(0);
        times.send(1, Unit::Ls, (8, 0), ARCH);
        times.issue(0);
        times.send(0, Unit::Ls, (10, 0), ARCH);
        times.issue(0);
        times.send(2, Unit::T, (0, 0), ARCH);
        // Slot 1 is done at 12, slot 0 at 22, slot 2 at 14; the instruction is issued at 16.
        times.issue(0b111);
        assert_eq!(cycles(times.wait()), [(0, 6)]);
        times.issue(0);
        times.send(0, Unit::Ls, (6, 0), ARCH);
        times.send(1, Unit::Ls, (6, 0), ARCH);
        times.issue(0b11);
        assert_eq!(cycles(times.wait()), [(0, 2), (1, 6)]);
    }
}
