//! Changes: draws of as many vertices as the last, with other sets, vertex buffers, uniforms, or another pipeline.
//!
//! What such a draw needs is found out before a word of it is written; whatever is not plain is left to [`super::put_draw`].
//! Facts: hardware/graphics-draw.md 3.1, 3.5 and 3.6.

use super::draw::Draw;
use super::draw_state::{DrawState, FRAGMENT, Stale, VERTEX};
use super::lane::PartsOfDraws;
use super::part_shapes::PartShapes;
use super::pass::RenderPass;
use super::pass_bound::{ENTRIES, PassBound};
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use super::prepared_words::{MOST_REGISTERS, PreparedWords};
use super::put_draw::{load_context, load_indices, load_numbers, load_resources, load_uniforms};
use super::registers::{DrawLoads, DrawRegisters, MOST_LOADS};
use super::repeat::DrawNumbers;
use super::tiling::Tiling;
use crate::command::ALIGNMENT;
use crate::device::Kind;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::SetPart;
use crate::slab::Key;
use crate::vm::GpuAddress;

/// Bytes of the resource table that is written here.
const TABLE_BYTES: u32 = ENTRIES as u32 * 16;

/// What is bound, and the words that are prepared.
struct Lookup<'a> {
    removals: u64,
    bound: &'a mut PassBound,
    shapes: &'a PartShapes,
    prepared: PreparedWords<'a>,
}

impl Lookup<'_> {
    /// The set that is bound to a stage, if it is known to have all that the stage needs.
    #[inline(always)]
    fn set(&self, stage: usize, key: Key, table: u8) -> Option<&SetPart> {
        let part = &self.bound.set(stage, table)?.part;
        (part.complete == Some((key, self.removals))).then_some(part)
    }

    /// Writes the resource table of the vertex stage, and the descriptors of its buffers behind it, where nothing stands yet; gives
    /// the value of its register. `None` if something is missing, or has to be looked at more closely.
    #[inline(always)]
    fn write_vertices<P: Platform>(
        &mut self,
        platform: &mut P,
        (memory, address): (PhysicalAddress, GpuAddress),
        (made, places): (&GraphicsPipelined, &Places),
        base: u32,
    ) -> Option<u64> {
        let mut tables = made.tables[VERTEX];
        if usize::from(tables) >> ENTRIES != 0 || !self.bound.has_bindings(made.bindings) {
            return None;
        }
        while tables != 0 {
            let table = tables.trailing_zeros() as u8;
            tables &= tables.wrapping_sub(1);
            self.set(VERTEX, made.vertex, table)?;
        }
        let behind = TABLE_BYTES.into();
        let PreparedWords {
            inputs, buffers, ..
        } = self.prepared;
        let buffers = self.shapes.entry.at(buffers, address.offset(behind).0);
        let to_buffers = (made.buffer_table, buffers);
        let count = made.buffer_count() as usize;
        let with = (&mut *platform, self.shapes);
        self.bound
            .write_vertices(with, memory, inputs, to_buffers, count)?;
        if base != 0 && made.is_instanced() {
            let of = (made, places);
            let to = memory.offset(behind);
            self.bound
                .write_behind_instances(base, (platform, self.shapes), of, to);
        }
        Some(address.0 | ENTRIES as u64)
    }

    /// Finds the tables of both stages that are not known, and writes them where nothing stands yet: their registers, and whether
    /// something was written. `None` if they can't be found here.
    #[inline(always)]
    fn find_resources<P: Platform>(
        &mut self,
        platform: &mut P,
        state: &mut DrawState,
        (made, places): (&GraphicsPipelined, &Places),
        room: (PhysicalAddress, GpuAddress),
    ) -> Option<([u64; 2], bool)> {
        let base = state.values.base_instance;
        let [vertices, fragments] = state.resources;
        let fragments = match fragments {
            Some(known) => known,
            None => self.fragments(made)?,
        };
        let (vertices, took) = match vertices {
            Some(known) => (known, false),
            None => (
                self.write_vertices(platform, room, (made, places), base)?,
                true,
            ),
        };
        state.resources = [Some(vertices), Some(fragments)];
        Some(([vertices, fragments], took))
    }

    /// The register of the fragment stage's table: the one of the only set that it uses.
    #[inline(always)]
    fn fragments(&self, made: &GraphicsPipelined) -> Option<u64> {
        match made.fragment.filter(|_| made.shades) {
            Some(key) => Some(self.set(FRAGMENT, key, made.fragment_table?)?.alone),
            None => Some(0),
        }
    }
}

