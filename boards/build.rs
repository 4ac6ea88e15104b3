//! Takes in the board that a file describes, where `EITRI_BOARD_SOURCE` names what the command made of that file.

use std::path::PathBuf;
use std::{env, fs};

/// The variable.
const SOURCE: &str = "EITRI_BOARD_SOURCE";
/// What is there without it.
const NONE: &str = "pub(crate) const OUTSIDE: &[Target] = &[];\n";

fn main() {
    println!("cargo::rerun-if-env-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build.rs");
    let source = env::var_os(SOURCE).map(PathBuf::from);
    let text = match &source {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            fs::read_to_string(path)
        }
        None => Ok(NONE.to_owned()),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    if let Err(error) = text.and_then(|text| fs::write(out.join("outside.rs"), text)) {
        let source = source.unwrap_or_default();
        println!("cargo::error={SOURCE}={}: {error}", source.display());
    }
}
