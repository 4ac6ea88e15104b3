//! How the model executes shaders: `--engine`, and `EITRI_ENGINE` where no option says it.

use crate::input::nearest::suggestion;
use crate::outcome::Failure;
use eitri_model::Engine;
use miette::Diagnostic;
use std::sync::OnceLock;
use thiserror::Error;

/// The variable that names the engine.
const VARIABLE: &str = "EITRI_ENGINE";

/// The engine of the process.
static CHOSEN: OnceLock<Engine> = OnceLock::new();

/// `--engine`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct EngineArgument {
    /// How the model executes shaders: one instruction after another (`interpret`), runs of them (`simd`), or code of the host where
    /// they run often (`jit`). Results, counters and reports are the same. Without it EITRI_ENGINE says which.
    #[arg(long, value_name = "interpret|simd|jit")]
    engine: Option<String>,
}

impl EngineArgument {
    /// Makes it the engine of the process.
    ///
    /// # Errors
    /// If there is no such engine.
    pub(crate) fn choose(&self) -> Result<(), Failure> {
        if let Some(name) = &self.engine {
            let engine = named(name).ok_or_else(|| unknown(name, "--engine"))?;
            // Nothing has asked before the command begins; if something had, its answer would stand.
            let _ = CHOSEN.set(engine);
        }
        Ok(())
    }
}

#[derive(Debug, Error, Diagnostic)]
#[error("{place} names no engine: `{name}`")]
struct UnknownEngine {
    name: String,
    place: String,
    #[help]
    help: String,
}

fn unknown(name: &str, place: &str) -> Failure {
    let (name, place) = (name.to_owned(), place.to_owned());
    let help = suggestion(&name, Engine::NAMES, &Engine::NAMES.join(", "));
    Failure::refused(UnknownEngine { name, place, help })
}

/// Refuses a variable that names no engine.
///
/// # Errors
/// If it does.
pub(crate) fn check_variable() -> Result<(), Failure> {
    match std::env::var(VARIABLE) {
        Ok(name) if !Engine::NAMES.contains(&name.as_str()) => Err(unknown(&name, VARIABLE)),
        _ => Ok(()),
    }
}

/// The engine of the models of this process.
pub(crate) fn chosen() -> Engine {
    CHOSEN
        .get_or_init(|| {
            let named = std::env::var(VARIABLE).ok().and_then(|name| named(&name));
            named.unwrap_or_else(usual)
        })
        .clone()
}

/// The engine that is taken if none is named: host code where translation is optimised itself.
fn usual() -> Engine {
    if cfg!(debug_assertions) {
        return Engine::Simd;
    }
    named(Engine::NAMES[2]).unwrap_or_default()
}

#[cfg(feature = "jit")]
fn named(name: &str) -> Option<Engine> {
    eitri_host_code::engine(name)
}

/// Without the translator its name means what it falls back to.
#[cfg(not(feature = "jit"))]
fn named(name: &str) -> Option<Engine> {
    match Engine::NAMES.iter().position(|known| *known == name)? {
        0 => Some(Engine::Interpret),
        _ => Some(Engine::Simd),
    }
}
