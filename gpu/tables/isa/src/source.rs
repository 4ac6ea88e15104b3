//! Source operands of an instruction: what is read, and how.
//!
//! Facts: hardware/valhall-isa.md sections 2 and 7.3.

use core::fmt;

use crate::constants::Constant;
use crate::register::Reg;
use crate::select::Select;
use crate::special::Special;

/// A 32-bit word of the uniforms, 0 to 255; a 64-bit slot is an even word and the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uniform(pub u8);

impl Uniform {
    /// The page of the fast-access unit that holds it.
    pub const fn page(self) -> u8 {
        self.0 / 64
    }
}

/// One 32-bit word of a special value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// Bits 0 to 31; where 64 bits are read, all of it.
    W0 = 0,
    /// Bits 32 to 63.
    W1 = 1,
}

/// What a source reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A register; a 64-bit source reads it and the next.
    Register {
        /// The register.
        reg: Reg,
        /// True if nothing reads its value afterwards.
        last_use: bool,
    },
    /// A uniform word; a 64-bit source reads its slot.
    Uniform(Uniform),
    /// An entry of the constant table; zero-extended to 64 bits.
    Constant(Constant),
    /// A word of a special value.
    Special {
        /// The value.
        special: Special,
        /// The word.
        word: Half,
    },
}

impl Operand {
    /// The page that it needs in bits 57..58; `None` for registers and constants.
    pub fn page(self) -> Option<u8> {
        match self {
            Self::Register { .. } | Self::Constant(_) => None,
            Self::Uniform(uniform) => Some(uniform.page()),
            Self::Special { special, .. } => Some(special.row().page),
        }
    }

    /// The source byte; the page is apart.
    pub fn byte(self) -> u8 {
        match self {
            Self::Register { reg, last_use } => reg.index() | (u8::from(last_use) << 6),
            Self::Uniform(uniform) => 0x80 | (uniform.0 & 63),
            Self::Constant(constant) => 0xC0 | constant.index(),
            Self::Special { special, word } => 0xE0 | (special.row().index << 1) | word as u8,
        }
    }

    /// True if it reads the fast-access unit: a uniform, a special value or a constant.
    pub const fn is_fau(self) -> bool {
        !matches!(self, Self::Register { .. })
    }
}

impl fmt::Display for Operand {
    /// As in text, but for constants: what they hold depends on the generation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Register { reg, last_use } => {
                write!(f, "{}{reg}", if last_use { "^" } else { "" })
            }
            Self::Uniform(uniform) => write!(f, "u{}", uniform.0),
            Self::Constant(constant) => write!(f, "constant {}", constant.index()),
            Self::Special { special, word } => write!(f, "{}.w{}", special.row().name, word as u8),
        }
    }
}

impl From<Reg> for Operand {
    fn from(reg: Reg) -> Self {
        Self::Register {
            reg,
            last_use: false,
        }
    }
}

impl From<Uniform> for Operand {
    fn from(uniform: Uniform) -> Self {
        Self::Uniform(uniform)
    }
}

impl From<Constant> for Operand {
    fn from(constant: Constant) -> Self {
        Self::Constant(constant)
    }
}

/// A source: an operand, and what is done to it. Selection first, then abs, then neg; `not` inverts all bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Src {
    /// What is read.
    pub operand: Operand,
    /// Which lanes of it.
    pub select: Select,
    /// Its absolute value.
    pub abs: bool,
    /// Its negative.
    pub neg: bool,
    /// Its complement.
    pub not: bool,
}

impl Src {
    /// The operand as it is.
    pub const fn new(operand: Operand) -> Self {
        Self {
            operand,
            select: Select::Identity,
            abs: false,
            neg: false,
            not: false,
        }
    }

    /// A register.
    pub const fn reg(reg: Reg) -> Self {
        Self::new(Operand::Register {
            reg,
            last_use: false,
        })
    }

    /// A register whose value is dead afterwards.
    pub const fn last(reg: Reg) -> Self {
        Self::new(Operand::Register {
            reg,
            last_use: true,
        })
    }

    /// A uniform word, 0 to 255.
    pub const fn uniform(word: u8) -> Self {
        Self::new(Operand::Uniform(Uniform(word)))
    }

    /// An entry of the constant table.
    pub const fn constant(constant: Constant) -> Self {
        Self::new(Operand::Constant(constant))
    }

    /// The constant 0.
    pub const ZERO: Self = Self::constant(Constant::ZERO);

    /// A word of a special value; `Half::W0` for all 64 bits.
    pub const fn special(special: Special, word: Half) -> Self {
        Self::new(Operand::Special { special, word })
    }

    /// The same with a selection.
    pub const fn select(self, select: Select) -> Self {
        Self { select, ..self }
    }

    /// The negative of the same.
    pub const fn neg(self) -> Self {
        Self {
            neg: !self.neg,
            ..self
        }
    }

    /// The absolute value of the same.
    pub const fn abs(self) -> Self {
        Self {
            abs: true,
            neg: false,
            ..self
        }
    }

    /// The complement of the same.
    pub const fn not(self) -> Self {
        Self {
            not: !self.not,
            ..self
        }
    }

    /// The register that it reads, if any; a 64-bit source reads the next one too.
    pub const fn register(self) -> Option<Reg> {
        match self.operand {
            Operand::Register { reg, .. } => Some(reg),
            _ => None,
        }
    }
}

impl<T: Into<Operand>> From<T> for Src {
    fn from(operand: T) -> Self {
        Self::new(operand.into())
    }
}
