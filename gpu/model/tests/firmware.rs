//! The firmware's part beyond a single group: interface versions, sleep, priorities, endpoints, heaps, protected mode.
//!
//! Facts: hardware/csf-firmware.md 8, 9, 13, 15; csf-scheduling.md 1, 7, 8.

mod bench;

use bench::{Bench, RING, group_input, group_output, stream_input, stream_output, user_pages};
use eitri_cs::enums::{Condition, HeapOperationKind, WaitMode};
use eitri_cs::field::Bytes8;
use eitri_cs::instr::{
    Branch, FinishFragment, HeapOperation, HeapSet, Instr, Move32, Move48, ProtRegion, ReqResource,
    SetExceptionHandler, StoreMultiple, SyncWait64, Wait,
};
use eitri_cs::{Arch, Pair, Reg, RegMask, SlotMask};
use eitri_csf::fault::exception::EXCEPTIONS;
use eitri_csf::interface::control::Version;
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::control::{GPU_FAULTSTATUS, GPU_STATUS};
use eitri_csf::registers::interrupts::{GPU_IRQ_CLEAR, GPU_IRQ_RAWSTAT};
use eitri_csf::registers::mcu::{MCU_CONTROL, MCU_STATUS};
use eitri_csf::registers::power::{L2_PWROFF, L2_PWRON, L2_READY};
use eitri_model::{Config, Injection, PhysicalMemory, Product};

/// Data of the tests in address space 1.
const DATA: u64 = 0x2000_0000;
/// A heap context, and chunks.
const HEAP: u64 = DATA + 0x1000;
const CHUNK: u64 = DATA + 0x2000;
/// An exception handler.
const HANDLER: u64 = DATA + 0x3000;

const REQ: u64 = 0x2000;
const ACK: u64 = 0x6000;

fn r(number: u8) -> Reg {
    Reg::new(number)
}

fn d(number: u8) -> Pair {
    Pair::new(number).expect("even")
}

fn word(instr: impl Into<Instr>) -> u64 {
    instr.into().encode(Arch::V10).expect("a legal instruction")
}

fn set64(register: u8, immediate: u64) -> u64 {
    let destination = d(register);
    word(Move48 {
        destination,
        immediate,
    })
}

/// Stores `value` at `DATA + 8 * place`.
fn store(place: i16, value: u32) -> [u64; 4] {
    [
        set64(4, DATA),
        word(Move32 {
            destination: r(6),
            immediate: value,
        }),
        word(StoreMultiple {
            base_register: r(6),
            mask: RegMask::new(1),
            address: d(4),
            offset: 8 * place,
        }),
        word(Wait {
            wait_mask: SlotMask::new(1),
            wait_mode: WaitMode::Immediate,
            ..Wait::default()
        }),
    ]
}

fn with_data(mut bench: Bench) -> Bench {
    bench.map(1, DATA, 0x4000, Attributes::CACHED);
    bench
}

#[track_caller]
fn got(bench: &mut Bench, place: u64) -> u32 {
    bench.get32(1, DATA + 8 * place)
}

/// Toggles a request of GLB_REQ; the word.
fn toggle(bench: &mut Bench, bit: u32) -> u32 {
    let req = bench.shared(REQ) ^ bit;
    bench.shared_write(REQ, req);
    bench.ring(0);
    req
}

/// Acknowledges an event of slot 0's stream `index` and rings for it.
fn acknowledge(bench: &mut Bench, index: u64, event: u32) {
    let (input, output) = (
        stream_input(0) + 0x80 * index,
        stream_output(0) + 0x100 * index,
    );
    let (req, ack) = (bench.shared(input), bench.shared(output));
    bench.shared_write(input, req & !event | ack & event);
    let doorbells = bench.shared(group_input(0) + 8);
    bench.shared_write(group_input(0) + 8, doorbells ^ 1 << index);
    bench.ring_group(0);
}

fn pending(bench: &mut Bench, event: u32) -> bool {
    (bench.shared(stream_input(0)) ^ bench.shared(stream_output(0))) & event != 0
}

