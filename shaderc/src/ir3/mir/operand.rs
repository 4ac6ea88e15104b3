//! Operands: what an instruction reads.
//!
//! Facts: hardware/ir3-isa.md 3, 5.

use super::{Ir3, Word};
use crate::machine::{self, Machine};

/// What a source reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Operand {
    Word(Word),
    /// An address of 64 bits: low word, high word.
    Pair(Word, Word),
    /// A constant that `legalise` has still to place.
    Constant(u32),
    /// A word of the const file.
    Const(u16),
    /// A part of the instruction: an integer, or the bits of a float that its table has.
    Immediate(u32),
}

impl Operand {
    /// The words of the program that it reads: none, one or two.
    pub(crate) fn read_words(self) -> impl Iterator<Item = Word> {
        let (first, second) = match self {
            Operand::Word(word) => (Some(word), None),
            Operand::Pair(low, high) => (Some(low), Some(high)),
            Operand::Constant(_) | Operand::Const(_) | Operand::Immediate(_) => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The same with other words.
    pub(crate) fn with_words(self, mut change: impl FnMut(Word) -> Word) -> Operand {
        match self {
            Operand::Word(word) => Operand::Word(change(word)),
            Operand::Pair(low, high) => Operand::Pair(change(low), change(high)),
            other => other,
        }
    }
}

impl machine::Reads<<Ir3 as Machine>::Register> for Operand {
    fn words(&self) -> impl Iterator<Item = Word> {
        self.read_words()
    }

    fn map_words(&mut self, change: impl FnMut(Word) -> Word) {
        *self = self.with_words(change);
    }
}

/// A source: an operand, and what is done to it on the way in (absolute value, then negation; or complement).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Source {
    pub(crate) operand: Operand,
    pub(crate) abs: bool,
    pub(crate) neg: bool,
    /// Complement of all bits: of bitwise operations.
    pub(crate) not: bool,
    /// Each step of a repeated instruction reads the next register.
    pub(crate) steps: bool,
}

impl Source {
    /// `operand` as it is.
    pub(crate) fn plain(operand: Operand) -> Source {
        Source {
            operand,
            abs: false,
            neg: false,
            not: false,
            steps: false,
        }
    }

    /// A word as it is.
    pub(crate) fn word(word: Word) -> Source {
        Source::plain(Operand::Word(word))
    }

    /// A constant, to be placed later.
    pub(crate) fn constant(bits: u32) -> Source {
        Source::plain(Operand::Constant(bits))
    }

    /// The negated source.
    pub(crate) fn negated(self) -> Source {
        Source {
            neg: !self.neg,
            ..self
        }
    }

    /// The absolute value of the source.
    pub(crate) fn absolute(self) -> Source {
        Source {
            abs: true,
            neg: false,
            ..self
        }
    }

    /// The complement of the source.
    pub(crate) fn inverted(self) -> Source {
        Source {
            not: !self.not,
            ..self
        }
    }

    /// True when nothing is done to the operand.
    pub(crate) fn is_plain(&self) -> bool {
        !self.abs && !self.neg && !self.not
    }
}

/// What a branch asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// Each lane a predicate of its own, or its opposite.
    Each { predicate: Word, not: bool },
    /// The same, but all lanes go the same way: it holds if it holds for all of them.
    All { predicate: Word, not: bool },
    /// Whether it is another than the lowest lane that is here.
    Others,
}

impl machine::Reads<<Ir3 as Machine>::Register> for Asked {
    fn words(&self) -> impl Iterator<Item = Word> {
        let predicate = match self {
            Asked::Each { predicate, .. } | Asked::All { predicate, .. } => Some(*predicate),
            Asked::Others => None,
        };
        predicate.into_iter()
    }

    fn map_words(&mut self, mut change: impl FnMut(Word) -> Word) {
        match self {
            Asked::Each { predicate, .. } | Asked::All { predicate, .. } => {
                *predicate = change(*predicate);
            }
            Asked::Others => {}
        }
    }
}
