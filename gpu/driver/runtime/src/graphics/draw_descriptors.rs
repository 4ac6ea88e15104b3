//! Descriptors of a draw besides its resources: tests, blending and local storage, and the words of its flags.
//!
//! Those of the pipeline are used where they are, unless something else was set.
//! Facts: hardware/graphics-draw.md 3.3, 3.10 to 3.13, graphics-raster.md 4.8.

use super::blend;
use super::draw_state::DrawState;
use super::draw_words::DrawWords;
use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::pipeline::{GraphicsPipelined, PipelineColors};
use super::pipeline_places::Places;
use crate::command::Recorder;
use crate::device::Kind;
use crate::error::{Error, Thing};
use crate::platform::Platform;
use crate::resource::{ThreadStorage, local_storage};
use crate::slab::Key;
use eitri_program::FragmentFacts;

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The words of draws with what is set.
    pub(super) fn words_of_draws(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<DrawWords, Error> {
        if !state.dynamic.changes_words() {
            return Ok(made.words_of(state.query.is_some()));
        }
        let how = (self.arch(), state.query.is_some());
        let facts = self.facts_of_draws(made)?;
        let tests = self.words_of_tests(state, places, made)?;
        Ok(state.dynamic.words(made, how, &tests, facts)?)
    }

    /// Facts of the fragment program, if there is one.
    fn facts_of_draws(&self, made: &GraphicsPipelined) -> Result<Option<FragmentFacts>, Error> {
        let Some(stage) = made.fragment.filter(|_| made.shades) else {
            return Ok(None);
        };
        Ok(self.device.stage_program(stage)?.fragment_facts())
    }

    /// The descriptor of tests with what is set, but for references.
    fn words_of_tests(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<[u32; 8], Error> {
        let (from, _) = places.tests();
        let mut words = [0; 8];
        for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
            *word = self.device.hw.platform.load32(from.offset(offset));
        }
        if state.dynamic.changes_tests() {
            let facts = self.facts_of_draws(made)?;
            words = state.dynamic.tests(made, self.arch(), &words, facts)?;
        }
        Ok(words)
    }

    /// The descriptor of the tests of depth and stencil.
    pub(super) fn tests(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        let changed = state.dynamic.changes_tests() || state.stencil_reference.is_some();
        let tests = if changed {
            let mut words = self.words_of_tests(state, places, made)?;
            if let Some([front, back]) = state.stencil_reference {
                // hardware/graphics-raster.md 4.8: bytes of word 2.
                words[2] = u32::from(front) | u32::from(back) << 8;
            }
            self.place(&words)?
        } else {
            places.tests().1
        };
        Ok(tests.0)
    }

    /// The descriptors of blending, with their number.
    pub(super) fn blends(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        let count = made.color_count;
        let (from, at) = places.blends();
        let blends = match state
            .blend_constants
            .filter(|_| made.constants != [false; 2])
        {
            None => at,
            Some(constants) => {
                let mut words = [0; MOST_COLORS * 4];
                for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
                    *word = self.device.hw.platform.load32(from.offset(offset));
                }
                for target in words.as_chunks_mut::<4>().0 {
                    *target = with_constant(*target, made, constants);
                }
                self.place(&words)?
            }
        };
        Ok(blends.0 | u64::from(count))
    }

    /// The descriptor of the local storage of both stages.
    pub(super) fn draw_storage(
        &mut self,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        if made.scratch_bytes == 0 {
            return Ok(places.storage().1.0);
        }
        let (address, size_log2) = self.scratch_memory(made.scratch_bytes)?;
        let thread = ThreadStorage { address, size_log2 };
        let words = local_storage(self.arch(), Some(thread), None)?;
        Ok(self.place(&words)?.0)
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Refers to a pipeline; gives its blend constants, or nothing if it is made for other attachments than the pass has.
    pub(super) fn refer_to_graphics_pipeline(
        &mut self,
        key: Key,
    ) -> Result<Option<[f32; 4]>, Error> {
        let by = (self.commands, self.space);
        let passes = self.passes.as_ref();
        let framebuffer = passes.map(|passes| &passes.targets.last().framebuffer);
        self.device.mention(by, key, Thing::Pipeline, |object| {
            let Kind::GraphicsPipeline(made, colors) = &object.kind else {
                return None;
            };
            Some(fits(made, colors, framebuffer?).then_some(made.blend_constants))
        })
    }
}

/// Whether a pipeline is made for what a pass renders to.
pub(super) fn fits(
    made: &GraphicsPipelined,
    colors: &PipelineColors,
    framebuffer: &Framebuffer,
) -> bool {
    // Neither has more.
    let places = framebuffer.count.max(made.color_count.into());
    let mut colors = colors.iter().take(places).enumerate();
    let same = |(location, format): (usize, &Option<&eitri_descriptors::formats::VkFormat>)| match (
        format,
        framebuffer.color_format(location),
    ) {
        (Some(own), Some(other)) => core::ptr::eq(*own, other) || own.name == other.name,
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    };
    let has = [made.has_depth, made.has_stencil];
    u32::from(made.samples) == framebuffer.samples
        && has == framebuffer.has_depth_stencil()
        && colors.all(same)
}

/// Whether those of the constants that are used, of colour and of alpha, are one.
pub(super) fn constants_are_one([color, alpha]: [bool; 2], [r, g, b, a]: [f32; 4]) -> bool {
    let colors = !color || (r == g && g == b);
    colors && (!(color && alpha) || r == a)
}

/// A blend descriptor with the constant that its equation uses.
pub(super) fn with_constant(
    [first, rest @ ..]: [u32; 4],
    made: &GraphicsPipelined,
    [red, _, _, alpha]: [f32; 4],
) -> [u32; 4] {
    let value = match made.constants {
        [false, false] => return [first, rest[0], rest[1], rest[2]],
        [true, _] => red,
        [false, true] => alpha,
    };
    let constant = blend::constant(value, made.constant_bits);
    [first & 0xFFFF | constant << 16, rest[0], rest[1], rest[2]]
}
