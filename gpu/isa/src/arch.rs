//! Generations of the instruction set, in order.
//!
//! Facts: hardware/valhall-isa.md sections 14 and 15.

use core::fmt;
use core::str::FromStr;

/// A generation of the instruction set. Later ones compare greater, so "v11 and later" is `arch >= Arch::V11`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// v9: Mali-G57, G77, G68, G78.
    V9 = 9,
    /// v10: Mali-G310, G510, G610, G710.
    V10 = 10,
    /// v11: Mali-G615, G715.
    V11 = 11,
    /// v12: Mali-G620, G720.
    V12 = 12,
    /// v13: Mali-G625, G725.
    V13 = 13,
    /// v14.
    V14 = 14,
}

impl Arch {
    /// Every generation, oldest first.
    pub const ALL: [Self; 6] = [
        Self::V9,
        Self::V10,
        Self::V11,
        Self::V12,
        Self::V13,
        Self::V14,
    ];

    /// The number in the name: 10 for v10.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.number())
    }
}

/// The text names no generation of this instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a generation that the tables know: v9 to v14")]
pub struct UnknownArch;

impl FromStr for Arch {
    type Err = UnknownArch;

    /// Reads `v10`, `V10`, `10` and `10.8` (what follows the point is the minor version, which changes no instruction).
    fn from_str(text: &str) -> Result<Self, UnknownArch> {
        let digits = text.trim();
        let digits = digits.strip_prefix(['v', 'V']).unwrap_or(digits);
        let (major, minor) = digits.split_once('.').unwrap_or((digits, "0"));
        if minor.is_empty() || !minor.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(UnknownArch);
        }
        let number: u8 = major.parse().map_err(|_| UnknownArch)?;
        Self::ALL
            .into_iter()
            .find(|arch| arch.number() == number)
            .ok_or(UnknownArch)
    }
}

/// The generations, first and last, that have an instruction, a field or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Archs {
    /// The first generation that has it.
    pub first: Arch,
    /// The last generation that has it.
    pub last: Arch,
}

impl Archs {
    /// Every generation in the tables.
    pub const ALL: Self = Self::range(Arch::V9, Arch::V14);

    /// From `first` to `last`, both included.
    pub const fn range(first: Arch, last: Arch) -> Self {
        Self { first, last }
    }

    /// From `first` on.
    pub const fn since(first: Arch) -> Self {
        Self::range(first, Arch::V14)
    }

    /// Up to `last`.
    pub const fn until(last: Arch) -> Self {
        Self::range(Arch::V9, last)
    }

    /// True if `arch` is one of them.
    pub const fn contains(self, arch: Arch) -> bool {
        self.first as u8 <= arch as u8 && arch as u8 <= self.last as u8
    }
}

impl fmt::Display for Archs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}..{}", self.first, self.last)
        }
    }
}
