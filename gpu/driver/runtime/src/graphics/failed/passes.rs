//! Finds the passes that may have failed, in the commands of a lane.
//!
//! Each lane counts a pass when it is over, and says with the count whether something of the stream had failed by then. When a stream
//! reports a failure it stands still, but what it has begun goes on: passes may end, and be counted, before the host looks.
//! Facts: hardware/command-stream.md 1.6 to 1.9 and 1.13.

use super::super::encoded::ITERATORS;
use super::memory::SpaceReader;
use super::walk::{Seen, Walk};
use crate::platform::Platform;
use crate::queue::{Code, SubQueue};
use eitri_cs::Arch;
use heapless::Vec;

/// How far a stream has counted in a submission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    /// Passes that are over.
    pub(super) done: u32,
    /// Something had failed when the last of them was over.
    pub(super) failed: bool,
}

/// How far the streams of a submission have counted; `None` of a stream that has not begun its part.
pub(super) type Counted = [Option<Count>; SubQueue::ALL.len()];

/// Passes that run side by side at most: a lane has so many slots for them.
pub(super) type Candidates = Vec<PassOfLane, ITERATORS>;

/// A pass of a lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PassOfLane {
    /// Its number in the lane.
    pub(super) number: u32,
    /// Tilings that are over when its fragments begin; `None`: it has none of its own.
    pub(super) tilings: Option<u32>,
}

/// A pass that is being walked through.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    pass: PassOfLane,
    /// Some job of it has begun.
    begun: bool,
    /// The stream stands in it.
    holds: bool,
}

/// A lane, and what is known of its stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneState<'a> {
    pub(super) arch: Arch,
    pub(super) code: Code,
    pub(super) stream: SubQueue,
    pub(super) counted: &'a Counted,
    /// The instruction at which the stream stands, if that is known.
    pub(super) pointer: Option<u64>,
}

/// Goes through the passes of a lane until `each` says that it has what it wants.
fn walk_passes<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    lane: &LaneState<'_>,
    mut each: impl FnMut(&Section) -> bool,
) {
    let mut walk = Walk::new(lane.arch, lane.code);
    let mut section = Section::default();
    // The stream does not wait here, nor does it stand before this.
    let (mut runs, mut ahead) = (true, false);
    while let Some((at, seen)) = walk.next(memory) {
        section.holds |= lane.pointer == Some(at);
        match seen {
            Seen::Waits(stream, count) => {
                let other = lane.counted.get(stream as usize).copied().flatten();
                runs &= other.is_some_and(|other| other.done >= count);
                if stream == SubQueue::VertexTiler {
                    section.pass.tilings = Some(count);
                }
            }
            Seen::Draws | Seen::Clears | Seen::Renders => section.begun |= runs && !ahead,
            Seen::Counts => {
                if each(&section) {
                    return;
                }
                let number = section.pass.number.saturating_add(1);
                section = Section::default();
                section.pass.number = number;
            }
            Seen::Marks | Seen::Other => {}
        }
        ahead |= section.holds;
    }
}

/// Finds the passes with jobs that may have failed; none if the stream waits for another, or is through.
// FACT: jobs of one stream may overlap and end out of order (hardware/command-stream.md 1.6); where none that is over has an error, passes
// are taken to end in order. Settled by fragment jobs of several passes in flight, of which the first is the longest, on any board.
pub(super) fn passes_in_flight<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    lane: &LaneState<'_>,
) -> Candidates {
    let mut all = Candidates::new();
    let own = lane.counted.get(lane.stream as usize).copied().flatten();
    let Some(Count { done, failed }) = own else {
        return all;
    };
    walk_passes(memory, lane, |section| {
        if !section.begun {
            return false;
        }
        if failed {
            // It is over, and so may be what has begun with it and after it.
            if all.is_full() {
                all.remove(0);
            }
        } else if section.pass.number < done {
            return false;
        }
        all.push(section.pass).is_err()
    });
    if failed {
        all.retain(|pass| pass.number < done);
    }
    all
}

/// Finds the pass in whose commands the stream stands.
pub(super) fn pass_at_pointer<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    lane: &LaneState<'_>,
) -> Candidates {
    let mut all = Candidates::new();
    walk_passes(memory, lane, |section| {
        section.holds && all.push(section.pass).is_ok()
    });
    all
}

/// Finds the pass of the lane of fragments that begins when so many tilings are over.
pub(super) fn pass_of_tiling<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    lane: &LaneState<'_>,
    tilings: u32,
) -> Option<u32> {
    let mut found = None;
    walk_passes(memory, lane, |section| {
        if section.pass.tilings == Some(tilings) {
            found = Some(section.pass.number);
        }
        found.is_some()
    });
    found
}
