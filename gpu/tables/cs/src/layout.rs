//! Which register of a stream is whose: job state, scratch, counters, context, the kernel's.
//!
//! Facts: hardware/command-stream.md 1.4 and 6.4; data/command-stream.json `register_file`.

use crate::arch::Arch;
use crate::register::{Pair, Reg, RegSet};
use crate::staging::{StagingMap, StagingRegister};

/// How the registers of a stream are divided. The upper ranges stand at fixed distances from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    count: u8,
}

/// A stream of the three that a driver has in a group; its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubQueue {
    /// Draws and tiling.
    VertexTiler = 0,
    /// Fragment jobs.
    Fragment = 1,
    /// Compute jobs.
    Compute = 2,
}

impl SubQueue {
    /// All three, by number.
    pub const ALL: [SubQueue; 3] = [SubQueue::VertexTiler, SubQueue::Fragment, SubQueue::Compute];

    /// The registers that its jobs read on `arch`. With [`Layout::scratch`] they are what its code may write, counters
    /// and the rest aside.
    pub fn job_registers(self, arch: Arch) -> RegSet {
        let maps: &[StagingMap] = match self {
            SubQueue::VertexTiler => {
                &[StagingMap::Idvs, StagingMap::Fullscreen, StagingMap::Tiling]
            }
            SubQueue::Fragment => &[StagingMap::Fragment],
            SubQueue::Compute => &[StagingMap::Compute],
        };
        let rows = maps.iter().flat_map(|map| map.rows_of(arch));
        rows.map(StagingRegister::registers)
            .fold(RegSet::EMPTY, RegSet::union)
    }
}

/// Registers 0 to 65 are for jobs; scratch begins behind them.
const FIRST_SCRATCH: u8 = 66;
/// Behind scratch, to the end: counters (3 pairs), context (1 pair), the kernel's (2 pairs).
const BEHIND_SCRATCH: u8 = 12;

impl Layout {
    /// The layout that `arch` is known to have: 96 registers before v12, 128 from there on (command-stream.md 1.2).
    pub const fn of(arch: Arch) -> Layout {
        let count = if arch as u8 >= Arch::V12 as u8 {
            128
        } else {
            96
        };
        Layout { count }
    }

    /// The layout for as many registers as a GPU reports; `None` for an odd number, or one that leaves no scratch.
    pub const fn with_count(count: u8) -> Option<Layout> {
        if count.is_multiple_of(2) && count > FIRST_SCRATCH + BEHIND_SCRATCH {
            Some(Layout { count })
        } else {
            None
        }
    }

    /// How many registers there are.
    pub const fn count(self) -> u8 {
        self.count
    }

    /// All of them.
    pub const fn all(self) -> RegSet {
        RegSet::range(0, self.count - 1)
    }

    const fn pair_before_end(self, distance: u8) -> Pair {
        match Pair::new((self.count - distance) & !1) {
            Some(pair) => pair,
            None => Pair::ZERO, // not reached: the number was made even
        }
    }

    /// Registers that jobs read.
    pub const fn job_state(self) -> RegSet {
        RegSet::range(0, FIRST_SCRATCH - 1)
    }

    /// Registers for whatever a driver computes.
    pub const fn scratch(self) -> RegSet {
        RegSet::range(FIRST_SCRATCH, self.count - BEHIND_SCRATCH - 1)
    }

    /// The first scratch register; an even one.
    pub const fn first_scratch(self) -> Reg {
        Reg::new(FIRST_SCRATCH)
    }

    /// The counter of sync points of a sub-queue. Zero when the group is made; drivers depend on that.
    pub const fn progress(self, of: SubQueue) -> Pair {
        self.pair_before_end(BEHIND_SCRATCH - 2 * of as u8)
    }

    /// The address of the sub-queue's context.
    pub const fn context(self) -> Pair {
        self.pair_before_end(6)
    }

    /// The four registers at the top that the kernel's ring code overwrites between jobs.
    pub const fn kernel(self) -> RegSet {
        RegSet::range(self.count - 4, self.count - 1)
    }

    /// The pair that ring code uses for addresses: of the job, of its sync object.
    pub const fn ring_address(self) -> Pair {
        self.pair_before_end(4)
    }

    /// The pair that ring code uses for values: flush id, length, what is added to the sync object.
    pub const fn ring_value(self) -> Pair {
        self.pair_before_end(2)
    }

    /// The pair that holds the next chunk's address when chunks are linked.
    pub const fn link_address(self) -> Pair {
        self.pair_before_end(2)
    }

    /// The register that holds the next chunk's length when chunks are linked.
    pub const fn link_length(self) -> Reg {
        Reg::new(self.count - 3)
    }
}