#[test]
fn from_interface_4_1_on_state_replaces_halt() {
    let version = Version::new(4, 1);
    let mut bench = with_data(Bench::booted_with(Config {
        interface: Some(version),
        ..Config::default()
    }));
    assert_eq!(bench.shared(0), version.word());
    // EP_REQ2 is read, EP_REQ is not.
    bench.shared_write(group_input(0) + 0x34, u32::MAX);
    bench.start_group(0);
    bench.submit(0, &store(0, 7));
    bench.drain(0);
    assert_eq!(got(&mut bench, 0), 7);
    assert_eq!(bench.shared(group_output(0) + 0x14), 4 | 4 << 8 | 1 << 16);
    bench.request_state(0, 0);
    bench.expect_no_diagnoses();

    let req = bench.shared(REQ);
    bench.shared_write(REQ, req | 1);
    bench.ring(0);
    bench.wait(1000);
    assert_eq!(bench.read(MCU_STATUS) & 3, 1, "HALT means nothing any more");
    bench.expect_diagnosis("interface 4.1 and later has STATE");
    bench.shared_write(REQ, req | 1 << 12);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 2);
    assert_eq!(
        bench.shared(ACK) >> 12 & 7,
        1,
        "ACK shows the state reached"
    );
    bench.write(MCU_CONTROL, 0);
    bench.poll(MCU_STATUS, 3, 0);
    bench.shared_write(REQ, req);
    bench.start_mcu();
    assert_eq!(bench.shared(ACK), req);
}

#[test]
fn interface_4_0_halts_as_before() {
    let mut bench = Bench::booted_with(Config {
        interface: Some(Version::new(4, 0)),
        ..Config::default()
    });
    bench.start_group(0);
    assert_eq!(bench.shared(group_output(0) + 0x14), 4 | 4 << 8 | 1 << 16);
    bench.request_state(0, 0);
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req | 1);
    bench.ring(0);
    bench.poll(MCU_STATUS, 3, 2);
    bench.expect_no_diagnoses();
}

#[test]
fn a_sleeping_mcu_wakes_at_a_doorbell_with_its_groups() {
    let mut bench = with_data(Bench::booted_as("G615"));
    bench.start_group(0);
    let req = toggle(&mut bench, 1 << 12);
    bench.poll(MCU_STATUS, 3, 2);
    assert_eq!(bench.shared(ACK) & 1 << 12, req & 1 << 12);
    assert_eq!(bench.read(MCU_CONTROL) >> 31, 1, "doorbells are held off");
    bench.write(L2_PWROFF, 1);
    bench.poll(L2_READY, 1, 0);
    bench.submit(0, &store(0, 9));
    bench.wait(1000);
    assert_eq!(got(&mut bench, 0), 0);
    bench.poll(GPU_IRQ_RAWSTAT, 1 << 18, 1 << 18);
    bench.write(GPU_IRQ_CLEAR, 1 << 18);
    assert_eq!(
        bench.read(GPU_IRQ_RAWSTAT) >> 18 & 1,
        1,
        "it can't be cleared"
    );
    bench.write(L2_PWRON, 1);
    bench.poll(MCU_STATUS, 3, 1);
    assert_eq!(bench.read(GPU_IRQ_RAWSTAT) >> 18 & 1, 0);
    bench.drain(0);
    assert_eq!(got(&mut bench, 0), 9);
    bench.expect_no_diagnoses();

    let mut bench = Bench::booted();
    toggle(&mut bench, 1 << 12);
    bench.wait(1000);
    bench.expect_diagnosis("the MCU of this architecture cannot sleep");
}

/// A host that writes a request and rings next is right, even if a doorbell for something else is served in between; one that never
/// rings is told why nothing happens.
#[test]
fn a_request_is_told_of_when_its_doorbell_does_not_come() {
    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    let ping = |bench: &mut Bench| {
        toggle(bench, 1 << 8);
        bench.wait(100);
    };
    let suspend = |bench: &mut Bench| {
        let req = bench.shared(group_input(0));
        bench.shared_write(group_input(0), req & !7 | 2);
    };
    suspend(&mut bench);
    ping(&mut bench);
    bench.ring_group(0);
    bench.poll_shared(group_output(0), 7, 2);
    ping(&mut bench);
    bench.expect_no_diagnoses();

    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    suspend(&mut bench);
    ping(&mut bench);
    bench.expect_no_diagnoses();
    bench.wait(20_000);
    ping(&mut bench);
    bench.expect_diagnosis("is pending, but no doorbell was rung for it");
}

