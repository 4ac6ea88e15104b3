//! A line of a CPU's cache that a GPU does not see, and what of its upkeep is missing.
//!
//! Who plays such a cache (`gpu/simulator/on-model` before the memory of a process, the monitor before that of QEMU's machine) keeps its lines
//! here, and asks at each access whether it shows that upkeep is missing. Who has stored, and who has written on the other side, is
//! the player's to say: addresses of code, units of the GPU.
//!
//! Guarantees: nothing is told of a line that was kept up; what is told names the line, who wrote, and who found it.
//!
//! ```
//! use eitri_cache_line::CacheLine;
//!
//! let memory = [0; 64];
//! let mut line: CacheLine<&str, &str> = CacheLine::fetched(memory);
//! line.store(8, &[7], "write_ring", 0);
//! // The CPU has written a register since; the GPU looks.
//! let told = line.missed(0..64, 1).map(|by| by.to_string());
//! assert_eq!(told.as_deref(), Some("write_ring"));
//! line.clean();
//! assert_eq!(line.missed(0..64, 1), None);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use core::fmt;
use core::ops::Range;

/// Bytes of a line.
pub const LINE: u64 = 64;

/// What is in one.
pub type Bytes = [u8; LINE as usize];

/// The lines that a range of addresses lies in, each with the part of it.
pub fn pieces(address: u64, bytes: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = address.saturating_add(bytes);
    let first = address & !(LINE - 1);
    (first..end).step_by(LINE as usize).map(move |at| {
        let from = address.max(at) - at;
        let to = end.min(at.saturating_add(LINE)) - at;
        (at, from as usize..to as usize)
    })
}

/// A line that the CPU has in its cache. `C` is code of the CPU, `U` a unit of the GPU.
#[derive(Clone, Debug)]
pub struct CacheLine<C, U> {
    bytes: Bytes,
    /// What memory held when it was fetched, or cleaned.
    clean: Bytes,
    /// Which bytes were stored since, a bit a byte.
    stored: u64,
    /// Who stored last, and when: how often the CPU had written a register by then.
    by: Option<C>,
    at: u64,
    /// Who of the GPU has written to memory since it was fetched.
    written: Option<U>,
}

impl<C, U: Copy> CacheLine<C, U> {
    /// As memory has it.
    pub const fn fetched(memory: Bytes) -> CacheLine<C, U> {
        CacheLine {
            bytes: memory,
            clean: memory,
            stored: 0,
            by: None,
            at: 0,
            written: None,
        }
    }

    /// What the CPU sees.
    pub const fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Whether it has stores that memory has not.
    pub const fn is_dirty(&self) -> bool {
        self.stored != 0
    }

    /// Who stored last.
    pub const fn stored_by(&self) -> Option<&C> {
        self.by.as_ref()
    }

    /// Who of the GPU has written there since it was fetched.
    pub const fn written_by(&self) -> Option<U> {
        self.written
    }

    /// The CPU stores bytes at a place; what would lie behind the line is left out. By now it has written a register `at` times.
    pub fn store(&mut self, place: usize, bytes: &[u8], by: C, at: u64) {
        for (offset, byte) in (place..LINE as usize).zip(bytes) {
            if let Some(to) = self.bytes.get_mut(offset) {
                *to = *byte;
                self.stored |= 1 << offset;
            }
        }
        (self.by, self.at) = (Some(by), at);
    }

    /// The line is written to memory, and stays.
    pub const fn clean(&mut self) {
        self.clean = self.bytes;
        self.stored = 0;
    }

    /// A unit of the GPU writes to memory there.
    pub const fn gpu_writes(&mut self, unit: U) {
        self.written = Some(unit);
    }

    /// Who has stored what the GPU misses when it reads a part: something else than what memory holds, before the last of `at` writes
    /// of registers, so that it may be looked for.
    pub fn missed(&self, part: Range<usize>, at: u64) -> Option<&C> {
        let differs = |offset: usize| {
            self.stored >> offset & 1 != 0 && self.bytes.get(offset) != self.clean.get(offset)
        };
        let part = part.start..part.end.min(LINE as usize);
        let missed = self.stored != 0 && self.at < at && part.into_iter().any(differs);
        self.by.as_ref().filter(|_| missed)
    }

    /// Whether the CPU, when it loads a part, sees something older than what memory holds by now.
    pub fn is_stale(&self, part: Range<usize>, memory: &Bytes) -> bool {
        self.stored == 0 && self.bytes.get(part.clone()) != memory.get(part)
    }

    /// Whether a store is lost when the line is dropped.
    pub fn loses_stores(&self) -> bool {
        self.stored != 0 && self.bytes != self.clean
    }

    /// Whether the GPU's writes are lost when the line is written to memory, which holds this by now.
    pub fn overwrites(&self, memory: &Bytes) -> bool {
        let kept = (0..LINE as usize).filter(|offset| self.stored >> offset & 1 == 0);
        self.stored != 0
            && kept
                .into_iter()
                .any(|offset| memory.get(offset) != self.clean.get(offset))
    }
}

