//! Links the image for the board that `EITRI_BOARD` names, with the files of `EITRI_FIRMWARE` (such as the vendor's
//! `mali_csffw.bin`) and `EITRI_PROGRAM` (what `eitri compile -o` wrote) in it.

use std::path::Path;
use std::{env, fs};

fn main() {
    if let Some(board) = eitri_linker::board() {
        eitri_linker::Place::of(board.memory.image).link();
    }
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    let out = env::var("OUT_DIR").unwrap_or_default();
    for (variable, name) in [("EITRI_FIRMWARE", "firmware"), ("EITRI_PROGRAM", "program")] {
        println!("cargo::rerun-if-env-changed={variable}");
        // An image without them says so when it runs.
        let bytes = env::var(variable).map_or(Ok(Vec::new()), |path| {
            println!("cargo::rerun-if-changed={path}");
            fs::read(path)
        });
        let written = bytes.and_then(|bytes| fs::write(Path::new(&out).join(name), bytes));
        if let Err(error) = written {
            println!("cargo::error={variable}: {error}");
        }
    }
}
