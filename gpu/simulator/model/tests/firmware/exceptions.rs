//! Exceptions: every one of the table can be had.

use super::{r, store, with_data, word};
use crate::bench::{Bench, stream_output};
use eitri_cs::instr::Move32;
use eitri_csf::fault::exception::EXCEPTIONS;
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::control::GPU_FAULTSTATUS;
use eitri_csf::registers::interrupts::GPU_IRQ_RAWSTAT;
use eitri_model::{Injection, PhysicalMemory};

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
                    assert_eq!(found, u32::from(exception), "{name}");
                }
            }
        }
        if row.from.gpu {
            let mut bench = Bench::booted();
            bench.gpu.inject(Injection::GpuFault { exception });
            bench.flush();
            assert_eq!(
                bench.read(GPU_FAULTSTATUS) & 0xff,
                u32::from(exception),
                "{name}"
            );
            assert_eq!(bench.read(GPU_IRQ_RAWSTAT) & 1, 1, "{name}");
        }
        if row.from.address_space {
            let mut bench = with_data(Bench::booted());
            let found = walk_fault(&mut bench, exception);
            assert_eq!(found, u32::from(exception), "{name}");
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
