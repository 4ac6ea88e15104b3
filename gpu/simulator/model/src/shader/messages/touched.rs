//! Lines that a message touches: what the load/store unit takes for it, and what it asks of the L2.
//!
//! Facts: hardware/compiler-optimization.md 3 (lines of 64 bytes, one a cycle); csf-perfcnt.md 4 (beats).

use crate::activity::BEAT;
use crate::fabric::Fabric;
use crate::l2::{CACHED, LINE};
use crate::trace::LaneAccess;
use alloc::vec::Vec;

/// More lines than most messages touch; of more, some may count twice.
pub(super) const KEPT: usize = 32;

/// A line, and which of its beats were read and written, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    number: u64,
    read: u8,
    written: u8,
}

/// The lines of one message.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    lines: [Line; KEPT],
    count: usize,
    /// Lines that were settled before the others came.
    settled: u64,
    /// Bytes that lanes have read and written, each lane counted.
    bytes: [u64; 2],
    core: u8,
    /// Whether accesses are noted lane by lane, and those of the message.
    pub(super) records: bool,
    pub(super) accesses: Vec<LaneAccess>,
    /// The lane whose access is located.
    pub(super) lane: u8,
}

impl Touched {
    /// Begins another message, of `core`. What lines were is left behind: only those up to the count are read.
    pub(super) fn begin(&mut self, core: u8, records: bool) {
        self.count = 0;
        self.settled = 0;
        self.bytes = [0; 2];
        self.core = core;
        self.records = records;
        self.accesses.clear();
    }

    /// A lane accesses so many bytes at a virtual address.
    #[inline]
    pub(super) fn record(&mut self, lane: u8, address: u64, bytes: u8) {
        if self.records {
            self.accesses.push(LaneAccess {
                lane,
                address,
                bytes,
                value: 0,
            });
        }
    }

    /// Lanes read or write so many bytes.
    #[inline]
    pub(super) fn count(&mut self, bytes: u64, write: bool) {
        self.bytes[usize::from(write)] += bytes;
    }

    /// Bytes that lanes have read and written.
    pub(super) fn bytes(&self) -> [u64; 2] {
        self.bytes
    }

    /// Bytes at a physical address are read or written.
    #[inline]
    pub(super) fn note(&mut self, fabric: &mut Fabric, physical: u64, bytes: u64, write: bool) {
        if bytes == 0 {
            return;
        }
        let first = physical & !CACHED;
        fabric.fidelity.touch(first, bytes, write);
        let last = first + bytes - 1;
        let (first_line, last_line) = (first / LINE, last / LINE);
        for number in first_line..=last_line {
            let from = if number == first_line {
                first % LINE / BEAT
            } else {
                0
            };
            let to = if number == last_line {
                last % LINE / BEAT
            } else {
                LINE / BEAT - 1
            };
            let beats = ((2u32 << to) - (1 << from)) as u8;
            let line = self.line(fabric, number);
            if write {
                line.written |= beats;
            } else {
                line.read |= beats;
            }
        }
    }

    #[inline]
    fn line(&mut self, fabric: &mut Fabric, number: u64) -> &mut Line {
        // Neighbours in the warp are neighbours in memory, most of the time.
        let last = self.count.wrapping_sub(1);
        if self
            .lines
            .get(last)
            .is_some_and(|line| line.number == number)
        {
            return &mut self.lines[last];
        }
        self.other_line(fabric, number)
    }

    fn other_line(&mut self, fabric: &mut Fabric, number: u64) -> &mut Line {
        let known = self.lines[..self.count]
            .iter()
            .rposition(|line| line.number == number);
        let index = match known {
            Some(index) => index,
            None => {
                if self.count == KEPT {
                    self.settle(fabric);
                }
                self.lines[self.count] = Line {
                    number,
                    ..Line::default()
                };
                self.count += 1;
                self.count - 1
            }
        };
        &mut self.lines[index]
    }

    /// Asks the L2 for the lines, and counts them; how many the message has touched in all.
    pub(super) fn settle(&mut self, fabric: &mut Fabric) -> u64 {
        let lines = &self.lines[..self.count];
        for line in lines {
            fabric.line_requested(line.number, line.written != 0);
        }
        let beats = |mask: fn(&Line) -> u8| -> u64 {
            lines
                .iter()
                .map(|line| u64::from(mask(line).count_ones()))
                .sum()
        };
        let core = fabric.activity.core(self.core);
        core.read_beats += beats(|line| line.read);
        core.write_beats += beats(|line| line.written);
        self.settled += self.count as u64;
        self.count = 0;
        self.settled
    }
}
