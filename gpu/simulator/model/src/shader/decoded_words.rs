//! Decoded words: what a GPU has decoded for one job need not be decoded for the next.
//!
//! Decoding a word takes about 2,000 instructions of the host, and most jobs execute what a job before them has executed.
//!
//! Guarantees: the instruction is that of [`decode`], whatever was decoded before; memory is bounded by [`MOST`] instructions.

use super::decode::{Trouble, decode};
use super::instruction::Instruction;
use alloc::vec;
use alloc::vec::Vec;
use eitri_isa::Arch;

/// Bits of a word's place, and the places.
const PLACE_BITS: u32 = 11;
const PLACES: usize = 1 << PLACE_BITS;

/// Most instructions that are kept: then all are forgotten. Numbers of them fit 16 bits.
const MOST: usize = 4096;

/// The words that were decoded, with their instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecodedWords {
    /// By the place of a word the number of its entry and 1; 0 for none. Of words of one place the last one counts. No places before the
    /// first word: a GPU that executes nothing has no memory of them.
    places: Vec<u16>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: (u64, Arch),
    instruction: Instruction,
    trouble: Option<Trouble>,
}

impl DecodedWords {
    /// The instruction of a word, and what is wrong with the word.
    pub(super) fn decode(&mut self, word: u64, arch: Arch) -> (&Instruction, Option<Trouble>) {
        if self.places.is_empty() {
            self.places = vec![0; PLACES];
        }
        // A multiplication moves what differs to the upper bits.
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (hash >> (u64::BITS - PLACE_BITS)) as usize;
        let number = usize::from(self.places[place]).wrapping_sub(1);
        let known = self.entries.get(number);
        let index = match known.is_some_and(|entry| entry.key == (word, arch)) {
            true => number,
            false => self.add(place, (word, arch)),
        };
        let entry = &self.entries[index];
        (&entry.instruction, entry.trouble)
    }

    /// Decodes a word and keeps it; the index of its entry.
    fn add(&mut self, place: usize, key: (u64, Arch)) -> usize {
        if self.entries.len() == MOST {
            self.entries.clear();
            self.places.fill(0);
        }
        let (instruction, trouble) = decode(key.0, key.1);
        self.entries.push(Entry {
            key,
            instruction,
            trouble,
        });
        self.places[place] = self.entries.len() as u16;
        self.entries.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_word_is_what_decoding_makes_of_it_however_often_it_comes() {
        let mut random = Random::new(9);
        // More words than are kept, so that places are shared and all is forgotten on the way; most are no instructions.
        let words: Vec<u64> = (0..6_000)
            .map(|_| random.below(1 << 32) << 32 | random.below(1 << 32))
            .collect();
        let mut decoded = DecodedWords::default();
        for time in 0..2 {
            for (index, word) in words.iter().enumerate() {
                // The one before once more: it is known.
                for word in [*word, words[index.saturating_sub(1)]] {
                    for arch in [Arch::V10, Arch::V12] {
                        let (instruction, trouble) = decoded.decode(word, arch);
                        let found = (*instruction, trouble);
                        assert_eq!(found, decode(word, arch), "{word:#x}, time {time}");
                    }
                }
            }
        }
        assert!(decoded.entries.len() <= MOST);
    }

    #[test]
    fn a_word_that_is_known_is_not_decoded_again() {
        let mut decoded = DecodedWords::default();
        for _ in 0..3 {
            for word in 1..100 {
                decoded.decode(word << 48, Arch::V10);
            }
        }
        // No two of them share a place.
        assert_eq!(decoded.entries.len(), 99);
    }
}
