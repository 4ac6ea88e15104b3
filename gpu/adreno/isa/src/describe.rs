//! What every bit of an instruction's word is: for documentation and bit diagrams.
//!
//! Guarantees: the parts of a row cover all 64 bits; only the fields of indirect descriptors lie over others.

use crate::field::{FieldSpec, Form, Immediate, Kind};
use crate::row::Row;

/// Bits of a word that belong together.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// The lowest.
    pub low: u8,
    /// How many.
    pub width: u8,
    /// What they are.
    pub what: What,
}

/// What bits of a word are.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A part of the opcode, with its value.
    Opcode(u64),
    /// They mean nothing; written as 0.
    Ignored,
    /// Must be 0.
    Zero,
    /// A field.
    Field(&'static FieldSpec),
    /// A field that is there instead of others if the descriptor is indirect or bindless.
    Indirect(&'static FieldSpec),
}

impl Row {
    /// The parts of the word, from bit 0 up; then those of indirect descriptors.
    pub fn parts(&'static self) -> impl Iterator<Item = Bits> {
        let layout = self.layout;
        let mut low = 0u8;
        let usual = core::iter::from_fn(move || {
            if low >= 64 {
                return None;
            }
            let bits = self.part_at(low);
            low += bits.width;
            Some(bits)
        });
        let indirect = layout.indirect.iter().map(|spec| Bits {
            low: spec.low,
            width: spec.width() as u8,
            what: What::Indirect(spec),
        });
        usual.chain(indirect)
    }

    fn part_at(&'static self, low: u8) -> Bits {
        let layout = self.layout;
        let mut fields = layout.fields.iter();
        if let Some(spec) = fields.find(|spec| spec.low == low) {
            return Bits {
                low,
                width: spec.width() as u8,
                what: What::Field(spec),
            };
        }
        // As far as bits of the same kind go.
        let fields: u64 = layout.fields.iter().map(FieldSpec::mask).sum();
        let kinds = [self.mask(), layout.ignored, !0];
        let mask = |bit: u8| {
            let kind = kinds.iter().position(|mask| mask >> bit & 1 != 0);
            (fields >> bit & 1 == 0).then_some(kind.unwrap_or(2))
        };
        let own = mask(low);
        let width = (low..64).take_while(|bit| mask(*bit) == own).count().max(1) as u8;
        let value = self.value >> low & (u64::MAX >> (64 - width));
        let what = match own {
            Some(0) => What::Opcode(value),
            Some(1) => What::Ignored,
            _ => What::Zero,
        };
        Bits { low, width, what }
    }
}

impl FieldSpec {
    /// What the field holds, in words.
    pub fn about(&self) -> &'static str {
        match self.kind {
            Kind::Flag(_) => "flag",
            Kind::Bit => "one bit",
            Kind::Enum(_) => "one of the named values",
            Kind::Uint => "unsigned number",
            Kind::Int => "signed number",
            Kind::Offset => "signed offset",
            Kind::UOffset => "unsigned offset",
            Kind::Branch => "branch target in instructions, relative to this one",
            Kind::Operand(form) => match form {
                Form::Gpr8 | Form::MovGpr8 | Form::MultiSrc8 | Form::MultiDst8 => {
                    "register: four times its index, plus the component"
                }
                Form::MovDst8 => "register, or an offset to a0.x",
                Form::MovConst11 => "constant: four times its index, plus the component",
                Form::MovRelGpr10 => "register at a0.x and this signed offset",
                Form::MovRelConst10 => "constant at a0.x and this signed offset",
                Form::MovImm32 => "immediate, read by the type of the source",
                Form::AluSrc16(_) => {
                    "register, constant, relative, small integer or constant of the table of floats, with sign modifiers"
                }
                Form::MadSrc13 => "register, constant or relative",
                Form::MadImm13 => "register, immediate or relative",
                Form::TexSrc1 | Form::TexSrc2 => "first of consecutive registers",
                Form::TexSrc3 => {
                    "registers of the descriptor, or immediates for sampler and texture"
                }
                Form::TexSamp4 => "sampler",
                Form::TexTex7 => "texture",
                Form::TexType3 => "type of the result",
                Form::TexBase1 | Form::MemBase3 => "set of bindless descriptors",
                Form::MemSrc8(Immediate::Always) => "immediate",
                Form::MemSrc8(_) => "register or immediate",
                Form::MemAddr8 => "pair of registers with an address",
                Form::MemTyped1 => "typed access to an image",
                Form::ConstDst9 => "place in the const file, or an offset to a1.x",
                Form::AliasSrc => "register, constant or immediate that the alias stands for",
            },
        }
    }
}
