//! Draws: vertices shaded in warps, assembled, culled, and entered in polygon lists in the memory of the tiler heap.
//!
//! A draw is worked on in segments of its vertex stream, so memory is bounded whatever its size. Of each segment the distinct
//! vertices are shaded, then its primitives are assembled and entered. Vertices that primitives of the next segment may need
//! are carried over by reference: their results stay in the heap.
//!
//! Facts: hardware/graphics-draw.md 3; graphics-model.md 1; graphics.md 2; command-stream.md 3.6 (RUN_IDVS, RUN_IDVS2).

mod fullscreen;
mod lists;
mod primitives;
mod shading;
mod vertices;

pub(super) use fullscreen::{Fullscreen, fullscreen};

use super::draw::{clip_of, depth_bounds, is_conservative, pair, state_of_draw};
use super::job::Turn;
use super::stage::Reader;
use super::through::Through;
use super::turn::{Stepwise, take_turn};
use crate::diagnosis::StreamMisuse;
use crate::fabric::Fabric;
use crate::injection::GraphicsUnit;
use crate::memory::PhysicalMemory;
use crate::mmu::{Refusal, Refused};
use crate::raster::LineWidth;
use crate::shader::{JobFault, Memory, Place, Program, Warp};
use crate::stream::{Identity, IssuedDraw, exception};
use crate::tiler::{
    Assembled, Assembler, CullRules, DrawState, ListedPrimitive, PolygonList, ProvokingVertex,
    Resumed, TilingStop, Topology, VertexBatch, VertexLayout,
};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use eitri_descriptors::Descriptor;
use eitri_descriptors::raster::{DcdFlags0, PointSizeArrayFormat, PrimitiveFlags};
use lists::{fault, lacks_memory, open_list, provoking, stopped};
use vertices::{Indices, VertexProgram, indices, is_extended, programs};

/// Vertices of the stream that are worked on at a time.
const SEGMENT: u64 = 256;

/// A vertex that is shaded, by its place in a batch.
#[derive(Clone, Copy, Debug)]
struct Shaded {
    batch: VertexBatch,
    number: u32,
    /// The vertex itself, by which it can be shaded again.
    vertex: u32,
}

/// What is done next.
#[derive(Clone, Debug)]
enum Step {
    /// The next segment of the stream is fetched.
    Fetch,
    /// Memory for the segment's vertices is allocated.
    Allocate,
    /// The programs run over the segment's vertices: which program, and the first vertex of the next warp.
    Shade { program: usize, first: usize },
    /// The segment's primitives are assembled: the place in the segment.
    Assemble(usize),
    /// The words that others read are written.
    Store,
}

/// A draw.
#[derive(Clone, Debug)]
pub(super) struct Tiling {
    reader: Reader,
    flags: PrimitiveFlags,
    topology: Topology,
    provoking: ProvokingVertex,
    rules: CullRules,
    state: DrawState,
    indices: Indices,
    layout: VertexLayout,
    extended: bool,
    count: u32,
    instances: u32,
    draw_id: u32,
    list: PolygonList,
    programs: Vec<VertexProgram>,
    program: Program,
    unit: Memory,
    step: Step,
    running: Option<Warp>,
    place: Option<Place>,
    instance: u32,
    /// Place in the stream of the instance.
    next: u32,
    assembler: Assembler,
    /// Vertex names of the segment; `None` is a restart.
    segment: Vec<Option<u32>>,
    /// Vertices of the segment that are to be shaded.
    fresh: Vec<u32>,
    batch: Option<VertexBatch>,
    /// Names of the vertices in `fresh`, where they are shaded again.
    reshaded: Option<Vec<u32>>,
    /// Shaded vertices by name, those that primitives may still need.
    shaded: BTreeMap<u32, Shaded>,
    /// Names given so far.
    names: u32,
    /// The first vertex of the run, and the last two.
    carried: [Option<u32>; 3],
    /// Primitives that are to be entered, what they were assembled as, and how many of it are entered.
    pending: VecDeque<ListedPrimitive>,
    current: Option<Assembled>,
    entered: usize,
    /// Where assembly goes on once the segment is shaded.
    place_in_segment: usize,
    memory: MemoryState,
    warps: u64,
    /// Cores that have shaded vertices of it, a bit each.
    used_cores: u64,
}

/// Tiler memory, as a job sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryState {
    /// Nothing is known to be missing.
    Enough,
    /// An allocation failed.
    Exhausted,
    /// The list was emptied, and nothing was entered since: one more failure is final.
    Emptied,
}

