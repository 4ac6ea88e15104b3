//! Links the image for the board that `EITRI_BOARD` names, with the GPU's firmware that `EITRI_FIRMWARE` names in it.

use std::path::Path;
use std::{env, fs};

fn main() {
    if let Some(board) = eitri_linker::board() {
        eitri_linker::Place::of(board.memory.image).link();
    }
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
    println!("cargo::rerun-if-env-changed=EITRI_FIRMWARE");
    let out = env::var("OUT_DIR").unwrap_or_default();
    // An image without it says so when it runs.
    let bytes = env::var("EITRI_FIRMWARE").map_or(Ok(Vec::new()), |path| {
        println!("cargo::rerun-if-changed={path}");
        fs::read(path)
    });
    let written = bytes.and_then(|bytes| fs::write(Path::new(&out).join("firmware"), bytes));
    if let Err(error) = written {
        println!("cargo::error=EITRI_FIRMWARE: {error}");
    }
}
