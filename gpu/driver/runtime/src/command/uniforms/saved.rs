//! Saved uniforms: what was found out for a pipeline, as words in memory, and back.
//!
//! Guarantees: what is restored is what was saved; which words change, and the steps, are read only if another pipeline's are here.

use super::{Changing, PAIRS, UniformStep, Uniforms};
use crate::slab::Key;
use eitri_program::FauOp;
use heapless::Vec;

/// Words behind the first that [`Uniforms::restore`] may be given at once.
pub(crate) const AT_HAND: usize = 5;

impl Uniforms {
    /// What was found, as words for [`Uniforms::restore`]: numbers of what follows, the pairs as they stay, the values that steps
    /// begin with, which words change, and the steps. `None` if there are too many.
    pub(crate) fn saved<const MOST: usize>(&self) -> Option<Vec<u64, MOST>> {
        let mut words = Vec::<u64, MOST>::new();
        let counts = [
            self.pair_count(),
            self.changing.len(),
            self.steps.len(),
            usize::from(self.worked),
        ];
        // Each is at most 255: it counts words of the uniforms, or steps.
        let counts = counts.iter().rev();
        let counts = counts.fold(0, |all, count| all << 8 | *count as u64);
        words.push(counts).ok()?;
        words.extend_from_slice(self.all_pairs()).ok()?;
        for it in &self.changing {
            // With what the pair is but for the words that change.
            let place = usize::from(it.pair).saturating_add(1);
            *words.get_mut(place)? = it.fixed;
        }
        let worked = self.values.worked().iter().copied();
        let worked = worked.take(self.worked.into());
        let changing = self.changing.iter().map(|it| {
            let [low, high] = it.from;
            u32::from_le_bytes([it.pair, low, high, 0])
        });
        let steps = self.steps.iter();
        let steps = steps.map(|it| u32::from_le_bytes([it.op as u8, it.from, it.with, it.to]));
        for halves in [
            &mut halves(worked) as &mut dyn Iterator<Item = u64>,
            &mut halves(changing),
            &mut halves(steps),
        ] {
            for word in halves {
                words.push(word).ok()?;
            }
        }
        Some(words)
    }

    /// Takes what was found for a pipeline: `counts` is the first word that was saved, `first` are those behind it, if they are at
    /// hand, and `read` gives them from a number on. Which words change, and the steps, are those of the pipeline whatever set it is
    /// used with: they are read only if another's are here. False if these are no such words.
    #[inline(always)]
    pub(crate) fn restore(
        &mut self,
        pipeline: Key,
        counts: u64,
        first: Option<&[u64; AT_HAND]>,
        mut read: impl FnMut(usize, &mut [u64]),
    ) -> bool {
        let [pairs, changing, steps, worked, ..] = counts.to_le_bytes();
        if usize::from(pairs) > PAIRS {
            return false;
        }
        let same = self.plan == Some(pipeline);
        let of_plan = usize::from(changing.div_ceil(2)).wrapping_add(steps.div_ceil(2).into());
        let left = usize::from(worked.div_ceil(2)).wrapping_add(if same { 0 } else { of_plan });
        self.count = pairs;
        self.worked = worked;
        match first {
            Some(first) if left.wrapping_add(pairs.into()) <= AT_HAND => {
                // All of them, in three instructions: a loop up to their number would become a call.
                let [a, b, c, d, e] = *first;
                let [pair_a, pair_b, pair_c, pair_d, pair_e, ..] = &mut self.pairs;
                (*pair_a, *pair_b, *pair_c, *pair_d, *pair_e) = (a, b, c, d, e);
                if left != 0 || !same {
                    self.restore_behind(pipeline, counts, first);
                } else {
                    self.note_fixed();
                }
            }
            _ => {
                read(0, self.pairs.get_mut(..pairs.into()).unwrap_or_default());
                let mut saved = Saved::new(pairs.into(), left, read);
                self.restore_rest(pipeline, counts, &mut || saved.next());
            }
        }
        self.found = true;
        true
    }

