//! Shaders on the cores: messages, divergence, barriers, atomics, storage, faults.
//!
//! Programs are written in assembly; the text is read by `eitri_isa`.

mod bench;
#[path = "dispatch/counters.rs"]
mod counters;
#[path = "dispatch/generations.rs"]
mod generations;
#[path = "dispatch/typed.rs"]
mod typed;

use bench::{Bench, EACH, stream_output};
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{Instr as Command, Move32, Move48, ReqResource, RunCompute, SyncAdd64, Wait};
use eitri_cs::{Arch, Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_isa::{Instr, Syntax};
use eitri_model::{Injection, PhysicalMemory};

const CODE: u64 = 0x4000_0000;
const DESCRIPTORS: u64 = 0x4100_0000;
const STORAGE: u64 = 0x4200_0000;
/// The buffer with handle 0x0100_0000.
const BUFFER: u64 = 0x2000_0000;
const BUFFER_BYTES: u64 = 0x10_0000;
/// The sync object that the job signals.
const DONE: u64 = 0x2100_0000;

/// A dispatch: the program and its sizes.
struct Dispatch {
    size: [u32; 3],
    groups: [u32; 3],
    /// 32-bit words of the uniforms; slot 0 is the address of the buffer.
    uniforms: Vec<u32>,
    preload: u16,
    workgroup_bytes: u32,
    thread_bytes: u32,
    /// Words 0 of the shader program descriptor: type, stage, register allocation, float policy.
    program_word: u32,
}

impl Default for Dispatch {
    fn default() -> Dispatch {
        Dispatch {
            size: [16, 1, 1],
            groups: [1, 1, 1],
            uniforms: vec![BUFFER as u32, (BUFFER >> 32) as u32],
            // r55 to r62.
            preload: 0x7f80,
            workgroup_bytes: 0,
            thread_bytes: 0,
            program_word: 8 | 1 << 4,
        }
    }
}

/// Assembles a program, a line an instruction; `NAME:` before a line may be a target of `offset:NAME`.
#[track_caller]
fn assemble(text: &str, arch: Arch) -> Vec<u64> {
    let mut lines = Vec::new();
    let mut labels = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_suffix(':') {
            Some(label) => labels.push((label, lines.len() as i64)),
            None => lines.push(line),
        }
    }
    let here = |index: usize, line: &str| {
        let mut line = line.to_string();
        for (label, target) in &labels {
            let offset = target - index as i64 - 1;
            line = line.replace(&format!("offset:{label}"), &format!("offset:{offset}"));
        }
        Instr::assemble(&line, arch, Syntax::Mesa24)
            .unwrap_or_else(|error| panic!("{line} on {arch}: {error}"))
    };
    lines
        .iter()
        .enumerate()
        .map(|(index, line)| here(index, line))
        .collect()
}

fn command(instr: impl Into<Command>) -> u64 {
    instr.into().encode(Arch::V10).expect("legal")
}

fn set32(register: u8, immediate: u32) -> u64 {
    command(Move32 {
        destination: Reg::new(register),
        immediate,
    })
}

fn set64(register: u8, immediate: u64) -> u64 {
    let destination = Pair::new(register).expect("even");
    command(Move48 {
        destination,
        immediate,
    })
}

impl Dispatch {
    /// A started group with the program and everything it needs in memory.
    #[track_caller]
    fn prepare(&self, text: &str) -> Bench {
        self.prepare_on("G610", text)
    }

