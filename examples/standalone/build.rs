//! Tells the linker where the firmware lies, and says what to do about a file that is not there yet.

use std::path::Path;

/// The files that `src/main.rs` includes, and the command that makes each.
const FILES: [(&str, &str); 2] = [
    ("double.program", "eitri compile double.wgsl -o double.program"),
    ("firmware.bin", "eitri firmware stub -o firmware.bin"),
];

fn main() {
    let folder = env!("CARGO_MANIFEST_DIR");
    println!("cargo::rustc-link-arg-bins=-T{folder}/link.ld");
    println!("cargo::rerun-if-changed=link.ld");
    for (file, command) in FILES {
        println!("cargo::rerun-if-changed={file}");
        if !Path::new(folder).join(file).is_file() {
            println!("cargo::error={file} is not there yet: run `{command}` in {folder}");
        }
    }
}
