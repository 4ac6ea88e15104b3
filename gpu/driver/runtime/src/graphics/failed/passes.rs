//! Finds the pass that a stream was at, in the commands of its lane.
//!
//! Each lane counts a pass when it is over. The oldest that is not counted is the one that failed, unless the stream itself failed at
//! an instruction of another.
//! FACT: jobs of one stream may overlap and end out of order (hardware/command-stream.md 1.7); that their passes are counted in order
//! is taken for granted where several are in flight, and the value says that there were several. Settled by fragment jobs of several
//! passes in flight, of which the first is the longest, on any board.

use super::super::encoded::ITERATORS;
use super::memory::SpaceReader;
use super::walk::{Seen, Walk};
use crate::platform::Platform;
use crate::queue::{Code, SubQueue};
use eitri_cs::Arch;

/// How far the streams of a submission have counted; `None` of a stream that has not begun its part.
pub(super) type Counted = [Option<u32>; SubQueue::ALL.len()];

/// Which pass of a lane is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wanted {
    /// The one with this number in the lane.
    Number(u32),
    /// The one whose commands have the instruction at this address.
    Holding(u64),
    /// The one whose fragments wait until this many tilings are over.
    Awaiting(u32),
}

/// A pass of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassOfLane {
    /// Its number in the lane.
    pub(super) number: u32,
    /// Passes that have begun and are not over, from this one on; 0: it waits for another stream.
    pub(super) in_flight: u32,
    /// Tilings that are over when its fragments begin; `None`: it has none of its own.
    pub(super) tilings: Option<u32>,
}

/// A pass that is being walked through.
#[derive(Clone, Copy, Debug, Default)]
struct Section {
    number: u32,
    tilings: Option<u32>,
    /// Some job of it has begun.
    begun: bool,
    /// The stream stood in it.
    holds: bool,
}

/// Finds a pass of a lane. `pointer` is the instruction at which its stream stands, if that is known.
pub(super) fn find_pass<P: Platform>(
    memory: &mut SpaceReader<'_, P>,
    (arch, lane): (Arch, Code),
    wanted: Wanted,
    pointer: Option<u64>,
    counted: &Counted,
) -> Option<PassOfLane> {
    let mut walk = Walk::new(arch, lane);
    let mut section = Section::default();
    let mut found: Option<PassOfLane> = None;
    // The stream does not wait here, nor has it stood before this.
    let (mut runs, mut ahead) = (true, false);
    while let Some((at, seen)) = walk.next(memory) {
        section.holds |= matches!(wanted, Wanted::Holding(address) if address == at);
        match seen {
            Seen::Waits(stream, count) => {
                let done = counted.get(stream as usize).copied().flatten();
                runs &= done.is_some_and(|done| done >= count);
                if stream == SubQueue::VertexTiler {
                    section.tilings = Some(count);
                }
            }
            Seen::Draws | Seen::Clears | Seen::Renders => section.begun |= runs && !ahead,
            Seen::Counts => {
                match &mut found {
                    Some(found) if section.begun => {
                        found.in_flight = found.in_flight.saturating_add(1);
                    }
                    Some(_) => break,
                    None if section.is(wanted) => {
                        found = Some(PassOfLane {
                            number: section.number,
                            in_flight: section.begun.into(),
                            tilings: section.tilings,
                        });
                    }
                    None => {}
                }
                if found.is_some_and(|found| found.in_flight >= ITERATORS as u32) {
                    break;
                }
                section = Section {
                    number: section.number.saturating_add(1),
                    ..Section::default()
                };
            }
            Seen::Other => {}
        }
        ahead |= pointer == Some(at);
    }
    found
}

impl Section {
    fn is(&self, wanted: Wanted) -> bool {
        match wanted {
            Wanted::Number(number) => self.number == number,
            Wanted::Holding(_) => self.holds,
            Wanted::Awaiting(tilings) => self.tilings == Some(tilings),
        }
    }
}
