//! How fast shader cores run: lane instructions a second, of a loop of arithmetic and of a copy through memory.

#[path = "../tests/bench/mod.rs"]
mod bench;

use bench::Bench;
use eitri_cs::instr::{Instr as Command, Move32, Move48, ReqResource, RunCompute, Wait};
use eitri_cs::{Arch, Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_isa::{Instr, Syntax};

const CODE: u64 = 0x4000_0000;
const DATA: u64 = 0x4100_0000;

fn main() {
    run("arithmetic", ARITHMETIC, 64 * 64 * 6 * 1000);
    run("memory", MEMORY, 64 * 64 * 6 * 1000);
}

const ARITHMETIC: &str = "
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    FMA.f32 r1, r60, r61, r62
    LSHIFT_XOR.i32 r2, r60, 0x03020100.b33, r0
    IMUL.i32 r3, r2, r60
    ICMP_OR.u32.lt.m1 r4, r0, u2, 0x0
    BRANCHZ.reconverge r4, offset:-6
    NOP.end";

const MEMORY: &str = "
    SHADDX.u64 r6, u0, r60.w0, shift:0x2
    IADD_IMM.i32 r0, 0x0, #0
    IADD_IMM.i32 r0, r0, #1
    LOAD.i32.unsigned.slot0.w0.wait0 @r8, r6, offset:0
    IADD.u32 r8, r8, r0
    STORE.i32.slot0.wait0 @r8, r6, offset:0
    ICMP_OR.u32.lt.m1 r4, r0, u2, 0x0
    BRANCHZ.reconverge r4, offset:-6
    NOP.end";

fn command(instr: impl Into<Command>) -> u64 {
    instr.into().encode(Arch::V10).expect("legal")
}

/// A GPU that is ready to run `text` with 64 workgroups of 64 threads, and the stream that does it.
fn prepare(text: &str) -> (Bench, Vec<u64>) {
    let mut bench = Bench::booted();
    bench.start_group(0);
    bench.map(1, CODE, 0x1000, Attributes::CODE);
    bench.map(1, DATA, 0x4_0000, Attributes::CACHED);
    let words: Vec<u64> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| Instr::assemble(line, eitri_isa::Arch::V10, Syntax::Mesa24).expect(line))
        .collect();
    bench.put_words(1, CODE, &words);
    bench.put_words(1, DATA, &[0x18 | 0x7f80 << 32, CODE, 0, 0, 0, 0, 0, 0]);
    bench.put_words(1, DATA + 0x40, &[31 << 32, 0, 0, 0]);
    bench.put_words(1, DATA + 0x80, &[DATA + 0x1000, 1000]);
    let set32 = |register, immediate| {
        let destination = Reg::new(register);
        command(Move32 {
            destination,
            immediate,
        })
    };
    let set64 = |register, immediate| {
        let destination = Pair::new(register).expect("even");
        command(Move48 {
            destination,
            immediate,
        })
    };
    let mut stream = vec![
        set64(0, 0),
        set64(8, DATA + 0x80),
        set32(9, 2 << 24),
        set64(16, DATA),
        set64(24, DATA + 0x40),
    ];
    stream.extend(
        [0, 63, 0, 0, 0, 64, 1, 1]
            .into_iter()
            .zip(32..)
            .map(|(value, register)| set32(register, value)),
    );
    stream.extend([
        command(ReqResource {
            compute: true,
            ..ReqResource::default()
        }),
        command(RunCompute {
            task_increment: 1,
            ..RunCompute::default()
        }),
        command(Wait {
            wait_mask: SlotMask::new(0xff),
            ..Wait::default()
        }),
    ]);
    (bench, stream)
}

/// Runs `text` a few times and prints the best rate.
fn run(name: &str, text: &str, lane_instructions: u64) {
    let (mut bench, stream) = prepare(text);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = std::time::Instant::now();
        bench.submit(0, &stream);
        bench.drain(0);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let rate = lane_instructions as f64 / best / 1e6;
    println!("{name:12} {rate:8.1} million lane instructions a second");
}