    /// Takes what stands behind the pairs, of which all is at hand.
    #[inline(never)]
    fn restore_behind(&mut self, pipeline: Key, counts: u64, first: &[u64; AT_HAND]) {
        let [pairs, changing, steps, worked, ..] = counts.to_le_bytes();
        // Most programs take no steps, and one or two of their pairs change: one word says which.
        if worked != 0 || steps != 0 || changing > 2 || self.plan == Some(pipeline) {
            let mut words = first.iter().skip(pairs.into()).copied();
            return self.restore_rest(pipeline, counts, &mut || words.next().unwrap_or(0));
        }
        let word = first.get(usize::from(pairs)).copied().unwrap_or(0);
        self.plan = Some(pipeline);
        self.changing.clear();
        self.steps.clear();
        for (number, word) in [word, word >> 32].into_iter().enumerate() {
            if number < usize::from(changing) {
                let [pair, low, high, ..] = word.to_le_bytes();
                let from = [low, high];
                let fixed = pair_of(&self.pairs, pair);
                // There are as many places as pairs.
                let _ = self.changing.push(Changing { pair, from, fixed });
            }
        }
    }

    /// Notes what stays of the pairs of which a word changes.
    #[inline(always)]
    pub(super) fn note_fixed(&mut self) {
        for it in &mut self.changing {
            it.fixed = pair_of(&self.pairs, it.pair);
        }
    }

    /// Takes the values that steps begin with; and which words change, and the steps, if another pipeline's are here.
    #[inline(never)]
    fn restore_rest(&mut self, pipeline: Key, counts: u64, next: &mut dyn FnMut() -> u64) {
        let [_, changing, steps, worked, ..] = counts.to_le_bytes();
        let values = self.values.worked_mut();
        let values = values.get_mut(..worked.into()).unwrap_or_default();
        for two in values.chunks_mut(2) {
            let word = next();
            for (value, half) in two.iter_mut().zip([word as u32, (word >> 32) as u32]) {
                *value = half;
            }
        }
        if self.plan == Some(pipeline) {
            return self.note_fixed();
        }
        self.plan = Some(pipeline);
        self.changing.clear();
        self.steps.clear();
        let mut word = 0;
        for number in 0..changing {
            word = if number.is_multiple_of(2) {
                next()
            } else {
                word >> 32
            };
            let [pair, low, high, _, ..] = word.to_le_bytes();
            let (from, fixed) = ([low, high], 0);
            // There are as many places as pairs.
            let _ = self.changing.push(Changing { pair, from, fixed });
        }
        for number in 0..steps {
            word = if number.is_multiple_of(2) {
                next()
            } else {
                word >> 32
            };
            let [op, from, with, to, ..] = word.to_le_bytes();
            if let Some(op) = FauOp::ALL.get(usize::from(op)).copied() {
                let _ = self.steps.push(UniformStep { op, from, with, to });
            }
        }
        self.note_fixed();
    }
}

/// Words that were saved, read several at a time.
struct Saved<R> {
    read: R,
    words: [u64; 8],
    /// The number of the next word to read, and how many are left.
    number: usize,
    left: usize,
    /// Which of `words` is the next.
    at: usize,
}

impl<R: FnMut(usize, &mut [u64])> Saved<R> {
    /// So many words from a number on.
    #[inline(always)]
    const fn new(number: usize, left: usize, read: R) -> Saved<R> {
        let words = [0; 8];
        let at = words.len();
        Saved {
            read,
            words,
            number,
            left,
            at,
        }
    }

    /// The next word; 0 behind the last.
    #[inline(always)]
    fn next(&mut self) -> u64 {
        if self.at >= self.words.len() {
            let count = self.left.min(self.words.len());
            (self.read)(self.number, self.words.get_mut(..count).unwrap_or_default());
            self.number = self.number.wrapping_add(count);
            self.left = self.left.wrapping_sub(count);
            self.at = 0;
        }
        let word = self.words.get(self.at).copied().unwrap_or(0);
        self.at = self.at.wrapping_add(1);
        word
    }
}

