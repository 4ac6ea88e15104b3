//! Uniforms of draws by a plan: push constants and what else is set or bound become the words of all programs of a pipeline.
//!
//! Guarantees: what stays the same from draw to draw is found out once; a draw writes the uniforms of all programs in one block.
//! Facts: hardware/compiler-abi.md 4, graphics-draw.md 3.5.

use super::draw_state::DrawState;
use super::pipeline_places::Places;
use super::prepared_words::{PREPARED, PreparedWords};
use super::uniform_plan::{
    BoundWord, FIRST_WORDS, Known, MOST_BOUND, STATE_WORDS, StateWord, Target, UniformPlan,
    word_of_plan,
};
use super::uniforms::Values;
use crate::command::{Recorder, UniformImage, UniformValues};
use crate::device::Versions;
use crate::error::Error;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::BoundSet;
use crate::slab::Key;
use crate::vm::GpuAddress;
use core::ops::Range;
use eitri_program::DescriptorSlot;
use heapless::Vec;

/// Words before the image of a plan: the prepared words, and the first words of the plan.
pub(super) const AHEAD: usize = PREPARED + FIRST_WORDS;

/// Push constants of a pass, and the uniforms of the pipeline that was used last.
#[derive(Debug)]
pub(super) struct DrawUniforms {
    pub(super) values: UniformValues,
    /// What stands in the pipeline's memory: its prepared words, and its uniforms.
    image: UniformImage<AHEAD>,
    /// The words of what is bound of the pipeline's plan, once they are read.
    bound: Vec<u64, MOST_BOUND>,
    pipeline: Option<Key>,
    /// Bytes of a block that holds the uniforms of all its programs.
    pub(super) bytes: u32,
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
        values: UniformValues::NOTHING,
        image: UniformImage::NOTHING,
        bound: Vec::new(),
        pipeline: None,
        bytes: 0,
    };

    /// Takes what stands in the memory of a pipeline, with the words of viewport and blend constants that were said last.
    fn recall<P: Platform>(
        &mut self,
        platform: &mut P,
        key: Key,
        plan: &UniformPlan,
        at: PhysicalAddress,
    ) {
        let read = |words: &mut [u64]| platform.read_words(prepared_before(at), words);
        self.image.take(plan.counts, &mut self.values, read);
        self.bound.clear();
        (self.pipeline, self.bytes) = (Some(key), plan.bytes.into());
    }

    /// Whether the words are those of a pipeline.
    pub(super) fn are_of(&self, key: Key) -> bool {
        self.pipeline == Some(key)
    }

    /// The prepared words of the pipeline.
    #[inline(always)]
    pub(super) fn prepared(&self) -> PreparedWords<'_> {
        let ahead = self.image.ahead().first_chunk();
        PreparedWords::of(ahead.unwrap_or(&[0; PREPARED]))
    }

    /// The first words of the plan: the version that is said, and what the register of each program holds besides an address.
    #[inline(always)]
    fn first(&self) -> &[u64; FIRST_WORDS] {
        let ahead = self.image.ahead().last_chunk();
        ahead.unwrap_or(&[0; FIRST_WORDS])
    }

    /// The values of the registers of programs for a block at `address`.
    #[inline(always)]
    pub(super) fn registers(&self, address: GpuAddress) -> [u64; 3] {
        let [_, tags @ ..] = *self.first();
        tags.map(|tag| if tag == 0 { 0 } else { address.offset(tag).0 })
    }

    /// The uniforms of a draw that begins where the last one did.
    #[inline(always)]
    pub(super) fn fill(&mut self) -> &[u64] {
        self.image.fill(&mut self.values)
    }

    /// Writes the uniforms of a draw that begins elsewhere where there is room for them; gives the values of their registers.
    ///
    /// It is code of its own: among all else that a draw does, what it works with would not stay in the CPU's registers.
    #[inline(never)]
    pub(super) fn write<P: Platform>(
        &mut self,
        platform: &mut P,
        counts: [u32; 3],
        (at, address): (PhysicalAddress, GpuAddress),
    ) -> [u64; 3] {
        self.values.set_counts(counts);
        platform.write_words(at, self.fill());
        self.registers(address)
    }

    /// Says a word.
    #[inline(always)]
    fn say(&mut self, target: Target, value: u32) {
        match target {
            Target::Half(pair, high) => self.image.set_half(pair, high, value),
            Target::Value(place) => self.values.set(place, value),
        }
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
        if self.first()[0] != version && plan.of_state != 0 {
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
        for number in 0..plan.of_state.into() {
            let Some(word) = self.bound.get(number) else {
                break;
            };
            let word = StateWord::decode(*word);
            let value = state.known.get(word.known).copied().unwrap_or(0);
            self.say(word.target, value);
        }
        self.image.set_ahead(PREPARED, state.version);
        let kept = self.image.kept(&self.values);
        let (_, kept) = kept.split_at_checked(PREPARED).unwrap_or_default();
        platform.write_words(at, kept);
        // As when the plan was written.
        let words = plan.words.wrapping_sub(plan.bound);
        platform.clean(at..word_of_plan(at, words.into()));
    }
}

/// Where the prepared words stand before the plan at an address.
const fn prepared_before(plan: PhysicalAddress) -> PhysicalAddress {
    PhysicalAddress(plan.0.wrapping_sub(8 * PREPARED as u64))
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
        let bytes = self.passes.as_ref().map_or(0, |it| it.uniforms.bytes);
        if bytes == 0 {
            state.uniforms = [Some(0); 3];
            return Ok(());
        }
        let (at, address) = self.room(bytes)?;
        if let Some(uniforms) = self.passes.as_mut().map(|passes| &mut passes.uniforms) {
            let (platform, counts) = (&mut self.device.hw.platform, state.values.counts());
            let values = uniforms.write(platform, counts, (at, address));
            state.uniforms = values.map(Some);
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
                passes.uniforms.say(target, value);
            }
        }
        Ok(())
    }
}
