//! How long a warp's instruction takes by each engine: loops of arithmetic, of integers, with lanes apart, and of messages.

use eitri_host_code::Jit;
use eitri_isa::{Arch, Instr, Syntax};
use eitri_model::Engine;
use eitri_model::host_code::{FloatPolicy, Lanes, Trial, WARP};
use std::sync::Arc;
use std::time::Instant;

const FLOATS: &str = "
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    FMA.f32 r1, r1, r2, r3
    FADD.f32 r3, r1, r2
    FMA.f32 r4, r4, r2, r3
    FADD.f32 r5, r4, r1
    FMA.f32 r6, r5, r2, r3
    ICMP_OR.u32.lt.m1 r8, r0, r62, 0x0
    BRANCHZ.reconverge r8, offset:-7
    NOP.end";

const INTEGERS: &str = "
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    IADD.u32 r1, r1, r2
    LSHIFT_XOR.i32 r2, r1, 0x03020100.b33, r0
    IMUL.i32 r3, r2, r1
    IADD.u32 r4, r3, r1
    ICMP_OR.u32.lt.m1 r8, r0, r62, 0x0
    BRANCHZ.reconverge r8, offset:-6
    NOP.end";

const APART: &str = "
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    IADD.u32 r1, r1, r2
    IADD.u32 r3, r1, r0
    ICMP_OR.u32.lt.m1 r8, r0, r63, 0x0
    BRANCHZ.reconverge r8, offset:-4
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r4, r4, #1
    ICMP_OR.u32.lt.m1 r8, r4, r62, 0x0
    BRANCHZ.reconverge r8, offset:-9
    NOP.end";

const MESSAGES: &str = "
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    LOAD.i32.unsigned.slot0.wait0 @r1, r60, offset:0
    IADD.u32 r1, r1, r2
    STORE.i32.slot0.wait0 @r1, r60, offset:0
    ICMP_OR.u32.lt.m1 r8, r0, r62, 0x0
    BRANCHZ.reconverge r8, offset:-5
    NOP.end";

/// Times that each program is run.
const RUNS: u32 = 300;

fn main() {
    let jit = Jit::at_once().expect("a host for which code can be made");
    let engines = [Engine::Interpret, Engine::Simd, Engine::Jit(Arc::new(jit))];
    let programs = [
        ("floats", FLOATS),
        ("integers", INTEGERS),
        ("lanes apart", APART),
        ("messages", MESSAGES),
    ];
    for (name, text) in programs {
        let words: Vec<u64> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(|line| Instr::assemble(line, Arch::V10, Syntax::Mesa24).expect(line))
            .collect();
        let mut registers: Vec<Lanes> = (0..64)
            .map(|register| std::array::from_fn(|lane| 0x3f80_0000 + (register + lane as u32)))
            .collect();
        registers[4] = [0; WARP];
        registers[60] = std::array::from_fn(|lane| Trial::DATA as u32 + 4 * lane as u32);
        registers[61] = [0; WARP];
        registers[62] = [100_000; WARP];
        registers[63] = std::array::from_fn(|lane| 1 + lane as u32);
        let trial = Trial {
            arch: Arch::V10,
            words: &words,
            registers: &registers,
            lanes: u16::MAX,
            policy: FloatPolicy::default(),
            turn: (128, 512),
        };
        for engine in &engines {
            // The shortest of all: others interrupt the longer ones.
            let shortest = (0..RUNS).map(|_| {
                let begin = Instant::now();
                let left = trial.run(engine);
                begin.elapsed().as_nanos() as f64 / left.used as f64
            });
            let shortest = shortest.fold(f64::INFINITY, f64::min);
            println!(
                "{name:<12} {:<10} {shortest:>8.1} ns a warp instruction, set-up included",
                engine.name()
            );
        }
    }
}
