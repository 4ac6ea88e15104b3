//! Performance counters: what a job counts, the ring, what goes wrong. Expected counts follow from the program.
//!
//! Facts: hardware/csf-perfcnt.md.

use super::bench::counting::{
    ACK, ENABLE, INSERT, OVERFLOW, REQ, SAMPLE, SAMPLES, STATUS, THRESHOLD, ask, counting, layout,
    sample, switch_on, total,
};
use super::{Bench, DONE, Dispatch, EACH, assemble, program};
use eitri_csf::counters::header;
use eitri_csf::page_table::Attributes;
use eitri_csf::registers::interrupts::JOB_IRQ_CLEAR;
use eitri_isa::Instr;
use eitri_isa::row::Unit;
use eitri_model::Injection;

/// Runs a dispatch with the counters on, and takes a sample of it.
#[track_caller]
pub(super) fn counted(dispatch: &Dispatch, gpu: &str, text: &str) -> Bench {
    let mut bench = dispatch.prepare_on(gpu, text);
    bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
    switch_on(&mut bench, SAMPLES, 8);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    bench.write(JOB_IRQ_CLEAR, u32::MAX);
    dispatch.submit(&mut bench);
    bench.drain(0);
    assert_eq!(sample(&mut bench), 1, "{gpu}");
    bench
}

#[test]
fn a_job_counts_what_it_does() {
    for gpu in EACH {
        let dispatch = Dispatch {
            size: [24, 1, 1],
            groups: [3, 1, 1],
            ..Dispatch::default()
        };
        let text = program("STORE.i32.slot0 @r60, r0, offset:0\nNOP.end");
        let mut bench = counted(&dispatch, gpu, &text);
        let mut expect = |name, value| {
            assert_eq!(total(&mut bench, 0, name), value, "{name} on {gpu}");
        };
        expect("ITER_COMP_JOB_COMPLETED", 1);
        expect("ITER_COMP_TASK_COMPLETED", 3);
        expect("COMPUTE_TASKS", 3);
        // Each workgroup is a full warp and one of eight threads.
        expect("COMPUTE_WARPS", 6);
        expect("FULL_QUAD_WARPS", 3);
        expect("WARP_REG_SIZE_64", 6);
        expect("LS_MEM_WRITE_FULL", 3);
        expect("LS_MEM_WRITE_SHORT", 3);
        expect("LS_MEM_READ_FULL", 0);
        // Words side by side: four beats of a full warp, two of the other.
        expect("BEATS_WR_LSC_WB", 18);
        expect("EXEC_INSTR_DIVERGED", 0);
        let arch = bench.arch();
        for (unit, name) in [
            (Unit::Fma, "EXEC_INSTR_FMA"),
            (Unit::Cvt, "EXEC_INSTR_CVT"),
            (Unit::Sfu, "EXEC_INSTR_SFU"),
        ] {
            let issued = assemble(&text, arch).into_iter().map(|word| {
                let (on, cycles) = Instr::decode(word, arch).unwrap().issue(arch);
                if on == unit { 6 * u32::from(cycles) } else { 0 }
            });
            let expected: u32 = issued.sum();
            assert_eq!(total(&mut bench, 0, name), expected, "{name} on {gpu}");
        }
        let mut get = |name| total(&mut bench, 0, name);
        let (gpu_active, queued) = (get("GPU_ACTIVE"), get("ITER_COMP_ACTIVE"));
        assert!(queued > 0 && gpu_active >= queued, "{gpu_active} {queued}");
        assert!(queued > get("ITER_COMP_READY_BLOCKED"));
        // Cores had no power when the job came.
        assert!(get("ITER_COMP_READY_BLOCKED") > 0);
        // A line each; none has left the L2 yet.
        assert!(get("L2_WRITE_LOOKUP") >= 6 && get("L2_EXT_WRITE") == 0);
        assert!(get("L2_EXT_READ") > 0 && get("L2_EXT_READ") <= get("L2_ANY_LOOKUP"));
        assert!(get("MMU_REQUESTS") >= get("MMU_HIT_L3"));
        assert!(get("CSHWIF0_ENABLED") > 0 && get("CEU_ACTIVE") > 0);
        assert!(get("GPU_IRQ_COUNT") > 0);

        // A sample clears what was counted.
        assert_eq!(sample(&mut bench), 2);
        for name in [
            "COMPUTE_WARPS",
            "ITER_COMP_JOB_COMPLETED",
            "LS_MEM_WRITE_FULL",
        ] {
            assert_eq!(total(&mut bench, 1, name), 0, "{name} on {gpu}");
        }
        bench.expect_no_diagnoses();
    }
}

#[test]
fn blocks_have_headers_but_for_cores_without_power() {
    let mut bench = counting("G610", 4);
    sample(&mut bench);
    let layout = layout(&mut bench);
    let mut blocks = Vec::new();
    for kind in eitri_csf::counters::BlockKind::ALL {
        for instance in 0..layout.count(kind) {
            let at = SAMPLES + u64::from(layout.offset(kind, instance).unwrap());
            blocks.push(bench.get32(1, at + 4 * u64::from(header::ENABLE_MASK)));
        }
    }
    assert_eq!(blocks[..6], [u32::MAX; 6], "front end, tiler, four slices");
    assert_eq!(blocks[6..], [0; 19], "no core has power");
    let time = bench.get64(1, SAMPLES);
    assert!(time > 0 && time <= bench.gpu.now());
}

