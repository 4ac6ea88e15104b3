//! Uniforms of a dispatch: the words that stay the same until something else is bound, and where the others come from.
//!
//! Guarantees: a word that stays the same is found out once; a dispatch changes the others and writes all in one go.
//! Facts: hardware/compiler-abi.md section 4.

use eitri_program::{Axis, MAX_FAU_WORDS, MAX_PUSH_CONSTANT_BYTES};
use heapless::Vec;

/// Pairs of words at most.
const PAIRS: usize = MAX_FAU_WORDS.div_ceil(2);

/// Where a word comes from that changes from dispatch to dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The workgroups along an axis.
    Count(Axis),
    /// The push constants, from this byte on.
    Push(u8),
}

/// The words of the next dispatch.
#[derive(Debug)]
pub(super) struct Uniforms {
    /// Two words each, the first one in the low half.
    pairs: Vec<u64, PAIRS>,
    /// Words that change, by their numbers.
    changing: Vec<(u8, Source), MAX_FAU_WORDS>,
    /// They are those of what is bound.
    pub(super) found: bool,
}

impl Uniforms {
    /// Not found out yet.
    pub(super) const fn new() -> Uniforms {
        Uniforms {
            pairs: Vec::new(),
            changing: Vec::new(),
            found: false,
        }
    }

    /// Begins with no words.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.changing.clear();
    }

    /// Says what word `number`, the next one, is: a value, or where it comes from. Programs have at most [`MAX_FAU_WORDS`].
    pub(super) fn add(&mut self, number: usize, word: Result<u32, Source>) {
        if number.is_multiple_of(2) {
            let _ = self.pairs.push(0);
        }
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        match word {
            Ok(value) => set(&mut self.pairs, number, value),
            Err(source) => {
                let _ = self.changing.push((number, source));
            }
        }
    }

    /// All words of a dispatch of so many workgroups with these push constants.
    pub(super) fn of(&mut self, push: &Push, counts: [u32; 3]) -> &[u64] {
        for (number, source) in &self.changing {
            let value = match *source {
                Source::Push(offset) => push.word(offset),
                Source::Count(axis) => {
                    let [x, y, z] = counts;
                    match axis {
                        Axis::X => x,
                        Axis::Y => y,
                        Axis::Z => z,
                    }
                }
            };
            set(&mut self.pairs, *number, value);
        }
        &self.pairs
    }
}

/// Changes a word of a pair.
fn set(pairs: &mut [u64], number: u8, value: u32) {
    if let Some(pair) = pairs.get_mut(usize::from(number / 2)) {
        let (low, high) = (*pair as u32, (*pair >> 32) as u32);
        let (low, high) = match number % 2 {
            0 => (value, high),
            _ => (low, value),
        };
        *pair = u64::from(high) << 32 | u64::from(low);
    }
}

/// Push constants: what commands were given.
#[derive(Debug)]
pub(super) struct Push([u8; MAX_PUSH_CONSTANT_BYTES as usize]);

impl Push {
    /// Zeros.
    pub(super) const ZERO: Push = Push([0; MAX_PUSH_CONSTANT_BYTES as usize]);

    /// Changes those from byte `offset` on; whether they are others now. `None` if there are not so many.
    pub(super) fn change(&mut self, offset: usize, bytes: &[u8]) -> Option<bool> {
        let end = offset.checked_add(bytes.len())?;
        let place = self.0.get_mut(offset..end)?;
        let (to, to_rest) = place.as_chunks_mut::<4>();
        let (from, from_rest) = bytes.as_chunks::<4>();
        let mut changed = false;
        for (to, from) in to.iter_mut().zip(from) {
            if to != from {
                (*to, changed) = (*from, true);
            }
        }
        for (to, from) in to_rest.iter_mut().zip(from_rest) {
            if to != from {
                (*to, changed) = (*from, true);
            }
        }
        Some(changed)
    }

    /// The word at an offset; 0 behind the end.
    fn word(&self, offset: u8) -> u32 {
        let bytes = self.0.get(usize::from(offset)..);
        let bytes = bytes.and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_from_where_they_were_said_to() {
        let mut uniforms = Uniforms::new();
        let words = [
            Ok(7),
            Err(Source::Push(4)),
            Err(Source::Count(Axis::Z)),
            Ok(8),
            Err(Source::Push(0)),
        ];
        for (number, word) in words.into_iter().enumerate() {
            uniforms.add(number, word);
        }
        let mut push = Push::ZERO;
        assert_eq!(push.change(0, &[1, 0, 0, 0, 2, 0, 0, 0]), Some(true));
        let words = [2 << 32 | 7, 8 << 32 | 5, 1];
        assert_eq!(uniforms.of(&push, [3, 4, 5]), words);
        assert_eq!(push.change(4, &[9]), Some(true));
        let words = [9 << 32 | 7, 8 << 32 | 6, 1];
        assert_eq!(uniforms.of(&push, [3, 4, 6]), words);
    }

    #[test]
    fn push_constants_say_whether_they_have_changed() {
        let mut push = Push::ZERO;
        assert_eq!(push.change(3, &[0, 0, 0, 0, 0]), Some(false));
        assert_eq!(push.change(3, &[0, 0, 0, 0, 1]), Some(true));
        assert_eq!(push.change(3, &[0, 0, 0, 0, 1]), Some(false));
        assert_eq!(push.word(4), 1 << 24);
        assert_eq!(push.change(252, &[1; 4]), Some(true));
        assert_eq!(push.change(253, &[1; 4]), None, "one too many");
        assert_eq!(push.change(usize::MAX, &[1]), None);
    }
}
