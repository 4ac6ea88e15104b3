//! Links images: the linker script that they share, and the memory of the board that each is for.
//!
//! For build scripts. `image.ld` says what lies in which order; where that is comes from the board alone, so that no
//! address stands twice.
//!
//! ```
//! use eitri_boards::Region;
//! use eitri_linker::Place;
//!
//! let place = Place::of(Region::new(0x0200_0000, 0x10_0000)).with_heap(0x8000);
//! let script = "MEMORY\n{\n    image : ORIGIN = 0x2000000, LENGTH = 0x100000\n}\nHEAP_BYTES = 0x8000;\n";
//! assert_eq!(place.to_string(), script);
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use eitri_boards::{ALL, Region, Target};
use std::path::PathBuf;
use std::{env, fmt, fs};

/// The script with the order of sections.
const IMAGE_SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/image.ld");
/// The variable that names the board to build for.
pub const BOARD_VARIABLE: &str = "EITRI_BOARD";

/// Where an image is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    memory: Region,
    heap_bytes: usize,
    anywhere: bool,
}

impl Place {
    /// In this memory, from its begin.
    pub const fn of(memory: Region) -> Place {
        Place {
            memory,
            heap_bytes: 0,
            anywhere: false,
        }
    }

    /// Where an image for a board is put; one for an outline is put anywhere.
    pub const fn for_target(target: Target) -> Place {
        Place {
            anywhere: target.board().is_none(),
            ..Place::of(target.linked())
        }
    }

    /// With a heap of so many bytes behind its variables.
    pub const fn with_heap(self, heap_bytes: usize) -> Place {
        Place { heap_bytes, ..self }
    }

    /// Tells cargo to link the package's programs there. To be called by its build script; what goes wrong is told to
    /// cargo, which ends the build.
    pub fn link(self) {
        let Some(out) = env::var_os("OUT_DIR") else {
            println!("cargo::error=no OUT_DIR: this is for build scripts");
            return;
        };
        let script = PathBuf::from(out).join("memory.ld");
        if let Err(error) = fs::write(&script, self.to_string()) {
            println!("cargo::error={}: {error}", script.display());
        }
        println!("cargo::rustc-link-arg-bins=-T{}", script.display());
        println!("cargo::rustc-link-arg-bins=-T{IMAGE_SCRIPT}");
        for argument in self.arguments() {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
        println!("cargo::rerun-if-changed={IMAGE_SCRIPT}");
    }
}

impl Place {
    /// What else the linker is told: where an image may lie anywhere, that it keeps a list of its own addresses, among code and
    /// constants too, and still has those in place that hold where it was linked.
    fn arguments(self) -> &'static [&'static str] {
        match self.anywhere {
            true => &[
                "--pie",
                "--no-dynamic-linker",
                "--apply-dynamic-relocs",
                "-znotext",
                "-znorelro",
            ],
            false => &[],
        }
    }
}

impl fmt::Display for Place {
    /// The script that states the memory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Region { base, bytes } = self.memory;
        writeln!(f, "MEMORY\n{{")?;
        writeln!(f, "    image : ORIGIN = {base:#x}, LENGTH = {bytes:#x}")?;
        writeln!(f, "}}")?;
        if self.heap_bytes != 0 {
            writeln!(f, "HEAP_BYTES = {:#x};", self.heap_bytes)?;
        }
        Ok(())
    }
}

/// The board that [`BOARD_VARIABLE`] names, or the first of [`ALL`]; the package's code finds the name in the same
/// variable, by `env!`. To be called by a build script; a name that no board has ends the build.
pub fn target() -> Option<Target> {
    println!("cargo::rerun-if-env-changed={BOARD_VARIABLE}");
    let name = env::var(BOARD_VARIABLE).ok();
    let target = match &name {
        Some(name) => Target::named(name),
        None => ALL.first().map(|board| Target::Board(board)),
    };
    match target {
        Some(target) => println!("cargo::rustc-env={BOARD_VARIABLE}={}", target.name()),
        None => println!(
            "cargo::error={BOARD_VARIABLE}={}: no such board; there are {}",
            name.unwrap_or_default(),
            names().join(", ")
        ),
    }
    target
}

/// Puts the file that a variable names into the image: as `name` in the build's folder, where the package's code finds it by
/// `include_bytes!(concat!(env!("OUT_DIR"), "/name"))`. Without the variable it is empty, and the image says so when it runs. To be
/// called by a build script; a file that can't be read ends the build.
pub fn put_in(variable: &str, name: &str) {
    println!("cargo::rerun-if-env-changed={variable}");
    let file = env::var_os(variable).map(PathBuf::from);
    let bytes = match &file {
        Some(path) => {
            println!("cargo::rerun-if-changed={}", path.display());
            fs::read(path)
        }
        None => Ok(Vec::new()),
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let written = bytes.and_then(|bytes| fs::write(out.join(name), bytes));
    if let Err(error) = written {
        let file = file.unwrap_or_default();
        println!("cargo::error={variable}={}: {error}", file.display());
    }
}

/// Links the package's programs for the board that [`BOARD_VARIABLE`] names, with what they log. To be called by a build script.
pub fn link_for_board() {
    if let Some(target) = target() {
        Place::for_target(target).link();
    }
    println!("cargo::rustc-link-arg-bins=-Tdefmt.x");
}

fn names() -> Vec<&'static str> {
    Target::all().map(Target::name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_board_has_a_place() {
        for target in Target::all() {
            let place = Place::for_target(target);
            let (name, text) = (target.name(), place.to_string());
            let origin = format!("ORIGIN = {:#x}, ", target.linked().base);
            assert!(text.contains(&origin), "{name}: {text}");
            assert!(!text.contains("HEAP_BYTES"), "{name}: {text}");
            assert_eq!(
                place.arguments().is_empty(),
                target.board().is_some(),
                "{name}"
            );
        }
    }
}