/// The pair of a number, of which a word changes.
#[inline(always)]
fn pair_of(pairs: &[u64], number: u8) -> u64 {
    pairs.get(usize::from(number)).copied().unwrap_or(0)
}

/// Words of two numbers each, the first one in the low half.
pub(super) fn halves(mut numbers: impl Iterator<Item = u32>) -> impl Iterator<Item = u64> {
    core::iter::from_fn(move || {
        let low = numbers.next()?;
        let high = numbers.next().unwrap_or(0);
        Some(u64::from(high) << 32 | u64::from(low))
    })
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;
    use crate::command::kept_uniforms::MOST;
    use eitri_program::{Axis, FauOperand, FauStep};

    #[test]
    fn what_is_saved_is_restored() {
        let mut uniforms = Uniforms::new();
        let step = |op, operand| FauStep {
            word: 0,
            op,
            operand,
        };
        uniforms.add(0, Ok(7));
        let word = uniforms.take(Ok(9), step(FauOp::Subtract, FauOperand::PushConstant(4)));
        let word = uniforms.take(word, step(FauOp::Max, FauOperand::Constant(3)));
        uniforms.add(1, word);
        uniforms.add(2, Err(Source::Count(Axis::Y)));
        uniforms.added(None);
        assert_eq!(uniforms.push(4, &[2]), Some(true));
        let words = [7 << 32 | 7, 5];
        assert_eq!(uniforms.of([1, 5, 1]), words);
        let saved = uniforms.saved::<MOST>().expect("few");
        let mut other = Uniforms::new();
        other.add(0, Err(Source::Push(0)));
        assert_eq!(other.push(4, &[1]), Some(true));
        let restore = |other: &mut Uniforms, first: Option<&[u64; AT_HAND]>| {
            let (counts, words) = saved.split_first().expect("it is saved");
            other.restore(Key::NONE, *counts, first, |from, to| {
                to.copy_from_slice(&words[from..][..to.len()]);
            })
        };
        // The second time the plan is there, and the third all words that are needed are at hand.
        let mut all = saved.clone();
        all.resize(1 + AT_HAND, 0).expect("there is room");
        let (_, first) = all.split_first_chunk::<1>().expect("they are there");
        let first = first.first_chunk();
        for first in [None, None, first] {
            assert!(restore(&mut other, first) && other.found);
            assert_eq!(other.push(4, &[1]), Some(false));
            assert_eq!(other.of([1, 6, 1]), [8 << 32 | 7, 6]);
        }
        assert_eq!(other.push(4, &[2]), Some(true));
        assert_eq!(other.of([1, 5, 1]), words, "again");
        assert_eq!(other.saved(), Some(saved), "and saved again");
    }

    #[test]
    fn words_at_hand_take_the_place_of_another_plan() {
        let mut constants = Uniforms::new();
        constants.add(0, Ok(7));
        constants.add(1, Ok(8));
        constants.added(None);
        let mut saved = constants.saved::<MOST>().expect("few");
        saved.resize(1 + AT_HAND, 0).expect("there is room");
        let mut other = Uniforms::new();
        other.add(0, Err(Source::Push(0)));
        other.added(None);
        let first = saved[1..].first_chunk();
        assert!(other.restore(Key::NONE, saved[0], first, |_, _| panic!("all are at hand")));
        assert_eq!(other.push(0, &[1, 0, 0, 0]), Some(true));
        assert_eq!(other.of([1; 3]), [8 << 32 | 7]);
    }

    #[test]
    fn more_than_fits_is_not_saved() {
        let mut uniforms = Uniforms::new();
        for number in 0..2 * MOST {
            uniforms.add(number, Ok(number as u32));
        }
        uniforms.added(None);
        assert_eq!(uniforms.saved::<MOST>(), None);
    }
}
