//! Segments that overlap, and such that follow each other.

use super::*;

fn segment((from, to): (u32, u32), value: u32) -> Segment {
    Segment {
        range: Range { from, to },
        origin: (Value(value), 0),
    }
}

/// What ends where another begins leaves it the register.
#[test]
fn segments_contradict_where_others_live_at_the_same_time() {
    let large = [
        segment((4, 8), 1),
        segment((8, 12), 2),
        segment((20, 30), 1),
    ];
    for (range, value, expected) in [
        ((0, 4), 9, false),
        ((0, 5), 9, true),
        ((4, 5), 9, true),
        ((7, 8), 9, true),
        ((11, 20), 9, true),
        ((12, 20), 9, false),
        ((12, 21), 9, true),
        ((29, 40), 9, true),
        ((30, 40), 9, false),
        // The same bits.
        ((0, 8), 1, false),
        ((0, 9), 1, true),
        ((8, 12), 2, false),
        ((12, 30), 1, false),
    ] {
        let small = [segment(range, value)];
        assert_eq!(contradict(&large, &small), expected, "{range:?}, {value}");
        assert_eq!(contradict(&small, &large), expected, "{range:?}, {value}");
    }
}