#[test]
fn the_highest_priorities_have_the_stream_interfaces() {
    let mut bench = with_data(Bench::booted());
    // Four streams that never wait have all interfaces of a G610.
    let again = word(Branch {
        condition: Condition::Always,
        value: r(0),
        offset: -1,
    });
    for slot in 0..6 {
        bench.start_group(slot);
    }
    bench.submit(4, &store(4, 4));
    bench.drain(4);
    for slot in 0..4 {
        bench.submit(slot, &[again]);
    }
    bench.submit(5, &store(5, 5));
    bench.wait(2000);
    assert_eq!(got(&mut bench, 5), 0, "lower priority than all that run");
    // Above them by EP_CFG, it runs at once; the endless ones go on.
    bench.request_endpoints(0, 4, 3);
    bench.request_endpoints(5, 4, 15);
    for slot in [0, 5] {
        let req = bench.shared(group_input(slot)) ^ 1 << 4;
        bench.shared_write(group_input(slot), req);
        bench.ring_group(slot);
        bench.poll_shared(group_output(slot), 1 << 4, req & 1 << 4);
    }
    bench.drain(5);
    assert_eq!(got(&mut bench, 5), 5);
    for slot in 0..6 {
        bench.request_state(slot, 0);
    }
}

#[test]
fn groups_hold_the_endpoints_that_they_asked_for() {
    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    bench.request_endpoints(0, 3, 15);
    let held = |bench: &mut Bench| {
        let req = bench.shared(group_input(0)) ^ 1 << 5 ^ 1 << 4;
        bench.shared_write(group_input(0), req);
        bench.ring_group(0);
        bench.poll_shared(group_output(0), 3 << 4, req & 3 << 4);
        bench.shared(group_output(0) + 0x10)
    };
    assert_eq!(held(&mut bench), 0);
    bench.submit(
        0,
        &[word(ReqResource {
            compute: true,
            tiler: true,
            ..ReqResource::default()
        })],
    );
    bench.drain(0);
    assert_eq!(held(&mut bench), 3 | 1 << 16);
    assert_eq!(bench.shared(group_output(0) + 0x14), 3 | 3 << 8 | 1 << 16);
    bench.submit(0, &[word(ReqResource::default())]);
    bench.drain(0);
    assert_eq!(held(&mut bench), 0);
    // Endpoints that the group may not have are a fatal error.
    bench.shared_write64(group_input(0) + 0x28, 0);
    held(&mut bench);
    bench.submit(
        0,
        &[word(ReqResource {
            fragment: true,
            ..ReqResource::default()
        })],
    );
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x44);
}

const TILER_OOM: u32 = 1 << 26;

/// A stream with a heap and `started` passes open, `ended` of them tiled, whose tiler then finds no memory; behind it, a
/// store to place 0.
fn out_of_memory(started: usize, ended: usize, handler: bool) -> Bench {
    let mut bench = with_data(Bench::booted());
    bench.start_group(0);
    let move_heap = |operation| {
        word(HeapOperation {
            operation,
            ..HeapOperation::default()
        })
    };
    let mut words = vec![set64(8, HEAP), word(HeapSet { address: d(8) })];
    if handler {
        bench.put_words(1, HANDLER, &store(1, 11));
        words.push(set64(10, HANDLER));
        words.push(set64(12, 32));
        words.push(word(SetExceptionHandler {
            address: d(10),
            length: r(12),
            ..SetExceptionHandler::default()
        }));
    }
    words.extend(vec![
        move_heap(HeapOperationKind::VertexTilerStarted);
        started
    ]);
    words.extend(vec![
        move_heap(HeapOperationKind::VertexTilerCompleted);
        ended
    ]);
    bench.submit(0, &words);
    bench.drain(0);
    bench.gpu.inject(Injection::TilerOutOfMemory);
    bench.submit(0, &store(0, 5));
    bench.wait(1000);
    assert!(pending(&mut bench, TILER_OOM), "{}", bench.report());
    assert_eq!(got(&mut bench, 0), 0);
    let output = stream_output(0);
    assert_eq!(bench.shared(output + 0xC0), started as u32, "HEAP_VT_START");
    assert_eq!(bench.shared(output + 0xC4), ended as u32, "HEAP_VT_END");
    assert_eq!(bench.shared(output + 0xCC), 0, "HEAP_FRAG_END");
    assert_eq!(bench.shared64(output + 0xD0), HEAP, "HEAP_ADDRESS");
    bench
}

/// The host's answer: the chunks from `first` to `last`.
fn give(bench: &mut Bench, first: u64, last: u64) {
    bench.shared_write64(stream_input(0) + 0x20, first);
    bench.shared_write64(stream_input(0) + 0x28, last);
    acknowledge(bench, 0, TILER_OOM);
    bench.wait(1000);
}

