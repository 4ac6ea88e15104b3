//! From a word to its instruction.
//!
//! Guarantees: a word decodes only if encoding gives the same word again (one exception: see [`Instr::decode`]). A word with a reserved
//! value, a bit that belongs to nothing, or operands against the rules of the hardware is refused.
//! Facts: hardware/valhall-isa.md sections 1 to 6; data/valhall-isa.json `unclaimed_bits`.

use crate::arch::Arch;
use crate::constants::Constant;
use crate::error::{DecodeError, Rule};
use crate::flow::Flow;
use crate::instr::{Instr, MAX_SOURCES};
use crate::op::Op;
use crate::register::{Dest, Mask, Reg, RegRange};
use crate::row::{Access, DestKind, Row, Source, Staging};
use crate::rules;
use crate::select::Select;
use crate::source::{Half, Operand, Src, Uniform};
use crate::special::Special;
use crate::table;

impl Instr {
    /// The instruction that `word` is.
    ///
    /// FACT: Mesa encodes ATOM1_RETURN without result as a range that is *read*, of no registers (valhall-isa.md 11.11).
    /// That word decodes to the same instruction as the one with an empty written range, which is what encodes again.
    ///
    /// # Errors
    /// If the word is no instruction of this generation; the error says why.
    pub fn decode(word: u64, arch: Arch) -> Result<Self, DecodeError> {
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
        let masks = table::masks(op);
        let unclaimed = word & !masks.claimed;
        if unclaimed != 0 {
            return Err(DecodeError::Unclaimed {
                op,
                bits: unclaimed,
            });
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
        let fields = word & masks.fields;
        rules::fields(row, fields, arch)?;
        rules::offset(row, fields)?;

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
        let mut sources = [None; MAX_SOURCES];
        for (index, spec) in row.sources.iter().enumerate() {
            sources[index] = Some(source(word, op, index, spec, arch)?);
        }
        let page = rules::fau_page(row, &sources)?;
        if u64::from(page) != (word >> 57) & 0b11 {
            return Err(DecodeError::Meaningless {
                op,
                bits: word & (0b11 << 57),
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
    let encoded = spec.count.map_or(0, |pos| ((word >> pos) & 7) as u8);
    if let Some(control) = spec.control {
        let written = matches!(op, Op::Atom1ReturnI32 | Op::Atom1ReturnI64);
        let found = (word >> 46) & 0b11;
        let without_result = written && found == 1 && encoded == 0;
        if found != u64::from(control) && !without_result {
            return Err(DecodeError::Fixed {
                op,
                mask: 0b11 << 46,
                expected: u64::from(control) << 46,
            });
        }
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
