//! Counting by time, and sums of counts.

use super::*;

#[test]
fn a_state_counts_for_as_long_as_it_holds() {
    let mut activity = Activity::new(20, 4);
    activity.pass(5);
    activity.set(State::Queued(Work::Compute), true);
    activity.set(State::InterfaceBlocked(3), true);
    activity.set_busy_cores(BusyCores {
        fragment: 1 << 2,
        other: 1 << 2 | 1 << 18,
    });
    activity.pass(10);
    activity.set(State::Queued(Work::Compute), false);
    activity.set_busy_cores(BusyCores {
        fragment: 0,
        other: 1 << 18,
    });
    activity.pass(100);
    assert_eq!(activity.time(State::Gpu), 0);
    assert_eq!(activity.time(State::Queued(Work::Compute)), 10);
    assert_eq!(activity.time(State::Queued(Work::Fragment)), 0);
    assert_eq!(activity.time(State::InterfaceBlocked(3)), 110);
    let busy = |core: usize| activity.cores()[core].busy;
    assert_eq!((busy(2), busy(18), busy(0)), (10, 110, 0));
    let core = activity.cores()[2];
    assert_eq!((core.fragment, core.other), (10, 10));
}

/// What a core has done, with another number of everything.
fn core(by: u64) -> CoreActivity {
    // No field is left out, so that a new one is added here, too.
    CoreActivity {
        busy: by,
        fragment: 2 * by,
        other: 3 * by,
        tasks: 4 * by,
        warps: 5 * by,
        fragments: fragments(by),
        large_warps: 6 * by,
        full_warps: 7 * by,
        fma: 8 * by,
        cvt: 9 * by,
        sfu: 10 * by,
        lines: 11 * by,
        interpolated: 12 * by,
        latency: 13 * by,
        diverged: 14 * by,
        full_reads: 15 * by,
        short_reads: 16 * by,
        full_writes: 17 * by,
        short_writes: 18 * by,
        atomics: 19 * by,
        textures: 20 * by,
        read_beats: 21 * by,
        write_beats: 22 * by,
    }
}

fn fragments(by: u64) -> FragmentActivity {
    FragmentActivity {
        tiles: 31 * by,
        warps: 32 * by,
        primitives: 33 * by,
        rasterised: 34 * by,
        quads: 35 * by,
        partial_quads: 36 * by,
        queued: 37 * by,
        pixels: 38 * by,
        killer_quads: 39 * by,
        blend_calls: 40 * by,
        varyings: 41 * by,
        attributes: 42 * by,
    }
}

fn tiler(by: u64) -> TilerActivity {
    TilerActivity {
        points: by,
        lines: 2 * by,
        triangles: 3 * by,
        front: 4 * by,
        back: 5 * by,
        culled: 6 * by,
        clipped: 7 * by,
        positions: 8 * by,
        varyings: 9 * by,
    }
}

#[test]
fn all_that_was_counted_is_added_up() {
    let mut sum = core(1);
    sum += core(2);
    assert_eq!(sum, core(3));
    let mut sum = tiler(1);
    sum += tiler(2);
    assert_eq!(sum, tiler(3));
}
