//! Runs a workgroup for an observer: its warps in turns, until all have ended or none makes progress.
//!
//! Needs: `run`, which runs a warp for a while.  Guarantees: ends. A workgroup whose whole state comes back without any change of
//! memory in between goes round for ever; one that takes more instructions than [`LONGEST`] and [`LONGEST_LANE`] is given up without that proof.
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::lanes::Mask;
use super::observer::Observer;
use super::run::{At, Machine, Warp};
use super::trap::Trap;
use crate::ir::{BlockId, Inst};

/// Instructions of a lane on average, and of all lanes of a workgroup together at least, from one barrier to the next.
const LONGEST_LANE: u64 = 1 << 18;
const LONGEST: u64 = 1 << 24;
/// Rounds before it is asked whether there is progress: most workgroups have ended by then.
const PATIENCE: u64 = 8;

/// Brent's way to find that a sequence of states repeats, with one state kept.
#[derive(Default)]
struct Cycle {
    kept: Option<u64>,
    since: u64,
    power: u64,
}

impl Cycle {
    /// Takes the next state; whether the sequence has come to the state that is kept.
    fn repeats(&mut self, state: u64) -> bool {
        if self.kept == Some(state) {
            return true;
        }
        if self.since >= self.power {
            self.kept = Some(state);
            self.power = (2 * self.power).max(1);
            self.since = 0;
        }
        self.since += 1;
        false
    }
}

impl<O: Observer> Machine<'_, O> {
    /// Runs a workgroup, of which the machine knows the number.
    pub(super) fn in_turns(&mut self, number: u32) -> Result<(), Trap> {
        let mut warps = self.warps();
        let lanes: Vec<usize> = warps.iter().map(|warp| warp.lanes.len()).collect();
        self.observer.begin(number, &lanes);
        let all = lanes.iter().sum::<usize>() as u64;
        let longest = LONGEST.max(all * LONGEST_LANE);
        let (mut cycle, mut rounds, mut start) = (Cycle::default(), 0u64, self.steps);
        loop {
            let mut running = false;
            for (number, warp) in warps.iter_mut().enumerate() {
                running |= self.turn(number, warp)?;
            }
            rounds += 1;
            if running {
                let proved = rounds > PATIENCE && cycle.repeats(self.state(&warps));
                if proved || self.steps - start > longest {
                    self.stall(proved, &mut warps)?;
                    return Err(Trap::StepLimit(self.steps));
                }
                continue;
            }
            if !self.pass_barrier(&mut warps) {
                return Ok(());
            }
            (cycle, rounds, start) = (Cycle::default(), 0, self.steps);
        }
    }

    /// Lets all lanes pass the barrier at which they wait; false if they have all ended, or do not wait at the same one.
    pub(super) fn pass_barrier(&mut self, warps: &mut [Warp]) -> bool {
        let mut lanes = warps.iter().flat_map(|warp| &warp.lanes);
        let first = lanes.next().map_or(At::Ended, |lane| lane.at);
        if lanes.any(|lane| lane.at != first) {
            let waiting: Vec<Vec<Option<Inst>>> = warps
                .iter()
                .map(|warp| {
                    warp.lanes
                        .iter()
                        .map(|lane| self.barrier(lane.at))
                        .collect()
                })
                .collect();
            self.observer.diverge(&waiting);
            return false;
        }
        let (At::Barrier(block, number), Some(barrier)) = (first, self.barrier(first)) else {
            return false;
        };
        self.observer.arrive(barrier);
        for lane in warps.iter_mut().flat_map(|warp| &mut warp.lanes) {
            lane.at = At::Inst(block, number);
        }
        true
    }

    /// The barrier at which a lane waits.
    fn barrier(&self, at: At) -> Option<Inst> {
        match at {
            At::Barrier(block, number) => {
                let insts = &self.function.block(block).insts;
                insts.get(number.checked_sub(1)?).copied()
            }
            At::Inst(..) | At::Ended => None,
        }
    }

    /// Tells the observer in which blocks the lanes go round.
    fn stall(&mut self, proved: bool, warps: &mut [Warp]) -> Result<(), Trap> {
        let mut blocks: Vec<BlockId> = vec![];
        for (number, warp) in warps.iter_mut().enumerate() {
            for _ in 0..super::observer::TURN {
                for lane in &warp.lanes {
                    if let At::Inst(block, _) = lane.at
                        && !blocks.contains(&block)
                    {
                        blocks.push(block);
                    }
                }
                if !self.go_on(number, warp)? {
                    break;
                }
            }
        }
        self.observer.stall(proved, &blocks);
        Ok(())
    }

    /// A number that differs between states of a workgroup and its memory.
    fn state(&self, warps: &[Warp]) -> u64 {
        let mut hasher = FxHasher::default();
        self.changes.hash(&mut hasher);
        for warp in warps {
            warp.values.hash(&mut hasher);
            for lane in &warp.lanes {
                let at = match lane.at {
                    At::Inst(block, number) => (0, block.index(), number),
                    At::Barrier(block, number) => (1, block.index(), number),
                    At::Ended => (2, 0, 0),
                };
                at.hash(&mut hasher);
                lane.vars.hash(&mut hasher);
                lane.scratch.0.hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Gives a warp its turn; whether it could go on.
    fn turn(&mut self, number: usize, warp: &mut Warp) -> Result<bool, Trap> {
        for _ in 0..super::observer::TURN {
            if !self.go_on(number, warp)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs a warp to the end of a block; false if no lane can run.
    fn go_on(&mut self, number: usize, warp: &mut Warp) -> Result<bool, Trap> {
        let Some((block, first)) = self.next_block(warp) else {
            return Ok(false);
        };
        let here = At::Inst(block, first);
        let mask = Mask::of(warp.lanes.iter().map(|lane| lane.at == here));
        self.current = number;
        self.block(warp, mask, block, first)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::Cycle;

    #[track_caller]
    fn found(states: impl Iterator<Item = u64>) -> Option<usize> {
        let mut cycle = Cycle::default();
        states.take(10_000).position(|state| cycle.repeats(state))
    }

    #[test]
    fn a_state_that_comes_back_is_found_whatever_came_before() {
        assert!(found((0..37).chain((37..60).cycle())).is_some());
        assert!(found(std::iter::repeat(1)).is_some());
        assert_eq!(found(0..), None);
    }
}
