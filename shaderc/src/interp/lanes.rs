//! Sets of lanes of a subgroup, and what lanes compute together.
use crate::ir::LaneOp;

/// Lanes by number: bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask(u32);

impl Mask {
    /// The lanes whose entry is true, in order from lane 0.
    pub(super) fn of(lanes: impl Iterator<Item = bool>) -> Mask {
        let bits = lanes
            .enumerate()
            .map(|(lane, member)| u32::from(member) << lane);
        Mask(bits.fold(0, |mask, bit| mask | bit))
    }

    pub(super) fn one(lane: usize) -> Mask {
        Mask(1 << lane)
    }

    pub(super) fn insert(&mut self, lane: usize) {
        self.0 |= 1 << lane;
    }

    pub(super) fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The numbers of its lanes, from the lowest.
    pub(super) fn lanes(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            (lane < 32).then_some(lane as usize)
        })
    }
}

impl Mask {
    fn has(self, lane: u64) -> bool {
        lane < 32 && self.0 >> lane & 1 != 0
    }
}

/// Computes an operation of lanes, for each that runs it. `read` tells an operand of a lane.
pub(super) fn eval(
    op: LaneOp,
    mask: Mask,
    read: impl Fn(usize, usize) -> u64,
) -> Vec<(usize, u64)> {
    let of = |lane: u64| match mask.has(lane) {
        true => read(0, lane as usize),
        false => 0,
    };
    let ballot = mask
        .lanes()
        .map(|lane| u64::from(read(0, lane) != 0) << lane);
    let ballot = ballot.fold(0, |all, bit| all | bit);
    let each = mask.lanes().map(|lane| {
        let bits = match op {
            LaneOp::Ballot => ballot,
            LaneOp::Shuffle => of(read(1, lane)),
            LaneOp::ShuffleXor => of(lane as u64 ^ read(1, lane)),
        };
        (lane, bits)
    });
    each.collect()
}
