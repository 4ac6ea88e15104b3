//! Draws: what is bound in a pass, and how it becomes registers and a job of the tiler.
//!
//! Guarantees: a draw has everything that its pipeline needs, or is refused; what stands in memory already is not written again;
//! registers are loaded when their values change.
//! Facts: hardware/graphics-draw.md 3.1 to 3.6, 3.10 to 3.13.

use super::blend;
use super::error::GraphicsError;
use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::pass::RenderPass;
use super::pipeline::{GraphicsPipelined, GraphicsSet, Places};
use super::registers::{DrawRegisters, Loaded};
use super::rendering::{Rect, Viewport};
use super::uniforms::{PUSHED, Values};
use super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use crate::command::{
    BoundSet, CommandError, DESCRIPTOR_BYTES, RESOURCE_WORDS, Recorder, ThreadStorage, buffer,
    local_storage, resource, resource_entries,
};
use crate::error::{Error, Thing};
use crate::handle::{Buffer, DescriptorSet, GraphicsPipeline};
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_cs::Reg;
use eitri_cs::instr::{RunIdvs, RunIdvs2};
use eitri_descriptors::Arch;
use eitri_descriptors::raster::IndexType as IndexCode;
use eitri_program::{DescriptorSlot, EntryKind, MAX_PUSH_CONSTANT_BYTES};

/// Resource tables that a program can use: the driver's, the sets', and one of vertex buffers.
const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 2;

/// What indices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexType {
    /// 8 bits.
    Uint8,
    /// 16 bits.
    Uint16,
    /// 32 bits.
    Uint32,
}

impl IndexType {
    const fn bytes(self) -> u64 {
        match self {
            IndexType::Uint8 => 1,
            IndexType::Uint16 => 2,
            IndexType::Uint32 => 4,
        }
    }

    const fn code(self) -> u32 {
        let code = match self {
            IndexType::Uint8 => IndexCode::UINT8,
            IndexType::Uint16 => IndexCode::UINT16,
            IndexType::Uint32 => IndexCode::UINT32,
        };
        // hardware/graphics-draw.md 3.3.
        code.number() << 8
    }
}

/// Vertices and instances of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Vertices, or indices.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// The first vertex, or the first index.
    pub first: u32,
    /// What is added to each index; of a draw without indices nothing.
    pub vertex_offset: i32,
    /// The first instance.
    pub first_instance: u32,
}

impl Draw {
    /// So many vertices or indices, once, from the first on.
    pub const fn of(count: u32) -> Draw {
        Draw {
            count,
            instances: 1,
            first: 0,
            vertex_offset: 0,
            first_instance: 0,
        }
    }
}

/// A buffer that draws read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bound {
    address: u64,
    bytes: u64,
}

/// Stages of a pipeline.
const VERTEX: usize = 0;
const FRAGMENT: usize = 1;
/// Uniforms: of positions or all of vertices, of varyings, of fragments.
const VARYINGS: usize = 1;
const FRAGMENTS: usize = 2;

/// What is bound in a pass, and what of it stands in memory.
#[derive(Debug)]
pub(super) struct DrawState {
    loaded: Loaded,
    pipeline: Option<Key>,
    /// The sets of each stage, by their tables.
    sets: [[Option<DescriptorSet>; TABLES]; 2],
    vertex_buffers: [Option<Bound>; MOST_BINDINGS],
    indices: Option<(Bound, IndexType)>,
    values: Values,
    scissor: Rect,
    stencil_reference: Option<[u8; 2]>,
    blend_constants: Option<[f32; 4]>,
    /// What stands in memory for what is bound: resources of each stage, uniforms of each program, tests, blending, local storage.
    resources: [Option<u64>; 2],
    uniforms: [Option<u64>; 3],
    tests: Option<u64>,
    blends: Option<u64>,
    storage: Option<u64>,
}