    /// As [`Dispatch::prepare`], on another product.
    #[track_caller]
    fn prepare_on(&self, gpu: &str, text: &str) -> Bench {
        let mut bench = Bench::booted_as(gpu);
        let positions = u64::from(u64::BITS - bench.cores().leading_zeros());
        bench.start_group(0);
        bench.map(1, CODE, 0x4000, Attributes::CODE);
        bench.map(1, DESCRIPTORS, 0x4000, Attributes::CACHED);
        bench.map(1, BUFFER, BUFFER_BYTES, Attributes::CACHED);
        bench.map(1, DONE, 0x1000, Attributes::UNCACHED);
        let code = assemble(text, bench.arch());
        bench.put_words(1, CODE, &code);
        // Shader program, local storage, resource table with one table of two buffers, uniforms.
        let preload = u64::from(self.preload);
        bench.put_words(
            1,
            DESCRIPTORS,
            &[u64::from(self.program_word) | preload << 32, CODE],
        );
        let threads: u64 = 2048 * 32;
        let log = |bytes: u32| bytes.max(1).next_power_of_two().trailing_zeros();
        let tls = if self.thread_bytes == 0 {
            (0, 0)
        } else {
            let bytes = u64::from(self.thread_bytes.next_power_of_two().max(16));
            bench.map(1, STORAGE, positions * 2048 * bytes, Attributes::CACHED);
            assert!(threads > 0);
            (log(bytes as u32) - 4, STORAGE)
        };
        let wls = STORAGE + 0x1000_0000;
        let scale = if self.workgroup_bytes == 0 {
            31
        } else {
            let bytes = u64::from(self.workgroup_bytes.next_power_of_two().max(128));
            bench.map(1, wls, positions * bytes, Attributes::CACHED);
            (log(bytes as u32) + 1) << 8
        };
        bench.put_words(
            1,
            DESCRIPTORS + 0x40,
            &[u64::from(tls.0) | u64::from(scale) << 32, tls.1, wls, 0],
        );
        let table = DESCRIPTORS + 0x100;
        bench.put_words(
            1,
            DESCRIPTORS + 0x80,
            &[0, 0, table | 1 << 56, 256, 0, 0, 0, 0],
        );
        bench.put_words(1, table, &[9 | 1 << 4 | 0x100 << 32, BUFFER, 4, 0]);
        bench.put_words(
            1,
            table + 32,
            &[9 | 3 << 4 | BUFFER_BYTES << 32, BUFFER, 8, 0],
        );
        let uniforms: Vec<u8> = self
            .uniforms
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bench.put(1, DESCRIPTORS + 0x200, &uniforms);
        bench
    }

    /// Submits the job and a signal behind it.
    fn submit(&self, bench: &mut Bench) {
        let count = self.uniforms.len().div_ceil(2) as u64;
        let [x, y, z] = self.size.map(|size| size - 1);
        let mut words = vec![
            set64(0, (DESCRIPTORS + 0x80) | 4),
            set64(8, DESCRIPTORS + 0x200),
            set32(9, (count as u32) << 24),
            set64(16, DESCRIPTORS),
            set64(24, DESCRIPTORS + 0x40),
            set32(32, 0),
            set32(33, x | y << 10 | z << 20),
        ];
        words.extend((34..37).map(|register| set32(register, 0)));
        words.extend(
            (37..40)
                .zip(self.groups)
                .map(|(register, count)| set32(register, count)),
        );
        words.extend([
            command(ReqResource {
                compute: true,
                ..ReqResource::default()
            }),
            command(RunCompute {
                task_increment: 1,
                ..RunCompute::default()
            }),
            command(ReqResource::default()),
            set64(4, DONE),
            set64(6, 1),
            command(Wait {
                wait_mask: SlotMask::new(0xff),
                ..Wait::default()
            }),
            command(SyncAdd64 {
                address: Pair::new(4).expect("even"),
                data: Pair::new(6).expect("even"),
                scope: SyncScope::System,
                error_propagate: true,
                ..SyncAdd64::default()
            }),
        ]);
        bench.submit(0, &words);
    }

    /// Runs the program to its end.
    #[track_caller]
    fn run(&self, text: &str) -> Bench {
        self.run_on("G610", text)
    }

    /// As [`Dispatch::run`], on another product.
    #[track_caller]
    fn run_on(&self, gpu: &str, text: &str) -> Bench {
        let mut bench = self.prepare_on(gpu, text);
        self.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1, "{gpu}\n{}", bench.report());
        bench
    }

    /// Runs the program on a product and compares the first words of the buffer.
    #[track_caller]
    fn check_on(&self, gpu: &str, text: &str, expected: &[u32]) {
        let mut bench = self.run_on(gpu, text);
        let got: Vec<u32> = (0..expected.len())
            .map(|i| bench.get32(1, BUFFER + 4 * i as u64))
            .collect();
        assert_eq!(got, expected, "{gpu}\n{}", bench.report());
        bench.expect_no_diagnoses();
    }

    /// Runs the program on a product of each generation and compares the first words of the buffer.
    #[track_caller]
    fn check(&self, text: &str, expected: &[u32]) {
        for gpu in EACH {
            self.check_on(gpu, text, expected);
        }
    }

    /// Runs the program on a product of each generation and expects the job to fail with an exception.
    #[track_caller]
    fn check_fault(&self, text: &str, exception: u32, diagnosis: &str) {
        for gpu in EACH {
            let mut bench = self.prepare_on(gpu, text);
            self.submit(&mut bench);
            bench.poll_shared(stream_output(0) + 0x80, 0xff, exception);
            bench.expect_diagnosis(diagnosis);
        }
    }
}

