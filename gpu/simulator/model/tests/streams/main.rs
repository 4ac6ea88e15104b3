//! Groups and streams: life cycle, instructions, scoreboards, sync objects, faults.

#[path = "../bench/mod.rs"]
mod bench;

mod faults;
mod instructions;
mod kernel_registers;
mod life_cycle;
mod snapshot;
mod sync_objects;
mod unmodified_drivers;

use bench::Bench;
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{Instr, LoadMultiple, Move32, Move48, StoreMultiple, SyncAdd64, Wait};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask};
use eitri_csf::page_table::Attributes;

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;

fn word(instr: impl Into<Instr>) -> u64 {
    instr.into().encode(Arch::V10).expect("a legal instruction")
}

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn move32(register: u8, immediate: u32) -> u64 {
    word(Move32 {
        destination: r(register),
        immediate,
    })
}

fn move48(register: u8, immediate: u64) -> u64 {
    word(Move48 {
        destination: d(register),
        immediate,
    })
}

fn wait(mask: u16) -> u64 {
    word(Wait {
        wait_mask: SlotMask::new(mask),
        ..Wait::default()
    })
}

fn store(base: u8, mask: u16, address: u8, offset: i16) -> u64 {
    word(StoreMultiple {
        base_register: r(base),
        mask: RegMask::new(mask),
        address: d(address),
        offset,
    })
}

fn load(base: u8, mask: u16, address: u8, offset: i16) -> u64 {
    word(LoadMultiple {
        base_register: r(base),
        mask: RegMask::new(mask),
        address: d(address),
        offset,
    })
}

fn add64(address: u8, data: u8, scope: SyncScope) -> u64 {
    word(SyncAdd64 {
        address: d(address),
        data: d(data),
        scope,
        error_propagate: true,
        ..SyncAdd64::default()
    })
}

/// A started group on slot 0 with a page of data.
fn started() -> Bench {
    let mut bench = Bench::booted();
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench.start_group(0);
    bench
}

/// Runs instructions and gives the first words of the data page.
#[track_caller]
fn check(words: &[u64], expected: &[u32]) {
    let mut bench = started();
    bench.submit(0, words);
    bench.drain(0);
    let got: Vec<u32> = (0..expected.len())
        .map(|i| bench.get32(1, DATA + 4 * i as u64))
        .collect();
    assert_eq!(got, expected, "\n{}", bench.report());
    bench.expect_no_diagnoses();
}
