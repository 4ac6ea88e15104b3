//! The tests of the kernel, on QEMU's machine with a GIC of version 2.
#![no_std]
#![no_main]

mod suite;
mod tap;

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::WITH_GICV2,
    first: suite::look_at_initial_map,
    main: suite::main,
}
