//! The registers of the ring's code in called code, and copies of registers that nobody wrote.
//!
//! Facts: hardware/command-stream.md 1.4, 6.1 (chunk links), 7.5 (one worked out), 8 (7 and 11).

use super::bench::Bench;
use super::{DATA, d, load, move32, move48, r, started, store, wait, word};
use eitri_cs::instr::{AddImm32, Call, Jump};

/// Where called code lies, and what it links to.
const CALLED: u64 = DATA + 0x1000;
const LINKED: u64 = DATA + 0x2000;

/// Calls code by registers that the ring's code has for it.
#[track_caller]
fn called(code: &[u64], linked: &[u64]) -> Bench {
    let mut bench = started();
    bench.put_words(1, CALLED, code);
    bench.put_words(1, LINKED, linked);
    let length = 8 * code.len() as u32;
    bench.submit(
        0,
        &[
            move48(92, CALLED),
            move32(94, length),
            word(Call {
                address: d(92),
                length: r(94),
            }),
        ],
    );
    bench.drain(0);
    bench
}

fn jump() -> u64 {
    word(Jump {
        address: d(94),
        length: r(93),
    })
}

/// Copies one register to another.
fn copy(from: u8, to: u8) -> u64 {
    word(AddImm32 {
        source: r(from),
        destination: r(to),
        immediate: 0,
    })
}

#[test]
fn called_code_links_by_them_to_the_next_buffer() {
    let rest = [move48(4, DATA), move32(6, 7), store(6, 1, 4, 0), wait(1)];
    let link = [move48(94, LINKED), move32(93, 32), jump()];
    let mut bench = called(&link, &rest);
    assert_eq!(bench.get32(1, DATA), 7);
    bench.expect_no_diagnoses();
}

#[test]
fn any_other_use_is_told() {
    let told = |code: &[u64]| called(code, &[]).report();
    let foreign = |register: u8| format!("r{register} belongs to the code in the ring");
    for (code, register) in [
        // It sets one, and does something else with it, or nothing.
        (vec![move32(92, 1)], 92),
        (vec![move32(93, 1), wait(1), move32(6, 1)], 93),
        (
            vec![move48(94, LINKED), move32(93, 16), wait(1), jump()],
            94,
        ),
        // It reads what the ring's code left.
        (vec![copy(94, 6)], 94),
        (vec![move48(4, DATA), store(92, 1, 4, 0), wait(1)], 92),
        // It loads one.
        (vec![move48(4, DATA), load(95, 1, 4, 0), wait(1)], 95),
    ] {
        let told = told(&code);
        assert!(told.contains(&foreign(register)), "r{register}: {told}");
    }
    assert_eq!(told(&[move32(91, 1)]), "", "r91 is the driver's own");
}

#[test]
fn a_register_that_nobody_wrote_may_be_saved_and_restored() {
    let save_and_restore = [copy(56, 68), move32(56, 1), copy(56, 70), copy(68, 56)];
    let mut bench = started();
    bench.submit(0, &save_and_restore);
    bench.drain(0);
    bench.expect_no_diagnoses();
    // Both still hold what nobody wrote.
    for register in [56, 68] {
        let add = word(AddImm32 {
            source: r(register),
            destination: r(71),
            immediate: 1,
        });
        bench.submit(0, &[add]);
        bench.drain(0);
        bench.expect_diagnosis(&format!("r{register} is read but was never written"));
    }
}
