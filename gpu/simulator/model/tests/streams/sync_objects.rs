//! Sync objects: signalled, waited for, and what the host hears of it.

use super::{DATA, add64, d, load, move32, move48, r, started, store, wait, word};
use crate::bench::{group_input, group_output, stream_output};
use eitri_cs::enums::{Condition, ErrorReject, SyncScope};
use eitri_cs::instr::{ErrorBarrier, FlushCache2, SyncAdd32, SyncSet64, SyncWait64};
use eitri_cs::{Slot, SlotMask};
use eitri_csf::registers::interrupts::{JOB_IRQ_CLEAR, JOB_IRQ_RAWSTAT};
use eitri_model::{Budget, Progress};

#[test]
fn completion_by_a_sync_object_interrupts_the_host() {
    let mut bench = started();
    bench.write(JOB_IRQ_CLEAR, u32::MAX);
    bench.submit(
        0,
        &[
            move32(2, 0),
            word(FlushCache2 {
                latest_flush_id: r(2),
                ..FlushCache2::default()
            }),
            move48(4, DATA),
            move48(6, 1),
            wait(0xff),
            add64(4, 6, SyncScope::System),
            word(ErrorBarrier {}),
        ],
    );
    bench.poll(JOB_IRQ_RAWSTAT, 1, 1);
    assert_eq!(bench.get64(1, DATA), 1);
    assert_eq!(bench.get32(1, DATA + 8), 0, "no error");
    let (req, ack) = (bench.shared(group_input(0)), bench.shared(group_output(0)));
    assert_eq!((req ^ ack) & 1 << 28, 1 << 28, "SYNC_UPDATE");
    bench.drain(0);
    bench.expect_no_diagnoses();
}

#[test]
fn time_stands_still_when_an_interrupt_line_rises() {
    let mut bench = started();
    bench.write(JOB_IRQ_CLEAR, u32::MAX);
    let began = bench.gpu.now();
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 1),
            add64(4, 6, SyncScope::System),
        ],
    );
    let second = Budget {
        time: 1_000_000_000,
        instructions: 10_000_000,
    };
    let progress = bench.gpu.run(&mut bench.memory, second);
    let took = bench.gpu.now() - began;
    assert_eq!(progress, Progress::Interrupt);
    assert!(bench.gpu.lines().job);
    assert!(took < 50_000, "{took} ns for three instructions");
    // A line that stays high ends nothing.
    assert_ne!(
        bench.gpu.run(&mut bench.memory, second),
        Progress::Interrupt
    );
    assert!(bench.gpu.now() - began >= 1_000_000_000);
}

#[test]
fn a_deferred_update_waits_for_its_slots() {
    let mut bench = started();
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 5),
            move32(2, 0),
            word(FlushCache2 {
                latest_flush_id: r(2),
                signal_slot: Slot::new(2).unwrap(),
                ..FlushCache2::default()
            }),
            word(SyncAdd32 {
                address: d(4),
                data: r(6),
                wait_mask: SlotMask::new(1 << 2),
                signal_slot: Slot::new(1).unwrap(),
                ..SyncAdd32::default()
            }),
            // Issued, not done: the load sees the old value.
            load(8, 1, 4, 0),
            wait(1),
            store(8, 1, 4, 0x40),
            wait(1 << 1),
            load(9, 1, 4, 0),
            wait(1),
            store(9, 1, 4, 0x44),
            wait(1),
        ],
    );
    bench.drain(0);
    assert_eq!(
        (bench.get32(1, DATA + 0x40), bench.get32(1, DATA + 0x44)),
        (0, 5)
    );
    bench.expect_no_diagnoses();
}

#[test]
fn a_wait_blocks_until_another_stream_signals() {
    let mut bench = started();
    bench.start_group(1);
    bench.submit(
        1,
        &[
            move48(4, DATA),
            move48(6, 2),
            word(SyncWait64 {
                address: d(4),
                data: d(6),
                condition: Condition::Greater,
                error_reject: ErrorReject::Inherit,
            }),
            move32(8, 99),
            store(8, 1, 4, 0x40),
            wait(1),
        ],
    );
    bench.wait(1000);
    assert_eq!(bench.get32(1, DATA + 0x40), 0);
    bench.expect_no_diagnoses();
    bench.gpu.explain_waits(&mut bench.memory);
    bench.expect_diagnosis("everything waits; the object at 0x20000000 holds 0x0 against 0x2");
    // STATUS_UPDATE shows what it waits for.
    let ack = bench.shared(group_output(1));
    let req = bench.shared(group_input(1));
    bench.shared_write(group_input(1), req & !(1 << 5) | !ack & 1 << 5);
    bench.ring_group(1);
    bench.poll_shared(group_output(1), 1 << 5, !ack & 1 << 5);
    let out = stream_output(1);
    assert_eq!(bench.shared(out + 0x60), 3, "blocked on a sync object");
    assert_eq!(bench.shared64(out + 0x50), DATA);
    assert_eq!(bench.shared(out + 0x58), 2);
    assert_eq!(
        bench.shared(out + 0x48) >> 24,
        0xC1,
        "64-bit sync wait, greater"
    );
    // Group scope does not reach it, system scope does.
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 3),
            word(SyncSet64 {
                address: d(4),
                data: d(6),
                scope: SyncScope::Csg,
                ..SyncSet64::default()
            }),
        ],
    );
    bench.drain(0);
    bench.wait(1000);
    assert_eq!(bench.get32(1, DATA + 0x40), 0);
    bench.submit(0, &[add64(4, 6, SyncScope::System)]);
    bench.drain(1);
    assert_eq!(bench.get32(1, DATA + 0x40), 99);
}
