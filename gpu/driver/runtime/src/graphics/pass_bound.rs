//! What is bound in a pass by its number: descriptor sets and vertex buffers.
//!
//! Guarantees: the resource table of the vertex stage and the descriptors of vertex buffers are kept as the words that a draw writes,
//! so that a draw packs nothing.
//! Facts: hardware/graphics-draw.md 3.5 and 3.6, descriptors.md sections 4 and 5.

use super::draw_state::VERTEX;
use super::part_shapes::PartShapes;
use super::vertex_input::MOST_BINDINGS;
use crate::handle::DescriptorSet;
use crate::platform::{PhysicalAddress, Platform};
use crate::resource::SetPart;
use crate::slab::Key;
use eitri_program::DescriptorSlot;

/// Resource tables that a program can use: the driver's, the sets', and one of vertex buffers.
pub(super) const TABLES: usize = DescriptorSlot::MAX_TABLE as usize + 2;

/// Entries of the resource table that is kept as words: one group.
pub(super) const ENTRIES: usize = 4;
/// Double words of an entry, and of the descriptor of a buffer.
const ENTRY_WORDS: usize = 2;
const BUFFER_WORDS: usize = 4;
/// Double words of the table.
const TABLE_WORDS: usize = ENTRIES * ENTRY_WORDS;

/// A buffer that draws read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl Bound {
    /// What is left of it behind so many bytes.
    pub(super) const fn behind(&self, bytes: u64) -> Bound {
        match self.bytes.checked_sub(bytes) {
            Some(left) => Bound {
                address: self.address.wrapping_add(bytes),
                bytes: left,
            },
            None => Bound {
                address: self.address,
                bytes: 0,
            },
        }
    }

    /// Its descriptor.
    #[inline(always)]
    pub(super) fn descriptor(&self, shapes: &PartShapes) -> [u64; BUFFER_WORDS] {
        let length = u32::try_from(self.bytes).unwrap_or(u32::MAX);
        shapes.buffer.with(self.address, length)
    }
}

/// A set that is bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundTable {
    pub(super) set: DescriptorSet,
    /// What a draw needs of it: nothing changes a set while commands are recorded.
    pub(super) part: SetPart,
}

/// What is bound in a pass by its number. It is large: it stays where the commands are recorded.
#[derive(Debug)]
pub(super) struct PassBound {
    /// The sets of each stage, by their tables.
    sets: [[Option<BoundTable>; TABLES]; 2],
    pub(super) vertex_buffers: [Option<Bound>; MOST_BINDINGS],
    /// The first resource tables of the vertex stage with the entries of sets, and the descriptors of vertex buffers.
    words: [u64; TABLE_WORDS + MOST_BINDINGS * BUFFER_WORDS],
    /// The table whose entry names vertex buffers, and not what is bound to it.
    buffer_table: u8,
    /// Tables and bindings to which something is bound, a bit each.
    tables: u16,
    bindings: u16,
}

const _: () = assert!(TABLES <= u16::BITS as usize);
const _: () = assert!(MOST_BINDINGS <= u16::BITS as usize);

impl PassBound {
    pub(super) const NOTHING: PassBound = PassBound {
        sets: [[None; TABLES]; 2],
        vertex_buffers: [None; MOST_BINDINGS],
        words: [0; TABLE_WORDS + MOST_BINDINGS * BUFFER_WORDS],
        buffer_table: 0,
        tables: 0,
        bindings: 0,
    };

    /// The set that is bound to a stage for a table.
    #[inline(always)]
    pub(super) fn set(&self, stage: usize, table: u8) -> Option<&BoundTable> {
        self.sets.get(stage)?.get(usize::from(table))?.as_ref()
    }

    /// Binds a set to a stage for a table, if there is such a table.
    #[inline(always)]
    pub(super) fn bind_set(
        &mut self,
        (stage, table): (usize, u8),
        bound: BoundTable,
        shapes: &PartShapes,
    ) {
        let of_stage = self.sets.get_mut(stage);
        let Some(place) = of_stage.and_then(|sets| sets.get_mut(usize::from(table))) else {
            return;
        };
        self.tables |= 1 << table;
        let (entries, _) = self.words.as_chunks_mut::<ENTRY_WORDS>();
        let entries = entries.get_mut(..ENTRIES).unwrap_or_default();
        if stage == VERTEX
            && let Some(entry) = entries.get_mut(usize::from(table))
        {
            *entry = shapes.entry.with(bound.part.address.0, bound.part.bytes);
        }
        *place = Some(bound);
    }

