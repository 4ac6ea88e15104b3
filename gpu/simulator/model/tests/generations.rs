//! What is particular to a generation: conditions of waits, scoreboards that the streams of a group share.

mod bench;

use bench::{Bench, EACH, RING, group_input, group_output, stream_output, suspend_buffer};
use eitri_cs::enums::{
    Condition, DeferMode, LogicIndex, LogicOp, SlotFormat, SlotSelection, StreamState, SyncScope,
};
use eitri_cs::instr::{
    INSTRUCTIONS, Instr, LogicOp32, Move32, Move48, NextSbEntry, SetStateImm32, SharedSbDec,
    SharedSbInc, StoreMultiple, Sub32, SyncAdd64, SyncWait64, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::control::{ASN_HASH, GPU_COMMAND, GPU_COMMAND_ARG0, GPU_COMMAND_ARG1};
use eitri_csf::registers::identity::{GPU_FEATURES, GPU_ID, PRFCNT_FEATURES};
use eitri_csf::registers::interrupts::GPU_IRQ_RAWSTAT;

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;

fn booted(gpu: &str) -> Bench {
    let mut bench = Bench::booted_as(gpu);
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench
}

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn on(arch: Arch) -> impl Fn(Instr) -> u64 {
    move |instr| instr.encode(arch).expect("a legal instruction")
}

/// `MOVE48 d4, DATA; MOVE32 r6, value; STORE_MULTIPLE [d4 + 8 * place], r6; WAIT 0`.
fn store(word: impl Fn(Instr) -> u64, place: i16, value: u32) -> [u64; 4] {
    let address = Move48 {
        destination: d(4),
        immediate: DATA,
    };
    let data = Move32 {
        destination: r(6),
        immediate: value,
    };
    let store = StoreMultiple {
        base_register: r(6),
        mask: RegMask::new(1),
        address: d(4),
        offset: 8 * place,
    };
    let wait = Wait {
        wait_mask: SlotMask::new(1),
        ..Wait::default()
    };
    [
        word(address.into()),
        word(data.into()),
        word(store.into()),
        word(wait.into()),
    ]
}

fn increment(entry: u8) -> Instr {
    let shared_entry = entry;
    SharedSbInc {
        shared_entry,
        ..SharedSbInc::default()
    }
    .into()
}

fn decrement(entry: u8) -> Instr {
    let shared_entry = entry;
    SharedSbDec {
        shared_entry,
        ..SharedSbDec::default()
    }
    .into()
}

#[test]
fn a_shared_scoreboard_is_counted_up_by_one_stream_and_waited_for_by_another() {
    let mut bench = booted("G615");
    let (ring, input) = bench.second_stream();
    bench.start_group(0);
    let word = on(Arch::V11);
    // Two decrements against one increment: the first passes, the second waits.
    let mut words = vec![word(increment(5)), word(decrement(5))];
    words.extend(store(&word, 0, 1));
    words.push(word(decrement(5)));
    words.extend(store(&word, 1, 2));
    bench.submit(0, &words);
    bench.wait(10_000);
    let got = |bench: &mut Bench| (bench.get32(1, DATA), bench.get32(1, DATA + 8));
    assert_eq!(got(&mut bench), (1, 0), "{}", bench.report());

    // The host is shown a scoreboard wait, at the instruction itself.
    let req = bench.shared(group_input(0));
    bench.shared_write(group_input(0), req ^ 1 << 5);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 1 << 5, !req & 1 << 5);
    assert_eq!(bench.shared(stream_output(0) + 0x60), 1, "BLOCKED_REASON");
    assert_eq!(bench.shared64(stream_output(0) + 0x40), RING + 6 * 8);

    // Another entry does not help; this one does.
    bench.put_words(
        1,
        ring,
        &[word(increment(4)), word(increment(5)), 0, 0, 0, 0, 0, 0],
    );
    bench.put(0, input, &64u64.to_le_bytes());
    bench.ring(1);
    bench.drain(0);
    assert_eq!(got(&mut bench), (1, 2));
    bench.expect_no_diagnoses();
}