impl Tiling {
    /// Reads what a draw's registers name. `None`: it draws nothing.
    pub(super) fn new(
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        owner: Identity,
        issued: &IssuedDraw,
    ) -> Result<Option<Box<Tiling>>, Refused<JobFault>> {
        let reader = Reader { owner };
        let arch = fabric.config.product.arch();
        let registers = &issued.registers;
        let state = state_of_draw(arch, issued);
        let (count, instances) = (registers[33], registers[34]);
        if count == 0 || instances == 0 {
            return Ok(None);
        }
        let flags = match PrimitiveFlags::unpack_at(arch, &[state.primitive_flags], 0) {
            Ok(flags) => flags,
            Err(error) => return Err(reader.invalid(fabric, 56, error.field)),
        };
        let topology = topology(fabric, &reader, &flags, &state)?;
        let dcd = match DcdFlags0::unpack_at(arch, &state.dcd, 0) {
            Ok(dcd) => dcd,
            Err(error) => return Err(reader.invalid(fabric, 57, error.field)),
        };
        let zs = reader.depth_stencil(fabric, memory, arch, state.depth_stencil)?;
        let context = pair(registers, 40);
        let mut list = open_list(fabric, memory, &reader, context, issued.heap)?;
        list.set_draw(state);
        let Some(area) = clip_of(&state).and_then(|clip| clip.intersection(list.framebuffer()))
        else {
            return Ok(None);
        };
        let extended = is_extended(&flags);
        let views = flags.view_mask.count_ones().max(1) as u8;
        let programs = programs(fabric, memory, &reader, issued, &state, (&flags, extended))?;
        let provoking = provoking(fabric, memory, &reader, context)?;
        Ok(Some(Box::new(Tiling {
            reader,
            topology,
            provoking,
            rules: CullRules {
                area,
                front_ccw: dcd.front_face_ccw,
                cull_front: dcd.cull_front_face,
                cull_back: dcd.cull_back_face,
                depth: depth_bounds(&state, zs.depth_cull_enable),
                conservative: is_conservative(&dcd),
                line_width: LineWidth::new(state.primitive_size),
                bresenham: dcd.aligned_line_ends,
            },
            indices: indices(arch, registers, &flags),
            layout: VertexLayout::new(views, extended, state.varying_bytes),
            extended,
            count,
            instances,
            draw_id: issued.draw_id,
            list,
            programs,
            program: Program::new(arch),
            unit: Memory::default(),
            step: Step::Fetch,
            running: None,
            place: None,
            instance: 0,
            next: 0,
            assembler: Assembler::new(topology, provoking),
            segment: Vec::new(),
            fresh: Vec::new(),
            batch: None,
            reshaded: None,
            shaded: BTreeMap::new(),
            names: 0,
            carried: [None; 3],
            pending: VecDeque::new(),
            current: None,
            entered: 0,
            place_in_segment: 0,
            memory: MemoryState::Enough,
            warps: 0,
            used_cores: 0,
            flags,
            state,
        })))
    }

    /// Works for another owner from now on.
    pub(super) fn move_to(&mut self, owner: Identity) {
        self.reader.owner = owner;
        for program in &mut self.programs {
            program.stage.environment.space = owner.space;
        }
    }

    /// Warps that were begun.
    pub(super) fn tasks(&self) -> u64 {
        self.warps
    }

    /// Whether the tiler heap must have more memory before the job goes on.
    pub(super) fn needs_memory(&self) -> bool {
        self.memory == MemoryState::Exhausted
    }

    /// Cores that have shaded vertices of it.
    pub(super) fn used_cores(&self) -> u64 {
        self.used_cores
    }

    /// The core that shades vertices.
    pub(super) fn cores(&self) -> u64 {
        self.place.map_or(0, |place| 1 << (place.core & 63))
    }

    pub(super) fn work(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
        limit: u64,
    ) -> (u64, Turn) {
        if self.needs_memory()
            && let Err(refused) = self.resume(fabric, memory)
        {
            return (1, Err(refused));
        }
        take_turn(self, fabric, memory, ready, limit)
    }