/// r0:r1 = address of the global thread's word.
const MY_WORD: &str = "
    SHADDX.u64 r0, u0, r60.w0, shift:0x2
";

fn program(body: &str) -> String {
    format!("{MY_WORD}{body}")
}

#[test]
fn every_thread_stores_its_id() {
    let dispatch = Dispatch {
        size: [24, 1, 1],
        groups: [3, 1, 1],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..72).collect();
    dispatch.check(
        &program("STORE.i32.slot0 @r60, r0, offset:0\nNOP.end"),
        &expected,
    );
}

#[test]
fn ids_follow_the_workgroup_in_three_dimensions() {
    let dispatch = Dispatch {
        size: [4, 2, 3],
        groups: [2, 1, 2],
        ..Dispatch::default()
    };
    // word = local x | y << 16 ... stored per global linear index computed from ids: x + 8 * (y + 2 * z).
    let text = "
        LSHIFT_OR.i32 r4, r62, 0x01000000.b33, 0x0
        IADD.u32 r4, r4, r61
        LSHIFT_OR.i32 r4, r4, 0x03020100.b33, 0x0
        IADD.u32 r4, r4, r60
        SHADDX.u64 r0, u0, r4.w0, shift:0x2
        LSHIFT_OR.i32 r6, r56, 0x04000000.b33, r55
        LSHIFT_OR.i32 r6, r57, 0x10000000.b33, r6
        STORE.i32.slot0 @r6, r0, offset:0
        NOP.end";
    // Shift amounts that the table lacks come from uniforms instead.
    let text = text
        .replace("0x01000000.b33", "u2.b00")
        .replace("0x03020100.b33", "u2.b11")
        .replace("0x04000000.b33", "u2.b22")
        .replace("0x10000000.b33", "u2.b33");
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 1 | 3 << 8 | 8 << 16 | 28 << 24, 0],
        ..dispatch
    };
    let mut expected = Vec::new();
    for z in 0..6u32 {
        for y in 0..2u32 {
            for x in 0..8u32 {
                expected.push((x % 4) | (y << 16) | ((z % 3) << 8) | ((x / 4) << 28));
            }
        }
    }
    dispatch.check(&text, &expected);
}

#[test]
fn loads_of_every_width_go_where_they_should() {
    let dispatch = Dispatch {
        size: [1, 1, 1],
        uniforms: vec![BUFFER as u32, 0, BUFFER as u32 + 0x80, 0],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(
        "
        MOV.i32 r4, 0x0
        MOV.i32 r5, 0x0
        LOAD.i8.unsigned.slot0.b2 @r4, u0, offset:1
        LOAD.i16.unsigned.slot0.h1 @r5, u0, offset:2
        LOAD.i8.slot0.w0 @r6, u0, offset:7
        LOAD.i16.unsigned.slot0.w0 @r7, u0, offset:6
        LOAD.i8.slot0.d0 @r8:r9, u0, offset:7
        LOAD.i64.unsigned.slot0 @r10:r11, u0, offset:0
        LOAD.i24.unsigned.slot0 @r12, u0, offset:4
        LOAD.i8.slot1.h0 @r13, u0, offset:7
        NOP.wait0
        NOP.wait1
        STORE.i128.slot0 @r4:r5:r6:r7, u2, offset:0
        STORE.i128.slot0 @r8:r9:r10:r11, u2, offset:16
        STORE.i32.slot0 @r12, u2, offset:32
        STORE.i16.slot0 @r13, u2, offset:36
        NOP.end",
    );
    bench.put_words(1, BUFFER, &[0x8877_6655_4433_2211]);
    dispatch.submit(&mut bench);
    bench.drain(0);
    let got: Vec<u32> = (0..10)
        .map(|i| bench.get32(1, BUFFER + 0x80 + 4 * i))
        .collect();
    assert_eq!(
        got,
        [
            0x0022_0000,
            0x4433_0000,
            0xffff_ff88,
            0x8877,
            0xffff_ff88,
            0xffff_ffff,
            0x4433_2211,
            0x8877_6655,
            0x0077_6655,
            0xff88,
        ],
        "{}",
        bench.report()
    );
}

#[test]
fn buffers_are_bounded_by_their_descriptors() {
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 0x0100_0000, 0xF8],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(
        "
        MOV.i32 r2, u2
        LSHIFT_OR.i32 r4, r60, 0x03020100.b22, 0x0
        IADD.u32 r4, r4, u3
        LD_BUFFER.i64.unsigned.slot0 @r6:r7, r4, r2
        SHADDX.u64 r0, u0, r60.w0, shift:0x3
        NOP.wait0
        STORE.i64.slot0 @r6:r7, r0, offset:0x400
        NOP.end",
    );
    bench.put_words(
        1,
        BUFFER + 0xF0,
        &[
            0x1111_1111_0000_0000,
            0x3333_3333_2222_2222,
            0x5555_5555_4444_4444,
        ],
    );
    dispatch.submit(&mut bench);
    bench.drain(0);
    // Offsets 0xF8 and 0xFC (lane 1): the second word of lane 1 is beyond the 256 bytes.
    assert_eq!(
        bench.get64(1, BUFFER + 0x400),
        0x3333_3333_2222_2222,
        "{}",
        bench.report()
    );
    assert_eq!(bench.get64(1, BUFFER + 0x408), 0x3333_3333);
    assert_eq!(bench.get64(1, BUFFER + 0x410), 0);
    bench.expect_diagnosis("outside the buffer with handle 0x1000000");
}

