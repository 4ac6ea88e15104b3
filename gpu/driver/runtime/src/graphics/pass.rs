//! Render passes: from the attachments that are named to the fragment job that renders them.
//!
//! Facts: hardware/graphics.md 1.4 and 1.5, graphics-framebuffer.md 5.1.

use super::draw_state::DrawState;
use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::framebuffer_words::Around;
use super::queries::EndedQueries;
use super::rendering::RenderingInfo;
use super::samples;
use super::tiling::Tiling;
use crate::command::Recorder;
use crate::error::{Error, Thing};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_cs::{Pair, SlotMask, d};
use eitri_descriptors::framebuffer::SamplePattern;

/// Images of a pass at most: what is written, and what is loaded.
const MOST_IMAGES: usize = 2 * MOST_COLORS + 2;
/// Registers of a fragment job: the framebuffer pointer, and the first and the last pixel.
const FRAMEBUFFER: Pair = d!(40);
const FIRST_PIXEL: u8 = 42;
const LAST_PIXEL: u8 = 43;

/// A render pass that is being recorded: begun by [`Recorder::begin_rendering`], and over with [`RenderPass::end_rendering`]. It
/// begins with nothing bound, all of the attachments as viewport and scissor.
///
/// One that is dropped before renders nothing.
#[derive(Debug)]
#[must_use = "a pass renders when it is ended"]
pub struct RenderPass<'p, 'r, 's, 'd, P> {
    pub(super) recorder: &'p mut Recorder<'r, 's, 'd, P>,
    /// The tiling, once something is drawn.
    pub(super) tiler: Option<Tiling>,
    pub(super) state: DrawState,
    /// Queries that are over with the pass.
    pub(super) ended: EndedQueries,
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    // A pass is large: where this is inlined it is made where it stays.
    /// Begins a render pass. What is recorded for it runs on streams of its own, beside dispatches and copies: barriers order
    /// them.
    ///
    /// # Errors
    /// If an attachment was destroyed, is in another space, or can't be rendered to as `info` says; if these are other commands'
    /// to run; or if there is no memory or no place in the storage for more commands.
    #[inline(always)]
    pub fn begin_rendering<'p>(
        &'p mut self,
        info: &RenderingInfo<'_>,
    ) -> Result<RenderPass<'p, 'r, 's, 'd, P>, Error> {
        self.begin_pass(info)?;
        let passes = self.passes.as_ref();
        let size = passes.map_or((0, 0), |passes| passes.framebuffer.size);
        let query = passes.and_then(|passes| passes.query);
        Ok(RenderPass {
            recorder: self,
            tiler: None,
            state: DrawState::new(size, query),
            ended: EndedQueries::default(),
        })
    }

    /// Begins a pass, in which nothing is bound.
    #[inline(never)]
    fn begin_pass(&mut self, info: &RenderingInfo<'_>) -> Result<(), Error> {
        self.begin_passes()?;
        self.resumes(info)?;
        if info.resuming || info.suspending {
            return self.begin_part(info);
        }
        self.begin_whole(info)
    }

    /// Begins a pass that is neither resumed nor suspended.
    pub(super) fn begin_whole(&mut self, info: &RenderingInfo<'_>) -> Result<(), Error> {
        self.open_lane(SubQueue::Fragment)?;
        let mut images = heapless::Vec::<Key, MOST_IMAGES>::new();
        if let Some(passes) = &mut self.passes {
            if passes.template.is_of(info) {
                passes.framebuffer.begin_again();
            } else {
                passes.template.forget();
                passes.framebuffer.begin(self.device, info)?;
                passes.template.keep(info);
            }
            images.extend(passes.framebuffer.images());
            // Push constants are zeros again.
            passes.uniforms.words.begin();
            passes.bound.clear();
        }
        for image in &images {
            self.refer(*image, Thing::Image)?;
        }
        Ok(())
    }

    /// What the pass renders to that is recorded.
    pub(super) fn framebuffer(&self) -> &Framebuffer {
        static NOTHING: Framebuffer = Framebuffer::NOTHING;
        let passes = self.passes.as_ref();
        passes.map_or(&NOTHING, |passes| &passes.framebuffer)
    }

    /// The table of sample positions of a pass.
    fn sample_locations(&mut self, count: u32) -> Result<GpuAddress, Error> {
        let known = self.passes.as_ref().and_then(|passes| passes.locations);
        if let Some((_, at)) = known.filter(|(of, _)| *of == count) {
            return Ok(at);
        }
        let pattern = samples::pattern(self.arch(), count);
        let words = samples::table(pattern.unwrap_or(SamplePattern::SingleSampled));
        let at = self.in_lane(SubQueue::Fragment, |it| it.place(&words))?;
        if let Some(passes) = &mut self.passes {
            passes.locations = Some((count, at));
        }
        Ok(at)
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// What the pass renders to.
    pub(super) fn framebuffer(&self) -> &Framebuffer {
        self.recorder.framebuffer()
    }

    /// Ends the pass.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for more commands.
    #[inline(always)]
    pub fn end_rendering(mut self) -> Result<(), Error> {
        self.end()
    }

    #[inline(never)]
    fn end(&mut self) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        let outer = self.recorder.passes.as_ref().and_then(|it| it.query);
        if self.state.query != outer {
            // Nothing is counted behind the pass.
            self.end_query()?;
        }
        let (it, tiler, ended) = (&mut *self.recorder, self.tiler, &self.ended);
        if tiler.is_some() {
            it.finish_tiling()?;
            it.wait_for_stream(STREAM, SubQueue::VertexTiler)?;
        } else if !it.framebuffer().clears() {
            it.finish_queries(ended, SlotMask::NONE)?;
            return it.resolve_behind();
        }
        let Framebuffer {
            samples,
            area: [min_x, min_y, max_x, max_y],
            view_mask: views,
            layers,
            ..
        } = *it.framebuffer();
        let tag = it.framebuffer().tag();
        let locations = it.sample_locations(samples)?;
        let mut around = Around {
            locations,
            frame_shaders: None,
            tiler: tiler.map(|tiling| tiling.context),
            last_provokes: tiler.and_then(|it| it.last_provokes).unwrap_or(false),
        };
        it.in_lane(STREAM, |it| {
            it.next_iterator(STREAM)?;
            let loads = &it.encoded()?.loads;
            let first = loads.with(FIRST_PIXEL, min_y << 16 | min_x);
            let last = loads.with(LAST_PIXEL, max_y << 16 | max_x);
            match (first, last) {
                (Some(first), Some(last)) => it.put_together(&[first, last]),
                // Both are among the first registers.
                _ => Ok(()),
            }
        })?;
        let run = it.encoded()?.run_fragment;
        for layer in (0..layers).filter(|layer| views == 0 || views >> layer & 1 != 0) {
            around.frame_shaders = it.frame_shaders(layer)?;
            let at = it.place_framebuffer(layer, &around)?;
            it.in_lane(STREAM, |it| {
                it.load_pair(FRAMEBUFFER, at.0 | tag)?;
                it.put(run)
            })?;
        }
        let slot = it.iterator(STREAM);
        it.finish_queries(ended, slot.mask())?;
        let of = it.own_iterator(STREAM)?;
        it.in_lane(STREAM, |it| {
            if let Some(Tiling { context, .. }) = tiler {
                it.next_iterator(STREAM)?;
                it.finish_fragments(context, &of)?;
            }
            it.count_up(STREAM, &of)
        })?;
        it.unflushed = true;
        it.writes_texels = true;
        it.resolve_behind()
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Writes the framebuffer descriptor of a layer where the GPU may write, too: what goes on without memory for the tiler changes
    /// it.
    fn place_framebuffer(&mut self, layer: u32, around: &Around) -> Result<GpuAddress, Error> {
        let bytes = (self.framebuffer().words() as u32).saturating_mul(4);
        let (memory, at) = self.written_room(bytes)?;
        let arch = self.arch();
        let Some(passes) = &mut self.passes else {
            return Ok(at);
        };
        let platform = &mut self.device.hw.platform;
        let template = &mut passes.template;
        if !template.write(platform, memory, (layer, around)) {
            template.begin_words();
            let mut place = memory;
            passes.framebuffer.write(arch, layer, around, |words| {
                platform.write_words(place, words);
                template.add_words(words);
                place = place.offset((words.len() as u64).saturating_mul(8));
            })?;
            template.end_words(layer, around);
        }
        platform.clean(memory.span(bytes.into()));
        Ok(at)
    }
}
