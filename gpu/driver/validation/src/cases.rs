//! Cases: small shaders of one subject each, and what every thread must store.
//!
//! They cover what the vectors of the ALU can't: messages, flow, lanes, and the register file. Facts: hardware/valhall-isa.md
//! 2 (FAU, special values), 6, 11 and 12.

use crate::programs::{LANES, NoProgram, OWN_WORD, Source};
use alloc::format;
use alloc::vec::Vec;
use eitri_csf::Arch;

/// A shader, and what comes of it.
pub struct Case {
    /// Its name: that of its test, behind `shader.`.
    pub name: &'static str,
    /// What a failure points at.
    pub about: &'static str,
    /// Instructions between the address of the thread's word in r0 and r1, and the store of r4 to it.
    text: &'static str,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Workgroups.
    pub groups: u32,
    shared: u32,
    scratch: u32,
    /// Push constants.
    pub push: [u32; 4],
    /// What thread n finds in its word, before and after, on the core of this number.
    pub before: fn(u32) -> u32,
    /// What it stores.
    pub after: fn(u32, u32) -> u32,
}

const fn case(
    name: &'static str,
    about: &'static str,
    text: &'static str,
    after: fn(u32, u32) -> u32,
) -> Case {
    Case {
        name,
        about,
        text,
        threads: LANES as u32,
        groups: 4,
        shared: 0,
        scratch: 0,
        push: [0; 4],
        before: found,
        after,
    }
}

/// What threads find in memory, of thread n.
const fn found(n: u32) -> u32 {
    n.wrapping_mul(0x9E37_79B9) ^ 0xA5A5_5A5A
}

const fn byte(word: u32, index: u32) -> u32 {
    word >> (8 * index) & 0xFF
}

