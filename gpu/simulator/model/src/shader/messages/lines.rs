//! Lines of a direct message: which lines and beats of a page its lanes touch, counted as [`super::touched`] counts them.
//!
//! Facts: hardware/compiler-optimization.md 3 (lines of 64 bytes, one a cycle); csf-perfcnt.md 4 (beats).

use super::places::{Order, Places};
use crate::activity::BEAT;
use crate::fabric::Fabric;
use crate::l2::LINE;
use crate::shader::lanes::{WARP, lanes_where};
use crate::shader::warp::bits;

/// Beats of a page, by 64.
const BEATS: usize = 4;
const LINE_BYTES: usize = LINE as usize;
const BEAT_BYTES: usize = BEAT as usize;

/// What a message has touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) lines: u64,
    pub(super) beats: u64,
}

/// Lines and beats that an atomic touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CountedAtomics {
    pub(super) lines: u64,
    pub(super) read_beats: u64,
    pub(super) write_beats: u64,
}

/// As [`request`], for atomics of `lanes`, of which `written` have changed memory. Each lies in one beat.
pub(super) fn request_atomics(
    fabric: &mut Fabric,
    frame: u64,
    places: &Places,
    (lanes, written): (u16, u16),
) -> CountedAtomics {
    let line_of = |lane: usize| places.start_of(lane) / LINE_BYTES % 64;
    let changed = bits(written).fold(0u64, |lines, lane| lines | 1 << line_of(lane));
    let mut lines = 0u64;
    let mut beats = [[0u64; BEATS]; 2];
    for lane in bits(lanes) {
        let (line, beat) = (line_of(lane), places.start_of(lane) / BEAT_BYTES);
        for (beats, lanes) in beats.iter_mut().zip([lanes, written]) {
            beats[beat / 64 % BEATS] |= u64::from(lanes >> lane & 1) << (beat % 64);
        }
        if lines >> line & 1 == 0 {
            lines |= 1 << line;
            fabric.line_requested(frame / LINE + line as u64, changed >> line & 1 != 0);
        }
    }
    let [read_beats, write_beats] = beats.map(|beats| count(&beats));
    CountedAtomics {
        lines: lines.count_ones().into(),
        read_beats,
        write_beats,
    }
}

/// Beats of a page.
fn count(beats: &[u64; BEATS]) -> u64 {
    beats
        .iter()
        .map(|beats| u64::from(beats.count_ones()))
        .sum()
}

/// Asks the L2 for the lines that `lanes` touch, in the order in which the lanes come to them, and counts lines and beats. `frame` is the
/// page's physical address.
#[inline]
pub(super) fn request(
    fabric: &mut Fabric,
    frame: u64,
    places: &Places,
    lanes: u16,
    write: bool,
) -> Counted {
    let bytes = places.bytes as usize;
    match places.order {
        Order::Same => request_span(fabric, frame, (places.start(), bytes), write),
        Order::InRow => request_span(fabric, frame, (places.start(), bytes * WARP), write),
        Order::Ascending => request_ascending(fabric, frame, places, write),
        Order::Any => request_each(fabric, frame, places, lanes, write),
    }
}

#[inline(always)]
fn request_span(
    fabric: &mut Fabric,
    frame: u64,
    (start, length): (usize, usize),
    write: bool,
) -> Counted {
    let last = start + length - 1;
    let (first_line, last_line) = (start / LINE_BYTES, last / LINE_BYTES);
    let lines = first_line..=last_line;
    fabric.lines_requested(lines.map(|line| frame / LINE + line as u64), write);
    Counted {
        lines: (last_line - first_line + 1) as u64,
        beats: (last / BEAT_BYTES - start / BEAT_BYTES + 1) as u64,
    }
}

