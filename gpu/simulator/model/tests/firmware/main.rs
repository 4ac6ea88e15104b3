//! The firmware's part beyond a single group: interface versions, sleep, priorities, endpoints, heaps, protected mode.
//!
//! Facts: hardware/csf-firmware.md 8, 9, 13, 15; csf-scheduling.md 1, 7, 8.

#[path = "../bench/mod.rs"]
mod bench;

mod control;
mod events;
mod exceptions;
mod heaps;
mod protected;
mod sharing;

use bench::{Bench, group_input, stream_input, stream_output};
use eitri_cs::enums::WaitMode;
use eitri_cs::instr::{Instr, Move32, Move48, StoreMultiple, Wait};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask};
use eitri_csf::page_table::Attributes;

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;

/// A heap context, and chunks.
const HEAP: u64 = DATA + 0x1000;

const CHUNK: u64 = DATA + 0x2000;

/// An exception handler.
const HANDLER: u64 = DATA + 0x3000;

const REQ: u64 = 0x2000;

const ACK: u64 = 0x6000;

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn word(instr: impl Into<Instr>) -> u64 {
    instr.into().encode(Arch::V10).expect("a legal instruction")
}

fn set64(register: u8, immediate: u64) -> u64 {
    let destination = d(register);
    word(Move48 {
        destination,
        immediate,
    })
}

/// Stores `value` at `DATA + 8 * place`.
fn store(place: i16, value: u32) -> [u64; 4] {
    [
        set64(4, DATA),
        word(Move32 {
            destination: r(6),
            immediate: value,
        }),
        word(StoreMultiple {
            base_register: r(6),
            mask: RegMask::new(1),
            address: d(4),
            offset: 8 * place,
        }),
        word(Wait {
            wait_mask: SlotMask::new(1),
            wait_mode: WaitMode::Immediate,
            ..Wait::default()
        }),
    ]
}

fn with_data(mut bench: Bench) -> Bench {
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench
}

#[track_caller]
fn got(bench: &mut Bench, place: u64) -> u32 {
    bench.get32(1, DATA + 8 * place)
}

/// Toggles a request of GLB_REQ; the word.
fn toggle(bench: &mut Bench, bit: u32) -> u32 {
    let req = bench.shared(REQ) ^ bit;
    bench.shared_write(REQ, req);
    bench.ring(0);
    req
}

/// Acknowledges an event of slot 0's stream `index` and rings for it.
fn acknowledge(bench: &mut Bench, index: u64, event: u32) {
    let (input, output) = (
        stream_input(0) + 0x80 * index,
        stream_output(0) + 0x100 * index,
    );
    let (req, ack) = (bench.shared(input), bench.shared(output));
    bench.shared_write(input, req & !event | ack & event);
    let doorbells = bench.shared(group_input(0) + 8);
    bench.shared_write(group_input(0) + 8, doorbells ^ 1 << index);
    bench.ring_group(0);
}

fn pending(bench: &mut Bench, event: u32) -> bool {
    (bench.shared(stream_input(0)) ^ bench.shared(stream_output(0))) & event != 0
}