#[test]
fn a_suspended_group_keeps_its_shared_scoreboards() {
    let mut bench = booted("G615");
    bench.start_group(0);
    let word = on(Arch::V11);
    bench.submit(0, &[word(increment(3))]);
    bench.drain(0);
    bench.request_state(0, 2);
    assert_ne!(suspend_buffer(0), 0);
    bench.configure_group(0);
    bench.request_state(0, 3);
    let mut words = vec![word(decrement(3))];
    words.extend(store(&word, 0, 7));
    bench.submit(0, &words);
    bench.drain(0);
    assert_eq!(bench.get32(1, DATA), 7);
    bench.expect_no_diagnoses();
}

#[test]
fn waits_for_greater_or_equal_need_a_firmware_that_knows_them() {
    for (gpu, arch, known) in [
        ("G610", Arch::V10, false),
        ("G615", Arch::V11, true),
        ("Immortalis-G720", Arch::V12, true),
    ] {
        let mut bench = booted(gpu);
        bench.start_group(0);
        let word = on(arch);
        let object = Move48 {
            destination: d(8),
            immediate: DATA + 0x40,
        };
        let reference = Move48 {
            destination: d(10),
            immediate: 3,
        };
        let wait = SyncWait64 {
            address: d(8),
            data: d(10),
            condition: Condition::GreaterEqual,
            ..SyncWait64::default()
        };
        let mut words = vec![
            word(object.into()),
            word(reference.into()),
            word(wait.into()),
        ];
        words.extend(store(&word, 0, 9));
        bench.put_words(1, DATA + 0x40, &[2]);
        bench.submit(0, &words);
        bench.wait(5_000);
        assert_eq!(bench.get32(1, DATA), 0, "{gpu}: 2 is less than 3");
        let fatal = bench.shared(stream_output(0) + 0x84);
        assert_eq!(fatal == 0x49, !known, "{gpu}: CS_INSTR_INVALID");
        if known {
            bench.put_words(1, DATA + 0x40, &[3]);
            bench.ring(0);
            bench.drain(0);
            assert_eq!(bench.get32(1, DATA), 9, "{gpu}");
            bench.expect_no_diagnoses();
        }
    }
}

/// Registers and words that tell the generation: of a product, what they read.
#[test]
fn registers_and_words_are_those_of_the_generation() {
    for (gpu, arch, [registers, slots], version, samples) in [
        ("G610", Arch::V10, [96, 8], 0x0101_0000, 25),
        ("G615", Arch::V11, [96, 16], 0x0208_0000, 20),
        ("G720", Arch::V12, [128, 16], 0x030D_0000, 58),
        ("G925", Arch::V13, [128, 16], 0x030D_0000, 60),
    ] {
        let mut bench = booted(gpu);
        assert_eq!(bench.arch(), arch, "{gpu}");
        assert_eq!(bench.read(GPU_ID) >> 28, arch.major(), "{gpu}");
        assert_eq!(bench.shared(0), version, "{gpu}: GLB_VERSION");
        // STREAM_FEATURES of stream 3 in slot 2.
        let features = bench.shared(0x1000 + 2 * 0xA0 + 0x40 + 3 * 0xC);
        assert_eq!(features & 0xff, registers - 1, "{gpu}");
        assert_eq!(features >> 8 & 0xff, slots, "{gpu}");
        assert_eq!(
            bench.shared(0x18) & 0xffff,
            samples,
            "{gpu}: GLB_PRFCNT_SIZE"
        );
        let later = arch != Arch::V10;
        assert_eq!(bench.read64(GPU_FEATURES) != 0, later, "{gpu}");
        bench.expect_no_diagnoses();
        let told = |bench: &Bench| {
            bench
                .report()
                .contains("does not exist on this architecture")
        };
        assert_eq!(
            bench.read(PRFCNT_FEATURES),
            if later { 2 } else { 0 },
            "{gpu}"
        );
        assert_eq!(told(&bench), !later, "{gpu}: PRFCNT_FEATURES");
        bench.gpu.clear_diagnoses();
        bench.read(ASN_HASH);
        assert_eq!(told(&bench), !later, "{gpu}: ASN_HASH");
        bench.gpu.clear_diagnoses();
        bench.write64(GPU_COMMAND_ARG0, 0x1000);
        bench.write64(GPU_COMMAND_ARG1, 0x1FFF);
        assert_eq!(told(&bench), arch < Arch::V12, "{gpu}: GPU_COMMAND_ARG");
    }
}

