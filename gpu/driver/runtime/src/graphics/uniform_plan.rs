//! Plans of uniforms: where the words of a pipeline's programs come from, found out once when the pipeline is made.
//!
//! A plan stands as words in the pipeline's own memory. Constants are in it; words of push constants, and of where a draw begins,
//! change from draw to draw; those of viewport, blend constants and buffers are said when something else is set or bound.
//! Never: plans programs that read words of buffers, which the stream copies ([`super::buffer_words`]).
//! Facts: hardware/compiler-abi.md 4, graphics-draw.md 3.5 and 3.8.

use super::draw_uniforms::AHEAD;
use super::uniforms::{COUNT_SHIFT, Values};
use crate::command::{MOST_WORDS as MOST_IMAGE_WORDS, PlanCounts, Source, Uniforms};
use crate::platform::PhysicalAddress;
use eitri_program::{
    AddressHalf, Axis, DescriptorSlot, DrawWord, EntryPoint, FauWord, MAX_FAU_WORDS,
};
use heapless::Vec;

/// Words of a plan in memory at most, and of these those of what is bound.
pub(super) const MOST_WORDS: usize = MOST_IMAGE_WORDS - AHEAD;
pub(super) const MOST_BOUND: usize = 32;
/// Words before them: the version of the words that are said, and what the register of each program holds besides an address.
pub(super) const FIRST_WORDS: usize = 4;
/// Pairs of a line: uniforms of a program begin at one.
const LINE_PAIRS: usize = 8;

/// Plan of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UniformPlan {
    /// How much of each the image has that draws fill in.
    pub(super) counts: PlanCounts,
    /// Words in memory: those of the image, and behind them those of what is bound.
    pub(super) words: u8,
    pub(super) bound: u8,
    /// Of these so many, the first ones, are those of viewport and blend constants; the others are those of sets.
    pub(super) of_state: u8,
    /// Bytes of a block that holds the uniforms of all programs.
    pub(super) bytes: u16,
}

/// Where a word of a plan at `at` stands: behind the first ones.
pub(super) const fn word_of_plan(at: PhysicalAddress, number: usize) -> PhysicalAddress {
    at.offset(
        (number as u64)
            .wrapping_add(FIRST_WORDS as u64)
            .wrapping_mul(8),
    )
}

/// Where the uniforms of the programs stand in the block that holds all of them.
#[derive(Clone, Copy, Debug)]
struct UniformPlaces {
    /// What each program's register holds beyond the address of the block; 0 of a program without uniforms.
    tags: [u64; 3],
    /// Bytes of the block, whole lines.
    bytes: u32,
}

impl UniformPlaces {
    /// Those of programs with so many pairs each: every program begins with a line.
    fn of(pairs: [u8; 3]) -> UniformPlaces {
        let mut first = 0_u64;
        let tags = pairs.map(|pairs| {
            let offset = first.wrapping_mul(8);
            first = first.wrapping_add(lines(pairs.into()) as u64);
            if pairs == 0 {
                0
            } else {
                offset | u64::from(pairs) << COUNT_SHIFT
            }
        });
        let bytes = (first as u32).wrapping_mul(8);
        UniformPlaces { tags, bytes }
    }
}

/// Pairs of whole lines.
const fn lines(pairs: usize) -> usize {
    pairs.next_multiple_of(LINE_PAIRS)
}

/// What a word is that is said when something is set or bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Draw(DrawWord),
    Address(AddressHalf),
    Bytes,
    TexelCount,
    TexelFormat,
}

/// Words of viewport and blend constants: the first of [`KNOWN`].
pub(super) const STATE_WORDS: usize = 10;

/// All of them, by their numbers in memory.
const KNOWN: [Known; 15] = [
    Known::Draw(DrawWord::ViewportScale(Axis::X)),
    Known::Draw(DrawWord::ViewportScale(Axis::Y)),
    Known::Draw(DrawWord::ViewportScale(Axis::Z)),
    Known::Draw(DrawWord::ViewportOffset(Axis::X)),
    Known::Draw(DrawWord::ViewportOffset(Axis::Y)),
    Known::Draw(DrawWord::ViewportOffset(Axis::Z)),
    Known::Draw(DrawWord::BlendConstant(0)),
    Known::Draw(DrawWord::BlendConstant(1)),
    Known::Draw(DrawWord::BlendConstant(2)),
    Known::Draw(DrawWord::BlendConstant(3)),
    Known::Address(AddressHalf::Low),
    Known::Address(AddressHalf::High),
    Known::Bytes,
    Known::TexelCount,
    Known::TexelFormat,
];