#[test]
fn an_exhausted_heap_goes_on_with_a_chunk_of_the_hosts() {
    let mut bench = out_of_memory(1, 0, false);
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    assert_eq!(got(&mut bench, 0), 5);
    bench.expect_no_diagnoses();
    let mut bench = out_of_memory(1, 0, false);
    bench.put_words(1, CHUNK + 8, &[1]);
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    bench.expect_diagnosis("the chunk 0x20002001 given to stream 0 in slot 0");
}

#[test]
fn a_refused_heap_is_a_fault() {
    let mut bench = out_of_memory(1, 0, false);
    give(&mut bench, 0, 0);
    assert_eq!(bench.shared(stream_output(0) + 0x80) & 0xff, 0x60);
    assert!(pending(&mut bench, 1 << 31), "CS_FAULT");
}

#[test]
fn a_refused_heap_runs_the_exception_handler() {
    let mut bench = out_of_memory(1, 0, true);
    give(&mut bench, 0, 0);
    assert_eq!(got(&mut bench, 1), 11, "the handler ran");
    assert_eq!(got(&mut bench, 0), 5, "and tiling went on");
    bench.drain(0);
    bench.expect_no_diagnoses();
}

#[test]
fn a_refused_heap_waits_for_render_passes_in_flight() {
    let mut bench = with_data(out_of_memory(2, 1, true));
    // A second stream renders the pass that was tiled.
    let ring = RING + 0x80_0000;
    bench.map(1, ring, 0x1000, Attributes::UNCACHED);
    let (input, output) = user_pages(8);
    bench.map(0, input, 4096, Attributes::UNCACHED);
    bench.map(0, output, 4096, Attributes::UNCACHED);
    let stream = stream_input(0) + 0x80;
    bench.shared_write64(stream + 0x10, ring);
    bench.shared_write(stream + 0x18, 0x1000);
    bench.shared_write64(stream + 0x30, input);
    bench.shared_write64(stream + 0x38, output);
    bench.shared_write(stream + 0x4, 1 | 1 << 8);
    bench.shared_write(stream, 1 | 1 << 8 | 1 << 10);
    give(&mut bench, 0, 0);
    assert_eq!(
        got(&mut bench, 1),
        0,
        "no handler while a pass may free chunks"
    );
    assert_eq!(got(&mut bench, 0), 0);
    bench.put_words(1, HEAP, &[0x5555_5001]);
    let words = [
        set64(8, HEAP),
        word(HeapSet { address: d(8) }),
        set64(10, CHUNK | 1),
        word(FinishFragment {
            first_heap_chunk: d(10),
            last_heap_chunk: d(10),
            increment_fragment_completed: true,
            ..FinishFragment::default()
        }),
    ];
    bench.put_words(1, ring, &words);
    bench.put(0, input, &32u64.to_le_bytes());
    acknowledge(&mut bench, 1, 0);
    bench.wait(1000);
    assert_eq!(got(&mut bench, 0), 5, "{}", bench.report());
    // The chunk is the head of the free list, and links to the head before.
    assert_eq!(bench.get64(1, HEAP), CHUNK | 1);
    assert_eq!(bench.get64(1, CHUNK), 0x5555_5001);
}

#[test]
fn an_unanswered_request_for_memory_is_raised_anew_after_a_resume() {
    let mut bench = out_of_memory(1, 0, false);
    bench.request_state(0, 2);
    bench.configure_group(0);
    bench.request_state(0, 3);
    bench.wait(100);
    assert!(pending(&mut bench, TILER_OOM));
    give(&mut bench, CHUNK | 1, CHUNK | 1);
    assert_eq!(got(&mut bench, 0), 5);
}

const PROTM_PEND: u32 = 1 << 27;
const PROTM_ENTER: u32 = 1 << 4;
const PROTM_EXIT: u32 = 1 << 23;

/// A region that stores to place 0, waits for the object at place 2 to be above 0, and stores to place 1; then the end of
/// it, and a store to place 4.
fn protected(config: Config) -> Bench {
    let mut bench = with_data(Bench::booted_with(config));
    bench.start_group(0);
    let mut region = store(0, 1).to_vec();
    region.push(set64(8, DATA + 0x10));
    region.push(set64(10, 0));
    region.push(word(SyncWait64 {
        address: d(8),
        data: d(10),
        condition: Condition::Greater,
        ..SyncWait64::default()
    }));
    region.extend(store(1, 2));
    let bytes = 8 * region.len() as u32;
    let mut words = vec![word(ProtRegion {
        size: Bytes8::new(bytes).expect("whole instructions"),
    })];
    words.extend(region);
    words.extend(store(4, 3));
    bench.submit(0, &words);
    bench.wait(1000);
    assert!(pending(&mut bench, PROTM_PEND));
    assert_eq!(got(&mut bench, 0), 0);
    bench
}

