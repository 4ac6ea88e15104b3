//! How fast shader cores run: lane instructions a second, of a loop of arithmetic, of accesses to memory, and of short workgroups; on
//! one thread and on two.
//!
//! On two threads it is also printed how much CPU time each kind of work takes (Linux alone says), since other processes disturb the
//! real time: what is done ahead by all threads, and what the one thread does in order. Were there two processors for them, the work
//! would take the second and half the first.

#[path = "../tests/bench/mod.rs"]
mod bench;

use bench::Bench;
use eitri_cs::instr::{Instr as Command, Move32, Move48, ReqResource, RunCompute, Wait};
use eitri_cs::{Arch, Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_isa::{Instr, Syntax};
use eitri_model::{Config, Task, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const CODE: u64 = 0x4000_0000;
const DATA: u64 = 0x4100_0000;

fn main() {
    run("arithmetic", ARITHMETIC, 64, 64 * 64 * 6 * 1000);
    run("memory", MEMORY, 64, 64 * 64 * 6 * 1000);
    run("short", SHORT, 8000, 8000 * 64 * 45);
}

/// Threads whose CPU time is measured.
#[derive(Debug, Default)]
struct Timed {
    count: usize,
    /// Nanoseconds of all tasks, and of those of the calling thread.
    ahead: AtomicU64,
    own: AtomicU64,
}

impl Workers for Timed {
    fn count(&self) -> usize {
        self.count
    }

    fn run(&self, tasks: &mut [Task<'_>]) {
        let timed = |task: &mut Task<'_>| {
            let before = cpu_time();
            task();
            let took = cpu_time() - before;
            self.ahead.fetch_add(took, Ordering::Relaxed);
            took
        };
        std::thread::scope(|scope| {
            let Some((own, others)) = tasks.split_first_mut() else {
                return;
            };
            for task in others {
                scope.spawn(move || timed(task));
            }
            self.own.fetch_add(timed(own), Ordering::Relaxed);
        });
    }
}

/// Nanoseconds that this thread has been on a processor; 0 where nobody says.
fn cpu_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let first = text.split(' ').next();
    first.and_then(|first| first.parse().ok()).unwrap_or(0)
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

/// Less than a turn.
const SHORT: &str = "
    SHADDX.u64 r6, u0, r60.w0, shift:0x2
    LOAD.i32.unsigned.slot0.w0.wait0 @r8, r6, offset:0
    IADD_IMM.i32 r0, 0x0, #7
    FMA.f32 r1, r60, r61, r62
    IADD.u32 r8, r8, r0
    LSHIFT_XOR.i32 r2, r60, 0x03020100.b33, r0
    IADD.u32 r8, r8, r2
    IADD_IMM.i32 r0, r0, #0xffffffff
    BRANCHZ.reconverge r0, offset:-6
    STORE.i32.slot0 @r8, r6, offset:0
    NOP.end";

fn command(instr: impl Into<Command>) -> u64 {
    instr.into().encode(Arch::V10).expect("legal")
}

/// A GPU that is ready to run `text` with workgroups of 64 threads, and the stream that does it.
fn prepare(text: &str, groups: u32, workers: Option<Arc<dyn Workers>>) -> (Bench, Vec<u64>) {
    let mut bench = Bench::booted_with(Config {
        workers,
        ..Config::default()
    });
    bench.start_group(0);
    bench.map(1, CODE, 0x1000, Attributes::CODE);
    bench.map(1, DATA, 0x40_0000, Attributes::CACHED);
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
        [0, 63, 0, 0, 0, groups, 1, 1]
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

/// Runs `text` a few times and prints the best rates, if `name` was asked for on the command line or none was.
fn run(name: &str, text: &str, groups: u32, lane_instructions: u64) {
    let mut asked = std::env::args().skip(1).filter(|it| !it.starts_with('-'));
    let first = asked.next();
    if first.is_some_and(|first| first != name && asked.all(|other| other != name)) {
        return;
    }
    let (alone, cpu, _) = best(text, groups, None);
    print(name, 1, lane_instructions, alone);
    println!(": {:.1} ms of CPU", cpu as f64 / 1e6);
    let timed = Arc::new(Timed {
        count: 2,
        ..Timed::default()
    });
    let (both, cpu, taken) = best(text, groups, Some(timed.clone()));
    print(name, 2, lane_instructions, both);
    let runs = RUNS as f64 * 1e6;
    let ahead = timed.ahead.load(Ordering::Relaxed) as f64 / runs;
    let own = timed.own.load(Ordering::Relaxed) as f64 / runs;
    let in_order = cpu as f64 / 1e6 - own;
    println!(": {ahead:.1} ms of CPU ahead, {in_order:.1} ms in order; {taken}");
}

fn print(name: &str, threads: u32, lane_instructions: u64, seconds: f64) {
    let rate = lane_instructions as f64 / seconds / 1e6;
    print!("{name:12} {threads} {rate:8.1} million lane instructions a second");
}

const RUNS: u32 = 5;

/// The shortest time, the mean CPU time of this thread, and what was executed ahead.
fn best(text: &str, groups: u32, workers: Option<Arc<dyn Workers>>) -> (f64, u64, String) {
    let (mut bench, stream) = prepare(text, groups, workers);
    let mut best = f64::INFINITY;
    let before = cpu_time();
    for _ in 0..RUNS {
        let start = std::time::Instant::now();
        bench.submit(0, &stream);
        // As a driver that waits for an interrupt, not as one that polls.
        bench.wait(100_000);
        bench.drain(0);
        best = best.min(start.elapsed().as_secs_f64());
    }
    let cpu = (cpu_time() - before) / u64::from(RUNS);
    let (ahead, taken) = bench.gpu.turns_ahead();
    (best, cpu, format!("{taken} of {ahead} turns taken over"))
}
