//! Planned uniforms: the words of a pipeline's draws as an image in memory, which a draw fills in without finding anything out.
//!
//! The image has the pairs as they stay, the values that steps begin with, and lists of what each draw does: steps, runs of push
//! constants that are copied, and pairs that are put together from two values. It stands in the pipeline's memory; all of it is
//! read at once where another pipeline is used.
//! Guarantees: [`UniformImage::fill`] gives what [`Uniforms::of`] gives for the same values.
//! Facts: hardware/compiler-abi.md section 4.

use super::saved::halves;
use super::values::{COUNTS, UniformStep, UniformValues};
use super::{Changing, Uniforms};
use eitri_program::FauOp;
use heapless::Vec;

/// Double words of an image at most, with those before it: a byte says the place of each, so that none is asked for in vain.
pub(crate) const MOST_WORDS: usize = 256;

/// Where the parts of an image stand, with the words before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanCounts {
    pairs: u8,
    /// Where steps begin, behind the values; and where runs begin, behind the steps, and end.
    steps: u8,
    runs: u8,
    runs_end: u8,
    /// Where the pairs that are put together begin and end, in units of [`MIX_WORDS`].
    mixes: u8,
    end: u8,
}

impl PlanCounts {
    /// Double words of the image, with those before it.
    pub(crate) const fn words(self) -> usize {
        (self.end as usize).wrapping_mul(MIX_WORDS)
    }
}

/// Double words of a pair that is put together: where its words come from, and what stays of it.
const MIX_WORDS: usize = 2;
/// Pairs of the shortest run: fewer are put together one by one.
const SHORTEST_RUN: u8 = 3;

/// Pairs in a row that are copies of values in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    pair: u8,
    from: u8,
    pairs: u8,
}

impl Run {
    /// The run of one pair, if both its words are values in a row.
    fn of(it: &Changing) -> Option<Run> {
        let [low, high] = it.from;
        let pushed = usize::from(high) < COUNTS;
        (pushed && low.checked_add(1) == Some(high)).then_some(Run {
            pair: it.pair,
            from: low,
            pairs: 1,
        })
    }

    /// Takes a pair that goes on; whether it does.
    fn take(&mut self, it: Run) -> bool {
        let goes_on = self.pair.checked_add(self.pairs) == Some(it.pair)
            && u16::from(self.from) + 2 * u16::from(self.pairs) == u16::from(it.from);
        if goes_on {
            self.pairs = self.pairs.saturating_add(it.pairs);
        }
        goes_on
    }

    /// Whether a pair is one of it.
    fn has(&self, pair: u8) -> bool {
        pair >= self.pair && pair.wrapping_sub(self.pair) < self.pairs
    }
}

impl Uniforms {
    /// The image of what was found, behind `ahead` words that its owner has before it: where its parts stand, and its words. `None` if
    /// there are too many.
    pub(crate) fn planned(&self, ahead: usize) -> Option<(PlanCounts, Vec<u64, MOST_WORDS>)> {
        let mut runs = Vec::<Run, { super::PAIRS }>::new();
        for run in self.changing.iter().filter_map(Run::of) {
            if !runs.last_mut().is_some_and(|last| last.take(run)) {
                runs.push(run).ok()?;
            }
        }
        runs.retain(|run| run.pairs >= SHORTEST_RUN);
        let place = |count: usize| u8::try_from(ahead.saturating_add(count)).ok();
        let place_of_pair = |pair: u8| place(pair.into());
        let mut words = Vec::<u64, MOST_WORDS>::new();
        words.extend_from_slice(self.all_pairs()).ok()?;
        let worked = self.values.worked().iter().copied();
        for word in halves(worked.take(self.worked.into())) {
            words.push(word).ok()?;
        }
        let steps = place(words.len())?;
        for UniformStep { op, from, with, to } in self.steps.iter().copied() {
            words.push(packed([op as u8, from, with, to])).ok()?;
        }
        let first_run = place(words.len())?;
        for Run { pair, from, pairs } in &runs {
            let pair = place_of_pair(*pair)?;
            words.push(packed([pair, *from, *pairs, 0])).ok()?;
        }
        let runs_end = place(words.len())?;
        while !words.len().saturating_add(ahead).is_multiple_of(MIX_WORDS) {
            words.push(0).ok()?;
        }
        let mixes = words.len().saturating_add(ahead) / MIX_WORDS;
        for it in &self.changing {
            if runs.iter().any(|run| run.has(it.pair)) {
                continue;
            }
            let ([low, high], pair) = (it.from, place_of_pair(it.pair)?);
            words.push(packed([pair, low, high, 0])).ok()?;
            words.push(it.fixed).ok()?;
        }
        let end = words.len().saturating_add(ahead) / MIX_WORDS;
        let counts = PlanCounts {
            pairs: self.count,
            steps,
            runs: first_run,
            runs_end,
            mixes: mixes as u8,
            end: end as u8,
        };
        // As many as there are twos.
        (end <= TWOS).then_some((counts, words))
    }
}