    /// Notes that a set which is bound has all that a stage needs, by the proof; whether that was not known.
    pub(super) fn note_complete(
        &mut self,
        (stage, table): (usize, u8),
        proof: Option<(Key, u64)>,
    ) -> bool {
        let of_stage = self.sets.get_mut(stage);
        let place = of_stage.and_then(|sets| sets.get_mut(usize::from(table))?.as_mut());
        place.is_some_and(|it| core::mem::replace(&mut it.part.complete, proof) != proof)
    }

    /// Binds a vertex buffer; `None` if there is no such binding.
    #[inline(always)]
    pub(super) fn bind_vertex_buffer(
        &mut self,
        binding: u32,
        bound: Bound,
        shapes: &PartShapes,
    ) -> Option<()> {
        let number = usize::try_from(binding).ok()?;
        let place = self.vertex_buffers.get_mut(number)?;
        *place = Some(bound);
        self.bindings |= 1 << binding;
        let (_, buffers) = self.words.split_at_mut_checked(TABLE_WORDS)?;
        let (buffers, _) = buffers.as_chunks_mut::<BUFFER_WORDS>();
        *buffers.get_mut(number)? = bound.descriptor(shapes);
        Some(())
    }

    /// Whether all vertex buffers are bound whose bits these are.
    #[inline(always)]
    pub(super) const fn has_bindings(&self, wanted: u16) -> bool {
        wanted & !self.bindings == 0
    }

    /// Writes the resource table of the vertex stage, and behind it the descriptors of the first `count` vertex buffers: with an entry
    /// for the inputs, and one for these descriptors in the table that it names. `None` if the table is none of the first.
    ///
    /// What is not bound, or not any more, may have any words: no program of the pipeline reads them.
    #[inline(always)]
    pub(super) fn write_vertices<P: Platform>(
        &mut self,
        (platform, shapes): (&mut P, &PartShapes),
        to: PhysicalAddress,
        inputs: [u64; ENTRY_WORDS],
        (table, buffers): (u8, [u64; ENTRY_WORDS]),
        count: usize,
    ) -> Option<()> {
        let words = TABLE_WORDS.wrapping_add(count.wrapping_mul(BUFFER_WORDS));
        // Of no buffers there is no such entry; the first one is the inputs'.
        let table = if count == 0 { 0 } else { table };
        if self.buffer_table != table {
            self.return_entry(table, shapes);
        }
        let (entries, _) = self.words.as_chunks_mut::<ENTRY_WORDS>();
        *entries.get_mut(..ENTRIES)?.get_mut(usize::from(table))? = buffers;
        *entries.first_mut()? = inputs;
        platform.write_words(to, self.words.get(..words)?);
        Some(())
    }

    /// Another table than the last draw's has vertex buffers: the set that is bound to that one gets its entry back.
    #[cold]
    #[inline(never)]
    fn return_entry(&mut self, table: u8, shapes: &PartShapes) {
        let last = core::mem::replace(&mut self.buffer_table, table);
        let bound = self.set(VERTEX, last).map(|bound| bound.part);
        let (entries, _) = self.words.as_chunks_mut::<ENTRY_WORDS>();
        let entries = entries.get_mut(..ENTRIES).unwrap_or_default();
        if let Some(entry) = entries.get_mut(usize::from(last)) {
            *entry = bound.map_or([0; ENTRY_WORDS], |part| {
                shapes.entry.with(part.address.0, part.bytes)
            });
        }
    }

    /// Binds nothing.
    pub(super) fn clear(&mut self) {
        let [vertex, fragment] = &mut self.sets;
        for (number, (vertex, fragment)) in vertex.iter_mut().zip(fragment).enumerate() {
            // The lowest tables are used first.
            if self.tables >> number == 0 {
                break;
            }
            (*vertex, *fragment) = (None, None);
        }
        for (number, buffer) in self.vertex_buffers.iter_mut().enumerate() {
            if self.bindings >> number == 0 {
                break;
            }
            *buffer = None;
        }
        (self.tables, self.bindings) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Fake, MEMORY};
    use crate::vm::GpuAddress;
    use eitri_descriptors::Arch;
    use std::vec::Vec;

