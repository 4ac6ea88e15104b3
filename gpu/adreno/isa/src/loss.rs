//! What text does not say: words whose text reads back as another word, or not at all.
//!
//! Guarantees: every other word reads back from its text as itself.
//! Facts: hardware/ir3-isa.md section 17; hardware/data/ir3-isa.json, "text".

use crate::codec::Alu;
use crate::field::{Field, FieldSpec, Form, Immediate, Kind};
use crate::generation::Gen;
use crate::half;
use crate::instr::Instr;
use crate::layout::{DestWidth, SourceWidth};
use crate::print::split_descriptor;
use crate::template::{Piece, pieces};
use crate::values::{AliasKind, AliasType, Type, Width};

/// A part of an instruction that its text does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// Bits that mean nothing, or that should be 0.
    #[error("bits {0:#018x} mean nothing")]
    StrayBits(u64),
    /// A field that the text does not mention.
    #[error("the text has no place for {}", .0.name())]
    Field(Field),
    /// A value without a name: text has its number, which reads as something else.
    #[error("{} has a value without a name", .0.name())]
    Reserved(Field),
    /// A value that text spells as another.
    #[error("{} has a value that is spelled as another", .0.name())]
    SameText(Field),
    /// A float immediate that six digits behind the point don't tell.
    #[error("six digits don't tell the float immediate")]
    Float,
    /// Upper bits of an immediate whose type has 16.
    #[error("the immediate has more bits than its type")]
    UpperBits,
    /// No operand says how wide the sources are.
    #[error("no operand says how wide the sources are")]
    SourceWidth,
}

impl Instr {
    /// The first thing that the text of the instruction does not say, if there is one.
    pub fn loss(&self, generation: Gen) -> Option<Loss> {
        let stray = self.stray_bits();
        if stray != 0 {
            return Some(Loss::StrayBits(stray));
        }
        if let Some(field) = self.reserved_value() {
            return Some(Loss::Reserved(field));
        }
        let mut specs = self.row().fields(self.word);
        if let Some(spec) = specs.find(|spec| self.is_spelled_as_another(spec)) {
            return Some(Loss::SameText(spec.field));
        }
        let mut specs = self.row().fields(self.word);
        let unsaid = specs
            .find(|spec| !self.says(spec) && spec.extract(self.word) != self.unsaid_default(spec));
        if let Some(spec) = unsaid {
            return Some(match spec.field {
                Field::Full => Loss::SourceWidth,
                field => Loss::Field(field),
            });
        }
        if self.hides_descriptor(generation) {
            return Some(Loss::Field(Field::Src3));
        }
        self.immediate_loss()
    }

    fn is_spelled_as_another(&self, spec: &FieldSpec) -> bool {
        let Kind::Enum(names) = spec.kind else {
            return false;
        };
        let bits = spec.extract(self.word);
        let mut named = names.iter().filter(|name| name.value == bits);
        named.any(|name| {
            let mut before = names.iter().filter(|other| other.value < bits);
            before.any(|other| other.text == name.text)
        })
    }

    /// The bits of the fields that the text does not say.
    pub(crate) fn unsaid_bits(&self) -> u64 {
        let specs = self.row().fields(self.word);
        specs
            .filter(|spec| !self.says(spec))
            .map(FieldSpec::mask)
            .sum()
    }

    /// True if an immediate descriptor has bits for a sampler or texture that the instruction's text lacks.
    fn hides_descriptor(&self, generation: Gen) -> bool {
        let (Some(mode), Some(bits)) = (self.desc_mode(), self.bits(Field::Src3)) else {
            return false;
        };
        if mode.indirect() {
            return false;
        }
        let shape = self.tex_shape();
        let (sampler, texture) = split_descriptor(mode, generation, bits);
        let hidden =
            |number: Option<u32>, is_written: bool| !is_written && number.unwrap_or(0) != 0;
        hidden(sampler, shape.sampler) || hidden(texture, shape.texture)
    }

    /// What an assembler puts into a field that the text does not say.
    fn unsaid_default(&self, spec: &FieldSpec) -> u32 {
        match spec.field {
            // The width that constants of the table have, or else 32 bits.
            Field::Full if self.layout().tex.is_none() => {
                let floats = self.sources().filter_map(|src| match src.operand {
                    crate::operand::Operand::Float(_, width) => Some(width),
                    _ => None,
                });
                let width = floats.into_iter().next().unwrap_or(Width::Full);
                u32::from(!width.is_half())
            }
            // The type of an instruction whose text has none: f32 or f16, by the destination.
            Field::Type if self.layout().tex.is_some() => {
                u32::from(self.dest_width() == Width::Full)
            }
            _ => spec.extract(self.layout().usual),
        }
    }

