//! From a word to an instruction.

use crate::codec::{Alu, Mad};
use crate::error::DecodeError;
use crate::field::{Field, FieldSpec, Form, Kind};
use crate::generation::Gen;
use crate::instr::Instr;
use crate::layout::TexShape;
use crate::table::ROWS;
use crate::template::{Piece, pieces};

impl Instr {
    /// The instruction that `word` is. Bits that mean nothing are kept: [`Self::stray_bits`].
    ///
    /// # Errors
    /// [`DecodeError::Unknown`] if no row of the generation matches, [`DecodeError::Reserved`] if an operand has an encoding that
    /// nothing is known of.
    pub fn decode(word: u64, generation: Gen) -> Result<Self, DecodeError> {
        let row = ROWS.iter().find(|row| row.matches(word, generation));
        let row = row.ok_or(DecodeError::Unknown { word, generation })?;
        let instr = Self { op: row.op, word };
        let text = instr.text();
        for spec in row.fields(word) {
            if instr.mentions(text, spec) && instr.is_reserved(spec) {
                return Err(DecodeError::Reserved {
                    op: row.op,
                    field: spec.field,
                    bits: spec.extract(word),
                });
            }
        }
        Ok(instr)
    }

    /// True if the text says what the field holds.
    pub(crate) fn mentions(&self, text: &str, spec: &FieldSpec) -> bool {
        pieces(text).any(|piece| matches!(piece, Piece::Field(field) if field == spec.field))
    }

    /// True if nothing is known of the encoding of an operand.
    fn is_reserved(&self, spec: &FieldSpec) -> bool {
        let bits = spec.extract(self.word);
        match spec.kind {
            Kind::Operand(Form::AluSrc16(_)) => Alu::of_bits(bits & 0x3FFF).is_none(),
            Kind::Operand(Form::MadSrc13 | Form::MadImm13) => Mad::of_bits(bits).is_none(),
            _ => false,
        }
    }

    /// A field whose value has no name in the tables, if there is one: text gives its number.
    pub fn reserved_value(&self) -> Option<Field> {
        let text = self.text();
        let mut fields = self.row().fields(self.word);
        let unnamed = fields.find(|spec| {
            let bits = spec.extract(self.word);
            // The kind of an alias is told by its source.
            (self.mentions(text, spec) || spec.field == Field::SrcRegType)
                && match spec.kind {
                    Kind::Enum(names) => !names.iter().any(|name| name.value == bits),
                    Kind::Operand(Form::AluSrc16(_)) => self.source(spec.field).is_none(),
                    _ => false,
                }
        });
        unnamed.map(|spec| spec.field)
    }

    /// The operands of a texture instruction; none at all for others.
    pub(crate) fn tex_shape(&self) -> TexShape {
        self.layout().tex.unwrap_or(TexShape {
            sources: 0,
            sampler: false,
            texture: false,
            typed: false,
        })
    }
}
