//! Render passes: tiles of a box in order, each shaded alone, then written back.
//!
//! A tile is cleared, frame shaders and the primitives of its lists are shaded in order, warp after warp, and the tile is
//! written back. Nothing of a tile depends on another, and nothing in it on how turns fall: the picture is the same whatever
//! the cores do.
//!
//! Facts: hardware/graphics-model.md 0 (1), 4.1; command-stream.md 3.6 (RUN_FRAGMENT); graphics-framebuffer.md 5.1, 5.10.

mod primitives;
mod tiles;

use super::draw::{DRAW_WORDS, LoadedDraw, corners, state_of_descriptor};
use super::quads::Shader;
use super::stage::Reader;
use super::through::Through;
use super::turn::Stepwise;
use crate::defect::PassDefects;
use crate::diagnosis::StreamMisuse;
use crate::fabric::{Access, Fabric};
use crate::injection::GraphicsUnit;
use crate::inspection::{Attachments, DrawWarpView, TileView};
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused, Source};
use crate::pace::CYCLE;
use crate::raster::{self, Depths, Quad};
use crate::shader::stage::Geometry;
use crate::shader::{JobFault, Place};
use crate::stream::{Identity, IssuedFragment};
use crate::tile::{
    Attachment, Framebuffer, FramebufferSpan, Overlap, PixelBox, Unwritten, write_back,
};
use crate::tiler::{ListReader, TilePrimitives};
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_descriptors::Arch;
use eitri_descriptors::framebuffer::PrePostFrameShaderMode as FrameMode;
use eitri_descriptors::raster::OcclusionMode;
use primitives::{QuadCount, open_lists};
use tiles::{Tiles, raster_box};

/// What is done to a tile next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The next tile begins.
    Begin,
    /// Frame shader 0 or 1, if it runs.
    Before(usize),
    /// Primitives of the tile, one after another.
    Primitives,
    /// The frame shader behind the primitives.
    After,
    WriteBack,
    /// All tiles are done: results of queries reach memory.
    Queries,
}

/// A counted occlusion query.
#[derive(Clone, Copy, Debug)]
struct Query {
    address: u64,
    mode: OcclusionMode,
    count: u64,
}

/// A render pass.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    reader: Reader,
    framebuffer: Framebuffer,
    /// The framebuffer as a tile without geometry sees it: what such tiles don't write is not there.
    untouched: Framebuffer,
    /// Pixels that are rendered; `None` if there are none.
    area: Option<PixelBox>,
    tiles: Tiles,
    step: Step,
    shader: Shader,
    /// Frame shaders that were read.
    frames: [Option<Arc<LoadedDraw>>; 3],
    queries: Vec<Query>,
    /// Polygon lists of the pass; `None` if nothing was drawn.
    lists: Option<ListReader>,
    /// Primitives of the tile that were not queued yet.
    primitives: Option<TilePrimitives>,
    has_primitives: bool,
    /// Draws of the lists that were read, by the address of their state.
    draws: Vec<(u64, Arc<LoadedDraw>)>,
    /// A primitive or frame shader has written to the tile.
    touched: bool,
    done: u64,
    defects: PassDefects,
    /// Varyings of wide primitives drift.
    drift: bool,
    /// Cores that have had tiles of it, a bit each.
    used_cores: u64,
}

impl Pass {
    /// Reads the framebuffer descriptor.
    pub(super) fn new(
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        owner: Identity,
        issued: &IssuedFragment,
    ) -> Result<Pass, Refused<JobFault>> {
        let reader = Reader { owner };
        let arch = fabric.config.product.arch();
        if arch >= Arch::V13 {
            fabric.invalidate_first_level();
        }
        let pointer = issued.framebuffer;
        let span = match FramebufferSpan::of(arch, pointer) {
            Ok(span) => span,
            Err(error) => return Err(reader.invalid(fabric, pointer, error.field)),
        };
        let words = reader.words(fabric, memory, span.address, span.words())?;
        let framebuffer = match Framebuffer::decode(arch, span, &words) {
            Ok(framebuffer) => framebuffer,
            Err(error) => return Err(reader.invalid(fabric, span.address, error.field())),
        };
        let buffers = fabric.config.product.tile_buffers();
        if let Some(field) = framebuffer.misfit(buffers).or(framebuffer.ignored()) {
            // Told, and rendered all the same: what hardware does is not known.
            let address = span.address;
            reader.report(fabric, StreamMisuse::DescriptorInvalid { address, field });
        }
        if let Some(Overlap {
            attachments,
            address,
        }) = framebuffer.overlap()
        {
            let [one, other] = attachments.map(Attachment::name);
            let misuse = StreamMisuse::AttachmentsOverlap {
                one,
                other,
                address,
            };
            reader.report(fabric, misuse);
        }
        let asked = corners(issued.corners);
        let asked = PixelBox {
            min: [asked.min_x.into(), asked.min_y.into()],
            max: [asked.max_x.into(), asked.max_y.into()],
        };
        let area = PixelBox::of(&framebuffer).and_then(|area| area.intersection(asked));
        let mut untouched = framebuffer.clone();
        for target in &mut untouched.targets {
            if !target.clean_tile_write {
                target.image = None;
            }
        }
        if !framebuffer.zs_clean_tile_write {
            (untouched.depth, untouched.stencil) = (None, None);
        }
        Ok(Pass {
            reader,
            area,
            tiles: Tiles::new(framebuffer.tile, area),
            step: Step::Begin,
            shader: Shader::new(arch, &framebuffer),
            frames: [const { None }; 3],
            queries: Vec::new(),
            lists: open_lists(fabric, memory, &reader, &framebuffer)?,
            primitives: None,
            has_primitives: false,
            draws: Vec::new(),
            touched: false,
            done: 0,
            defects: fabric.defects.of_pass(),
            drift: fabric.config.wide_varyings_drift,
            used_cores: 0,
            framebuffer,
            untouched,
        })
    }