/// Bytes of the resource table and of the descriptors of vertex buffers.
pub(super) const fn vertex_bytes(buffer_bytes: u32) -> u32 {
    TABLE_BYTES.saturating_add(buffer_bytes.next_multiple_of(ALIGNMENT))
}

/// Whether a draw may be found out here: a pipeline that was bound since the last draw changes nothing but the registers that are loaded
/// at once; and if another index buffer was bound, `loads_indices`.
#[inline(always)]
fn is_plain(
    state: &DrawState,
    made: &GraphicsPipelined,
    tiler: Option<&Tiling>,
    loads_indices: bool,
) -> bool {
    let provokes = tiler.and_then(|tiling| tiling.last_provokes);
    !state.stale.has(Stale::PIPELINE.and(Stale::INDICES))
        || (loads_indices || !state.stale.has(Stale::INDICES))
            && made.scratch_bytes == 0
            && provokes == Some(made.last_provokes)
}

impl<P: Platform> RenderPass<'_, '_, '_, '_, P> {
    /// Looks at the sets that are not known to have all that the stages of the pipeline need; whether one of them has.
    #[cold]
    #[inline(never)]
    pub(super) fn complete_sets(&mut self) -> bool {
        let recorder = &mut *self.recorder;
        let made = self
            .state
            .pipeline
            .map(|key| recorder.device.graphics_pipeline(key));
        let Some(Ok(made)) = made else {
            return false;
        };
        let stages = [Some(made.vertex), made.fragment.filter(|_| made.shades)];
        let tables = made.tables;
        let mut found = false;
        for ((number, stage), tables) in stages.into_iter().enumerate().zip(tables) {
            let Some(stage) = stage else { continue };
            for table in (0..u16::BITS as u8).filter(|table| tables >> table & 1 != 0) {
                found |= recorder.completes(number, stage, table);
            }
        }
        found
    }

    /// Draws as many vertices as the last draw with what is bound now. False if that is nothing plain, or there is no room in the
    /// block: then nothing was drawn.
    #[inline(never)]
    pub(super) fn draw_changed(&mut self) -> bool {
        self.draw_with_changes(None)
    }

    /// The same with other numbers of vertices and instances than the last draw's, from another instance than the first on, or with
    /// another index buffer. It is code of its own, so that draws without all that cost no more.
    #[inline(never)]
    pub(super) fn draw_numbers_changed(&mut self, numbers: &Draw) -> bool {
        self.draw_with_changes(Some(numbers))
    }

