//! Places of registers: halves of the file that both widths share, and one for each register that aliases nothing.
//!
//! Facts: hardware/ir3-isa.md 2.

use eitri_ir3_isa::{File, Reg, Width};

/// Where a register lies.
pub(super) type Place = u16;

/// The first number of registers that alias nothing, and the place of that one.
const FIRST_OTHER: u16 = 192;
const OTHERS: Place = 2 * FIRST_OTHER;
/// Shared registers come first among those.
const SHARED: Place = 32;

/// What a register may be part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Pending {
    /// It will be written, by an instruction of short latency.
    Short,
    /// It will be written, by one of long latency.
    Long,
    /// It will be read.
    Read,
}

impl Pending {
    pub(super) const ALL: [Pending; 3] = [Pending::Short, Pending::Long, Pending::Read];
}

/// Words that hold a bit for each place.
const WORDS: usize = 7;

/// A set of places.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Places([u64; WORDS]);

impl Places {
    /// Those of a register.
    pub(super) fn of(reg: Reg) -> Places {
        let number = u16::from(reg.number());
        let mut places = Places::default();
        match (reg.file(), reg.width()) {
            (File::Normal, Width::Full) => {
                places.insert(2 * number);
                places.insert(2 * number + 1);
            }
            (File::Normal, Width::Half) => places.insert(number),
            _ => places.insert(OTHERS + number - FIRST_OTHER),
        }
        places
    }

    pub(super) fn insert(&mut self, place: Place) {
        self.0[usize::from(place) / 64] |= 1 << (place % 64);
    }

    /// Adds others. True if any was new.
    pub(super) fn add(&mut self, others: Places) -> bool {
        let before = *self;
        for (word, other) in self.0.iter_mut().zip(others.0) {
            *word |= other;
        }
        *self != before
    }

    pub(super) fn meets(&self, other: &Places) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .any(|(word, other)| word & other != 0)
    }

    pub(super) fn contains_all(&self, other: &Places) -> bool {
        self.0
            .iter()
            .zip(other.0)
            .all(|(word, other)| other & !word == 0)
    }

    /// Those that are the wave's.
    pub(super) fn shared(&self) -> impl Iterator<Item = Place> + use<> {
        let words = self.0;
        let is_in = move |place: &Place| words[usize::from(*place) / 64] >> (place % 64) & 1 != 0;
        (OTHERS..OTHERS + SHARED).filter(is_in)
    }
}
