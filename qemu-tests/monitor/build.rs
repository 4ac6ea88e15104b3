//! Links the monitor above the memory that it shows the image.

fn main() {
    let linker = concat!(env!("CARGO_MANIFEST_DIR"), "/../../linker");
    for script in ["qemu-virt-monitor.ld", "image.ld"] {
        println!("cargo::rustc-link-arg-bins=-T{linker}/{script}");
        println!("cargo::rerun-if-changed={linker}/{script}");
    }
}