/// Lanes whose lines and beats never go back: each is new or that of the lane before.
#[inline(never)]
fn request_ascending(fabric: &mut Fabric, frame: u64, places: &Places, write: bool) -> Counted {
    let starts = places.all_starts();
    // The first lane is compared with itself.
    let mut before = starts;
    before[1..].copy_from_slice(&starts[..WARP - 1]);
    // In units of a power of two, places are the same if they differ in lower bits alone.
    let differs = |lane: usize| starts[lane] ^ before[lane];
    let new_lines = 1 | lanes_where(|lane| differs(lane) >= LINE as u32);
    let new_beats = 1 | lanes_where(|lane| differs(lane) >= BEAT as u32);
    let lines = bits(new_lines).map(|lane| frame / LINE + u64::from(starts[lane]) / LINE);
    fabric.lines_requested(lines, write);
    Counted {
        lines: new_lines.count_ones().into(),
        beats: new_beats.count_ones().into(),
    }
}

#[inline(never)]
fn request_each(
    fabric: &mut Fabric,
    frame: u64,
    places: &Places,
    lanes: u16,
    write: bool,
) -> Counted {
    let mut lines = 0u64;
    let mut beats = [0u64; BEATS];
    let bytes = places.bytes as usize;
    let mut touch = |at: usize| {
        let (line, beat) = (at / LINE_BYTES % 64, at / BEAT_BYTES);
        beats[beat / 64 % BEATS] |= 1 << (beat % 64);
        if lines >> line & 1 == 0 {
            lines |= 1 << line;
            fabric.line_requested(frame / LINE + line as u64, write);
        }
    };
    for lane in bits(lanes) {
        let start = places.start_of(lane);
        touch(start);
        // Most accesses lie in one beat.
        if start % BEAT_BYTES + bytes > BEAT_BYTES {
            touch(start + bytes - 1);
        }
    }
    Counted {
        lines: lines.count_ones().into(),
        beats: count(&beats),
    }
}

#[cfg(test)]
mod tests {
    use super::super::touched::Touched;
    use super::*;
    use crate::config::Config;
    use crate::random::Random;
    use crate::shader::lanes::Lanes;
    use std::format;

    /// What the L2 was asked for.
    fn asked(fabric: &Fabric) -> std::string::String {
        format!("{:?}", fabric.activity.slices())
    }

    #[test]
    fn lines_and_beats_are_those_of_each_lane() {
        let mut random = Random::new(11);
        let (mut one_by_one, mut together) = (
            Fabric::new(Config::default()),
            Fabric::new(Config::default()),
        );
        let mut orders = [0; 4];
        for _ in 0..2_000 {
            let bytes = [1, 2, 4, 8, 12, 16][random.below(6) as usize];
            let alignment = u64::from(bytes).min(4);
            let step = [0, bytes.into(), 4 * random.below(20) as u32][random.below(3) as usize];
            let any = random.below(4) == 0;
            let offsets: Lanes = core::array::from_fn(|lane| match any {
                true => 4 * random.below(200) as u32,
                false => lane as u32 * step,
            });
            let lanes =
                [u16::MAX, u16::MAX, random.below(0x1_0000) as u16][random.below(3) as usize];
            let base = 0x5000 + alignment * random.below(1024);
            let mut places = Places::new();
            if places
                .find((base, &offsets), lanes, (bytes, alignment))
                .is_none()
            {
                continue;
            }
            let (frame, write) = (0x8_0000, random.below(2) == 0);
            let mut touched = Touched::default();
            touched.begin(0, false);
            for lane in bits(lanes) {
                let at = frame + places.start_of(lane) as u64;
                touched.note(&mut one_by_one, at, bytes.into(), write);
            }
            let core = *one_by_one.activity.core(0);
            let lines = touched.settle(&mut one_by_one);
            let after = *one_by_one.activity.core(0);
            let beats = after.read_beats + after.write_beats - core.read_beats - core.write_beats;
            let counted = request(&mut together, frame, &places, lanes, write);
            assert_eq!(
                counted,
                Counted { lines, beats },
                "{places:?} of lanes {lanes:#x}"
            );
            assert_eq!(
                asked(&together),
                asked(&one_by_one),
                "{places:?} of lanes {lanes:#x}"
            );
            orders[places.order as usize] += 1;
        }
        assert!(orders.iter().all(|count| *count > 50), "{orders:?}");
    }
}