    /// True if the text says what the field holds.
    fn says(&self, spec: &FieldSpec) -> bool {
        let text = self.text();
        let mut mentioned = pieces(text).filter_map(|piece| match piece {
            Piece::Field(field) => Some(field),
            Piece::Literal(_) => None,
        });
        let optional_is_absent = match spec.kind {
            Kind::Operand(Form::TexSrc1 | Form::TexSrc2) => self.registers_in(spec.field) == 0,
            Kind::Operand(Form::TexSamp4) => !self.tex_shape().sampler,
            Kind::Operand(Form::TexTex7) => !self.tex_shape().texture,
            Kind::Operand(Form::TexType3) => !self.tex_shape().typed,
            Kind::Operand(Form::TexBase1) => !self.desc_mode().is_some_and(|mode| mode.bindless()),
            Kind::Operand(Form::MemBase3) => !self.flag(Field::Bindless),
            _ => false,
        };
        // A mnemonic of its own says where a move to an address register goes.
        let is_mova = self.type_of(Field::DstType).is_some() && !text.contains("{SRC_TYPE}");
        let by_mnemonic =
            is_mova && matches!(spec.field, Field::Dst | Field::SrcType | Field::DstType);
        by_mnemonic || !optional_is_absent && mentioned.any(|field| self.tells(field, spec))
    }

    /// True if what text writes for `field` tells the bits of `spec`.
    fn tells(&self, field: Field, spec: &FieldSpec) -> bool {
        let layout = self.layout();
        let told = spec.field;
        if told == field {
            return true;
        }
        let by_operand = match self.spec(field).map(|spec| spec.kind) {
            Some(Kind::Operand(form)) => self.operand_tells(field, form, told),
            _ => false,
        };
        by_operand
            || match (field, told) {
                (Field::Nop, Field::Src1R | Field::Src2R)
                | (Field::ClusterSize, Field::W)
                | (Field::W, Field::Repeat)
                | (Field::D, Field::DMinusOne)
                | (Field::TypeSize, Field::TypeSizeMinusOne)
                | (Field::LoadSize, Field::LoadSizeMinusOne)
                | (Field::Src2ByteShift | Field::DstByteShift, Field::Src2AddDwordShift)
                | (Field::Off, Field::OffHi | Field::OffLo)
                | (Field::Dst, Field::DstHi | Field::DstLo)
                | (Field::Uniform, Field::DescMode | Field::S2enBindless) => true,
                (Field::Base, Field::BaseHi) => {
                    self.desc_mode().is_some_and(|mode| mode.bindless())
                }
                (Field::Half, Field::Full) => layout.sources == SourceWidth::ByFull,
                (Field::DstHalf, Field::DstConv) => {
                    layout.dest == DestWidth::ByConv
                        && self.bits(Field::Dst).is_some_and(|number| number <= 247)
                }
                (Field::DstHalf, Field::DstFull) => layout.dest == DestWidth::ByDstFull,
                _ => false,
            }
    }

    fn operand_tells(&self, field: Field, form: Form, told: Field) -> bool {
        let bits = self.bits(field).unwrap_or(0);
        match (form, told) {
            (Form::MovDst8, Field::DstRel)
            | (Form::MovGpr8, Field::Last)
            | (
                Form::MovGpr8 | Form::MovConst11 | Form::MovRelGpr10 | Form::MovRelConst10,
                Field::SrcR,
            )
            | (Form::MemAddr8, Field::Src1Const)
            | (Form::MemBase3, Field::Bindless)
            | (Form::AliasSrc, Field::SrcRegType) => true,
            (Form::MemSrc8(Immediate::By(flag)), told) => flag == told,
            (Form::AluSrc16(_), Field::Full) => {
                // Constants of the table have a width of their own.
                !matches!(Alu::of_bits(bits & 0x3FFF), Some(Alu::Float(..)))
            }
            (Form::AluSrc16(advance), told) => advance == told && !self.is_idle(),
            (Form::MadSrc13 | Form::MadImm13, Field::Full) => {
                self.layout().sources == SourceWidth::ByFull
                    && !(form == Form::MadImm13 && bits & 0x1800 == 0x1000)
            }
            (Form::TexSrc1 | Form::TexSrc2, Field::Full) => self.registers_in(field) != 0,
            // The second source is there or not because of the flag, unless the instruction always has it.
            (Form::TexSrc2, Field::O) => self.tex_shape().sources < 2,
            _ => false,
        }
    }

    fn immediate_loss(&self) -> Option<Loss> {
        let bits = self.bits(Field::Src)?;
        let spec = self.spec(Field::Src)?;
        let (half, float) = match spec.kind {
            Kind::Operand(Form::MovImm32) => {
                let ty = self.type_of(Field::SrcType)?;
                (matches!(ty, Type::F16 | Type::S16), ty.is_float())
            }
            Kind::Operand(Form::AliasSrc) if self.alias_kind() == AliasKind::Imm => {
                let half = self.bits(Field::SrcType) == Some(AliasType::B16.bits());
                (half, true)
            }
            _ => return None,
        };
        if half && bits >> 16 != 0 {
            return Some(Loss::UpperBits);
        }
        let value = if half {
            half::to_f32(bits as u16)
        } else {
            f32::from_bits(bits)
        };
        (float && !is_told(value)).then_some(Loss::Float)
    }
}

/// True if six digits behind the point tell the value: it is a multiple of 2^-6 and small enough to be written whole.
fn is_told(value: f32) -> bool {
    let scaled = value * 64.0;
    let whole = scaled as i64;
    // Zero keeps its sign in text; NaN and infinities do not keep their bits for sure.
    whole as f32 == scaled && value.abs() < 16_777_216.0
}
