//! Architectures: the generations of the unit, in order, and ranges of them.
//!
//! Guarantees: "v11 and later" is a comparison.  Facts: hardware/command-stream.md 2 and 9.

use core::fmt;
use core::str::FromStr;

/// An architecture of the command-stream unit. Ordered, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// Mali-G310, G510, G610, G710.
    V10,
    /// The successor of v10 (Mali-G715 class).
    V11,
    /// The first 5th-generation parts.
    V12,
    /// The later 5th-generation parts.
    V13,
}

impl Arch {
    /// Every architecture, oldest first.
    pub const ALL: [Arch; 4] = [Arch::V10, Arch::V11, Arch::V12, Arch::V13];

    /// The number in the name: 10 to 13.
    pub const fn major(self) -> u8 {
        10 + self as u8
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.major())
    }
}

/// A name that is no architecture of the command-stream unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownArch;

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an architecture with command streams: there are v10, v11, v12 and v13")
    }
}

impl core::error::Error for UnknownArch {}

impl FromStr for Arch {
    type Err = UnknownArch;

    /// Takes `v10`, `V10`, `10` and `10.8`.
    fn from_str(text: &str) -> Result<Arch, UnknownArch> {
        let number = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let major = match number.split_once('.') {
            Some((major, minor)) if minor.parse::<u8>().is_ok() => major,
            Some(_) => return Err(UnknownArch),
            None => number,
        };
        let known = |arch: &Arch| major.parse() == Ok(arch.major());
        Arch::ALL.into_iter().find(known).ok_or(UnknownArch)
    }
}

/// A run of architectures, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arches {
    first: Arch,
    last: Arch,
}

impl Arches {
    /// v10 to v13.
    pub const ALL: Arches = Arches::new(Arch::V10, Arch::V13);
    /// v10 only.
    pub const V10: Arches = Arches::new(Arch::V10, Arch::V10);
    /// v10 and v11.
    pub const TO_V11: Arches = Arches::new(Arch::V10, Arch::V11);
    /// v10 to v12.
    pub const TO_V12: Arches = Arches::new(Arch::V10, Arch::V12);
    /// v11 only.
    pub const V11: Arches = Arches::new(Arch::V11, Arch::V11);
    /// v11 and later.
    pub const FROM_V11: Arches = Arches::new(Arch::V11, Arch::V13);
    /// v12 only.
    pub const V12: Arches = Arches::new(Arch::V12, Arch::V12);
    /// v12 and later.
    pub const FROM_V12: Arches = Arches::new(Arch::V12, Arch::V13);
    /// v13 only.
    pub const V13: Arches = Arches::new(Arch::V13, Arch::V13);

    const fn new(first: Arch, last: Arch) -> Arches {
        Arches { first, last }
    }

    /// Whether `arch` is one of them.
    #[inline]
    pub const fn contains(self, arch: Arch) -> bool {
        self.first as u8 <= arch as u8 && arch as u8 <= self.last as u8
    }

    /// Whether an architecture is in both.
    pub const fn overlaps(self, other: Arches) -> bool {
        self.first as u8 <= other.last as u8 && other.first as u8 <= self.last as u8
    }
}

impl fmt::Display for Arches {
    /// `v10 to v13`, `v11 and later` as ranges: `v10-v13`, `v10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}
