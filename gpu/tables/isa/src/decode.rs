//! From a word to its instruction.
//!
//! Guarantees: a word decodes only if encoding gives the same word again, without the bits that the hardware ignores. A word with a
//! reserved value, a bit that belongs to nothing, or operands against the rules of the hardware is refused.
//! Facts: hardware/valhall-isa.md sections 1 to 6; data/isa-arm-tables.json.

use crate::arch::Arch;
use crate::constants::Constant;
use crate::error::{DecodeError, Rule};
use crate::flow::Flow;
use crate::instr::{Instr, MAX_SOURCES};
use crate::layout;
use crate::op::Op;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{Access, DestKind, Row, Source, Staging, mask_of};
use crate::rules;
use crate::select::Select;
use crate::source::{Half, Operand, Src, Uniform};
use crate::special::Special;
use crate::table;

/// Bits of the page.
const PAGE: u64 = 0b11 << 57;

impl Instr {
    /// The instruction that `word` is on hardware of `arch`. Bits that the hardware ignores, and a page that no source reads,
    /// are dropped.
    ///
    /// # Errors
    /// If the word is no instruction of this generation; the error says why.
    pub fn decode(word: u64, arch: Arch) -> Result<Self, DecodeError> {
        let instr = Self::decode_text(word, arch)?;
        instr.check(arch)?;
        Ok(instr)
    }

    /// The same for all that text can say, whether or not the hardware takes it: [`Self::check`] tells.
    ///
    /// # Errors
    /// If the word is no instruction, or no text says it.
    pub fn decode_text(word: u64, arch: Arch) -> Result<Self, DecodeError> {
        if word == 0 {
            return Err(DecodeError::Zero);
        }
        if word >> 63 != 0 {
            return Err(DecodeError::TopBit);
        }
        let opcode = ((word >> 48) & 0x1FF) as u16;
        let row = table::find(word).ok_or(DecodeError::Opcode { opcode })?;
        let op = row.op;
        rules::exists(row, arch)?;
        let layout = row.layout(arch);
        let masks = table::masks(op);
        let claimed = match layout {
            None => masks.claimed,
            Some(layout) => {
                row.claimed_besides_fields() | mask_of(layout.fields, layout.immediates)
            }
        };
        if word & !claimed != 0 {
            let bits = word & !claimed;
            return Err(DecodeError::Unclaimed { op, bits });
        }
        if word & row.fixed.mask != row.fixed.value {
            return Err(DecodeError::Fixed {
                op,
                mask: row.fixed.mask,
                expected: row.fixed.value,
            });
        }
        let flow_bits = ((word >> 59) & 0xF) as u8;
        let flow = Flow::from_bits(flow_bits, arch).ok_or(Rule::Flow {
            value: flow_bits,
            arch,
        })?;
        let dest = match row.dest {
            DestKind::None => None,
            _ => {
                let dest = Dest {
                    reg: Reg::from_bits(word >> 40),
                    mask: Mask::from_bits(word >> 46),
                };
                rules::dest(row, dest, arch)?;
                Some(dest)
            }
        };
        let (mut read, mut write) = (None, None);
        for spec in row.staging {
            let range = Some(staging(word, row, spec)?);
            match spec.access {
                Access::Read => read = range,
                Access::Write => write = range,
            }
        }
        let count = read.or(write).map_or(0, RegRange::count);
        let fields = match layout {
            None => word & masks.fields,
            Some(layout) => layout::gather(row, layout, word, count),
        };
        rules::fields(row, fields, arch)?;
        rules::offset(row, fields)?;

        let mut sources = [None; MAX_SOURCES];
        for (index, spec) in row.sources.iter().enumerate() {
            sources[index] = Some(source(word, op, index, spec, arch)?);
        }
        rules::fau_page(row, &sources, arch)?;
        // A page that no source reads has no effect, and is dropped.
        if row.registers_only && word & PAGE != 0 {
            return Err(DecodeError::Meaningless {
                op,
                bits: word & PAGE,
            });
        }
        Ok(Self {
            op,
            flow,
            dest,
            read,
            write,
            sources,
            fields,
            missing: 0,
        })
    }
}

fn staging(word: u64, row: &Row, spec: &Staging) -> Result<RegRange, DecodeError> {
    let op = row.op;
    let first = Reg::from_bits(word >> spec.pos);
    let count_mask = (1 << spec.count_width) - 1;
    let encoded = spec.count.map_or(0, |pos| (word >> pos) & count_mask) as u8;
    if let Some(control) = spec.control
        && (word >> 46) & 0b11 != u64::from(control)
    {
        return Err(DecodeError::Fixed {
            op,
            mask: 0b11 << 46,
            expected: u64::from(control) << 46,
        });
    }
    let range = rules::staging_range(op, spec, first, encoded)?;
    if range.is_empty() && first.index() != 0 {
        return Err(DecodeError::Meaningless {
            op,
            bits: word & (0x3F << spec.pos),
        });
    }
    Ok(range)
}

fn source(word: u64, op: Op, index: usize, spec: &Source, arch: Arch) -> Result<Src, Rule> {
    let bit = |bit: Option<u8>| bit.is_some_and(|bit| (word >> bit) & 1 != 0);
    let select = match spec.select {
        None => Select::Identity,
        Some(select) => {
            let value = select.extract(word);
            let row = select.table.by_value(value);
            row.ok_or(Rule::SelectValue {
                op,
                source_index: index as u8,
                value,
            })?
            .select
        }
    };
    let operand = operand((word >> spec.pos) as u8, ((word >> 57) & 0b11) as u8, arch)?;
    let source = Src {
        operand,
        select,
        abs: bit(spec.abs),
        neg: bit(spec.neg),
        not: bit(spec.not),
    };
    rules::source(op, index, spec, &source)?;
    Ok(source)
}

fn operand(byte: u8, page: u8, arch: Arch) -> Result<Operand, Rule> {
    Ok(match byte >> 6 {
        0 | 1 => Operand::Register {
            reg: Reg::from_bits(u64::from(byte)),
            last_use: byte & 0x40 != 0,
        },
        2 => Operand::Uniform(Uniform(page * 64 + (byte & 63))),
        _ if byte & 0x20 == 0 => Operand::Constant(Constant::from_bits(u64::from(byte))),
        _ => {
            let index = (byte >> 1) & 0xF;
            let special = Special::from_bits(page, index, arch).ok_or(Rule::SpecialValue {
                page,
                index,
                arch,
            })?;
            Operand::Special {
                special,
                word: if byte & 1 == 0 { Half::W0 } else { Half::W1 },
            }
        }
    })
}