#[test]
fn addresses_of_bytes_and_elements() {
    let dispatch = Dispatch {
        uniforms: vec![0x0100_0000, 0x0100_0001],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..16).flat_map(|i| [i * 2, 100 + i]).collect();
    dispatch.check(
        "
        LEA_BUF.slot0 @r0:r1, r60, u1
        LSHIFT_OR.i32 r4, r60, 0x03020100.b33, 0x0
        LEA_PKA.slot1 @r2:r3, r4, u0
        IADD.u32 r6, r60, r60
        IADD_IMM.i32 r7, r60, #100
        NOP.wait01
        STORE.i32.slot0 @r6, r0, offset:0
        STORE.i32.slot0 @r7, r2, offset:4
        NOP.end",
        &expected,
    );
}

#[test]
fn branches_diverge_and_reconverge() {
    // Even lanes count to their id, odd lanes take 1000; all meet for WMASK.
    let text = program(
        "
        LSHIFT_AND.i32 r4, r60, 0x0.b00, 0x01000000.b3
        MOV.i32 r5, 0x0
        BRANCHZ.reconverge r4, offset:odd
        head:
        ICMP_OR.u32.ge.m1 r6, r5, r60, 0x0
        BRANCHZ.reconverge r6, offset:join
        IADD_IMM.i32 r5, r5, #1
        BRANCHZ.eq.reconverge 0x0, offset:head
        odd:
        IADD_IMM.i32.reconverge r5, 0x0, #1000
        join:
        IADD_IMM.i32 r7, 0x0, #1
        WMASK.subgroup16 r8, r7
        LSHIFT_OR.i32 r5, r8, u2.b00, r5
        STORE.i32.slot0 @r5, r0, offset:0
        NOP.end",
    )
    .replace("0x01000000.b3", "u3");
    let expected: Vec<u32> = (0..16)
        .map(|i| if i % 2 == 0 { i } else { 1000 } | 0xffff << 16)
        .collect();
    Dispatch {
        uniforms: vec![BUFFER as u32, 0, 16, 1],
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn lanes_that_end_early_leave_the_others() {
    let text = program(
        "
        IADD_IMM.i32 r5, 0x0, #7
        ICMP_OR.u32.lt.m1 r4, r60, r5, 0x0
        BRANCHZ.reconverge r4, offset:go
        NOP.end
        go:
        STORE.i32.slot0 @r5, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..16).map(|i| if i < 7 { 7 } else { 0 }).collect();
    Dispatch::default().check(&text, &expected);
}

#[test]
fn lanes_read_one_another() {
    let text = program(
        "
        CLPER.i32.subgroup16.xor r4, r60, u2.b0
        CLPER.i32.subgroup4 r5, r60, u2.b1
        LSHIFT_OR.i32 r4, r5, u2.b22, r4
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..16).map(|i: u32| i ^ 5 | (i / 4 * 4 + 2) << 8).collect();
    Dispatch {
        uniforms: vec![BUFFER as u32, 0, 5 | 2 << 8 | 8 << 16, 0],
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn workgroups_share_memory_behind_barriers() {
    // Each thread writes its id to shared memory and reads that of its mirror.
    let text = "
        LSHIFT_OR.i32 r4, r55, u2.b00, 0x0
        IADD.u32 r2, workgroup_local_pointer.w0, r4
        MOV.i32 r3, workgroup_local_pointer.w1
        STORE.i32.slot0 @r60, r2, offset:0
        NOP.wait0
        BARRIER.slot7.wait
        ISUB.u32 r5, u3, r4
        IADD.u32 r2, workgroup_local_pointer.w0, r5
        LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        NOP.wait0
        STORE.i32.slot0 @r6, r0, offset:0
        NOP.end";
    let dispatch = Dispatch {
        size: [64, 1, 1],
        groups: [6, 1, 1],
        workgroup_bytes: 256,
        uniforms: vec![BUFFER as u32, 0, 2, 63 * 4],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..384).map(|i| i / 64 * 64 + 63 - i % 64).collect();
    dispatch.check(text, &expected);
}

#[test]
fn every_thread_has_storage_of_its_own() {
    let text = program(
        "
        STORE.i32.slot0.force @r60, thread_local_pointer.w0, offset:4
        NOP.wait0
        LOAD.i32.unsigned.slot0.w0 @r4, thread_local_pointer.w0, offset:4
        NOP.wait0
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..160).collect();
    Dispatch {
        size: [32, 1, 1],
        groups: [5, 1, 1],
        thread_bytes: 16,
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn atomics_of_all_kinds() {
    let text = "
        IADD_IMM.i32 r4, r60, #1
        ATOM.i32.slot0.aadd @r4, u0, offset:0
        ATOM.i32.slot0.aumax @r4, u0, offset:4
        ATOM.i32.slot0.asmin @r4, u0, offset:8
        ATOM.i32.slot0.axor @r4, u0, offset:12
        ATOM1_RETURN.i32.slot0.ainc @r6, u0, offset:16
        NOP.wait0
        ATOM_RETURN.i32.slot0.aor @r8, @r4, u0, offset:20
        MOV.i32 r10, 0xFFFFFFFF
        MOV.i32 r11, r60
        ATOM_RETURN.i32.slot1.axchg.compare @r12, @r10:r11, u0, offset:24
        NOP.wait01
        SHADDX.u64 r0, u0, r6.w0, shift:0x2
        STORE.i32.slot0 @r12, r0, offset:0x40
        NOP.end";
    let mut expected = vec![136, 16, i32::MIN as u32, 16, 16, 31, u32::MAX];
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare(text);
    bench.put(1, BUFFER + 8, &0x8000_0000u32.to_le_bytes());
    dispatch.submit(&mut bench);
    bench.drain(0);
    let got: Vec<u32> = (0..7).map(|i| bench.get32(1, BUFFER + 4 * i)).collect();
    // Lane 0 finds 0 and puts all ones; the others find that.
    expected[3] = (1..=16).fold(0, |all, i| all ^ i);
    assert_eq!(got, expected, "{}", bench.report());
    let seen: Vec<u32> = (0..16)
        .map(|i| bench.get32(1, BUFFER + 0x40 + 4 * i))
        .collect();
    assert_eq!(seen[0], 0);
    assert!(
        seen[1..].iter().all(|value| *value == u32::MAX),
        "{seen:x?}"
    );
    bench.expect_no_diagnoses();
}

#[test]
fn a_result_used_before_its_wait_is_reported() {
    let bench = Dispatch::default().run(&program(
        "
        LOAD.i32.unsigned.slot1.w0 @r4, r0, offset:0
        IADD_IMM.i32 r5, r4, #1
        NOP.wait1
        NOP.end",
    ));
    bench.expect_diagnosis("r4 is read before the message on slot 1 that writes it was waited for");
}

#[test]
fn registers_that_hold_nothing_are_reported() {
    let bench = Dispatch::default().run(
        "
        MOV.i32 r4, r20
        MOV.i32 r5, ^r60
        MOV.i32 r6, r60
        NOP.end",
    );
    bench.expect_diagnosis("r20 is read but was never written nor preloaded");
    bench.expect_diagnosis("r60 is read after its last use");
    let bench = Dispatch {
        program_word: 8 | 1 << 4 | 2 << 30,
        ..Dispatch::default()
    }
    .run("MOV.i32 r16, 0x0\nNOP.end");
    bench.expect_diagnosis("r16 is not among the program's registers");
}

#[test]
fn a_barrier_that_some_warps_never_reach_is_found() {
    let text = "
        BRANCHZ.reconverge r55, offset:out
        BARRIER.slot7.wait
        out:
        NOP.end";
    // Lane 0 waits alone; the others end, and so take no part.
    let bench = Dispatch {
        size: [32, 1, 1],
        ..Dispatch::default()
    }
    .run(text);
    bench.expect_diagnosis("BARRIER is reached by lanes");
}

#[test]
fn faults_name_their_cause() {
    let none = Dispatch::default();
    none.check_fault("NOP", 0x51, "0x0000000000000000 is no instruction");
    let one = Dispatch {
        program_word: 8 | 3 << 4,
        ..Dispatch::default()
    };
    one.check_fault(
        "NOP.end",
        0x58,
        "the field Stage of the descriptor at 0x41000000 is not valid",
    );
    let large = Dispatch {
        size: [1024, 2, 1],
        ..Dispatch::default()
    };
    large.check_fault("NOP.end", 0x58, "a workgroup of 2048 threads");
    let table = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 0x0100_0000, 0],
        ..Dispatch::default()
    };
    let mut bench = table.prepare("LD_BUFFER.i32.unsigned.slot0.w0 @r0, r60, u2\nNOP.end");
    bench.put(1, DESCRIPTORS + 0x100, &[2]);
    table.submit(&mut bench);
    bench.poll_shared(stream_output(0) + 0x80, 0xff, 0x58);
    bench.expect_diagnosis(
        "the descriptor with handle 0x1000000, of type 2, is not what the instruction takes",
    );
}

#[test]
fn a_shader_that_never_ends_leaves_the_host_in_control() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch
        .prepare("again:\nNOP.reconverge\nBRANCHZ.eq.reconverge 0x0, offset:again\nNOP.end");
    dispatch.submit(&mut bench);
    bench.wait(1000);
    assert_eq!(bench.get64(1, DONE), 0);
    bench.request_state(0, 0);
    assert_eq!(bench.get64(1, DONE), 0);
    bench.expect_no_diagnoses();
}

#[test]
fn the_progress_timer_reports_a_group_that_gets_nowhere() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare("NOP.end");
    bench.shared_write(0x2010, 1000);
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 2);
    bench.ring(0);
    bench.gpu.inject(Injection::JobsHang);
    dispatch.submit(&mut bench);
    bench.wait(5_000);
    let (req, ack) = (
        bench.shared(bench::group_input(0)),
        bench.shared(bench::group_output(0)),
    );
    assert_eq!((req ^ ack) & 1 << 31, 1 << 31, "PROGRESS_TIMER_EVENT");
}

#[test]
fn a_job_without_cores_is_an_endpoint_fault() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare("NOP.end");
    bench.shared_write64(0x2018, 0);
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 4);
    bench.ring(0);
    bench.poll_shared(0x6000, 4, (req ^ 4) & 4);
    dispatch.submit(&mut bench);
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x44);
}

