//! A draw becomes words: registers, descriptors and uniforms that are not there yet, and the tiler's job.
//!
//! Guarantees: what stands in memory already is not written again; registers are loaded when their values change.
//! Facts: hardware/graphics-draw.md 3.1 to 3.6, 3.10 to 3.13.

use super::blend;
use super::draw::{
    Bound, Draw, DrawState, FRAGMENT, FRAGMENTS, IndexType, TABLES, VARYINGS, VERTEX,
};
use super::dynamic::Class;
use super::error::GraphicsError;
use super::framebuffer::{Framebuffer, MOST_COLORS};
use super::indirect::{MOST_WORDS, Parameters};
use super::pipeline::{GraphicsPipelined, Places};
use super::registers::{DrawRegisters, Loaded};
use super::rendering::Viewport;
use super::state::DrawWords;
use super::uniforms::Values;
use super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use crate::command::{
    BoundSet, CommandError, DESCRIPTOR_BYTES, RESOURCE_WORDS, Recorder, ThreadStorage, buffer,
    local_storage, resource, resource_entries,
};
use crate::error::Error;
use crate::platform::Platform;
use crate::queue::SubQueue;
use crate::slab::Key;
use crate::vm::GpuAddress;
use eitri_cs::Reg;
use eitri_cs::instr::{RunIdvs, RunIdvs2};
use eitri_descriptors::Arch;
use eitri_program::{EntryKind, FragmentFacts};

