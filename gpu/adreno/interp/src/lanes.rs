//! Sets of lanes of a wave.

/// A set of up to 128 lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lanes(pub(crate) u128);

impl Lanes {
    /// The lanes below `count`.
    pub(crate) fn below(count: u32) -> Self {
        Self(u128::MAX.checked_shr(128 - count).unwrap_or(0))
    }

    pub(crate) fn one(lane: u32) -> Self {
        Self(1 << lane)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) fn has(self, lane: u32) -> bool {
        self.0 >> lane & 1 != 0
    }

    pub(crate) fn lowest(self) -> u32 {
        self.0.trailing_zeros()
    }

    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Its lanes, the lowest first.
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            Some(lane)
        })
    }
}
