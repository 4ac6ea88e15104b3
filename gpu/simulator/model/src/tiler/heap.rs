//! Tiler heap: chunks from the free list of a heap context, and bytes from a chunk.
//!
//! The first word of the heap context is the head of its free list; headers link the chunks. Before the first chunk is taken
//! the context is all zeros, and the chunks hang on the TILER_HEAP descriptor, whose `bottom` is then still where the driver
//! put it: behind the first chunk's header. The model moves `bottom` to `top` when it takes the list over (free choice).
//! A chunk belongs to one tiler context until FINISH_FRAGMENT gives it back.
//!
//! Facts: hardware/graphics.md 2.2, graphics-model.md 6, csf-scheduling.md 7.1 (encoding of chunk pointers, head of the list).

use super::memory::{HeapMemory, Writes, read64};

/// Bytes of a chunk's header.
const HEADER: u64 = 64;
/// The size in a chunk pointer, in units of 4096 bytes.
const SIZE: u64 = 0xfff;
/// Byte offset of `bottom` in the TILER_HEAP descriptor.
const BOTTOM: u64 = 16;
/// Alignment of what is allocated: that of a position.
const ALIGNMENT: u64 = 16;

/// Reason why tiling does not go on. Each call can be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TilingStop<E> {
    /// The heap has no chunk left: out-of-memory. Goes on once one was linked, or the list was rendered and emptied.
    Exhausted,
    /// More bytes than a chunk has.
    TooLarge { bytes: u64 },
    /// An access to memory did not happen.
    Memory(E),
}

impl<E> From<E> for TilingStop<E> {
    fn from(refusal: E) -> TilingStop<E> {
        TilingStop::Memory(refusal)
    }
}

/// The chunks of a tiler context, and where the heap has more.
#[derive(Clone, Debug)]
pub(super) struct Heap {
    /// Address of the heap context.
    pub(super) context: u64,
    /// Address of the TILER_HEAP descriptor, and what is in it.
    pub(super) descriptor: u64,
    pub(super) base: u64,
    pub(super) chunk_bytes: u64,
    /// Chunk pointers of the first and the last chunk in use; 0 where there is none.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Free bytes of the last chunk.
    pub(super) next: u64,
    pub(super) end: u64,
}

impl Heap {
    /// Gives up all chunks: somebody else has given them back.
    pub(super) fn forget(&mut self) {
        self.first = 0;
        self.last = 0;
        self.next = 0;
        self.end = 0;
    }

    /// Bytes of the largest allocation.
    pub(super) fn largest(&self) -> u64 {
        self.chunk_bytes.saturating_sub(HEADER)
    }

