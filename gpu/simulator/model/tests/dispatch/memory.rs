//! Memory: widths, bounds, addresses, shared and private memory, atomics.

use super::{BUFFER, Dispatch, program};
use eitri_model::PhysicalMemory;

#[test]
fn loads_of_every_width_go_where_they_should() {
    let dispatch = Dispatch {
        size: [1, 1, 1],
        uniforms: vec![BUFFER as u32, 0, BUFFER as u32 + 0x80, 0],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(
        "
        MOV.i32 r4, 0x0
        MOV.i32 r5, 0x0
        LOAD.i8.unsigned.slot0.b2 @r4, u0, offset:1
        LOAD.i16.unsigned.slot0.h1 @r5, u0, offset:2
        LOAD.i8.slot0.w0 @r6, u0, offset:7
        LOAD.i16.unsigned.slot0.w0 @r7, u0, offset:6
        LOAD.i8.slot0.d0 @r8:r9, u0, offset:7
        LOAD.i64.unsigned.slot0 @r10:r11, u0, offset:0
        LOAD.i24.unsigned.slot0 @r12, u0, offset:4
        LOAD.i8.slot1.h0 @r13, u0, offset:7
        NOP.wait0
        NOP.wait1
        STORE.i128.slot0 @r4:r5:r6:r7, u2, offset:0
        STORE.i128.slot0 @r8:r9:r10:r11, u2, offset:16
        STORE.i32.slot0 @r12, u2, offset:32
        STORE.i16.slot0 @r13, u2, offset:36
        NOP.end",
    );
    bench.put_words(1, BUFFER, &[0x8877_6655_4433_2211]);
    dispatch.submit(&mut bench);
    bench.drain(0);
    let got: Vec<u32> = (0..10)
        .map(|i| bench.get32(1, BUFFER + 0x80 + 4 * i))
        .collect();
    assert_eq!(
        got,
        [
            0x0022_0000,
            0x4433_0000,
            0xffff_ff88,
            0x8877,
            0xffff_ff88,
            0xffff_ffff,
            0x4433_2211,
            0x8877_6655,
            0x0077_6655,
            0xff88,
        ],
        "{}",
        bench.report()
    );
}

#[test]
fn buffers_are_bounded_by_their_descriptors() {
    let dispatch = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 0x0100_0000, 0xF8],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(
        "
        MOV.i32 r2, u2
        LSHIFT_OR.i32 r4, r60, 0x03020100.b22, 0x0
        IADD.u32 r4, r4, u3
        LD_BUFFER.i64.unsigned.slot0 @r6:r7, r4, r2
        SHADDX.u64 r0, u0, r60.w0, shift:0x3
        NOP.wait0
        STORE.i64.slot0 @r6:r7, r0, offset:0x400
        NOP.end",
    );
    bench.put_words(
        1,
        BUFFER + 0xF0,
        &[
            0x1111_1111_0000_0000,
            0x3333_3333_2222_2222,
            0x5555_5555_4444_4444,
        ],
    );
    dispatch.submit(&mut bench);
    bench.drain(0);
    // Offsets 0xF8 and 0xFC (lane 1): the second word of lane 1 is beyond the 256 bytes.
    assert_eq!(
        bench.get64(1, BUFFER + 0x400),
        0x3333_3333_2222_2222,
        "{}",
        bench.report()
    );
    assert_eq!(bench.get64(1, BUFFER + 0x408), 0x3333_3333);
    assert_eq!(bench.get64(1, BUFFER + 0x410), 0);
    bench.expect_diagnosis("past the end of the buffer with handle 0x1000000");
}

#[test]
fn addresses_of_bytes_and_elements() {
    let dispatch = Dispatch {
        uniforms: vec![0x0100_0000, 0x0100_0001],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..16).flat_map(|i| [i * 2, 100 + i]).collect();
    dispatch.check(
        "
        LEA_BUF.slot0 @r0:r1, r60, u1
        LSHIFT_OR.i32 r4, r60, 0x03020100.b33, 0x0
        LEA_PKA.slot1 @r2:r3, r4, u0
        IADD.u32 r6, r60, r60
        IADD_IMM.i32 r7, r60, #100
        NOP.wait01
        STORE.i32.slot0 @r6, r0, offset:0
        STORE.i32.slot0 @r7, r2, offset:4
        NOP.end",
        &expected,
    );
}

