//! Uniforms of a dispatch or a draw: the words that stay the same until something else is bound, and where the others come from.
//!
//! Guarantees: a word that stays the same is found out once; a dispatch changes the others and writes all in one go.
//! Facts: hardware/compiler-abi.md section 4.

mod saved;

use crate::slab::Key;
use eitri_program::{
    Axis, FauOp, FauOperand, FauStep, MAX_FAU_STEPS, MAX_FAU_WORDS, MAX_PUSH_CONSTANT_BYTES,
};
use heapless::Vec;

const _: () = assert!(PUSHED <= u8::MAX as usize);
/// Pairs of words at most.
const PAIRS: usize = MAX_FAU_WORDS.div_ceil(2);
/// EncodedInstructions of push constants.
const PUSHED: usize = MAX_PUSH_CONSTANT_BYTES as usize / 4;
/// Behind them stand the workgroups along each axis, and a zero for whatever stays the same.
const COUNTS: usize = PUSHED;
const ZERO: usize = COUNTS + 3;
/// Behind that what steps read and make: each may read a constant and make a word, and begin with another constant.
const WORKED: usize = ZERO + 1;
const VALUES: usize = 256;
const _: () = assert!(WORKED + 3 * MAX_FAU_STEPS <= VALUES);

/// Where a word comes from that changes from dispatch to dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The workgroups along an axis; of draws the first vertex, the first instance and the view.
    Count(Axis),
    /// The push constants, from this byte on: a multiple of 4.
    Push(u32),
    /// What steps have made, at this place among the values.
    Worked(u8),
    /// A value that [`Uniforms::set_value`] puts at this place.
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

/// A step that is taken at each dispatch, between places of the values.
#[derive(Clone, Copy, Debug)]
struct UniformStep {
    op: FauOp,
    from: u8,
    with: u8,
    to: u8,
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
    /// Push constants, counts, the zero, and what steps read and make. Every place is there, so none is asked for in vain.
    values: [u32; VALUES],
    /// How many of the last there are.
    worked: u8,
    /// Words of push constants from the first on that are not known to be 0.
    pushed: u8,
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
            values: [0; VALUES],
            worked: 0,
            pushed: 0,
            plan: None,
            fits: true,
            found: false,
        }
    }

    /// Begins with the push constants of commands that have none: zeros.
    pub(crate) fn begin(&mut self) {
        // What steps read and make is put there when it is found out.
        self.set_counts([0; 3]);
        if self.pushed != 0 {
            let values = self.values.get_mut(..usize::from(self.pushed));
            values.unwrap_or_default().fill(0);
            self.pushed = 0;
        }
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

    /// Says a value: that of a word which was [`Self::given`].
    #[inline]
    pub(crate) fn set_value(&mut self, place: u8, value: u32) {
        if let Some(it) = self.values.get_mut(usize::from(place)) {
            *it = value;
        }
    }

    /// Says half of a pair, low or high, of which no word changes.
    #[inline]
    pub(crate) fn set_half(&mut self, pair: u8, high: bool, value: u32) {
        if let Some(pair) = self.pairs.get_mut(usize::from(pair)) {
            let shift = if high { u32::BITS } else { 0 };
            let kept = *pair & !(u64::from(u32::MAX) << shift);
            *pair = kept | u64::from(value) << shift;
        }
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

    /// A word of the push constants.
    pub(crate) fn pushed(&self, offset: u32) -> u32 {
        let word = self.values.get(offset as usize / 4);
        word.copied().unwrap_or(0)
    }

    /// A place of its own for a value.
    fn place_of(&mut self, value: u32) -> u8 {
        let place = (WORKED as u8).saturating_add(self.worked);
        self.worked = self.worked.saturating_add(1);
        match self.values.get_mut(usize::from(place)) {
            Some(it) => *it = value,
            None => self.fits = false,
        }
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

    /// Changes push constants from byte `offset` on; whether they are others now. `None` if there are not so many.
    #[inline(always)]
    pub(crate) fn push(&mut self, offset: usize, bytes: &[u8]) -> Option<bool> {
        let end = offset.checked_add(bytes.len())?;
        if end > PUSHED * 4 {
            return None;
        }
        // At most 64.
        self.pushed = self.pushed.max(end.div_ceil(4) as u8);
        let (whole, rest) = if offset.is_multiple_of(4) {
            bytes.as_chunks::<4>()
        } else {
            (&[][..], bytes)
        };
        let mut different = 0;
        for (value, bytes) in self.values.get_mut(offset / 4..)?.iter_mut().zip(whole) {
            let new = u32::from_le_bytes(*bytes);
            different |= *value ^ new;
            *value = new;
        }
        if !rest.is_empty() {
            different |= self.push_bytes(end.wrapping_sub(rest.len()), rest);
        }
        Some(different != 0)
    }

    /// Changes bytes of push constants, which there are; not 0 if they are others now.
    #[inline(never)]
    fn push_bytes(&mut self, offset: usize, bytes: &[u8]) -> u32 {
        let mut different = 0;
        for (at, byte) in (offset..).zip(bytes) {
            let Some(value) = self.values.get_mut(at / 4) else {
                break;
            };
            let mut bytes = value.to_le_bytes();
            if let Some(place) = bytes.get_mut(at % 4) {
                *place = *byte;
            }
            let new = u32::from_le_bytes(bytes);
            different |= *value ^ new;
            *value = new;
        }
        different
    }

    /// All words of a dispatch of so many workgroups.
    pub(crate) fn of(&mut self, counts: [u32; 3]) -> &[u64] {
        self.set_counts(counts);
        self.again()
    }

    /// Says how many workgroups the next dispatch has.
    #[inline(always)]
    pub(crate) fn set_counts(&mut self, counts: [u32; 3]) {
        let values = self.values.get_mut(COUNTS..).unwrap_or_default();
        if let Some(values) = values.first_chunk_mut() {
            *values = counts;
        }
    }

    /// All words of a dispatch of as many as the last.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> &[u64] {
        for UniformStep { op, from, with, to } in &self.steps {
            let [from, with] = [from, with].map(|place| self.values.get(usize::from(*place)));
            if let (Some(from), Some(with)) = (from, with) {
                let made = op.apply(*from, *with);
                if let Some(to) = self.values.get_mut(usize::from(*to)) {
                    *to = made;
                }
            }
        }
        for Changing { pair, from, fixed } in &self.changing {
            let [low, high] = from.map(|place| self.values.get(usize::from(place)));
            if let (Some(pair), Some(low), Some(high)) =
                (self.pairs.get_mut(usize::from(*pair)), low, high)
            {
                *pair = *fixed | u64::from(*low) | u64::from(*high) << 32;
            }
        }
        self.all_pairs()
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

    #[test]
    fn push_constants_say_whether_they_have_changed() {
        let mut uniforms = Uniforms::new();
        assert_eq!(uniforms.push(3, &[0, 0, 0, 0, 0]), Some(false));
        assert_eq!(uniforms.push(3, &[0, 0, 0, 0, 1]), Some(true));
        assert_eq!(uniforms.push(3, &[0, 0, 0, 0, 1]), Some(false));
        assert_eq!(uniforms.values.get(1), Some(&(1 << 24)));
        assert_eq!(uniforms.push(252, &[1; 4]), Some(true));
        assert_eq!(uniforms.push(253, &[1; 4]), None, "one too many");
        assert_eq!(uniforms.push(usize::MAX, &[1]), None);
    }
}
