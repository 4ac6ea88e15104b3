//! Instructions: what each does to registers and memory, and what is worth a note.

use super::{DATA, check, d, load, move32, move48, r, started, store, wait, word};
use crate::bench::{Bench, stream_output};
use eitri_cs::enums::Condition;
use eitri_cs::instr::{
    AddImm32, AddImm64, Branch, Call, Instr, Jump, Lshift32, Lshift64, ReqResource, RshiftS32,
    RshiftS64, RshiftU32, RshiftU64, RunCompute, RunFragment, RunFullscreen, SetSbEntry,
    StoreState, Umin32,
};
use eitri_cs::{Arch, Slot};
use eitri_csf::page_table::Attributes;
use eitri_model::{Config, Inexact, Product};

#[test]
fn moves_arithmetic_and_stores() {
    check(
        &[
            move48(0, DATA),
            move32(2, 7),
            word(AddImm32 {
                destination: r(3),
                source: r(2),
                immediate: -9,
            }),
            word(Umin32 {
                destination: r(4),
                source_0: r(2),
                source_1: r(3),
            }),
            move48(6, 0xffff_ffff_ffff),
            word(AddImm64 {
                destination: d(6),
                source: d(6),
                immediate: 2,
            }),
            store(2, 0b11_0111, 0, 0),
            wait(1),
        ],
        &[7, 0xffff_fffe, 7, 1, 0x1_0000],
    );
}

#[test]
fn loads_are_packed_and_wait() {
    check(
        &[
            move48(0, DATA),
            move32(2, 10),
            move32(3, 20),
            store(2, 0b11, 0, 0),
            wait(1),
            // A hole in the mask skips a register, not a word.
            load(8, 0b101, 0, 0),
            wait(1),
            store(8, 0b1, 0, 8),
            store(10, 0b1, 0, 12),
            wait(1),
        ],
        &[10, 20, 10, 20],
    );
}

#[test]
fn a_loop_counts_down() {
    check(
        &[
            move48(0, DATA),
            move32(2, 5),
            move32(3, 0),
            word(AddImm32 {
                destination: r(3),
                source: r(3),
                immediate: 3,
            }),
            word(AddImm32 {
                destination: r(2),
                source: r(2),
                immediate: -1,
            }),
            word(Branch {
                condition: Condition::Greater,
                value: r(2),
                offset: -3,
            }),
            store(3, 1, 0, 0),
            wait(1),
        ],
        &[15],
    );
}

#[test]
fn a_register_read_while_it_is_loaded_is_reported() {
    let mut bench = started();
    bench.submit(
        0,
        &[
            move48(0, DATA),
            load(8, 1, 0, 0),
            store(8, 1, 0, 4),
            wait(1),
        ],
    );
    bench.drain(0);
    bench.expect_diagnosis("r8 is read while a load to it is outstanding");
}

#[test]
fn calls_return_and_nest_to_the_limit() {
    let mut bench = started();
    bench.map(1, 0x3000_0000, 0x1000, Attributes::CACHED);
    // A buffer that calls itself with a counter in r10.
    let buffer = [
        word(AddImm32 {
            destination: r(10),
            source: r(10),
            immediate: -1,
        }),
        word(AddImm32 {
            destination: r(11),
            source: r(11),
            immediate: 1,
        }),
        word(Branch {
            condition: Condition::LessEqual,
            value: r(10),
            offset: 1,
        }),
        word(Call {
            address: d(4),
            length: r(6),
        }),
    ];
    bench.put_words(1, 0x3000_0000, &buffer);
    let run = |depth| {
        [
            move48(0, DATA),
            move48(4, 0x3000_0000),
            move32(6, 32),
            move32(10, depth),
            move32(11, 0),
            word(Call {
                address: d(4),
                length: r(6),
            }),
            store(11, 1, 0, 0),
            wait(1),
        ]
    };
    bench.submit(0, &run(7));
    bench.drain(0);
    assert_eq!(bench.get32(1, DATA), 7);
    bench.expect_no_diagnoses();
    bench.submit(0, &run(8));
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x4A);
    bench.expect_diagnosis("CALL with 8 frames in use");
}

