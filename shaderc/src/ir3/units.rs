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
    /// With one more.
    pub(super) fn with_unit(mut self, unit: usize) -> Units {
        if let Some(word) = self.0.get_mut(unit / 64) {
            *word |= 1 << (unit % 64);
        }
        self
    }

    /// With those of a register.
    pub(super) fn with(self, register: Register) -> Units {
        register.units().fold(self, Units::with_unit)
    }

    /// Each of them, in order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> {
        let of_word = move |word: usize| {
            let mut left = self.0[word];
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(64 * word + bit)
            })
        };
        (0..WORDS).flat_map(of_word)
    }

    /// Those that registers of a class may have.
    pub(super) fn of_class(class: Class) -> Units {
        machine::Class::span(class).fold(Units::default(), Units::with_unit)
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