impl DrawState {
    pub(super) fn new(framebuffer: &Framebuffer) -> DrawState {
        let (width, height) = framebuffer.size;
        DrawState {
            loaded: Loaded::NOTHING,
            pipeline: None,
            sets: [[None; TABLES]; 2],
            vertex_buffers: [None; MOST_BINDINGS],
            indices: None,
            values: Values {
                push: [0; PUSHED],
                viewport: Viewport::of(width, height),
                blend_constants: [0.0; 4],
                first_vertex: 0,
                base_instance: 0,
            },
            scissor: Rect {
                x: 0,
                y: 0,
                width,
                height,
            },
            stencil_reference: None,
            blend_constants: None,
            resources: [None; 2],
            uniforms: [None; 3],
            tests: None,
            blends: None,
            storage: None,
        }
    }

    fn forget_vertex_uniforms(&mut self) {
        if let Some(uniforms) = self.uniforms.get_mut(..FRAGMENTS) {
            uniforms.fill(None);
        }
    }
}

impl<'d, P: Platform> RenderPass<'_, '_, '_, 'd, P> {
    /// Uses a pipeline from here on, with its own stencil references and blend constants.
    ///
    /// # Errors
    /// If it was destroyed, is in another space, was made for other attachments, or there is no place for the reference.
    pub fn bind_pipeline(&mut self, pipeline: GraphicsPipeline) -> Result<&mut Self, Error> {
        let key = pipeline.0;
        if self.state.pipeline == Some(key) {
            return Ok(self);
        }
        self.recorder.refer(key, Thing::Pipeline)?;
        let made = *self.recorder.device.graphics_pipeline(key)?;
        if !fits(&made, &self.framebuffer) {
            return Err(CommandError::from(GraphicsError::Compatible).into());
        }
        let state = &mut self.state;
        state.pipeline = Some(key);
        state.values.blend_constants = made.blend_constants;
        (state.stencil_reference, state.blend_constants) = (None, None);
        state.resources = [None; 2];
        state.uniforms = [None; 3];
        (state.tests, state.blends, state.storage) = (None, None, None);
        Ok(self)
    }

    /// Uses a descriptor set from here on.
    ///
    /// # Errors
    /// As [`RenderPass::bind_pipeline`].
    pub fn bind_descriptor_set(&mut self, set: GraphicsSet) -> Result<&mut Self, Error> {
        let stages = [set.vertex, set.fragment].into_iter().enumerate();
        for (stage, set) in stages {
            let Some(set) = set else { continue };
            self.recorder.refer(set.0, Thing::DescriptorSet)?;
            let table = self.recorder.device.bound_set(set)?.table;
            let sets = self.state.sets.get_mut(stage);
            if let Some(place) = sets.and_then(|sets| sets.get_mut(usize::from(table))) {
                *place = Some(set);
            }
            if let Some(resources) = self.state.resources.get_mut(stage) {
                *resources = None;
            }
        }
        self.state.uniforms = [None; 3];
        Ok(self)
    }

    /// Uses these push constants, from byte `offset` on, from here on; what is before and behind stays. Both stages read them.
    ///
    /// # Errors
    /// If they end behind what a program can have, or `offset` or their length is no multiple of 4.
    pub fn push_constants(&mut self, offset: usize, bytes: &[u8]) -> Result<&mut Self, Error> {
        let given = offset.saturating_add(bytes.len());
        let wanted = MAX_PUSH_CONSTANT_BYTES;
        let refused = CommandError::PushConstants { given, wanted };
        let (words, rest) = bytes.as_chunks::<4>();
        let end = given.div_ceil(4);
        let places = self
            .state
            .values
            .push
            .get_mut(offset / 4..end)
            .ok_or(refused)?;
        if !offset.is_multiple_of(4) || !rest.is_empty() {
            return Err(refused.into());
        }
        for (place, word) in places.iter_mut().zip(words) {
            *place = u32::from_le_bytes(*word);
        }
        self.state.uniforms = [None; 3];
        Ok(self)
    }

    /// Reads the elements of a binding from `offset` on of a buffer.
    ///
    /// # Errors
    /// If the buffer was destroyed, is in another space or ends before; there is no such binding; or there is no place for the
    /// reference.
    pub fn bind_vertex_buffer(
        &mut self,
        binding: u32,
        buffer: Buffer,
        offset: u64,
    ) -> Result<&mut Self, Error> {
        let bound = self.bound(buffer, offset)?;
        let place = self.state.vertex_buffers.get_mut(binding as usize);
        let most = MOST_BINDINGS;
        *place.ok_or(CommandError::from(GraphicsError::Binding { binding, most }))? = Some(bound);
        self.state.resources[VERTEX] = None;
        Ok(self)
    }

    /// Reads indices from `offset` on of a buffer, a multiple of an index's bytes.
    ///
    /// # Errors
    /// As [`RenderPass::bind_vertex_buffer`].
    pub fn bind_index_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        kind: IndexType,
    ) -> Result<&mut Self, Error> {
        if !offset.is_multiple_of(kind.bytes()) {
            return Err(Error::Misaligned { offset });
        }
        self.state.indices = Some((self.bound(buffer, offset)?, kind));
        Ok(self)
    }

    fn bound(&mut self, buffer: Buffer, offset: u64) -> Result<Bound, Error> {
        let size = self.recorder.device.buffer_bytes(buffer)?;
        let bytes = size.checked_sub(offset).ok_or(Error::Outside {
            offset,
            bytes: 0,
            size,
        })?;
        self.recorder.refer(buffer.0, Thing::Buffer)?;
        let address = self.recorder.device.buffer_address(buffer)?;
        Ok(Bound {
            address: address.offset(offset).0,
            bytes,
        })
    }

    /// Where vertices go from here on.
    pub fn set_viewport(&mut self, viewport: Viewport) -> &mut Self {
        self.state.values.viewport = viewport;
        self.state.forget_vertex_uniforms();
        self
    }

    /// The pixels that draws may touch from here on.
    pub const fn set_scissor(&mut self, scissor: Rect) -> &mut Self {
        self.state.scissor = scissor;
        self
    }

    /// What stencil values are compared with from here on, of front faces and of back faces.
    pub const fn set_stencil_reference(&mut self, front: u8, back: u8) -> &mut Self {
        self.state.stencil_reference = Some([front, back]);
        self.state.tests = None;
        self
    }

    /// What is blended with from here on.
    ///
    /// # Errors
    /// If the pipeline's equations use constants that differ: the hardware has one.
    pub fn set_blend_constants(&mut self, constants: [f32; 4]) -> Result<&mut Self, Error> {
        if let Some(key) = self.state.pipeline {
            let made = self.recorder.device.graphics_pipeline(key)?;
            if !constants_are_one(made.constants, constants) {
                let what = super::error::Unsupported::BlendConstants;
                return Err(CommandError::from(GraphicsError::unsupported(what)).into());
            }
        }
        self.state.values.blend_constants = constants;
        self.state.blend_constants = Some(constants);
        self.state.blends = None;
        self.state.uniforms[FRAGMENTS] = None;
        Ok(self)
    }

    /// Draws vertices.
    ///
    /// # Errors
    /// If no pipeline is bound, something that it needs is not, all draws of the pass do not have the same provoking vertex, or there
    /// is no memory for more commands.
    pub fn draw(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        let offset = draw.first as i32;
        self.draw_with(
            Draw {
                first: 0,
                vertex_offset: offset,
                ..draw
            },
            None,
        )
    }

    /// Draws vertices by their indices.
    ///
    /// # Errors
    /// As [`RenderPass::draw`]; or if no index buffer is bound.
    pub fn draw_indexed(&mut self, draw: Draw) -> Result<&mut Self, Error> {
        let indices = self.state.indices;
        let missing = CommandError::from(GraphicsError::NoIndexBuffer);
        self.draw_with(draw, Some(indices.ok_or(missing)?))
    }

    fn draw_with(
        &mut self,
        draw: Draw,
        indices: Option<(Bound, IndexType)>,
    ) -> Result<&mut Self, Error> {
        let missing = CommandError::from(GraphicsError::NoPipeline);
        let key = self.state.pipeline.ok_or(missing)?;
        let made = *self.recorder.device.graphics_pipeline(key)?;
        let Some(scissor) = self.scissor_box() else {
            return Ok(self);
        };
        if draw.count == 0 || draw.instances == 0 {
            return Ok(self);
        }
        let (context, last) = match self.tiler {
            Some(tiler) => tiler,
            None => {
                let last = made.last_provokes;
                let at = self.recorder.begin_tiling(&self.framebuffer, last)?;
                *self.tiler.insert((at, last))
            }
        };
        if last != made.last_provokes {
            return Err(CommandError::from(GraphicsError::ProvokingVertex).into());
        }
        let values = &mut self.state.values;
        let (first, base) = (draw.vertex_offset as u32, draw.first_instance);
        if (values.first_vertex, values.base_instance) != (first, base) {
            if made.instanced && values.base_instance != base {
                self.state.resources[VERTEX] = None;
            }
            (values.first_vertex, values.base_instance) = (first, base);
            self.state.forget_vertex_uniforms();
        }
        let call = Call {
            draw,
            indices,
            context,
            scissor,
        };
        let (state, recorder) = (&mut self.state, &mut *self.recorder);
        recorder.in_lane(SubQueue::VertexTiler, |it| {
            it.put_draw(state, key, &made, &call)
        })?;
        Ok(self)
    }

    /// The scissor with the viewport and the attachments, both corners inside; `None` if there is nothing in it.
    fn scissor_box(&self) -> Option<[u32; 4]> {
        let (width, height) = self.framebuffer.size;
        let Viewport {
            x,
            y,
            width: across,
            height: down,
            ..
        } = self.state.values.viewport;
        let least = |a: f32, length: f32| (if length < 0.0 { a + length } else { a }) as i64;
        let most = |a: f32, length: f32| (if length < 0.0 { a } else { a + length }) as i64;
        let Rect {
            x: left,
            y: top,
            width: wide,
            height: high,
        } = self.state.scissor;
        let end = |start: i32, length: u32| i64::from(start).saturating_add(length.into());
        let min_x = least(x, across).max(left.into()).max(0);
        let min_y = least(y, down).max(top.into()).max(0);
        let max_x = most(x, across).min(end(left, wide)).min(width.into());
        let max_y = most(y, down).min(end(top, high)).min(height.into());
        let inside = min_x < max_x && min_y < max_y;
        let last = |end: i64| end.saturating_sub(1) as u32;
        inside.then_some([min_x as u32, min_y as u32, last(max_x), last(max_y)])
    }
}

