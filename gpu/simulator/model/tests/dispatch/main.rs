//! Shaders on the cores: messages, divergence, barriers, atomics, storage, faults.
//!
//! Programs are written in assembly; the text is read by `eitri_isa`.

#[path = "../bench/mod.rs"]
mod bench;
#[path = "../vector_files/mod.rs"]
mod vector_files;

mod afbc_vectors;
mod anisotropy;
mod attribute_vectors;
mod block_vectors;
mod caches;
mod compressed;
mod counters;
mod cube_vectors;
mod defects;
mod every_format;
mod fidelity;
mod format_vectors;
mod generations;
mod lanes;
mod layout_vectors;
mod memory;
mod misuse;
mod observed;
mod overlap;
mod pace;
mod planes;
mod reorder;
mod sampling;
mod stepped;
mod texture_vectors;
mod threads;
mod typed;

use bench::{Bench, EACH, stream_output};
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::{Instr as Command, Move32, Move48, ReqResource, RunCompute, SyncAdd64, Wait};
use eitri_cs::{Arch, Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_isa::{Instr, Syntax};

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
        self.prepare_in(Bench::booted_as(gpu), text)
    }

    /// As [`Dispatch::prepare`], on a bench.
    #[track_caller]
    fn prepare_in(&self, mut bench: Bench, text: &str) -> Bench {
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
        self.submit_times(bench, 1, false);
    }

    /// Submits the job so many times, with a wait between them or without, and a signal behind the last.
    fn submit_times(&self, bench: &mut Bench, times: usize, waits: bool) {
        let wait = command(Wait {
            wait_mask: SlotMask::new(0xff),
            ..Wait::default()
        });
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
        words.push(command(ReqResource {
            compute: true,
            ..ReqResource::default()
        }));
        for _ in 0..times {
            words.push(command(RunCompute {
                task_increment: 1,
                ..RunCompute::default()
            }));
            words.extend(waits.then_some(wait));
        }
        words.extend([
            command(ReqResource::default()),
            set64(4, DONE),
            set64(6, 1),
            wait,
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
