//! What a shader does wrong, and what becomes of it and of its stream.

use super::{BUFFER, DESCRIPTORS, DONE, Dispatch, program};
use crate::bench::{Bench, group_input, group_output, stream_output};
use eitri_model::Injection;
use eitri_model::diagnosis::Teller;

#[test]
fn a_result_used_before_its_wait_is_reported() {
    let bench = Dispatch::default().run(&program(
        "
        LOAD.i32.unsigned.slot1.w0 @r4, r0, offset:0
        IADD_IMM.i32 r5, r4, #1
        NOP.wait1
        NOP.end",
    ));
    bench.expect_diagnosis("r4 is read before the message on slot 1 that writes it was waited for");
}

#[test]
fn registers_that_hold_nothing_are_reported() {
    let bench = Dispatch::default().run(
        "
        MOV.i32 r4, r20
        MOV.i32 r5, ^r60
        MOV.i32 r6, r60
        NOP.end",
    );
    bench.expect_diagnosis("r20 is read but was never written nor preloaded");
    bench.expect_diagnosis("r60 is read after its last use");
    let bench = Dispatch {
        program_word: 8 | 1 << 4 | 2 << 30,
        ..Dispatch::default()
    }
    .run("MOV.i32 r16, 0x0\nNOP.end");
    bench.expect_diagnosis("r16 is not among the program's registers");
}

#[test]
fn a_barrier_that_some_warps_never_reach_is_found() {
    let text = "
        BRANCHZ.reconverge r55, offset:out
        BARRIER.slot7.wait
        out:
        NOP.end";
    // Lane 0 waits alone; the others end, and so take no part.
    let bench = Dispatch {
        size: [32, 1, 1],
        ..Dispatch::default()
    }
    .run(text);
    bench.expect_diagnosis("BARRIER is reached by lanes");
}

#[test]
fn faults_name_their_cause() {
    let none = Dispatch::default();
    none.check_fault("NOP", 0x51, "0x0000000000000000 is no instruction");
    let one = Dispatch {
        program_word: 8 | 3 << 4,
        ..Dispatch::default()
    };
    one.check_fault(
        "NOP.end",
        0x58,
        "the field Stage of the descriptor at 0x41000000 is not valid",
    );
    let large = Dispatch {
        size: [1024, 2, 1],
        ..Dispatch::default()
    };
    large.check_fault("NOP.end", 0x58, "a workgroup of 2048 threads");
    let table = Dispatch {
        uniforms: vec![BUFFER as u32, 0, 0x0100_0000, 0],
        ..Dispatch::default()
    };
    let mut bench = table.prepare("LD_BUFFER.i32.unsigned.slot0.w0 @r0, r60, u2\nNOP.end");
    bench.put(1, DESCRIPTORS + 0x100, &[2]);
    table.submit(&mut bench);
    bench.poll_shared(stream_output(0) + 0x80, 0xff, 0x58);
    bench.expect_diagnosis(
        "the descriptor with handle 0x1000000, of type 2, is not what the instruction takes",
    );
}

#[test]
fn an_unused_attribute_is_reported_where_it_is_fetched() {
    // Attribute 2 of table 1 as drivers leave what no vertex input uses: no kind, and a table that does not exist.
    const UNUSED: [u64; 4] = [0x31C0_0005 | 0x11 << 32, 0, 0, 0];
    let store = "SHADDX.u64 r0, u0, r60.w0, shift:0x4\nSTORE.i128.slot0.wait0 @r4:r5:r6:r7, r0, offset:0\nNOP.end";
    let load = "LD_ATTR_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r60, r61, index:0x2, table:0x1";
    let moves = "MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\nMOV.i32 r6, 0x0\nMOV.i32 r7, 0x0";
    for (text, reported) in [(load, true), (moves, false)] {
        let dispatch = Dispatch::default();
        let mut bench = dispatch.prepare(&format!("{text}\n{store}"));
        bench.put_words(1, DESCRIPTORS + 0x140, &UNUSED);
        bench.put(1, BUFFER, &[0xff; 256]);
        dispatch.submit(&mut bench);
        bench.drain(0);
        assert_eq!(bench.get64(1, DONE), 1);
        for word in 0..64 {
            assert_eq!(bench.get32(1, BUFFER + 4 * word), 0, "word {word}: {text}");
        }
        if reported {
            bench.expect_diagnosis(
                "attribute with handle 0x1000002 is fetched, but its descriptor says",
            );
        } else {
            bench.expect_no_diagnoses();
        }
    }
}

