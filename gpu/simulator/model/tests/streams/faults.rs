//! Faults of streams and of the spaces that they are in.

use super::{DATA, add64, load, move32, move48, started, store, wait, word};
use crate::bench::{Bench, RING, stream_input, stream_output};
use eitri_cs::enums::SyncScope;
use eitri_cs::instr::ErrorBarrier;
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::interrupts::{JOB_IRQ_RAWSTAT, MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT};
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_model::{Aim, Injection, PhysicalMemory};

#[test]
fn an_invalid_instruction_is_fatal_and_reported_through_the_interface() {
    let mut bench = started();
    bench.answer_streams(0);
    bench.submit(0, &[0xff << 56]);
    bench.poll(JOB_IRQ_RAWSTAT, 1, 1);
    let out = stream_output(0);
    assert_eq!(bench.shared(out + 0x84), 0x49);
    assert_eq!(
        bench.shared64(out + 0x90),
        RING,
        "the address of the instruction"
    );
    assert_eq!(
        (bench.shared(stream_input(0)) ^ bench.shared(out)) & 1 << 30,
        1 << 30,
        "FATAL"
    );
    assert_eq!(bench.streams_asking(0), 1, "IRQ_REQ of stream 0");
    bench.expect_diagnosis("the opcode or a field has no meaning");
}

#[test]
fn an_injection_aimed_at_a_later_instruction_lets_the_earlier_ones_pass() {
    let mut bench = started();
    let fault = Injection::StreamFatal { exception: 0x49 };
    bench.gpu.inject_aimed(fault, Aim::NOW.stream(0, 0).nth(4));
    let store_then_move = [
        move48(4, DATA),
        move32(6, 1),
        store(6, 1, 4, 0),
        store(6, 1, 4, 4),
    ];
    bench.submit(0, &store_then_move);
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x49);
    assert_eq!(bench.get64(1, DATA), 1, "the first store, not the second");
    assert_eq!(bench.shared64(stream_output(0) + 0x40), RING + 3 * 8);
}

#[test]
fn a_recoverable_fault_waits_for_the_acknowledge_and_marks_sync_objects() {
    let mut bench = started();
    bench.gpu.inject(Injection::StreamFault { exception: 0x5A });
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 1),
            add64(4, 6, SyncScope::System),
            word(ErrorBarrier {}),
            add64(4, 6, SyncScope::System),
        ],
    );
    bench.poll_shared(stream_output(0) + 0x80, 0xff, 0x5A);
    bench.wait(1000);
    assert_eq!(bench.get64(1, DATA), 0, "stopped until acknowledged");
    let ack = bench.shared(stream_output(0));
    let req = bench.shared(stream_input(0));
    bench.shared_write(stream_input(0), req & !(1 << 31) | ack & 1 << 31);
    bench.ring_stream(0);
    bench.drain(0);
    assert_eq!(bench.get64(1, DATA), 2);
    assert_eq!(bench.get32(1, DATA + 8), 0, "the barrier ended the error");
}

#[test]
fn a_page_fault_stalls_until_the_space_is_disabled_and_then_fails() {
    let mut bench = started();
    bench.submit(0, &[move48(4, 0x7777_0000), load(8, 1, 4, 0), wait(1)]);
    bench.poll(MMU_IRQ_RAWSTAT, 1 << 1, 1 << 1);
    assert_eq!(bench.read64(aspace::AS_FAULTADDRESS.at(1)), 0x7777_0000);
    let status = bench.read(aspace::AS_FAULTSTATUS.at(1));
    assert_eq!(status & 0x3ff, 0x200 | 0xC1, "a read that ended at level 1");
    assert_eq!(status >> 16, 0x7DC0, "by the front end's load/store unit");
    bench.wait(10_000);
    assert_eq!(bench.shared(stream_output(0) + 0x80), 0, "the access waits");
    bench.write(MMU_IRQ_CLEAR, 1 << 1);
    bench.disable_space(1);
    bench.wait(1000);
    let faults = (
        bench.shared(stream_output(0) + 0x80),
        bench.shared(stream_output(0) + 0x84),
    );
    assert!(
        faults.0 & 0xff == 0x48 || faults.1 & 0xff == 0x48,
        "{faults:x?}"
    );
}

#[test]
fn a_page_fault_that_is_mended_goes_on() {
    let mut bench = started();
    bench.map(1, 0x7777_1000, 4096, Attributes::CACHED);
    bench.submit(
        0,
        &[
            move48(4, 0x7777_0000),
            move32(8, 3),
            store(8, 1, 4, 0),
            wait(1),
        ],
    );
    bench.poll(MMU_IRQ_RAWSTAT, 1 << 1, 1 << 1);
    bench.map(1, 0x7777_0000, 4096, Attributes::CACHED);
    bench.write(MMU_IRQ_CLEAR, 1 << 1);
    bench.write64(aspace::AS_LOCKADDR.at(1), 0x7777_000e);
    bench.command(1, 2);
    bench.command(1, 3);
    bench.drain(0);
    assert_eq!(bench.get32(1, 0x7777_0000), 3);
}

#[test]
fn translations_are_kept_until_the_host_invalidates_them() {
    let mut bench = started();
    let code = [move48(4, DATA), move32(8, 1), store(8, 1, 4, 0), wait(1)];
    bench.submit(0, &code);
    bench.drain(0);
    let old = bench.physical(1, DATA);
    let new = bench.page();
    bench.map_page(1, DATA, new, Attributes::CACHED);
    bench.memory.write32(old, 0).unwrap();
    bench.submit(0, &code);
    bench.drain(0);
    assert_eq!(
        (bench.memory.read32(old), bench.memory.read32(new)),
        (Ok(1), Ok(0)),
        "stale"
    );
    bench.write64(aspace::AS_LOCKADDR.at(1), DATA | 14);
    bench.command(1, 2);
    bench.flush();
    bench.command(1, 3);
    bench.submit(0, &code);
    bench.drain(0);
    assert_eq!(bench.memory.read32(new), Ok(1));
}

#[test]
fn bad_stream_configurations_are_config_faults() {
    let mut bench = Bench::booted();
    bench.start_group(0);
    bench.request_state(0, 0);
    bench.configure_group(0);
    bench.shared_write(stream_input(0) + 0x18, 0x3000);
    bench.request_state(0, 1);
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x40);
    bench.expect_diagnosis("CS_SIZE = 0x3000 of stream 0 in slot 0 is not a power of two");
}

#[test]
fn a_crash_of_the_firmware_shows_in_its_status() {
    let mut bench = started();
    bench.gpu.inject(Injection::McuCrash);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 3);
    assert_eq!(bench.shared(0x6010), 0x4E, "HALT_STATUS says: panic");
    // The host can't know yet. Misuse is a doorbell while the MCU is disabled or halted (csf-mmio.md 18 (10)).
    bench.ring(0);
    bench.wait(100);
    bench.expect_no_diagnoses();
}
