//! Packing: machine instructions become words.
//!
//! Needs: registers, waits, flow.  Guarantees: every word passes the rules of `eitri-isa` and decodes to the
//! instruction it came from; branch offsets count instructions from the next one.
//! Here an instruction learns in which parts of registers its halves and bytes lie: it selects them, and writes them alone.
//! Facts: hardware/compiler-backend.md 5.6 and 9, hardware/valhall-isa.md 1 to 6 and 11.

use eitri_isa::row::{Access, DestKind};
use eitri_isa::values::{LoadLane, Slot, StoreLane};
use eitri_isa::{
    Arch, Constant, Dest, EncodeError, ImmId, Mask, Operand as IsaOperand, Reg, RegRange, Select,
    Src,
};

use super::error::Error;
use super::mir::{
    Function, Half, Instr, Instruction as _, Modifier, Op, Operand, Part, Source, Width, Word,
};
use super::waits::scoreboard::register_mask;

/// What an instruction of machine IR still lacks.
#[derive(Clone, Debug)]
enum Unpacked {
    /// Something that is not an instruction of the hardware, or not in registers.
    NotFinal,
    /// What is selected or written is not there in the part of a register where it lies.
    Part,
    /// The word would touch other registers than the instruction.
    Registers,
    Encode(EncodeError),
}

impl From<EncodeError> for Unpacked {
    fn from(error: EncodeError) -> Unpacked {
        Unpacked::Encode(error)
    }
}

/// The words of a program, in order.
pub(super) fn pack(function: &Function, arch: Arch) -> Result<Vec<u64>, Error> {
    let starts = function.block_starts();
    let mut words = Vec::new();
    for instr in function.blocks.iter().flat_map(|block| &block.instrs) {
        let offset = instr
            .target
            .map(|target| starts[target.index()] as i64 - words.len() as i64 - 1);
        let word = to_isa(instr, offset).and_then(|packed| Ok(packed.encode(arch)?));
        words.push(word.map_err(|reason| refused(instr, &reason))?);
    }
    Ok(words)
}

fn refused(instr: &Instr, reason: &Unpacked) -> Error {
    let reason = match reason {
        Unpacked::NotFinal => "it is not final".to_owned(),
        Unpacked::Part => "it can't do that with a part of a register".to_owned(),
        Unpacked::Registers => "the word touches other registers".to_owned(),
        Unpacked::Encode(error) => error.to_string(),
    };
    Error::Encode {
        text: instr.to_string(),
        reason,
    }
}

fn register(word: Word) -> Result<Reg, Unpacked> {
    word.register()
        .and_then(|register| Reg::new(register.number()))
        .ok_or(Unpacked::NotFinal)
}

/// The part of a register that a word is; all of it before there are registers.
fn part(word: Word) -> Part {
    word.register()
        .map_or(Part::WHOLE, |register| register.part())
}

/// What a selection from a value is where the value lies.
fn select(source: &Source) -> Result<Select, Unpacked> {
    let part = match source.operand {
        Operand::Word(word) => part(word),
        _ => Part::WHOLE,
    };
    part.select(source.select).ok_or(Unpacked::Part)
}

/// The mask of what an instruction writes.
fn mask(instr: &Instr, part: Part) -> Result<Mask, Unpacked> {
    match (part.width(), part.byte()) {
        (Width::Word, _) if instr.modifiers.contains(&Modifier::Narrow) => Ok(Mask::Both),
        (Width::Word, _) => Ok(Mask::Full),
        (Width::Half, 0) => Ok(Mask::H0),
        (Width::Half, _) => Ok(Mask::H1),
        (Width::Byte, _) => Err(Unpacked::Part),
    }
}

/// Says to which part of its register a load goes, or from which a store comes; nothing where it is all.
fn set_lane(instr: &Instr, packed: &mut eitri_isa::Instr) -> Result<(), Unpacked> {
    use {LoadLane as Load, StoreLane as Store};
    if let &[dest] = instr.dests.as_slice() {
        match part(dest) {
            Part::WHOLE => {}
            it if it.width() == Width::Half => packed.set([Load::H0, Load::H1][it.byte() / 2])?,
            it => packed.set([Load::B0, Load::B1, Load::B2, Load::B3][it.byte()])?,
        }
    }
    if let &[from] = instr.staging.as_slice() {
        match (instr.op, part(from).byte()) {
            (_, 0) => {}
            (Op::Store8, byte) => packed.set([Store::B0, Store::B1, Store::B2, Store::B3][byte])?,
            _ => packed.set(Store::H1)?,
        }
    }
    Ok(())
}

/// Consecutive registers.
fn range(words: &[Word]) -> Result<RegRange, Unpacked> {
    match words {
        [] => Ok(RegRange::EMPTY),
        [first, ..] => {
            RegRange::new(register(*first)?, words.len() as u8).ok_or(Unpacked::NotFinal)
        }
    }
}

