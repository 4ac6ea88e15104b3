//! Shader cores on several threads: nothing that can be seen depends on how many there are, or on when they run.

use super::bench::counting::{ACK, ENABLE, SAMPLES, layout, sample, switch_on};
use super::{BUFFER, BUFFER_BYTES, Bench, DONE, Dispatch};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::interrupts::JOB_IRQ_CLEAR;
use eitri_model::{Config, PhysicalMemory, Task, Workers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Numbers that look random, from a seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Threads that begin in an order, and at distances, that a seed gives.
#[derive(Debug)]
struct Bent {
    count: usize,
    seed: AtomicU64,
}

impl Bent {
    fn new(count: usize, seed: u64) -> Bent {
        let seed = AtomicU64::new(seed);
        Bent { count, seed }
    }
}

impl Workers for Bent {
    fn count(&self) -> usize {
        self.count
    }

    fn run(&self, tasks: &mut [Task<'_>]) {
        let mut random = Random::new(self.seed.fetch_add(1, Ordering::Relaxed));
        let first = random.below(tasks.len().max(1) as u64) as usize;
        tasks.rotate_left(first);
        if random.below(4) == 0 {
            // One after the other: the first does everything.
            tasks.iter_mut().for_each(|task| task());
            return;
        }
        std::thread::scope(|scope| {
            for task in tasks {
                let pause = Duration::from_micros(random.below(300));
                scope.spawn(move || {
                    std::thread::sleep(pause);
                    task();
                });
            }
        });
    }
}

/// Everything that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    buffer: Vec<u8>,
    counters: Vec<u8>,
    diagnoses: String,
    notes: String,
    time: u64,
    units: String,
    faults: u64,
}

/// Runs a dispatch, with counters on; what is seen of it, and how many turns were executed ahead and taken over.
fn run(
    dispatch: &Dispatch,
    text: &str,
    workers: Option<Arc<dyn Workers>>,
    gpu: &str,
) -> (Seen, (u64, u64)) {
    let config = Config {
        workers,
        ..Config::named(gpu).expect("a product")
    };
    let mut bench = dispatch.prepare_in(Bench::booted_with(config), text);
    bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
    switch_on(&mut bench, SAMPLES, 8);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    bench.write(JOB_IRQ_CLEAR, u32::MAX);
    let words = (0..BUFFER_BYTES as u32 / 4).map(|word| word.wrapping_mul(0x9e37_79b9) >> 12);
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    bench.put(1, BUFFER, &bytes);
    dispatch.submit(&mut bench);
    bench.wait(2_000_000);
    sample(&mut bench);
    let bytes = u64::from(layout(&mut bench).bytes());
    let all = |bench: &mut Bench, from: u64, bytes: u64| {
        let mut all = vec![0; bytes as usize];
        for (part, page) in all.chunks_mut(4096).zip((from..).step_by(4096)) {
            let physical = bench.physical(1, page);
            bench.memory.read(physical, part).expect("memory");
        }
        all
    };
    let mut buffer = all(&mut bench, BUFFER, BUFFER_BYTES);
    buffer.extend(bench.get64(1, DONE).to_le_bytes());
    let seen = Seen {
        buffer,
        counters: all(&mut bench, SAMPLES, bytes),
        diagnoses: bench.report(),
        notes: bench.notes(),
        time: bench.gpu.now(),
        units: format!("{:?}", bench.gpu.unit_times()),
        faults: bench.gpu.faults(),
    };
    (seen, bench.gpu.turns_ahead())
}

/// Compares runs on two and three threads with one on one thread; how many turns were taken over in all.
#[track_caller]
fn check(dispatch: &Dispatch, text: &str, gpu: &str, seed: u64) -> u64 {
    let (expected, none) = run(dispatch, text, None, gpu);
    assert_eq!(none, (0, 0));
    let mut taken = 0;
    for threads in [2, 3] {
        let workers: Arc<dyn Workers> = Arc::new(Bent::new(threads, seed));
        let (seen, (_, of_these)) = run(dispatch, text, Some(workers), gpu);
        let what = format!("seed {seed}, {threads} threads on {gpu}:\n{text}");
        assert_eq!(seen.diagnoses, expected.diagnoses, "{what}");
        assert_eq!(seen.time, expected.time, "{what}");
        assert_eq!(seen.units, expected.units, "{what}");
        let differs = |left: &[u8], right: &[u8]| left.iter().zip(right).position(|(a, b)| a != b);
        assert_eq!(differs(&seen.buffer, &expected.buffer), None, "{what}");
        assert_eq!(differs(&seen.counters, &expected.counters), None, "{what}");
        assert!(seen == expected, "{what}");
        taken += of_these;
    }
    taken
}

/// Own word in r0:r1, a place in the buffer that other threads may have too in r2:r3, values in r4 to r15.
const BEGIN: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x2
    LSHIFT_AND.i32 r5, r60, 0x0.b00, u4
    SHADDX.u64 r2, u0, r5.w0, shift:0x2
    IADD_IMM.i32 r4, r60, #3
    IADD_IMM.i32 r6, r57, #1
    IADD.u32 r7, r60, r5
    IADD.u32 r8, r7, r6
    IADD.u32 r9, r8, r4
";

/// A piece of a program, number `at`.
fn piece(random: &mut Random, at: usize, shares: bool, is_wild: bool) -> String {
    let value = |random: &mut Random| 4 + random.below(6);
    let (a, b, c) = (value(random), value(random), value(random));
    let offset = 4 * random.below(64);
    match random.below(if is_wild { 14 } else { 11 }) {
        0 | 1 => format!("IADD.u32 r{a}, r{b}, r{c}"),
        2 => format!("IMUL.i32 r{a}, r{b}, r{c}\nIADD.u32 r{b}, r{a}, r{c}"),
        3 => format!("FMA.f32 r{a}, r{b}, r{c}, r{a}"),
        4 => format!("LOAD.i32.unsigned.slot0.w0 @r{a}, r0, offset:0\nNOP.wait0"),
        5 => format!("STORE.i32.slot0 @r{a}, r0, offset:0\nNOP.wait0"),
        6 => format!("LOAD.i32.unsigned.slot1.w0 @r{a}, r2, offset:{offset}\nNOP.wait1"),
        // Some lanes skip what the others do.
        7 => format!(
            "LSHIFT_AND.i32 r10, r{a}, 0x0.b00, u5\nBRANCHZ.reconverge r10, offset:past{at}\n\
             IADD.u32 r{b}, r{b}, r{c}\nSTORE.i32.slot0 @r{b}, r0, offset:0\nNOP.wait0\npast{at}:\nNOP.reconverge"
        ),
        // Rounds enough for several turns.
        8 => {
            let rounds = 5 + random.below(60);
            format!(
                "IADD_IMM.i32 r11, 0x0, #{rounds}\nround{at}:\nIADD.u32 r{a}, r{b}, r{a}\nFADD.f32 r12, r{c}, r{a}\n\
                 IADD_IMM.i32 r11, r11, #0xffffffff\nBRANCHZ.reconverge r11, offset:round{at}\nNOP.reconverge"
            )
        }
        9 if shares => format!(
            "LSHIFT_OR.i32 r13, r55, u2.b00, 0x0\nLSHIFT_AND.i32 r13, r13, 0x0.b00, u6\n\
             IADD.u32 r14, workgroup_local_pointer.w0, r13\nMOV.i32 r15, workgroup_local_pointer.w1\n\
             STORE.i32.slot0 @r{a}, r14, offset:0\nNOP.wait0\nBARRIER.slot7.wait\n\
             LOAD.i32.unsigned.slot0.w0 @r{b}, r14, offset:0\nNOP.wait0\nBARRIER.slot7.wait"
        ),
        // Threads of other workgroups may write there too.
        10 => format!("STORE.i32.slot1 @r{a}, r2, offset:{offset}\nNOP.wait1"),
        11 => format!("ATOM.i32.slot0.aadd @r{a}, u0, offset:{offset}\nNOP.wait0"),
        12 => format!("ATOM1_RETURN.i32.slot0.ainc @r{a}, u0, offset:{offset}\nNOP.wait0"),
        // Nothing was written to the register.
        13 => format!("IADD.u32 r{a}, r{b}, r{}", 30 + random.below(3)),
        _ => format!("IADD.u32 r{a}, r{b}, r{c}"),
    }
}

fn program(random: &mut Random, shares: bool, is_wild: bool) -> String {
    let mut text = BEGIN.to_owned();
    for at in 0..4 + random.below(12) as usize {
        text.push_str(&piece(random, at, shares, is_wild));
        text.push('\n');
    }
    text.push_str("STORE.i32.slot0 @r9, r0, offset:0\nNOP.end");
    text
}

#[test]
fn random_programs_do_the_same_on_any_number_of_threads() {
    let mut taken = 0;
    for seed in 0..24 {
        let mut random = Random::new(seed + 1);
        let (shares, is_wild) = (random.below(2) == 0, random.below(3) == 0);
        let text = program(&mut random, shares, is_wild);
        let size = [random.one(&[16, 24, 64, 100]), 1, 1];
        let groups = random.one(&[3, 150, 400]);
        // From one word for all threads to a word for each.
        let masks = [0xff, 0xfff, 0x3fff];
        let dispatch = Dispatch {
            size,
            groups: [groups, 1, 1],
            workgroup_bytes: if shares { 512 } else { 0 },
            uniforms: vec![BUFFER as u32, 0, 2, 0, random.one(&masks), 1, 0x1fc, 0],
            ..Dispatch::default()
        };
        let gpu = random.one(&["G610", "G720"]);
        taken += check(&dispatch, &text, gpu, seed);
    }
    assert!(taken > 1000, "only {taken} turns were taken over");
}

/// So many workgroups that are apart from each other.
fn apart(groups: u32) -> Dispatch {
    Dispatch {
        size: [64, 1, 1],
        groups: [groups, 1, 1],
        uniforms: vec![BUFFER as u32, 0, 2, 0, 0x3fff, 1, 0x1fc, 0],
        ..Dispatch::default()
    }
}

#[test]
fn workgroups_that_are_apart_are_executed_ahead() {
    let text = "
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
        IADD_IMM.i32 r11, 0x0, #40
        NOP.wait0
        round:
        IADD.u32 r4, r4, r60
        IADD_IMM.i32 r11, r11, #0xffffffff
        BRANCHZ.reconverge r11, offset:round
        STORE.i32.slot0.reconverge @r4, r0, offset:0
        NOP.end";
    let dispatch = apart(400);
    assert!(check(&dispatch, text, "G610", 1) > 500);
    let workers: Arc<dyn Workers> = Arc::new(Bent::new(2, 7));
    let (_, (ahead, taken)) = run(&dispatch, text, Some(workers), "G610");
    assert!(taken * 10 > ahead * 9, "{taken} of {ahead}");
}

#[test]
fn a_counter_that_all_workgroups_share_counts_in_order() {
    // What each thread gets is the number of threads before it: any other order would be seen.
    let text = "
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        ATOM1_RETURN.i32.slot0.ainc @r4, u0, offset:0
        NOP.wait0
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end";
    check(&apart(200), text, "G610", 3);
}

#[test]
fn a_fault_in_a_late_workgroup_stops_the_job_where_one_thread_would() {
    // The thread's number beyond the buffer's end leads outside of what is mapped.
    let text = "
        SHADDX.u64 r0, u0, r60.w0, shift:0x6
        STORE.i32.slot0 @r60, r0, offset:0
        NOP.end";
    let dispatch = apart(400);
    assert!(u64::from(dispatch.groups[0]) * 64 * 64 > BUFFER_BYTES);
    let (seen, _) = run(&dispatch, text, None, "G610");
    assert_ne!(seen.faults, 0);
    check(&dispatch, text, "G610", 4);
}
