//! Engines: the ways in which the model executes shaders. All give the same results, counters, times and diagnoses.

use super::host_code::Translator;
use alloc::sync::Arc;

/// How instructions are executed.
#[derive(Clone, Debug, Default)]
pub enum Engine {
    /// One by one: the reference.
    Interpret,
    /// Instructions between messages in runs, each over all lanes at once.
    #[default]
    Simd,
    /// As [`Engine::Simd`], and what is hot by translated code.
    Jit(Arc<dyn Translator>),
}

impl Engine {
    /// Names of the engines.
    pub const NAMES: [&'static str; 3] = ["interpret", "simd", "jit"];

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Interpret => Engine::NAMES[0],
            Engine::Simd => Engine::NAMES[1],
            Engine::Jit(_) => Engine::NAMES[2],
        }
    }
}
