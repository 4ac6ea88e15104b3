//! Cache type: how long the lines of the caches are.
//!
//! Facts: CTR_EL0 of the architecture.

use bitfield::bitfield;

bitfield! {
    /// The value of CTR_EL0.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub struct CacheType(pub u64);
    impl Debug;
    /// Logarithm of the number of 4-byte words in the smallest line of the instruction caches.
    pub u8, log2_instruction_words, _: 3, 0;
    /// Logarithm of the number of 4-byte words in the smallest line of the data caches.
    pub u8, log2_data_words, _: 19, 16;
}

impl CacheType {
    /// Bytes of the smallest line of the data caches.
    pub fn data_line_bytes(self) -> usize {
        4 << self.log2_data_words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_in_bytes() {
        // What QEMU's cortex-a57 has.
        assert_eq!(CacheType(0x8444_C004).data_line_bytes(), 64);
    }
}