fn packed(bytes: [u8; 4]) -> u64 {
    u32::from_le_bytes(bytes).into()
}

/// Double words of an image by twos.
const TWOS: usize = MOST_WORDS / MIX_WORDS;

/// An image that draws fill in. The first `AHEAD` of its double words are what its owner has before it.
#[derive(Debug)]
pub(crate) struct UniformImage<const AHEAD: usize> {
    twos: [[u64; MIX_WORDS]; TWOS],
    counts: PlanCounts,
}

impl<const AHEAD: usize> UniformImage<AHEAD> {
    /// That of no pipeline.
    pub(crate) const NOTHING: Self = UniformImage {
        twos: [[0; MIX_WORDS]; TWOS],
        counts: PlanCounts {
            pairs: 0,
            steps: 0,
            runs: 0,
            runs_end: 0,
            mixes: 0,
            end: 0,
        },
    };

    /// Takes an image, which `read` gives with the words before it.
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        counts: PlanCounts,
        values: &mut UniformValues,
        read: impl FnOnce(&mut [u64]),
    ) {
        self.counts = counts;
        let words = self.words_mut();
        read(words.get_mut(..counts.words()).unwrap_or_default());
        let first = AHEAD.wrapping_add(counts.pairs.into());
        let first = self.words().get(first..counts.steps.into());
        let (places, _) = values.worked_mut().as_chunks_mut();
        for (two, word) in places.iter_mut().zip(first.unwrap_or_default()) {
            *two = [*word as u32, (*word >> u32::BITS) as u32];
        }
    }

    #[inline(always)]
    const fn words(&self) -> &[u64] {
        self.twos.as_flattened()
    }

    #[inline(always)]
    const fn words_mut(&mut self) -> &mut [u64] {
        self.twos.as_flattened_mut()
    }

    /// The words before it.
    #[inline(always)]
    pub(crate) fn ahead(&self) -> &[u64; AHEAD] {
        self.words().first_chunk().unwrap_or(&[0; AHEAD])
    }

    /// Changes a word before it.
    pub(crate) fn set_ahead(&mut self, number: usize, value: u64) {
        let ahead = self.words_mut().get_mut(..AHEAD).unwrap_or_default();
        if let Some(word) = ahead.get_mut(number) {
            *word = value;
        }
    }

    /// Says half of a pair, low or high, of which no word changes.
    #[inline]
    pub(crate) fn set_half(&mut self, pair: u8, high: bool, value: u32) {
        let place = AHEAD.wrapping_add(pair.into());
        if let Some(pair) = self.words_mut().get_mut(place) {
            let shift = if high { u32::BITS } else { 0 };
            let kept = *pair & !(u64::from(u32::MAX) << shift);
            *pair = kept | u64::from(value) << shift;
        }
    }

    /// The words before it, the pairs, and the values that steps begin with, as they are now: what is to be kept of it.
    pub(crate) fn kept(&mut self, values: &UniformValues) -> &[u64] {
        let first = AHEAD.wrapping_add(self.counts.pairs.into());
        let end = usize::from(self.counts.steps);
        let words = self.words_mut().get_mut(first..end).unwrap_or_default();
        for (word, value) in words
            .iter_mut()
            .zip(halves(values.worked().iter().copied()))
        {
            *word = value;
        }
        self.words().get(..end).unwrap_or_default()
    }

    /// The word at a place.
    #[inline(always)]
    fn word(&self, place: u8) -> u64 {
        let word = self.words().get(usize::from(place));
        word.copied().unwrap_or(0)
    }

    /// All pairs of a draw.
    #[inline(always)]
    pub(crate) fn fill(&mut self, values: &mut UniformValues) -> &[u64] {
        let counts = self.counts;
        for place in counts.steps..counts.runs {
            let [op, from, with, to, ..] = self.word(place).to_le_bytes();
            if let Some(op) = FauOp::of_number(op) {
                values.take(UniformStep { op, from, with, to });
            }
        }
        for place in counts.runs..counts.runs_end {
            let [pair, from, count, ..] = self.word(place).to_le_bytes();
            let to = self.words_mut().get_mut(usize::from(pair)..);
            let (from, _) = values.behind(from).as_chunks::<2>();
            let to = to.unwrap_or_default().iter_mut();
            for (to, [low, high]) in to.zip(from).take(count.into()) {
                *to = u64::from(*low) | u64::from(*high) << u32::BITS;
            }
        }
        for place in counts.mixes..counts.end {
            let two = self.twos.get(usize::from(place) % TWOS);
            let [word, fixed] = *two.unwrap_or(&[0; MIX_WORDS]);
            let [pair, low, high, ..] = word.to_le_bytes();
            let [low, high] = [low, high].map(|place| u64::from(values.get(place)));
            if let Some(pair) = self.words_mut().get_mut(usize::from(pair)) {
                *pair = fixed | low | high << u32::BITS;
            }
        }
        let pairs = self.words().get(AHEAD..).unwrap_or_default();
        pairs.get(..counts.pairs.into()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;
    use eitri_program::{Axis, FauOperand, FauStep};

    type Image = UniformImage<1>;

    fn image_of(uniforms: &Uniforms, values: &mut UniformValues) -> Image {
        let (counts, words) = uniforms.planned(1).expect("few");
        let mut image = Image::NOTHING;
        assert_eq!(counts.words(), 1 + words.len());
        image.take(counts, values, |to| {
            let (ahead, own) = to.split_first_mut().expect("one is before it");
            *ahead = 7;
            own.copy_from_slice(&words);
        });
        assert_eq!(image.ahead(), &[7]);
        image
    }

    /// Words of a kind each, and of all kinds in several orders.
    fn word_of(kind: u32, number: u32, uniforms: &mut Uniforms) -> Result<u32, Source> {
        let step = |op, operand| FauStep {
            word: 0,
            op,
            operand,
        };
        match kind % 6 {
            0 => Ok(100 + number),
            1 | 2 => Err(Source::Push(4 * number)),
            3 => Err(Source::Count(Axis::Y)),
            4 => {
                let operand = FauOperand::PushConstant(4 * number);
                let word = uniforms.take(Ok(900), step(FauOp::Subtract, operand));
                uniforms.take(word, step(FauOp::Max, FauOperand::Constant(3)))
            }
            _ => Err(Source::Push(252 - 4 * number)),
        }
    }

    #[test]
    fn an_image_fills_in_what_a_dispatch_works_out() {
        for seed in 0..200_u32 {
            let mut uniforms = Uniforms::new();
            let count = 1 + seed % 16;
            for number in 0..count {
                // Long rows of push constants are frequent.
                let kind = match seed % 3 {
                    0 => 1,
                    1 => seed.wrapping_mul(2_654_435_761).rotate_left(3 * number) >> 7,
                    _ => number / 4 + seed,
                };
                let word = word_of(kind, number, &mut uniforms);
                uniforms.add(number as usize, word);
            }
            uniforms.added(None);
            let mut values = UniformValues::NOTHING;
            let mut image = image_of(&uniforms, &mut values);
            for round in 1..4_u8 {
                let pushed: [u8; 256] = core::array::from_fn(|at| (at as u8).wrapping_mul(round));
                let counts = [1, u32::from(round) << 20, 3];
                assert_eq!(uniforms.push(0, &pushed), Some(true));
                assert_eq!(values.push(0, &pushed), Some(true));
                values.set_counts(counts);
                assert_eq!(image.fill(&mut values), uniforms.of(counts), "{seed}");
            }
        }
    }

    #[test]
    fn push_constants_in_a_row_are_one_run() {
        let mut uniforms = Uniforms::new();
        for number in 0..12_usize {
            // A hole behind the third pair, and a pair that begins with an odd word.
            let offset = match number {
                0..6 => number,
                6..10 => number + 2,
                _ => number + 3,
            };
            uniforms.add(number, Err(Source::Push(4 * offset as u32)));
        }
        uniforms.added(None);
        let (counts, words) = uniforms.planned(1).expect("few");
        assert_eq!((counts.steps, counts.runs, counts.runs_end), (7, 7, 8));
        assert_eq!((counts.mixes, counts.end), (4, 7));
        assert_eq!(words[6], packed([1, 0, 3, 0]));
        let words_of = |[pair, from]: [u8; 2]| [packed([pair, from, from + 1, 0]), 0];
        let mixes = [[4, 8], [5, 10], [6, 13]].map(words_of);
        assert_eq!(words[7..], *mixes.as_flattened());
        assert_eq!(uniforms.planned(MOST_WORDS - 12), None, "too many");
    }

    #[test]
    fn what_is_kept_begins_as_it_is() {
        let mut uniforms = Uniforms::new();
        let given = uniforms.given();
        uniforms.add(0, Ok(1));
        uniforms.add(1, Ok(2));
        uniforms.add(2, Err(given));
        uniforms.add(3, Err(Source::Push(0)));
        uniforms.added(None);
        let mut values = UniformValues::NOTHING;
        let mut image = image_of(&uniforms, &mut values);
        image.set_half(0, true, 5);
        image.set_ahead(0, 8);
        let Source::Given(place) = given else {
            panic!("it is given")
        };
        values.set(place, 6);
        assert_eq!(image.fill(&mut values), [5 << 32 | 1, 6]);
        let kept = image.kept(&values);
        assert_eq!((kept.len(), kept[0]), (4, 8));
        assert_eq!((kept[1], kept[3]), (5 << 32 | 1, 6));
    }
}
