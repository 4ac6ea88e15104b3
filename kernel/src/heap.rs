//! Heap: what `alloc` is given.
//!
//! The kernel itself needs it for page tables only, and nothing that drives the GPU allocates from it. When it is used
//! up, the allocation that fails ends the image by a panic that says how much was asked for.

use eitri_boards::Region;
use linked_list_allocator::LockedHeap;

#[global_allocator]
static HEAP: LockedHeap = LockedHeap::empty();

/// Gives the heap its memory; only the first call does something.
pub fn open(region: Region) {
    let mut heap = HEAP.lock();
    if heap.size() == 0 {
        // SAFETY: called once with memory that the linker script set aside for this, mapped and used by nobody else.
        unsafe { heap.init(region.base as *mut u8, region.bytes) };
    }
}

/// Bytes in use, and bytes that are free.
pub fn usage() -> (usize, usize) {
    let heap = HEAP.lock();
    (heap.used(), heap.free())
}
