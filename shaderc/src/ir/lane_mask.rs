//! Masks of lanes: a bit for each lane of a subgroup, in as many words as that takes.
//!
//! Needs: a builder.  Guarantees: what is built of a mask of one word is what one would write for that word.
use super::{Alu, Builder, Op, SysVal, Type, Value, Values};

/// Lanes whose bits are in one word.
const WORD_LANES: u32 = 32;

/// The words of a mask, lane 0 in the lowest bit of the first.
#[derive(Clone, Debug)]
pub(crate) struct LaneMask {
    words: Values,
}

impl LaneMask {
    /// The lanes that are here with a true condition.
    pub(crate) fn ballot(b: &mut Builder<'_>, condition: Value) -> LaneMask {
        let words = b.inst(Op::Ballot(b.function.lanes.mask_words()), &[condition]);
        LaneMask { words }
    }

    /// The lanes that are here.
    pub(crate) fn active(b: &mut Builder<'_>) -> LaneMask {
        let here = b.function.bool(true);
        LaneMask::ballot(b, here)
    }

    /// The lanes below this one, perhaps with it.
    pub(crate) fn below(b: &mut Builder<'_>, with_own: bool) -> LaneMask {
        let own = b.sys_val(SysVal::LaneId);
        let one = b.word(if with_own { 2 } else { 1 });
        let bit = b.alu(Alu::IShl, &[one, own]);
        let bits = b.alu_word(Alu::IAdd, bit, u32::MAX);
        LaneMask::around(b, own, u32::MAX, bits)
    }

    /// The bit of this lane.
    pub(crate) fn own(b: &mut Builder<'_>) -> LaneMask {
        let (one, own) = (b.word(1), b.sys_val(SysVal::LaneId));
        let bit = b.alu(Alu::IShl, &[one, own]);
        LaneMask::around(b, own, 0, bit)
    }

    /// The lanes of the run of so many, fewer than all, in which this one is.
    pub(crate) fn cluster(b: &mut Builder<'_>, size: u32) -> LaneMask {
        let own = b.sys_val(SysVal::LaneId);
        if size >= WORD_LANES {
            let all = b.word(u32::MAX);
            return LaneMask::around(b, own, 0, all);
        }
        let start = b.alu_word(Alu::IAnd, own, !(size - 1));
        let lanes = b.word((1 << size) - 1);
        let lanes = b.alu(Alu::IShl, &[lanes, start]);
        LaneMask::around(b, own, 0, lanes)
    }

    /// The lowest words of a vector; none if it has fewer, or other scalars than words.
    pub(crate) fn of_vector(b: &mut Builder<'_>, scalars: &[Value]) -> Option<LaneMask> {
        let count = usize::from(b.function.lanes.mask_words());
        let words = scalars.get(..count)?;
        if words.iter().any(|word| b.function.ty(*word) != Type::W32) {
            return None;
        }
        let all = b.function.lanes.mask();
        let words = words.iter().map(|word| match all {
            u32::MAX => *word,
            _ => b.alu_word(Alu::IAnd, *word, all),
        });
        let words = words.collect();
        Some(LaneMask { words })
    }

    /// The word in which a lane has its bit, with what the words below it are; those above it are zero.
    fn around(b: &mut Builder<'_>, lane: Value, below: u32, its: Value) -> LaneMask {
        let words = match b.function.lanes.mask_words() {
            1 => Values::from_slice(&[its]),
            _ => {
                let (below, above) = (b.word(below), b.word(0));
                let upper = b.alu_word(Alu::UGe, lane, WORD_LANES);
                let low = b.select(upper, below, its);
                let high = b.select(upper, its, above);
                Values::from_slice(&[low, high])
            }
        };
        LaneMask { words }
    }

    /// Its words.
    pub(crate) fn words(&self) -> &[Value] {
        &self.words
    }

    /// The lanes that are in both.
    pub(crate) fn and(&self, b: &mut Builder<'_>, other: &LaneMask) -> LaneMask {
        let pairs = self.words.iter().zip(&other.words);
        let words = pairs.map(|(one, other)| b.alu(Alu::IAnd, &[*one, *other]));
        LaneMask {
            words: words.collect(),
        }
    }

    /// The lanes that are not in it.
    pub(crate) fn not(&self, b: &mut Builder<'_>) -> LaneMask {
        let all = b.function.lanes.mask();
        let words = self.words.iter();
        let words = words.map(|word| b.alu_word(Alu::IXor, *word, all));
        LaneMask {
            words: words.collect(),
        }
    }

    /// Whether any lane is in it.
    pub(crate) fn any(&self, b: &mut Builder<'_>) -> Value {
        let all = self.joined(b);
        b.alu_word(Alu::INe, all, 0)
    }

    /// Whether no lane is in it.
    pub(crate) fn none(&self, b: &mut Builder<'_>) -> Value {
        let all = self.joined(b);
        b.alu_word(Alu::IEq, all, 0)
    }

    fn joined(&self, b: &mut Builder<'_>) -> Value {
        match self.words.as_slice() {
            &[low, high] => b.alu(Alu::IOr, &[low, high]),
            words => words[0],
        }
    }

    /// The word in which a lane has its bit: at the lane's number modulo 32.
    pub(crate) fn word_of(&self, b: &mut Builder<'_>, lane: Value) -> Value {
        match self.words.as_slice() {
            &[low, high] => {
                let upper = b.alu_word(Alu::IAnd, lane, WORD_LANES);
                let upper = b.alu_word(Alu::INe, upper, 0);
                b.select(upper, high, low)
            }
            words => words[0],
        }
    }

    /// Whether a lane is in it; of a number that no lane has, anything.
    pub(crate) fn has(&self, b: &mut Builder<'_>, lane: Value) -> Value {
        let word = self.word_of(b, lane);
        let shifted = b.alu(Alu::UShr, &[word, lane]);
        let bit = b.alu_word(Alu::IAnd, shifted, 1);
        b.alu_word(Alu::INe, bit, 0)
    }

    /// The number of its lanes.
    pub(crate) fn count(&self, b: &mut Builder<'_>) -> Value {
        let counts = self.words.iter();
        let counts: Vec<Value> = counts.map(|word| b.alu(Alu::BitCount, &[*word])).collect();
        let (first, rest) = (counts[0], &counts[1..]);
        rest.iter()
            .fold(first, |sum, count| b.alu(Alu::IAdd, &[sum, *count]))
    }

    /// Its lowest lane; if there is none, a number that need not be a lane's.
    pub(crate) fn lowest(&self, b: &mut Builder<'_>) -> Value {
        self.outermost(b, Alu::FindLsb, 0)
    }

    /// Its highest lane; if there is none, a number that need not be a lane's.
    pub(crate) fn highest(&self, b: &mut Builder<'_>) -> Value {
        self.outermost(b, Alu::UFindMsb, 1)
    }

    /// What `find` finds in the word of that number, or in the other if it is empty.
    fn outermost(&self, b: &mut Builder<'_>, find: Alu, first: usize) -> Value {
        let found: Vec<Value> = self
            .words
            .iter()
            .enumerate()
            .map(|(number, word)| {
                let bit = b.alu(find, &[*word]);
                match number {
                    0 => bit,
                    _ => b.alu_word(Alu::IAdd, bit, WORD_LANES),
                }
            })
            .collect();
        match found.as_slice() {
            &[_, _] => {
                let has = b.alu_word(Alu::INe, self.words[first], 0);
                b.select(has, found[first], found[1 - first])
            }
            found => found[0],
        }
    }
}