#[test]
fn ranges_are_flushed_from_v12_on() {
    for gpu in EACH {
        let mut bench = booted(gpu);
        let known = bench.arch() >= Arch::V12;
        if known {
            bench.write64(GPU_COMMAND_ARG0, 0x1000);
            bench.write64(GPU_COMMAND_ARG1, 0x1FFF);
        }
        // Clean and invalidate, of the L2.
        bench.write(GPU_COMMAND, 8 | (3 | 1 << 6) << 8);
        bench.wait(100);
        let done = bench.read(GPU_IRQ_RAWSTAT) >> 20 & 1 == 1;
        assert_eq!(done, known, "{gpu}");
        assert_eq!(bench.gpu.diagnoses().is_empty(), known, "{gpu}");
        // FLUSH_MEM of an address space goes the other way.
        bench.gpu.clear_diagnoses();
        bench.command(1, 5);
        assert_eq!(bench.report().contains("deprecated"), known, "{gpu}");
    }
}

#[test]
fn a_job_says_on_which_registers_it_may_count() {
    // r96 to r127 exist from v12 on, slots 8 to 15 from v11 on.
    for gpu in EACH {
        let mut bench = booted(gpu);
        let arch = bench.arch();
        bench.start_group(0);
        let high = Move32 {
            destination: r(120),
            immediate: 1,
        };
        bench.submit(0, &[on(arch)(high.into())]);
        bench.wait(1000);
        let fatal = bench.shared(stream_output(0) + 0x84) & 0xff;
        assert_eq!(fatal == 0x49, arch < Arch::V12, "{gpu}");
    }
    let mut bench = booted("G610");
    bench.start_group(0);
    // A v10 word with the bits of a later mask: they are reserved here.
    let wait = Wait {
        wait_mask: SlotMask::new(0xff00),
        ..Wait::default()
    };
    bench.submit(0, &[on(Arch::V11)(wait.into())]);
    bench.drain(0);
    bench.expect_diagnosis("reserved bits 0xff000000 are set");
}

#[test]
fn slots_are_chosen_and_operations_deferred_by_the_streams_state() {
    for gpu in ["G615", "G720", "G925"] {
        let mut bench = booted(gpu);
        bench.start_group(0);
        let word = on(bench.arch());
        let state = |state, value| word(SetStateImm32 { state, value }.into());
        let choose = |destination| {
            word(
                NextSbEntry {
                    destination: r(destination),
                    sb_type: SlotSelection::Other,
                    format: SlotFormat::Index,
                }
                .into(),
            )
        };
        let add = SyncAdd64 {
            address: d(8),
            data: d(10),
            scope: SyncScope::System,
            defer_mode: DeferMode::Indirect,
            ..SyncAdd64::default()
        };
        let pair = |register, immediate| {
            let destination = d(register);
            word(
                Move48 {
                    destination,
                    immediate,
                }
                .into(),
            )
        };
        let keep = StoreMultiple {
            base_register: r(20),
            mask: RegMask::new(3),
            address: d(4),
            offset: 0,
        };
        let words = [
            pair(4, DATA),
            pair(8, DATA + 0x40),
            pair(10, 1),
            // Slots 9 and 12 take turns; the store is counted on the second, and the addition waits for it.
            state(StreamState::MaskStream, 1 << 9 | 1 << 12),
            choose(20),
            choose(21),
            word(keep.into()),
            state(StreamState::MaskWait, 1 << 12),
            state(StreamState::SelectDeferred, 13),
            word(add.into()),
            word(
                Wait {
                    wait_mask: SlotMask::new(1 << 13),
                    ..Wait::default()
                }
                .into(),
            ),
        ];
        bench.submit(0, &words);
        bench.drain(0);
        assert_eq!(
            (bench.get32(1, DATA), bench.get32(1, DATA + 4)),
            (9, 12),
            "{gpu}"
        );
        assert_eq!(bench.get64(1, DATA + 0x40), 1, "{gpu}");
        bench.expect_no_diagnoses();
    }
}

