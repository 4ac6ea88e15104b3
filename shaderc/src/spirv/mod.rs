//! The front end: SPIR-V to IR.
//!
//! Needs: any bytes.  Guarantees: a function that `ir::verify` accepts, or an error that names the instruction; no
//! panic and no endless loop whatever the bytes.  Facts: hardware/compiler-isel.md 15; hardware/compiler-ir.md 1.3.
//!
//! In reading order: framing (`reader`), the module (`module`, `types`, `constants`, `decorations`), what lies outside
//! functions (`interface`, `layout`), functions (`translate`, `control`, `pointer`, `address`), instructions by family (`ops`, `glsl`).
mod address;
mod constants;
mod control;
mod decorations;
pub mod error;
mod glsl;
mod interface;
mod layout;
mod module;
mod needs;
mod ops;
mod pointer;
pub(crate) mod reader;
mod translate;
mod types;

use std::collections::BTreeMap;

use error::Error;

use crate::ir::{Function, verify::verify};
use crate::target::Limits;

/// Translates one entry point, for a machine with those limits.
///
/// # Errors
/// Everything that [`Error`] lists; several only for capabilities.
pub fn translate(
    bytes: &[u8],
    entry: Option<&str>,
    spec_constants: &BTreeMap<u32, u32>,
    limits: Limits,
) -> Result<Function, Vec<Error>> {
    let module = module::Module::read(bytes, entry, spec_constants)?;
    let function = translate::translate(&module, limits).map_err(|error| vec![*error])?;
    // The module may use values where they aren't defined, or jump into loops: here it shows.
    verify(&function).map_err(|violations| vec![Error::BadFlow(violations)])?;
    Ok(function)
}
