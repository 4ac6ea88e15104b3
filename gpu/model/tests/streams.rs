//! Groups and streams: life cycle, instructions, scoreboards, sync objects, faults.

mod bench;
#[path = "streams/unmodified_drivers.rs"]
mod unmodified_drivers;

use bench::{Bench, RING, group_input, group_output, stream_input, stream_output, suspend_buffer};
use eitri_cs::enums::{Condition, ErrorReject, SyncScope};
use eitri_cs::field::Bytes8;
use eitri_cs::instr::{
    AddImm32, AddImm64, Branch, Call, ErrorBarrier, FlushCache2, Instr, Jump, LoadMultiple, Move32,
    Move48, ProtRegion, ReqResource, SetSbEntry, StoreMultiple, StoreState, SyncAdd32, SyncAdd64,
    SyncSet64, SyncWait64, Umin32, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, Slot, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::address_space as aspace;
use eitri_csf::registers::interrupts::{
    JOB_IRQ_CLEAR, JOB_IRQ_RAWSTAT, MMU_IRQ_CLEAR, MMU_IRQ_RAWSTAT,
};
use eitri_csf::registers::mcu::MCU_STATUS;
use eitri_model::{Aim, Budget, Injection, PhysicalMemory, Progress};

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;

fn word(instr: impl Into<Instr>) -> u64 {
    instr.into().encode(Arch::V10).expect("a legal instruction")
}

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn move32(register: u8, immediate: u32) -> u64 {
    word(Move32 {
        destination: r(register),
        immediate,
    })
}

fn move48(register: u8, immediate: u64) -> u64 {
    word(Move48 {
        destination: d(register),
        immediate,
    })
}

fn wait(mask: u16) -> u64 {
    word(Wait {
        wait_mask: SlotMask::new(mask),
        ..Wait::default()
    })
}

fn store(base: u8, mask: u16, address: u8, offset: i16) -> u64 {
    word(StoreMultiple {
        base_register: r(base),
        mask: RegMask::new(mask),
        address: d(address),
        offset,
    })
}

fn load(base: u8, mask: u16, address: u8, offset: i16) -> u64 {
    word(LoadMultiple {
        base_register: r(base),
        mask: RegMask::new(mask),
        address: d(address),
        offset,
    })
}

fn add64(address: u8, data: u8, scope: SyncScope) -> u64 {
    word(SyncAdd64 {
        address: d(address),
        data: d(data),
        scope,
        error_propagate: true,
        ..SyncAdd64::default()
    })
}

/// A started group on slot 0 with a page of data.
fn started() -> Bench {
    let mut bench = Bench::booted();
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench.start_group(0);
    bench
}

/// Runs instructions and gives the first words of the data page.
#[track_caller]
fn check(words: &[u64], expected: &[u32]) {
    let mut bench = started();
    bench.submit(0, words);
    bench.drain(0);
    let got: Vec<u32> = (0..expected.len())
        .map(|i| bench.get32(1, DATA + 4 * i as u64))
        .collect();
    assert_eq!(got, expected, "\n{}", bench.report());
    bench.expect_no_diagnoses();
}

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

#[test]
fn an_invalid_instruction_is_fatal_and_reported_through_the_interface() {
    let mut bench = started();
    bench.write(JOB_IRQ_CLEAR, u32::MAX);
    let before = bench.shared(group_output(0) + 0xC);
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
    let asked = bench.shared(group_output(0) + 0xC);
    assert_eq!(asked ^ before, 1, "IRQ_REQ of stream 0");
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
fn suspend_and_resume_keep_registers_and_position() {
    let mut bench = started();
    bench.submit(
        0,
        &[
            move48(4, DATA),
            move48(6, 0),
            move32(8, 77),
            word(SyncWait64 {
                address: d(4),
                data: d(6),
                condition: Condition::Greater,
                error_reject: ErrorReject::Inherit,
            }),
            store(8, 1, 4, 0x40),
            wait(1),
        ],
    );
    bench.wait(1000);
    bench.request_state(0, 2);
    assert_eq!(
        bench.shared(stream_output(0) + 0x60),
        3,
        "it waited for a sync object"
    );
    assert_eq!(bench.extract(0), 24);
    // The host changes the object itself, and another slot takes the group on.
    let physical = bench.physical(1, DATA);
    bench.memory.write64(physical, 1).unwrap();
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.drain(0);
    assert_eq!(bench.get32(1, DATA + 0x40), 77);
    bench.expect_no_diagnoses();
}

#[test]
fn resume_from_a_buffer_that_holds_nothing_is_refused() {
    let mut bench = started();
    bench.request_state(0, 2);
    bench.put(0, suspend_buffer(0), &[0; 16]);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.expect_diagnosis("RESUME of slot 0 from a buffer");
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x40);
}

#[test]
fn idleness_is_reported_once_for_the_group_and_for_all() {
    let mut bench = started();
    bench.submit(0, &[move32(1, 1)]);
    bench.drain(0);
    bench.wait(100);
    let (req, ack) = (bench.shared(group_input(0)), bench.shared(group_output(0)));
    assert_eq!((req ^ ack) & 1 << 29, 1 << 29, "IDLE");
    bench.wait(2000);
    assert_eq!(
        (bench.shared(0x2000) ^ bench.shared(0x6000)) & 1 << 26,
        1 << 26,
        "IDLE_EVENT"
    );
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
fn a_crash_of_the_firmware_shows_in_its_status() {
    let mut bench = started();
    bench.gpu.inject(Injection::McuCrash);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 3);
    assert_eq!(bench.shared(0x6010), 0x4E, "HALT_STATUS says: panic");
}

#[test]
fn a_change_of_a_streams_state_interrupts_when_the_mask_has_all_of_its_bits() {
    for (mask, interrupts) in [(7, true), (0, false), (1, false)] {
        let mut bench = started();
        bench.shared_write(stream_input(0) + 0xC, mask);
        let req = bench.shared(stream_input(0));
        bench.shared_write(stream_input(0), req & !7);
        bench.write(JOB_IRQ_CLEAR, u32::MAX);
        let before = bench.shared(group_output(0) + 0xC);
        bench.ring_stream(0);
        bench.poll_shared(stream_output(0), 7, 0);
        let asked = bench.shared(group_output(0) + 0xC) ^ before;
        assert_eq!(asked == 1, interrupts, "mask {mask}");
    }
}

#[test]
fn a_protected_region_asks_for_protected_mode_and_waits() {
    let mut bench = started();
    let region = ProtRegion {
        size: Bytes8::new(8).unwrap(),
    };
    bench.submit(0, &[word(region), move48(4, DATA), store(4, 1, 4, 0)]);
    let req = bench.shared(stream_input(0));
    bench.poll_shared(stream_output(0), 1 << 27, !req & 1 << 27);
    // The acknowledge alone changes nothing.
    let req = bench.shared(stream_input(0));
    bench.shared_write(stream_input(0), req ^ 1 << 27);
    bench.ring_stream(0);
    bench.wait(10_000);
    assert_eq!(bench.extract(0), 0);
    let group = group_input(0);
    let req = bench.shared(group);
    bench.shared_write(group, req ^ 1 << 5);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 1 << 5, !req & 1 << 5);
    assert_eq!(
        bench.shared(stream_output(0) + 0x48),
        1 << 29,
        "STATUS_WAIT"
    );
    // The request lasts, so a resumed group asks again.
    let ack = bench.shared(stream_output(0));
    bench.request_state(0, 2);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.poll_shared(stream_output(0), 1 << 27, !ack & 1 << 27);
}

#[test]
fn a_single_slot_that_nothing_counted_on_is_worth_a_note_and_a_mask_of_several_is_not() {
    let mut bench = started();
    bench.submit(0, &[wait(0xFF), wait(0x0C)]);
    bench.drain(0);
    bench.expect_no_diagnoses();
    bench.submit(0, &[wait(4)]);
    bench.drain(0);
    bench.expect_diagnosis("slot 2 alone is waited for");
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
fn terminate_works_even_when_suspend_does_not() {
    let mut bench = started();
    bench.gpu.inject(Injection::SuspendIgnored);
    let group = group_input(0);
    let req = bench.shared(group);
    bench.shared_write(group, req & !7 | 2);
    bench.ring_group(0);
    bench.wait(100_000);
    assert_eq!(bench.shared(group_output(0)) & 7, 1);
    bench.request_state(0, 0);
}
