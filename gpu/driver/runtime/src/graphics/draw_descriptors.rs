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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphics::dynamic::tests::made;
    use crate::graphics::state::GraphicsPipelineInfo;
    use eitri_descriptors::Arch;

    fn plain() -> GraphicsPipelined {
        made(Arch::V10, &GraphicsPipelineInfo::default(), None).0
    }

    /// The hardware has one constant: components that are used must be the same.
    #[test]
    fn constants_that_are_used_are_one() {
        let all = |values| {
            [[false, false], [true, false], [false, true], [true, true]]
                .map(|uses| constants_are_one(uses, values))
        };
        assert_eq!(all([0.5; 4]), [true; 4]);
        assert_eq!(all([0.5, 0.5, 0.5, 1.0]), [true, true, true, false]);
        for other in [
            [0.0, 0.5, 0.5, 0.5],
            [0.5, 0.0, 0.5, 0.5],
            [0.5, 0.5, 0.0, 0.5],
        ] {
            assert_eq!(all(other), [true, false, true, false], "{other:?}");
        }
    }

    /// Bits 16 to 31 of a blend descriptor's first word.
    #[test]
    fn the_constant_is_that_of_what_uses_it() {
        let constants = [0.25, 0.25, 0.25, 1.0];
        let target = [0x1234_0A00, 2, 3, 4];
        for (uses, constant) in [
            ([false, false], 0x1234),
            ([true, false], 0x3FC0),
            ([false, true], 0xFF00),
            ([true, true], 0x3FC0),
        ] {
            let made = GraphicsPipelined {
                constants: uses,
                constant_bits: 8,
                ..plain()
            };
            let found = with_constant(target, &made, constants);
            assert_eq!(found, [constant << 16 | 0x0A00, 2, 3, 4], "{uses:?}");
        }
    }

    /// A pipeline draws to attachments with its own samples, depth and stencil.
    #[test]
    fn a_pipeline_fits_attachments_like_its_own() {
        let colors: PipelineColors = [None; MOST_COLORS];
        let mut framebuffer = Framebuffer::NOTHING;
        framebuffer.count = 1;
        let made = plain();
        assert!(fits(&made, &colors, &framebuffer));
        let samples = GraphicsPipelined { samples: 4, ..made };
        assert!(!fits(&samples, &colors, &framebuffer));
        for has in [[true, false], [false, true], [true, true]] {
            let [has_depth, has_stencil] = has;
            let with = GraphicsPipelined {
                has_depth,
                has_stencil,
                ..made
            };
            assert!(!fits(&with, &colors, &framebuffer), "{has:?}");
            let mut framebuffer = framebuffer.clone();
            framebuffer.has = has;
            assert!(fits(&with, &colors, &framebuffer), "{has:?}");
        }
        let format = eitri_descriptors::formats::VkFormat::of_name(Arch::V10, "R8G8B8A8_UNORM");
        for (place, is_one) in [(0, true), (1, true), (2, false)] {
            let mut colors = colors;
            colors[place] = format;
            let two = GraphicsPipelined {
                color_count: 2,
                ..made
            };
            let found = fits(&two, &colors, &framebuffer);
            assert_eq!(found, !is_one, "a colour that the pass has not, at {place}");
        }
    }
}
