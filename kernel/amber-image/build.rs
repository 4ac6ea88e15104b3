//! Links the image for the board that `EITRI_BOARD` names, with the scripts that `EITRI_SUITE` names in it.

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    if let Some(board) = eitri_linker::board() {
        eitri_linker::Place::of(board.memory.image).link();
    }
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");

    println!("cargo::rerun-if-env-changed=EITRI_SUITE");
    let suite = match env::var_os("EITRI_SUITE") {
        Some(path) => {
            let path = PathBuf::from(path);
            println!("cargo::rerun-if-changed={}", path.display());
            match fs::read(&path) {
                Ok(suite) => suite,
                Err(error) => {
                    println!("cargo::error=EITRI_SUITE={}: {error}", path.display());
                    return;
                }
            }
        }
        // An image without scripts says so when it runs.
        None => Vec::new(),
    };
    let Some(out) = env::var_os("OUT_DIR") else {
        println!("cargo::error=no OUT_DIR");
        return;
    };
    let copy = PathBuf::from(out).join("scripts.suite");
    if let Err(error) = fs::write(&copy, suite) {
        println!("cargo::error={}: {error}", copy.display());
    }
}