/// Upkeep that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing<C, U> {
    /// The GPU reads a line with a store that it does not see.
    Clean {
        /// Where the line begins.
        line: u64,
        /// Who has stored.
        stored: C,
        /// Who reads.
        reads: U,
    },
    /// The CPU loads what is older than memory.
    Invalidate {
        /// Where it loads.
        address: u64,
        /// Who loads.
        loads: C,
        /// Who has written since.
        written: Option<U>,
    },
    /// A line is dropped with a store in it.
    DroppedStore {
        /// Where the line begins.
        line: u64,
        /// Who has stored.
        stored: C,
        /// Who drops it.
        drops: C,
    },
    /// A line is written over what the GPU has written.
    DroppedWrite {
        /// Where the line begins.
        line: u64,
        /// Who has stored.
        stored: C,
        /// Who cleans.
        cleans: C,
        /// Who of the GPU has written.
        written: Option<U>,
    },
}

impl<C, U> Missing<C, U> {
    /// Where the line begins.
    pub const fn line(&self) -> u64 {
        match self {
            Missing::Clean { line, .. }
            | Missing::DroppedStore { line, .. }
            | Missing::DroppedWrite { line, .. } => *line,
            Missing::Invalidate { address, .. } => *address & !(LINE - 1),
        }
    }
}

/// Whoever of the GPU it was.
struct Unit<'u, U>(&'u Option<U>);

impl<U: fmt::Display> fmt::Display for Unit<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(unit) => write!(f, "{unit} of the GPU"),
            None => f.write_str("the GPU"),
        }
    }
}

impl<C: fmt::Display, U: fmt::Display> fmt::Display for Missing<C, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::Clean {
                line,
                stored,
                reads,
            } => write!(
                f,
                "{reads} of the GPU reads the line of {line:#x}, in which {stored} has stored what was not cleaned"
            ),
            Missing::Invalidate {
                address,
                loads,
                written,
            } => write!(
                f,
                "{loads} loads {address:#x}, which {} has written since the line of {:#x} was fetched: it is not invalidated",
                Unit(written),
                self.line()
            ),
            Missing::DroppedStore {
                line,
                stored,
                drops,
            } => write!(
                f,
                "{drops} invalidates the line of {line:#x}, where {stored} has stored what was not cleaned: it is lost"
            ),
            Missing::DroppedWrite {
                line,
                stored,
                cleans,
                written,
            } => write!(
                f,
                "{cleans} cleans the line of {line:#x}, in which {stored} has stored and {} has written since: what the GPU \
                 wrote is lost",
                Unit(written)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    type Line = CacheLine<&'static str, &'static str>;

    #[test]
    fn a_store_is_missed_when_it_was_announced_and_not_cleaned() {
        let mut line = Line::fetched([0; 64]);
        line.store(62, &[1, 2, 3], "a", 4);
        assert_eq!(line.missed(0..64, 4), None, "nobody looks yet");
        assert_eq!(line.missed(0..64, 5), Some(&"a"));
        assert_eq!(line.missed(0..62, 5), None, "another part");
        line.clean();
        assert_eq!(line.missed(0..64, 5), None);
        line.store(0, &[0], "b", 5);
        assert_eq!(line.missed(0..64, 6), None, "what memory holds anyway");
    }

    #[test]
    fn a_load_is_stale_where_memory_differs_in_what_it_loads() {
        let line = Line::fetched([0; 64]);
        let mut memory = [0; 64];
        memory[8] = 1;
        assert!(line.is_stale(8..12, &memory));
        assert!(!line.is_stale(0..8, &memory));
    }

    #[test]
    fn what_both_have_written_is_lost_on_one_side() {
        let mut line = Line::fetched([0; 64]);
        let mut memory = [0; 64];
        memory[8] = 1;
        assert!(!line.overwrites(&memory), "nothing is written back");
        line.store(8, &[2], "a", 0);
        assert!(!line.overwrites(&memory), "the same byte: whoever is last");
        line.store(0, &[2], "a", 0);
        memory[9] = 1;
        assert!(line.overwrites(&memory));
        assert!(line.loses_stores());
    }

    #[test]
    fn ranges_are_taken_apart_at_lines() {
        let all: Vec<_> = pieces(0x7E, 0x44).collect();
        assert_eq!(all, [(0x40, 62..64), (0x80, 0..64), (0xC0, 0..2)]);
        assert_eq!(pieces(0x40, 0).count(), 0);
    }

    #[test]
    fn each_is_told_with_its_line_and_who_wrote() {
        let check = |missing: Missing<&str, &str>, line, text: &str| {
            assert_eq!((missing.line(), missing.to_string().as_str()), (line, text));
        };
        let (line, stored, written) = (0x1040, "f", Some("core 3"));
        check(
            Missing::Clean {
                line,
                stored,
                reads: "core 3",
            },
            line,
            "core 3 of the GPU reads the line of 0x1040, in which f has stored what was not cleaned",
        );
        check(
            Missing::Invalidate {
                address: 0x1048,
                loads: "f",
                written,
            },
            line,
            "f loads 0x1048, which core 3 of the GPU has written since the line of 0x1040 was fetched: it is not invalidated",
        );
        check(
            Missing::DroppedStore {
                line,
                stored,
                drops: "g",
            },
            line,
            "g invalidates the line of 0x1040, where f has stored what was not cleaned: it is lost",
        );
        check(
            Missing::DroppedWrite {
                line,
                stored,
                cleans: "g",
                written: None,
            },
            line,
            "g cleans the line of 0x1040, in which f has stored and the GPU has written since: what the GPU wrote is lost",
        );
    }
}
