//! Resource tables of a draw's stages, and the descriptors of inputs and vertex buffers that they name.
//!
//! A stage that uses one set, and has no inputs, uses the table that stands in the set's own memory.
//! Facts: hardware/graphics-draw.md 3.5, 3.6, 3.22, compiler-abi.md 1.

use super::draw_state::{DrawState, FRAGMENT, VERTEX};
use super::error::GraphicsError;
use super::pass_bound::TABLES;
use super::pipeline::GraphicsPipelined;
use super::pipeline_places::Places;
use crate::command::{CommandError, Recorder};
use crate::error::Error;
use crate::handle::DescriptorSet;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::{BoundSet, DESCRIPTOR_BYTES, RESOURCE_WORDS, resource_entries};
use crate::slab::Key;
use crate::vm::GpuAddress;

/// Where descriptors of a table stand, and their bytes.
pub(super) type Part = (GpuAddress, u32);

/// Resource tables of a stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tables {
    stage: usize,
    /// Those in which the stage looks for sets, a bit each.
    bound: u16,
    /// The driver's own, the first one; and that of vertex buffers.
    pub(super) own: Part,
    extra: Option<(u8, Part)>,
    /// Entries.
    pub(super) count: u32,
}

impl Tables {
    fn new(
        (stage, made): (usize, &GraphicsPipelined),
        own: Part,
        extra: Option<(u8, Part)>,
    ) -> Tables {
        let bound = made.tables.get(stage).copied().unwrap_or(0);
        let highest = u16::BITS.saturating_sub(bound.leading_zeros());
        let highest = highest.saturating_sub(1) as u8;
        let highest = extra.map_or(highest, |(table, _)| table.max(highest));
        Tables {
            stage,
            bound,
            own,
            extra,
            count: resource_entries(highest),
        }
    }

    /// Those of the vertex stage.
    pub(super) fn of_vertices(
        made: &GraphicsPipelined,
        inputs: GpuAddress,
        buffers: Part,
    ) -> Tables {
        let bytes = Places::INPUT_BYTES;
        let (_, length) = buffers;
        let extra = (length > 0).then_some((made.buffer_table, buffers));
        Tables::new((VERTEX, made), (inputs, bytes), extra)
    }

    pub(super) const fn bytes(&self) -> u32 {
        self.count.saturating_mul(RESOURCE_WORDS as u32 * 4)
    }
}

