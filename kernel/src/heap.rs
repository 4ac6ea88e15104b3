//! Heap: what `alloc` is given.
//!
//! The kernel itself needs it for page tables only, and nothing that drives the GPU allocates from it. When it is used
//! up, the allocation that fails ends the image by a panic that says how much was asked for.

use crate::irq_mutex::IrqMutex;
use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, NonNull};
use eitri_boards::Region;
use linked_list_allocator::Heap;

struct KernelHeap(IrqMutex<Heap>);

#[global_allocator]
static HEAP: KernelHeap = KernelHeap(IrqMutex::new(Heap::empty()));

// SAFETY: `Heap` gives each piece of the memory of `open` to one owner at a time, of the size and alignment asked for; the
// lock makes it one call at a time.
unsafe impl GlobalAlloc for KernelHeap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let piece = self.0.with(|heap| heap.allocate_first_fit(layout));
        piece.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        if let Some(piece) = NonNull::new(piece) {
            // SAFETY: the caller's promise: `alloc` gave this piece for this layout.
            self.0
                .with(|heap| unsafe { heap.deallocate(piece, layout) });
        }
    }
}

/// Gives the heap its memory; only the first call does something.
///
/// # Safety
/// The region is ordinary memory, mapped for reading and writing, and used by nobody else for as long as the image runs.
pub unsafe fn open(region: Region) {
    HEAP.0.with(|heap| {
        if heap.size() == 0 {
            // SAFETY: the caller's promise, and nothing was given before.
            unsafe { heap.init(region.base as *mut u8, region.bytes) };
        }
    });
}

/// Bytes in use, and bytes that are free.
pub fn usage() -> (usize, usize) {
    HEAP.0.with(|heap| (heap.used(), heap.free()))
}
