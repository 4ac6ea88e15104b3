//! Registers of a stream: single ones, pairs, runs, and sets of them.
//!
//! Guarantees: a [`Pair`] is even.  Never: knows how many registers a GPU has (that is [`crate::layout`]).
//! Facts: hardware/command-stream.md 1.4.

use core::fmt;

/// A 32-bit register, `r0` to `r255` as encoded; a GPU has 96 or 128 of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(u8);

impl Reg {
    /// Register `number`.
    pub const fn new(number: u8) -> Reg {
        Reg(number)
    }

    /// Its number.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// A 64-bit register pair, named by its even, low half: `d66` is `r66` (low word) and `r67`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair(u8);

impl Pair {
    /// `d0`.
    pub const ZERO: Pair = Pair(0);

    /// The pair whose low half is register `number`; `None` where that is odd.
    pub const fn new(number: u8) -> Option<Pair> {
        if number.is_multiple_of(2) {
            Some(Pair(number))
        } else {
            None
        }
    }

    /// The number of the low half.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Holds bits 31:0.
    pub const fn low(self) -> Reg {
        Reg(self.0)
    }

    /// Holds bits 63:32.
    pub const fn high(self) -> Reg {
        Reg(self.0 + 1)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}", self.0)
    }
}

/// `r!(66)` is [`Reg`] 66.
#[macro_export]
macro_rules! r {
    ($number:expr) => {
        $crate::Reg::new($number)
    };
}

/// `d!(66)` is the [`Pair`] of `r66` and `r67`; an odd number does not compile.
///
/// ```compile_fail
/// let _ = eitri_cs::d!(67);
/// ```
#[macro_export]
macro_rules! d {
    ($number:expr) => {
        const {
            match $crate::Pair::new($number) {
                Some(pair) => pair,
                None => panic!("a pair is named by its even register"),
            }
        }
    };
}

/// Which of the 16 registers from a base on take part: bit i is register base + i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegMask(u16);

impl RegMask {
    /// The mask with these bits.
    pub const fn new(bits: u16) -> RegMask {
        RegMask(bits)
    }

    /// The first `count` registers; all 16 from 16 on.
    pub const fn first(count: u8) -> RegMask {
        if count >= 16 {
            RegMask(u16::MAX)
        } else {
            RegMask((1 << count) - 1)
        }
    }

    /// The bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// How many registers take part.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The distances from the base, rising.
    pub fn offsets(self) -> impl Iterator<Item = u8> {
        (0..16).filter(move |bit| self.0 >> bit & 1 != 0)
    }
}

/// A set of registers. One that is numbered beyond 255 (a run may reach so far) is kept only as "out of range".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegSet {
    words: [u64; 4],
    beyond: bool,
}

impl RegSet {
    /// No register.
    pub const EMPTY: RegSet = RegSet {
        words: [0; 4],
        beyond: false,
    };

    /// The registers `first` to `last`, both included; none where `last < first`.
    pub const fn range(first: u8, last: u8) -> RegSet {
        let mut set = RegSet::EMPTY;
        let mut number = first as u16;
        while number <= last as u16 {
            set = set.with(number);
            number += 1;
        }
        set
    }

    /// This set and register `number`.
    pub const fn with(mut self, number: u16) -> RegSet {
        if number < 256 {
            self.words[number as usize / 64] |= 1 << (number % 64);
        } else {
            self.beyond = true;
        }
        self
    }

    /// The registers of either set.
    pub const fn union(mut self, other: RegSet) -> RegSet {
        let mut i = 0;
        while i < 4 {
            self.words[i] |= other.words[i];
            i += 1;
        }
        self.beyond |= other.beyond;
        self
    }

    /// The registers of this set that are not in `other`.
    pub const fn without(mut self, other: RegSet) -> RegSet {
        let mut i = 0;
        while i < 4 {
            self.words[i] &= !other.words[i];
            i += 1;
        }
        self.beyond &= !other.beyond;
        self
    }

    /// Whether no register is in both.
    pub const fn is_disjoint(self, other: RegSet) -> bool {
        let mut i = 0;
        while i < 4 {
            if self.words[i] & other.words[i] != 0 {
                return false;
            }
            i += 1;
        }
        !(self.beyond && other.beyond)
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.is_disjoint(self)
    }

    /// Whether `reg` is one of them.
    pub const fn contains(self, reg: Reg) -> bool {
        self.words[reg.0 as usize / 64] >> (reg.0 % 64) & 1 != 0
    }

    /// Whether a run reaches beyond register 255.
    pub const fn reaches_beyond(self) -> bool {
        self.beyond
    }

    /// The registers, rising (those beyond 255 left out).
    pub fn iter(self) -> impl Iterator<Item = Reg> {
        (0..=255).map(Reg).filter(move |&reg| self.contains(reg))
    }
}

impl From<Reg> for RegSet {
    fn from(reg: Reg) -> RegSet {
        RegSet::EMPTY.with(reg.0.into())
    }
}

impl From<Pair> for RegSet {
    fn from(pair: Pair) -> RegSet {
        RegSet::range(pair.0, pair.0 + 1)
    }
}
