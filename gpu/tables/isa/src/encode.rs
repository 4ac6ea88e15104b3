//! From an instruction to its word.
//!
//! Guarantees: the word decodes to the same instruction, or the error says what is wrong with it.
//! Facts: hardware/valhall-isa.md section 1.

use crate::arch::Arch;
use crate::error::{EncodeError, Part, Rule};
use crate::instr::{Instr, MISSING_IMMEDIATES};
use crate::layout;
use crate::register::RegRange;
use crate::row::{Access, DestKind, Row, Source};
use crate::rules;
use crate::select::Select;
use crate::source::Src;

const FLOW: u32 = 59;
const PAGE: u32 = 57;
const DEST: u32 = 40;
const MASK: u32 = 46;

impl Instr {
    /// The 64-bit word of the instruction.
    ///
    /// # Errors
    /// If an operand or required modifier is missing or is one that the instruction lacks, or if a rule of the hardware is broken.
    pub fn encode(&self, arch: Arch) -> Result<u64, EncodeError> {
        let word = self.encode_text(arch)?;
        self.check(arch)?;
        Ok(word)
    }

    /// The same for all that text can say, whether or not the hardware takes it: [`Self::check`] tells.
    ///
    /// # Errors
    /// If an operand or required modifier is missing or is one that the instruction lacks, or if no text says such a thing.
    pub fn encode_text(&self, arch: Arch) -> Result<u64, EncodeError> {
        let row = self.row();
        let op = self.op;
        rules::exists(row, arch)?;
        if self.missing != 0 {
            return Err(EncodeError::Missing {
                op,
                part: self.first_missing(),
            });
        }
        rules::fields(row, self.fields, arch)?;
        rules::offset(row, self.fields)?;
        if !self.flow.archs().contains(arch) {
            return Err(Rule::Flow {
                value: self.flow as u8,
                arch,
            }
            .into());
        }
        let count = self.read.or(self.write).map_or(0, RegRange::count);
        let fields = layout::place(row, self.fields, count, arch)?;
        let mut word = row.matches.value | row.fixed.value | fields | ((self.flow as u64) << FLOW);
        word |= self.dest_bits(row, arch)?;
        word |= self.staging_bits(row, Access::Read)?;
        word |= self.staging_bits(row, Access::Write)?;
        for (index, spec) in row.sources.iter().enumerate() {
            let missing = EncodeError::Missing {
                op,
                part: Part::Source(index as u8),
            };
            word |= self.source_bits(index, spec, &self.sources[index].ok_or(missing)?, arch)?;
        }
        rules::message_limits(row, &self.sources)?;
        Ok(word | (u64::from(rules::fau_page(row, &self.sources, arch)?) << PAGE))
    }

    fn first_missing(&self) -> Part {
        let index = self.missing.trailing_zeros();
        let row = self.row();
        match row.fields.get(index as usize) {
            Some(field) if index < MISSING_IMMEDIATES => Part::Modifier(field.name),
            _ => Part::Immediate(
                row.immediates[(index - MISSING_IMMEDIATES) as usize]
                    .id
                    .name(),
            ),
        }
    }

    fn dest_bits(&self, row: &Row, arch: Arch) -> Result<u64, EncodeError> {
        let (op, part) = (self.op, Part::Destination);
        match (self.dest, row.dest) {
            (None, DestKind::None) => Ok(0),
            (Some(_), DestKind::None) => Err(EncodeError::NoSuch { op, part }),
            (None, _) => Err(EncodeError::Missing { op, part }),
            (Some(dest), _) => {
                rules::dest(row, dest, arch)?;
                Ok((u64::from(dest.reg.index()) << DEST) | ((dest.mask as u64) << MASK))
            }
        }
    }

    fn staging_bits(&self, row: &Row, access: Access) -> Result<u64, EncodeError> {
        let op = self.op;
        let part = match access {
            Access::Read => Part::StagingRead,
            Access::Write => Part::StagingWrite,
        };
        match (self.staging(access), row.staging(access)) {
            (None, None) => Ok(0),
            (Some(_), None) => Err(EncodeError::NoSuch { op, part }),
            (None, Some(_)) => Err(EncodeError::Missing { op, part }),
            (Some(range), Some(spec)) => {
                let mut bits = u64::from(range.first().index()) << spec.pos;
                let count = rules::staging_count(op, spec, range)?;
                if let Some(pos) = spec.count {
                    bits |= count << pos;
                }
                Ok(bits | (u64::from(spec.control.unwrap_or(0)) << MASK))
            }
        }
    }

    fn source_bits(
        &self,
        index: usize,
        spec: &Source,
        source: &Src,
        arch: Arch,
    ) -> Result<u64, EncodeError> {
        let op = self.op;
        let refuse = |modifier| EncodeError::SourceModifier {
            op,
            source_index: index as u8,
            modifier,
        };
        rules::source(op, index, spec, source)?;
        if let crate::source::Operand::Special { special, .. } = source.operand {
            let row = special.row();
            if !row.archs.contains(arch) {
                return Err(Rule::SpecialValue {
                    page: row.page,
                    index: row.index,
                    arch,
                }
                .into());
            }
        }
        let mut bits = u64::from(source.operand.byte()) << spec.pos;
        if source.neg {
            bits |= 1 << spec.neg.ok_or(refuse("neg"))?;
        }
        if source.abs {
            bits |= 1 << spec.abs.ok_or(refuse("abs"))?;
        }
        if source.not {
            bits |= 1 << spec.not.ok_or(refuse("not"))?;
        }
        match spec.select {
            None if source.select == Select::Identity => {}
            None => return Err(refuse("a lane selection")),
            Some(select) => {
                let row = select
                    .table
                    .by_select(source.select)
                    .ok_or(refuse("that lane selection"))?;
                bits |= u64::from(row.value) << select.pos;
            }
        }
        Ok(bits)
    }
}
