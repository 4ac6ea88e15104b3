//! Sets of lanes of a subgroup, and what lanes compute together.
use super::eval::eval as alu;
use crate::ir::{Combine, LaneOp, ScanForm, Type};

/// Lanes by number: bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask(pub(super) u64);

impl Mask {
    /// The lanes whose entry is true, in order from lane 0.
    pub(super) fn of(lanes: impl Iterator<Item = bool>) -> Mask {
        let bits = lanes
            .enumerate()
            .map(|(lane, member)| u64::from(member) << lane);
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
            (lane < 64).then_some(lane as usize)
        })
    }
}

impl Mask {
    pub(super) fn has(self, lane: u64) -> bool {
        lane < 64 && self.0 >> lane & 1 != 0
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
    let each = mask.lanes().map(|lane| {
        let bits = match op {
            LaneOp::First => mask.lanes().next().map_or(0, |first| read(0, first)),
            LaneOp::Shuffle => of(read(1, lane)),
            LaneOp::ShuffleXor => of(lane as u64 ^ read(1, lane)),
            LaneOp::QuadSwapX => of(lane as u64 ^ 1),
            LaneOp::QuadSwapY => of(lane as u64 ^ 2),
        };
        (lane, bits)
    });
    each.collect()
}

/// The lanes that run a ballot with a true operand, as words.
pub(super) fn ballot(mask: Mask, read: impl Fn(usize) -> u64) -> [u64; 2] {
    let bits = mask.lanes().filter(|lane| read(*lane) != 0);
    let bits = bits.fold(0u64, |all, lane| all | 1 << lane);
    [bits & 0xffff_ffff, bits >> 32]
}

/// Computes a scan, for each lane that runs it.
pub(super) fn scan(
    combine: Combine,
    form: ScanForm,
    mask: Mask,
    read: impl Fn(usize) -> u64,
) -> Vec<(usize, u64)> {
    let mut all = combine.neutral(Type::W32);
    let each = mask.lanes().map(|lane| {
        let before = all;
        all = alu(combine.alu(), Type::W32, [all, read(lane), 0, 0]);
        match form {
            ScanForm::Exclusive => (lane, before),
            ScanForm::Inclusive | ScanForm::Reduce => (lane, all),
        }
    });
    let mut results: Vec<(usize, u64)> = each.collect();
    if form == ScanForm::Reduce {
        results.iter_mut().for_each(|(_, bits)| *bits = all);
    }
    results
}
