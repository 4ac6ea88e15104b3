//! The monitor's ELF file: from inside of this command where it was built with the feature `portable`, else built from the sources.

use crate::images::image::Builder;
use crate::input::board_file;
use crate::outcome::Failure;
use crate::workspace::Workspace;
use eitri_launch::Problem;
use eitri_launch::images::MONITOR;
use eitri_launch::tools::{self, Tool};

/// The file that `build.rs` puts there; empty without the feature.
const INSIDE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/monitor.elf"));

/// The ELF file. QEMU is there once this has returned.
pub(crate) fn elf() -> Result<Vec<u8>, Failure> {
    if INSIDE.is_empty() || !board_file::is_built_in()? {
        tools::ensure(&Workspace::find()?, &[Tool::Qemu])?;
        return Ok(Builder::new()?.build(MONITOR, MONITOR)?.elf);
    }
    match tools::in_path(Tool::Qemu.program()) {
        true => Ok(INSIDE.to_vec()),
        false => {
            let missing = vec![Tool::Qemu];
            Err(Problem::Tools { missing }.into())
        }
    }
}
