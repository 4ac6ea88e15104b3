//! Transfer: what loads put into registers, and what atomics do.

use super::super::message::{Atomic, AtomicOperand, Message, Placement};
use super::super::registers::written_range;
use super::super::stopped::Stopped;
use super::super::warp::{Warp, bits};
use super::{Sender, Targets, Touched, staged};
use crate::defect::ShaderDefect;
use alloc::vec::Vec;

impl Sender<'_> {
    /// Loads every running lane's value and puts it in its place.
    pub(super) fn load(
        &mut self,
        warp: &mut Warp,
        first: u8,
        targets: &Targets,
        placement: Placement,
        unsigned: bool,
        bytes: u8,
    ) -> Result<(), Stopped> {
        for lane in bits(warp.lanes) {
            let value = self.read(&targets[lane])?;
            let value = self.fabric.defects.loaded(value);
            let unsigned = unsigned || self.fabric.defects.shader_has(ShaderDefect::SignLost);
            set_loaded(warp, lane, first, (placement, unsigned, bytes), value);
        }
        Ok(())
    }

    /// Stores the staging registers of `lanes`, `bytes` each, from byte `skip` of the first register on.
    pub(super) fn store(
        &mut self,
        warp: &Warp,
        read: (u8, u8),
        targets: &Targets,
        (lanes, skip, bytes): (u16, u8, u8),
    ) -> Result<(), Stopped> {
        let wide = self.fabric.defects.shader_has(ShaderDefect::StoreWide);
        let bytes = if wide { bytes.max(4) } else { bytes };
        for lane in bits(lanes) {
            let value = staged(warp, read, lane);
            let value = &value.to_le_bytes()[usize::from(skip)..];
            self.write(&targets[lane], &value[..usize::from(bytes)])?;
        }
        Ok(())
    }

    /// One lane after another reads, computes and writes.
    pub(super) fn atomic(
        &mut self,
        warp: &mut Warp,
        (message, word): (&Message, u64),
        targets: &Targets,
        (bytes, operation, operand): (u8, Atomic, AtomicOperand),
    ) -> Result<(), Stopped> {
        let wide = bytes == 8;
        // Nothing is in it unless accesses are observed.
        let mut others = Vec::new();
        for lane in bits(warp.lanes & !warp.helpers) {
            let staged = staged(warp, message.read, lane);
            let old = self.read(&targets[lane])? as u64;
            let made = |old: u64, staged: u128| new_of(operation, (operand, wide), old, staged);
            let new = made(old, staged);
            if self.touched.records {
                let access = Touched::access(lane, targets[lane].virtual_address, bytes);
                let message = (word, message.read);
                let other = self.follow_atomic(warp, message, (lane, access), (old, new), made);
                others.extend(other.map(|other| (lane, other)));
            }
            let lost = ShaderDefect::AtomicLost { lane: lane as u8 };
            let lost = self.fabric.defects.shader_has(lost);
            if (new ^ old) << (64 - 8 * u32::from(bytes)) != 0 && !lost {
                let bytes = &new.to_le_bytes()[..usize::from(bytes)];
                self.write(&targets[lane], bytes)?;
            }
            let wrong = self.fabric.defects.shader_has(ShaderDefect::AtomicReturn);
            let old = if wrong { new } else { old };
            set_old(warp, message.write, lane, old);
        }
        if self.touched.records {
            let written = written_range(message.write);
            let lanes = warp.lanes;
            warp.other_registers().define(written, lanes);
            others.retain(|_| written != 0);
            for (lane, (olds, load)) in others {
                let first = message.write.0;
                let placement = (Placement::Registers, true, bytes);
                warp.other_registers().set(written, load, |warp, number| {
                    set_loaded(warp, lane, first, placement, olds[number].into());
                });
            }
        }
        Ok(())
    }
}

/// Sets the registers of a lane that an atomic returns the old value in: none, one or two.
pub(super) fn set_old(warp: &mut Warp, (first, count): (u8, u8), lane: usize, old: u64) {
    for index in 0..count.min(2) {
        let register = usize::from(first.wrapping_add(index) & 63);
        warp.registers[register][lane] = (old >> (32 * u32::from(index))) as u32;
    }
}

/// Puts a lane's loaded value in its place. Narrower ones than their place grow by sign, or are `unsigned`.
pub(super) fn set_loaded(
    warp: &mut Warp,
    lane: usize,
    first: u8,
    (placement, unsigned, bytes): (Placement, bool, u8),
    value: u128,
) {
    let top = u32::from(bytes) * 8;
    let grown = if unsigned || top >= 64 {
        value as u64
    } else {
        let up = 64 - top;
        (((value as u64) << up) as i64 >> up) as u64
    };
    let mut set = |register: u8, mask: u32, value: u32| {
        let target = &mut warp.registers[usize::from(register & 63)][lane];
        *target = *target & !mask | value & mask;
    };
    match placement {
        Placement::Byte(byte) => {
            let shift = 8 * u32::from(byte);
            set(first, 0xff << shift, (value as u32) << shift);
        }
        Placement::Half(half) => {
            let shift = 16 * u32::from(half);
            set(first, 0xffff << shift, (grown as u32) << shift);
        }
        Placement::Word => set(first, u32::MAX, grown as u32),
        Placement::Pair => {
            set(first, u32::MAX, grown as u32);
            set(first.wrapping_add(1), u32::MAX, (grown >> 32) as u32);
        }
        Placement::Registers => {
            for index in 0..bytes.div_ceil(4) {
                let word = (value >> (32 * u32::from(index))) as u32;
                set(first.wrapping_add(index), u32::MAX, word);
            }
        }
    }
}

/// What an atomic leaves behind, of what was there and a lane's staging registers.
pub(super) fn new_of(
    operation: Atomic,
    (operand, wide): (AtomicOperand, bool),
    old: u64,
    staged: u128,
) -> u64 {
    let (value, compare) = match operand {
        AtomicOperand::Staging if wide => (staged as u64, (staged >> 64) as u64),
        AtomicOperand::Staging => (
            staged as u64 & 0xffff_ffff,
            (staged >> 32) as u64 & 0xffff_ffff,
        ),
        AtomicOperand::StagingWord { signed: true } => (staged as i32 as i64 as u64, 0),
        AtomicOperand::StagingWord { signed: false } => (u64::from(staged as u32), 0),
        AtomicOperand::Implied(number) => (number as u64, 0),
    };
    if wide {
        return combine(operation, old, value, compare);
    }
    let sign = |bits: u64| bits as u32 as i32 as i64 as u64;
    // Grown by sign, 32-bit values keep their order in both senses.
    combine(operation, sign(old), sign(value), sign(compare))
}

fn combine(operation: Atomic, old: u64, value: u64, compare: u64) -> u64 {
    match operation {
        Atomic::Add => old.wrapping_add(value),
        Atomic::MinSigned => (old as i64).min(value as i64) as u64,
        Atomic::MaxSigned => (old as i64).max(value as i64) as u64,
        Atomic::MinUnsigned => old.min(value),
        Atomic::MaxUnsigned => old.max(value),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::Exchange => value,
        Atomic::CompareExchange if old == compare => value,
        Atomic::CompareExchange => old,
    }
}
