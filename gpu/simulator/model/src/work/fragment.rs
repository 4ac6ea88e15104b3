//! Render passes: tiles of a box in order, each shaded alone, then written back.
//!
//! A tile is cleared, frame shaders and the primitives of its lists are shaded in order, warp after warp, and the tile is
//! written back. Nothing of a tile depends on another, and nothing in it on how turns fall: the picture is the same whatever
//! the cores do.
//!
//! Facts: hardware/graphics-model.md 0 (1), 4.1; command-stream.md 3.6 (RUN_FRAGMENT); graphics-framebuffer.md 5.1, 5.10.

use super::draw::{LoadedDraw, corners, is_conservative, state_of_descriptor};
use super::job::Turn;
use super::quads::Shader;
use super::stage::Reader;
use crate::fabric::{Access, Fabric};
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::raster::{
    self, Corner, Facing, LineRules, LineWidth, PointSize, Primitive, Quad, TriangleRules, cover,
};
use crate::shader::stage::Geometry;
use crate::shader::{JobFault, Place};
use crate::stream::{Identity, IssuedFragment};
use crate::tile::framebuffer::TileShape;
use crate::tile::{Framebuffer, FramebufferSpan, GpuMemory, PixelBox, write_back};
use crate::tiler::{
    DrawState, HeapMemory, ListReader, ListedPrimitive, PrimitiveKind, ReadStop, TilePrimitives,
};
use alloc::sync::Arc;
use alloc::vec::Vec;
use eitri_descriptors::framebuffer::PrePostFrameShaderMode as FrameMode;
use eitri_descriptors::raster::OcclusionMode;

/// Words of a draw descriptor.
pub(super) const DRAW_WORDS: usize = 32;

/// Draws that a pass remembers.
const REMEMBERED_DRAWS: usize = 64;

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
#[derive(Debug)]
pub(super) struct Pass {
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
}

/// The tiles of a box, row by row: RUN_FRAGMENT's order is a hint, and no tile sees another (free choice).
#[derive(Clone, Copy, Debug)]
struct Tiles {
    shape: TileShape,
    first: [u32; 2],
    columns: u32,
    count: u64,
    next: u64,
    /// Upper left pixel of the current one.
    origin: [u32; 2],
}

impl Tiles {
    fn new(shape: TileShape, area: Option<PixelBox>) -> Tiles {
        let sides = [shape.width, shape.height];
        let range = |axis: usize| {
            area.map_or((0, 0), |area| {
                let first = area.min[axis] / sides[axis];
                (first, area.max[axis] / sides[axis] - first + 1)
            })
        };
        let ((left, columns), (top, rows)) = (range(0), range(1));
        Tiles {
            shape,
            first: [left, top],
            columns,
            count: u64::from(columns) * u64::from(rows),
            next: 0,
            origin: [0; 2],
        }
    }

    /// Goes to the next tile; `false` if there is none.
    fn advance(&mut self) -> bool {
        if self.next >= self.count {
            return false;
        }
        let columns = u64::from(self.columns);
        let (column, row) = ((self.next % columns) as u32, (self.next / columns) as u32);
        self.next += 1;
        self.origin = [
            (self.first[0] + column) * self.shape.width,
            (self.first[1] + row) * self.shape.height,
        ];
        true
    }

    /// The pixels of the current tile.
    fn pixels(&self) -> PixelBox {
        let [x, y] = self.origin;
        PixelBox {
            min: self.origin,
            max: [x + self.shape.width - 1, y + self.shape.height - 1],
        }
    }
}