/// All of them. What their instructions give is computed here by the rules of the facts.
#[rustfmt::skip]
pub static ALL: &[Case] = &[
    Case {
        push: [8, 0, 0, 0],
        ..case("ids", "the lane id, or the preloaded numbers of threads and workgroups",
        "MOV.i32 r4, lane_id.w0
         LSHIFT_OR.i32 r4, r57, u2.b00, r4",
        |n, _| (n % 16) | ((n / 16) << 8))
    },
    case("core-id", "the core id: does the firmware give the cores that were asked for?",
        "MOV.i32 r4, core_id.w0",
        |_, core| core),
    Case {
        push: [0x0F0F_0F0F, 0x3333_CCCC, 0x8000_0001, 0x7654_3210],
        ..case("uniforms", "the uniform words of the fast access unit",
        "IADD.u32 r4, u2, 0x0
         IADD.u32 r4, r4, u3
         IADD.u32 r4, r4, u4
         IADD.u32 r4, r4, u5",
        |_, _| {
            let sum = 0x0F0F_0F0F_u32.wrapping_add(0x3333_CCCC);
            sum.wrapping_add(0x8000_0001).wrapping_add(0x7654_3210)
        })
    },
    case("constants", "the table of constants",
        "MOV.i32 r4, 0xFFFFFFFF
         LSHIFT_XOR.i32 r4, 0x03020100, 0x0.b00, r4
         LSHIFT_XOR.i32 r4, 0x7FFFFFFF, 0x0.b00, r4
         LSHIFT_XOR.i32 r4, 0x3F800000, 0x0.b00, r4",
        |_, _| 0xFFFF_FFFF ^ 0x0302_0100 ^ 0x7FFF_FFFF ^ 0x3F80_0000),
    case("load", "loads of 8, 16, 24, 32, 64 and 128 bits, and how they grow",
        "LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
         LOAD.i8.unsigned.slot0.w0 @r5, r0, offset:1
         LOAD.i8.slot0.w0 @r6, r0, offset:3
         LOAD.i16.unsigned.slot0.w0 @r7, r0, offset:2
         LOAD.i16.slot0.w0 @r8, r0, offset:0
         LOAD.i24.unsigned.slot0 @r9, r0, offset:0
         NOP.wait0
         IADD.u32 r4, r4, r5
         IADD.u32 r4, r4, r6
         IADD.u32 r4, r4, r7
         IADD.u32 r4, r4, r8
         IADD.u32 r4, r4, r9",
        |n, _| {
            let word = found(n);
            word.wrapping_add(byte(word, 1))
                .wrapping_add((word as i32 >> 24) as u32)
                .wrapping_add(word >> 16)
                .wrapping_add(word as i16 as u32)
                .wrapping_add(word & 0xFF_FFFF)
        }),
    case("store", "stores of 8 and 16 bits: bytes beside them must stay",
        "MOV.i32 r5, r60
         IADD_IMM.i32 r6, r60, #0x1234
         STORE.i8.slot0 @r5, r0, offset:1
         STORE.i16.slot0 @r6, r0, offset:2
         NOP.wait0
         LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
         NOP.wait0",
        |n, _| found(n) & 0xFF | (n & 0xFF) << 8 | (n + 0x1234) << 16),
    case("atomics", "atomic operations, and what they return",
        "IADD_IMM.i32 r5, r60, #0x11
         ATOM_RETURN.i32.slot0.aadd @r6, @r5, r0, offset:0
         NOP.wait0
         ATOM.i32.slot0.axor @r5, r0, offset:0
         NOP.wait0
         ATOM_RETURN.i32.slot0.aumax @r7, @r5, r0, offset:0
         NOP.wait0
         LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
         NOP.wait0
         IADD.u32 r4, r4, r6
         IADD.u32 r4, r4, r7",
        |n, _| {
            let (old, operand) = (found(n), n + 0x11);
            let changed = old.wrapping_add(operand) ^ operand;
            changed.max(operand).wrapping_add(old).wrapping_add(changed)
        }),
    case("lanes", "values of other lanes, and masks of lanes",
        "IADD_IMM.i32 r5, 0x0, #5
         CLPER.i32.subgroup16.xor r4, r60, r5.b0
         IADD_IMM.i32 r6, 0x0, #1
         LSHIFT_AND.i32 r6, r60, 0x0.b00, r6
         WMASK.subgroup16 r8, r6
         IADD_IMM.i32 r9, 0x0, #16
         LSHIFT_OR.i32 r4, r8, r9.b00, r4",
        |n, _| n ^ 5 | 0xAAAA << 16),
    case("branches", "branches that part the lanes, loops, and how they meet again",
        "MOV.i32 r5, 0x0
         MOV.i32 r7, lane_id.w0
         IADD_IMM.i32 r6, 0x0, #1
         LSHIFT_AND.i32 r8, r7, 0x0.b00, r6
         BRANCHZ.reconverge r8, offset:odd
         head:
         ICMP_OR.u32.ge.m1 r6, r5, r7, 0x0
         BRANCHZ.reconverge r6, offset:join
         IADD_IMM.i32 r5, r5, #1
         BRANCHZ.eq.reconverge 0x0, offset:head
         odd:
         IADD_IMM.i32.reconverge r5, 0x0, #1000
         join:
         IADD_IMM.i32 r6, 0x0, #1
         WMASK.subgroup16 r8, r6
         IADD_IMM.i32 r9, 0x0, #16
         LSHIFT_OR.i32 r4, r8, r9.b00, r5",
        |n, _| if n % 2 == 0 { n % 16 } else { 1000 } | 0xFFFF << 16),
    case("jumps", "single lanes at branches: each must be able to go, and to stay",
        "IADD_IMM.i32 r5, 0x0, #1
         MOV.i32 r7, lane_id.w0
         LSHIFT_AND.i32 r6, r7, 0x0.b00, r5
         MOV.i32 r4, r7
         BRANCHZ.reconverge r6, offset:odd
         IADD_IMM.i32 r4, r4, #100
         odd:
         IADD_IMM.i32.reconverge r4, r4, #1000
         BRANCHZ.eq.reconverge r6, offset:even
         IADD_IMM.i32 r4, r4, #20000
         even:
         IADD_IMM.i32.reconverge r4, r4, #300000",
        |n, _| n % 16 + 301_000 + if n % 2 == 0 { 100 } else { 20_000 }),
    Case {
        threads: 64,
        groups: 4,
        shared: 256,
        push: [2, 252, 0, 0],
        ..case("shared", "shared memory of workgroups, and barriers",
        "LSHIFT_OR.i32 r4, r55, u2.b00, 0x0
         IADD.u32 r2, workgroup_local_pointer.w0, r4
         MOV.i32 r3, workgroup_local_pointer.w1
         STORE.i32.slot0 @r60, r2, offset:0
         NOP.wait0
         BARRIER.slot7.wait
         ISUB.u32 r5, u3, r4
         IADD.u32 r2, workgroup_local_pointer.w0, r5
         LOAD.i32.unsigned.slot0.w0 @r4, r2, offset:0
         NOP.wait0",
        |n, _| n / 64 * 64 + 63 - n % 64)
    },
    Case {
        threads: 64,
        scratch: 16,
        ..case("scratch", "memory of single threads: does each have its own?",
        "STORE.i32.slot0.force @r60, thread_local_pointer.w0, offset:4
         NOP.wait0
         BARRIER.slot7.wait
         LOAD.i32.unsigned.slot0.w0 @r4, thread_local_pointer.w0, offset:4
         NOP.wait0",
        |n, _| n)
    },
    Case {
        push: [0x0100_0000, 2, 0, 0],
        ..case("descriptors", "buffers by descriptor: addresses, loads, bounds",
        "LSHIFT_OR.i32 r5, r60, u3.b00, 0x0
         MOV.i32 r6, u2
         LD_BUFFER.i32.unsigned.slot0.w0 @r4, r5, r6
         LEA_PKA.slot1 @r8:r9, r5, r6
         NOP.wait01
         LOAD.i32.unsigned.slot0.w0 @r7, r8, offset:0
         IADD_IMM.i32 r5, r5, #0x100000
         LD_BUFFER.i32.unsigned.slot1.w0 @r2, r5, r6
         NOP.wait01
         IADD.u32 r4, r4, r7
         IADD.u32 r4, r4, r2",
        |n, _| found(n).wrapping_mul(2))
    },
    case("wide", "64-bit addition and addresses",
        "MOV.i32 r4, 0xFFFFFFFF
         MOV.i32 r5, r60
         SHADDX.u64 r6, r4, r60.w0, shift:0x4
         IADD.u32 r4, r6, r7",
        |n, _| {
            let sum = (u64::from(n) << 32 | 0xFFFF_FFFF).wrapping_add(u64::from(n) << 4);
            (sum as u32).wrapping_add((sum >> 32) as u32)
        }),
];

impl Case {
    /// Its program, between the address of the thread's word and the store of what it has found.
    ///
    /// # Errors
    /// If a line is no instruction of the architecture.
    pub(crate) fn build(&self, arch: Arch) -> Result<Vec<u8>, NoProgram> {
        let text = format!(
            "{OWN_WORD}\n{}\nSTORE.i32.slot0 @r4, r0, offset:0\nNOP.wait0\nNOP.end",
            self.text
        );
        Source {
            threads: self.threads,
            shared: self.shared,
            scratch: self.scratch,
            ..Source::new(&text)
        }
        .build(arch)
    }

    /// Threads in all.
    pub fn all_threads(&self) -> u32 {
        self.threads * self.groups
    }
}
