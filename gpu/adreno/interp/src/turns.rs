//! Turns: which wave runs next and for how long. Hardware promises nothing of it, so a seed may bend it.

/// Instructions that a wave runs before another has its turn, so that one that waits for another comes to an end.
const LONGEST: u32 = 1000;
/// Instructions of most turns of a bent order.
const SHORT: u32 = 8;
/// Workgroups among which a bent order chooses.
pub(crate) const WORKGROUPS: u64 = 64;

/// The order of waves and workgroups.
pub(crate) struct Turns {
    /// State of the generator; none for the straight order.
    random: Option<u64>,
}

impl Turns {
    pub(crate) fn new(seed: Option<u64>) -> Turns {
        Turns { random: seed }
    }

    /// A number below a limit; none in the straight order.
    fn below(&mut self, limit: u32) -> Option<u32> {
        let random = self.random.as_mut()?;
        *random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let scaled = (*random >> 33) * u64::from(limit);
        Some((scaled >> 31) as u32)
    }

    /// Puts a list in another order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            if let Some(other) = self.below(last as u32 + 1) {
                list.swap(last, other as usize);
            }
        }
    }

    /// Instructions of the next turn: mostly few, so that waves are at different places, sometimes many.
    pub(crate) fn length(&mut self) -> u32 {
        match self.below(4) {
            None => LONGEST,
            Some(0) => 1 + self.below(LONGEST).unwrap_or(0),
            Some(_) => 1 + self.below(SHORT).unwrap_or(0),
        }
    }
}