fn secure() -> Config {
    Config {
        protected_memory: true,
        ..Config::default()
    }
}

#[test]
fn a_region_runs_in_protected_mode_alone() {
    let mut bench = protected(secure());
    bench.start_group(1);
    acknowledge(&mut bench, 0, PROTM_PEND);
    let req = toggle(&mut bench, PROTM_ENTER);
    bench.poll_shared(ACK, PROTM_ENTER, req & PROTM_ENTER);
    bench.poll(GPU_STATUS, 1 << 7, 1 << 7);
    bench.submit(1, &store(5, 9));
    bench.wait(1000);
    assert_eq!((got(&mut bench, 0), got(&mut bench, 1)), (1, 0));
    assert_eq!(got(&mut bench, 5), 0, "nobody else runs");
    bench.expect_no_diagnoses();
    bench.write(eitri_csf::registers::address_space::AS_COMMAND.at(1), 1);
    bench.expect_diagnosis("AS_COMMAND 1 = 0x1 in protected mode");
    // What the region waits for comes; it ends, and the firmware leaves.
    bench.put_words(1, DATA + 0x10, &[1]);
    bench.ring(0);
    bench.poll(GPU_STATUS, 1 << 7, 0);
    let events = bench.shared(REQ) ^ bench.shared(ACK);
    assert_eq!(events & PROTM_EXIT, PROTM_EXIT);
    bench.drain(0);
    bench.drain(1);
    assert_eq!((got(&mut bench, 1), got(&mut bench, 4)), (2, 3));
    assert_eq!(got(&mut bench, 5), 9);
}

#[test]
fn a_ping_forces_an_exit_and_the_region_asks_again() {
    let mut bench = protected(secure());
    acknowledge(&mut bench, 0, PROTM_PEND);
    let req = toggle(&mut bench, PROTM_ENTER);
    bench.poll_shared(ACK, PROTM_ENTER, req & PROTM_ENTER);
    bench.wait(100);
    assert_eq!(got(&mut bench, 0), 1);
    toggle(&mut bench, 1 << 8);
    bench.poll(GPU_STATUS, 1 << 7, 0);
    assert!(pending(&mut bench, PROTM_PEND));
    bench.put_words(1, DATA + 0x10, &[1]);
    let req = bench.shared(REQ) ^ PROTM_EXIT;
    bench.shared_write(REQ, req);
    acknowledge(&mut bench, 0, PROTM_PEND);
    toggle(&mut bench, PROTM_ENTER);
    bench.drain(0);
    assert_eq!((got(&mut bench, 1), got(&mut bench, 4)), (2, 3));
    bench.expect_no_diagnoses();
}

#[test]
fn a_fault_in_protected_mode_has_no_details() {
    let mut bench = protected(secure());
    acknowledge(&mut bench, 0, PROTM_PEND);
    bench.gpu.inject(Injection::StreamFatal { exception: 0x49 });
    toggle(&mut bench, PROTM_ENTER);
    bench.poll(GPU_IRQ_RAWSTAT, 2, 2);
    assert_eq!(bench.shared(stream_output(0) + 0x84), 0);
}

#[test]
fn protected_mode_needs_protected_memory_and_an_acknowledged_request() {
    let mut bench = protected(Config::default());
    acknowledge(&mut bench, 0, PROTM_PEND);
    toggle(&mut bench, PROTM_ENTER);
    bench.wait(10_000);
    assert_eq!(bench.read(GPU_STATUS) >> 7 & 1, 0);
    bench.expect_diagnosis("PROTM_ENTER on a system without protected memory");
    let mut bench = protected(secure());
    toggle(&mut bench, PROTM_ENTER);
    bench.wait(1000);
    bench.expect_diagnosis("no stream waits whose PROTM_PEND was acknowledged");
}

#[test]
fn all_of_a_suspend_buffer_is_the_firmwares() {
    let suspended = || {
        let mut bench = with_data(Bench::booted());
        bench.start_group(0);
        bench.request_state(0, 2);
        bench.configure_group(0);
        bench
    };
    let mut bench = suspended();
    bench.request_state(0, 3);
    bench.expect_no_diagnoses();
    // A word in the middle that somebody else wrote.
    let mut bench = suspended();
    bench.put(0, bench::suspend_buffer(0) + 0x804, &[0xA5]);
    bench.request_state(0, 3);
    bench.expect_diagnosis("that holds no suspended group");
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x40);
}