/// A box of the tile buffer's in the rasteriser's form: framebuffers have at most 65536 pixels to a side.
fn raster_box(area: PixelBox) -> raster::PixelBox {
    let clamped = |pixel: u32| pixel.min(u16::MAX.into()) as u16;
    raster::PixelBox {
        min_x: clamped(area.min[0]),
        min_y: clamped(area.min[1]),
        max_x: clamped(area.max[0]),
        max_y: clamped(area.max[1]),
    }
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
        let pointer = issued.framebuffer;
        let span = match FramebufferSpan::of(arch, pointer) {
            Ok(span) => span,
            Err(error) => return Err(reader.invalid(fabric, pointer, error.field)),
        };
        let words = reader.words(fabric, memory, span.address, span.words())?;
        let framebuffer = match Framebuffer::decode(arch, span, &words) {
            Ok(framebuffer) => framebuffer,
            Err(_) => return Err(reader.invalid(fabric, span.address, "Framebuffer")),
        };
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
            framebuffer,
            untouched,
        })
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

    pub(super) fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> (u64, Turn) {
        let mut used = 0;
        while used < limit {
            if self.shader.is_busy() {
                match self.shader.run(fabric, memory, limit - used) {
                    Ok(executed) => used += executed,
                    Err((executed, refused)) => return (used + executed, Err(refused)),
                }
                continue;
            }
            // A step without warps counts as an instruction.
            used += 1;
            match self.advance(fabric, memory, ready) {
                Ok(false) => {}
                Ok(true) => return (used, Ok(true)),
                Err(refused) => return (used, Err(refused)),
            }
        }
        (used, Ok(false))
    }

    /// Does the next step; whether the pass is done.
    fn advance(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
    ) -> Result<bool, Refused<JobFault>> {
        self.count_samples();
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
                self.write_back(fabric, memory)?;
                self.done += 1;
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

    /// Clears the tile and gives it to a core: each in turn.
    fn begin_tile(&mut self, fabric: &mut Fabric, ready: u64) {
        let cores: Vec<u8> = (0..64).filter(|core| ready >> core & 1 != 0).collect();
        let turn = (self.tiles.next - 1) as usize % cores.len().max(1);
        let core = cores.get(turn).copied().unwrap_or(0);
        fabric.activity.core(core).tasks += 1;
        self.touched = false;
        self.shader.begin_tile(Place { core }, self.tiles.origin);
    }

    /// Pixels of the tile that are rendered.
    fn rendered(&self) -> Option<PixelBox> {
        self.area?.intersection(self.tiles.pixels())
    }

    /// Looks up the primitives of the current tile.
    fn open_list(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<(), Refused<JobFault>> {
        (self.primitives, self.has_primitives) = (None, false);
        let (Some(lists), Some(area)) = (&self.lists, self.rendered()) else {
            return Ok(());
        };
        let layer = self.framebuffer.parameters.internal_layer_index.into();
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let primitives = lists
            .tile(&mut through, layer, raster_box(area))
            .map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        let first = primitives.clone().next(&mut through);
        let first = first.map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        self.has_primitives = first.is_some();
        self.primitives = self.has_primitives.then_some(primitives);
        Ok(())
    }

    /// Queues the next primitive of the tile; whether there was one.
    fn primitive(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<bool, Refused<JobFault>> {
        // Taken out, so that what waits for memory begins with the same primitive again.
        let Some(before) = self.primitives.take() else {
            return Ok(false);
        };
        let mut primitives = before.clone();
        let next = self.listed(fabric, memory, &mut primitives);
        match next {
            Ok(None) => Ok(false),
            Ok(Some((listed, corners, draw))) => {
                self.primitives = Some(primitives);
                self.queue(&draw, &listed, corners);
                Ok(true)
            }
            Err(refused) => {
                self.primitives = Some(before);
                Err(refused)
            }
        }
    }

    /// The next primitive of the tile with its corners and its draw.
    #[expect(
        clippy::type_complexity,
        reason = "three parts of one primitive, used at once"
    )]
    fn listed(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        primitives: &mut TilePrimitives,
    ) -> Result<Option<(ListedPrimitive, [Corner; 3], Arc<LoadedDraw>)>, Refused<JobFault>> {
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let next = primitives.next(&mut through);
        let next = next.map_err(|stop| unreadable(&self.reader, through.fabric, stop))?;
        let Some(listed) = next else {
            return Ok(None);
        };
        let corners = listed.corners(&mut through)?;
        let draw = self.listed_draw(fabric, memory, listed.draw)?;
        Ok(Some((listed, corners, draw)))
    }

    /// The draw whose state lies at an address of the lists.
    fn listed_draw(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        address: u64,
    ) -> Result<Arc<LoadedDraw>, Refused<JobFault>> {
        if let Some((_, draw)) = self.draws.iter().find(|(known, _)| *known == address) {
            return Ok(draw.clone());
        }
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        let state = DrawState::read(&mut through, address)?;
        let draw = self.reader.draw(fabric, memory, state, &self.framebuffer)?;
        let draw = Arc::new(draw);
        if self.draws.len() == REMEMBERED_DRAWS {
            self.draws.remove(0);
        }
        self.draws.push((address, draw.clone()));
        Ok(draw)
    }

    /// Queues the quads of a primitive that lie in the tile.
    fn queue(&mut self, draw: &Arc<LoadedDraw>, listed: &ListedPrimitive, corners: [Corner; 3]) {
        let clip = self.rendered().map(raster_box);
        let clip = clip.and_then(|area| area.intersection(draw.clip?));
        let Some(area) = clip else {
            return;
        };
        if listed.kind == PrimitiveKind::Fullscreen {
            if let Some(area) = area.intersection(listed.bounds) {
                self.rectangle(draw, area);
            }
            return;
        }
        let Some(primitive) = self.set_up(draw, listed, corners) else {
            return;
        };
        let mut quads = Vec::new();
        cover(&primitive, &draw.state.sampling, area, &mut quads);
        for quad in &mut quads {
            draw.bounds.cull(&primitive, &draw.state.sampling, quad);
        }
        quads.retain(|quad| quad.coverage != [0; 4]);
        self.touched |= !quads.is_empty();
        let geometry = Geometry {
            face: usize::from(primitive.facing == Facing::Back),
            primitive: Some(primitive),
            varyings: listed.vertices.map(|vertex| vertex.varyings),
            vertices: listed.kind.vertices(),
            varying_bytes: draw.words.varying_bytes,
            provoking: listed.provoking.into(),
            id: listed.id,
        };
        self.shader.queue(draw, &Arc::new(geometry), &quads);
    }

    /// The primitive as the rasteriser takes it.
    fn set_up(
        &self,
        draw: &LoadedDraw,
        listed: &ListedPrimitive,
        corners: [Corner; 3],
    ) -> Option<Primitive> {
        let flags = &draw.flags;
        let tie = self.framebuffer.parameters.tie_break_rule;
        let [first, second, _] = corners;
        let primitive = match listed.kind {
            PrimitiveKind::Fullscreen => return None,
            PrimitiveKind::Point => {
                let size = PointSize::new(listed.point_size, self.framebuffer.arch);
                Primitive::point(first, size)?
            }
            PrimitiveKind::Line => {
                let rules = LineRules {
                    tie,
                    width: LineWidth::new(draw.words.primitive_size),
                    bresenham: flags.aligned_line_ends,
                };
                Primitive::line([first, second], rules)?
            }
            PrimitiveKind::Triangle => {
                let rules = TriangleRules {
                    tie,
                    front_ccw: flags.front_face_ccw,
                    conservative: is_conservative(flags),
                };
                Primitive::triangle(corners, rules)?
            }
        };
        let primitive = match &listed.piece {
            Some(piece) => primitive.clipped_from(piece.parts),
            None => primitive,
        };
        Some(match &draw.bias {
            Some(bias) => primitive.biased(bias),
            None => primitive,
        })
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
    fn rectangle(&mut self, draw: &Arc<LoadedDraw>, area: raster::PixelBox) {
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
        let geometry = Arc::new(Geometry::default());
        self.shader.queue(draw, &geometry, &quads);
    }

    /// Adds the samples that fragments have counted to their draw's query.
    fn count_samples(&mut self) {
        for (draw, count) in self.shader.take_counted() {
            let Some((address, mode)) = draw.query() else {
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
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.access(0),
        };
        write_back(tile, framebuffer, self.tiles.origin, clip, &mut through)?;
        Ok(())
    }
}

/// Reads the head of the polygon lists that a framebuffer names.
fn open_lists(
    fabric: &mut Fabric,
    memory: &mut dyn PhysicalMemory,
    reader: &Reader,
    framebuffer: &Framebuffer,
) -> Result<Option<ListReader>, Refused<JobFault>> {
    let context = framebuffer.parameters.tiler.get();
    if context == 0 {
        return Ok(None);
    }
    let list = fabric.read64(memory, reader.access(context))?;
    let mut through = Through {
        fabric,
        memory,
        access: reader.access(0),
    };
    ListReader::open(&mut through, list).map_err(|stop| unreadable(reader, through.fabric, stop))
}

/// Why a list can't be read, as the job ends or waits.
fn unreadable(reader: &Reader, fabric: &mut Fabric, stop: ReadStop<Refusal>) -> Refused<JobFault> {
    match stop {
        ReadStop::Memory(refusal) => refusal.into(),
        ReadStop::Malformed { address } => reader.invalid(fabric, address, "Polygon List"),
    }
}

/// Memory as the tile buffer and the tiler reach it: through the address space and the L2.
pub(super) struct Through<'a> {
    pub(super) fabric: &'a mut Fabric,
    pub(super) memory: &'a mut dyn PhysicalMemory,
    pub(super) access: Access,
}

impl GpuMemory for Through<'_> {
    type Refusal = Refusal;

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        self.fabric
            .read(self.memory, self.access.to(address), bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.fabric
            .write(self.memory, self.access.to(address), bytes)
    }
}

impl HeapMemory for Through<'_> {
    type Refusal = Refusal;

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Refusal> {
        self.fabric
            .read(self.memory, self.access.to(address), bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Refusal> {
        self.fabric
            .write(self.memory, self.access.to(address), bytes)
    }
}