    #[inline(always)]
    fn draw_with_changes(&mut self, numbers: Option<&Draw>) -> bool {
        let (recorder, state) = (&mut *self.recorder, &mut *self.state);
        let device = &mut *recorder.device;
        let (Some(key), Some(passes)) = (state.pipeline, &mut recorder.passes) else {
            return false;
        };
        let removals = device.removals();
        let PartsOfDraws {
            tiling,
            uniforms,
            bound,
        } = passes.parts_of_draws(&mut recorder.writer);
        let (Some((writer, loaded)), Some(drawing), Some(object)) =
            (tiling, &mut device.drawing, device.objects.get(key))
        else {
            return false;
        };
        let Kind::GraphicsPipeline(made, _) = &object.kind else {
            return false;
        };
        let Some(plan) = made.plan.as_ref() else {
            return false;
        };
        // Words of buffers are said by the other way.
        let says = state.says_sets || plan.bound == plan.of_state;
        if !says || !is_plain(state, made, state.tiler.as_ref(), numbers.is_some()) {
            return false;
        }
        let places = Places {
            memory: object.mapping.memory(),
            address: object.mapping.address(),
        };
        let vertex_bytes = made.vertex_bytes.into();
        let bytes = plan.bytes.into();
        let wanted = u32::wrapping_add(vertex_bytes, bytes);
        if !writer.has_room_for(MOST_LOADS.saturating_add(1 + MOST_REGISTERS as u32), wanted) {
            return false;
        }
        let arch = device.hw.properties.arch;
        let platform = &mut device.hw.platform;
        let stale = state.stale;
        if stale.has(Stale::UNIFORMS) {
            let words = (&mut drawing.state_words, &mut device.versions);
            uniforms.find_state(platform, state, (key, plan), places.plan(), words);
        }
        // Whatever binds another pipeline makes uniforms stale.
        debug_assert!(uniforms.are_of(key), "another pipeline's words are here");
        let mut resources = None;
        if stale.has(Stale::RESOURCES) {
            let mut lookup = Lookup {
                removals,
                bound,
                shapes: &drawing.shapes,
                prepared: uniforms.prepared(),
            };
            let room = writer.behind(vertex_bytes);
            let found = lookup.find_resources(platform, state, (made, &places), room);
            let Some((values, took)) = found else {
                return false;
            };
            if took {
                writer.take(vertex_bytes);
            }
            resources = Some(values);
        }
        // All is there: from here on the draw is written.
        if stale.has(Stale::PIPELINE) {
            let words = uniforms.prepared().loads.get(..made.registers.into());
            writer.put_words(platform, words.unwrap_or_default());
            loaded.pipeline_loaded();
        }
        let mut loads = DrawLoads::new(&drawing.encoded, loaded);
        if let Some(values) = resources {
            load_resources(&mut loads, values);
        }
        let varies = made.varies();
        if stale.has(Stale::UNIFORMS) {
            state.says_sets = true;
            let counts = state.values.counts();
            let values = uniforms.write(platform, counts, writer.take(bytes));
            state.uniforms = values.map(Some);
            load_uniforms(&mut loads, values, varies);
        }
        if let (true, Some(tiling)) = (stale.has(Stale::CONTEXT), &state.tiler) {
            load_context(
                &mut loads,
                DrawRegisters::of(arch),
                tiling.context,
                state.scissor_box,
            );
        }
        let indices = match numbers {
            Some(_) => Stale::PIPELINE.and(Stale::INDICES),
            None => Stale::PIPELINE,
        };
        if stale.has(indices) {
            load_kind_of_indices(&mut loads, DrawRegisters::of(arch), state, made);
        }
        if let Some(draw) = numbers {
            load_numbers(&mut loads, DrawRegisters::of(arch), draw);
        }
        loads.put(drawing.encoded.run(varies));
        loads.write(platform, writer);
        if let Some(last) = &mut state.last {
            (last.varies, last.planned) = (varies, true);
            if let Some(draw) = numbers {
                last.numbers = DrawNumbers::of(draw);
            }
        }
        state.stale = Stale::NOTHING;
        true
    }
}

/// Loads the index buffer, and what the kind of its indices is, if the draw has indices.
#[inline(always)]
fn load_kind_of_indices(
    loads: &mut DrawLoads<'_>,
    registers: &DrawRegisters,
    state: &DrawState,
    made: &GraphicsPipelined,
) {
    if let (true, Some(indices)) = (state.is_indexed(), &state.indices) {
        let code = load_indices(loads, registers, indices);
        // Without indices the bits of their kind are nothing.
        let words = state.words.as_ref().unwrap_or(&made.words);
        loads.forget_if_of_pipeline(registers.primitive);
        loads.word(registers.primitive, words.primitive | code);
    }
}