#[test]
fn an_attribute_that_is_not_there_is_reported_and_reads_zero() {
    // Table 1 has four descriptors.
    let text = "
        LD_ATTR_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r60, r61, index:0x4, table:0x1
        SHADDX.u64 r0, u0, r60.w0, shift:0x4
        STORE.i128.slot0.wait0 @r4:r5:r6:r7, r0, offset:0
        NOP.end";
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare(text);
    bench.put(1, BUFFER, &[0xff; 256]);
    dispatch.submit(&mut bench);
    bench.drain(0);
    for word in 0..64 {
        assert_eq!(bench.get32(1, BUFFER + 4 * word), 0, "word {word}");
    }
    bench.expect_diagnosis("no descriptor has the handle 0x1000004");
}

#[test]
fn a_descriptor_that_is_no_attribute_is_reported_with_its_type() {
    // Texture, sampler, buffer, and an attribute of a kind that can't be fetched.
    for (kind, word) in [(2, 2), (1, 1), (9, 0x19), (5, 0x31C0_00F5)] {
        let text =
            "LD_ATTR_IMM.v4.f32.slot0.wait0 @r4:r5:r6:r7, r60, r61, index:0x2, table:0x1\nNOP.end";
        let dispatch = Dispatch::default();
        let mut bench = dispatch.prepare(text);
        bench.put_words(1, DESCRIPTORS + 0x140, &[word, 0, 0, 0]);
        dispatch.submit(&mut bench);
        bench.poll_shared(stream_output(0) + 0x80, 0xff, 0x58);
        bench.expect_diagnosis(&format!(
            "the descriptor with handle 0x1000002, of type {kind}, is not what the instruction takes"
        ));
    }
}

#[test]
fn a_barrier_is_reported_with_the_slot_that_its_own_lanes_have_not_waited_for() {
    let outstanding = |text: &str| {
        let bench = Dispatch::default().run(&program(text));
        let told = bench.report();
        let slots = (0..3).filter(|slot| {
            told.contains(&format!(
                "BARRIER with a message outstanding on slot {slot}"
            ))
        });
        slots.collect::<Vec<_>>()
    };
    for slot in 0..3 {
        let text = format!(
            "LOAD.i32.unsigned.slot{slot}.w0 @r4, r0, offset:0\nBARRIER.slot7.wait\nNOP.wait012\nNOP.end"
        );
        assert_eq!(outstanding(&text), [slot]);
    }
    let waited =
        "LOAD.i32.unsigned.slot1.w0 @r4, r0, offset:0\nNOP.wait1\nBARRIER.slot7.wait\nNOP.end";
    assert_eq!(outstanding(waited), [0; 0]);
    // All threads but the first send a message and end; the first goes on to the barrier.
    let of_another = "
        BRANCHZ.reconverge r60, offset:first
        LOAD.i32.unsigned.slot0.w0 @r4, r0, offset:0
        NOP.end
        first:
        BARRIER.slot7.wait
        NOP.end";
    assert_eq!(outstanding(of_another), [0; 0]);
}

