//! What makes operands legal: alignment, ranges, and how much an instruction may read besides registers.
//!
//! Encoding and decoding apply the same functions. Facts: hardware/valhall-isa.md sections 2, 2.3, 3 and 4.

use crate::arch::Arch;
use crate::error::Rule;
use crate::field::ImmId;
use crate::op::Op;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{DestKind, Kind, Row, Source, Staging};
use crate::select::Select;
use crate::source::{Half, Operand, Src};

/// An instruction may name this many different uniforms, special values and constants.
const DISTINCT_MAX: usize = 2;
/// Slots of 64 bits that an instruction other than a message may read.
const ALU_SLOTS: usize = 1;
/// Slots of 64 bits that a message may read.
const MESSAGE_SLOTS: usize = 2;

/// Checks what all sources together may read, and gives the page for bits 57..58.
pub(crate) fn fau_page(row: &Row, sources: &[Option<Src>]) -> Result<u8, Rule> {
    let op = row.op;
    let mut page = None;
    let (mut bytes, mut distinct) = ([0; DISTINCT_MAX], 0);
    let (mut slots, mut slot_count) = ([0; MESSAGE_SLOTS], 0);
    let limit = if row.kind.is_message() {
        MESSAGE_SLOTS
    } else {
        ALU_SLOTS
    };
    for source in sources.iter().flatten() {
        let operand = source.operand;
        if !operand.is_fau() {
            continue;
        }
        let byte = operand.byte();
        if !bytes[..distinct].contains(&byte) {
            if distinct == DISTINCT_MAX {
                return Err(Rule::TooManyConstants { op });
            }
            bytes[distinct] = byte;
            distinct += 1;
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
        let slot = byte >> 1;
        if !slots[..slot_count].contains(&slot) {
            if slot_count == limit {
                return Err(Rule::TooManySlots {
                    op,
                    limit: limit as u8,
                });
            }
            slots[slot_count] = slot;
            slot_count += 1;
        }
    }
    Ok(page.unwrap_or(0))
}

/// Checks that a 64-bit source starts at an even register or word, unless it selects no more than a word of it.
pub(crate) fn source(op: Op, index: usize, spec: &Source, source: &Src) -> Result<(), Rule> {
    let narrowed = !matches!(source.select, Select::Identity | Select::W1);
    if spec.size < 64 || narrowed {
        return Ok(());
    }
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

/// Checks register and mask of a destination.
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
        DestKind::Word => dest.mask != Mask::Both,
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
    if encoded > 7 {
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

/// Checks that the generation has the instruction and that its modifiers hold legal values.
pub(crate) fn fields(row: &Row, fields: u64, arch: Arch) -> Result<(), Rule> {
    let op = row.op;
    for field in row.fields {
        let value = field.extract(fields);
        if !field.allows(value, arch) {
            return Err(Rule::FieldValue {
                op,
                field: field.name,
                value,
                arch,
            });
        }
    }
    Ok(())
}

/// Checks that the generation has the instruction, and that more than its opcode is known.
pub(crate) fn exists(row: &Row, arch: Arch) -> Result<(), Rule> {
    if !row.archs.contains(arch) {
        return Err(Rule::NoSuchInstruction {
            op: row.op,
            arch,
            has: row.archs,
        });
    }
    match row.layout {
        crate::row::Layout::OpcodeOnly => Err(Rule::UnknownLayout { op: row.op }),
        _ => Ok(()),
    }
}