    const AT: PhysicalAddress = PhysicalAddress(MEMORY);
    const INPUTS: [u64; 2] = [1, 2];
    const BUFFERS: [u64; 2] = [3, 4];

    fn set(number: u64) -> BoundTable {
        BoundTable {
            set: DescriptorSet(Key::NONE),
            part: SetPart {
                address: GpuAddress(number << 12),
                bytes: 64,
                alone: 0,
                complete: None,
            },
        }
    }

    /// What a draw writes with the descriptors of `count` vertex buffers in a table.
    fn written(bound: &mut PassBound, table: u8, count: usize) -> Option<Vec<u64>> {
        let mut fake = Fake::new(0x1000);
        let shapes = PartShapes::new(Arch::V10).expect("there are descriptors");
        let to = (&mut fake, &shapes);
        bound.write_vertices(to, AT, INPUTS, (table, BUFFERS), count)?;
        let words = (TABLE_WORDS + count * BUFFER_WORDS) as u64;
        Some(
            (0..words)
                .map(|word| fake.load64(AT.offset(8 * word)))
                .collect(),
        )
    }

    /// A pipeline has its vertex buffers in a table in which another one looks for a set.
    #[test]
    fn a_set_is_found_behind_draws_that_have_vertex_buffers_in_its_table() {
        let shapes = PartShapes::new(Arch::V10).expect("there are descriptors");
        let mut bound = PassBound::NOTHING;
        bound.bind_set((VERTEX, 1), set(1), &shapes);
        bound.bind_set((VERTEX, 2), set(2), &shapes);
        let buffer = Bound {
            address: 0x9000,
            bytes: 64,
        };
        bound.bind_vertex_buffer(0, buffer, &shapes);
        let entry = |number: u64| shapes.entry.with(number << 12, 64);
        let buffer = buffer.descriptor(&shapes);
        let all = |entries: [[u64; 2]; 4]| [entries.as_flattened(), &buffer].concat();
        let first = all([INPUTS, entry(1), BUFFERS, [0; 2]]);
        assert_eq!(written(&mut bound, 2, 1), Some(first));
        let second = all([INPUTS, entry(1), entry(2), BUFFERS]);
        assert_eq!(written(&mut bound, 3, 1), Some(second), "behind it");
        bound.bind_set((VERTEX, 2), set(7), &shapes);
        let none = [INPUTS, entry(1), entry(7), [0; 2]].concat();
        assert_eq!(written(&mut bound, 0, 0), Some(none), "without buffers");
        let third = all([INPUTS, BUFFERS, entry(7), [0; 2]]);
        assert_eq!(written(&mut bound, 1, 1), Some(third), "of the other set");
        let last = all([INPUTS, entry(1), BUFFERS, [0; 2]]);
        assert_eq!(written(&mut bound, 2, 1), Some(last), "and back");
    }

    #[test]
    fn tables_behind_the_first_are_left_to_the_long_way() {
        let shapes = PartShapes::new(Arch::V10).expect("there are descriptors");
        let mut bound = PassBound::NOTHING;
        assert!(!bound.has_bindings(1) && bound.has_bindings(0));
        bound.bind_set((VERTEX, ENTRIES as u8), set(1), &shapes);
        assert!(bound.set(VERTEX, ENTRIES as u8).is_some());
        let buffer = Bound::default();
        bound.bind_vertex_buffer(15, buffer, &shapes);
        assert!(bound.has_bindings(1 << 15) && !bound.has_bindings(3 << 14));
        assert_eq!(written(&mut bound, ENTRIES as u8, 1), None);
        let most = MOST_BINDINGS as u32;
        assert_eq!(bound.bind_vertex_buffer(most, buffer, &shapes), None);
        bound.clear();
        assert!(!bound.has_bindings(1 << 15) && bound.set(VERTEX, ENTRIES as u8).is_none());
    }

    #[test]
    fn nothing_is_left_behind_the_end_of_a_buffer() {
        let buffer = Bound {
            address: 0x9000,
            bytes: 64,
        };
        let left = |bytes| {
            let it = buffer.behind(bytes);
            (it.address, it.bytes)
        };
        assert_eq!(left(48), (0x9030, 16));
        assert_eq!(left(64), (0x9040, 0));
        assert_eq!(left(65), (0x9000, 0));
        assert_eq!(left(u64::MAX), (0x9000, 0));
    }
}
