//! The page of a queue that draws: where its streams count what they have done, and where its tiler heap is.
//!
//! Recorded commands know neither the queue that runs them nor its heap: they find both here, by an address that the wrapper of
//! their job loads. What counts is set when a part of a submission begins, so that nothing here is to be put right after a loss.
//! Facts: hardware/graphics.md 1.11, 2.2 to 2.4.

use crate::vm::GpuAddress;
use eitri_cs::{Pair, SubQueue, d};
use eitri_descriptors::tiler::TilerHeap;
use eitri_descriptors::{Address, Arch, Descriptor, DescriptorError};

/// Bytes of the page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Bytes between the sync objects of two streams: each has a line of its own.
const COUNT_STRIDE: u32 = 64;
/// Where words 6 to 9 of a tiler context stand: the heap's descriptor, and the geometry buffer with its size.
pub(crate) const HEAP_WORDS: i16 = 3 * COUNT_STRIDE as i16;
/// Where the address of the heap context stands.
pub(crate) const HEAP_CONTEXT: i16 = HEAP_WORDS + 16;

/// Bytes of the geometry buffer, which position shading fills and the tiler empties.
pub(crate) const GEOMETRY_BYTES: u64 = 64 << 10;
/// Where the heap's descriptor stands behind the heap context.
pub(crate) const HEAP_DESCRIPTOR: u64 = 64;
/// Bytes of a chunk's header, which the tiler leaves alone.
const CHUNK_HEADER: u64 = 64;

/// Where the draws are counted that have ended, of passes whose draws run in turn.
pub(crate) const MARKS: u32 = 4 * COUNT_STRIDE;

/// The registers in which the code of a part finds this page, and the value from which on streams count.
pub(crate) const PAGE: Pair = d!(86);
pub(crate) const BASE: Pair = d!(84);

/// Where the sync object of a stream stands.
pub(crate) const fn count_of(stream: SubQueue) -> u32 {
    stream as u32 * COUNT_STRIDE
}

/// The first words of the page.
pub(crate) const fn words(
    descriptor: GpuAddress,
    geometry: GpuAddress,
    context: GpuAddress,
) -> [u64; 28] {
    let mut words = [0; 28];
    words[HEAP_WORDS as usize / 8] = descriptor.0;
    // The field holds the address, which is a multiple of 4096, and below it the size in units of 4096.
    words[HEAP_WORDS as usize / 8 + 1] = geometry.0 | GEOMETRY_BYTES >> 12;
    words[HEAP_CONTEXT as usize / 8] = context.0;
    words
}

/// The descriptor of a heap whose first chunk is there.
pub(crate) fn heap_descriptor(
    arch: Arch,
    chunk: GpuAddress,
    bytes: u32,
) -> Result<[u32; 8], DescriptorError> {
    let heap = TilerHeap {
        size: bytes.into(),
        base: Address(chunk.0),
        bottom: Address(chunk.0.saturating_add(CHUNK_HEADER)),
        top: Address(chunk.0.saturating_add(bytes.into())),
        ..TilerHeap::default()
    };
    let mut words = [0; 8];
    heap.pack(arch, &mut words)?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// hardware/worked/triangle-noafbc.json: heap descriptor and words 6 to 9 of the tiler context.
    #[test]
    fn heaps_are_as_a_driver_describes_them() {
        let words = heap_descriptor(Arch::V10, GpuAddress(0x8000_0080_2000), 2 << 20);
        let expected = [
            0x29, 0x20_0000, 0x80_2000, 0x8000, 0x80_2040, 0x8000, 0xa0_2000, 0x8000,
        ];
        assert_eq!(words, Ok(expected));
        let [descriptor, geometry, context] = [0xfffe_0000, 0xfffe_1000, 0x40].map(GpuAddress);
        let words = super::words(descriptor, geometry, context);
        assert_eq!(words[24..27], [0xfffe_0000, 0xfffe_1010, 0x40]);
        assert_eq!(words[..24], [0; 24]);
    }
}