    /// Fetches the next segment of the stream; `false` if there is none.
    fn fetch(&mut self, memory: &mut Through<'_>) -> Result<bool, Refused<JobFault>> {
        if self.next == self.count {
            self.instance += 1;
            self.next = 0;
            self.assembler = Assembler::new(self.topology, self.provoking);
            self.carried = [None; 3];
        }
        if self.instance >= self.instances {
            return Ok(false);
        }
        let end = (u64::from(self.next) + SEGMENT).min(self.count.into()) as u32;
        let mut vertices = Vec::new();
        for number in self.next..end {
            vertices.push(self.indices.fetch(memory, number)?);
        }
        let mut known = BTreeMap::new();
        self.segment.clear();
        self.fresh.clear();
        for vertex in vertices {
            let name = vertex.map(|vertex| {
                *known.entry(vertex).or_insert_with(|| {
                    self.fresh.push(vertex);
                    self.names = self.names.wrapping_add(1);
                    self.names
                })
            });
            self.segment.push(name);
        }
        self.next = end;
        Ok(true)
    }

    /// Allocates memory for the results of the segment's vertices.
    fn allocate(&mut self, memory: &mut Through<'_>) -> Result<(), TilingStop<Refusal>> {
        let count = self.fresh.len() as u32;
        self.strike(memory)?;
        let batch = self.list.allocate_vertices(memory, self.layout, count)?;
        let carried = self.carried;
        let reshaded = self.reshaded.take();
        if reshaded.is_none() {
            self.shaded.retain(|name, _| carried.contains(&Some(*name)));
        }
        let first = self.names.wrapping_sub(count);
        for (number, vertex) in (0..count).zip(&self.fresh) {
            let name = match &reshaded {
                Some(names) => names[number as usize],
                None => first.wrapping_add(number + 1),
            };
            let shaded = Shaded {
                batch,
                number,
                vertex: *vertex,
            };
            self.shaded.insert(name, shaded);
        }
        self.batch = Some(batch);
        Ok(())
    }

    /// Fails as a heap without memory does if an injection says so: the list is stored first, as a handler may render it.
    fn strike(&mut self, memory: &mut Through<'_>) -> Result<(), TilingStop<Refusal>> {
        if lacks_memory(memory.fabric, &self.reader) {
            self.list.store(memory)?;
            return Err(TilingStop::Exhausted);
        }
        Ok(())
    }

    /// Whether an allocation has succeeded; takes note if there was no memory.
    fn has_memory(
        &mut self,
        memory: &mut Through<'_>,
        allocated: Result<(), TilingStop<Refusal>>,
    ) -> Result<bool, Refused<JobFault>> {
        match allocated {
            Ok(()) => Ok(true),
            Err(TilingStop::Exhausted) if self.memory == MemoryState::Emptied => {
                Err(fault(exception::OOM, 0))
            }
            Err(TilingStop::Exhausted) => {
                self.memory = MemoryState::Exhausted;
                Ok(false)
            }
            Err(stop) => Err(stopped(&self.reader, memory.fabric, stop)),
        }
    }

    /// Goes on once there may be memory. If the list was rendered and emptied, the results of vertices are gone with it: those
    /// that primitives still need are shaded again.
    fn resume(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
    ) -> Result<(), Refused<JobFault>> {
        let mut through = Through {
            fabric,
            memory,
            access: self.reader.tiler_access(0),
        };
        match self.list.resume(&mut through)? {
            Resumed::Continued => self.memory = MemoryState::Enough,
            Resumed::Emptied => {
                self.memory = MemoryState::Emptied;
                self.pending.clear();
                let (names, vertices): (Vec<u32>, Vec<u32>) = self
                    .shaded
                    .iter()
                    .map(|(name, shaded)| (*name, shaded.vertex))
                    .unzip();
                if let Step::Assemble(place) = self.step {
                    self.place_in_segment = place;
                    self.fresh = vertices;
                    self.reshaded = Some(names);
                    self.step = Step::Allocate;
                } else if !names.is_empty() && self.reshaded.is_none() {
                    // Vertices of the segment have no results yet: those that are carried over come first.
                    let new = core::mem::take(&mut self.fresh);
                    let first = self.names.wrapping_sub(new.len() as u32);
                    let known = names.iter().copied();
                    let fresh_names = (0..new.len() as u32).map(|it| first.wrapping_add(it + 1));
                    self.reshaded = Some(known.chain(fresh_names).collect());
                    self.fresh = vertices.into_iter().chain(new).collect();
                }
            }
        }
        Ok(())
    }

