//! A block's bits, taken one field after another from the lowest.

/// What is left of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    rest: u128,
}

impl Bits {
    pub(super) fn new(block: u128) -> Bits {
        Bits { rest: block }
    }

    /// The next `count` bits, at most 32; those beyond the block are 0.
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let value = (self.rest & ((1 << count) - 1)) as u32;
        self.rest >>= count;
        value
    }

    /// Leaves out bits, fewer than the block has.
    pub(super) fn skip(&mut self, count: u32) {
        self.rest >>= count;
    }
}

/// A number of `bits` bits, two's complement, as one of 32.
pub(super) fn signed(value: u32, bits: u32) -> i32 {
    let unused = 32 - bits;
    (value << unused) as i32 >> unused
}

/// Both interpolated by a weight in 64ths, rounded half up.
pub(super) fn mix(first: i32, second: i32, weight: i32) -> i32 {
    (first * (64 - weight) + second * weight + 32) >> 6
}