fn source(source: &Source) -> Result<Src, Unpacked> {
    let operand = match source.operand {
        Operand::Word(word) | Operand::Pair(word, _) => IsaOperand::Register {
            reg: register(word)?,
            last_use: source.last,
        },
        Operand::Fau(word) => IsaOperand::from(eitri_isa::Uniform(word)),
        Operand::Table(entry) => IsaOperand::from(Constant::new(entry).ok_or(Unpacked::NotFinal)?),
        Operand::Special(special, half) => {
            let word = match half {
                Half::Low => eitri_isa::Half::W0,
                Half::High => eitri_isa::Half::W1,
            };
            IsaOperand::Special {
                special: special.isa(),
                word,
            }
        }
        Operand::Constant(_) => return Err(Unpacked::NotFinal),
    };
    Ok(Src {
        operand,
        select: select(source)?,
        abs: source.abs,
        neg: source.neg,
        not: source.not,
    })
}

/// Checks that the packed instruction touches the registers that the machine IR means, in runs of natural length.
fn check_registers(instr: &Instr, packed: &eitri_isa::Instr) -> Result<(), Unpacked> {
    let mask = |ranges: &mut dyn Iterator<Item = RegRange>| {
        ranges
            .flat_map(RegRange::iter)
            .fold(0, |mask, register| mask | 1u64 << register.index())
    };
    let reads = mask(&mut packed.reads().map(|access| access.registers));
    let writes = mask(&mut packed.writes().map(|access| access.registers));
    let natural = [
        (Access::Read, instr.staging.len()),
        (Access::Write, instr.dests.len()),
    ];
    let counts = natural.iter().all(|&(access, count)| {
        packed
            .natural_count(access)
            .is_none_or(|natural| usize::from(natural) == count)
    });
    let held = register_mask(instr.held.iter().copied());
    let same = reads | held == register_mask(instr.reads())
        && writes == register_mask(instr.dests.iter().copied());
    if same && counts {
        Ok(())
    } else {
        Err(Unpacked::Registers)
    }
}

/// What an immediate is of a handle: tables from 60 on have the last numbers (hardware/compiler-abi.md 1.2).
fn part_of_handle(id: ImmId, handle: i64) -> i64 {
    match id {
        ImmId::Table => handle >> 24 & 0xf,
        _ => handle & 0xff_ffff,
    }
}

/// A move to a half register: one to both halves, of which one is written.
fn move_half(instr: &Instr) -> Instr {
    let half = |source: &Source| source.select(Select::H0);
    let both = instr.sources.iter().chain(&instr.sources).map(half);
    Instr {
        op: Op::MkVec,
        sources: both.collect(),
        ..instr.clone()
    }
}

fn to_isa(instr: &Instr, branch_offset: Option<i64>) -> Result<eitri_isa::Instr, Unpacked> {
    let written = instr.dests.first().map_or(Part::WHOLE, |&dest| part(dest));
    if instr.op == Op::Mov && written != Part::WHOLE {
        return to_isa(&move_half(instr), branch_offset);
    }
    let op = instr.op.isa().ok_or(Unpacked::NotFinal)?;
    let row = op.row();
    let mut packed = eitri_isa::Instr::new(op).with_flow(instr.flow.isa());
    for (index, own) in instr.sources.iter().enumerate() {
        packed.set_source(index, source(own)?)?;
    }
    match (row.dest, instr.dests.first()) {
        (DestKind::None, _) => {}
        (_, Some(&dest)) => {
            packed = packed.with_dest(Dest {
                reg: register(dest)?,
                mask: mask(instr, written)?,
            });
        }
        (_, None) => return Err(Unpacked::NotFinal),
    }
    for staging in row.staging {
        match staging.access {
            Access::Read => packed = packed.with_read(range(&instr.staging)?),
            Access::Write => packed = packed.with_write(range(&instr.dests)?),
        }
    }
    for modifier in &instr.modifiers {
        modifier.set(&mut packed)?;
    }
    if !row.staging.is_empty() {
        set_lane(instr, &mut packed)?;
    }
    // ATEST has no field for it.
    if let Some(slot) = instr.slot.filter(|_| instr.op != Op::Atest) {
        packed.set(match slot {
            0 => Slot::Slot0,
            1 => Slot::Slot1,
            2 => Slot::Slot2,
            _ => Slot::Slot7,
        })?;
    }
    let immediate = instr.immediate.or(branch_offset);
    match (immediate, row.immediates) {
        (Some(immediate), [field]) => packed.set_imm(field.id, immediate)?,
        (Some(handle), fields @ [_, ..]) => {
            for field in fields {
                packed.set_imm(field.id, part_of_handle(field.id, handle))?;
            }
        }
        _ => {}
    }
    check_registers(instr, &packed)?;
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The refusal of an instruction, as people see it.
    #[track_caller]
    fn check(line: &str, expected: &str) {
        let function = Function::parse(&format!("b0:\n {line}\n end")).expect("text is MIR");
        let error = pack(&function, Arch::V10).expect_err("packs");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn what_cannot_be_encoded_is_named() {
        check(
            "%0 = IADD.u32 r0, r1",
            "internal: `%0 = IADD.u32 r0, r1` can't be encoded: it is not final",
        );
        check(
            "r1:r2 = IMULD.u64 r4.w0, r5.w0",
            "internal: `r1:r2 = IMULD.u64 r4.w0, r5.w0` can't be encoded: \
             the destination of IMULD.u64 has 64 bits and must be an even register",
        );
        check(
            "STORE.i64 @r2:r5, [r0:r1], imm:0, space:buffer, slot:0",
            "internal: `STORE.i64 @r2:r5, [r0:r1], imm:0, space:buffer, slot:0` can't be encoded: \
             the word touches other registers",
        );
    }
}
