//! What a driver that others wrote relies on: time that moves, and no diagnosis about what it does at every flush.
//!
//! Facts: hardware/command-stream.md 1.6, 3.2 (STORE_STATE), 8 (9 and 23).

use super::{DATA, d, move32, move48, started, store, word};
use eitri_cs::SlotMask;
use eitri_cs::enums::StoredState;
use eitri_cs::instr::{StoreState, Wait};

#[test]
fn time_moves_between_two_instructions() {
    let mut bench = started();
    let now = |offset| {
        word(StoreState {
            state: StoredState::CycleCount,
            address: d(4),
            offset,
            ..StoreState::default()
        })
    };
    bench.submit(0, &[move48(4, DATA), now(0), now(8), now(16)]);
    bench.drain(0);
    let times = [0, 8, 16].map(|offset| bench.get64(1, DATA + offset));
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    bench.expect_no_diagnoses();
}

/// A driver waits for all its iterators' slots, used or not, and writes a register again right after its store.
#[test]
fn what_drivers_do_at_every_flush_is_no_misuse() {
    let mut bench = started();
    let all = word(Wait {
        wait_mask: SlotMask::new(0xf8),
        ..Wait::default()
    });
    let words = [
        move48(4, DATA),
        move32(6, 1),
        store(6, 1, 4, 0),
        move32(6, 2),
        store(6, 1, 4, 4),
        all,
        word(Wait {
            wait_mask: SlotMask::new(1),
            ..Wait::default()
        }),
    ];
    bench.submit(0, &words);
    bench.drain(0);
    assert_eq!(bench.get64(1, DATA), 1 | 2 << 32);
    bench.expect_no_diagnoses();
}