#[test]
fn logic_came_with_v11_and_arithmetic_with_v13() {
    // What is left in r22 by one instruction with r20 = 0xF0 and r21 = 0x3C.
    let run = |gpu: &str, instr: Instr| {
        let mut bench = booted(gpu);
        let arch = bench.arch();
        bench.start_group(0);
        // Where the instruction does not exist, the word of the generation that has it is met.
        let newest = instr.encode(arch).or_else(|_| instr.encode(Arch::V13));
        let word = on(arch);
        let set = |register, immediate| {
            let destination = r(register);
            word(
                Move32 {
                    destination,
                    immediate,
                }
                .into(),
            )
        };
        let address = Move48 {
            destination: d(4),
            immediate: DATA,
        };
        let keep = StoreMultiple {
            base_register: r(22),
            mask: RegMask::new(1),
            address: d(4),
            offset: 0,
        };
        let words = [
            set(20, 0xF0),
            set(21, 0x3C),
            word(address.into()),
            newest.expect("a word"),
            word(keep.into()),
        ];
        bench.submit(0, &words);
        bench.wait(1000);
        let fatal = bench.shared(stream_output(0) + 0x84) & 0xff;
        (fatal == 0).then(|| bench.get32(1, DATA))
    };
    let xor = Instr::from(LogicOp32 {
        destination: r(22),
        source_0: r(20),
        source_1: r(21),
        mode: LogicOp::Xor,
        index: LogicIndex::Direct,
    });
    let subtract = Instr::from(Sub32 {
        destination: r(22),
        source_0: r(20),
        source_1: r(21),
    });
    for (gpu, logic, arithmetic) in [
        ("G610", None, None),
        ("G615", Some(0xCC), None),
        ("G720", Some(0xCC), None),
        ("G925", Some(0xCC), Some(0xB4)),
    ] {
        assert_eq!(run(gpu, xor), logic, "LOGIC_OP32 on {gpu}");
        let got = run(gpu, subtract);
        // Before v13 the bits that tell SUB32 from UMIN32 are reserved, and ignored.
        assert_eq!(got, arithmetic.or(Some(0x3C)), "SUB32 on {gpu}");
    }
}

/// Every instruction of every generation is executed, but for the one that is reported as not modelled.
#[test]
fn every_row_of_the_tables_is_executed() {
    // Tiling of positions that were shaded before: no driver uses it.
    let not_modelled = ["RUN_TILING"];
    for gpu in EACH {
        let arch = booted(gpu).arch();
        for row in INSTRUCTIONS.iter().filter(|row| row.archs.contains(arch)) {
            let mut bench = booted(gpu);
            bench.start_group(0);
            let mut words: Vec<u64> = (0..96)
                .step_by(2)
                .map(|register| {
                    let address = Move48 {
                        destination: d(register),
                        immediate: DATA,
                    };
                    on(arch)(address.into())
                })
                .collect();
            words.push(row.random_word(arch, || 0));
            bench.submit(0, &words);
            bench.wait(200);
            let report = bench.report();
            assert!(!report.contains("has no meaning"), "{}: {report}", row.name);
            assert_eq!(
                report.contains("known but not modelled"),
                not_modelled.contains(&row.name),
                "{} on {gpu}: {report}",
                row.name
            );
        }
    }
}
