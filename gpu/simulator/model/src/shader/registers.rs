//! Registers: values read and written, and what programs must not do with them.
//!
//! Facts: hardware/valhall-isa.md 2, 6.2, 13.

use super::environment::{Environment, Place};
use super::instruction::{From, Instruction, Source};
use super::lanes::{Lanes, WARP, WideLanes, spread};
use super::warp::{Warp, registers_of};
use crate::diagnosis::{Misuse, ShaderMisuse};
use crate::fabric::Fabric;

/// The selected value of a 32-bit source.
#[inline]
pub(super) fn read(
    fabric: &mut Fabric,
    environment: &Environment,
    place: Place,
    warp: &Warp,
    source: &Source,
) -> Lanes {
    let mut buffer = [0; WARP];
    *operand(fabric, environment, place, warp, source, &mut buffer)
}

/// The selected value of a 32-bit source: the register itself where nothing is done to it, else `buffer`, which it fills.
#[inline(always)]
pub(super) fn operand<'a>(
    fabric: &mut Fabric,
    environment: &Environment,
    place: Place,
    warp: &'a Warp,
    source: &Source,
    buffer: &'a mut Lanes,
) -> &'a Lanes {
    match source.from {
        From::Register(register) => {
            let register = &warp.registers[usize::from(register & 63)];
            if source.is_plain {
                return register;
            }
            *buffer = *register;
            modify(source, buffer);
        }
        From::Uniform(index) => {
            let bits = environment.uniform(&mut fabric.journal, warp.pc, index);
            buffer.fill(source.modified(bits));
        }
        From::Constant(bits) => buffer.fill(source.modified(bits)),
        From::Nothing | From::Special(..) => {
            *buffer = environment.fetch(&mut fabric.journal, warp, place, source.from);
            modify(source, buffer);
        }
    }
    buffer
}

/// Applies selection, absolute value and negation to all lanes.
#[inline(always)]
fn modify(source: &Source, lanes: &mut Lanes) {
    source.select.apply_all(lanes);
    for bits in lanes {
        *bits = (*bits & source.keep) ^ source.flip;
    }
}

/// Writes a result to the running lanes.
#[inline]
pub(super) fn write(warp: &mut Warp, register: u8, mask: u32, result: &Lanes) {
    let lanes = warp.lanes;
    let target = &mut warp.registers[usize::from(register & 63)];
    if lanes == u16::MAX && mask == u32::MAX {
        *target = *result;
        return;
    }
    let written = spread(lanes);
    for ((target, result), written) in target.iter_mut().zip(result).zip(written) {
        let mask = written & mask;
        *target = *target & !mask | result & mask;
    }
}

pub(super) fn write_wide(warp: &mut Warp, register: u8, result: &WideLanes) {
    write(warp, register, u32::MAX, &result.map(|value| value as u32));
    let high = result.map(|value| (value >> 32) as u32);
    write(warp, register.wrapping_add(1), u32::MAX, &high);
}

/// Notes which registers hold something after an instruction.
#[inline]
pub(super) fn note_registers(warp: &mut Warp, lanes: u16, writes: u64, last_use: u64) {
    if last_use != 0 {
        warp.invalidate(lanes, last_use);
    }
    warp.written |= writes;
    if lanes == warp.all {
        warp.valid_everywhere |= writes;
    } else if writes & !warp.valid_everywhere != 0 {
        warp.validate(lanes, writes & !warp.valid_everywhere);
    }
}

/// The registers of a written range, a bit a register.
pub(super) fn written_range((first, count): (u8, u8)) -> u64 {
    // A range that goes beyond the last register goes on with the first.
    let registers = 1u64.checked_shl(count.into()).unwrap_or(0).wrapping_sub(1);
    registers.rotate_left(first.into())
}

/// Whether [`check_registers`] would report something.
#[inline(always)]
pub(super) fn has_trouble(
    environment: &Environment,
    warp: &Warp,
    instruction: &Instruction,
) -> bool {
    let used = instruction.reads | instruction.writes;
    used & !environment.allocated != 0 || !warp.may_use(used, instruction.reads)
}

/// Reports registers that are used before their messages were waited for, or that hold nothing.
#[inline]
pub(super) fn check_registers(
    fabric: &mut Fabric,
    environment: &Environment,
    warp: &mut Warp,
    instruction: &Instruction,
) {
    let used = instruction.reads | instruction.writes;
    if used & warp.pending != 0 || used & !environment.allocated != 0 {
        report_use(fabric, environment, warp, instruction);
    }
    let doubtful = instruction.reads & !warp.valid_everywhere;
    for register in registers_of(doubtful) {
        if !warp.holds_value(register) {
            report_invalid(fabric, warp, register as u8);
        }
    }
}

#[cold]
fn report_use(
    fabric: &mut Fabric,
    environment: &Environment,
    warp: &Warp,
    instruction: &Instruction,
) {
    let address = warp.pc;
    let mut report = |misuse| fabric.journal.report(Misuse::Shader { address, misuse });
    if let Some((register, slot)) = warp.awaited(instruction.reads) {
        report(ShaderMisuse::OutstandingRead { register, slot });
    }
    if let Some((register, slot)) = warp.awaited(instruction.writes & !instruction.reads) {
        report(ShaderMisuse::OutstandingWrite { register, slot });
    }
    let absent = (instruction.reads | instruction.writes) & !environment.allocated;
    if absent != 0 {
        let register = absent.trailing_zeros() as u8;
        report(ShaderMisuse::RegisterNotAllocated { register });
    }
}

#[cold]
fn report_invalid(fabric: &mut Fabric, warp: &Warp, register: u8) {
    let misuse = if warp.written >> register & 1 != 0 {
        ShaderMisuse::ReadAfterLastUse { register }
    } else {
        ShaderMisuse::NeverWritten { register }
    };
    let address = warp.pc;
    fabric.journal.report(Misuse::Shader { address, misuse });
}
