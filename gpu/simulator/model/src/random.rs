//! Numbers that look random, from a seed: the same ones each time.

/// A generator of such numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Another sequence for each seed.
    pub(crate) fn new(seed: u64) -> Random {
        // No state may be 0, and near seeds must not begin alike.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The high bits are the better ones.
        (self.next() >> 11) % end.max(1)
    }
}
