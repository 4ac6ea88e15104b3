//! Generations of the instruction set, in order.
//!
//! Facts: hardware/ir3-isa.md sections 1 and 19.

use core::fmt;
use core::str::FromStr;

/// A generation that the tables know. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gen {
    /// Adreno 5xx: half and full registers are separate files.
    A5xx,
    /// Adreno 6xx: half registers lie in the full ones.
    A6xx,
    /// Adreno 7xx.
    A7xx,
}

impl Gen {
    /// All of them, the oldest first.
    pub const ALL: [Self; 3] = [Self::A5xx, Self::A6xx, Self::A7xx];

    /// Its name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A5xx => "a5xx",
            Self::A6xx => "a6xx",
            Self::A7xx => "a7xx",
        }
    }

    /// True if half registers lie in the full ones: full register n holds half registers 2n and 2n + 1.
    pub const fn merged(self) -> bool {
        !matches!(self, Self::A5xx)
    }
}

impl fmt::Display for Gen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an Adreno generation: a5xx, a6xx or a7xx")]
pub struct UnknownGen;

impl FromStr for Gen {
    type Err = UnknownGen;

    fn from_str(text: &str) -> Result<Self, UnknownGen> {
        Self::ALL
            .into_iter()
            .find(|generation| generation.name().eq_ignore_ascii_case(text))
            .ok_or(UnknownGen)
    }
}

/// The generations that have something: an unbroken range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gens {
    first: Gen,
    last: Gen,
}

impl Gens {
    /// All of them.
    pub const ALL: Self = Self {
        first: Gen::A5xx,
        last: Gen::A7xx,
    };

    /// `generation` and all later ones.
    pub const fn since(generation: Gen) -> Self {
        Self {
            first: generation,
            ..Self::ALL
        }
    }

    /// `generation` alone.
    pub const fn only(generation: Gen) -> Self {
        Self {
            first: generation,
            last: generation,
        }
    }

    /// True if `generation` is one of them.
    pub const fn contains(self, generation: Gen) -> bool {
        self.first as u8 <= generation as u8 && generation as u8 <= self.last as u8
    }
}

impl fmt::Display for Gens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            return self.first.fmt(f);
        }
        write!(f, "{} to {}", self.first, self.last)
    }
}
