//! Tiler context: what the driver asks for, and the words that the tiler writes.
//!
//! Words 0 and 1 point to the polygon list, words 10 to 13 name the first and the last chunk in use, as chunk pointers; both
//! are read by the command stream, and zeroed by it when a list was rendered because memory ran out. Words 24 to 31 are
//! private: 24 and 25 the next free byte, 26 and 27 the end of its chunk, 28 the number of primitives so far. They count only
//! while words 10 and 11 are not zero, since nobody zeroes them together.
//!
//! Facts: hardware/graphics.md 2.4, 2.8; graphics-model.md 0 item 4, 6. The values of words 10 to 13 are the model's choice,
//! which FINISH_FRAGMENT (`stream/heap.rs`) takes back.

use super::bins::Hierarchy;
use super::heap::Heap;
use super::memory::{HeapMemory, Writes, bytes_of, read_words};
use eitri_descriptors::tiler::{TilerContext, TilerHeap};
use eitri_descriptors::{Arch, Descriptor, FieldError};

/// Words of a tiler context and of a heap descriptor.
const CONTEXT_WORDS: usize = 32;
const HEAP_WORDS: usize = 8;
/// Byte offsets in a tiler context.
const COMPLETED: u64 = 40;
const PRIVATE: u64 = 96;

/// Addresses that a tiling job starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub(crate) arch: Arch,
    /// Address of the tiler context.
    pub(crate) context: u64,
    /// Address of the heap context that the stream has set.
    pub(crate) heap_context: u64,
}

/// Reason why a tiler context can't be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenError<E> {
    /// The tiler context has a field without meaning.
    Context(FieldError),
    /// The heap descriptor has a field without meaning.
    Heap(FieldError),
    /// An access to memory did not happen.
    Memory(E),
}

/// A tiler context as it was read, and its heap.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub(super) address: u64,
    pub(super) parameters: TilerContext,
    pub(super) heap: Heap,
    /// Address of the polygon list; 0: none.
    pub(super) root: u64,
    /// Primitives entered so far.
    pub(super) primitives: u32,
}

impl Context {
    pub(super) fn open<M: HeapMemory>(
        memory: &mut M,
        opening: &Opening,
    ) -> Result<Context, OpenError<M::Refusal>> {
        let words =
            read_words(memory, opening.context, CONTEXT_WORDS).map_err(OpenError::Memory)?;
        let parameters =
            TilerContext::unpack_at(opening.arch, &words, 0).map_err(OpenError::Context)?;
        let descriptor = parameters.heap.get();
        let heap_words = read_words(memory, descriptor, HEAP_WORDS).map_err(OpenError::Memory)?;
        let heap = TilerHeap::unpack_at(opening.arch, &heap_words, 0).map_err(OpenError::Heap)?;
        let in_use = parameters.completed_top.0 != 0;
        let private = &parameters.private_state;
        let kept = |low: u32, high: u32| {
            if in_use {
                u64::from(high) << 32 | u64::from(low)
            } else {
                0
            }
        };
        let used = |word: u64| if in_use { word } else { 0 };
        Ok(Context {
            address: opening.context,
            heap: Heap {
                context: opening.heap_context,
                descriptor,
                base: heap.base.0,
                chunk_bytes: heap.top.0.saturating_sub(heap.base.0),
                first: used(parameters.completed_top.0),
                last: used(parameters.completed_bottom.0),
                next: kept(private.word0, private.word1),
                end: kept(private.word2, private.word3),
            },
            root: used(parameters.polygon_list.0),
            primitives: if in_use { private.word4 } else { 0 },
            parameters,
        })
    }

    /// Size of the framebuffer and the bins that the descriptor asks for, with an entry of `bin_bytes` a bin.
    pub(super) fn hierarchy(&self, arch: Arch, bin_bytes: u64) -> Hierarchy {
        let parameters = &self.parameters;
        let asked = Hierarchy {
            mask: parameters.hierarchy_mask,
            width: parameters.fb_width,
            height: parameters.fb_height,
        };
        asked.chosen(
            arch,
            parameters.effective_tile_size,
            self.heap.largest() / bin_bytes,
        )
    }

    /// Enters the words that the tiler writes.
    pub(super) fn store(&self, writes: &mut Writes) {
        let heap = &self.heap;
        writes.push64(self.address, self.root);
        writes.push64(self.address.wrapping_add(COMPLETED), heap.first);
        writes.push64(self.address.wrapping_add(COMPLETED + 8), heap.last);
        let halves = |word: u64| [word as u32, (word >> 32) as u32];
        let ([next_low, next_high], [end_low, end_high]) = (halves(heap.next), halves(heap.end));
        let private = [
            next_low,
            next_high,
            end_low,
            end_high,
            self.primitives,
            0,
            0,
            0,
        ];
        writes.push(self.address.wrapping_add(PRIVATE), bytes_of(&private));
    }

    /// Tells whether the command stream has zeroed the list since it was stored: the chunks are no longer ours.
    pub(super) fn was_emptied<M: HeapMemory>(&self, memory: &mut M) -> Result<bool, M::Refusal> {
        let first = super::memory::read64(memory, self.address.wrapping_add(COMPLETED))?;
        Ok(first == 0 && self.heap.first != 0)
    }

    /// Starts an empty list.
    pub(super) fn empty(&mut self) {
        self.heap.forget();
        self.root = 0;
        self.primitives = 0;
    }
}
