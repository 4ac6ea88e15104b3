//! The seed by which the model reorders memory accesses and turns of warps: `--reorder`, and `EITRI_REORDER` where no option says it.

use crate::outcome::Failure;
use crate::runs::dispatch::Place;
use miette::Diagnostic;
use std::sync::OnceLock;
use thiserror::Error;

/// The variable that has the seed.
const VARIABLE: &str = "EITRI_REORDER";

/// The seed of the process, if it has one.
static CHOSEN: OnceLock<Option<u64>> = OnceLock::new();

/// `--reorder`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ReorderArgument {
    /// Let accesses of shaders to memory come late, and warps and workgroups take turns, in an order drawn from this seed, as hardware
    /// may: what lacks a barrier comes out wrong for some seed. On the host, and slower: shaders are interpreted. Without it
    /// EITRI_REORDER says the seed.
    #[arg(long, value_name = "SEED")]
    reorder: Option<u64>,
}

/// Why no order can be drawn.
#[derive(Debug, Error, Diagnostic)]
enum ReorderError {
    /// Only the model in this process knows late messages.
    #[error("--reorder is for what runs on the host")]
    #[diagnostic(help("leave out --on qemu"))]
    InQemu,
    /// `--fidelity` follows values in the order of the program.
    #[error("--reorder and --fidelity exclude each other")]
    #[diagnostic(help("run it twice, with one of them each"))]
    WithFidelity,
}

impl ReorderArgument {
    /// Makes it the seed of each model of the process. `follows` is whether `--fidelity` is given.
    ///
    /// # Errors
    /// Anywhere but on the host, and beside `--fidelity`.
    pub(crate) fn choose(self, place: Place, follows: bool) -> Result<(), Failure> {
        if self.reorder.is_none() {
            return Ok(());
        }
        if place != Place::Host {
            return Err(Failure::refused(ReorderError::InQemu));
        }
        if follows {
            return Err(Failure::refused(ReorderError::WithFidelity));
        }
        // Nothing has asked before the command begins; if something had, its answer would stand.
        let _ = CHOSEN.set(self.reorder);
        Ok(())
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("{VARIABLE} is no seed: `{value}`")]
#[diagnostic(help("write a number of 0 or more"))]
struct NoSeed {
    value: String,
}

/// Refuses a variable that is no seed.
///
/// # Errors
/// If it is none.
pub(crate) fn check_variable() -> Result<(), Failure> {
    match std::env::var(VARIABLE) {
        Ok(value) if value.parse::<u64>().is_err() => Err(Failure::refused(NoSeed { value })),
        _ => Ok(()),
    }
}

/// The variable and its value for a process that runs a model for this one; nothing without a seed.
pub(crate) fn for_child() -> Option<(&'static str, String)> {
    chosen().map(|seed| (VARIABLE, seed.to_string()))
}

/// The seed of each model of this process, if it has one.
pub(crate) fn chosen() -> Option<u64> {
    *CHOSEN.get_or_init(|| std::env::var(VARIABLE).ok()?.parse().ok())
}
