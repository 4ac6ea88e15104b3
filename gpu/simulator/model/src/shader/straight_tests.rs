//! Runs of instructions against single steps, and lanes together against each lane alone, on random programs and values.

use super::WARP;
use super::engine::Engine;
use super::float::FloatPolicy;
use super::lanes::Lanes;
use super::trial::{Left, Trial};
use super::vectors::words_of;
use crate::random::Random;
use eitri_isa::row::Kind;
use eitri_isa::{Arch, Instr, Syntax};
use std::collections::BTreeSet;
use std::format;
use std::vec::Vec;

/// A turn that ends where it may.
const TURN: (u64, u64) = (128, 500);

/// Runs `words`, by single steps or not.
fn run(words: &[u64], arch: Arch, registers: &[Lanes], steps: bool) -> Left {
    let trial = Trial {
        arch,
        words,
        registers,
        lanes: u16::MAX,
        policy: FloatPolicy::default(),
        turn: TURN,
        lends: true,
    };
    trial.run(if steps {
        &Engine::Interpret
    } else {
        &Engine::Simd
    })
}

/// A value whose kind instructions treat apart: small, special as a float, near to another, or anything.
fn value(random: &mut Random) -> u32 {
    const SPECIAL: [u32; 12] = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001,
        0x0080_0000,
        0x3c00_7c00,
        0x7e00_0001,
        u32::MAX,
    ];
    let bits = random.below(1 << 32) as u32;
    match random.below(4) {
        0 => bits % 40,
        1 => SPECIAL[bits as usize % SPECIAL.len()],
        2 => 0x3f80_0000 + (bits & 0x81ff_ffff),
        _ => bits,
    }
}

/// A register with the same value in all lanes now and then.
fn lanes(random: &mut Random) -> Lanes {
    let first = value(random);
    match random.below(4) {
        0 => [first; WARP],
        _ => core::array::from_fn(|_| value(random)),
    }
}

/// Words of `kind` that the semantics vectors have for `arch`.
fn arithmetic(arch: Arch) -> Vec<u64> {
    let words: BTreeSet<u64> = words_of(arch).into_iter().collect();
    let is_arithmetic =
        |word: &u64| Instr::decode(*word, arch).is_ok_and(|instr| instr.row().kind == Kind::Alu);
    words.into_iter().filter(is_arithmetic).collect()
}

fn assemble(line: &str, arch: Arch) -> u64 {
    Instr::assemble(line, arch, Syntax::Mesa24).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Arithmetic with branches, loads and stores between, all of whose ways end or go round.
fn program(random: &mut Random, arithmetic: &[u64], arch: Arch) -> Vec<u64> {
    let length = 8 + random.below(40) as i64;
    let mut words = Vec::new();
    for at in 0..length {
        let register = random.below(40);
        let flow = [".reconverge", "", ".wait0"][random.below(3) as usize];
        let line = match random.below(8) {
            0 => {
                let offset = random.below(length as u64) as i64 - at - 1;
                let test = if random.below(2) == 0 { ".eq" } else { "" };
                format!("BRANCHZ{test}{flow} r{register}, offset:{offset}")
            }
            1 => format!(
                "LOAD.i32.unsigned.slot0.wait0 @r{register}, r60, offset:{}",
                4 * random.below(64)
            ),
            2 => format!(
                "STORE.i32.slot0.wait0 @r{register}, r60, offset:{}",
                4 * random.below(64)
            ),
            3 => format!("NOP{flow}"),
            _ => {
                words.push(arithmetic[random.below(arithmetic.len() as u64) as usize]);
                continue;
            }
        };
        words.push(assemble(&line, arch));
    }
    words.push(assemble("NOP.end", arch));
    words
}

#[test]
fn a_run_of_instructions_does_what_single_steps_do() {
    for arch in [Arch::V10, Arch::V11, Arch::V12] {
        let arithmetic = arithmetic(arch);
        assert!(arithmetic.len() > 100, "{} on {arch}", arithmetic.len());
        let mut executed = 0;
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let words = program(&mut random, &arithmetic, arch);
            let mut registers: Vec<Lanes> = (0..64).map(|_| lanes(&mut random)).collect();
            let spread = 4 * random.below(3) as u32;
            registers[60] = core::array::from_fn(|lane| Trial::DATA as u32 + spread * lane as u32);
            registers[61] = [0; WARP];
            let straight = run(&words, arch, &registers, false);
            let steps = run(&words, arch, &registers, true);
            assert_eq!(straight, steps, "seed {seed} on {arch}: {words:x?}");
            executed += straight.used;
        }
        assert!(executed > 30_000, "{executed} on {arch}");
    }
}

#[test]
fn a_lane_computes_what_it_would_compute_alone() {
    for arch in [Arch::V10, Arch::V11, Arch::V12] {
        let end = assemble("NOP.end", arch);
        let mut random = Random::new(1);
        for word in arithmetic(arch) {
            let registers: Vec<Lanes> = (0..64).map(|_| lanes(&mut random)).collect();
            let together = run(&[word, end], arch, &registers, false);
            for lane in 0..WARP {
                let alone: Vec<Lanes> = registers.iter().map(|it| [it[lane]; WARP]).collect();
                let alone = run(&[word, end], arch, &alone, false);
                for (number, (all, one)) in
                    together.registers.iter().zip(&alone.registers).enumerate()
                {
                    assert_eq!(
                        all[lane], one[lane],
                        "r{number} of lane {lane}: {word:016x} on {arch}"
                    );
                }
            }
        }
    }
}