#[test]
fn a_page_fault_of_a_shader_reaches_the_stream_when_the_space_is_disabled() {
    let dispatch = Dispatch {
        uniforms: vec![0x6666_0000, 0],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(&program("STORE.i32.slot0 @r60, r0, offset:0\nNOP.end"));
    dispatch.submit(&mut bench);
    bench.poll(eitri_csf::registers::interrupts::MMU_IRQ_RAWSTAT, 2, 2);
    bench.disable_space(1);
    bench.wait(1000);
    assert_eq!(
        bench.shared(stream_output(0) + 0x80) & 0xf8,
        0xC0,
        "{}",
        bench.report()
    );
}

#[test]
fn float_policy_comes_from_the_program() {
    // Half of the smallest normal number is flushed in mode 1, and kept in mode 0.
    let text = program(
        "
        MOV.i32 r4, u2
        FMA.f32 r4, r4, u3, 0x0.neg
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let dispatch = |mode: u32| Dispatch {
        size: [1, 1, 1],
        uniforms: vec![BUFFER as u32, 0, 0x0080_0000, 0x3f00_0000],
        program_word: 8 | 1 << 4 | mode << 17,
        ..Dispatch::default()
    };
    dispatch(0).check(&text, &[0x0040_0000]);
    dispatch(1).check(&text, &[0]);
}

#[test]
fn memory_stays_readable_for_the_host() {
    let bench = Dispatch::default().run("NOP.end");
    let mut memory = bench.memory;
    assert!(memory.read32(0).is_ok());
}
