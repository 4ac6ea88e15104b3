//! Links these binaries as images for QEMU's `virt` machine.

fn main() {
    let linker = concat!(env!("CARGO_MANIFEST_DIR"), "/../../linker");
    for script in ["qemu-virt.ld", "image.ld"] {
        println!("cargo::rustc-link-arg-bins=-T{linker}/{script}");
        println!("cargo::rerun-if-changed={linker}/{script}");
    }
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
}
