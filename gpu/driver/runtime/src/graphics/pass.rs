//! Render passes: from the attachments that are named to the fragment job that renders them.
//!
//! Facts: hardware/graphics.md 1.4 and 1.5, graphics-framebuffer.md 5.1.

use super::batch::Batch;
use super::draw_state::{DrawState, DrawStatePlace};
use super::error::GraphicsError;
use super::framebuffer::{Framebuffer, MOST_COLORS, MOST_LAYERS};
use super::framebuffer_words::Around;
use super::incremental::Increments;
use super::pass_template::PassTarget;
use super::rendering::RenderingInfo;
use super::samples;
use crate::command::{Accesses, CommandError, Recorder};
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

/// Layers of a pass, and their descriptors.
type Placed = Vec<(u32, GpuAddress), { MOST_LAYERS as usize }>;

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
            passes.uniforms.values.begin();
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

    /// Orders draws of the pass, as the barriers of VK_KHR_dynamic_rendering_local_read do: what those before do to attachments comes
    /// before what those after do to them at the same pixel and sample. So fragments read as input attachments, from the tile, what
    /// draws before have written. It costs nothing: the fragments of a pixel take their turns in the order of draws, and a program
    /// waits for its turn before it reads the tile (hardware/graphics-compiler.md 7).
    ///
    /// # Errors
    /// If other accesses are named: nothing else can be ordered within a pass.
    pub fn barrier(&mut self, before: Accesses, after: Accesses) -> Result<&mut Self, Error> {
        if before.are_of(Accesses::OF_ATTACHMENTS) && after.are_of(Accesses::OF_ATTACHMENTS) {
            Ok(self)
        } else {
            Err(CommandError::from(GraphicsError::BarrierInPass).into())
        }
    }

    /// Ends the pass.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for more commands.
    pub fn end_rendering(mut self) -> Result<(), Error> {
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
        it.put_fragments(tiler)?;
        it.unflushed = true;
        it.writes_texels = true;
        it.resolve_behind()
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// Puts the fragments of a pass into their lane: of one that was tiled, by its context, and whether the last vertices provoke.
    fn put_fragments(&mut self, tiler: Option<(GpuAddress, bool)>) -> Result<(), Error> {
        const STREAM: SubQueue = SubQueue::Fragment;
        let mut placed = Placed::new();
        self.place_layers(tiler, &mut placed)?;
        self.room_for_batch(STREAM)?;
        let mut batch = Batch::new();
        // The handler's jobs have the pixels of the pass, too.
        self.add_pixels(&mut batch);
        if let Some((context, _)) = tiler {
            let handler = self.increments().map(Increments::handler);
            let handler = handler.unwrap_or((GpuAddress(0), 0));
            self.add_wait_until_tiled(context, handler, &mut batch)?;
        }
        self.add_next_iterator(STREAM, &mut batch)?;
        self.add_jobs(tiler.is_some(), &placed, &mut batch)?;
        if self.has_ended_queries() {
            self.write_batch(STREAM, &mut batch)?;
            let slot = self.iterator(STREAM);
            self.finish_queries(slot.mask())?;
        }
        self.finish_fragments(tiler.is_some(), &mut batch)?;
        self.write_batch(STREAM, &mut batch)
    }

    /// Writes what the fragment jobs of a pass are given: the descriptor of each layer, and what is done when the heap is exhausted.
    fn place_layers(
        &mut self,
        tiler: Option<(GpuAddress, bool)>,
        placed: &mut Placed,
    ) -> Result<(), Error> {
        let framebuffer = self.framebuffer();
        let (views, layers) = (framebuffer.view_mask, framebuffer.layers);
        let (samples, loads) = (framebuffer.samples, framebuffer.loads());
        let mut around = Around {
            locations: self.sample_locations(samples)?,
            frame_shaders: None,
            tiler: tiler.map(|(context, _)| context),
            last_provokes: tiler.is_some_and(|(_, last)| last),
        };
        let mut shaders = Vec::<_, { MOST_LAYERS as usize }>::new();
        for layer in (0..layers).filter(|layer| views == 0 || views >> layer & 1 != 0) {
            if loads {
                around.frame_shaders =
                    self.in_lane(SubQueue::Fragment, |it| it.frame_shaders(layer))?;
            }
            // There is room: passes have no more layers.
            let _ = shaders.push((layer, around.frame_shaders));
            let _ = placed.push((layer, self.place_framebuffer(layer, &around)?));
        }
        if tiler.is_some() {
            self.find_increments(&around, &shaders)?;
        }
        Ok(())
    }

    /// Loads the pixels of fragment jobs, as far as they are others than the last job's.
    #[inline(always)]
    fn add_pixels(&mut self, batch: &mut Batch) {
        let (Some(drawing), Some(passes)) = (&self.device.drawing, &mut self.passes) else {
            return;
        };
        let [min_x, min_y, max_x, max_y] = passes.targets.last().framebuffer.area;
        let Some(lane) = &mut passes.fragments else {
            return;
        };
        for (register, value) in [
            (FIRST_PIXEL, min_y << 16 | min_x),
            (LAST_PIXEL, max_y << 16 | max_x),
        ] {
            // Both are among the first registers.
            if lane.loaded.change(register, value)
                && let Some(load) = drawing.encoded.loads.with(register, value)
            {
                batch.put(load);
            }
        }
    }

    /// Adds the fragment jobs of a pass: if something of it was rendered before, those of its last render in their place.
    #[inline(always)]
    fn add_jobs(&self, tiled: bool, placed: &Placed, batch: &mut Batch) -> Result<(), Error> {
        let (encoded, tag) = (self.encoded()?, self.framebuffer().tag());
        let increments = self.increments().filter(|_| tiled);
        for (layer, at) in placed {
            let (pointer, at) = (encoded.framebuffer, at.0 | tag);
            match increments {
                Some(it) => {
                    let last = it.last(*layer).0 | tag;
                    batch.put_all(encoded.increments.choose(pointer, at, last));
                }
                None => batch.put(pointer.with_address(at)),
            }
            batch.put(encoded.run_fragment);
        }
        Ok(())
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
