//! Uniforms of draws by a plan: push constants and what else is set or bound become the words of all programs of a pipeline.
//!
//! Guarantees: what stays the same from draw to draw is found out once; a draw writes the uniforms of all programs in one block.
//! Facts: hardware/compiler-abi.md 4, graphics-draw.md 3.5.

use super::draw_state::DrawState;
use super::pipeline::Places;
use super::uniform_plan::{
    BoundWord, FIRST_WORDS, Known, MOST_BOUND, STATE_WORDS, StateWord, Target, UniformPlaces,
    UniformPlan, word_of_plan,
};
use super::uniforms::Values;
use crate::command::{Recorder, Uniforms};
use crate::device::Versions;
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::BoundSet;
use crate::slab::Key;
use core::ops::Range;
use eitri_program::DescriptorSlot;
use heapless::Vec;

/// Push constants of a pass, and the uniforms of the pipeline that was used last.
#[derive(Debug)]
pub(super) struct DrawUniforms {
    pub(super) words: Uniforms,
    /// The words of what is bound of the pipeline's plan, once they are read.
    bound: Vec<u64, MOST_BOUND>,
    pub(super) pipeline: Option<Key>,
    /// Where the words of its programs stand in a block.
    pub(super) places: UniformPlaces,
    /// The version of the words of viewport and blend constants that the pipeline's words have.
    said: u64,
}

/// The words of viewport and blend constants that were said last, and their version. They stay from one recording to the next, as the
/// words of pipelines do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateWords {
    known: [u32; STATE_WORDS],
    version: u64,
}

impl StateWords {
    /// None yet.
    pub(crate) const NOTHING: StateWords = StateWords {
        known: [0; STATE_WORDS],
        version: 0,
    };

    /// Their version with these values: that of the last, if they are the same, or `next`, which no other words have.
    #[inline(never)]
    fn version_of(&mut self, values: &Values, next: u64) -> u64 {
        let known = values.known();
        // Word by word: a call that compares them byte by byte costs more.
        let same = self.known.iter().zip(&known).all(|(own, new)| own == new);
        if self.version == 0 || !same {
            (self.known, self.version) = (known, next);
        }
        self.version
    }
}

impl DrawUniforms {
    /// Those of no pipeline; all push constants are 0.
    pub(super) const NOTHING: DrawUniforms = DrawUniforms {
        words: Uniforms::new(),
        bound: Vec::new(),
        pipeline: None,
        places: UniformPlaces::NOTHING,
        said: 0,
    };

    /// Takes the plan of a pipeline from its memory, with the words of viewport and blend constants that were said last.
    fn recall<P: Platform>(
        &mut self,
        platform: &mut P,
        key: Key,
        plan: &UniformPlan,
        at: PhysicalAddress,
    ) {
        let mut first = [0; FIRST_WORDS];
        platform.read_words(at, &mut first);
        let [said, tags @ ..] = first;
        let at_once = self.words.restore_at_once(key, plan.counts, |words| {
            platform.read_words(word_of_plan(at, 0), words);
        });
        if !at_once {
            self.recall_in_parts(platform, key, plan, at);
        }
        self.bound.clear();
        self.places = UniformPlaces {
            tags,
            bytes: plan.bytes.into(),
        };
        (self.said, self.pipeline) = (said, Some(key));
    }

    #[inline(never)]
    fn recall_in_parts<P: Platform>(
        &mut self,
        platform: &mut P,
        key: Key,
        plan: &UniformPlan,
        at: PhysicalAddress,
    ) {
        // This can't fail: only words that fit were saved.
        self.words.restore(key, plan.counts, None, |number, words| {
            platform.read_words(word_of_plan(at, number), words);
        });
    }

    /// Reads the words of what is bound, if they are not there yet.
    pub(super) fn recall_bound<P: Platform>(
        &mut self,
        platform: &mut P,
        plan: &UniformPlan,
        at: PhysicalAddress,
    ) {
        let bound = usize::from(plan.bound);
        let first = usize::from(plan.words).wrapping_sub(bound);
        if self.bound.is_empty() && self.bound.resize(bound, 0).is_ok() {
            platform.read_words(word_of_plan(at, first), &mut self.bound);
        }
    }

    /// Takes the plan of a pipeline if another's is here, and says the words of viewport and blend constants. Whether the plan was
    /// another's.
    #[inline(always)]
    pub(super) fn find_state<P: Platform>(
        &mut self,
        platform: &mut P,
        state: &mut DrawState,
        (key, plan): (Key, &UniformPlan),
        at: PhysicalAddress,
        (words, versions): (&mut StateWords, &mut Versions),
    ) -> bool {
        let version = match state.version {
            Some(version) => version,
            None => {
                let version = words.version_of(&state.values, versions.next());
                state.version = Some(version);
                version
            }
        };
        let other = self.pipeline != Some(key);
        if other {
            self.recall(platform, key, plan, at);
        }
        if self.said != version && plan.of_state != 0 {
            self.say_state(platform, plan, at, words);
        }
        state.says_state = true;
        other
    }

    /// Says the words of viewport and blend constants, of which [`StateWords::version_of`] gave the version, and keeps them with
    /// the plan: another draw of the pipeline finds them there.
    #[inline(never)]
    fn say_state<P: Platform>(
        &mut self,
        platform: &mut P,
        plan: &UniformPlan,
        at: PhysicalAddress,
        state: &StateWords,
    ) {
        self.recall_bound(platform, plan, at);
        for word in self.bound.iter().take(plan.of_state.into()) {
            let word = StateWord::decode(*word);
            let value = state.known.get(word.known).copied().unwrap_or(0);
            say(&mut self.words, word.target, value);
        }
        self.said = state.version;
        platform.store64(at, self.said);
        self.words.save_again(|number, words| {
            platform.write_words(word_of_plan(at, number), words);
        });
        // As when the plan was written.
        let words = plan.words.wrapping_sub(plan.bound);
        platform.clean(at..word_of_plan(at, words.into()));
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
        let of_state = usize::from(plan.of_state);
        if let (Some(passes), Some(drawing)) = (&mut self.passes, &mut self.device.drawing) {
            let (platform, at) = (&mut self.device.hw.platform, places.plan());
            let uniforms = &mut passes.uniforms;
            let words = (&mut drawing.state_words, &mut self.device.versions);
            if uniforms.find_state(platform, state, (key, plan), at, words) {
                state.says_sets = false;
            }
            if !state.says_sets && of_state < plan.bound.into() {
                uniforms.recall_bound(platform, plan, at);
            }
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
