//! What makes an instruction legal: what text can say at all, and what the hardware of a generation takes of it.
//!
//! Encoding and decoding apply the same functions. Facts: hardware/valhall-isa.md sections 2, 2.3, 3 and 4;
//! data/isa-arm-tables.json.

use crate::arch::Arch;
use crate::constants::Constant;
use crate::error::Rule;
use crate::field::{Field, ImmId};
use crate::instr::Instr;
use crate::op::Op;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{Access, DestKind, Kind, Natural, Row, Source, Staging};
use crate::select::Select;
use crate::source::{Half, Operand, Src};
use crate::values::{AtomicOp, Flag};

/// An instruction other than a message may name this many different uniforms, special values and constants.
const WORDS_MAX: usize = 2;

/// Checks what all sources together may read, and gives the page for bits 57..58.
///
/// Messages read any uniforms and special values of one page. Other instructions read two different words, up to v13 of
/// one 64-bit slot, and one special value.
pub(crate) fn fau_page(row: &Row, sources: &[Option<Src>], arch: Arch) -> Result<u8, Rule> {
    let op = row.op;
    let limited = !row.kind.is_message();
    let mut page = None;
    let (mut words, mut count) = ([0; WORDS_MAX], 0);
    let (mut slot, mut special) = (None, None);
    for source in sources.iter().flatten() {
        let operand = source.operand;
        let free = operand == Operand::Constant(Constant::ZERO) && arch >= Arch::V12;
        if !operand.is_fau() || free {
            continue;
        }
        let byte = operand.byte();
        if limited && !words[..count].contains(&byte) {
            if count == WORDS_MAX {
                return Err(Rule::TooManyConstants { op });
            }
            words[count] = byte;
            count += 1;
        }
        let Some(needed) = operand.page() else {
            continue;
        };
        match page {
            Some(first) if first != needed => {
                return Err(Rule::TwoPages {
                    op,
                    first,
                    second: needed,
                });
            }
            _ => page = Some(needed),
        }
        let here = byte >> 1;
        let another = |seen: Option<u8>| limited && seen.is_some_and(|seen| seen != here);
        if another(slot) && arch < Arch::V14 {
            return Err(Rule::TooManySlots { op });
        }
        slot = Some(here);
        if matches!(operand, Operand::Special { .. }) {
            if another(special) {
                return Err(Rule::TooManySlots { op });
            }
            special = Some(here);
        }
    }
    Ok(page.unwrap_or(0))
}

/// Checks what Mesa 24.1 lets a message read: two different uniforms, special values and constants. The hardware takes more, but
/// code that keeps to this is right everywhere (section 2.3).
pub(crate) fn message_limits(row: &Row, sources: &[Option<Src>]) -> Result<(), Rule> {
    if !row.kind.is_message() {
        return Ok(());
    }
    let operands = sources.iter().flatten().map(|source| source.operand);
    let (mut words, mut count) = ([0; WORDS_MAX], 0);
    for byte in operands
        .filter(|operand| operand.is_fau())
        .map(Operand::byte)
    {
        if words[..count].contains(&byte) {
            continue;
        }
        if count == WORDS_MAX {
            return Err(Rule::TooManyConstants { op: row.op });
        }
        words[count] = byte;
        count += 1;
    }
    Ok(())
}

/// Checks that a 64-bit source starts at an even register or word, unless it selects no more than a word of it.
pub(crate) fn source(op: Op, index: usize, spec: &Source, source: &Src) -> Result<(), Rule> {
    let narrowed = !matches!(source.select, Select::Identity | Select::W1);
    if spec.size < 64 || narrowed {
        return Ok(());
    }
    even(op, index, source)
}

fn even(op: Op, index: usize, source: &Src) -> Result<(), Rule> {
    let even = match source.operand {
        Operand::Register { reg, .. } => reg.is_even(),
        Operand::Uniform(uniform) => uniform.0 & 1 == 0,
        Operand::Special { word, .. } => word == Half::W0,
        Operand::Constant(_) => true,
    };
    if even {
        Ok(())
    } else {
        Err(Rule::OddSource {
            op,
            source_index: index as u8,
        })
    }
}

/// Checks register and mask of a destination, as far as text can say it.
pub(crate) fn dest(row: &Row, dest: Dest, arch: Arch) -> Result<(), Rule> {
    let op = row.op;
    let legal = match row.dest {
        DestKind::Pair => {
            if !dest.reg.is_even() {
                return Err(Rule::OddDestination { op });
            }
            dest.mask == Mask::Full
        }
        DestKind::Narrowing => true,
        DestKind::Replicating => dest.mask != Mask::Both || arch >= Arch::V11,
        DestKind::Word | DestKind::Whole | DestKind::WholeSinceV11 => dest.mask != Mask::Both,
        DestKind::None => false,
    };
    if legal {
        Ok(())
    } else {
        Err(Rule::DestinationMask {
            op,
            mask: dest.mask as u8,
        })
    }
}

/// The bits of a count, or the rule that the range breaks.
pub(crate) fn staging_count(op: Op, spec: &Staging, range: RegRange) -> Result<u64, Rule> {
    let (first, count) = (range.first(), range.count());
    let wrong = Rule::RangeCount {
        op,
        first: first.index(),
        count,
    };
    if count > 1 && !first.is_even() {
        return Err(Rule::OddRange {
            op,
            first: first.index(),
            count,
        });
    }
    let encoded = match count {
        8 if spec.zero_is_eight => 0,
        0 if spec.zero_is_eight => return Err(wrong),
        _ => count.checked_sub(spec.bias).ok_or(wrong)?,
    };
    if encoded >> spec.count_width != 0 {
        Err(wrong)
    } else {
        Ok(u64::from(encoded))
    }
}

