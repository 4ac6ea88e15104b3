//! Architectures: the generations whose layouts differ.
//!
//! Facts: hardware/descriptors.md 1.

use core::fmt;
use core::str::FromStr;

/// GPU architecture, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// Mali-G310, G510, G610, G710.
    V10,
    /// Mali-G615, G715.
    V11,
    /// Mali-G620, G720.
    V12,
    /// Mali-G625, G725, G925.
    V13,
}

impl Arch {
    /// All of them, oldest first.
    pub const ALL: [Arch; 4] = [Arch::V10, Arch::V11, Arch::V12, Arch::V13];

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", *self as u8 + 10)
    }
}

/// A name that no architecture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownArch;

impl fmt::Display for UnknownArch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not an architecture: v10, v11, v12 or v13")
    }
}

impl core::error::Error for UnknownArch {}

impl FromStr for Arch {
    type Err = UnknownArch;

    /// Reads `v10`, `V10`, `10` and `10.8` alike.
    fn from_str(text: &str) -> Result<Arch, UnknownArch> {
        let digits = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let major = digits.split('.').next().unwrap_or(digits);
        match major {
            "10" => Ok(Arch::V10),
            "11" => Ok(Arch::V11),
            "12" => Ok(Arch::V12),
            "13" => Ok(Arch::V13),
            _ => Err(UnknownArch),
        }
    }
}

/// A set of architectures: where a row of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArchSet(u8);

impl ArchSet {
    /// Every architecture.
    pub const ALL: ArchSet = ArchSet(0b1111);

    /// `first` and all later ones.
    pub const fn since(first: Arch) -> ArchSet {
        ArchSet(Self::ALL.0 & !(first.bit() - 1))
    }

    /// `last` and all earlier ones.
    pub const fn until(last: Arch) -> ArchSet {
        ArchSet((last.bit() << 1) - 1)
    }

    /// Those in both sets.
    pub const fn and(self, other: ArchSet) -> ArchSet {
        ArchSet(self.0 & other.0)
    }

    /// Those of this set but `arch`.
    pub const fn without(self, arch: Arch) -> ArchSet {
        ArchSet(self.0 & !arch.bit())
    }

    /// Whether `arch` is in the set.
    pub const fn contains(self, arch: Arch) -> bool {
        self.0 & arch.bit() != 0
    }
}