/// Where the value of a word goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Half of a pair.
    Half(u8, bool),
    /// A value from which other words are made.
    Value(u8),
}

impl Target {
    /// As the kind of a word in memory, and the byte behind it, say.
    #[inline(always)]
    const fn decode(kind: u8, place: u8) -> Target {
        match kind >> 5 {
            2 => Target::Value(place),
            high => Target::Half(place, high == 1),
        }
    }
}

/// A word that is said when something is set or bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BoundWord {
    pub(super) known: Known,
    /// The stage whose sets count.
    pub(super) stage: usize,
    pub(super) slot: DescriptorSlot,
    pub(super) target: Target,
}

impl BoundWord {
    /// As it stands in memory: the kind, the stage, the target, the table, and the descriptor's number in the high half.
    fn encode(&self) -> u64 {
        let kind = KNOWN.iter().position(|known| *known == self.known);
        let (place, how) = match self.target {
            Target::Half(pair, high) => (pair, u8::from(high)),
            Target::Value(place) => (place, 2),
        };
        let bytes = [
            kind.unwrap_or(0) as u8 | (self.stage as u8) << 4 | how << 5,
            place,
            self.slot.table,
            0,
        ];
        u64::from(u32::from_le_bytes(bytes)) | u64::from(self.slot.index) << 32
    }

    /// The word that stands so in memory.
    #[inline]
    pub(super) fn decode(word: u64) -> BoundWord {
        let [kind, place, table, ..] = word.to_le_bytes();
        let known = KNOWN.get(usize::from(kind & 15)).copied();
        BoundWord {
            known: known.unwrap_or(Known::Bytes),
            stage: usize::from(kind >> 4 & 1),
            slot: DescriptorSlot {
                table,
                index: (word >> 32) as u32,
            },
            target: Target::decode(kind, place),
        }
    }
}

/// A word of viewport and blend constants, as a plan has it: which of [`KNOWN`] it is, and where its value goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateWord {
    pub(super) known: usize,
    pub(super) target: Target,
}

impl StateWord {
    /// The word that stands so in memory.
    #[inline(always)]
    pub(super) fn decode(word: u64) -> StateWord {
        let [kind, place, ..] = word.to_le_bytes();
        StateWord {
            known: usize::from(kind & 15),
            target: Target::decode(kind, place),
        }
    }
}

impl Values {
    /// The words of viewport and blend constants, by their numbers in [`KNOWN`].
    pub(super) fn known(&self) -> [u32; STATE_WORDS] {
        let mut words = [0; STATE_WORDS];
        for (word, known) in words.iter_mut().zip(&KNOWN) {
            if let Known::Draw(draw) = known {
                *word = self.draw(*draw);
            }
        }
        words
    }
}

/// A program whose uniforms are planned: its entry point, its stage, and the address of the stage's data.
pub(super) type Planned<'a> = (EntryPoint<'a>, usize, u64);

