//! Draws of secondary command buffers: recorded once, and run by any render pass of the kind that they were recorded for.
//!
//! They are words for the vertex lane, which a pass calls from its own. What stands in the lane's registers then is the caller's: the
//! tiler's context, and all that lanes begin with. All other registers of draws are loaded by the secondary commands themselves, so
//! they depend on nothing that was bound or set before.
//! Never: begins to tile, or names a slot of the caller's iterators.
//! Facts: hardware/command-stream.md 3.3 (CALL) and 6.10, graphics-draw.md 3.1.

use super::draw_state::{DrawState, DrawStatePlace};
use super::error::{Attachment, GraphicsError, Inherited, Unsupported};
use super::framebuffer::{ColorTarget, Framebuffer, MOST_COLORS, MOST_LAYERS};
use super::lane::{Lane, Passes};
use super::pass::RenderPass;
use super::pass_parts::{Part, PassParts};
use super::pipeline::PipelineColors;
use super::registers::DrawRegisters;
use super::rendering::ImageView;
use super::samples;
use super::tiling::Tiling;
use crate::command::{CommandError, Level, Recorder, Streams};
use crate::device::{Device, Kind};
use crate::error::{Error, Thing};
use crate::handle::{CommandBuffer, Image};
use crate::platform::Platform;
use crate::queue::{CacheUse, Code, SubQueue};
use crate::slab::Key;
use crate::vm::GpuAddress;
use core::cell::RefMut;
use eitri_descriptors::formats::VkFormat;

/// The passes that may run draws of a secondary command buffer: what these inherit. A pass has to have all of it alike.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InheritedRendering<'a> {
    /// Pixels of the attachments along x.
    pub width: u32,
    /// Pixels of the attachments along y.
    pub height: u32,
    /// Layers: 0 is as 1. Without multiview they count.
    pub layers: u32,
    /// Views, a bit each; 0 without multiview.
    pub view_mask: u32,
    /// Samples of a pixel; 0 is as 1.
    pub samples: u32,
    /// Formats of the colours, by their location; at most 8.
    pub colors: &'a [Option<&'static VkFormat>],
    /// The pass has depth.
    pub has_depth: bool,
    /// The pass has stencil.
    pub has_stencil: bool,
}

/// What draws that were recorded inherit, and what they ask of the pass that calls them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InheritedPass {
    colors: PipelineColors,
    size: (u32, u32),
    layers: u32,
    view_mask: u32,
    samples: u32,
    has: [bool; 2],
    /// The last vertex of a primitive provokes, if draws say which does.
    last_provokes: Option<bool>,
}

/// The refusal of such draws where commands run them outside of a render pass.
pub(crate) fn only_draws() -> Error {
    GraphicsError::OnlyDraws.into()
}

impl InheritedPass {
    /// What a pass has otherwise.
    fn differs(&self, pass: &Framebuffer) -> Option<Inherited> {
        let name = |format: Option<&'static VkFormat>| format.map(|format| format.name);
        for (color, location) in self.colors.iter().zip(0_u8..) {
            if name(*color) != name(pass.color_format(location.into())) {
                return Some(Inherited::Attachment(Attachment::Color(location)));
            }
        }
        let ([depth, stencil], [has_depth, has_stencil]) = (self.has, pass.has_depth_stencil());
        let all = [
            (depth != has_depth, Inherited::Attachment(Attachment::Depth)),
            (
                stencil != has_stencil,
                Inherited::Attachment(Attachment::Stencil),
            ),
            (self.samples != pass.samples, Inherited::Samples),
            (self.size != pass.size, Inherited::Size),
            (self.view_mask != pass.view_mask, Inherited::Views),
            (self.layers != pass.layers, Inherited::Layers),
        ];
        let found = all.into_iter().find(|(differs, _)| *differs);
        found.map(|(_, what)| what)
    }
}

