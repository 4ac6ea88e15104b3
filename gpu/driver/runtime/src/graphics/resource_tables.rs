//! Resource tables of a draw's stages, and the descriptors of inputs and vertex buffers that they name.
//!
//! A stage that uses one set, and has no inputs, uses the table that stands in the set's own memory.
//! Facts: hardware/graphics-draw.md 3.5, 3.6, 3.22, compiler-abi.md 1.

use super::draw::{DrawState, FRAGMENT, TABLES, VERTEX};
use super::error::GraphicsError;
use super::pipeline::{GraphicsPipelined, Places};
use super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use crate::command::{
    BoundSet, CommandError, DESCRIPTOR_BYTES, RESOURCE_WORDS, Recorder, buffer, resource,
    resource_entries,
};
use crate::error::Error;
use crate::platform::Platform;
use crate::slab::Key;
use crate::vm::GpuAddress;

/// Resource tables of a stage.
pub(super) type TableWords = [u32; TABLES.next_multiple_of(4) * RESOURCE_WORDS];

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The sets that are bound to a stage, by their tables.
    pub(super) fn sets_of(&self, state: &DrawState, stage: usize) -> [Option<BoundSet>; TABLES] {
        let mut bound = [None; TABLES];
        for (place, table) in bound.iter_mut().zip(0..) {
            *place = self.set_of_stage(state, stage, table);
        }
        bound
    }

    /// The set that is bound to a stage for a table.
    #[inline]
    pub(super) fn set_of_stage(
        &self,
        state: &DrawState,
        stage: usize,
        table: u8,
    ) -> Option<BoundSet> {
        let set = (*state.sets.get(stage)?.get(usize::from(table))?)?;
        self.device.bound_set(set).ok()
    }

    /// The resource tables of the vertex stage: inputs, sets, and behind them the buffers of vertices.
    pub(super) fn vertex_resources(
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
        self.tables((state, VERTEX, made.vertex), (inputs, bytes), extra)
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
    pub(super) fn fragment_resources(
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
        let alone = match made.fragment_table {
            Some(table) => {
                let set = self.set_of_stage(state, FRAGMENT, table);
                self.check_bound(stage, table, set.as_ref())?;
                set.and_then(|set| set.alone())
            }
            None => None,
        };
        let resources = match alone {
            Some(alone) => alone,
            None => {
                let own = (places.sampler(), DESCRIPTOR_BYTES as u32);
                let (words, count) = self.tables((state, FRAGMENT, stage), own, None)?;
                self.place_tables(&words, count)?
            }
        };
        state.resources[FRAGMENT] = Some(resources);
        Ok(resources)
    }

    /// Fails unless the set that is bound for a table has all that a stage needs of it.
    fn check_bound(&mut self, stage: Key, table: u8, set: Option<&BoundSet>) -> Result<(), Error> {
        let bindings = self.device.stage_program(stage)?.common().bindings();
        for binding in bindings.filter(|binding| binding.slot.table == table) {
            for element in 0..binding.count {
                if !set.is_some_and(|set| self.device.is_bound(set, &binding, element)) {
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
        Ok(())
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
        (state, number, stage): (&DrawState, usize, Key),
        (own, bytes): (GpuAddress, u32),
        extra: Option<(u8, GpuAddress, u32)>,
    ) -> Result<(TableWords, u32), Error> {
        let common = *self.device.stage_program(stage)?.common();
        let arch = self.arch();
        let highest = common.highest_table().unwrap_or(0);
        let highest = extra.map_or(highest, |(table, ..)| table.max(highest));
        let count = resource_entries(highest);
        let mut words: TableWords = [0; TABLES.next_multiple_of(4) * RESOURCE_WORDS];
        let entries = words.as_chunks_mut::<RESOURCE_WORDS>().0.iter_mut();
        for (entry, table) in entries.take(count as usize).zip(0_u8..) {
            if table == 0 {
                *entry = resource(arch, own.0, bytes)?;
                continue;
            }
            if let Some((other, at, bytes)) = extra
                && other == table
            {
                *entry = resource(arch, at.0, bytes)?;
                continue;
            }
            let set = self.set_of_stage(state, number, table);
            self.check_bound(stage, table, set.as_ref())?;
            if let Some(set) = set {
                *entry = resource(arch, set.address.0, set.bytes)?;
            }
        }
        Ok((words, count))
    }
}
