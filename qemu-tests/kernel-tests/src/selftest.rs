//! The tests of the kernel, on QEMU's machine.
#![no_std]
#![no_main]

mod suite;
mod tap;

eitri_kernel::image! {
    board: eitri_boards::qemu_virt::BOARD,
    first: suite::look_at_initial_map,
    main: suite::main,
}