    /// Enters waiting primitives, or assembles the next of the segment; the step that follows.
    fn assemble(
        &mut self,
        memory: &mut Through<'_>,
        place: usize,
    ) -> Result<Step, Refused<JobFault>> {
        if self.pending.is_empty()
            && let Some(assembled) = self.current
        {
            // Entered in part before the list was emptied.
            let all = self.survivors(memory, &assembled)?;
            self.pending = all.primitives.into_iter().skip(self.entered).collect();
        }
        if let Some(primitive) = self.pending.front().copied() {
            let added = match self.strike(memory) {
                Ok(()) => self.list.add(memory, &primitive),
                exhausted => exhausted,
            };
            if self.has_memory(memory, added)? {
                self.memory = MemoryState::Enough;
                self.pending.pop_front();
                self.entered += 1;
                if self.pending.is_empty() {
                    self.current = None;
                }
            }
            return Ok(Step::Assemble(place));
        }
        self.current = None;
        // A copy, so that what waits for memory is assembled again.
        let mut assembler = self.assembler;
        let ends = place >= self.segment.len();
        let assembled = match self.segment.get(place) {
            Some(Some(name)) => assembler.vertex(*name),
            Some(None) => assembler.restart(),
            None if self.next == self.count => assembler.restart(),
            None => None,
        };
        if let Some(assembled) = assembled {
            let survivors = self.survivors(memory, &assembled)?;
            memory.fabric.activity.tiler += survivors.counted;
            self.pending = survivors.primitives;
            self.entered = 0;
            self.current = (!self.pending.is_empty()).then_some(assembled);
        }
        self.assembler = assembler;
        if ends {
            return Ok(if self.pending.is_empty() {
                Step::Fetch
            } else {
                // A loop's last line is entered, then nothing is left.
                self.segment.clear();
                Step::Assemble(0)
            });
        }
        match self.segment[place] {
            None => self.carried = [None; 3],
            Some(name) => {
                let [first, _, last] = self.carried;
                self.carried = [first.or(Some(name)), last, Some(name)];
            }
        }
        Ok(Step::Assemble(place + 1))
    }
}

/// The topology of a draw; flags that ask for what is not known are reported.
fn topology(
    fabric: &mut Fabric,
    reader: &Reader,
    flags: &PrimitiveFlags,
    state: &DrawState,
) -> Result<Topology, Refused<JobFault>> {
    let (register, value) = (56, u64::from(state.primitive_flags));
    let misuse = StreamMisuse::StagingInvalid { register, value };
    let Some(topology) = Topology::new(flags.draw_mode) else {
        let mode = flags.draw_mode as u8;
        reader.report(fabric, StreamMisuse::Topology { mode });
        return Err(reader.fail(value));
    };
    // FACT: what an array of scissors or of 32-bit point sizes looks like is not published (hardware/graphics-draw.md 3.3), and no
    // driver has one: the box of the registers and their size are taken. Settled by a draw with each on a v10 board.
    if flags.scissor_array_enable || flags.point_size_array_format == PointSizeArrayFormat::FP32 {
        reader.report(fabric, misuse);
    }
    Ok(topology)
}

impl Stepwise for Tiling {
    fn owner(&self) -> Identity {
        self.reader.owner
    }

    fn unit(&self) -> Option<GraphicsUnit> {
        match self.step {
            Step::Fetch => Some(GraphicsUnit::VertexFetch),
            Step::Allocate | Step::Assemble(_) | Step::Store => Some(GraphicsUnit::Tiler),
            Step::Shade { .. } => None,
        }
    }

    fn has_warp(&self) -> bool {
        self.running.is_some()
    }

    fn lacks_memory(&self) -> bool {
        self.needs_memory()
    }

    fn run_warp(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        limit: u64,
    ) -> Result<u64, (u64, Refused<JobFault>)> {
        self.run(fabric, memory, limit)
    }

    fn advance(
        &mut self,
        fabric: &mut Fabric,
        memory: &mut dyn PhysicalMemory,
        ready: u64,
    ) -> Result<bool, Refused<JobFault>> {
        let access = self.reader.tiler_access(0);
        let mut through = Through {
            fabric,
            memory,
            access,
        };
        self.step = match self.step {
            Step::Fetch => {
                if self.fetch(&mut through)? {
                    Step::Allocate
                } else {
                    Step::Store
                }
            }
            Step::Allocate => {
                let allocated = self.allocate(&mut through);
                if !self.has_memory(&mut through, allocated)? {
                    return Ok(false);
                }
                Step::Shade {
                    program: 0,
                    first: 0,
                }
            }
            Step::Shade { program, first } => {
                if ready == 0 {
                    return Ok(false);
                }
                self.begin_warp(fabric, ready, program, first)
            }
            Step::Assemble(place) => self.assemble(&mut through, place)?,
            Step::Store => {
                self.list.store(&mut through)?;
                return Ok(true);
            }
        };
        Ok(false)
    }
}