    /// Works for another owner from now on.
    pub(super) fn move_to(&mut self, owner: Identity) {
        self.reader.owner = owner;
        self.shader.move_to(owner.space);
        // Read again, for the other address space.
        self.frames = [const { None }; 3];
        self.draws.clear();
    }

    /// The tile, for a debugger; none between tiles.
    pub(crate) fn tile(&self) -> Option<TileView<'_>> {
        self.shader.place()?;
        let tile = self.shader.shown_tile()?;
        Some(TileView::new(tile, self.tiles.origin))
    }

    /// The attachments, for a debugger.
    pub(crate) fn attachments(&self) -> Attachments {
        Attachments::new(self.framebuffer.clone(), self.reader.owner.space)
    }

    /// The warp that runs next, for a debugger; none if a step without a warp comes next.
    pub(super) fn view(&self) -> Option<DrawWarpView<'_>> {
        self.has_warp().then(|| self.shader.view())?
    }

    /// Tiles of the pass.
    pub(super) fn tile_count(&self) -> u64 {
        self.tiles.count
    }

    /// Tiles that are done.
    pub(super) fn tasks(&self) -> u64 {
        self.done
    }

    /// The core that shades the current tile.
    pub(super) fn cores(&self) -> u64 {
        self.shader
            .place()
            .map_or(0, |place| 1 << (place.core & 63))
    }

    /// Cores that have had tiles of it.
    pub(super) fn used_cores(&self) -> u64 {
        self.used_cores
    }

    /// Whether other tiles wait for a core.
    pub(super) fn has_more(&self) -> bool {
        self.tiles.next < self.tiles.count
    }

    /// Clears the tile and gives it to a core.
    fn begin_tile(&mut self, fabric: &mut Fabric, ready: u64) {
        let core = fabric.least_far(ready).map_or(0, |(_, core)| core);
        fabric.begin_on(core);
        self.used_cores |= 1 << core;
        fabric.activity.core(core).fragments.tiles += 1;
        fabric.activity.begin_fragments(core);
        self.touched = false;
        self.shader.begin_tile(Place { core }, self.tiles.origin);
    }

    /// Pixels of the tile that are rendered.
    fn rendered(&self) -> Option<PixelBox> {
        self.area?.intersection(self.tiles.pixels())
    }

    /// Queues a frame shader over all pixels of the tile, if its mode asks for it.
    fn frame_shader(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        slot: usize,
    ) -> Result<(), Refused<JobFault>> {
        let parameters = &self.framebuffer.parameters;
        let mode = [
            parameters.pre_frame_0,
            parameters.pre_frame_1,
            parameters.post_frame,
        ][slot];
        let intersects = matches!(
            mode,
            FrameMode::Intersect | FrameMode::EarlyZsIntersect | FrameMode::PrepassIntersect
        );
        if mode == FrameMode::Never || intersects && !self.has_primitives {
            return Ok(());
        }
        let draw = match &self.frames[slot] {
            Some(draw) => draw.clone(),
            None => {
                let address = parameters.frame_shader_dcds.get() + (4 * DRAW_WORDS * slot) as u64;
                let words = self.reader.words(fabric, memory, address, DRAW_WORDS)?;
                let state = match state_of_descriptor(self.framebuffer.arch, &words) {
                    Ok(state) => state,
                    Err(error) => return Err(self.reader.invalid(fabric, address, error.field)),
                };
                let draw = self.reader.draw(fabric, memory, state, &self.framebuffer)?;
                self.frames[slot].insert(Arc::new(draw)).clone()
            }
        };
        if let Some(area) = self.rendered() {
            self.rectangle(&draw, raster_box(area));
        }
        Ok(())
    }

    /// Queues a draw that covers every pixel of a box of the tile.
    fn rectangle(&mut self, draw: &Arc<LoadedDraw>, area: raster::PixelBox) -> QuadCount {
        self.touched |= !draw.flags.clean_fragment_write;
        let sampling = &draw.state.sampling;
        let coverage = sampling.full() & sampling.mask;
        let mut quads = Vec::new();
        for y in (area.min_y & !1..=area.max_y).step_by(2) {
            for x in (area.min_x & !1..=area.max_x).step_by(2) {
                let mut quad = Quad {
                    x,
                    y,
                    coverage: [0; 4],
                };
                for lane in 0..4 {
                    let (x, y) = quad.pixel(lane);
                    if area.holds(x.into(), y.into()) {
                        quad.coverage[lane] = coverage;
                    }
                }
                quads.push(quad);
            }
        }
        let parameters = &self.framebuffer.parameters;
        let geometry = Arc::new(Geometry {
            depth: draw.bias.map_or(0.0, |bias| bias.of_rectangle()),
            span: [parameters.width, parameters.height],
            ..Geometry::default()
        });
        let depths = Depths::of_rectangle(quads.len(), sampling.count(), geometry.depth);
        self.shader.queue(draw, &geometry, &quads, &depths);
        QuadCount::of(&quads)
    }

    /// Adds the samples that fragments have counted to their draw's query.
    fn count_samples(&mut self) {
        let layer = self.framebuffer.parameters.internal_layer_index;
        for (draw, count) in self.shader.take_counted() {
            let Some((address, mode)) = draw.query(layer) else {
                continue;
            };
            match self.queries.iter_mut().find(|it| it.address == address) {
                Some(query) => query.count += count,
                None => self.queries.push(Query {
                    address,
                    mode,
                    count,
                }),
            }
        }
    }

    /// Adds counts to their slots in memory, one after another.
    fn store_queries(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<(), Refused<JobFault>> {
        while let Some(query) = self.queries.last() {
            let access = self.reader.access(query.address);
            let old = fabric.read64(memory, access)?;
            let new = match query.mode {
                OcclusionMode::Predicate if query.count == 0 => old,
                OcclusionMode::Predicate => 1,
                _ => old.wrapping_add(query.count),
            };
            fabric.write(memory, access, &new.to_le_bytes())?;
            self.queries.pop();
        }
        Ok(())
    }

    fn write_back(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<(), Refused<JobFault>> {
        let framebuffer = if self.touched {
            &self.framebuffer
        } else {
            &self.untouched
        };
        let (Some(clip), Some(tile)) = (self.area, self.shader.tile()) else {
            return Ok(());
        };
        if self.defects.loses_tiles(self.shader.core()) {
            return Ok(());
        }
        let mut through = Through {
            fabric,
            memory,
            access: Access {
                source: Source::TileBuffer(self.shader.core()),
                ..self.reader.access(0)
            },
        };
        let origin = self.tiles.origin;
        write_back(tile, framebuffer, origin, clip, &mut through).map_err(|unwritten| {
            let Unwritten {
                attachment,
                refusal,
            } = unwritten;
            if !matches!(refusal, Refusal::Stalled(stall) if !stall.faulted) {
                let (x, y) = (origin[0] as u16, origin[1] as u16);
                let attachment = attachment.name();
                let misuse = StreamMisuse::Unwritten { attachment, x, y };
                self.reader.report(through.fabric, misuse);
            }
            refusal.into()
        })
    }
}

impl Stepwise for Pass {
    fn owner(&self) -> Identity {
        self.reader.owner
    }

    fn unit(&self) -> Option<GraphicsUnit> {
        Some(match self.step {
            Step::Begin | Step::Before(_) | Step::Primitives | Step::After => {
                GraphicsUnit::FragmentFrontEnd
            }
            Step::WriteBack => GraphicsUnit::WriteBack,
            Step::Queries => GraphicsUnit::Queries,
        })
    }

    fn has_warp(&self) -> bool {
        let more = self.step == Step::Primitives && self.primitives.is_some();
        self.shader.is_busy() && !(more && self.shader.looks_ahead())
    }

    fn run_warp(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> Result<u64, (u64, Refused<JobFault>)> {
        self.shader.run(fabric, memory, limit)
    }

    fn advance(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
    ) -> Result<bool, Refused<JobFault>> {
        self.count_samples();
        if let Some(place) = self.shader.place() {
            fabric.activity.core(place.core).latency += CYCLE;
        }
        self.step = match self.step {
            Step::Begin => {
                if ready == 0 {
                    return Ok(false);
                }
                if self.tiles.advance() {
                    if let Err(refused) = self.open_list(fabric, memory) {
                        self.tiles.next -= 1;
                        return Err(refused);
                    }
                    self.begin_tile(fabric, ready);
                    Step::Before(0)
                } else {
                    Step::Queries
                }
            }
            Step::Before(slot) => {
                self.frame_shader(fabric, memory, slot)?;
                if slot == 0 {
                    Step::Before(1)
                } else {
                    Step::Primitives
                }
            }
            Step::Primitives => {
                if self.primitive(fabric, memory)? {
                    Step::Primitives
                } else {
                    Step::After
                }
            }
            Step::After => {
                self.frame_shader(fabric, memory, 2)?;
                Step::WriteBack
            }
            Step::WriteBack => {
                fabric.trace_drawing(self.shader.core(), 0);
                self.write_back(fabric, memory)?;
                self.done += 1;
                fabric.trace_units(self.shader.core());
                self.shader.leave_tile();
                Step::Begin
            }
            Step::Queries => {
                self.store_queries(fabric, memory)?;
                return Ok(true);
            }
        };
        Ok(false)
    }
}
