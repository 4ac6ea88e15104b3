//! Translated code against single steps, on random programs and values: registers, memory, counters, turns and diagnoses.

mod messages;
mod textures;

use eitri_host_code::Jit;
use eitri_isa::row::Kind;
use eitri_isa::{Arch, Instr, Syntax};
use eitri_model::Engine;
use eitri_model::host_code::{FloatPolicy, Lanes, Left, Trial, WARP};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

const SPECIAL: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0xffa0_0001,
    0x0000_0001,
    0x8000_0001,
    0x0080_0000,
    0x3f00_0000,
    0x4b80_0001,
    0x4f00_0000,
    0x7fff_ffff,
    u32::MAX,
];

/// A value whose kind instructions treat apart: small, special as a float, near to another, or anything.
fn value(random: &mut Random) -> u32 {
    let bits = random.next() as u32;
    match random.below(5) {
        0 => bits % 40,
        1 => SPECIAL[bits as usize % SPECIAL.len()],
        2 => 0x3f80_0000 + (bits & 0x81ff_ffff),
        3 => bits & 0x807f_ffff,
        _ => bits,
    }
}

fn lanes(random: &mut Random) -> Lanes {
    let first = value(random);
    match random.below(4) {
        0 => [first; WARP],
        _ => std::array::from_fn(|_| value(random)),
    }
}

/// The engine whose code is there before the first instruction.
fn jit() -> Engine {
    Engine::Jit(Arc::new(
        Jit::at_once().expect("a host for which code can be made"),
    ))
}

fn is_arithmetic(word: u64, arch: Arch) -> bool {
    Instr::decode(word, arch).is_ok_and(|instr| instr.row().kind == Kind::Alu)
}

/// Words of arithmetic: those of the semantics vectors, and as many times each with some bits changed.
fn arithmetic(arch: Arch, changed: u64) -> Vec<u64> {
    let path = eitri_testdata::kept("isa-semantics-vectors.json");
    let text = std::fs::read_to_string(path).expect("vectors");
    let file: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let vectors = file["vectors"].as_array().expect("vectors");
    let words = vectors.iter().map(|vector| {
        let text = vector["word"].as_str().expect("a word");
        u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number")
    });
    let mut random = Random::new(7);
    let mut all = BTreeSet::new();
    for word in words.collect::<BTreeSet<u64>>() {
        all.insert(word);
        for _ in 0..changed {
            let mut other = word;
            for _ in 0..1 + random.below(4) {
                other ^= 1 << random.below(58);
            }
            all.insert(other);
        }
    }
    all.into_iter()
        .filter(|word| is_arithmetic(*word, arch))
        .collect()
}

