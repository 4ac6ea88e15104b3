//! Registers and classes of values.
//!
//! Units are half registers: full register n consists of units 2n and 2n + 1. Shared registers and predicates alias
//! nothing, so their units follow.  Facts: hardware/ir3-isa.md 2.

use std::fmt;
use std::ops::Range;

use crate::machine;

/// Kinds of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Class {
    /// 32 bits of each lane.
    #[default]
    Full,
    /// 16 bits of each lane.
    Half,
    /// 32 bits that a wave has in common.
    Shared,
    /// One bit of each lane, for a branch.
    Predicate,
}

/// Full registers, and half registers, whose numbers are those of the lower half of the file.
const REGISTERS: usize = 192;
/// Shared registers, r48.x to r55.w.
const SHARED: usize = 32;
/// p0.x to p0.w.
const PREDICATES: usize = 4;

impl Class {
    /// Units of each register.
    fn width(self) -> usize {
        match self {
            Class::Full => 2,
            Class::Half | Class::Shared | Class::Predicate => 1,
        }
    }
}

impl machine::Class for Class {
    fn units(self) -> usize {
        self.width()
    }

    fn span(self) -> Range<usize> {
        const SHARED_START: usize = 2 * REGISTERS;
        const PREDICATE_START: usize = SHARED_START + SHARED;
        match self {
            Class::Full => 0..SHARED_START,
            Class::Half => 0..REGISTERS,
            Class::Shared => SHARED_START..PREDICATE_START,
            Class::Predicate => PREDICATE_START..PREDICATE_START + PREDICATES,
        }
    }

    fn may_spill(self) -> bool {
        match self {
            Class::Full | Class::Half => true,
            // Memory is each lane's own, and predicates stay in the block that asks them.
            Class::Shared | Class::Predicate => false,
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Class::Full => None,
            Class::Half => Some("half"),
            Class::Shared => Some("shared"),
            Class::Predicate => Some("predicate"),
        }
    }
}

/// A register: a class and a number in it, four times the vector's plus the component's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Register {
    class: Class,
    number: u8,
}

impl Register {
    /// The register that has this number among those of its class.
    pub(crate) const fn new(class: Class, number: u8) -> Register {
        Register { class, number }
    }

    /// Its number among those of its class: r48.x is the first shared one.
    pub(crate) fn number(self) -> u8 {
        self.number
    }

    pub(crate) fn class(self) -> Class {
        self.class
    }

    /// The units that it consists of.
    pub(crate) fn units(self) -> Range<usize> {
        let start = machine::Register::unit(self);
        start..start + self.class.width()
    }
}

impl machine::Register for Register {
    type Class = Class;

    fn class(self) -> Class {
        self.class
    }

    fn unit(self) -> usize {
        let start = machine::Class::span(self.class).start;
        start + usize::from(self.number) * self.class.width()
    }

    fn at(class: Class, unit: usize) -> Option<Register> {
        let span = machine::Class::span(class);
        let inside = span.contains(&unit) && (unit - span.start).is_multiple_of(class.width());
        let number = (unit.checked_sub(span.start)?) / class.width();
        let number = u8::try_from(number).ok().filter(|_| inside)?;
        Some(Register { class, number })
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let component = ["x", "y", "z", "w"][usize::from(self.number % 4)];
        let vector = self.number / 4;
        match self.class {
            Class::Full => write!(f, "r{vector}.{component}"),
            Class::Half => write!(f, "hr{vector}.{component}"),
            Class::Shared => write!(f, "r{}.{component}", vector + 48),
            Class::Predicate => write!(f, "p0.{component}"),
        }
    }
}
