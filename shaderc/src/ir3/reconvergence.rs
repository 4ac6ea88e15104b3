//! Reconvergence points: where lanes of a wave wait for others, and from where on.
//!
//! Needs: branch instructions, and the order of blocks.  Guarantees: each place where lanes may wait is found, with the earliest
//! place that may run while they do.
//! How: the later target of a branch is a reconvergence point, open from the branch on. An edge that jumps over an open
//! point leaves lanes behind, so its target is one too. A backward edge from inside the range of a point extends the range to
//! the loop's head. Whether an edge jumps over an open point depends on earlier points alone, so one walk in program order
//! finds all.  Facts: hardware/ir3-isa.md 7.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use super::mir::{Function, Op};
use crate::merged_ranges::MergedRanges;

/// Where a run may go on; at most two ways.
pub(super) type Successors = SmallVec<[usize; 2]>;

/// The program as runs of instructions that only their last one leaves and only their first one is entered by.
pub(super) struct Runs {
    /// By run: its first instruction, counted through all blocks.
    pub(super) starts: Vec<usize>,
    /// By run: the runs that may follow.
    pub(super) successors: Vec<Successors>,
}

impl Runs {
    pub(super) fn of(function: &Function) -> Runs {
        let blocks = function.block_starts();
        let instrs = || function.blocks.iter().flat_map(|block| &block.instrs);
        let count = instrs().count();
        let mut begins = vec![false; count + 1];
        blocks.iter().for_each(|&start| begins[start] = true);
        for (number, instr) in instrs().enumerate() {
            begins[number + 1] |= instr.target.is_some();
        }
        let starts: Vec<usize> = (0..count).filter(|&number| begins[number]).collect();
        // By instruction: how many runs begin before it or at it.
        let begun = begins.iter().scan(0, |begun, begins| {
            *begun += usize::from(*begins);
            Some(*begun)
        });
        let begun: Vec<usize> = begun.collect();
        let mut successors = vec![Successors::new(); starts.len()];
        for (number, instr) in instrs().enumerate() {
            let run = begun[number] - 1;
            if number + 1 < count && begun[number + 1] == begun[number] {
                continue;
            }
            let target = instr.target.and_then(|block| blocks.get(block.index()));
            let falls = !matches!(instr.op, Op::Jump | Op::End);
            let next = (falls && run + 1 < starts.len()).then_some(run + 1);
            let target = target.map(|start| begun[*start] - 1);
            successors[run] = target.into_iter().chain(next).collect();
        }
        Runs { starts, successors }
    }
}

/// A place in time: the start of run `n` is `2 n`, its end `2 n + 1`.
type Place = u32;

fn start_of(run: usize) -> Place {
    2 * run as Place
}

fn end_of(run: usize) -> Place {
    2 * run as Place + 1
}

/// Reconvergence points of a program.
pub(super) struct Reconvergence {
    /// By run: the place from which on lanes may wait at its start.
    open_from: Vec<Option<Place>>,
}

impl Reconvergence {
    /// Finds them, from where each run may go on, in program order.
    pub(super) fn find(successors: &[Successors]) -> Reconvergence {
        let mut open_from: Vec<Option<Place>> = vec![None; successors.len()];
        let mut predecessors: Vec<Successors> = vec![smallvec![]; successors.len()];
        for (from, targets) in successors.iter().enumerate() {
            if let (Some(&later), Some(&earlier)) = (targets.iter().max(), targets.iter().min())
                && earlier < later
            {
                let place = if later > from {
                    end_of(from)
                } else {
                    start_of(earlier)
                };
                open(&mut open_from, later, place);
            }
            targets.iter().for_each(|&to| predecessors[to].push(from));
        }
        let mut points = SuffixMinima::default();
        // Places from a loop's start to its end, of the loops that end before the point in question.
        let mut loops = MergedRanges::new(2 * successors.len());
        for point in 0..successors.len() {
            for &from in predecessors[point].iter().filter(|&&from| from < point) {
                let passed = points.from(from + 1);
                if passed.is_some_and(|opened| opened < end_of(from)) {
                    open(&mut open_from, point, end_of(from));
                }
            }
            // A range that begins inside a loop begins with the loop.
            if let Some(place) = &mut open_from[point] {
                *place = loops.first(*place as usize) as Place;
                points.push(point, *place);
            }
            for &head in successors[point].iter().filter(|&&to| to <= point) {
                loops.merge(start_of(head) as usize, end_of(point) as usize);
            }
        }
        Reconvergence { open_from }
    }

    /// Whether lanes may wait at the start of a run.
    pub(super) fn is_point(&self, run: usize) -> bool {
        self.open_from[run].is_some()
    }

    /// How many points are open at once, at most.
    pub(super) fn depth(&self) -> u32 {
        // Openings and closings by place; a point is closed where it stands.
        let mut changes = vec![0i32; 2 * self.open_from.len() + 1];
        for (point, place) in self.open_from.iter().enumerate() {
            if let Some(place) = place {
                changes[*place as usize] += 1;
                changes[2 * point] -= 1;
            }
        }
        let depths = changes.iter().scan(0, |depth, change| {
            *depth += change;
            Some(*depth)
        });
        depths.max().unwrap_or(0).cast_unsigned()
    }

