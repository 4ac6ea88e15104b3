//! Snapshots: what a tool that records work sees of a stream is all that later instructions rely on.

use super::{d, move32, move48, r, started, word};
use eitri_cs::Slot;
use eitri_cs::enums::ExceptionType;
use eitri_cs::instr::{HeapSet, ReqResource, SetExceptionHandler, SetSbEntry};

#[test]
fn a_snapshot_brings_a_new_stream_to_the_same_state() {
    let mut first = started();
    first.submit(
        0,
        &[
            word(ReqResource {
                compute: true,
                fragment: false,
                tiler: false,
                idvs: false,
                rt: false,
            }),
            word(SetSbEntry {
                endpoint_entry: Slot::new(3).expect("below 16"),
                other_entry: Slot::new(2).expect("below 16"),
            }),
            move48(40, 0x3000_0000),
            word(HeapSet { address: d(40) }),
            move32(42, 64),
            word(SetExceptionHandler {
                exception_type: ExceptionType::TilerOutOfMemory,
                address: d(40),
                length: r(42),
            }),
            move32(2, 77),
            // A zero that was written is not a register that nobody wrote.
            move32(5, 0),
        ],
    );
    first.drain(0);
    let state = first.gpu.stream_snapshot(0, 0).expect("it is on its slot");
    assert!(state.ends_with(&[
        move32(2, 77),
        move32(5, 0),
        move32(40, 0x3000_0000),
        move32(41, 0),
        move32(42, 64),
    ]));
    let mut second = started();
    second.submit(0, &state);
    second.drain(0);
    let words: Vec<String> = state.iter().map(|word| format!("{word:#x}")).collect();
    second.expect_no_diagnoses();
    let again = second.gpu.stream_snapshot(0, 0).unwrap_or_default();
    // Registers 0 and 1 carried addresses there.
    for word in &state {
        assert!(again.contains(word), "{word:#x} of {words:?}");
    }
}

#[test]
fn no_stream_has_no_snapshot() {
    let bench = started();
    assert_eq!(bench.gpu.stream_snapshot(0, 1), None);
    assert_eq!(bench.gpu.stream_snapshot(1, 0), None);
    assert_eq!(bench.gpu.stream_snapshot(u32::MAX, u32::MAX), None);
    assert_eq!(bench.gpu.stream_snapshot(0, 0), Some(Vec::new()));
}
