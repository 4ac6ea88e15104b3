//! Uniforms of a dispatch or a draw: the words that stay the same until something else is bound, and where the others come from.
//!
//! Guarantees: a word that stays the same is found out once; a dispatch changes the others and writes all in one go.
//! Facts: hardware/compiler-abi.md section 4.

#[cfg(feature = "draw")]
mod planned;
mod saved;
mod values;

#[cfg(feature = "draw")]
pub(crate) use planned::{MOST_WORDS, PlanCounts, UniformImage};
#[cfg(feature = "draw")]
pub(crate) use values::UniformValues;
#[cfg(not(feature = "draw"))]
use values::UniformValues;
use values::{COUNTS, UniformStep, WORKED, ZERO};

use crate::slab::Key;
use eitri_program::{Axis, FauOperand, FauStep, MAX_FAU_STEPS, MAX_FAU_WORDS};
use heapless::Vec;

/// Pairs of words at most.
const PAIRS: usize = MAX_FAU_WORDS.div_ceil(2);

/// Where a word comes from that changes from dispatch to dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The workgroups along an axis; of draws the first vertex, the first instance and the view.
    Count(Axis),
    /// The push constants, from this byte on: a multiple of 4.
    Push(u32),
    /// What steps have made, at this place among the values.
    Worked(u8),
    /// A value that is put at this place when something is set or bound.
    Given(u8),
}

impl Source {
    /// Its place among the values.
    const fn place(self) -> usize {
        match self {
            Source::Count(axis) => COUNTS.saturating_add(axis.index()),
            Source::Push(offset) => offset as usize / 4,
            Source::Worked(place) | Source::Given(place) => place as usize,
        }
    }
}

/// A pair of which a word changes.
#[derive(Clone, Copy, Debug)]
struct Changing {
    pair: u8,
    /// Where its words come from, the low one first; one that stays the same comes from the zero.
    from: [u8; 2],
    /// What stays the same.
    fixed: u64,
}

/// The words of the next dispatch. They are large: the device keeps them from one recording to the next.
#[derive(Debug)]
pub(crate) struct Uniforms {
    /// Two words each, the first one in the low half.
    pairs: [u64; PAIRS],
    /// How many pairs there are.
    count: u8,
    changing: Vec<Changing, PAIRS>,
    steps: Vec<UniformStep, MAX_FAU_STEPS>,
    /// Push constants, counts, the zero, and what steps read and make.
    values: UniformValues,
    /// How many of the last there are.
    worked: u8,
    /// The pipeline whose words change as `changing` and `steps` say.
    plan: Option<Key>,
    /// There was room for all that was added.
    fits: bool,
    /// The pairs are those of what is bound.
    pub(super) found: bool,
}

impl Uniforms {
    /// The uniforms of no commands.
    pub(crate) const fn new() -> Uniforms {
        Uniforms {
            pairs: [0; PAIRS],
            count: 0,
            changing: Vec::new(),
            steps: Vec::new(),
            values: UniformValues::NOTHING,
            worked: 0,
            plan: None,
            fits: true,
            found: false,
        }
    }

    /// Begins with the push constants of commands that have none: zeros.
    pub(crate) fn begin(&mut self) {
        self.values.begin();
        self.found = false;
    }

