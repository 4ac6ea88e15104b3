//! A draw becomes words: registers, descriptors and uniforms that are not there yet, and the tiler's job.
//!
//! Guarantees: what stands in memory already is not written again; registers are loaded when their values change, and only those
//! are looked at that what was set or bound since the last draw may change.
//! Facts: hardware/graphics-draw.md 3.1 to 3.6, 3.10 to 3.13.

use super::draw::{Draw, IndexType};
use super::draw_state::{DrawState, FRAGMENTS, Stale, VARYINGS, VERTEX};
use super::draw_words::DrawWords;
use super::dynamic::Class;
use super::indirect::{Copies, IndirectRun, Parameters};
use super::pass_bound::Bound;
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use super::registers::{BoundPair, DrawLoads, DrawRegisters, MOST_LOADS};
use super::rendering::Viewport;
use super::repeat::{DrawKind, DrawNumbers, LastDraw};
use crate::command::Recorder;
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;

/// Indices, and what they are.
pub(super) type Indices = (Bound, IndexType);

/// What says how many vertices and instances there are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// The host.
    Given(Draw),
    /// A buffer.
    Buffer(Parameters),
}

/// A draw that has everything.
pub(super) struct Call {
    pub(super) source: Source,
    pub(super) indices: Option<Indices>,
    /// The tiler's context and the scissor, if state is stale.
    pub(super) context: GpuAddress,
    pub(super) scissor: [u32; 4],
    /// The view that is drawn to, as its bit; 0 without multiview.
    pub(super) view_mask: u32,
}

impl<'d, P: Platform> Recorder<'_, '_, 'd, P> {
    /// Puts a draw into the commands of vertices.
    pub(super) fn put_draw(
        &mut self,
        state: &mut DrawState,
        key: Key,
        made: &GraphicsPipelined,
        call: &Call,
    ) -> Result<(), Error> {
        let places = self.device.pipeline_places(key)?;
        let stale = state.stale;
        // An error leaves things half said.
        state.last = None;
        let resources = [
            self.vertex_resources(state, &places, made)?,
            self.fragment_resources(state, &places, made)?,
        ];
        if stale.has(Stale::UNIFORMS) {
            self.uniforms_of_draw(state, (key, made), &places)?;
        }
        let uniforms = state.uniforms.map(|words| words.unwrap_or(0));
        if stale.has(Stale::STATE) {
            self.descriptors_of_draw(state, &places, made)?;
        }
        self.unflushed = true;
        let draw = match &call.source {
            Source::Given(draw) => draw,
            Source::Buffer(parameters) => {
                let what = (resources, uniforms);
                return self.put_indirect(state, (&places, made), call, what, parameters);
            }
        };
        let varies = made.varies();
        let run = self.encoded()?.run(varies);
        let predicate = state.predicate;
        let registers = DrawRegisters::of(self.arch());
        self.load_draw_registers(|it| {
            if stale.has(Stale::RESOURCES) {
                load_resources(it, resources);
            }
            if stale.has(Stale::UNIFORMS) {
                load_uniforms(it, uniforms, varies);
            }
            if stale.has(Stale::STATE) {
                load_state(it, registers, (state, made), call);
            }
            load_numbers(it, registers, draw);
            if predicate.is_none() {
                it.put(run);
            }
        })?;
        state.stale = Stale::NOTHING;
        if predicate.is_some() {
            self.if_predicate(predicate, 0, |it| it.put(run))?;
        }
        if state.in_turn {
            return self.mark_draw();
        }
        if predicate.is_some() {
            return Ok(());
        }
        state.last = Some(LastDraw {
            numbers: DrawNumbers::of(draw),
            kind: match call.indices {
                Some(_) => DrawKind::Indexed,
                None => DrawKind::Plain,
            },
            varies,
            planned: made.plan.is_some(),
        });
        Ok(())
    }

