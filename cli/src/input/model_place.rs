//! Where the model of a machine in QEMU runs: `--model`, and `EITRI_MODEL` where no option says it.

use crate::outcome::Failure;
use crate::runs::dispatch::Place;
use miette::Diagnostic;
use std::fmt;
use std::sync::OnceLock;
use thiserror::Error;

/// The variable that names the place.
pub(crate) const VARIABLE: &str = "EITRI_MODEL";

/// The place that was asked for.
static CHOSEN: OnceLock<ModelPlace> = OnceLock::new();

/// Where the model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ModelPlace {
    /// In this process: shaders run at the host's speed.
    Host,
    /// In the machine, beside the guest.
    Guest,
}

/// `--model`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ModelArgument {
    /// Where the model of a machine in QEMU runs: in this process, where shaders are fast, or in the machine, beside the guest. `host`
    /// if nothing is said, but `guest` where something needs that.
    #[arg(long, value_name = "WHERE")]
    model: Option<ModelPlace>,
}

#[derive(Debug, Error, Diagnostic)]
enum ModelError {
    #[error("--model is for machines in QEMU")]
    #[diagnostic(help("--on qemu; on the host the model is in this process"))]
    NoMachine,
    #[error("{what} needs the model in the machine: {why}")]
    #[diagnostic(help("--model guest, or leave --model and {VARIABLE} out"))]
    NeedsGuest {
        what: &'static str,
        why: &'static str,
    },
    #[error("{VARIABLE} names no place of the model: `{name}`")]
    #[diagnostic(help("host or guest"))]
    Variable { name: String },
}

/// What only a model in the machine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GuestOnly {
    /// Caches before the GPU's memory.
    Caches(&'static str),
    /// A core dump, taken while the machine runs.
    Dump,
}

impl ModelArgument {
    /// What was asked for.
    pub(crate) fn place(self) -> Option<ModelPlace> {
        self.model
    }

    /// Makes it the place of the models of all machines of this process.
    ///
    /// # Errors
    /// If jobs run on the host.
    pub(crate) fn choose(self, on: Place) -> Result<(), Failure> {
        let Some(model) = self.model else {
            return Ok(());
        };
        if on == Place::Host {
            return Err(Failure::refused(ModelError::NoMachine));
        }
        // Nothing has asked before the command begins.
        let _ = CHOSEN.set(model);
        Ok(())
    }
}

/// Refuses a variable that names no place.
///
/// # Errors
/// If it does.
pub(crate) fn check_variable() -> Result<(), Failure> {
    match std::env::var(VARIABLE) {
        Ok(name) if named(&name).is_none() => Err(Failure::refused(ModelError::Variable { name })),
        _ => Ok(()),
    }
}

/// The place that was asked for, if one was.
pub(crate) fn chosen() -> Option<ModelPlace> {
    let of_variable = || named(&std::env::var(VARIABLE).ok()?);
    CHOSEN.get().copied().or_else(of_variable)
}

/// Refuses what only a model in the machine can do, where the model was asked to be in this process.
///
/// # Errors
/// If it was.
pub(crate) fn refuse_on_host(only: GuestOnly) -> Result<(), Failure> {
    if chosen() != Some(ModelPlace::Host) {
        return Ok(());
    }
    let (what, why) = match only {
        GuestOnly::Caches(option) => (option, "the monitor plays the caches before its memory"),
        GuestOnly::Dump => (
            "--dump",
            "the monitor holds the machine at the GPU's first fault",
        ),
    };
    Err(Failure::refused(ModelError::NeedsGuest { what, why }))
}

fn named(name: &str) -> Option<ModelPlace> {
    let mut all = [ModelPlace::Host, ModelPlace::Guest].into_iter();
    all.find(|place| place.to_string() == name)
}

impl fmt::Display for ModelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModelPlace::Host => "host",
            ModelPlace::Guest => "guest",
        })
    }
}