    /// Allocates bytes: all of them in one chunk, or none.
    ///
    /// Chunks with too little room are passed over; they stay in the list and are given back with it.
    pub(super) fn allocate<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        writes: &mut Writes,
        bytes: u64,
    ) -> Result<u64, TilingStop<M::Refusal>> {
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        if bytes > self.largest() {
            return Err(TilingStop::TooLarge { bytes });
        }
        while self.end.saturating_sub(self.next) < bytes {
            self.take_chunk(memory, writes)?;
        }
        let address = self.next;
        self.next += bytes;
        Ok(address)
    }

    /// Takes a chunk from the free list and links it behind the last one.
    ///
    /// Taking it off the list is one write, after which it is ours; the other writes may wait.
    fn take_chunk<M: HeapMemory>(
        &mut self,
        memory: &mut M,
        writes: &mut Writes,
    ) -> Result<(), TilingStop<M::Refusal>> {
        writes.flush(memory)?;
        let head = read64(memory, self.context)?;
        let untouched = head & !SIZE == 0
            && self.base & !SIZE != 0
            && read64(memory, self.descriptor.wrapping_add(BOTTOM))?
                == self.base.wrapping_add(HEADER);
        let chunk = if untouched {
            self.base & !SIZE | (self.chunk_bytes >> 12 & SIZE)
        } else {
            head
        };
        let address = chunk & !SIZE;
        if address == 0 {
            return Err(TilingStop::Exhausted);
        }
        let behind = read64(memory, address)?;
        memory.write(self.context, &behind.to_le_bytes())?;
        if untouched {
            let top = self.base.wrapping_add(self.chunk_bytes);
            writes.push64(self.descriptor.wrapping_add(BOTTOM), top);
        }
        if self.last == 0 {
            self.first = chunk;
        } else {
            writes.push64(self.last & !SIZE, chunk);
        }
        writes.push64(address, 0);
        // A pointer without a size names a chunk of the descriptor's.
        let bytes = if chunk & SIZE == 0 {
            self.chunk_bytes
        } else {
            (chunk & SIZE) << 12
        };
        self.last = chunk;
        self.next = address.saturating_add(HEADER);
        self.end = address.saturating_add(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::array::{Array, Refused};
    use super::*;

    const CONTEXT: u64 = 0x1000;
    const DESCRIPTOR: u64 = 0x1100;

    /// A heap of 4 KiB chunks at 0x10000, 0x20000, …, as a driver makes it.
    fn heap(memory: &mut Array, chunks: u64) -> Heap {
        memory.put64(CONTEXT, &[0; 4]);
        memory.put64(DESCRIPTOR, &[0, 0x10000, 0x10040, 0x11000]);
        for chunk in 1..=chunks {
            let next = if chunk == chunks {
                0
            } else {
                (chunk + 1) << 16 | 1
            };
            memory.put64(chunk << 16, &[next, 0, 0, 0, 0, 0, 0, 0]);
        }
        Heap {
            context: CONTEXT,
            descriptor: DESCRIPTOR,
            base: 0x10000,
            chunk_bytes: 0x1000,
            first: 0,
            last: 0,
            next: 0,
            end: 0,
        }
    }

    #[test]
    fn bytes_come_from_the_chunks_in_the_order_of_their_headers() {
        let mut memory = Array::new(1 << 20);
        let mut heap = heap(&mut memory, 3);
        let mut writes = Writes::default();
        let mut allocate = |memory: &mut Array, bytes| heap.allocate(memory, &mut writes, bytes);
        assert_eq!(allocate(&mut memory, 100), Ok(0x10040));
        assert_eq!(
            allocate(&mut memory, 0xf80),
            Ok(0x20040),
            "the rest of the first chunk is too small"
        );
        assert_eq!(
            allocate(&mut memory, 0xfc0),
            Ok(0x30040),
            "a chunk without its header"
        );
        assert_eq!(allocate(&mut memory, 16), Err(TilingStop::Exhausted));
        assert_eq!(
            allocate(&mut memory, 0xfc1),
            Err(TilingStop::TooLarge { bytes: 0xfd0 })
        );
        writes.flush(&mut memory).expect("plain memory");
        assert_eq!((heap.first, heap.last), (0x10001, 0x30001));
        assert_eq!(
            [0x10000, 0x20000, 0x30000].map(|at| memory.get64(at)),
            [0x20001, 0x30001, 0]
        );
        assert_eq!(
            memory.get64(DESCRIPTOR + 16),
            0x11000,
            "the driver's list was taken over"
        );
    }

    #[test]
    fn the_list_of_used_chunks_ends_with_the_newest() {
        let mut memory = Array::new(1 << 20);
        let mut heap = heap(&mut memory, 3);
        let mut writes = Writes::default();
        for first in [0x10040, 0x20040] {
            let allocated = heap.allocate(&mut memory, &mut writes, 0xfc0);
            assert_eq!(allocated, Ok(first));
        }
        writes.flush(&mut memory).expect("plain memory");
        let headers = [0x10000, 0x20000].map(|at| memory.get64(at));
        assert_eq!(headers, [0x20001, 0], "the third is not used yet");
        assert_eq!(memory.get64(CONTEXT), 0x30001, "and is the next free one");
    }

    #[test]
    fn a_pointer_without_a_size_names_a_chunk_of_the_descriptors() {
        let mut memory = Array::new(1 << 20);
        let mut heap = heap(&mut memory, 1);
        memory.put64(0x10000, &[0x20000]);
        memory.put64(0x20000, &[0]);
        let mut writes = Writes::default();
        for first in [0x10040, 0x20040] {
            let allocated = heap.allocate(&mut memory, &mut writes, 0xfc0);
            assert_eq!(allocated, Ok(first));
        }
    }

    #[test]
    fn chunks_that_were_given_back_are_used_again() {
        let mut memory = Array::new(1 << 20);
        let mut heap = heap(&mut memory, 1);
        let mut writes = Writes::default();
        assert_eq!(heap.allocate(&mut memory, &mut writes, 16), Ok(0x10040));
        writes.flush(&mut memory).expect("plain memory");
        // As FINISH_FRAGMENT does: the list goes in front of the free list.
        memory.put64(heap.last & !SIZE, &[memory.get64(CONTEXT)]);
        memory.put64(CONTEXT, &[heap.first]);
        heap.forget();
        assert_eq!(heap.allocate(&mut memory, &mut writes, 16), Ok(0x10040));
        assert_eq!(
            heap.allocate(&mut memory, &mut writes, 0xfc0),
            Err(TilingStop::Exhausted)
        );
        // The host grows the heap.
        memory.put64(0x50000, &[0; 8]);
        memory.put64(CONTEXT, &[0x50001]);
        assert_eq!(heap.allocate(&mut memory, &mut writes, 0xfc0), Ok(0x50040));
        writes.flush(&mut memory).expect("plain memory");
        assert_eq!(
            memory.get64(0x10000),
            0x50001,
            "the new chunk is linked behind the last"
        );
    }

    #[test]
    fn an_access_that_waits_loses_no_chunk() {
        for patience in 1..12 {
            let mut memory = Array::new(1 << 20);
            let mut heap = heap(&mut memory, 3);
            let mut writes = Writes::default();
            memory.patience = Some(patience);
            let mut addresses = std::vec::Vec::new();
            for _ in 0..1000 {
                match heap.allocate(&mut memory, &mut writes, 0xf00) {
                    Ok(address) => addresses.push(address),
                    Err(TilingStop::Memory(Refused::Waits)) => {}
                    Err(other) => {
                        assert_eq!(other, TilingStop::Exhausted, "after {addresses:x?}");
                        break;
                    }
                }
            }
            // Three reads and a write must fit between two waits, or nothing moves: that is the host's affair.
            let expected: &[u64] = if patience < 4 {
                &[]
            } else {
                &[0x10040, 0x20040, 0x30040]
            };
            assert_eq!(addresses, expected, "a wait after {patience} accesses");
        }
    }
}