impl Framebuffer {
    /// That of passes that are not known yet, as far as draws depend on it.
    fn inherit(
        &mut self,
        info: &InheritedRendering<'_>,
        arch: eitri_descriptors::Arch,
    ) -> Result<(), GraphicsError> {
        let (found, most) = (info.colors.len(), MOST_COLORS);
        if found > most {
            return Err(GraphicsError::Attachments { found, most });
        }
        self.layers = match info.view_mask {
            0 => info.layers.max(1),
            views => u32::BITS.saturating_sub(views.leading_zeros()),
        };
        if self.layers > MOST_LAYERS {
            return Err(GraphicsError::unsupported(Unsupported::Layers));
        }
        let last = |length: u32| length.checked_sub(1).ok_or(GraphicsError::Area);
        self.area = [0, 0, last(info.width)?, last(info.height)?];
        self.size = (info.width, info.height);
        self.samples = info.samples.max(1);
        if samples::pattern(arch, self.samples).is_none() {
            let samples = self.samples;
            return Err(GraphicsError::Samples { samples });
        }
        for ((place, format), location) in self.colors.iter_mut().zip(info.colors).zip(0..) {
            let Some(format) = *format else { continue };
            let refused = GraphicsError::Format {
                attachment: Attachment::Color(location),
                format: format.name,
            };
            *place = Some(ColorTarget {
                format,
                target: format.target().ok_or(refused)?,
                bytes: 0,
                view: ImageView::of(Image(Key::NONE)),
                written: None,
                clear: None,
                loaded: None,
                resolves: None,
            });
        }
        self.count = found.max(1);
        self.view_mask = info.view_mask;
        self.has = [info.has_depth, info.has_stencil];
        Ok(())
    }
}

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// Records draws that render passes run, by [`RenderPass::execute`]. They begin with nothing bound, all of the attachments as
    /// viewport and scissor, and push constants of 0: of the pass they inherit what `inherited` says, and its attachments.
    ///
    /// Passes that run them are not recorded any more when they are recorded again. Jobs that run them may not be in flight on
    /// several queues at once.
    ///
    /// # Errors
    /// As [`Device::record`]; or if there are no such passes. Queries are refused.
    pub fn record_draws(
        &mut self,
        commands: CommandBuffer,
        inherited: &InheritedRendering<'_>,
        record: impl FnOnce(&mut RenderPass<'_, '_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.record_secondary(commands, |recorder| {
            let mut pass = recorder.begin_inherited(inherited)?;
            record(&mut pass)?;
            pass.end_inherited();
            Ok(())
        })
    }
}

