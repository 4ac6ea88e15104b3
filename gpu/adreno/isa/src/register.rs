//! Registers and constants.
//!
//! Facts: hardware/ir3-isa.md section 2.

use core::fmt;

use crate::values::{Comp, Width};

/// What a register number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// r0.x to r47.w or hr0.x to hr47.w: one value a lane.
    Normal,
    /// r48.x to r55.w: one value a wave, always 32 bits.
    Shared,
    /// a0.x and a1.x, 16 bits.
    Address,
    /// p0.x to p0.w: one bit a lane.
    Predicate,
    /// r63.x: stands for no register.
    None,
    /// A number that nothing is known of.
    Unknown,
}

/// A register: its number, which is four times its index plus its component, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg {
    number: u8,
    width: Width,
}

impl Reg {
    /// How many normal registers there are of each width.
    pub const NORMAL: u8 = 192;
    /// How many shared registers there are.
    pub const SHARED: u8 = 32;
    /// The address register for relative access.
    pub const A0: Self = Self::of_number(244, Width::Half);
    /// The second address register.
    pub const A1: Self = Self::of_number(245, Width::Half);
    /// r63.x, which stands for no register.
    pub const NONE: Self = Self::of_number(252, Width::Full);

    /// The register with this number in an 8-bit field.
    pub const fn of_number(number: u8, width: Width) -> Self {
        Self { number, width }
    }

    /// Normal register `number` of a width; `None` from 192 on.
    pub const fn normal(number: u8, width: Width) -> Option<Self> {
        if number < Self::NORMAL {
            Some(Self { number, width })
        } else {
            None
        }
    }

    /// Full register `number`, below 192: r0.x is 0, r1.x is 4.
    pub const fn full(number: u8) -> Option<Self> {
        Self::normal(number, Width::Full)
    }

    /// Half register `number`, below 192: hr0.x is 0, hr1.x is 4.
    pub const fn half(number: u8) -> Option<Self> {
        Self::normal(number, Width::Half)
    }

    /// Shared register `number`, below 32: r48.x is 0.
    pub const fn shared(number: u8) -> Option<Self> {
        if number < Self::SHARED {
            Some(Self::of_number(Self::NORMAL + number, Width::Full))
        } else {
            None
        }
    }

    /// A component of the predicate register.
    pub const fn predicate(comp: Comp) -> Self {
        Self::of_number(248 + comp as u8, Width::Full)
    }

    /// Its number in an 8-bit field.
    pub const fn number(self) -> u8 {
        self.number
    }

    /// Its width.
    pub const fn width(self) -> Width {
        self.width
    }

    /// What kind of register it is.
    pub const fn file(self) -> File {
        match self.number {
            0..=191 => File::Normal,
            192..=223 => File::Shared,
            244 | 245 => File::Address,
            248..=251 => File::Predicate,
            252 => File::None,
            _ => File::Unknown,
        }
    }

    /// The register `count` further on; `None` past the end of its file.
    pub fn offset(self, count: u8) -> Option<Self> {
        let number = self.number.checked_add(count)?;
        let next = Self::of_number(number, self.width);
        (next.file() == self.file()).then_some(next)
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.file() != File::Address {
            f.write_str(self.width.prefix())?;
        }
        write_number(f, self.number)
    }
}

/// Writes the register with this number, without its width.
pub(crate) fn write_number(f: &mut (impl fmt::Write + ?Sized), number: u8) -> fmt::Result {
    let comp = component(u16::from(number));
    match number / 4 {
        61 => write!(f, "a0.{comp}"),
        62 => write!(f, "p0.{comp}"),
        index => write!(f, "r{index}.{comp}"),
    }
}

/// A word of the const file: four times the index of its vec4 plus its component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstReg(u16);

impl ConstReg {
    /// How many words the const file has.
    pub const COUNT: u16 = 2048;

    /// Word `number`; `None` from 2048 on.
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::COUNT {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The low 11 bits of `bits`.
    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self((bits & 0x7FF) as u16)
    }

    /// Its component.
    pub const fn comp(self) -> Comp {
        component(self.0)
    }

    /// Its number.
    pub const fn number(self) -> u16 {
        self.0
    }
}

impl fmt::Display for ConstReg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}.{}", self.0 / 4, component(self.0))
    }
}

const fn component(number: u16) -> Comp {
    match number % 4 {
        0 => Comp::X,
        1 => Comp::Y,
        2 => Comp::Z,
        _ => Comp::W,
    }
}