fn assemble(line: &str, arch: Arch) -> u64 {
    Instr::assemble(line, arch, Syntax::Mesa24).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Arithmetic with branches, loads and stores between, all of whose ways end or go round.
fn program(random: &mut Random, arithmetic: &[u64], arch: Arch) -> Vec<u64> {
    let length = 8 + random.below(90) as i64;
    let rare = random.below(2) == 0;
    let mut words = Vec::new();
    for at in 0..length {
        let register = random.below(40);
        let flow = random.one(&[".reconverge", "", ".wait0", ".wait012"]);
        let line = match random.below(if rare { 24 } else { 9 }) {
            0 => {
                let offset = random.below(length as u64) as i64 - at - 1;
                let test = random.one(&[".eq", ""]);
                let half = random.one(&["", "", ".h0", ".h1"]);
                format!("BRANCHZ{test}{flow} r{register}{half}, offset:{offset}")
            }
            1 => {
                let slot = random.below(3);
                let flow = random.one(&[".wait0", ".wait012", "", ".wait2"]);
                format!(
                    "LOAD.i32.unsigned.slot{slot}{flow} @r{register}, r60, offset:{}",
                    4 * random.below(64)
                )
            }
            2 => format!(
                "STORE.i32.slot0.wait0 @r{register}, r60, offset:{}",
                4 * random.below(64)
            ),
            3 => format!("NOP{flow}"),
            _ => {
                words.push(random.one(arithmetic));
                continue;
            }
        };
        words.push(assemble(&line, arch));
    }
    words.push(assemble("NOP.end", arch));
    words
}

fn registers(random: &mut Random) -> Vec<Lanes> {
    let mut registers: Vec<Lanes> = (0..64).map(|_| lanes(random)).collect();
    let spread = 4 * random.below(3) as u32;
    registers[60] = std::array::from_fn(|lane| Trial::DATA as u32 + spread * lane as u32);
    registers[61] = [0; WARP];
    registers
}

const PLAIN: FloatPolicy = FloatPolicy {
    flush32: false,
    flush16: false,
    suppress_nan: false,
    suppress_inf: false,
};

const POLICIES: [FloatPolicy; 4] = [
    PLAIN,
    FloatPolicy {
        flush32: true,
        ..PLAIN
    },
    FloatPolicy {
        flush32: true,
        flush16: true,
        ..PLAIN
    },
    FloatPolicy {
        suppress_nan: true,
        suppress_inf: true,
        ..PLAIN
    },
];

/// What differs, in words.
fn differences(left: &Left, right: &Left) -> Vec<String> {
    fn note<T: std::fmt::Debug + PartialEq>(
        all: &mut Vec<String>,
        what: &str,
        [left, right]: [&T; 2],
    ) {
        if left != right {
            all.push(format!("{what}: {left:x?} / {right:x?}"));
        }
    }
    let mut all = Vec::new();
    note(&mut all, "turns", [&left.turns, &right.turns]);
    note(&mut all, "places", [&left.places, &right.places]);
    note(&mut all, "counters", [&left.counters, &right.counters]);
    note(&mut all, "diagnoses", [&left.diagnoses, &right.diagnoses]);
    note(&mut all, "memory", [&left.data, &right.data]);
    for register in 0..64 {
        let name = format!("r{register}");
        note(
            &mut all,
            &name,
            [&left.registers[register], &right.registers[register]],
        );
        note(
            &mut all,
            &name,
            [&left.valid[register], &right.valid[register]],
        );
    }
    all
}

#[track_caller]
fn same(trial: &Trial<'_>, jit: &Engine, what: &dyn Fn() -> String) -> Left {
    let steps = trial.run(&Engine::Interpret);
    for engine in [&Engine::Simd, jit] {
        let left = trial.run(engine);
        let differences = differences(&left, &steps);
        assert!(
            differences.is_empty(),
            "{} differs by {}, and should be as by single steps: {differences:#?}",
            what(),
            engine.name()
        );
    }
    steps
}

#[test]
fn every_operation_computes_what_the_model_computes() {
    let (jit, long) = (jit(), eitri_testdata::long());
    for arch in [Arch::V10, Arch::V11, Arch::V12] {
        let end = assemble("NOP.end", arch);
        // Making code is slow in a build without optimisation.
        let arithmetic = arithmetic(arch, if long { 8 } else { 1 });
        assert!(arithmetic.len() > 60, "{} on {arch}", arithmetic.len());
        let mut random = Random::new(3);
        for (number, group) in arithmetic.chunks(8).enumerate() {
            // The first instruction takes a single step, which loads the page; behind it a block begins.
            let mut words = vec![assemble("NOP.wait0", arch)];
            words.extend(group);
            words.push(end);
            let policies = match long {
                true => &POLICIES[..],
                false => core::slice::from_ref(&POLICIES[number % POLICIES.len()]),
            };
            for &policy in policies {
                let trial = Trial {
                    arch,
                    words: &words,
                    registers: &registers(&mut random),
                    lanes: u16::MAX,
                    policy,
                    turn: (128, 500),
                    lends: true,
                };
                same(&trial, &jit, &|| {
                    format!("{words:016x?} on {arch}, {policy:?}")
                });
            }
        }
    }
}

#[test]
fn programs_do_what_single_steps_do() {
    for arch in [Arch::V10, Arch::V11, Arch::V12] {
        let arithmetic = arithmetic(arch, 1);
        let mut executed = 0;
        for seed in 0..if eitri_testdata::long() { 200 } else { 20 } {
            let mut random = Random::new(seed);
            let words = program(&mut random, &arithmetic, arch);
            let registers = registers(&mut random);
            // Some hold nothing at the beginning: reading them is reported.
            let held = random.one(&[64, 64, 64, 62]);
            let trial = Trial {
                arch,
                words: &words,
                registers: &registers[..held],
                lanes: random.one(&[u16::MAX, u16::MAX, 0x00ff, 0x0001]),
                policy: random.one(&POLICIES),
                turn: random.one(&[(128, 500), (128, 140), (40, 40), (1, 1), (7, 300)]),
                lends: true,
            };
            let jit = jit();
            let left = same(&trial, &jit, &|| {
                format!("seed {seed} on {arch}: {words:016x?}")
            });
            executed += left.used;
        }
        assert!(executed > 1_500, "{executed} on {arch}");
    }
}

/// The pointers to the memory of a workgroup and of its threads, and the lanes' numbers: as 64 bits, as words, and of parts.
#[test]
fn special_values_are_those_of_single_steps() {
    let jit = jit();
    let arch = Arch::V10;
    let lines = [
        "NOP.wait0",
        "SHADDX.s64 r0, workgroup_local_pointer.w0, r40.w0, shift:0x4",
        "SHADDX.u64 r2, thread_local_pointer.w0, r41.w0, shift:0x0",
        "SEG_ADD.u64 r4, thread_local_pointer.w0, r42.w0",
        "SEG_ADD.u64.neg r6, workgroup_local_pointer.w0, r43.w0",
        "SEG_ADD.u64.preserve_null r8, r44, r46.w0",
        "IADD.u32 r10, thread_local_pointer.w0, r40",
        "IADD.u32 r11, thread_local_pointer.w1, r40",
        "IADD.u32 r12, workgroup_local_pointer.w0, r40",
        "IADD.u32 r13, lane_id.w0, r40",
        "LSHIFT_OR.i32 r14, r40, lane_id.w0.b00, 0x0",
        "NOP.end",
    ];
    let words: Vec<u64> = lines.iter().map(|line| assemble(line, arch)).collect();
    let mut random = Random::new(5);
    for lanes in [u16::MAX, 0x8421, 0x0001] {
        let mut registers = registers(&mut random);
        // Null in some lanes.
        for half in [44, 45] {
            registers[half][..WARP / 2].fill(0);
        }
        let trial = Trial {
            arch,
            words: &words,
            registers: &registers,
            lanes,
            policy: PLAIN,
            turn: (128, 500),
            lends: true,
        };
        let left = same(&trial, &jit, &|| format!("lanes {lanes:#06x}"));
        let [low, high] = [2, 3].map(|register| left.registers[register]);
        let wide = |lane: usize| u64::from(high[lane]) << 32 | u64::from(low[lane]);
        let added = |lane: usize| u64::from(registers[41][lane]);
        assert_eq!(
            wide(0).wrapping_sub(added(0)),
            0x1_ffff_ff80,
            "the first thread's memory"
        );
        assert_eq!(left.diagnoses, Vec::<String>::new());
    }
}