/// Resource tables of a stage.
pub(super) type TableWords = [u32; TABLES.next_multiple_of(4) * RESOURCE_WORDS];

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
        let arch = self.arch();
        let places = self.device.pipeline_places(key)?;
        let mut resources = self.vertex_resources(state, &places, made)?;
        let of_fragments = self.fragment_resources(state, &places, made)?;
        let tests = self.tests(state, &places, made)?;
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
        let mut uniforms = state.uniforms.map(|words| words.unwrap_or(0));
        let copies = match &call.source {
            Source::Given(_) => None,
            Source::Buffer(parameters) => self.indirect_copies(state, &places, made, parameters)?,
        };
        if let Some(copies) = &copies {
            resources = copies.resources().unwrap_or(resources);
            for (which, value) in uniforms.iter_mut().enumerate() {
                *value = copies.uniforms(which).unwrap_or(*value);
            }
        }
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
        let words = self.words_of_draws(state, &places, made)?;
        let it = &mut state.loaded;
        let mut flags_0 = words.flags_0;
        if let Some(query) = state.query {
            self.load_draw_pair(it, registers.occlusion, query.at.0)?;
            flags_0 |= query.flags();
        }
        let width = state.dynamic.line_width;
        let width = width.filter(|_| made.topology_class == Class::Lines);
        let size = width.unwrap_or(made.size);
        // hardware/graphics-draw.md 3.3.
        let view_mask = call.view_mask << 24;
        let all = [
            (registers.index_bytes, bytes),
            (registers.attribute_offset, 0),
            (registers.varying_bytes, made.varying_bytes),
            (registers.primitive, words.primitive | code | view_mask),
            (registers.flags_0, flags_0),
            (registers.flags_1, words.flags_1),
            (registers.flags_2, words.flags_2),
            (registers.size, size.to_bits()),
        ];
        for (register, value) in all {
            self.load_draw_word(it, register, value)?;
        }
        if let Some(register) = registers.primitive_2 {
            self.load_draw_word(it, register, 0)?;
        }
        self.unflushed = true;
        let predicate = state.predicate;
        let draw = match call.source {
            Source::Given(draw) => draw,
            Source::Buffer(parameters) => {
                self.load_draw_word(it, registers.first_index, 0)?;
                let copies = (copies.as_ref(), varies);
                return self.if_predicate(predicate, MOST_WORDS, |it| {
                    it.run_indirect(state, &places, made, &parameters, copies)
                });
            }
        };
        for (register, value) in [
            (registers.count, draw.count),
            (registers.instances, draw.instances),
            (registers.first_index, draw.first),
            (registers.vertex_offset, draw.vertex_offset as u32),
            // The first instance stands in descriptors and uniforms (hardware/graphics-draw.md 3.6).
            (registers.instance_offset, 0),
        ] {
            self.load_draw_word(it, register, value)?;
        }
        self.if_predicate(predicate, 0, |it| it.run_idvs(varies, None))
    }

    /// The words of draws with what is set.
    fn words_of_draws(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<DrawWords, Error> {
        if let Some(known) = state.words {
            return Ok(known);
        }
        let how = (self.arch(), state.query.is_some());
        let facts = self.facts_of_draws(made)?;
        let tests = self.words_of_tests(state, places, made)?;
        let words = state.dynamic.words(made, how, &tests, facts)?;
        state.words = Some(words);
        Ok(words)
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

    /// Draws with what the registers hold; the number of the draw is in a register, or 0.
    pub(super) fn run_idvs(&mut self, varies: bool, number: Option<Reg>) -> Result<(), Error> {
        let (draw_id_register_enable, draw_id) = (number.is_some(), number.unwrap_or_default());
        if self.arch() < Arch::V12 {
            self.push(RunIdvs {
                malloc_enable: true,
                varying_fau_select: varies,
                fragment_srt_select: true,
                draw_id_register_enable,
                draw_id,
                ..RunIdvs::default()
            })
        } else {
            self.push(RunIdvs2 {
                malloc_enable: true,
                draw_id_register_enable,
                draw_id,
                ..RunIdvs2::default()
            })
        }
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
            None => {
                let stream = match kind {
                    EntryKind::Fragment => SubQueue::Fragment,
                    _ => SubQueue::VertexTiler,
                };
                self.draw_uniforms((stream, &entry), places.data, values, sets)?
            }
        };
        Ok((places.program(&program, kind), words))
    }

    pub(super) fn load_draw_word(
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

    pub(super) fn load_draw_pair(
        &mut self,
        loaded: &mut Loaded,
        register: u8,
        value: u64,
    ) -> Result<(), Error> {
        self.load_draw_word(loaded, register, value as u32)?;
        self.load_draw_word(loaded, register.wrapping_add(1), (value >> 32) as u32)
    }

    /// The sets that are bound to a stage, by their tables.
    pub(super) fn sets_of(&self, state: &DrawState, stage: usize) -> [Option<BoundSet>; TABLES] {
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
        let (words, count) = self.vertex_tables(state, made, inputs)?;
        let made = self.place_tables(&words, count)?;
        state.resources[VERTEX] = Some(made);
        Ok(made)
    }

    /// The resource tables of the vertex stage with inputs at an address, and how many entries there are.
    pub(super) fn vertex_tables(
        &mut self,
        state: &DrawState,
        made: &GraphicsPipelined,
        inputs: GpuAddress,
    ) -> Result<(TableWords, u32), Error> {
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
        self.tables(made.vertex, &sets, (inputs, bytes), extra)
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
        let (words, count) = self.tables(stage, &sets, own, None)?;
        let made = self.place_tables(&words, count)?;
        state.resources[FRAGMENT] = Some(made);
        Ok(made)
    }

    /// Puts resource tables into the commands; gives the value of their register.
    fn place_tables(&mut self, words: &TableWords, count: u32) -> Result<u64, Error> {
        let used = words.get(..(count as usize).saturating_mul(RESOURCE_WORDS));
        let at = self.place(used.unwrap_or_default())?;
        Ok(at.0 | u64::from(count))
    }

    /// Resource tables of a stage, with the driver's own first, and how many entries there are.
    fn tables(
        &mut self,
        stage: Key,
        sets: &[Option<BoundSet>; TABLES],
        (own, bytes): (GpuAddress, u32),
        extra: Option<(u8, GpuAddress, u32)>,
    ) -> Result<(TableWords, u32), Error> {
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
        let mut words: TableWords = [0; TABLES.next_multiple_of(4) * RESOURCE_WORDS];
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
        Ok((words, count))
    }

    /// The descriptor of the tests of depth and stencil.
    fn tests(
        &mut self,
        state: &mut DrawState,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<u64, Error> {
        if let Some(known) = state.tests {
            return Ok(known);
        }
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
pub(super) fn fits(made: &GraphicsPipelined, framebuffer: &Framebuffer) -> bool {
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
