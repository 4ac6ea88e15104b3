//! Sets of units: which parts of the register files something is true of.

use std::ops::{BitAnd, BitOr};

use super::mir::{Class, Register};
use crate::machine;

/// Words that hold a bit for each unit of all files.
const WORDS: usize = 7;

/// A set of units.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Units([u64; WORDS]);

impl Units {
    /// With those of a register.
    pub(super) fn with(mut self, register: Register) -> Units {
        for unit in register.units() {
            if let Some(word) = self.0.get_mut(unit / 64) {
                *word |= 1 << (unit % 64);
            }
        }
        self
    }

    /// Those that registers of a class may have.
    pub(super) fn of_class(class: Class) -> Units {
        let mut units = Units::default();
        for unit in machine::Class::span(class) {
            if let Some(word) = units.0.get_mut(unit / 64) {
                *word |= 1 << (unit % 64);
            }
        }
        units
    }

    /// Whether two sets have a unit in common.
    pub(super) fn meets(self, other: Units) -> bool {
        self & other != Units::default()
    }
}

impl BitOr for Units {
    type Output = Units;

    fn bitor(self, other: Units) -> Units {
        Units(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }
}

impl BitAnd for Units {
    type Output = Units;

    fn bitand(self, other: Units) -> Units {
        Units(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_register_covers_two_halves_and_no_shared_one() {
        let set = |class, number| Units::default().with(Register::new(class, number));
        assert!(set(Class::Full, 1).meets(set(Class::Half, 2)));
        assert!(set(Class::Full, 1).meets(set(Class::Half, 3)));
        assert!(!set(Class::Full, 1).meets(set(Class::Half, 4)));
        assert!(!set(Class::Full, 191).meets(Units::of_class(Class::Shared)));
        assert!(set(Class::Predicate, 3) != Units::default());
    }
}