/// The plan of the programs of a pipeline, with the words that stand in memory: the first ones, and the others. `None` where a draw
/// finds them out each time: there are too many words, or some of them are words of buffers.
pub(super) fn plan(
    programs: [Option<Planned<'_>>; 3],
) -> Option<(UniformPlan, [u64; FIRST_WORDS], Vec<u64, MOST_IMAGE_WORDS>)> {
    let mut uniforms = Uniforms::new();
    let mut bound = Vec::<BoundWord, MOST_BOUND>::new();
    let mut pairs = [0; 3];
    for (count, program) in pairs.iter_mut().zip(programs) {
        // Each begins with a line: what is between them is written, too.
        let before = lines(uniforms.pair_count());
        if let Some(program) = program {
            uniforms.pad(before);
            add(&mut uniforms, &mut bound, program)?;
        }
        *count = u8::try_from(uniforms.pair_count().saturating_sub(before)).ok()?;
    }
    uniforms.added(None);
    if !uniforms.fits() {
        return None;
    }
    let (counts, mut words) = uniforms.planned(AHEAD)?;
    bound.sort_unstable_by_key(|word| !matches!(word.known, Known::Draw(_)));
    let of_state = bound
        .iter()
        .take_while(|word| matches!(word.known, Known::Draw(_)));
    let of_state = of_state.count() as u8;
    for word in &bound {
        words.push(word.encode()).ok()?;
    }
    if words.len() > MOST_WORDS {
        return None;
    }
    let places = UniformPlaces::of(pairs);
    let plan = UniformPlan {
        counts,
        words: words.len() as u8,
        bound: bound.len() as u8,
        of_state,
        // There are no more pairs than uniforms of all programs together may have, and a line of each.
        bytes: places.bytes as u16,
    };
    let [vertices, varyings, fragments] = places.tags;
    // No version of words is said yet.
    Some((plan, [0, vertices, varyings, fragments], words))
}

/// Adds the words of a program.
fn add(
    uniforms: &mut Uniforms,
    bound: &mut Vec<BoundWord, MOST_BOUND>,
    (entry, stage, data): Planned<'_>,
) -> Option<()> {
    let words: Vec<FauWord, MAX_FAU_WORDS> = entry.fau().collect();
    let stepped = |number: usize| {
        let mut steps = entry.fau_steps();
        steps.any(|step| usize::from(step.word) == number)
    };
    // Numbers of words go on from program to program, each of which begins with a pair.
    let start = uniforms.pair_count().wrapping_mul(2);
    let mut steps = entry.fau_steps().peekable();
    for (number, word) in words.iter().enumerate() {
        let other = number ^ 1;
        let partner = words.get(other);
        let alone =
            !stepped(number) && !partner.is_some_and(|word| changes(*word)) && !stepped(other);
        let mut said = |uniforms: &mut Uniforms, known, slot| {
            let place = start.wrapping_add(number);
            let (target, source) = if alone {
                let pair = u8::try_from(place / 2).ok()?;
                (Target::Half(pair, !place.is_multiple_of(2)), Ok(0))
            } else {
                let source = uniforms.given();
                let Source::Given(place) = source else {
                    return None;
                };
                (Target::Value(place), Err(source))
            };
            let word = BoundWord {
                known,
                stage,
                slot,
                target,
            };
            bound.push(word).ok()?;
            Some(source)
        };
        let none = DescriptorSlot { table: 0, index: 0 };
        let mut source = match *word {
            FauWord::Constant(value) => Ok(value),
            FauWord::PushConstant { offset } => Err(Source::Push(offset)),
            FauWord::Draw(DrawWord::FirstVertex) => Err(Source::Count(Axis::X)),
            FauWord::Draw(DrawWord::BaseInstance) => Err(Source::Count(Axis::Y)),
            FauWord::Draw(DrawWord::ViewIndex) => Err(Source::Count(Axis::Z)),
            FauWord::Draw(word) => said(uniforms, Known::Draw(word), none)?,
            FauWord::DataAddress(half) => Ok(half.of(data)),
            FauWord::BufferAddress { slot, half } => said(uniforms, Known::Address(half), slot)?,
            FauWord::BufferBytes { slot } => said(uniforms, Known::Bytes, slot)?,
            FauWord::TexelCount { slot } => said(uniforms, Known::TexelCount, slot)?,
            FauWord::TexelFormat { slot } => said(uniforms, Known::TexelFormat, slot)?,
            FauWord::BufferWord { .. } => return None,
            // No stage of graphics has it.
            FauWord::NumWorkgroups(_) => Ok(0),
        };
        while let Some(step) = steps.next_if(|step| usize::from(step.word) == number) {
            source = uniforms.take(source, step);
        }
        uniforms.add(start.wrapping_add(number), source);
    }
    Some(())
}

/// Whether a word changes from draw to draw.
const fn changes(word: FauWord) -> bool {
    matches!(
        word,
        FauWord::PushConstant { .. }
            | FauWord::Draw(DrawWord::FirstVertex | DrawWord::BaseInstance | DrawWord::ViewIndex)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_what_is_bound_are_read_as_they_were_written() {
        for known in KNOWN {
            for (stage, target) in [
                (0, Target::Half(63, false)),
                (1, Target::Half(0, true)),
                (1, Target::Value(163)),
            ] {
                let word = BoundWord {
                    known,
                    stage,
                    slot: DescriptorSlot {
                        table: 8,
                        index: 0x1234_5678,
                    },
                    target,
                };
                assert_eq!(BoundWord::decode(word.encode()), word);
            }
        }
    }
}