#[test]
fn a_shader_that_never_ends_leaves_the_host_in_control() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch
        .prepare("again:\nNOP.reconverge\nBRANCHZ.eq.reconverge 0x0, offset:again\nNOP.end");
    dispatch.submit(&mut bench);
    bench.wait(1000);
    assert_eq!(bench.get64(1, DONE), 0);
    bench.request_state(0, 0);
    assert_eq!(bench.get64(1, DONE), 0);
    bench.expect_no_diagnoses();
    let notes = bench.notes();
    let given_up = "the driver gave up on a job of stream 0 in slot 0 that was still running";
    assert!(notes.contains(given_up), "{notes}");
}

#[test]
fn a_reset_under_a_job_is_noted_and_one_behind_it_is_not() {
    for (text, count) in [
        (
            "again:\nBRANCHZ.eq.reconverge 0x0, offset:again\nNOP.end",
            1,
        ),
        ("NOP.end", 0),
    ] {
        let dispatch = Dispatch::default();
        let mut bench = dispatch.prepare(text);
        dispatch.submit(&mut bench);
        bench.wait(1000);
        bench.reset();
        let notes = bench.notes();
        assert_eq!(notes.lines().count(), count, "{text}: {notes}");
    }
}

#[test]
fn a_diagnosis_that_comes_again_later_is_told_again_with_its_count() {
    let mut bench = Bench::booted();
    let mut teller = Teller::default();
    let mut told = Vec::new();
    for pause in [0, 1_000, 200_000, 0, 200_000] {
        bench.wait(pause);
        bench.gpu.read32(&mut bench.memory, 0x134);
        teller.tell(&bench.gpu, |news| told.push(news.to_string()));
    }
    let what = "read of offset 0x134, where there is no register";
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(
        told.iter()
            .all(|line| line.starts_with("diagnosis: ") && line.contains(what))
    );
    assert!(told[1].contains("again, 3 times"), "{}", told[1]);
    assert!(told[2].contains("again, 5 times"), "{}", told[2]);
}

#[test]
fn the_progress_timer_reports_a_group_that_gets_nowhere() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare("NOP.end");
    bench.shared_write(0x2010, 1000);
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 2);
    bench.ring(0);
    bench.gpu.inject(Injection::JobsHang);
    dispatch.submit(&mut bench);
    bench.wait(5_000);
    let (req, ack) = (bench.shared(group_input(0)), bench.shared(group_output(0)));
    assert_eq!((req ^ ack) & 1 << 31, 1 << 31, "PROGRESS_TIMER_EVENT");
}

#[test]
fn a_job_without_cores_is_an_endpoint_fault() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare("NOP.end");
    bench.shared_write64(0x2018, 0);
    let req = bench.shared(0x2000);
    bench.shared_write(0x2000, req ^ 4);
    bench.ring(0);
    bench.poll_shared(0x6000, 4, (req ^ 4) & 4);
    dispatch.submit(&mut bench);
    bench.poll_shared(stream_output(0) + 0x84, 0xff, 0x44);
}

#[test]
fn a_page_fault_of_a_shader_reaches_the_stream_when_the_space_is_disabled() {
    let dispatch = Dispatch {
        uniforms: vec![0x6666_0000, 0],
        ..Dispatch::default()
    };
    let mut bench = dispatch.prepare(&program("STORE.i32.slot0 @r60, r0, offset:0\nNOP.end"));
    dispatch.submit(&mut bench);
    bench.poll(eitri_csf::registers::interrupts::MMU_IRQ_RAWSTAT, 2, 2);
    bench.disable_space(1);
    bench.wait(1000);
    assert_eq!(
        bench.shared(stream_output(0) + 0x80) & 0xf8,
        0xC0,
        "{}",
        bench.report()
    );
}

#[test]
fn a_gather_by_integer_coordinates_is_refused_by_name() {
    let text = "TEX_GATHER.slot0.reserved.32.2d.integer_coordinates.gather4_r.wait0 @r8:r9:r10:r11, @r4:r5, u2
        NOP.end";
    Dispatch::default().check_fault(
        &format!("MOV.i32 r4, 0x0\nMOV.i32 r5, 0x0\n{text}"),
        0x51,
        "which four texels a gather by integer coordinates takes is not published",
    );
}