#[test]
fn workgroups_share_memory_behind_barriers() {
    // Each thread writes its id to shared memory and reads that of its mirror.
    let text = "
        LSHIFT_OR.i32 r4, r55, u2.b00, 0x0
        IADD.u32 r2, workgroup_local_pointer.w0, r4
        MOV.i32 r3, workgroup_local_pointer.w1
        STORE.i32.slot0 @r60, r2, offset:0
        NOP.wait0
        BARRIER.slot7.wait
        ISUB.u32 r5, u3, r4
        IADD.u32 r2, workgroup_local_pointer.w0, r5
        LOAD.i32.unsigned.slot0.w0 @r6, r2, offset:0
        SHADDX.u64 r0, u0, r60.w0, shift:0x2
        NOP.wait0
        STORE.i32.slot0 @r6, r0, offset:0
        NOP.end";
    let dispatch = Dispatch {
        size: [64, 1, 1],
        groups: [6, 1, 1],
        workgroup_bytes: 256,
        uniforms: vec![BUFFER as u32, 0, 2, 63 * 4],
        ..Dispatch::default()
    };
    let expected: Vec<u32> = (0..384).map(|i| i / 64 * 64 + 63 - i % 64).collect();
    dispatch.check(text, &expected);
}

#[test]
fn every_thread_has_storage_of_its_own() {
    let text = program(
        "
        STORE.i32.slot0.force @r60, thread_local_pointer.w0, offset:4
        NOP.wait0
        LOAD.i32.unsigned.slot0.w0 @r4, thread_local_pointer.w0, offset:4
        NOP.wait0
        STORE.i32.slot0 @r4, r0, offset:0
        NOP.end",
    );
    let expected: Vec<u32> = (0..160).collect();
    Dispatch {
        size: [32, 1, 1],
        groups: [5, 1, 1],
        thread_bytes: 16,
        ..Dispatch::default()
    }
    .check(&text, &expected);
}

#[test]
fn atomics_of_all_kinds() {
    let text = "
        IADD_IMM.i32 r4, r60, #1
        ATOM.i32.slot0.aadd @r4, u0, offset:0
        ATOM.i32.slot0.aumax @r4, u0, offset:4
        ATOM.i32.slot0.asmin @r4, u0, offset:8
        ATOM.i32.slot0.axor @r4, u0, offset:12
        ATOM1_RETURN.i32.slot0.ainc @r6, u0, offset:16
        NOP.wait0
        ATOM_RETURN.i32.slot0.aor @r8, @r4, u0, offset:20
        MOV.i32 r10, 0xFFFFFFFF
        MOV.i32 r11, r60
        ATOM_RETURN.i32.slot1.axchg.compare @r12, @r10:r11, u0, offset:24
        NOP.wait01
        SHADDX.u64 r0, u0, r6.w0, shift:0x2
        STORE.i32.slot0 @r12, r0, offset:0x40
        NOP.end";
    let mut expected = vec![136, 16, i32::MIN as u32, 16, 16, 31, u32::MAX];
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare(text);
    bench.put(1, BUFFER + 8, &0x8000_0000u32.to_le_bytes());
    dispatch.submit(&mut bench);
    bench.drain(0);
    let got: Vec<u32> = (0..7).map(|i| bench.get32(1, BUFFER + 4 * i)).collect();
    // Lane 0 finds 0 and puts all ones; the others find that.
    expected[3] = (1..=16).fold(0, |all, i| all ^ i);
    assert_eq!(got, expected, "{}", bench.report());
    let seen: Vec<u32> = (0..16)
        .map(|i| bench.get32(1, BUFFER + 0x40 + 4 * i))
        .collect();
    assert_eq!(seen[0], 0);
    assert!(
        seen[1..].iter().all(|value| *value == u32::MAX),
        "{seen:x?}"
    );
    bench.expect_no_diagnoses();
}

#[test]
fn an_atomic_changes_any_single_bit() {
    // Thread n flips bit n of a word of its own.
    for (bits, load, atomic) in [
        (
            32,
            "LOAD.i32.unsigned.slot0.w0.wait0 @r4",
            "ATOM.i32.slot0.axor @r4",
        ),
        (
            64,
            "LOAD.i64.unsigned.slot0.wait0 @r4:r5",
            "ATOM.i64.slot0.axor @r4:r5",
        ),
    ] {
        let text = format!(
            "SHADDX.u64 r0, u0, r60.w0, shift:0x3
            {load}, r0, offset:0x1000
            {atomic}, r0, offset:0
            NOP.wait0
            NOP.end"
        );
        let dispatch = Dispatch {
            groups: [bits / 16, 1, 1],
            ..Dispatch::default()
        };
        let mut bench = dispatch.prepare(&text);
        let flipped = |bit: u32| 1_u64 << bit;
        let operands: Vec<u64> = (0..bits).map(flipped).collect();
        bench.put_words(1, BUFFER + 0x1000, &operands);
        dispatch.submit(&mut bench);
        bench.drain(0);
        for (bit, place) in (0..bits).zip((BUFFER..).step_by(8)) {
            assert_eq!(bench.get64(1, place), flipped(bit), "bit {bit} of {bits}");
        }
        bench.expect_no_diagnoses();
    }
}

#[test]
fn memory_stays_readable_for_the_host() {
    let bench = Dispatch::default().run("NOP.end");
    let mut memory = bench.memory;
    assert!(memory.read32(0).is_ok());
}