    /// Begins with no words.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.changing.clear();
        self.steps.clear();
        self.worked = 0;
        self.plan = None;
        self.fits = true;
    }

    /// Takes a step, now if that can be: else at each dispatch. Gives what it makes. Programs have at most [`MAX_FAU_STEPS`].
    pub(crate) fn take(
        &mut self,
        word: Result<u32, Source>,
        FauStep { op, operand, .. }: FauStep,
    ) -> Result<u32, Source> {
        let from = match (word, operand) {
            (Ok(value), FauOperand::Constant(with)) => return Ok(op.apply(value, with)),
            (Ok(value), FauOperand::PushConstant(_)) => self.place_of(value),
            (Err(source), _) => source.place() as u8,
        };
        let with = match operand {
            FauOperand::Constant(value) => self.place_of(value),
            FauOperand::PushConstant(offset) => Source::Push(offset).place() as u8,
        };
        let to = match word {
            Err(Source::Worked(place)) => place,
            _ => self.place_of(0),
        };
        self.fits &= self.steps.push(UniformStep { op, from, with, to }).is_ok();
        Err(Source::Worked(to))
    }

    /// A word whose value is still to be said.
    pub(crate) fn given(&mut self) -> Source {
        Source::Given(self.place_of(0))
    }

    /// Adds pairs that nothing reads, up to so many.
    pub(crate) fn pad(&mut self, pairs: usize) {
        while self.fits && self.pair_count() < pairs {
            self.add_pair();
        }
    }

    /// How many pairs there are.
    pub(crate) const fn pair_count(&self) -> usize {
        self.count as usize
    }

    /// Adds a pair of zeros.
    fn add_pair(&mut self) {
        match self.pairs.get_mut(usize::from(self.count)) {
            Some(pair) => {
                *pair = 0;
                self.count = self.count.saturating_add(1);
            }
            None => self.fits = false,
        }
    }

    /// The pairs.
    #[inline(always)]
    fn all_pairs(&self) -> &[u64] {
        self.pairs.get(..self.pair_count()).unwrap_or_default()
    }

    /// Whether there was room for all that was added.
    pub(crate) const fn fits(&self) -> bool {
        self.fits
    }

    /// A place of its own for a value.
    fn place_of(&mut self, value: u32) -> u8 {
        let place = (WORKED as u8).saturating_add(self.worked);
        // The last place is one for whatever has no place of its own.
        self.fits &= place < u8::MAX;
        self.worked = self.worked.saturating_add(1);
        self.values.set(place, value);
        place
    }

    /// Says what word `number`, the next one, is: a value, or where it comes from. Programs have at most [`MAX_FAU_WORDS`].
    pub(crate) fn add(&mut self, number: usize, word: Result<u32, Source>) {
        let high = !number.is_multiple_of(2);
        if !high {
            self.add_pair();
        }
        let last = self.pair_count().saturating_sub(1);
        let Some(pair) = self.pairs.get_mut(last) else {
            return;
        };
        match word {
            Ok(value) => *pair |= u64::from(value) << if high { 32 } else { 0 },
            Err(source) => {
                // Places are few.
                let (zero, place) = (ZERO as u8, source.place() as u8);
                let number = (number / 2) as u8;
                match self.changing.last_mut().filter(|last| last.pair == number) {
                    Some(last) => last.from = [last.from[0], place],
                    None => {
                        let from = if high { [zero, place] } else { [place, zero] };
                        let (pair, fixed) = (number, 0);
                        let _ = self.changing.push(Changing { pair, from, fixed });
                    }
                }
            }
        }
    }

    /// Says that all words of a pipeline were added.
    pub(crate) fn added(&mut self, pipeline: Option<Key>) {
        self.plan = pipeline;
        self.note_fixed();
        self.found = true;
    }

    /// Changes push constants: see [`UniformValues::push`].
    #[inline(always)]
    pub(crate) fn push(&mut self, offset: usize, bytes: &[u8]) -> Option<bool> {
        self.values.push(offset, bytes)
    }

    /// All words of a dispatch of so many workgroups.
    pub(crate) fn of(&mut self, counts: [u32; 3]) -> &[u64] {
        self.set_counts(counts);
        self.again()
    }

    /// Says how many workgroups the next dispatch has.
    #[inline(always)]
    pub(crate) fn set_counts(&mut self, counts: [u32; 3]) {
        self.values.set_counts(counts);
    }

    /// All words of a dispatch of as many as the last.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> &[u64] {
        for step in &self.steps {
            self.values.take(*step);
        }
        for Changing { pair, from, fixed } in &self.changing {
            let [low, high] = from.map(|place| self.values.get(place));
            if let Some(pair) = self.pairs.get_mut(usize::from(*pair)) {
                *pair = *fixed | u64::from(low) | u64::from(high) << 32;
            }
        }
        self.all_pairs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_program::FauOp;

    #[test]
    fn words_come_from_where_they_were_said_to() {
        let mut uniforms = Uniforms::new();
        let words = [
            Ok(7),
            Err(Source::Push(4)),
            Err(Source::Count(Axis::Z)),
            Ok(8),
            Err(Source::Push(0)),
            Err(Source::Push(8)),
            Ok(9),
        ];
        for (number, word) in words.into_iter().enumerate() {
            uniforms.add(number, word);
        }
        uniforms.added(None);
        let first = [1, 0, 0, 0, 2, 0, 0, 0, 3];
        assert_eq!(uniforms.push(0, &first), Some(true));
        let words = [2 << 32 | 7, 8 << 32 | 5, 3 << 32 | 1, 9];
        assert_eq!(uniforms.of([3, 4, 5]), words);
        assert_eq!(uniforms.push(4, &[9]), Some(true));
        let words = [9 << 32 | 7, 8 << 32 | 6, 3 << 32 | 1, 9];
        assert_eq!(uniforms.of([3, 4, 6]), words);
        assert_eq!(uniforms.again(), words);
    }

    #[test]
    fn steps_are_taken_once_or_at_each_dispatch() {
        let mut uniforms = Uniforms::new();
        let step = |op, operand| FauStep {
            word: 0,
            op,
            operand,
        };
        let [three, push] = [FauOperand::Constant(3), FauOperand::PushConstant(4)];
        assert_eq!(uniforms.take(Ok(2), step(FauOp::Max, three)), Ok(3));
        assert!(uniforms.steps.is_empty(), "it is known");
        let mut word = Err(Source::Push(0));
        for (op, operand) in [(FauOp::Multiply, push), (FauOp::Subtract, three)] {
            word = uniforms.take(word, step(op, operand));
        }
        uniforms.add(0, word);
        let other = uniforms.take(Ok(100), step(FauOp::Subtract, push));
        uniforms.add(1, other);
        uniforms.added(None);
        assert_eq!(uniforms.push(0, &[5, 0, 0, 0, 7]), Some(true));
        assert_eq!(uniforms.of([1; 3]), [93 << 32 | 32]);
        assert_eq!(uniforms.push(4, &[8]), Some(true));
        assert_eq!(uniforms.again(), [92 << 32 | 37]);
    }
}
