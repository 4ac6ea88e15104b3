//! Joins: lanes that were parked go on at instructions that say so.
//!
//! Needs: branches, and the final order.  Guarantees: each instruction where lanes may wait has (jp); how many such points are
//! open at once is known.
//! How: of a branch's two ways the later one is a point where lanes wait, from the branch on. What jumps over such a point
//! while it may be open leaves lanes behind, so where it leads is one too; and what goes back to the start of a loop keeps
//! the points open that lie behind it.  Facts: hardware/ir3-isa.md 7.

use super::mir::{Block, BlockId, Function, Instr, Op};

/// Where lanes may wait, by instruction, or by block where all are whole.
pub(super) struct Joins {
    /// The first place from which on lanes may wait here; none where none do.
    open_from: Vec<Option<usize>>,
}

impl Joins {
    /// Finds them, from where each may go on, in the order of the program.
    pub(super) fn new(successors: &[Vec<usize>]) -> Joins {
        let mut joins = Joins {
            open_from: vec![None; successors.len()],
        };
        for (from, to) in successors.iter().enumerate() {
            if let (Some(&later), true) = (to.iter().max(), to.len() > 1) {
                joins.open(later, from);
            }
        }
        while joins.grow(successors) {}
        joins
    }

    /// Whether lanes may wait at a place.
    pub(super) fn is_join(&self, place: usize) -> bool {
        self.open_from[place].is_some()
    }

    /// How many points are open at once, at most.
    pub(super) fn depth(&self) -> u32 {
        let open_at = |at: usize| {
            let points = self.open_from.iter().enumerate();
            points
                .filter(|(point, from)| from.is_some_and(|from| from <= at) && at < *point)
                .count()
        };
        (0..self.open_from.len()).map(open_at).max().unwrap_or(0) as u32
    }

    /// Opens a point from a place on. True if it was not open so early.
    fn open(&mut self, point: usize, from: usize) -> bool {
        let earlier = self.open_from[point].is_none_or(|known| from < known);
        if earlier {
            self.open_from[point] = Some(from);
        }
        earlier
    }

    /// One step further; false when there is none.
    fn grow(&mut self, successors: &[Vec<usize>]) -> bool {
        let mut grown = false;
        for (from, targets) in successors.iter().enumerate() {
            for &to in targets {
                if to > from {
                    let jumped = from + 1..to;
                    let open = |point: usize| self.open_from[point].is_some_and(|open| open < from);
                    if jumped.into_iter().any(open) {
                        grown |= self.open(to, from);
                    }
                    continue;
                }
                // Back to the start of a loop: what may be waited for behind it stays open all the way round.
                for point in from + 1..successors.len() {
                    if let Some(open) = self.open_from[point]
                        && (to..=from).contains(&open)
                    {
                        grown |= self.open(point, to);
                    }
                }
            }
        }
        grown
    }
}

/// Where each block may go on, in the order of the program.
pub(super) fn successors(function: &Function) -> Vec<Vec<usize>> {
    let of = |block: &Block| block.terminator.successors().map(BlockId::index).collect();
    function.blocks.iter().map(of).collect()
}

/// Marks the joins. Lanes wait at an instruction: at a jump behind a branch, too.
pub(super) fn mark_joins(function: &mut Function) {
    let joins = Joins::new(&edges(function));
    function.extra.branch_stack = joins.depth();
    let instrs = function
        .blocks
        .iter_mut()
        .flat_map(|block| &mut block.instrs);
    for (number, instr) in instrs.enumerate() {
        instr.join = joins.is_join(number);
    }
}

/// Where each instruction may go on.
fn edges(function: &Function) -> Vec<Vec<usize>> {
    let starts = function.block_starts();
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let of = |(number, instr): (usize, &Instr)| {
        let target = instr.target.and_then(|block| starts.get(block.index()));
        let next = match instr.op {
            Op::Jump | Op::End => None,
            _ => Some(number + 1),
        };
        target.copied().into_iter().chain(next).collect()
    };
    instrs.enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joins(successors: &[&[usize]]) -> (Vec<usize>, u32) {
        let successors: Vec<Vec<usize>> = successors.iter().map(|to| to.to_vec()).collect();
        let joins = Joins::new(&successors);
        let points = (0..successors.len()).filter(|&block| joins.is_join(block));
        (points.collect(), joins.depth())
    }

    #[test]
    fn an_if_joins_at_its_end() {
        assert_eq!(joins(&[&[1, 2], &[2], &[]]), (vec![2], 1));
    }

    #[test]
    fn both_ways_of_a_choice_and_their_end_are_joins() {
        // The way that is taken second waits; the first jumps over it to the end.
        assert_eq!(joins(&[&[1, 2], &[3], &[3], &[]]), (vec![2, 3], 2));
    }

    #[test]
    fn those_that_leave_a_loop_wait_behind_it() {
        assert_eq!(joins(&[&[1], &[1, 2], &[]]), (vec![2], 1));
    }

    #[test]
    fn a_way_out_of_the_middle_of_a_loop_stays_open_all_the_way_round() {
        // b1 leaves to b4 or goes on to b2, which goes round through b3.
        let (points, depth) = joins(&[&[1], &[2, 4], &[3], &[1], &[]]);
        assert_eq!((points, depth), (vec![4], 1));
    }
}