/// A draw that has everything.
struct Call {
    draw: Draw,
    indices: Option<(Bound, IndexType)>,
    context: GpuAddress,
    scissor: [u32; 4],
}

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Puts a draw into the commands of vertices.
    fn put_draw(
        &mut self,
        state: &mut DrawState,
        key: Key,
        made: &GraphicsPipelined,
        call: &Call,
    ) -> Result<(), Error> {
        let arch = self.arch();
        let places = self.device.pipeline_places(key)?;
        let resources = self.vertex_resources(state, &places, made)?;
        let of_fragments = self.fragment_resources(state, &places, made)?;
        let tests = self.tests(state, &places)?;
        let blends = self.blends(state, &places, made)?;
        let storage = self.draw_storage(state, &places, made)?;
        let sets = [VERTEX, FRAGMENT].map(|stage| self.sets_of(state, stage));
        let [vertex_sets, fragment_sets] = sets;
        let mut programs = [0; 3];
        let [position, varyings, fragments] = state.uniforms;
        let (program, words) = self.program_of_draw(
            (made.vertex, made.position),
            position,
            (&state.values, &vertex_sets),
        )?;
        (programs[VERTEX], state.uniforms[VERTEX]) = (program, Some(words));
        let (program, words) = self.program_of_draw(
            (made.vertex, EntryKind::Varying),
            varyings,
            (&state.values, &vertex_sets),
        )?;
        (programs[VARYINGS], state.uniforms[VARYINGS]) = (program, Some(words));
        if let Some(stage) = made.fragment.filter(|_| made.shades) {
            let (program, words) = self.program_of_draw(
                (stage, EntryKind::Fragment),
                fragments,
                (&state.values, &fragment_sets),
            )?;
            (programs[FRAGMENTS], state.uniforms[FRAGMENTS]) = (program, Some(words));
        }
        let uniforms = state.uniforms.map(|words| words.unwrap_or(0));
        let varies = made.shades && programs[VARYINGS] != 0;
        let registers = DrawRegisters::of(arch);
        let it = &mut state.loaded;
        let [min_x, min_y, max_x, max_y] = call.scissor;
        let scissor = u64::from(max_y << 16 | max_x) << 32 | u64::from(min_y << 16 | min_x);
        let [near, far] = depths(&state.values.viewport, made);
        self.load_draw_pair(it, registers.vertex_resources, resources)?;
        self.load_draw_pair(it, registers.fragment_resources, of_fragments)?;
        self.load_draw_pair(it, registers.vertex_uniforms, uniforms[VERTEX])?;
        self.load_draw_pair(it, registers.fragment_uniforms, uniforms[FRAGMENTS])?;
        self.load_draw_pair(it, registers.vertex_program, programs[VERTEX])?;
        self.load_draw_pair(it, registers.fragment_program, programs[FRAGMENTS])?;
        if let (true, Some(program), Some(words)) = (
            varies,
            registers.varying_program,
            registers.varying_uniforms,
        ) {
            self.load_draw_pair(it, program, programs[VARYINGS])?;
            self.load_draw_pair(it, words, uniforms[VARYINGS])?;
        }
        self.load_draw_pair(it, registers.vertex_storage, storage)?;
        if let Some(register) = registers.fragment_storage {
            self.load_draw_pair(it, register, storage)?;
        }
        self.load_draw_pair(it, registers.context, call.context.0)?;
        self.load_draw_pair(it, registers.scissor, scissor)?;
        if let Some(register) = registers.viewport {
            self.load_draw_pair(it, register, scissor)?;
        }
        self.load_draw_word(it, registers.depths, near.to_bits())?;
        self.load_draw_word(it, registers.depths.wrapping_add(1), far.to_bits())?;
        self.load_draw_pair(it, registers.tests, tests)?;
        self.load_draw_pair(it, registers.blends, blends)?;
        let (buffer, bytes, code) = match call.indices {
            Some((bound, kind)) => {
                let bytes = u32::try_from(bound.bytes).unwrap_or(u32::MAX);
                (bound.address, bytes, kind.code())
            }
            None => (0, 0, 0),
        };
        if call.indices.is_some() {
            self.load_draw_pair(it, registers.index_buffer, buffer)?;
        }
        let Draw {
            count,
            instances,
            first,
            vertex_offset,
            ..
        } = call.draw;
        let words = made.words;
        let all = [
            (registers.index_bytes, bytes),
            (registers.attribute_offset, 0),
            (registers.count, count),
            (registers.instances, instances),
            (registers.first_index, first),
            (registers.vertex_offset, vertex_offset as u32),
            // The first instance stands in descriptors and uniforms (hardware/graphics-draw.md 3.6).
            (registers.instance_offset, 0),
            (registers.varying_bytes, made.varying_bytes),
            (registers.primitive, words.primitive | code),
            (registers.flags_0, words.flags_0),
            (registers.flags_1, words.flags_1),
            (registers.flags_2, words.flags_2),
            (registers.size, made.size.to_bits()),
        ];
        for (register, value) in all {
            self.load_draw_word(it, register, value)?;
        }
        if let Some(register) = registers.primitive_2 {
            self.load_draw_word(it, register, 0)?;
        }
        if arch < Arch::V12 {
            self.push(RunIdvs {
                malloc_enable: true,
                varying_fau_select: varies,
                fragment_srt_select: true,
                ..RunIdvs::default()
            })?;
        } else {
            self.push(RunIdvs2 {
                malloc_enable: true,
                ..RunIdvs2::default()
            })?;
        }
        self.unflushed = true;
        Ok(())
    }

    /// A program of a stage: its descriptor, and the value of its uniforms' register, which may be known. Both are 0 if there is none.
    fn program_of_draw(
        &mut self,
        (stage, kind): (Key, EntryKind),
        known: Option<u64>,
        (values, sets): (&Values, &[Option<BoundSet>; TABLES]),
    ) -> Result<(u64, u64), Error> {
        let program = *self.device.stage_program(stage)?;
        let Some(entry) = program.entry_point(kind) else {
            return Ok((0, 0));
        };
        let places = self.device.stage_places(stage)?;
        let words = match known {
            Some(known) => known,
            None => self.draw_uniforms(&entry, places.data, values, sets)?,
        };
        Ok((places.program(&program, kind), words))
    }

    fn load_draw_word(
        &mut self,
        loaded: &mut Loaded,
        register: u8,
        value: u32,
    ) -> Result<(), Error> {
        if loaded.change(register, value) {
            self.move_to(Reg::new(register), value)
        } else {
            Ok(())
        }
    }

    fn load_draw_pair(
        &mut self,
        loaded: &mut Loaded,
        register: u8,
        value: u64,
    ) -> Result<(), Error> {
        self.load_draw_word(loaded, register, value as u32)?;
        self.load_draw_word(loaded, register.wrapping_add(1), (value >> 32) as u32)
    }

    /// The sets that are bound to a stage, by their tables.
    fn sets_of(&self, state: &DrawState, stage: usize) -> [Option<BoundSet>; TABLES] {
        let mut bound = [None; TABLES];
        for (place, set) in bound
            .iter_mut()
            .zip(state.sets.get(stage).into_iter().flatten())
        {
            *place = set.and_then(|set| self.device.bound_set(set).ok());
        }
        bound
    }

    /// The resource tables of the vertex stage: inputs, sets, and behind them the buffers of vertices.
    fn vertex_resources(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        if let Some(known) = state.resources[VERTEX] {
            return Ok(known);
        }
        let inputs = self.inputs(state, places, made)?;
        let bytes = (MOST_ATTRIBUTES as u32 + 1) * DESCRIPTOR_BYTES as u32;
        let mut extra = None;
        if made.bindings != 0 {
            let count = u16::BITS.saturating_sub(made.bindings.leading_zeros()) as usize;
            let mut words = [0; MOST_BINDINGS * 8];
            let places = words.as_chunks_mut::<8>().0.iter_mut().enumerate();
            for (binding, place) in places.take(count) {
                if made.bindings >> binding & 1 == 0 {
                    continue;
                }
                let bound = state.vertex_buffers.get(binding).copied().flatten();
                let binding = binding as u32;
                let missing = GraphicsError::NoVertexBuffer { binding };
                let bound = bound.ok_or(CommandError::from(missing))?;
                let length = u32::try_from(bound.bytes).unwrap_or(u32::MAX);
                *place = buffer(self.arch(), bound.address, length)?;
            }
            let used = words.get(..count.saturating_mul(8)).unwrap_or_default();
            let at = self.place(used)?;
            extra = Some((made.buffer_table, at, (count as u32).saturating_mul(32)));
        }
        let sets = self.sets_of(state, VERTEX);
        let made = self.tables(made.vertex, &sets, (inputs, bytes), extra)?;
        state.resources[VERTEX] = Some(made);
        Ok(made)
    }

    /// The vertex stage's own table. With a first instance what goes on with instances begins later.
    fn inputs(
        &mut self,
        state: &DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<GpuAddress, Error> {
        let (from, at) = places.inputs();
        let base = state.values.base_instance;
        if base == 0 || !made.instanced {
            return Ok(at);
        }
        let mut words = [0; (MOST_ATTRIBUTES + 1) * 8];
        for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
            *word = self.device.hw.platform.load32(from.offset(offset));
        }
        for (number, attribute) in words.chunks_exact_mut(8).enumerate().take(MOST_ATTRIBUTES) {
            let at = places.strides().offset((number as u64).saturating_mul(4));
            let stride = self.device.hw.platform.load32(at);
            if let [_, _, offset, ..] = attribute {
                *offset = offset.wrapping_add(base.wrapping_mul(stride));
            }
        }
        self.place(&words)
    }

    /// The resource tables of the fragment stage: a sampler, and sets.
    fn fragment_resources(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        let Some(stage) = made.fragment.filter(|_| made.shades) else {
            return Ok(0);
        };
        if let Some(known) = state.resources[FRAGMENT] {
            return Ok(known);
        }
        let sets = self.sets_of(state, FRAGMENT);
        let own = (places.sampler(), DESCRIPTOR_BYTES as u32);
        let made = self.tables(stage, &sets, own, None)?;
        state.resources[FRAGMENT] = Some(made);
        Ok(made)
    }

    /// Resource tables of a stage, with the driver's own first; gives the value of their register.
    fn tables(
        &mut self,
        stage: Key,
        sets: &[Option<BoundSet>; TABLES],
        (own, bytes): (GpuAddress, u32),
        extra: Option<(u8, GpuAddress, u32)>,
    ) -> Result<u64, Error> {
        let common = *self.device.stage_program(stage)?.common();
        for binding in common.bindings() {
            let set = sets.get(usize::from(binding.slot.table)).copied().flatten();
            for element in 0..binding.count {
                if !set.is_some_and(|set| self.device.is_bound(&set, &binding, element)) {
                    let (set, binding) = (binding.set, binding.binding);
                    let missing = CommandError::Missing {
                        set,
                        binding,
                        element,
                    };
                    return Err(missing.into());
                }
            }
        }
        let arch = self.arch();
        let highest = common.highest_table().unwrap_or(0);
        let highest = extra.map_or(highest, |(table, ..)| table.max(highest));
        let count = resource_entries(highest);
        let mut words = [0; TABLES.next_multiple_of(4) * RESOURCE_WORDS];
        let entries = words.as_chunks_mut::<RESOURCE_WORDS>().0.iter_mut();
        for (table, entry) in entries.take(count as usize).enumerate() {
            let set = sets.get(table).and_then(|set| set.as_ref());
            let made = match (table, extra) {
                (0, _) => resource(arch, own.0, bytes)?,
                (_, Some((other, at, bytes))) if usize::from(other) == table => {
                    resource(arch, at.0, bytes)?
                }
                _ => match set {
                    Some(set) => resource(arch, set.address.0, set.bytes)?,
                    None => continue,
                },
            };
            *entry = made;
        }
        let used = words.get(..(count as usize).saturating_mul(RESOURCE_WORDS));
        let at = self.place(used.unwrap_or_default())?;
        Ok(at.0 | u64::from(count))
    }

    /// The descriptor of the tests of depth and stencil.
    fn tests(&mut self, state: &mut DrawState, places: &Places) -> Result<u64, Error> {
        if let Some(known) = state.tests {
            return Ok(known);
        }
        let (from, at) = places.tests();
        let tests = match state.stencil_reference {
            None => at,
            Some([front, back]) => {
                let mut words = [0; 8];
                for (word, offset) in words.iter_mut().zip((0..).step_by(4)) {
                    *word = self.device.hw.platform.load32(from.offset(offset));
                }
                // hardware/graphics-raster.md 4.8: bytes of word 2.
                words[2] = u32::from(front) | u32::from(back) << 8;
                self.place(&words)?
            }
        };
        state.tests = Some(tests.0);
        Ok(tests.0)
    }

    /// The descriptors of blending, with their number.
    fn blends(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        if let Some(known) = state.blends {
            return Ok(known);
        }
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
        let value = blends.0 | u64::from(count);
        state.blends = Some(value);
        Ok(value)
    }

    /// The descriptor of the local storage of both stages.
    fn draw_storage(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        if made.scratch_bytes == 0 {
            return Ok(places.storage().0);
        }
        if let Some(known) = state.storage {
            return Ok(known);
        }
        let (address, size_log2) = self.scratch_memory(made.scratch_bytes)?;
        let thread = ThreadStorage { address, size_log2 };
        let words = local_storage(self.arch(), Some(thread), None)?;
        let at = self.place(&words)?;
        state.storage = Some(at.0);
        Ok(at.0)
    }
}

/// Depths that draws are clipped or clamped to.
fn depths(viewport: &Viewport, _: &GraphicsPipelined) -> [f32; 2] {
    let [a, b] = viewport.depth;
    [a.min(b), a.max(b)]
}

/// Whether a pipeline is made for what a pass renders to.
fn fits(made: &GraphicsPipelined, framebuffer: &Framebuffer) -> bool {
    let mut colors = made.colors.iter().enumerate();
    let same = |(location, format): (usize, &Option<&eitri_descriptors::formats::VkFormat>)| {
        let own = format.map(|format| format.name);
        own == framebuffer.color_format(location).map(|format| format.name)
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
