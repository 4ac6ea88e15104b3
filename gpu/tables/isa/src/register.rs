//! Registers, register ranges, and what a destination writes.
//!
//! Facts: hardware/valhall-isa.md sections 3 and 4.

use core::fmt;

/// A 32-bit register, r0 to r63.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(u8);

impl Reg {
    /// Number of registers that the encoding can name.
    pub const COUNT: u8 = 64;

    /// Register `index`, or `None` above 63.
    pub const fn new(index: u8) -> Option<Self> {
        if index < Self::COUNT {
            Some(Self(index))
        } else {
            None
        }
    }

    /// The register that the low six bits of `bits` name.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self((bits & 63) as u8)
    }

    /// Its number, 0 to 63.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// The register after it, if there is one.
    pub const fn next(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }

    /// True if a 64-bit pair or a longer range may start here.
    pub const fn is_even(self) -> bool {
        self.0 & 1 == 0
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// A run of consecutive registers: the payload of a message. May be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegRange {
    first: Reg,
    count: u8,
}

impl RegRange {
    /// No register.
    pub const EMPTY: Self = Self {
        first: Reg(0),
        count: 0,
    };

    /// `count` registers from `first` on; `None` if they would pass r63.
    ///
    /// An odd start of a longer range is legal here (a 64-bit value is such a range) and refused when a message is encoded.
    pub const fn new(first: Reg, count: u8) -> Option<Self> {
        if count == 0 {
            return Some(Self::EMPTY);
        }
        if count > Reg::COUNT || first.0 + count > Reg::COUNT {
            None
        } else {
            Some(Self { first, count })
        }
    }

    /// One register.
    pub const fn one(register: Reg) -> Self {
        Self {
            first: register,
            count: 1,
        }
    }

    /// The first register; r0 if the range is empty.
    pub const fn first(self) -> Reg {
        self.first
    }

    /// How many registers it has.
    pub const fn count(self) -> u8 {
        self.count
    }

    /// True if it has none.
    pub const fn is_empty(self) -> bool {
        self.count == 0
    }

    /// Its registers, lowest first.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Reg> + Clone {
        (self.first.0..self.first.0 + self.count).map(Reg)
    }

    /// True if `register` is one of them.
    pub const fn contains(self, register: Reg) -> bool {
        self.first.0 <= register.0 && register.0 < self.first.0 + self.count
    }
}

/// Which part of its destination register an instruction writes (bits 46..47).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mask {
    /// Both halves get the same 16-bit result. Only where an instruction narrows or replicates.
    Both = 0,
    /// The low half; the high one is kept.
    H0 = 1,
    /// The high half; the low one is kept.
    H1 = 2,
    /// All 32 bits.
    Full = 3,
}

impl Mask {
    /// The mask that the low two bits of `bits` mean.
    pub(crate) const fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Self::Both,
            1 => Self::H0,
            2 => Self::H1,
            _ => Self::Full,
        }
    }
}

/// A destination: a register and the part of it that is written. A 64-bit result writes the register and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dest {
    /// The register, the low one of a pair.
    pub reg: Reg,
    /// The part that is written.
    pub mask: Mask,
}

impl Dest {
    /// The whole of `reg`.
    pub const fn full(reg: Reg) -> Self {
        Self {
            reg,
            mask: Mask::Full,
        }
    }
}

impl From<Reg> for Dest {
    fn from(reg: Reg) -> Self {
        Self::full(reg)
    }
}
