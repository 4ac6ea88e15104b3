//! Links these binaries as images for QEMU's `virt` machine.

use eitri_boards::qemu_virt::BOARD;

fn main() {
    eitri_linker::Place::of(BOARD.memory.image).link();
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
}