    /// By run: the place from which on lanes may wait there; the greatest number where none do. For [`jumped_over`].
    pub(super) fn opened(&self) -> impl ExactSizeIterator<Item = u32> {
        self.open_from
            .iter()
            .map(|place| place.unwrap_or(Place::MAX))
    }
}

/// Points that may be open when control goes from the end of a run to another: the runs between them, and the limit that the
/// place of opening must be below.
pub(super) fn jumped_over(from: usize, to: usize) -> (Range<usize>, u32) {
    (from + 1..to, end_of(from))
}

/// Opens a point from a place on, if it was not open so early.
fn open(open_from: &mut [Option<Place>], point: usize, place: Place) {
    let known = &mut open_from[point];
    *known = Some(known.map_or(place, |known| known.min(place)));
}

/// Numbers that are added in the order of their keys, and the least of those from a key on.
#[derive(Default)]
struct SuffixMinima {
    /// Those that are less than all behind them: keys and numbers both rise.
    least: Vec<(usize, Place)>,
}

impl SuffixMinima {
    fn push(&mut self, key: usize, number: Place) {
        while self.least.last().is_some_and(|last| last.1 >= number) {
            self.least.pop();
        }
        self.least.push((key, number));
    }

    /// The least number of those with this key or a greater one.
    fn from(&self, key: usize) -> Option<Place> {
        let first = self.least.partition_point(|(known, _)| *known < key);
        self.least.get(first).map(|(_, number)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir3::random_wave::Walk;
    use proptest::prelude::*;

    fn points(successors: &[&[usize]]) -> (Vec<usize>, u32) {
        let successors: Vec<Successors> = successors
            .iter()
            .map(|to| to.iter().copied().collect())
            .collect();
        let found = Reconvergence::find(&successors);
        let points = (0..successors.len()).filter(|&run| found.is_point(run));
        (points.collect(), found.depth())
    }

    #[test]
    fn an_if_has_a_point_at_its_end() {
        assert_eq!(points(&[&[1, 2], &[2], &[]]), (vec![2], 1));
    }

    #[test]
    fn both_ways_of_a_choice_and_their_end_are_points() {
        // The way that is taken second waits; the first jumps over it to the end.
        assert_eq!(points(&[&[1, 2], &[3], &[3], &[]]), (vec![2, 3], 2));
    }

    #[test]
    fn those_that_leave_a_loop_wait_behind_it() {
        assert_eq!(points(&[&[1], &[1, 2], &[]]), (vec![2], 1));
    }

    #[test]
    fn a_way_out_of_the_middle_of_a_loop_stays_open_all_the_way_round() {
        // Run 1 leaves to 4 or goes on to 2, which goes round through 3.
        assert_eq!(points(&[&[1], &[2, 4], &[3], &[1], &[]]), (vec![4], 1));
    }

    #[test]
    fn a_jump_at_the_head_of_a_loop_leaves_those_behind_who_wait_since_an_earlier_round() {
        // Run 1 jumps over 3, where lanes wait that left at 4 in the round before.
        let graph: [&[usize]; 6] = [&[1], &[4], &[5], &[2], &[1, 3], &[]];
        let successors: Vec<Successors> = graph
            .iter()
            .map(|to| to.iter().copied().collect())
            .collect();
        let found = Reconvergence::find(&successors);
        assert!(found.is_point(4), "3 is open at the start of the loop");
    }

    #[test]
    fn points_of_large_programs_are_found_at_once() {
        // Branches in branches: a walk over all pairs would take minutes.
        let depth = 200_000;
        let mut successors: Vec<Successors> = Vec::new();
        for number in 0..depth {
            successors.push(smallvec![number + 1, 2 * depth - number]);
        }
        successors.extend((depth..2 * depth).map(|number| smallvec![number + 1]));
        successors.push(smallvec![]);
        assert_eq!(Reconvergence::find(&successors).depth(), depth as u32);
    }

    proptest! {
        #[test]
        fn no_wave_waits_anywhere_else(choices in prop::collection::vec(any::<u16>(), 1..60), seed: u64) {
            let walk = Walk::random(&choices);
            let successors: Vec<Successors> = walk.successors.iter().map(|to| to.iter().copied().collect()).collect();
            let found = Reconvergence::find(&successors);
            walk.run(seed, |step| {
                for &place in step.waiting {
                    let open = found.open_from[place].is_some_and(|open| open <= start_of(step.runs));
                    assert!(open, "{successors:?}: lanes wait at {place} while {} runs", step.runs);
                }
                assert!(step.waiting.len() as u32 <= found.depth(), "{successors:?}: {} places", step.waiting.len());
                if let Some((from, to)) = step.resumed {
                    let (between, limit) = jumped_over(from, to);
                    let open = found.open_from[step.runs].is_some_and(|open| open < limit);
                    assert!(between.contains(&step.runs) && open, "{successors:?}: {from} to {to} goes on at {}", step.runs);
                }
            });
        }
    }
}
