//! The front end: SPIR-V to IR.
//!
//! Needs: any bytes.  Guarantees: a function that `ir::verify` accepts, or an error that names the instruction; no
//! panic and no endless loop whatever the bytes.  Facts: hardware/compiler-isel.md 15; hardware/compiler-ir.md 1.3.
//!
//! In reading order: framing (`reader`), what of it is used (`reach`, `capabilities`, `needs`), the module (`entry`, `module`, `execution_modes`,
//! `functions`, `types`, `constants`, `decorations`), what lies outside functions (`interface`, `built_ins`,
//! `locations`, `stage_interface`, `effects`, `resources`, `layout`),
//! functions (`translate`, `refusals`, `control`, `pointer`, `access`, `address`), instructions by family (`ops`, `glsl`).
mod access;
mod address;
mod built_ins;
mod calls;
mod capabilities;
mod constants;
mod control;
mod decorations;
mod effects;
mod entry;
pub mod error;
mod execution_modes;
mod functions;
mod glsl;
mod interface;
mod layout;
mod locations;
mod module;
mod name_variables;
mod needs;
mod observe;
mod ops;
mod pointer;
mod printf;
mod reach;
pub(crate) mod reader;
mod refusals;
mod resources;
mod stage_interface;
mod translate;
mod types;

use error::{Error, Warning};

use crate::ir::{Function, verify::verify};
use crate::options::{Options, SpecIds};
use crate::printf::PrintfCall;

/// What a module became.
pub struct Translated {
    /// The entry point, with all that it calls.
    pub function: Function,
    /// What it does without.
    pub warnings: Vec<Warning>,
    /// The calls that print.
    pub printf: Vec<PrintfCall>,
}

/// Translates one entry point.
///
/// # Errors
/// Everything that [`Error`] lists: all that isn't supported, or the first thing that is wrong.
pub fn translate(bytes: &[u8], options: &Options) -> Result<Translated, Vec<Error>> {
    let module = module::Module::read(bytes, options)?;
    if options.spec_ids == SpecIds::Declared {
        let undeclared = constants::undeclared(&module);
        if !undeclared.is_empty() {
            return Err(undeclared);
        }
    }
    let translated = translate::translate(&module, options)?;
    // The module may use values where they aren't defined, or jump into loops: here it shows.
    verify(&translated.function).map_err(|violations| vec![Error::BadFlow(violations)])?;
    Ok(translated)
}
