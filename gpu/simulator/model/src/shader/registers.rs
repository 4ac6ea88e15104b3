//! Registers: values read and written, and what programs must not do with them.
//!
//! Facts: hardware/valhall-isa.md 2, 6.2, 13.

use super::environment::{Environment, Place};
use super::instruction::{Instruction, Source};
use super::lanes::{Lanes, WideLanes};
use super::warp::Warp;
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
    let mut lanes = environment.fetch(&mut fabric.journal, warp, place, source.from);
    source.select.apply_all(&mut lanes);
    if source.keep != u32::MAX || source.flip != 0 {
        for bits in &mut lanes {
            *bits = (*bits & source.keep) ^ source.flip;
        }
    }
    lanes
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
    for (lane, (target, result)) in target.iter_mut().zip(result).enumerate() {
        let mask = if lanes >> lane & 1 != 0 { mask } else { 0 };
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
    (0..count).fold(0, |mask, index| mask | 1 << ((first + index) & 63))
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
    if instruction.reads & !warp.valid_everywhere == 0 {
        return;
    }
    let lanes = warp.lanes;
    let mut rest = instruction.reads & !warp.valid_everywhere;
    while rest != 0 {
        let register = rest.trailing_zeros();
        rest &= rest - 1;
        if warp.valid[register as usize] & lanes != lanes {
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