    /// Appends loads of registers of draws, and a job at most, to the lane of vertices.
    #[inline]
    pub(super) fn load_draw_registers(
        &mut self,
        all: impl FnOnce(&mut DrawLoads<'_>),
    ) -> Result<(), Error> {
        let most = MOST_LOADS.saturating_add(1);
        self.make_room_in(SubQueue::VertexTiler, most)?;
        // There are instructions of draws.
        let (Some(drawing), Some(passes)) = (&self.device.drawing, &mut self.passes) else {
            return Ok(());
        };
        let Some((writer, loaded)) = passes.tiling_writer(&mut self.writer) else {
            return Ok(());
        };
        loaded.forget_pipeline(DrawRegisters::of(self.device.hw.properties.arch));
        let mut loads = DrawLoads::new(&drawing.encoded, loaded);
        all(&mut loads);
        loads.write(&mut self.device.hw.platform, writer);
        Ok(())
    }

    /// Makes the descriptors and the words of the state that are not there yet.
    fn descriptors_of_draw(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<(), Error> {
        if state.tests.is_none() {
            state.tests = Some(self.tests(state, places, made)?);
        }
        if state.blends.is_none() {
            state.blends = Some(self.blends(state, places, made)?);
        }
        if state.storage.is_none() {
            state.storage = Some(self.draw_storage(places, made)?);
        }
        if state.words.is_none() {
            state.words = Some(self.words_of_draws(state, places, made)?);
        }
        Ok(())
    }

    /// Puts draws whose numbers stand in a buffer.
    fn put_indirect(
        &mut self,
        state: &mut DrawState,
        (places, made): (&Places, &GraphicsPipelined),
        call: &Call,
        (mut resources, mut uniforms): ([u64; 2], [u64; 3]),
        parameters: &Parameters,
    ) -> Result<(), Error> {
        let mut all = Copies::new();
        let copies = match self.make_copies(state, places, made, parameters, &mut all)? {
            true => Some(&all),
            false => None,
        };
        if let Some(copies) = copies {
            resources[VERTEX] = copies.resources().unwrap_or(resources[VERTEX]);
            for (which, value) in uniforms.iter_mut().enumerate() {
                *value = copies.uniforms(which).unwrap_or(*value);
            }
        }
        let varies = made.varies();
        let stale = state.stale;
        let registers = DrawRegisters::of(self.arch());
        self.load_draw_registers(|it| {
            load_resources(it, resources);
            load_uniforms(it, uniforms, varies);
            if stale.has(Stale::STATE) {
                load_state(it, registers, (state, made), call);
            }
            it.word(registers.first_index, 0);
        })?;
        state.stale = Stale::NOTHING;
        if copies.is_some() {
            state.stale = Stale::RESOURCES.and(Stale::UNIFORMS);
        }
        let run = IndirectRun {
            parameters,
            copies: copies.map(|copies| (copies, made)),
            varies,
        };
        let words = run.most_words();
        self.if_predicate(state.predicate, words, |it| it.run_indirect(&run))?;
        if state.in_turn {
            return self.mark_draw();
        }
        if state.predicate.is_none() {
            // The next draw finds all other state in the registers.
            state.last = Some(LastDraw {
                kind: parameters.kind(),
                varies,
                ..LastDraw::NOTHING
            });
        }
        Ok(())
    }
}

#[inline(always)]
pub(super) fn load_resources(it: &mut DrawLoads<'_>, [vertices, fragments]: [u64; 2]) {
    it.bound(BoundPair::VertexResources, vertices);
    it.bound(BoundPair::FragmentResources, fragments);
}

#[inline(always)]
pub(super) fn load_uniforms(
    it: &mut DrawLoads<'_>,
    [vertices, varyings, fragments]: [u64; 3],
    varies: bool,
) {
    it.bound(BoundPair::VertexUniforms, vertices);
    if varies {
        it.bound(BoundPair::VaryingUniforms, varyings);
    }
    it.bound(BoundPair::FragmentUniforms, fragments);
}

/// Loads the numbers of vertices and instances of a draw.
#[inline(always)]
pub(super) fn load_numbers(it: &mut DrawLoads<'_>, registers: &DrawRegisters, draw: &Draw) {
    for (register, value) in [
        (registers.count, draw.count),
        (registers.instances, draw.instances),
        (registers.first_index, draw.first),
        (registers.vertex_offset, draw.vertex_offset as u32),
        // The first instance stands in descriptors and uniforms (hardware/graphics-draw.md 3.6).
        (registers.instance_offset, 0),
    ] {
        it.word(register, value);
    }
}

/// Loads the index buffer; gives the bits of its kind of indices.
pub(super) fn load_indices(
    it: &mut DrawLoads<'_>,
    registers: &DrawRegisters,
    (bound, kind): &Indices,
) -> u32 {
    it.pair(registers.index_buffer, bound.address);
    it.word(
        registers.index_bytes,
        u32::try_from(bound.bytes).unwrap_or(u32::MAX),
    );
    kind.code()
}

/// The scissor's register.
pub(super) fn scissor_of([min_x, min_y, max_x, max_y]: [u32; 4]) -> u64 {
    u64::from(max_y << 16 | max_x) << 32 | u64::from(min_y << 16 | min_x)
}

/// Loads the tiler's context and the scissor.
pub(super) fn load_context(
    it: &mut DrawLoads<'_>,
    registers: &DrawRegisters,
    context: GpuAddress,
    scissor: u64,
) {
    it.pair(registers.context, context.0);
    it.pair(registers.scissor, scissor);
    if let Some(register) = registers.viewport {
        it.pair(register, scissor);
    }
}

/// Loads what neither resources nor uniforms are, nor the numbers of a draw.
fn load_state(
    it: &mut DrawLoads<'_>,
    registers: &DrawRegisters,
    (state, made): (&DrawState, &GraphicsPipelined),
    call: &Call,
) {
    let [near, far] = depths(&state.values.viewport);
    load_context(it, registers, call.context, scissor_of(call.scissor));
    it.word(registers.depths, near.to_bits());
    it.word(registers.depths.wrapping_add(1), far.to_bits());
    let code = match &call.indices {
        Some(indices) => load_indices(it, registers, indices),
        None => {
            it.word(registers.index_bytes, 0);
            0
        }
    };
    let mut words = state.words.unwrap_or(made.words);
    if let Some(query) = state.query {
        it.pair(registers.occlusion, query.at.0);
        words.flags_0 |= query.flags();
    }
    // hardware/graphics-draw.md 3.3.
    words.primitive |= code | call.view_mask << 24;
    let width = state.dynamic.line_width;
    let width = width.filter(|_| made.topology_class == Class::Lines);
    // They were made before.
    let of = PipelineState {
        tests: state.tests.unwrap_or(0),
        blends: state.blends.unwrap_or(0),
        storage: state.storage.unwrap_or(0),
        words,
        size: width.unwrap_or(made.size),
    };
    load_pipeline(it, registers, made, &of);
    it.word(registers.attribute_offset, 0);
    if let Some(register) = registers.primitive_2 {
        it.word(register, 0);
    }
}

/// What a draw has of its pipeline, its resources and uniforms aside.
struct PipelineState {
    tests: u64,
    blends: u64,
    storage: u64,
    /// With what kind of indices, the view and the query say.
    words: DrawWords,
    size: f32,
}

/// Loads it.
fn load_pipeline(
    it: &mut DrawLoads<'_>,
    registers: &DrawRegisters,
    made: &GraphicsPipelined,
    of: &PipelineState,
) {
    it.address(registers.vertex_program, made.programs[VERTEX]);
    it.address(registers.fragment_program, made.programs[FRAGMENTS]);
    if let (true, Some(program)) = (made.varies(), registers.varying_program) {
        it.address(program, made.programs[VARYINGS]);
    }
    it.address(registers.vertex_storage, of.storage);
    if let Some(register) = registers.fragment_storage {
        it.address(register, of.storage);
    }
    it.address(registers.tests, of.tests);
    it.address(registers.blends, of.blends);
    for (register, value) in [
        (registers.varying_bytes, made.varying_bytes),
        (registers.primitive, of.words.primitive),
        (registers.flags_0, of.words.flags_0),
        (registers.flags_1, of.words.flags_1),
        (registers.flags_2, of.words.flags_2),
        (registers.size, of.size.to_bits()),
    ] {
        it.word(register, value);
    }
}

/// Depths that draws are clipped or clamped to.
pub(super) fn depths(viewport: &Viewport) -> [f32; 2] {
    let [a, b] = viewport.depth;
    [a.min(b), a.max(b)]
}