#[test]
fn a_jump_chains_buffers_but_not_the_ring() {
    let mut bench = started();
    bench.map(1, 0x3000_0000, 0x1000, Attributes::CACHED);
    bench.put_words(
        1,
        0x3000_0000,
        &[
            move48(4, 0x3000_0040),
            move32(6, 16),
            word(Jump {
                address: d(4),
                length: r(6),
            }),
            move32(7, 1),
        ],
    );
    bench.put_words(1, 0x3000_0040, &[move32(7, 2), move32(8, 3)]);
    bench.submit(
        0,
        &[
            move48(0, DATA),
            move48(4, 0x3000_0000),
            move32(6, 32),
            word(Call {
                address: d(4),
                length: r(6),
            }),
            store(7, 0b11, 0, 0),
            wait(1),
        ],
    );
    bench.drain(0);
    assert_eq!((bench.get32(1, DATA), bench.get32(1, DATA + 4)), (2, 3));
    bench.expect_no_diagnoses();
    bench.submit(
        0,
        &[word(Jump {
            address: d(4),
            length: r(6),
        })],
    );
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x49);
    bench.expect_diagnosis("JUMP in the ring itself");
}

#[test]
fn state_is_stored_and_resources_are_taken() {
    let mut bench = started();
    bench.submit(
        0,
        &[
            move48(4, DATA),
            word(ReqResource {
                compute: true,
                ..ReqResource::default()
            }),
            word(SetSbEntry {
                endpoint_entry: Slot::new(3).unwrap(),
                other_entry: Slot::new(0).unwrap(),
            }),
            word(StoreState {
                address: d(4),
                ..StoreState::default()
            }),
            word(ReqResource::default()),
        ],
    );
    bench.drain(0);
    assert_ne!(bench.get64(1, DATA), 0, "a timestamp");
    bench.expect_no_diagnoses();
}

#[test]
fn a_single_slot_that_nothing_counted_on_is_worth_a_note_and_a_mask_of_several_is_not() {
    let mut bench = started();
    bench.submit(0, &[wait(0xFF), wait(0x0C)]);
    bench.drain(0);
    bench.expect_no_diagnoses();
    // However many buffers wait so: it is one note.
    for _ in 0..2 {
        bench.submit(0, &[wait(4)]);
        bench.drain(0);
    }
    bench.expect_no_diagnoses();
    let notes = bench.notes();
    assert!(notes.contains("slot 2 alone is waited for"), "{notes}");
    assert_eq!(notes.lines().count(), 1, "{notes}");
}

#[test]
fn a_store_reads_its_registers_at_issue() {
    check(
        &[
            move48(4, DATA),
            move32(8, 11),
            store(8, 1, 4, 0),
            move32(8, 22),
            wait(1),
        ],
        &[11],
    );
}

#[test]
fn a_shift_by_the_width_or_more_is_told_as_not_exact() {
    macro_rules! shifts {
        ($register:ident: $($name:ident)*) => {[$((stringify!($name), Instr::from($name {
            destination: $register(8),
            source_0: $register(8),
            source_1: $register(10),
        }))),*]};
    }
    let narrow = shifts!(r: Lshift32 RshiftU32 RshiftS32);
    let wide = shifts!(d: Lshift64 RshiftU64 RshiftS64);
    let widths = [(32, narrow), (64, wide)];
    for (width, (name, shift)) in widths
        .into_iter()
        .flat_map(|(width, shifts)| shifts.map(|shift| (width, shift)))
    {
        let shift = shift.encode(Arch::V13).expect("a legal instruction");
        for by in [0, width - 1, width, width + 1] {
            let mut bench = Bench::booted_with(Config {
                product: Product::find("G925").expect("a product that the model can be"),
                fidelity: true,
                ..Config::default()
            });
            bench.start_group(0);
            bench.submit(0, &[move48(8, 5), move48(10, by), shift]);
            bench.drain(0);
            let mut met = bench.gpu.fidelity().met();
            let told = met.any(|(one, _)| one == Inexact::StreamShifts);
            assert_eq!(told, by >= width, "{name} by {by}");
        }
    }
}

#[test]
fn a_job_needs_the_resources_of_its_kind() {
    // Bits of what is asked for: compute, fragment, tiler, index-driven vertex shading.
    let jobs = [
        (word(RunCompute::default()), 0b0001),
        (word(RunFragment::default()), 0b0010),
        (word(RunFullscreen::default()), 0b1100),
    ];
    for (job, needed) in jobs {
        for held in 0..16_u8 {
            let mut bench = started();
            let is_held = |bit: u8| held >> bit & 1 != 0;
            let request = ReqResource {
                compute: is_held(0),
                fragment: is_held(1),
                tiler: is_held(2),
                idvs: is_held(3),
                ..ReqResource::default()
            };
            bench.submit(0, &[word(request), job]);
            // What the job itself lacks is not looked at here.
            bench.wait(100);
            let missing = format!("a job runs without holding resources {needed:#x}");
            let told = bench.report().contains(&missing);
            assert_eq!(told, held & needed == 0, "{needed:#06b} of {held:#06b}");
        }
    }
}
