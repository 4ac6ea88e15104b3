//! Protected mode: asked for, entered, forced to an end, and what it hides.

use super::{ACK, DATA, REQ, acknowledge, d, got, pending, set64, store, toggle, with_data, word};
use crate::bench::{Bench, stream_output};
use eitri_cs::enums::Condition;
use eitri_cs::field::Bytes8;
use eitri_cs::instr::{ProtRegion, SyncWait64};
use eitri_csf::registers::control::GPU_STATUS;
use eitri_csf::registers::interrupts::GPU_IRQ_RAWSTAT;
use eitri_model::{Config, Injection};

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
