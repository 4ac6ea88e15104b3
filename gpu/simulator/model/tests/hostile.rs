//! Hostile drivers: whatever is written to registers, tables, rings and code, nothing panics and every call returns.

mod bench;

use bench::{Bench, RING};
use eitri_cs::instr::{Instr, Move32, Move48, ReqResource, RunCompute, Wait};
use eitri_cs::{Arch, Pair, Reg, SlotMask};
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::BLOCKS;
use eitri_csf::table::Width;
use eitri_model::{Budget, Config, PhysicalMemory, SparseMemory};
use proptest::prelude::*;

/// Register offsets that exist, and some that do not.
fn offsets() -> impl Strategy<Value = u32> {
    let mut all: Vec<u32> = Vec::new();
    for register in BLOCKS.iter().flat_map(|block| block.registers) {
        for index in 0..register.count {
            let offset = register.at(index).offset;
            all.push(offset);
            if register.width == Width::Bits64 {
                all.push(offset + 4);
            }
        }
    }
    prop_oneof![20 => proptest::sample::select(all), 1 => any::<u32>()]
}

/// Values that mean something more often than not.
fn values() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0u32..16,
        Just(u32::MAX),
        (0u32..32).prop_map(|bit| 1 << bit),
        Just(0x101),
        Just(0x2_3304)
    ]
}

