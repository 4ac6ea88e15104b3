//! Sets of lanes of a warp.

/// Lanes by number: bit n is lane n.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mask(u16);

impl Mask {
    /// The lanes whose entry is true, in order from lane 0.
    pub(super) fn of(lanes: impl Iterator<Item = bool>) -> Mask {
        let bits = lanes
            .enumerate()
            .map(|(lane, member)| u16::from(member) << lane);
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
            (lane < 16).then_some(lane as usize)
        })
    }
}
