//! Links the monitor above the memory that it shows the image.

use eitri_boards::qemu_virt::{MONITOR_HEAP_BYTES, MONITOR_RAM};

fn main() {
    eitri_linker::Place::of(MONITOR_RAM)
        .with_heap(MONITOR_HEAP_BYTES)
        .link();
}
