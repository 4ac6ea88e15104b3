//! Render passes: from the attachments that are named to the fragment job that renders them.
//!
//! Facts: hardware/graphics.md 1.4 and 1.5, graphics-framebuffer.md 5.1.

use super::draw_state::{DrawState, DrawStatePlace};
use super::encoded::EncodedDraws;
use super::error::GraphicsError;
use super::framebuffer::{Framebuffer, MOST_COLORS, MOST_LAYERS};
use super::framebuffer_words::Around;
use super::pass_template::PassTarget;
use super::rendering::RenderingInfo;
use super::samples;
use crate::command::{CommandError, Recorder};
use crate::error::{Error, Thing};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;
use core::cell::RefMut;
use eitri_cs::{Pair, SlotMask, d};
use eitri_descriptors::framebuffer::SamplePattern;
use heapless::Vec;

/// Images of a pass at most: what is written, and what is loaded.
const MOST_IMAGES: usize = 2 * MOST_COLORS + 2;
/// Registers of a fragment job: the framebuffer pointer, and the first and the last pixel.
pub(super) const FRAMEBUFFER: Pair = d!(40);
const FIRST_PIXEL: u8 = 42;
const LAST_PIXEL: u8 = 43;

/// A render pass that is being recorded: begun by [`Recorder::begin_rendering`], and over with [`RenderPass::end_rendering`]. It
/// begins with nothing bound, all of the attachments as viewport and scissor.
///
/// One that is dropped before renders nothing; what it has tiled is given back when the next one begins, or the commands end.
#[derive(Debug)]
#[must_use = "a pass renders when it is ended"]
pub struct RenderPass<'p, 'r, 's, 'd, P> {
    pub(super) recorder: &'p mut Recorder<'r, 's, 'd, P>,
    pub(super) state: RefMut<'r, DrawState>,
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Begins a render pass. What is recorded for it runs on streams of its own, beside dispatches and copies: barriers order
    /// them.
    ///
    /// # Errors
    /// If an attachment was destroyed, is in another space, or can't be rendered to as `info` says; if these are other commands'
    /// to run; if a pass of these commands was leaked ([`core::mem::forget`]); or if there is no memory or no place in the storage for
    /// more commands.
    pub fn begin_rendering<'p>(
        &'p mut self,
        info: &RenderingInfo<'_>,
    ) -> Result<RenderPass<'p, 'r, 's, 'd, P>, Error> {
        let place: &'r DrawStatePlace = self.draw_state;
        let Ok(place) = place.try_borrow_mut() else {
            return Err(CommandError::from(GraphicsError::PassLeaked).into());
        };
        let mut state = RefMut::map(place, |place| place.get_or_insert(DrawState::NOTHING));
        self.begin_pass(info)?;
        if let Some(passes) = &self.passes {
            state.begin(passes.targets.last().framebuffer.size, passes.query);
        }
        Ok(RenderPass {
            recorder: self,
            state,
        })
    }

    /// Begins a pass, in which nothing is bound.
    #[inline(never)]
    fn begin_pass(&mut self, info: &RenderingInfo<'_>) -> Result<(), Error> {
        self.finish_dropped()?;
        // A part of a pass loads and stores otherwise than it is asked to: it is never what the same request was before.
        let is_part = info.resuming || info.suspending;
        if let Some(passes) = &mut self.passes
            && !(is_part || passes.suspended)
            && passes.targets.recall(info)
        {
            // The commands refer to its images, and have a lane for it.
            passes.targets.last_mut().framebuffer.begin_again();
        } else {
            self.begin_another_pass(info)?;
        }
        if let Some(passes) = &mut self.passes {
            // Push constants are zeros again.
            passes.uniforms.words.begin();
            passes.bound.clear();
            passes.ended.clear();
        }
        Ok(())
    }

    /// Finds out what a pass renders to.
    #[inline(never)]
    fn begin_another_pass(&mut self, info: &RenderingInfo<'_>) -> Result<(), Error> {
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
        let mut images = Vec::<Key, MOST_IMAGES>::new();
        if let Some(passes) = &mut self.passes {
            let framebuffer = &mut passes.targets.another().framebuffer;
            framebuffer.begin(self.device, info)?;
            images.extend(framebuffer.images());
        }
        for image in &images {
            self.refer(*image, Thing::Image)?;
        }
        if let Some(passes) = &mut self.passes {
            passes.targets.last_mut().template.keep(info);
        }
        Ok(())
    }

    /// What the pass renders to that is recorded.
    pub(super) fn framebuffer(&self) -> &Framebuffer {
        static NOTHING: Framebuffer = Framebuffer::NOTHING;
        let passes = self.passes.as_ref();
        passes.map_or(&NOTHING, |passes| &passes.targets.last().framebuffer)
    }

    /// The table of sample positions of a pass: that of the last pass of its template, or of the last pass with as many samples.
    fn sample_locations(&mut self, count: u32) -> Result<GpuAddress, Error> {
        let passes = self.passes.as_ref();
        let increments = passes.and_then(|it| it.targets.last().template.increments.as_ref());
        if let Some(of_template) = increments {
            return Ok(of_template.locations());
        }
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
    pub fn end_rendering(mut self) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        let passes = self.recorder.passes.as_ref();
        if passes.is_some_and(|passes| passes.query != self.state.query) {
            // Nothing is counted behind the pass.
            self.end_query()?;
        }
        let RenderPass {
            recorder: it,
            state,
        } = self;
        let tiler = state.tiler.as_ref();
        let tiler = tiler.map(|it| (it.context, it.last_provokes.unwrap_or(false)));
        if tiler.is_some()
            && let Some(passes) = &mut it.passes
            && passes.targets.last().framebuffer.view_mask == 0
        {
            passes.last_state.note(&state);
        }
        // What is resolved behind the pass is a pass of its own.
        drop(state);
        if tiler.is_some() {
            it.finish_tiling()?;
        } else if !it.framebuffer().clears() {
            it.finish_queries(SlotMask::NONE)?;
            return it.resolve_behind();
        }
        it.in_lane(STREAM, |it| it.put_fragments(tiler))?;
        it.unflushed = true;
        it.writes_texels = true;
        it.resolve_behind()
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Puts the fragments of a pass into their lane, where this is recorded: of one that was tiled, by its context, and whether the
    /// last vertices provoke.
    fn put_fragments(&mut self, tiler: Option<(GpuAddress, bool)>) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        let framebuffer = self.framebuffer();
        let &Framebuffer {
            samples,
            area: [min_x, min_y, max_x, max_y],
            view_mask: views,
            layers,
            ..
        } = framebuffer;
        let (tag, loads) = (framebuffer.tag(), framebuffer.loads());
        let mut around = Around {
            locations: self.sample_locations(samples)?,
            frame_shaders: None,
            tiler: tiler.map(|(context, _)| context),
            last_provokes: tiler.is_some_and(|(_, last)| last),
        };
        let mut shaders = Vec::<_, { MOST_LAYERS as usize }>::new();
        let mut placed = Vec::<GpuAddress, { MOST_LAYERS as usize }>::new();
        for layer in (0..layers).filter(|layer| views == 0 || views >> layer & 1 != 0) {
            if loads {
                around.frame_shaders = self.frame_shaders(layer)?;
            }
            // There is room: passes have no more layers.
            let _ = shaders.push((layer, around.frame_shaders));
            let _ = placed.push(self.place_framebuffer(layer, &around)?);
        }
        // The handler's jobs have the pixels of the pass, too.
        self.load_pixels([
            (FIRST_PIXEL, min_y << 16 | min_x),
            (LAST_PIXEL, max_y << 16 | max_x),
        ])?;
        let mut increments = None;
        if let Some((context, _)) = tiler {
            let made = self.increments(&around, &shaders)?;
            self.wait_until_tiled(context, made.handler())?;
            increments = Some(made);
        }
        self.next_iterator(STREAM)?;
        for (at, (layer, _)) in placed.iter().zip(&shaders) {
            let last = increments.as_ref().map(|it| it.last(*layer).0 | tag);
            self.run_fragment(at.0 | tag, last)?;
        }
        let slot = self.iterator(STREAM);
        self.finish_queries(slot.mask())?;
        let of = self.own_iterator(STREAM)?;
        if tiler.is_some() {
            self.next_iterator(STREAM)?;
            self.finish_fragments(&of)?;
        }
        self.count_up(STREAM, &of)
    }

    /// Loads the pixels of fragment jobs, as far as they are others than the last job's.
    fn load_pixels(&mut self, pixels: [(u8, u32); 2]) -> Result<(), Error> {
        self.make_room(pixels.len() as u32)?;
        let (Some(drawing), Some(passes)) = (&self.device.drawing, &mut self.passes) else {
            return Ok(());
        };
        let mut all = Vec::<u64, 2>::new();
        if let Some(loaded) = passes.fragments.as_mut().map(|lane| &mut lane.loaded) {
            for (register, value) in pixels {
                // Both are among the first registers, and there is room.
                if loaded.change(register, value)
                    && let Some(load) = drawing.encoded.loads.with(register, value)
                {
                    let _ = all.push(load.word());
                }
            }
        }
        self.writer.put_words(&mut self.device.hw.platform, &all);
        Ok(())
    }

    /// Puts a fragment job of a framebuffer: of `last` in its place if something of the pass was rendered before.
    fn run_fragment(&mut self, framebuffer: u64, last: Option<u64>) -> Result<(), Error> {
        let &EncodedDraws {
            run_fragment: run,
            framebuffer: pointer,
            increments,
            ..
        } = self.encoded()?;
        match last {
            Some(last) => {
                let [whole, unless, last] = increments.choose(pointer, framebuffer, last);
                self.put_together([whole, unless, last, run])
            }
            None => self.put_together([pointer.with_address(framebuffer), run]),
        }
    }

    /// Writes the framebuffer descriptor of a layer.
    pub(super) fn place_framebuffer(
        &mut self,
        layer: u32,
        around: &Around,
    ) -> Result<GpuAddress, Error> {
        let bytes = (self.framebuffer().words() as u32).saturating_mul(4);
        let (memory, at) = self.written_room(bytes)?;
        let arch = self.arch();
        let (Some(passes), Some(drawing)) = (&mut self.passes, &self.device.drawing) else {
            return Ok(at);
        };
        let tiler_word = drawing.shapes.tiler;
        let platform = &mut self.device.hw.platform;
        let PassTarget {
            framebuffer,
            template,
        } = passes.targets.last_mut();
        if !template.write(platform, memory, (layer, around), tiler_word) {
            template.begin_words();
            let mut place = memory;
            framebuffer.write(arch, layer, around, |words| {
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
