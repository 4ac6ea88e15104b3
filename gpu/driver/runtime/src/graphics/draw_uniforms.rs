//! Uniforms of draws by a plan: push constants and what else is set or bound become the words of all programs of a pipeline.
//!
//! Guarantees: what stays the same from draw to draw is found out once; a draw writes the uniforms of all programs in one block.
//! Facts: hardware/compiler-abi.md 4, graphics-draw.md 3.5.

use super::draw_state::DrawState;
use super::pipeline::Places;
use super::uniform_plan::{
    BoundWord, Known, MOST_BOUND, StateWord, Target, UniformPlaces, UniformPlan,
};
use super::uniforms::Values;
use crate::command::{BoundSet, Recorder, Uniforms};
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::Key;
use core::ops::Range;
use eitri_program::DescriptorSlot;
use heapless::Vec;

/// Push constants of a pass, and the uniforms of the pipeline that was used last.
#[derive(Debug)]
pub(super) struct DrawUniforms {
    pub(super) words: Uniforms,
    bound: Vec<u64, MOST_BOUND>,
    pub(super) pipeline: Option<Key>,
    /// Where the words of its programs stand in a block.
    pub(super) places: UniformPlaces,
}

impl DrawUniforms {
    /// Those of no pipeline; all push constants are 0.
    pub(super) const NOTHING: DrawUniforms = DrawUniforms {
        words: Uniforms::new(),
        bound: Vec::new(),
        pipeline: None,
        places: UniformPlaces::NOTHING,
    };

    /// Takes the plan of a pipeline from its memory.
    pub(super) fn recall<P: Platform>(
        &mut self,
        platform: &mut P,
        key: Key,
        plan: &UniformPlan,
        at: PhysicalAddress,
    ) {
        let place = |word: usize| at.offset((word as u64).wrapping_mul(8));
        // It was saved from words that fit.
        self.words.restore(key, plan.counts, |number, words| {
            platform.read_words(place(number), words);
        });
        let bound = usize::from(plan.bound);
        let first = usize::from(plan.words).wrapping_sub(bound);
        if self.bound.resize(bound, 0).is_ok() {
            platform.read_words(place(first), &mut self.bound);
        }
        self.places = plan.places();
        self.pipeline = Some(key);
    }

    /// Says the words of viewport and blend constants, which are the first `count` of those that are said.
    pub(super) fn say_state(&mut self, values: &Values, count: usize) {
        let known = values.known();
        for word in self.bound.iter().take(count) {
            let word = StateWord::decode(*word);
            let value = known.get(word.known).copied().unwrap_or(0);
            say(&mut self.words, word.target, value);
        }
    }
}

/// What is bound to a descriptor of a stage's set.
#[derive(Clone, Copy)]
struct BoundAt {
    stage: usize,
    slot: DescriptorSlot,
    set: Option<BoundSet>,
    /// Address and bytes of the buffer.
    buffer: (u64, u32),
}

/// Says a word.
#[inline(always)]
fn say(words: &mut Uniforms, target: Target, value: u32) {
    match target {
        Target::Half(pair, high) => words.set_half(pair, high, value),
        Target::Value(place) => words.set_value(place, value),
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Writes the uniforms of a pipeline with a plan; notes the values of their registers.
    pub(super) fn planned_uniforms(
        &mut self,
        state: &mut DrawState,
        (key, plan): (Key, &UniformPlan),
        places: &Places,
    ) -> Result<(), Error> {
        if let Some(passes) = &mut self.passes
            && passes.uniforms.pipeline != Some(key)
        {
            let platform = &mut self.device.hw.platform;
            passes.uniforms.recall(platform, key, plan, places.plan());
            (state.says_state, state.says_sets) = (false, false);
        }
        let of_state = usize::from(plan.of_state);
        if !state.says_state {
            if let Some(passes) = &mut self.passes {
                passes.uniforms.say_state(&state.values, of_state);
            }
            state.says_state = true;
        }
        if !state.says_sets {
            self.say_bound_words(state, of_state..plan.bound.into())?;
            state.says_sets = true;
        }
        let bytes = self
            .passes
            .as_ref()
            .map_or(0, |it| it.uniforms.places.bytes);
        if bytes == 0 {
            state.uniforms = [Some(0); 3];
            return Ok(());
        }
        let (at, address) = self.room(bytes)?;
        if let Some(DrawUniforms { words, places, .. }) =
            self.passes.as_mut().map(|passes| &mut passes.uniforms)
        {
            self.device
                .hw
                .platform
                .write_words(at, words.of(state.values.counts()));
            state.uniforms = places.registers(address).map(Some);
        }
        Ok(())
    }

    /// Says words of buffers.
    fn say_bound_words(&mut self, state: &DrawState, which: Range<usize>) -> Result<(), Error> {
        let mut last: Option<BoundAt> = None;
        for number in which {
            let uniforms = self.passes.as_ref().map(|passes| &passes.uniforms);
            let Some(word) = uniforms.and_then(|it| it.bound.get(number)) else {
                break;
            };
            let BoundWord {
                known,
                stage,
                slot,
                target,
            } = BoundWord::decode(*word);
            let value = match known {
                Known::Draw(word) => state.values.draw(word),
                _ => {
                    let (set, (address, bytes)) = match last {
                        Some(it) if (it.stage, it.slot) == (stage, slot) => (it.set, it.buffer),
                        _ => {
                            let set = self.set_of_stage(stage, slot.table);
                            let buffer = self.draw_buffer(slot, set.as_ref())?;
                            last = Some(BoundAt {
                                stage,
                                slot,
                                set,
                                buffer,
                            });
                            (set, buffer)
                        }
                    };
                    let texels = |it: &mut Self| {
                        set.map_or([0; 2], |set| it.device.bound_texels(&set, slot.index))
                    };
                    match known {
                        Known::Address(half) => half.of(address),
                        Known::Bytes | Known::Draw(_) => bytes,
                        Known::TexelCount => texels(self)[0],
                        Known::TexelFormat => texels(self)[1],
                    }
                }
            };
            if let Some(passes) = &mut self.passes {
                say(&mut passes.uniforms.words, target, value);
            }
        }
        Ok(())
    }
}
