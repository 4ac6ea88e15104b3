//! Whole programs: memory, divergence, waves, workgroups.

use crate::support::{assemble, launch, memory, output, result};
use eitri_ir3_interp::{Code, Launch, Memory, Place, run};
use eitri_ir3_isa::Gen;

/// The worked program of hardware/ir3-isa.md section 15, by its words: out[i] = in[i] > 10 ? in[i] + 1 : in[i].
#[test]
fn the_worked_program() {
    let words = [
        0x4638_0801_2040_00c0,
        0x4218_0801_0000_0001,
        0x0000_0200_0000_0000,
        0xc026_0002_0161_8000,
        0x529a_08f8_200a_0002,
        0x0000_0200_0000_0000,
        0x0090_0000_0000_0002,
        0x4218_0802_2001_0002,
        0x0800_0200_0000_0000,
        0xc026_0202_0167_4000,
        0x0300_0000_0000_0000,
    ];
    let code = Code::decode(words, Gen::A6xx).expect("its words are instructions");
    let mut memory = Memory::default();
    let input = (0..128u32).map(|n| n * 7 % 23);
    memory.buffers.insert(
        Place::Slot(0),
        input.clone().flat_map(u32::to_le_bytes).collect(),
    );
    memory.buffers.insert(Place::Slot(1), vec![0; 512]);
    let launch = Launch {
        workgroups: [2, 1, 1],
        ..launch()
    };
    let statistics = run(&code, &launch, &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
    let expected: Vec<u32> = input.map(|n| if n > 10 { n + 1 } else { n }).collect();
    assert_eq!(output(&memory), expected);
    assert_eq!(statistics.waves, 2);
    assert_eq!(statistics.instructions, 22);
}

#[test]
fn lanes_that_differ_go_both_ways() {
    let stored = result(
        "cmps.u.lt p0.x, r0.x, 32
         (rpt5)nop
         br !p0.x, #else
         mov.u32u32 r1.x, 2
         jump #done
         else:
         (jp)mov.u32u32 r1.x, 3
         done:
         (jp)(rpt5)nop
         stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
         end",
    );
    assert!(stored[..32].iter().all(|value| *value == 2));
    assert!(stored[32..].iter().all(|value| *value == 3));
}

#[test]
fn a_loop_runs_as_often_as_each_lane_says() {
    // r1.x = r0.x + (r0.x - 1) + ... + 1.
    let stored = result(
        "mov.u32u32 r1.x, 0
         mov.u32u32 r1.y, r0.x
         (rpt3)nop
         again:
         (jp)(nop3) cmps.u.eq p0.x, r1.y, 0
         (rpt2)nop
         br p0.x, #out
         add.u r1.x, r1.x, r1.y
         sub.u r1.y, r1.y, 1
         (rpt3)nop
         jump #again
         out:
         (jp)(rpt5)nop
         stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
         end",
    );
    let expected: Vec<u32> = (0..64).map(|n| n * (n + 1) / 2).collect();
    assert_eq!(stored, expected);
}

#[test]
fn waves_meet_at_a_barrier() {
    // Each lane of two waves stores its id in shared memory, and reads that of the lane 64 further on.
    let code = assemble(
        "shl.b r2.x, r0.x, 2
         add.u r2.y, r0.x, 64
         (rpt2)nop
         and.b r2.y, r2.y, 127
         (rpt3)nop
         shl.b r2.y, r2.y, 2
         (rpt5)nop
         stl.u32 l[r2.x], r0.x, 1
         fence.l.r.w
         (sy)(ss)bar.g
         (sy)(ss)ldl.u32 r1.x, l[r2.y], 1
         (ss)nop
         stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
         end"
        .replace("(sy)(ss)ldl", "(sy)(ss)nop\nldl")
        .as_str(),
    );
    let mut memory = memory();
    memory.buffers.insert(Place::Slot(1), vec![0; 512]);
    let launch = Launch {
        local_size: [128, 1, 1],
        ..launch()
    };
    run(&code, &launch, &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
    let expected: Vec<u32> = (0..128).map(|n| (n + 64) % 128).collect();
    assert_eq!(output(&memory), expected);
}

#[test]
fn a_wave_of_128_lanes() {
    let code = assemble(
        "movmsk.w128 r48.x
         (ss)mov.u32u32 r1.x, r48.w
         (rpt5)nop
         stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
         end",
    );
    let mut memory = memory();
    memory.buffers.insert(Place::Slot(1), vec![0; 512]);
    let launch = Launch {
        local_size: [100, 1, 1],
        lanes: 128,
        workgroup_id: None,
        ..launch()
    };
    run(&code, &launch, &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
    let words = output(&memory);
    assert_eq!(words[0], 0xf, "lanes 96 to 99");
    assert_eq!(words[100], 0, "lane 100 does not run");
}

#[test]
fn atomics_add_up() {
    let stored = result(
        "mov.u32u32 r1.y, 1
         mov.u32u32 r2.x, 0
         (rpt5)nop
         atomic.b.add.untyped.1d.u32.1.imm r1.x, r2.x, 1
         end",
    );
    assert_eq!(stored[0], 64);
}

#[test]
fn memory_by_address() {
    let code = assemble(
        "shl.b r2.x, r0.x, 2
         (rpt3)nop
         add.u r2.x, r2.x, c0.x
         mov.u32u32 r2.y, c0.y
         (rpt5)nop
         ldg.u32 r1.x, g[r2.x], 2
         (sy)(nop3) add.u r1.x, r1.x, r1.y
         (rpt2)nop
         stg.u32 g[r2.x+64], r1.x, 1
         end",
    );
    let mut memory = memory();
    let numbers = (0..65u32)
        .chain([0; 64])
        .flat_map(u32::to_le_bytes)
        .collect();
    memory.regions.insert(0x1_0000_1000, numbers);
    let launch = Launch {
        constants: vec![0x1000, 1, 0, 0],
        ..launch()
    };
    run(&code, &launch, &mut memory).unwrap_or_else(|fault| panic!("{fault}"));
    // The offset counts dwords: lane n stores n + n + 1 in word n + 64.
    let bytes = &memory.regions[&0x1_0000_1000];
    assert_eq!(bytes[4 * 74..4 * 74 + 4], 21u32.to_le_bytes());
}

#[test]
fn elect_and_read_first() {
    let stored = result(
        "mov.u32u32 r1.x, 0
         getone #skip
         mov.u32u32 r1.x, 1
         skip:
         (jp)mov.u32u32 r48.w, r0.x
         (ss)mov.u32u32 r1.y, r48.w
         (rpt5)nop
         stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 1
         end",
    );
    assert_eq!(stored[..3], [1, 0, 0]);
}
