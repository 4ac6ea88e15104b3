//! Command streams: the register file that their instructions work on.
//!
//! Facts: hardware/command-stream.md 1.4 (registers), 3.1 and 3.2 (moves, stores).

use crate::bench::{Bench, words_of};
use crate::result::{Trouble, Verdict, failed};
use alloc::vec;
use alloc::vec::Vec;
use eitri_cs::instr::{Move32, Move48, StoreMultiple, Wait};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask, SubQueue};
use eitri_runtime::Platform;

/// Registers that are tried: below those that hold the address, and the four at the top that are the driver's.
const REGISTERS: u8 = 88;
/// Registers of one store.
const STORED: u8 = 8;
/// Scoreboard slots that every architecture has.
const SLOTS: u8 = 8;

fn pattern(register: u8, pass: usize) -> u32 {
    let word = (u32::from(register) + 1).wrapping_mul(0x85EB_CA6B);
    if pass == 0 { word } else { !word }
}

fn nothing<E: core::fmt::Display>(error: E) -> Trouble {
    failed!("an instruction of the test can't be encoded: {error}")
}

/// The instructions that fill all registers, and store them from `address` on, once with each pattern.
fn code(arch: Arch, address: u64) -> Result<Vec<u8>, Trouble> {
    let missing = || failed!("there is no such register");
    let pair = Pair::new(REGISTERS).ok_or_else(missing)?;
    let wait = Wait {
        wait_mask: SlotMask::first(SLOTS),
        ..Wait::default()
    };
    let to = Move48 {
        destination: pair,
        immediate: address,
    };
    let mut words = vec![to.encode(arch).map_err(nothing)?];
    for pass in 0..2 {
        for number in 0..REGISTERS {
            let set = Move32 {
                destination: Reg::new(number),
                immediate: pattern(number, pass),
            };
            words.push(set.encode(arch).map_err(nothing)?);
        }
        for first in (0..REGISTERS).step_by(usize::from(STORED)) {
            let place = pass * usize::from(REGISTERS) + usize::from(first);
            let store = StoreMultiple {
                address: pair,
                mask: RegMask::first(STORED),
                base_register: Reg::new(first),
                offset: 4 * place as i16,
            };
            words.push(store.encode(arch).map_err(nothing)?);
        }
        words.push(wait.encode(arch).map_err(nothing)?);
    }
    Ok(words.into_iter().flat_map(u64::to_le_bytes).collect())
}

/// Each bit of each register, once 0 and once 1.
pub(crate) fn registers<P: Platform>(it: &mut Bench<'_, '_, '_, P>) -> Verdict {
    let queue = it.device.create_queue(Default::default())?;
    let space = it.device.space(queue)?;
    let bytes = 2 * 4 * usize::from(REGISTERS);
    let data = it.device.create_buffer(space, bytes as u64)?;
    let code = code(
        it.device.properties().arch,
        it.device.buffer_address(data)?.0,
    )?;
    let stream = it.device.create_buffer(space, code.len() as u64)?;
    it.device.write_buffer(stream, 0, &code)?;
    let start = it.device.buffer_address(stream)?;
    let fence = it
        .device
        .submit_stream(queue, SubQueue::Compute, start, code.len() as u32)?;
    let ended = it.finish(fence);
    let mut found = vec![0; bytes];
    let read = it.device.read_buffer(data, 0, &mut found);
    let _ = it.device.cancel(queue);
    it.device.settle();
    it.device.destroy_buffer(data)?;
    it.device.destroy_buffer(stream)?;
    it.device.destroy_queue(queue)?;
    ended?;
    read?;
    let registers = (0..2).flat_map(|pass| (0..REGISTERS).map(move |number| (pass, number)));
    for ((pass, number), word) in registers.zip(words_of(&found)) {
        let wanted = pattern(number, pass);
        if word != wanted {
            return Err(failed!(
                "r{number} of a stream holds {word:#010x} instead of {wanted:#010x}: bits {:#x}",
                word ^ wanted
            ));
        }
    }
    Ok(())
}