/// Every exception of the table that a stream, an address space or the GPU reports can be had.
#[test]
fn every_exception_of_the_table_is_reachable() {
    for row in EXCEPTIONS {
        let exception = row.first;
        let name = row.name;
        if row.from.cs_fault || row.from.cs_fatal {
            for (reported, injection, word) in [
                (
                    row.from.cs_fault,
                    Injection::StreamFault { exception },
                    0x80,
                ),
                (
                    row.from.cs_fatal,
                    Injection::StreamFatal { exception },
                    0x84,
                ),
            ] {
                if reported {
                    let mut bench = with_data(Bench::booted());
                    bench.start_group(0);
                    bench.gpu.inject(injection);
                    bench.submit(0, &store(0, 1));
                    bench.wait(1000);
                    let found = bench.shared(stream_output(0) + word) & 0xff;
                    assert_eq!(found, exception.into(), "{name}");
                }
            }
        }
        if row.from.gpu {
            let mut bench = Bench::booted();
            bench.gpu.inject(Injection::GpuFault { exception });
            bench.flush();
            assert_eq!(
                bench.read(GPU_FAULTSTATUS) & 0xff,
                exception.into(),
                "{name}"
            );
            assert_eq!(bench.read(GPU_IRQ_RAWSTAT) & 1, 1, "{name}");
        }
        if row.from.address_space {
            let mut bench = with_data(Bench::booted());
            let found = walk_fault(&mut bench, exception);
            assert_eq!(found, exception.into(), "{name}");
        }
    }
}

/// Makes the table walk for a stream's store fail with an exception, by what is in the tables; what AS_FAULTSTATUS says.
fn walk_fault(bench: &mut Bench, exception: u8) -> u32 {
    const PAGE: u64 = 0x3000_0000;
    const VALID_PAGE: u64 = 3;
    bench.start_group(0);
    bench.map(1, PAGE, 4096, Attributes::CACHED);
    let mut address = PAGE;
    // Codes of a run differ by the level; tables above are those of the bench.
    let leaf = |bench: &mut Bench, change: &dyn Fn(u64) -> u64| {
        let at = bench.leaf(1, PAGE);
        let entry = bench.memory.read64(at).unwrap();
        bench.memory.write64(at, change(entry)).unwrap();
    };
    match exception {
        0xC0 => address = 1 << 46,
        0xC4 => leaf(bench, &|entry| entry & !VALID_PAGE | 1),
        0xC8 => leaf(bench, &|entry| entry | 1 << 7),
        0xD9 => leaf(bench, &|entry| entry & !(1 << 10)),
        0xE0 => address = 1 << 49,
        0xE4 => leaf(bench, &|entry| entry | 1 << 45),
        0xE8 => {
            let faulting = eitri_csf::registers::address_space::AS_MEMATTR.at(1);
            bench.write64(faulting, 0xC0C0_C0C0_C0C0_C0C0);
            bench.command(1, 1);
        }
        other => panic!("no way to {other:#x} is known here"),
    }
    let words = [
        word(Move32 {
            destination: r(4),
            immediate: address as u32,
        }),
        word(Move32 {
            destination: r(5),
            immediate: (address >> 32) as u32,
        }),
        store(0, 1)[1],
        store(0, 1)[2],
    ];
    bench.submit(0, &words);
    bench.wait(1000);
    let status = bench.read(eitri_csf::registers::address_space::AS_FAULTSTATUS.at(1)) & 0xff;
    // A walk fails at some level: the first of the run stands for all.
    status & !level_bits(exception) | u32::from(exception) & level_bits(exception)
}

/// The bits in which the codes of a run differ.
fn level_bits(exception: u8) -> u32 {
    match exception {
        0xC0 | 0xC8 | 0xD9 | 0xE4 | 0xE8 => 3,
        _ => 0,
    }
}

#[test]
fn every_product_boots_and_executes() {
    for product in Product::all() {
        let mut bench = with_data(Bench::booted_with(Config {
            product,
            ..Config::default()
        }));
        bench.start_group(0);
        bench.submit(0, &store(0, 7));
        bench.drain(0);
        assert_eq!(got(&mut bench, 0), 7, "{:?}", product.name());
        bench.expect_no_diagnoses();
    }
}
