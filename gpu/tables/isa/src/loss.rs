//! What a dialect does not say: words whose text reads back as another word, or not at all.
//!
//! Guarantees: every other legal word reads back from its text as itself; a property test holds both directions.
//! Facts: hardware/valhall-isa.md sections 2.1, 3, 7.5 and 19.

use crate::arch::Arch;
use crate::constants::Constant;
use crate::field::{Field, Place, Words};
use crate::instr::Instr;
use crate::register::Mask;
use crate::source::Operand;
use crate::special::Special;
use crate::syntax::Syntax;
use crate::values::Flag;

/// A part of an instruction that its text does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Loss {
    /// Both dialects write a destination of both halves as one of the high half.
    #[error("the destination is both halves, written as h1")]
    BothHalves,
    /// The constant table has 0 twice before v11; the text does not say which.
    #[error("the constant is the second zero of the table")]
    SecondZero,
    /// Both dialects write two flags of VAR_TEX_GRADIENT with one word; alone it means the other.
    #[error("lod_mode stands for the clamp, not for the bias")]
    LodClampAlone,
    /// 26.2 does not know the instruction.
    #[error("the dialect has no name for the instruction")]
    Mnemonic,
    /// 26.2 does not write the modifier.
    #[error("the dialect does not write the modifier {0}")]
    Modifier(&'static str),
    /// 26.2 writes `reserved` for several selections of lanes.
    #[error("the dialect has no word for the lanes of source {0}")]
    Lanes(u8),
    /// 26.2 writes 64-bit uniforms by slot; this source reads one word of it.
    #[error("the dialect does not say which word of the uniform source {0} reads")]
    UniformWord(u8),
    /// 26.2 writes `reserved` for a special value.
    #[error("the dialect has no name for the special value of source {0}")]
    SpecialValue(u8),
}

impl Instr {
    /// The first thing that the text of the instruction does not say, if there is one.
    pub fn loss(&self, arch: Arch, syntax: Syntax) -> Option<Loss> {
        let row = self.row();
        let mesa26 = syntax == Syntax::Mesa26;
        if syntax.mnemonic(row).is_none() {
            return Some(Loss::Mnemonic);
        }
        if self.dest.is_some_and(|dest| dest.mask == Mask::Both) {
            return Some(Loss::BothHalves);
        }
        if row
            .fields
            .iter()
            .any(|field| matches!(field.words, Words::Flag("lod_mode")))
            && self.flag(Flag::LodClampDisable)
            && !self.flag(Flag::LodBiasDisable)
        {
            return Some(Loss::LodClampAlone);
        }
        if mesa26 && let Some(field) = row.fields.iter().find(|field| self.unwritten(field)) {
            return Some(Loss::Modifier(field.name));
        }
        for (index, (spec, source)) in row.sources.iter().zip(self.sources()).enumerate() {
            let index = index as u8;
            match source.operand {
                Operand::Constant(constant)
                    if Constant::find(constant.value(arch), arch) != Some(constant) =>
                {
                    return Some(Loss::SecondZero);
                }
                Operand::Uniform(uniform) if mesa26 && spec.size == 64 && uniform.0 & 1 == 1 => {
                    return Some(Loss::UniformWord(index));
                }
                Operand::Special {
                    special: Special::PrepassState,
                    ..
                } if mesa26 => return Some(Loss::SpecialValue(index)),
                _ => {}
            }
            let selected = spec
                .select
                .and_then(|select| select.table.by_select(source.select));
            if mesa26 && selected.is_some_and(|row| row.mesa26 == "reserved") {
                return Some(Loss::Lanes(index));
            }
        }
        None
    }

    /// True if 26.2 writes nothing for a value that is not what nothing means.
    fn unwritten(&self, field: &Field) -> bool {
        let value = field.extract(self.fields);
        let silent = match field.words {
            Words::Flag(_) => Some(0),
            Words::Enum { default, .. } => default,
        };
        match field.place {
            Place::NotIn26 | Place::FirstSourceIn24(_) => silent != Some(value),
            Place::HeadTwoBitsIn26 => value & !0b11 != 0,
            Place::Head | Place::HeadTwiceIn26 => false,
        }
    }
}
