//! A row of the instruction table: all that is known of one encoding of one instruction.
//!
//! Facts: hardware/ir3-isa.md section 16; hardware/data/ir3-isa.json.

use core::fmt;

use crate::field::{Field, FieldSpec};
use crate::generation::{Gen, Gens};
use crate::layout::Layout;
use crate::op::Op;

/// How sure the meaning of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Stated by the instruction tables.
    Tables,
    /// Follows from how a working compiler uses it.
    Practice,
    /// Read from its name and neighbours.
    Inferred,
    /// Not known.
    Unknown,
}

impl Certainty {
    /// The word that the facts use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Practice => "practice",
            Self::Inferred => "inferred",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One encoding of one instruction.
#[derive(Debug)]
pub struct Row {
    /// Which instruction.
    pub op: Op,
    /// Its mnemonic.
    pub name: &'static str,
    /// The bits that tell it: those under the layout's mask.
    pub value: u64,
    /// The generations that have this encoding.
    pub gens: Gens,
    /// What it has in common with others.
    pub layout: &'static Layout,
    /// How sure the meaning is.
    pub certainty: Certainty,
    /// What it does; a, b and c are its sources after their modifiers.
    pub meaning: &'static str,
}

impl Row {
    /// The bits that tell this row from others.
    pub const fn mask(&self) -> u64 {
        self.layout.mask()
    }

    /// Its category, 0 to 7.
    pub const fn category(&self) -> u8 {
        (self.value >> 61) as u8
    }

    /// True if `word` is an instruction of this row on `generation`.
    pub const fn matches(&self, word: u64, generation: Gen) -> bool {
        word & self.mask() == self.value && self.gens.contains(generation)
    }

    /// The fields that `word` has.
    pub(crate) fn fields(&self, word: u64) -> impl Iterator<Item = &'static FieldSpec> + use<> {
        let layout = self.layout;
        let indirect: &'static [FieldSpec] = if self.is_indirect(word) {
            layout.indirect
        } else {
            &[]
        };
        let covered: u64 = indirect.iter().map(FieldSpec::mask).sum();
        let usual = layout.fields.iter();
        usual
            .filter(move |spec| spec.mask() & covered == 0)
            .chain(indirect)
    }

    /// True if the descriptor of a texture instruction is indirect or bindless.
    pub(crate) fn is_indirect(&self, word: u64) -> bool {
        let flag = self.layout.fields.iter();
        let mut flag = flag.filter(|spec| spec.field == Field::S2enBindless);
        !self.layout.indirect.is_empty() && flag.any(|spec| spec.extract(word) != 0)
    }

    /// The field of `word`, if it has it.
    pub(crate) fn field(&self, field: Field, word: u64) -> Option<&'static FieldSpec> {
        // Most rows have one set of fields. Passes ask for fields of every instruction, many times.
        if self.layout.indirect.is_empty() {
            return self.layout.fields.iter().find(|spec| spec.field == field);
        }
        self.fields(word).find(|spec| spec.field == field)
    }
}
