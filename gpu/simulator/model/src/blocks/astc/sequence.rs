//! Sequences of integers whose number of levels is 1, 3 or 5 times a power of two.

use super::tables::{QUINTS, TRITS};

/// Numbers of levels that colours can have, the greatest first.
const COLOUR_LEVELS: [u32; 17] = [
    256, 192, 160, 128, 96, 80, 64, 48, 40, 32, 24, 20, 16, 12, 10, 8, 6,
];

/// What the levels are a multiple of, and the power of two.
fn parts(levels: u32) -> (u32, u32) {
    let bits = levels.trailing_zeros();
    (levels >> bits, bits)
}

/// Bits of a sequence.
pub(super) fn sequence_bits(levels: u32, count: u32) -> u32 {
    let (base, bits) = parts(levels);
    let shared = match base {
        3 => (8 * count).div_ceil(5),
        5 => (7 * count).div_ceil(3),
        _ => 0,
    };
    count * bits + shared
}

/// The most levels of which so many colour values fit.
pub(super) fn most_levels(bits: u32, count: u32) -> Option<u32> {
    let fits = |levels: &u32| sequence_bits(*levels, count) <= bits;
    COLOUR_LEVELS.into_iter().find(fits)
}

/// A sequence as it is stored, from its lowest bit.
pub(super) struct Sequence {
    stored: u128,
    levels: u32,
}

impl Sequence {
    /// Bits beyond the sequence count as 0.
    pub(super) fn new(stored: u128, levels: u32, count: u32) -> Sequence {
        let bits = sequence_bits(levels, count).min(127);
        Sequence {
            stored: stored & ((1 << bits) - 1),
            levels,
        }
    }

    /// A value: its trit or quint times the power of two, and its bits below.
    pub(super) fn value(&self, index: u32) -> usize {
        let (base, bits) = parts(self.levels);
        let low_mask = (1_u128 << bits) - 1;
        // Bits of the shared number that follow each value of a group.
        let follow: &[u32] = match base {
            3 => &[2, 2, 1, 2, 1],
            5 => &[3, 2, 2],
            _ => return (self.stored >> (bits * index) & low_mask) as usize,
        };
        let size = follow.len() as u32;
        let group_bits = size * bits + follow.iter().sum::<u32>();
        let mut rest = self
            .stored
            .checked_shr(group_bits * (index / size))
            .unwrap_or(0);
        let (mut shared, mut place, mut own) = (0, 0, 0);
        for (at, count) in (0..).zip(follow) {
            if at == index % size {
                own = (rest & low_mask) as usize;
            }
            rest >>= bits;
            shared |= ((rest & ((1 << count) - 1)) as usize) << place;
            rest >>= count;
            place += count;
        }
        let digits = match base {
            3 => TRITS[shared & 0xff],
            _ => QUINTS[shared & 0x7f],
        };
        let digit = u32::from(digits) / base.pow(index % size) % base;
        (digit as usize) << bits | own
    }
}
