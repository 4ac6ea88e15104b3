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

/// Where a lane's bytes begin in the data.
type PlaceOf = fn(u32) -> u32;

/// Messages alone: a loop of eight, and three instructions that count. What is loaded or stored, and where each lane does.
const EIGHT: [(&str, &str, PlaceOf); 9] = [
    ("nothing", "NOP.wait0", |_| 0),
    ("load, row", LOAD, |lane| 4 * lane),
    ("load, same", LOAD, |_| 64),
    ("load, strided", LOAD, |lane| 64 * lane),
    ("load, scattered", LOAD, |lane| (lane * 7 % 16) * 252),
    (
        "load 16 bytes",
        "LOAD.i128.unsigned.slot0.wait0 @r12:r13:r14:r15, r60, offset:0",
        |lane| 16 * lane,
    ),
    (
        "load bytes",
        "LOAD.i8.unsigned.slot0.wait0.w0 @r12, r60, offset:0",
        |lane| lane,
    ),
    ("store, row", STORE, |lane| 4 * lane),
    ("store, strided", STORE, |lane| 64 * lane),
];

const LOAD: &str = "LOAD.i32.unsigned.slot0.wait0 @r12, r60, offset:0";
const STORE: &str = "STORE.i32.slot0.wait0 @r12, r60, offset:0";

/// A loop of eight times this instruction.
fn eight(line: &str) -> String {
    let begin = "IADD_IMM.i32 r0, 0x0, #0\nIADD_IMM.i32 r0, r0, #1\n";
    let end = "ICMP_OR.u32.lt.m1 r8, r0, r62, 0x0\nBRANCHZ.reconverge r8, offset:-11\nNOP.end";
    format!("{begin}{}{end}", format!("{line}\n").repeat(8))
}

/// Times that each program is run, if nothing is said.
const RUNS: u32 = 300;

/// `cargo bench -p eitri-host-code -- NAME ENGINE RUNS`: the programs whose name contains the first argument, by the engine that is the
/// second, so often; by default all, by each, and [`RUNS`] times.
fn main() {
    let arguments = std::env::args().skip(1).filter(|it| !it.starts_with("--"));
    let [name, engine, runs] = {
        let mut arguments = arguments.fuse();
        [(); 3].map(|()| arguments.next().unwrap_or_default())
    };
    let jit = Jit::at_once().expect("a host for which code can be made");
    let engines = [Engine::Interpret, Engine::Simd, Engine::Jit(Arc::new(jit))];
    let mut programs = vec![
        ("floats", FLOATS.to_owned(), row as PlaceOf),
        ("integers", INTEGERS.to_owned(), row),
        ("lanes apart", APART.to_owned(), row),
        ("messages", MESSAGES.to_owned(), row),
    ];
    programs.extend(EIGHT.map(|(name, line, place)| (name, eight(line), place)));
    for (program, text, place) in programs.iter().filter(|it| it.0.contains(&name)) {
        for by in engines.iter().filter(|it| it.name().contains(&engine)) {
            let shortest = time(text, *place, by, runs.parse().unwrap_or(RUNS));
            println!(
                "{program:<16} {:<10} {shortest:>8.1} ns a warp instruction, set-up included",
                by.name()
            );
        }
    }
}

fn row(lane: u32) -> u32 {
    4 * lane
}

/// Nanoseconds of an instruction, in the shortest run: others interrupt the longer ones.
fn time(text: &str, place: PlaceOf, engine: &Engine, runs: u32) -> f64 {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let words: Vec<u64> = lines
        .map(|line| Instr::assemble(line, Arch::V10, Syntax::Mesa24).expect(line))
        .collect();
    let mut registers: Vec<Lanes> = (0..64)
        .map(|register| std::array::from_fn(|lane| 0x3f80_0000 + (register + lane as u32)))
        .collect();
    registers[4] = [0; WARP];
    registers[60] = std::array::from_fn(|lane| Trial::DATA as u32 + place(lane as u32));
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
        lends: true,
    };
    let runs = (0..runs).map(|_| {
        let begin = Instant::now();
        let left = trial.run(engine);
        begin.elapsed().as_nanos() as f64 / left.used as f64
    });
    runs.fold(f64::INFINITY, f64::min)
}