impl<'r, 's, 'd, P: Platform> Recorder<'r, 's, 'd, P> {
    /// Begins draws for other passes.
    fn begin_inherited<'p>(
        &'p mut self,
        info: &InheritedRendering<'_>,
    ) -> Result<RenderPass<'p, 'r, 's, 'd, P>, Error> {
        let place: &'r DrawStatePlace = self.draw_state;
        let Ok(place) = place.try_borrow_mut() else {
            return Err(CommandError::from(GraphicsError::PassLeaked).into());
        };
        let mut state = RefMut::map(place, |place| place.get_or_insert(DrawState::NOTHING));
        self.device.enable_drawing()?;
        self.level = Level::Draws(0);
        // Areas that the stream or the shaders write to are the commands' own.
        self.exclusive = true;
        let arch = self.arch();
        // In place: it is large.
        let new = Passes::new(Self::finish_inherited, Self::order_passes, 0);
        let passes = self.passes.insert(new);
        let framebuffer = &mut passes.targets.another().framebuffer;
        framebuffer.inherit(info, arch)?;
        state.begin(framebuffer.size, None);
        state.tiler = Some(Tiling::INHERITED);
        // The commands have no other words than the lane's.
        let mut lane = Lane::new(self.writer);
        let registers = DrawRegisters::of(arch);
        for register in [registers.context, registers.context.wrapping_add(1)] {
            // As if it was loaded: the caller has done that.
            lane.loaded.change(register, 0);
        }
        passes.tiling = Some(lane);
        passes.current = Some(SubQueue::VertexTiler);
        Ok(RenderPass {
            recorder: self,
            state,
        })
    }

    /// Ends the lane of fragments; what is for vertices the commands themselves are.
    fn finish_inherited(&mut self) -> Result<PassParts, Error> {
        let mut code = Code {
            start: GpuAddress(0),
            bytes: 0,
        };
        let mut flushes = [false; 2];
        if let Some(passes) = &mut self.passes {
            if let Some(lane) = &mut passes.fragments {
                let (start, bytes) = lane.writer.finish(&mut self.device.hw.platform);
                code = Code { start, bytes };
            }
            let lanes = [passes.tiling.as_ref(), passes.fragments.as_ref()];
            flushes = lanes.map(|lane| lane.is_some_and(|lane| lane.flushes));
        }
        let [vertices, fragments] = flushes;
        self.partial |= vertices;
        Ok(PassParts {
            tiling: None,
            fragments: Part {
                code,
                uses: CacheUse {
                    partial: fragments,
                    clean: false,
                    samples: true,
                    writes_texels: true,
                },
                after: Streams::NONE,
            },
            computes: false,
            counts: 0,
        })
    }

    /// Calls code from a lane.
    fn call_from_lane(&mut self, stream: SubQueue, code: Code) -> Result<(), Error> {
        let encoded = self.encoded()?;
        let all = [
            // Addresses of the GPU have fewer bits than one load takes.
            encoded.call_address.with_address(code.start.0),
            encoded.call_length.with(code.bytes),
            encoded.call,
        ];
        self.in_lane(stream, |it| it.put_together(all))
    }
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Notes for which passes the draws were recorded.
    fn end_inherited(self) {
        let framebuffer = self.framebuffer();
        let mut colors = [None; MOST_COLORS];
        for (location, format) in colors.iter_mut().enumerate() {
            *format = framebuffer.color_format(location);
        }
        let made = InheritedPass {
            colors,
            size: framebuffer.size,
            layers: framebuffer.layers,
            view_mask: framebuffer.view_mask,
            samples: framebuffer.samples,
            has: framebuffer.has_depth_stencil(),
            last_provokes: self.state.tiler.and_then(|tiling| tiling.last_provokes),
        };
        let recorder = self.recorder;
        if let Some(it) = recorder.device.commands_mut(recorder.commands) {
            it.draws = Some(made);
        }
    }

    /// Draws what was recorded by [`crate::Device::record_draws`], as if it stood here. What is bound and set here is not bound and
    /// set there, and is here again behind it. Conditional drawing that has begun here is for all of it.
    ///
    /// # Errors
    /// If it was not recorded so, or for other passes than this one; is in another space; calls too deep; has another provoking
    /// vertex than draws before; a query counts; or there is no memory or no place for what it refers to.
    pub fn execute(&mut self, draws: CommandBuffer) -> Result<&mut Self, Error> {
        let what = Thing::CommandBuffer;
        let refused = |error: GraphicsError| Error::from(CommandError::from(error));
        if self.state.query.is_some() {
            return Err(refused(GraphicsError::unsupported(
                Unsupported::SecondaryQuery,
            )));
        }
        self.recorder.refer(draws.0, what)?;
        let recorded = self.recorder.device.recorded(draws)?;
        let inherited = match &self.recorder.device.object(draws.0, what)?.kind {
            Kind::Commands(it) => it.draws,
            _ => None,
        };
        let (Level::Draws(depth), Some(inherited)) = (recorded.level, inherited) else {
            return Err(refused(GraphicsError::NotDraws));
        };
        if let Some(what) = inherited.differs(self.framebuffer()) {
            return Err(refused(GraphicsError::NotInherited { what }));
        }
        self.recorder.note_call(draws, depth)?;
        let context = match inherited.last_provokes {
            Some(last) => self.context_of_draws(last)?,
            None => self.context_of_clears()?,
        };
        self.state.forget_registers();
        let (state, it) = (&*self.state, &mut *self.recorder);
        let arch = it.arch();
        let uses = recorded.uses;
        if let Some(lane) = it.lane(SubQueue::VertexTiler) {
            lane.flushes |= uses.partial;
        }
        it.in_lane(SubQueue::VertexTiler, |it| {
            let registers = DrawRegisters::of(arch);
            it.load_draw_registers(|it| it.pair(registers.context, context.0))?;
            it.if_predicate(state.predicate, 0, |it| {
                it.call_from_lane(SubQueue::VertexTiler, recorded.code())
            })?;
            if let Some(lane) = it.lane(SubQueue::VertexTiler) {
                lane.loaded.forget_all_but_context(registers);
            }
            Ok(())
        })?;
        it.unflushed = true;
        let Some(passes) = recorded.passes else {
            return Ok(self);
        };
        if passes.fragments.code.bytes != 0 {
            it.open_lane(SubQueue::Fragment)?;
            it.call_from_lane(SubQueue::Fragment, passes.fragments.code)?;
            if let Some(lane) = it.lane(SubQueue::Fragment) {
                lane.flushes |= passes.fragments.uses.partial;
            }
        }
        Ok(self)
    }
}