/// The range that a first register and an encoded count mean.
pub(crate) fn staging_range(
    op: Op,
    spec: &Staging,
    first: Reg,
    encoded: u8,
) -> Result<RegRange, Rule> {
    let count = if encoded == 0 && spec.zero_is_eight {
        8
    } else {
        encoded + spec.bias
    };
    let range = RegRange::new(first, count).ok_or(Rule::RangeCount {
        op,
        first: first.index(),
        count,
    })?;
    staging_count(op, spec, range)?;
    Ok(range)
}

/// Checks that an atomic's offset is a multiple of its access size.
pub(crate) fn offset(row: &Row, fields: u64) -> Result<(), Rule> {
    if row.kind != Kind::Atomic {
        return Ok(());
    }
    let size = row.ty.bits() / 8;
    let offset = row
        .immediate(ImmId::Offset)
        .map_or(0, |immediate| immediate.extract(fields));
    if offset % i64::from(size) == 0 {
        Ok(())
    } else {
        Err(Rule::Misaligned {
            op: row.op,
            offset: offset as u8,
            size,
        })
    }
}

/// Checks that text can say what the modifiers hold.
pub(crate) fn fields(row: &Row, fields: u64, arch: Arch) -> Result<(), Rule> {
    for field in row.fields {
        let value = field.extract(fields);
        if !field.says(value) {
            return Err(field_value(row, field, value, arch));
        }
    }
    Ok(())
}

fn field_value(row: &Row, field: &Field, value: u8, arch: Arch) -> Rule {
    Rule::FieldValue {
        op: row.op,
        field: field.name,
        value,
        arch,
    }
}

/// Checks that the generation has the instruction.
pub(crate) fn exists(row: &Row, arch: Arch) -> Result<(), Rule> {
    if row.archs.contains(arch) {
        Ok(())
    } else {
        Err(Rule::NoSuchInstruction {
            op: row.op,
            arch,
            has: row.archs,
        })
    }
}

impl Instr {
    /// Checks that hardware of `arch` takes the instruction. Text can say more: see [`Self::decode_text`].
    ///
    /// # Errors
    /// The first rule that it breaks.
    pub fn check(&self, arch: Arch) -> Result<(), Rule> {
        let (row, op) = (self.row(), self.op);
        exists(row, arch)?;
        if row.text_only {
            return Err(Rule::NoHardware { op });
        }
        for field in row.fields {
            let value = field.extract(self.fields);
            if !field.allows(value, arch) {
                return Err(field_value(row, field, value, arch));
            }
        }
        for immediate in row.immediates {
            let value = immediate.extract(self.fields);
            if !immediate.allows(value, arch) {
                let name = immediate.id.name();
                return Err(Rule::ImmediateValue {
                    op,
                    name,
                    value,
                    arch,
                });
            }
        }
        if let Some(dest) = self.dest {
            whole_if_needed(row, dest, arch)?;
        }
        for access in [Access::Read, Access::Write] {
            if let (Some(spec), Some(range)) = (row.staging(access), self.staging(access))
                && !self.takes(spec, range)
            {
                return Err(Rule::RangeCount {
                    op,
                    first: range.first().index(),
                    count: range.count(),
                });
            }
        }
        for (index, (spec, source)) in row.sources.iter().zip(self.sources()).enumerate() {
            takes_source(row, index, spec, source, arch)?;
        }
        self.check_compare()
    }

    /// True if hardware takes a range of so many registers.
    pub(crate) fn takes(&self, spec: &Staging, range: RegRange) -> bool {
        let count = range.count();
        // An exchange that compares reads two values; nothing else reads twice.
        let doubled = spec.natural == Natural::AtomicOperand && spec.control == Some(3);
        if !doubled {
            return count > 15 || spec.legal & (1 << count) != 0;
        }
        let once = self.row().ty.bits() / 32;
        if self.flag(Flag::Compare) {
            count == 2 * once
        } else {
            (1..=once).contains(&count)
        }
    }

    /// Only an exchange compares.
    fn check_compare(&self) -> Result<(), Rule> {
        match self.atomic_op() {
            Some(operation) if self.flag(Flag::Compare) && operation != AtomicOp::Axchg => {
                Err(Rule::CompareWithoutExchange { op: self.op })
            }
            _ => Ok(()),
        }
    }
}

/// Checks that a destination is whole where the hardware writes no halves.
pub(crate) fn whole_if_needed(row: &Row, dest: Dest, arch: Arch) -> Result<(), Rule> {
    let whole = match row.dest {
        DestKind::Whole => true,
        DestKind::WholeSinceV11 => arch >= Arch::V11,
        _ => false,
    };
    if whole && dest.mask != Mask::Full {
        return Err(Rule::DestinationMask {
            op: row.op,
            mask: dest.mask as u8,
        });
    }
    Ok(())
}

/// Checks that the hardware takes a source that text can say.
pub(crate) fn takes_source(
    row: &Row,
    index: usize,
    spec: &Source,
    source: &Src,
    arch: Arch,
) -> Result<(), Rule> {
    let op = row.op;
    let source_index = index as u8;
    if row.registers_only && source.operand.is_fau() {
        return Err(Rule::RegistersOnly { op, source_index });
    }
    if spec.even {
        even(op, index, source)?;
    }
    let Some(select) = spec.select else {
        return Ok(());
    };
    match select.table.by_select(source.select) {
        Some(selected) if !select.legal.allows(selected.value, arch) => Err(Rule::SelectValue {
            op,
            source_index,
            value: selected.value,
        }),
        _ => Ok(()),
    }
}