fn short() -> Budget {
    Budget {
        time: 100_000,
        instructions: 2000,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn registers(writes in prop::collection::vec((offsets(), values(), any::<bool>()), 1..200)) {
        let mut bench = Bench::new(Config::default());
        for (offset, value, run) in writes {
            bench.gpu.write32(&mut bench.memory, offset, value);
            bench.gpu.read32(&mut bench.memory, offset);
            if run {
                bench.gpu.run(&mut bench.memory, short());
            }
        }
    }

    #[test]
    fn registers_of_a_running_device(writes in prop::collection::vec((offsets(), values()), 1..60)) {
        let mut bench = Bench::booted();
        bench.start_group(0);
        for (offset, value) in writes {
            bench.gpu.write32(&mut bench.memory, offset, value);
            bench.gpu.run(&mut bench.memory, short());
        }
    }

    #[test]
    fn interface_words(writes in prop::collection::vec((0u32..0x2d00, values()), 1..100)) {
        let mut bench = Bench::booted();
        bench.start_group(0);
        for (index, value) in writes {
            bench.shared_write(u64::from(index) * 4, value);
            bench.ring(0);
            bench.ring(1);
            bench.wait(20);
        }
    }

    #[test]
    fn page_tables(entries in prop::collection::vec((0u64..0x4000, any::<u64>(), 0u64..0x40), 1..200), addresses in prop::collection::vec(any::<u64>(), 8)) {
        let mut bench = Bench::booted();
        bench.start_group(0);
        // The tables of space 1 lie among the first pages: entries point anywhere, often back at a table.
        for (at, bits, page) in entries {
            let entry = if bits & 4 != 0 { bits } else { (bits & 0x0060_0000_0000_0fff) | page << 12 | 0x10_0000 | 3 };
            bench.memory.write64(0x10_0000 + at * 8, entry).unwrap();
        }
        bench.enable_space(1);
        for address in addresses {
            bench.memory.write64(0, address).unwrap();
            bench.ring(1);
            bench.gpu.run(&mut bench.memory, short());
        }
    }

    #[test]
    fn streams(words in prop::collection::vec((0u64..64, any::<u64>(), any::<bool>()), 1..64)) {
        let mut bench = Bench::booted();
        bench.map(1, 0x2000_0000, 0x1000, Attributes::CACHED);
        bench.start_group(0);
        // Pairs hold an address that exists, so that more than faults is reached.
        let mut code: Vec<u64> = (0..40).step_by(2).map(|register| {
            let destination = Pair::new(register).unwrap();
            Instr::from(Move48 { destination, immediate: 0x2000_0000 }).encode(Arch::V10).unwrap()
        }).collect();
        code.extend(words.iter().map(|(opcode, payload, wild)| {
            let payload = if *wild { *payload } else { payload & 0x000e_0e0e_0000_0fff };
            opcode << 56 | payload & 0x00ff_ffff_ffff_ffff
        }));
        bench.submit(0, &code);
        for _ in 0..20 {
            bench.gpu.run(&mut bench.memory, Budget { time: 1_000_000, instructions: 5000 });
        }
    }

    #[test]
    fn shaders(seeds in prop::collection::vec((any::<u64>(), 0usize..400), 1..40), dispatch in prop::array::uniform8(any::<u32>())) {
        let mut bench = Bench::booted();
        bench.map(1, 0x2000_0000, 0x10_000, Attributes::CACHED);
        bench.map(1, 0x4000_0000, 0x1000, Attributes::CODE);
        bench.start_group(0);
        let mut code: Vec<u64> = seeds.iter().map(|(bits, kind)| shader_word(*bits, *kind)).collect();
        code.push(0x7800_c000_0000_0000);
        bench.put_words(1, 0x4000_0000, &code);
        bench.put_words(1, 0x2000_0000, &[0x18 | 0xffff << 32, 0x4000_0000, 0, 0]);
        bench.put_words(1, 0x2000_0040, &[u64::from(dispatch[0]) | u64::from(dispatch[1]) << 32, 0x2000_8000, 0x2000_8000, 0]);
        bench.put_words(1, 0x2000_0080, &[0x2000_0100 | 1 << 56, 0x1000, 0x2000_0100 | 1 << 56, u64::from(dispatch[2])]);
        bench.put_words(1, 0x2000_0100, &[0x19 | 0x100 << 32, 0x2000_0000, 4, 0]);
        let mut stream: Vec<u64> = Vec::new();
        let mut set = |register: u8, value: u32| {
            let destination = Reg::new(register);
            stream.push(Instr::from(Move32 { destination, immediate: value }).encode(Arch::V10).unwrap());
        };
        for (register, value) in [(0, 0x2000_0084), (1, 0), (8, 0x2000_0000), (9, 0xff00_0000), (16, 0x2000_0000), (17, 0), (24, 0x2000_0040), (25, 0), (32, 0), (33, dispatch[3] & 0x00f0_3c0f)] {
            set(register, value);
        }
        for (register, value) in (34..).zip([0, 0, 0, dispatch[4], dispatch[5], dispatch[6]]) {
            set(register, value);
        }
        for instr in [
            Instr::from(ReqResource { compute: true, ..ReqResource::default() }),
            RunCompute { task_increment: 1, ..RunCompute::default() }.into(),
            Wait { wait_mask: SlotMask::new(0xff), ..Wait::default() }.into(),
        ] {
            stream.push(instr.encode(Arch::V10).unwrap());
        }
        bench.submit(0, &stream);
        for _ in 0..10 {
            bench.gpu.run(&mut bench.memory, Budget { time: 1_000_000, instructions: 2000 });
        }
        prop_assert!(bench.gpu.diagnoses().len() <= eitri_model::diagnosis::KEPT_DIAGNOSES);
    }
}

/// A word that often is an instruction: the bits of a row of the table, and random ones elsewhere.
fn shader_word(bits: u64, kind: usize) -> u64 {
    use eitri_isa::Op;
    let names = [
        "LOAD.i32",
        "STORE.i128",
        "ATOM_RETURN.i64",
        "LD_BUFFER.i96",
        "BARRIER",
        "BRANCHZ",
        "BRANCHZI",
        "CLPER.i32",
        "FMA_RSCALE.f32",
        "LDEXP.v2f16",
        "ARSHIFT_XOR.i64",
        "LEA_PKA",
        "IDP.v4s8",
        "FREXPE.f32",
        "V2F32_TO_V2F16",
    ];
    match names.get(kind % 20).and_then(|name| Op::from_name(name)) {
        Some(op) => {
            let row = op.row();
            let free = row.claimed() & !row.matches.mask & !row.fixed.mask;
            row.matches.value | row.fixed.value | bits & free & !(3 << 57)
        }
        None => bits & !(1 << 63),
    }
}

#[test]
fn a_ring_that_loops_for_ever_uses_up_its_budget_and_no_more() {
    let mut bench = Bench::booted();
    bench.start_group(0);
    bench.submit(0, &[0x16 << 56 | 6 << 28 | 0xffff]);
    for _ in 0..3 {
        let progress = bench.gpu.run(
            &mut bench.memory,
            Budget {
                time: 1 << 40,
                instructions: 10_000,
            },
        );
        assert_eq!(progress, eitri_model::Progress::Busy);
    }
    let at = bench.physical(1, RING);
    assert!(bench.memory.read64(at).is_ok());
}

#[test]
fn memory_that_is_not_there_is_a_bus_error() {
    let mut bench = Bench::booted();
    bench.map_page(1, 0x5000_0000, 0xff_0000_0000, Attributes::CACHED);
    bench.start_group(0);
    let destination = Pair::new(0).unwrap();
    let load = 0x14 << 56 | 4 << 48 | 1 << 16;
    bench.submit(
        0,
        &[
            Instr::from(Move48 {
                destination,
                immediate: 0x5000_0000,
            })
            .encode(Arch::V10)
            .unwrap(),
            load,
        ],
    );
    bench.wait(1000);
    bench.expect_diagnosis(
        "0x50000000 of address space 1 maps to 0xff00000000, where there is no memory",
    );
    let mut other = SparseMemory::new(0);
    bench.gpu.run(&mut other, short());
}
