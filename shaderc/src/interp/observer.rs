//! Observers: what a checker is told while a dispatch runs.
//!
//! Guarantees: with `()` nothing of this is compiled in. An observer that is active sees every instruction before it takes effect,
//! workgroups one after the other, and the warps of a workgroup in turns of [`TURN`] blocks, so that one may wait for another.
//! Accesses that would trap are left out after the observer has seen them: loads give zero.
use crate::ir::{BlockId, Inst, Value};

/// Blocks that a warp runs before the next one has its turn.
pub(super) const TURN: u32 = 256;

/// What the values of a warp are.
#[derive(Clone, Copy)]
pub struct Values<'w> {
    pub(super) words: &'w [u64],
    pub(super) stride: usize,
}

impl Values<'_> {
    /// The bits of a value in a lane.
    pub fn get(&self, value: Value, lane: usize) -> u64 {
        self.words[value.0 as usize * self.stride + lane]
    }
}

/// Lanes of a warp that run something together: bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaneSet(pub u64);

impl LaneSet {
    /// Their numbers, from the lowest.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (lane < 64).then_some(lane as usize)
        })
    }

    /// Whether a lane is one of them.
    pub fn has(self, lane: u64) -> bool {
        lane < 64 && self.0 >> lane & 1 != 0
    }
}

/// Is told what happens in a dispatch.
pub trait Observer {
    /// Whether it is told at all.
    const ACTIVE: bool;

    /// A workgroup begins: its number, and how many lanes each of its warps has.
    fn begin(&mut self, workgroup: u32, warps: &[usize]);

    /// These lanes of a warp of fragments only help their quads from here on: what they do changes nothing.
    fn help(&mut self, warp: usize, lanes: LaneSet) {
        let _ = (warp, lanes);
    }

    /// An instruction is about to take effect for lanes of a warp.
    fn step(&mut self, warp: usize, lanes: LaneSet, inst: Inst, values: Values<'_>);

    /// Lanes are about to leave a block.
    fn leave(&mut self, warp: usize, lanes: LaneSet, block: BlockId, values: Values<'_>);

    /// Lanes have come from a block to another, whose phis take their values.
    fn enter(&mut self, warp: usize, lanes: LaneSet, from: BlockId, to: BlockId);

    /// All lanes of the workgroup have arrived at a barrier.
    fn arrive(&mut self, barrier: Inst);

    /// No lane of the workgroup can go on: at which barrier each one waits, by warp and lane; those at none have ended. The
    /// workgroup is given up.
    fn diverge(&mut self, waiting: &[Vec<Option<Inst>>]);

    /// The workgroup makes no progress any more, or has run for very long: in which blocks its lanes go round. It is given up.
    fn stall(&mut self, proved: bool, blocks: &[BlockId]);
}

impl Observer for () {
    const ACTIVE: bool = false;

    fn begin(&mut self, _: u32, _: &[usize]) {}

    fn step(&mut self, _: usize, _: LaneSet, _: Inst, _: Values<'_>) {}

    fn leave(&mut self, _: usize, _: LaneSet, _: BlockId, _: Values<'_>) {}

    fn enter(&mut self, _: usize, _: LaneSet, _: BlockId, _: BlockId) {}

    fn arrive(&mut self, _: Inst) {}

    fn diverge(&mut self, _: &[Vec<Option<Inst>>]) {}

    fn stall(&mut self, _: bool, _: &[BlockId]) {}
}

impl<O: Observer> Observer for &mut O {
    const ACTIVE: bool = O::ACTIVE;

    fn begin(&mut self, workgroup: u32, warps: &[usize]) {
        (**self).begin(workgroup, warps);
    }

    fn help(&mut self, warp: usize, lanes: LaneSet) {
        (**self).help(warp, lanes);
    }

    fn step(&mut self, warp: usize, lanes: LaneSet, inst: Inst, values: Values<'_>) {
        (**self).step(warp, lanes, inst, values);
    }

    fn leave(&mut self, warp: usize, lanes: LaneSet, block: BlockId, values: Values<'_>) {
        (**self).leave(warp, lanes, block, values);
    }

    fn enter(&mut self, warp: usize, lanes: LaneSet, from: BlockId, to: BlockId) {
        (**self).enter(warp, lanes, from, to);
    }

    fn arrive(&mut self, barrier: Inst) {
        (**self).arrive(barrier);
    }

    fn diverge(&mut self, waiting: &[Vec<Option<Inst>>]) {
        (**self).diverge(waiting);
    }

    fn stall(&mut self, proved: bool, blocks: &[BlockId]) {
        (**self).stall(proved, blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_told_each_once_from_the_lowest() {
        for (set, lanes) in [
            (0, vec![]),
            (0b1010_0001, vec![0, 5, 7]),
            (1 << 63, vec![63]),
            (u64::MAX, (0..64).collect()),
        ] {
            assert_eq!(LaneSet(set).iter().collect::<Vec<_>>(), lanes, "{set:#x}");
            for lane in 0..70 {
                let is_one = lanes.contains(&(lane as usize));
                assert_eq!(LaneSet(set).has(lane), is_one, "{set:#x}, {lane}");
            }
        }
    }
}