#[test]
fn the_ring_tells_when_it_is_half_full_and_when_it_is_full() {
    let mut bench = counting("G615", 4);
    let events =
        |bench: &mut Bench| (bench.shared(REQ) ^ bench.shared(ACK)) & (THRESHOLD | OVERFLOW);
    assert_eq!((sample(&mut bench), events(&mut bench)), (1, 0));
    assert_eq!((sample(&mut bench), events(&mut bench)), (2, THRESHOLD));
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req ^ THRESHOLD);
    assert_eq!((sample(&mut bench), events(&mut bench)), (3, 0));
    assert_eq!((sample(&mut bench), events(&mut bench)), (4, 0));
    assert_eq!(
        (sample(&mut bench), events(&mut bench)),
        (4, OVERFLOW),
        "the sample is lost"
    );
    // Given back, there is room again, at the start of the ring.
    bench.shared_write(0x2030, 3);
    assert_eq!(sample(&mut bench), 5);
    bench.expect_no_diagnoses();
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req & !ENABLE);
    bench.ring(0);
    bench.poll_shared(ACK, ENABLE, 0);
}

#[test]
fn the_firmware_samples_before_cores_lose_power() {
    let dispatch = Dispatch::default();
    let mut bench = dispatch.prepare("NOP.end");
    bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
    switch_on(&mut bench, SAMPLES, 8);
    dispatch.submit(&mut bench);
    bench.drain(0);
    assert_eq!(bench.get64(1, DONE), 1);
    assert_eq!(bench.shared(INSERT), 0);
    bench.wait(20_000);
    assert_eq!(bench.shared(INSERT), 1, "nobody has asked");
    assert_eq!(
        bench.shared(STATUS) & 1 << 2,
        1 << 2,
        "affected by a power-off"
    );
    assert_eq!(total(&mut bench, 0, "COMPUTE_WARPS"), 1);
}

#[test]
fn a_ring_that_is_not_mapped_is_a_fault_of_its_space() {
    let mut bench = Bench::booted();
    switch_on(&mut bench, 0x7000_0000, 4);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    let req = ask(&mut bench);
    bench.poll(eitri_csf::registers::interrupts::MMU_IRQ_RAWSTAT, 2, 2);
    bench.disable_space(1);
    bench.poll_shared(ACK, SAMPLE, req & SAMPLE);
    assert_eq!((bench.shared(INSERT), bench.shared(STATUS)), (0, 1));
}

#[test]
fn misuse_of_the_counters_is_told() {
    let mut bench = Bench::booted();
    bench.map(1, SAMPLES, 0x4_0000, Attributes::UNCACHED);
    let req = ask(&mut bench);
    bench.poll_shared(ACK, SAMPLE, req & SAMPLE);
    bench.expect_diagnosis("PRFCNT_SAMPLE while PRFCNT_ENABLE is 0");
    switch_on(&mut bench, SAMPLES + 64, 3);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    bench.expect_diagnosis("GLB_PRFCNT_BASE = 0x50000040 is not aligned to 2048");
    bench.expect_diagnosis("a ring of 3 samples");
    bench.shared_write(0x2030, 2);
    sample(&mut bench);
    bench.expect_diagnosis("GLB_PRFCNT_EXTRACT = 2 is ahead of INSERT = 0");

    let mut bench = counting("G610", 4);
    bench.shared_write(0x2030, 0);
    ask(&mut bench);
    bench.wait(6);
    ask(&mut bench);
    bench.wait(100);
    bench.expect_diagnosis("PRFCNT_SAMPLE was toggled again");
    let req = bench.shared(REQ);
    bench.shared_write(REQ, req & !ENABLE);
    bench.ring(0);
    bench.poll_shared(ACK, ENABLE, 0);
    bench.shared_write(0x2054, 0xFE);
    bench.shared_write(REQ, req | ENABLE);
    bench.ring(0);
    bench.poll_shared(ACK, ENABLE, ENABLE);
    bench.expect_diagnosis("GLB_PRFCNT_SHADER_EN = 0xfe leaves out bit 0");
}

#[test]
fn sampling_goes_wrong_on_request() {
    let mut bench = counting("G610", 8);
    bench.gpu.inject(Injection::ExtraSample);
    assert_eq!(sample(&mut bench), 2);
    bench.gpu.inject(Injection::SampleLost);
    assert_eq!(sample(&mut bench), 2);
    let events = bench.shared(REQ) ^ bench.shared(ACK);
    assert_eq!(events & OVERFLOW, OVERFLOW);
    let mut bench = Bench::booted();
    bench.gpu.inject(Injection::CountersIgnored);
    switch_on(&mut bench, SAMPLES, 4);
    bench.wait(1000);
    assert_eq!(bench.shared(ACK) & ENABLE, 0);
}
