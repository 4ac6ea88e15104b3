//! Performance counters as a host reads them: a ring of samples, and totals over the instances of a block.
//!
//! Facts: hardware/csf-perfcnt.md.

use super::Bench;
use eitri_csf::Arch;
use eitri_csf::counters::{SampleLayout, find};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::identity::PRFCNT_FEATURES;

/// The ring in address space 1.
pub const SAMPLES: u64 = 0x5000_0000;
/// GLB_REQ, GLB_ACK, GLB_PRFCNT_STATUS and GLB_PRFCNT_INSERT in the shared section.
pub const REQ: u64 = 0x2000;
pub const ACK: u64 = 0x6000;
pub const STATUS: u64 = 0x6014;
pub const INSERT: u64 = 0x6018;
pub const ENABLE: u32 = 1 << 5;
pub const SAMPLE: u32 = 1 << 6;
pub const THRESHOLD: u32 = 1 << 24;
pub const OVERFLOW: u32 = 1 << 25;

/// Switches the counters on, with a ring of `samples`.
pub fn switch_on(bench: &mut Bench, base: u64, samples: u32) {
    bench.shared_write(0x2024, 1);
    bench.shared_write64(0x2028, base);
    bench.shared_write(0x2030, 0);
    bench.shared_write(0x2040, samples);
    for enable in [0x2050, 0x2054, 0x2058, 0x205C] {
        bench.shared_write(enable, u32::MAX);
    }
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req | ENABLE);
    bench.ring(0);
}

pub fn counting(gpu: &str, samples: u32) -> Bench {
    let mut bench = Bench::booted_as(gpu);
    bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
    switch_on(&mut bench, SAMPLES, samples);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    bench
}

pub fn ask(bench: &mut Bench) -> u32 {
    let req = bench.shared(REQ) ^ SAMPLE;
    bench.shared_write(REQ, req);
    bench.ring(0);
    req
}

/// Asks for a sample and waits for it; INSERT.
#[track_caller]
pub fn sample(bench: &mut Bench) -> u32 {
    let req = ask(bench);
    bench.poll_shared(ACK, SAMPLE, req & SAMPLE);
    bench.shared(INSERT)
}

/// A host's own view of the layout, from the registers.
pub fn layout(bench: &mut Bench) -> SampleLayout {
    let arch = bench.arch();
    let features = match arch {
        Arch::V10 => 0,
        _ => bench.read(PRFCNT_FEATURES),
    };
    let slices = (bench.read(eitri_csf::registers::identity::MEM_FEATURES) >> 8 & 0xf) + 1;
    let size = bench.shared(0x18);
    let layout = SampleLayout::new(arch, features, 0, slices, bench.cores());
    assert_eq!(
        layout.hardware_bytes(),
        (size & 0xffff) * 256,
        "GLB_PRFCNT_SIZE"
    );
    assert_eq!(size >> 16, 0, "no firmware blocks");
    layout
}

/// A counter of sample `number`, over all instances of its block.
#[track_caller]
pub fn total(bench: &mut Bench, number: u32, name: &str) -> u32 {
    each(bench, number, name).iter().sum()
}

/// A counter of sample `number` in each instance of its block.
#[track_caller]
pub fn each(bench: &mut Bench, number: u32, name: &str) -> Vec<u32> {
    let layout = layout(bench);
    let counter = find(name, bench.arch()).unwrap_or_else(|| panic!("no {name}"));
    let start = SAMPLES + u64::from(number * layout.bytes());
    (0..layout.count(counter.block))
        .map(|instance| {
            let block = start + u64::from(layout.offset(counter.block, instance).unwrap());
            bench.get32(1, block + 4 * u64::from(counter.index))
        })
        .collect()
}