impl<P: Platform> Recorder<'_, '_, '_, P> {
    /// The sets that are bound to a stage, by their tables.
    pub(super) fn sets_of(&self, stage: usize) -> [Option<BoundSet>; TABLES] {
        let mut bound = [None; TABLES];
        for (place, table) in bound.iter_mut().zip(0..) {
            *place = self.set_of_stage(stage, table);
        }
        bound
    }

    /// The set that is bound to a stage for a table.
    #[inline]
    fn set_at(&self, stage: usize, table: u8) -> Option<DescriptorSet> {
        Some(self.passes.as_ref()?.bound.set(stage, table)?.set)
    }

    /// The same, as it is used.
    #[inline]
    pub(super) fn set_of_stage(&self, stage: usize, table: u8) -> Option<BoundSet> {
        self.device.bound_set(self.set_at(stage, table)?).ok()
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
        let (_, inputs) = places.inputs();
        let buffers = self.vertex_buffers(state.values.base_instance, places, made)?;
        let tables = Tables::of_vertices(made, inputs, buffers);
        let resources = self.place_tables(made, &tables)?;
        state.resources[VERTEX] = Some(resources);
        Ok(resources)
    }

    /// The descriptors of vertex buffers that a pipeline reads, with their bytes, for a draw from instance `base` on.
    pub(super) fn vertex_buffers(
        &mut self,
        base: u32,
        places: &Places,
        made: &GraphicsPipelined,
    ) -> Result<Part, Error> {
        let count = u16::BITS.saturating_sub(made.bindings.leading_zeros());
        let bytes = count.saturating_mul(DESCRIPTOR_BYTES as u32);
        if count == 0 {
            return Ok((GpuAddress(0), 0));
        }
        let (mut memory, at) = self.room(bytes)?;
        for binding in 0..count {
            let mut words = [0; 4];
            if made.bindings >> binding & 1 != 0 {
                let bound = self.passes.as_ref().map(|passes| &passes.bound);
                let bound = bound.and_then(|it| it.vertex_buffers.get(binding as usize)?.as_ref());
                let missing = GraphicsError::NoVertexBuffer { binding };
                let bound = bound.ok_or(CommandError::from(missing))?;
                let platform = &mut self.device.hw.platform;
                let moved = bound.behind_instances(binding, base, platform, (made, places));
                if let Some(drawing) = &self.device.drawing {
                    words = moved.descriptor(&drawing.shapes);
                }
            }
            self.device.hw.platform.write_words(memory, &words);
            memory = memory.offset(DESCRIPTOR_BYTES);
        }
        Ok((at, bytes))
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
                let set = self.set_at(FRAGMENT, table);
                self.check_bound(stage, table, set)?;
                let part = set.and_then(|set| self.device.set_part(set));
                part.map(|set| set.alone)
            }
            None => None,
        };
        let resources = match alone {
            Some(alone) => alone,
            None => {
                let own = (places.sampler().1, DESCRIPTOR_BYTES as u32);
                let tables = Tables::new((FRAGMENT, made), own, None);
                self.place_tables(made, &tables)?
            }
        };
        state.resources[FRAGMENT] = Some(resources);
        Ok(resources)
    }

    /// Fails unless the set that is bound for a table has all that a stage needs of it.
    #[inline]
    fn check_bound(
        &mut self,
        stage: Key,
        table: u8,
        set: Option<DescriptorSet>,
    ) -> Result<(), Error> {
        let complete = set.and_then(|set| self.device.set_part(set)?.complete);
        if complete == Some((stage, self.device.removals())) {
            Ok(())
        } else {
            self.check_bindings_of(stage, table, set)
        }
    }

    /// Whether the set that is bound for a table has all that a stage needs of it, which was not known before.
    pub(super) fn completes(&mut self, number: usize, stage: Key, table: u8) -> bool {
        let Some(set) = self.set_at(number, table) else {
            return false;
        };
        let wanted = Some((stage, self.device.removals()));
        let known = self.device.set_part(set).and_then(|set| set.complete);
        if known != wanted && self.check_bindings_of(stage, table, Some(set)).is_err() {
            return false;
        }
        let bound = self.passes.as_mut().map(|passes| &mut passes.bound);
        bound.is_some_and(|bound| bound.note_complete((number, table), wanted))
    }

    /// The same, binding by binding.
    #[inline(never)]
    fn check_bindings_of(
        &mut self,
        stage: Key,
        table: u8,
        set: Option<DescriptorSet>,
    ) -> Result<(), Error> {
        let bound = set.and_then(|set| self.device.bound_set(set).ok());
        let bindings = self.device.stage_program(stage)?.common().bindings();
        for binding in bindings.filter(|binding| binding.slot.table == table) {
            self.device.check_has(bound.as_ref(), &binding)?;
        }
        if let Some(set) = set {
            self.device.note_complete(set, stage);
        }
        Ok(())
    }

    /// Puts the resource tables of a stage into the commands; gives the value of their register.
    fn place_tables(&mut self, made: &GraphicsPipelined, tables: &Tables) -> Result<u64, Error> {
        let (memory, at) = self.room(tables.bytes())?;
        self.write_tables(made, tables, memory)?;
        Ok(at.0 | u64::from(tables.count))
    }

    /// Writes the resource tables of a stage where there is room for them.
    pub(super) fn write_tables(
        &mut self,
        made: &GraphicsPipelined,
        tables: &Tables,
        mut memory: PhysicalAddress,
    ) -> Result<(), Error> {
        for table in 0..tables.count as u8 {
            let part = match tables.extra {
                _ if table == 0 => Some(tables.own),
                Some((other, part)) if other == table => Some(part),
                _ if tables.bound >> table & 1 != 0 => {
                    self.bound_table((tables.stage, made), table)?
                }
                _ => None,
            };
            let words = match (part, &self.device.drawing) {
                (Some((at, bytes)), Some(drawing)) => drawing.shapes.entry.with(at.0, bytes),
                _ => [0; 2],
            };
            self.device.hw.platform.write_words(memory, &words);
            memory = memory.offset(RESOURCE_WORDS as u64 * 4);
        }
        Ok(())
    }

    /// The descriptors of the set that is bound for a table, which has all that a stage needs of it.
    fn bound_table(
        &mut self,
        (stage, made): (usize, &GraphicsPipelined),
        table: u8,
    ) -> Result<Option<Part>, Error> {
        let key = if stage == VERTEX {
            Some(made.vertex)
        } else {
            made.fragment
        };
        let set = self.set_at(stage, table);
        if let Some(key) = key {
            self.check_bound(key, table, set)?;
        }
        let part = set.and_then(|set| self.device.set_part(set));
        Ok(part.map(|set| (set.address, set.bytes)))
    }
}

/// Words as double words.
pub(super) fn doubles<const N: usize, const M: usize>(words: &[u32; N]) -> [u64; M] {
    let mut doubles = [0; M];
    for (double, [low, high]) in doubles.iter_mut().zip(words.as_chunks::<2>().0) {
        *double = u64::from(*high) << 32 | u64::from(*low);
    }
    doubles
}
