//! Sources and destinations.
//!
//! Facts: hardware/ir3-isa.md sections 2 to 5.

use crate::register::{ConstReg, Reg};
use crate::values::{FloatConst, Width};

/// Where the value of a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A word of the const file. As a half it is converted when read.
    Const(ConstReg, Width),
    /// The register a0.x + offset, counted in registers of its width; -512 to 511.
    RelReg(i16, Width),
    /// The constant a0.x + offset; -512 to 511.
    RelConst(i16, Width),
    /// An immediate. For moves its 32 bits; elsewhere a small integer.
    Imm(i32, Width),
    /// A constant of the table of floats.
    Float(FloatConst, Width),
}

impl Operand {
    /// Its width.
    pub const fn width(self) -> Width {
        match self {
            Self::Reg(reg) => reg.width(),
            Self::Const(_, width)
            | Self::RelReg(_, width)
            | Self::RelConst(_, width)
            | Self::Imm(_, width)
            | Self::Float(_, width) => width,
        }
    }

    /// True if a0.x is read to find it.
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::RelReg(..) | Self::RelConst(..))
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}

/// A source with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src {
    /// Where its value comes from.
    pub operand: Operand,
    /// Negated; for bitwise operations inverted.
    pub neg: bool,
    /// Without its sign, before it is negated.
    pub abs: bool,
    /// Step k of a repeated instruction reads the k-th register after it.
    pub r: bool,
    /// Not read again (a7xx).
    pub last: bool,
}

impl Src {
    /// A source without modifiers.
    pub const fn new(operand: Operand) -> Self {
        Self {
            operand,
            neg: false,
            abs: false,
            r: false,
            last: false,
        }
    }

    /// The same, negated once more.
    #[must_use]
    pub const fn neg(mut self) -> Self {
        self.neg = !self.neg;
        self
    }

    /// The same without its sign.
    #[must_use]
    pub const fn abs(mut self) -> Self {
        (self.abs, self.neg) = (true, false);
        self
    }

    /// The same with (r).
    #[must_use]
    pub const fn repeated(mut self) -> Self {
        self.r = true;
        self
    }
}

impl From<Operand> for Src {
    fn from(operand: Operand) -> Self {
        Self::new(operand)
    }
}

impl From<Reg> for Src {
    fn from(reg: Reg) -> Self {
        Self::new(Operand::Reg(reg))
    }
}

/// What an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dst {
    /// A register.
    Reg(Reg),
    /// The register a0.x + offset, counted in registers of its width: moves alone.
    Rel(u8, Width),
}

impl Dst {
    /// Its width.
    pub const fn width(self) -> Width {
        match self {
            Self::Reg(reg) => reg.width(),
            Self::Rel(_, width) => width,
        }
    }
}

impl From<Reg> for Dst {
    fn from(reg: Reg) -> Self {
        Self::Reg(reg)
    }
}
