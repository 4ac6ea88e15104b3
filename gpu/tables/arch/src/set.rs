//! Sets of generations: where a row of a table holds, and what a crate knows.

use crate::{Arch, UnknownArch, parse};
use core::fmt;

/// A set of generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArchSet(u8);

impl ArchSet {
    /// Every generation.
    pub const ALL: ArchSet = ArchSet::range(Arch::V9, Arch::V14);

    /// One alone.
    pub const fn only(arch: Arch) -> ArchSet {
        ArchSet(1 << (arch as u8 - Arch::V9 as u8))
    }

    /// From `first` to `last`, both included; none if `last` is older than `first`.
    pub const fn range(first: Arch, last: Arch) -> ArchSet {
        let before_first = ArchSet::only(first).0 - 1;
        let to_last = (ArchSet::only(last).0 << 1) - 1;
        ArchSet(to_last & !before_first)
    }

    /// `first` and all later ones.
    pub const fn since(first: Arch) -> ArchSet {
        ArchSet::range(first, Arch::V14)
    }

    /// `last` and all earlier ones.
    pub const fn until(last: Arch) -> ArchSet {
        ArchSet::range(Arch::V9, last)
    }

    /// Those in both sets.
    pub const fn and(self, other: ArchSet) -> ArchSet {
        ArchSet(self.0 & other.0)
    }

    /// Those of this set but `arch`.
    pub const fn without(self, arch: Arch) -> ArchSet {
        ArchSet(self.0 & !ArchSet::only(arch).0)
    }

    /// Whether `arch` is in the set.
    #[inline]
    pub const fn contains(self, arch: Arch) -> bool {
        self.0 & ArchSet::only(arch).0 != 0
    }

    /// Whether a generation is in both sets.
    pub const fn overlaps(self, other: ArchSet) -> bool {
        self.and(other).0 != 0
    }

    /// How many there are.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those of the set, oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Arch> + Clone {
        Arch::ALL
            .into_iter()
            .filter(move |arch| self.contains(*arch))
    }

    /// `arch`, if it is in the set.
    ///
    /// # Errors
    /// It is not.
    pub const fn require(self, arch: Arch) -> Result<Arch, UnsupportedArch> {
        if self.contains(arch) {
            Ok(arch)
        } else {
            let supported = self;
            Err(UnsupportedArch { arch, supported })
        }
    }

    /// The generation of the set that `text` names: `v10`, `V10`, `10` or `10.8`.
    ///
    /// # Errors
    /// It names none, or none of the set.
    pub fn parse(self, text: &str) -> Result<Arch, UnknownArch> {
        let named = parse(text).filter(|arch| self.contains(*arch));
        named.ok_or(UnknownArch { known: self })
    }
}

impl fmt::Display for ArchSet {
    /// `v10`, `v10-v13`; of a set with gaps, each run: `v10, v12-v13`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.iter().peekable();
        let mut between = "";
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|next| next.major() == last.major() + 1) {
                last = next;
            }
            write!(f, "{between}{first}")?;
            if last != first {
                write!(f, "-{last}")?;
            }
            between = ", ";
        }
        if self.is_empty() {
            f.write_str("none")?;
        }
        Ok(())
    }
}

/// A generation that a crate's tables do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedArch {
    /// The generation asked for.
    pub arch: Arch,
    /// Those that are known.
    pub supported: ArchSet,
}

impl fmt::Display for UnsupportedArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not supported, only {}", self.arch, self.supported)
    }
}

impl core::error::Error for UnsupportedArch {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set is made of single ones, so what the numbers say must be what the single ones say.
    #[test]
    fn sets_hold_what_they_say() {
        for first in Arch::ALL {
            for last in Arch::ALL {
                let set = ArchSet::range(first, last);
                for arch in Arch::ALL {
                    assert_eq!(
                        set.contains(arch),
                        first <= arch && arch <= last,
                        "{set}, {arch}"
                    );
                    assert!(!set.without(arch).contains(arch), "{set}");
                    assert_eq!(set.require(arch).is_ok(), set.contains(arch), "{set}");
                }
                assert!(
                    set.iter().eq(Arch::ALL
                        .into_iter()
                        .filter(|arch| (first..=last).contains(arch)))
                );
                assert_eq!(set.iter().count(), set.len());
                assert_eq!(set.is_empty(), last < first);
            }
            assert_eq!(ArchSet::only(first), ArchSet::range(first, first));
            assert_eq!(
                ArchSet::since(first).and(ArchSet::until(first)),
                ArchSet::only(first)
            );
        }
        let (old, new) = (ArchSet::until(Arch::V11), ArchSet::since(Arch::V11));
        assert!(old.overlaps(new) && !old.overlaps(new.without(Arch::V11)));
    }

    #[test]
    fn text() {
        let gaps = ArchSet::ALL.without(Arch::V11).without(Arch::V13);
        let texts = [
            (ArchSet::ALL, "v9-v14"),
            (ArchSet::only(Arch::V12), "v12"),
            (gaps, "v9-v10, v12, v14"),
            (ArchSet::range(Arch::V11, Arch::V10), "none"),
        ];
        for (set, text) in texts {
            assert_eq!(set.to_string(), text);
        }
        let known = ArchSet::range(Arch::V10, Arch::V13);
        assert_eq!(known.parse("13"), Ok(Arch::V13));
        let refused = known.parse("v9").unwrap_err();
        assert_eq!(refused.to_string(), "not one of the generations v10-v13");
    }

    extern crate alloc;
    use alloc::string::ToString;
}
