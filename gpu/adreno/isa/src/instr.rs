//! An instruction as a value: what the compiler builds, the assembler reads and the interpreter executes.
//!
//! Guarantees: what decoding gave is legal for its generation and encodes to the word it came from.
//! Facts: hardware/ir3-isa.md sections 1 to 7 and 12.

use core::fmt;

use crate::error::EncodeError;
use crate::field::{Field, FieldSpec, Form, Kind};
use crate::generation::Gen;
use crate::layout::Layout;
use crate::op::Op;
use crate::row::Row;
use crate::values::{AliasKind, Cond, DescMode, IndexMode, Round};

/// An instruction with its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instr {
    pub(crate) op: Op,
    pub(crate) word: u64,
}

impl Instr {
    /// Which instruction it is.
    pub const fn op(&self) -> Op {
        self.op
    }

    /// Its row of the table.
    pub const fn row(&self) -> &'static Row {
        self.op.row()
    }

    /// Its category, 0 to 7.
    pub const fn category(&self) -> u8 {
        self.row().category()
    }

    pub(crate) const fn layout(&self) -> &'static Layout {
        self.row().layout
    }

    /// Its word, which is the same in all generations that have the instruction.
    ///
    /// # Errors
    /// [`EncodeError::NoSuchInstruction`] if `generation` lacks it.
    pub fn encode(&self, generation: Gen) -> Result<u64, EncodeError> {
        let row = self.row();
        if !row.gens.contains(generation) {
            return Err(EncodeError::NoSuchInstruction {
                op: self.op,
                generation,
                has: row.gens,
            });
        }
        Ok(self.word)
    }

    /// Bits that mean nothing or should be 0, and are not. An assembler writes none.
    pub fn stray_bits(&self) -> u64 {
        let layout = self.layout();
        let mut none = layout.ignored | layout.zero;
        if !self.row().is_indirect(self.word) {
            let indirect: u64 = layout.indirect.iter().map(FieldSpec::mask).sum();
            let usual = layout.fields.iter().map(FieldSpec::mask);
            none |= indirect & !usual.sum::<u64>();
        }
        for spec in layout.fields {
            let bits = spec.extract(self.word);
            none |= match spec.kind {
                // The high bit of the form of a constant.
                Kind::Operand(Form::AluSrc16(_)) if bits & 0x1800 == 0x1000 => spec.place(0x2000),
                Kind::Operand(Form::AliasSrc) => match self.alias_kind() {
                    AliasKind::Gpr => spec.place(0xFFFF_FF00),
                    AliasKind::Const => spec.place(0xFFFF_F800),
                    AliasKind::Imm => 0,
                },
                _ => 0,
            };
        }
        self.word & none
    }

    pub(crate) fn spec(&self, field: Field) -> Option<&'static FieldSpec> {
        self.row().field(field, self.word)
    }

    /// The bits of a field; `None` if the instruction lacks it.
    pub fn bits(&self, field: Field) -> Option<u32> {
        Some(self.spec(field)?.extract(self.word))
    }

    /// True if the instruction has the flag and it is set.
    pub fn flag(&self, field: Field) -> bool {
        self.bits(field).is_some_and(|bits| bits != 0)
    }

    /// A number, from a field or as text derives it: branch target, size, offset, cluster size, dimensions. `None` if the
    /// instruction lacks it.
    pub fn number(&self, field: Field) -> Option<i64> {
        if let Some(spec) = self.spec(field) {
            return Some(spec.read(self.word));
        }
        let bits = |field| self.bits(field).map(i64::from);
        match field {
            Field::Nop => Some(bits(Field::Src1R)? | bits(Field::Src2R)? << 1),
            Field::ClusterSize => Some(2 << bits(Field::W)?),
            Field::W => Some((bits(Field::Repeat)? + 1) * 32),
            Field::D => Some(bits(Field::DMinusOne)? + 1),
            Field::TypeSize => Some(bits(Field::TypeSizeMinusOne)? + 1),
            Field::LoadSize => Some(bits(Field::LoadSizeMinusOne)? + 1),
            Field::Src2ByteShift | Field::DstByteShift => Some(bits(Field::Src2AddDwordShift)? + 2),
            Field::Off => {
                let high = self.spec(Field::OffHi)?.read(self.word);
                Some(high << 8 | bits(Field::OffLo)?)
            }
            Field::Dst => Some(bits(Field::DstHi)? << 8 | bits(Field::DstLo)?),
            Field::Base => Some(bits(Field::BaseHi)? << 1 | bits(Field::Base)?),
            _ => None,
        }
    }

    /// How many times more it runs, 0 to 5.
    pub fn repeat(&self) -> u8 {
        self.bits(Field::Repeat).unwrap_or(0) as u8
    }

    /// True if idle slots follow it: then the bits of (r) count them.
    pub(crate) fn is_idle(&self) -> bool {
        self.has_idle() && self.repeat() == 0 && self.number(Field::Nop).unwrap_or(0) != 0
    }

    /// True if its row can have idle slots behind it.
    pub(crate) fn has_idle(&self) -> bool {
        use crate::layout::When;
        let mut variants = self.layout().variants.iter();
        variants.any(|variant| matches!(variant.when, When::Idle | When::NotIdle))
    }

    /// How many idle slots follow it, 0 to 3.
    pub fn nop(&self) -> u8 {
        if self.is_idle() {
            self.number(Field::Nop).unwrap_or(0) as u8
        } else {
            0
        }
    }

    /// What is compared.
    pub fn cond(&self) -> Option<Cond> {
        Cond::from_bits(self.bits(Field::Cond)?)
    }

    /// How a conversion rounds.
    pub fn round(&self) -> Option<Round> {
        Round::from_bits(self.bits(Field::Round)?)
    }

    /// Where the index of a resource is.
    pub fn index_mode(&self) -> Option<IndexMode> {
        IndexMode::from_bits(self.bits(Field::Mode)?)
    }

    /// Where an indirect texture descriptor is; `None` for plain slots.
    pub fn desc_mode(&self) -> Option<DescMode> {
        DescMode::from_bits(self.bits(Field::DescMode)?)
    }

    /// The branch target in instructions, relative to the branch.
    pub fn target(&self) -> Option<i32> {
        if !self.layout().text.contains("{IMMED}") {
            return None;
        }
        self.number(Field::Immed).map(|target| target as i32)
    }
}

impl fmt::Debug for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Instr({} {:#018x})", self.op, self.word)
    }
}
