//! Shaders of the model as code of the host's processor.
//!
//! The model interprets what it executes first. A page of code whose instructions have run often is translated by Cranelift, on a
//! thread beside, and taken up when it is there: no dispatch waits, and none sees a difference but in time. Code is kept for the
//! process, so the next dispatch of the same shader, on whatever device, begins with it.
//!
//! What an instruction means stands in the model. Here are the plain ones again, as vector code of 4 lanes (`operation`), held
//! against the model by tests; the others are calls of the model's functions, and so are messages.
//!
//! Needs: a host on which Cranelift makes code.  Guarantees: results, counters, times and diagnoses of single steps.
//! Never: accesses the shader's memory, or decides what a fault is.
//!
//! ```
//! use eitri_model::{Config, Gpu};
//!
//! let config = Config {
//!     engine: eitri_host_code::engine("jit").unwrap_or_default(),
//!     ..Config::default()
//! };
//! let gpu = Gpu::new(config);
//! assert_eq!(gpu.now(), 0);
//! ```
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

mod blocks;
mod cache;
mod code;
mod context;
mod operation;
mod pairs;
mod registers;
mod specials;
mod translate;
mod vectors;

pub use cache::Jit;

use eitri_model::Engine;
use std::sync::Arc;

/// The engine with one of the names of [`Engine::NAMES`]; `jit` is [`Engine::Simd`] on hosts for which no code can be made.
pub fn engine(name: &str) -> Option<Engine> {
    let known = |index: usize| Engine::NAMES.get(index).is_some_and(|it| *it == name);
    Some(match () {
        () if known(0) => Engine::Interpret,
        () if known(1) => Engine::Simd,
        () if known(2) => Jit::shared().map_or(Engine::Simd, |jit| Engine::Jit(jit)),
        () => return None,
    })
}

impl Jit {
    /// The translator of the process, if code can be made for the host.
    pub fn shared() -> Option<Arc<Jit>> {
        static SHARED: std::sync::OnceLock<Option<Arc<Jit>>> = std::sync::OnceLock::new();
        SHARED
            .get_or_init(|| Some(Arc::new(Jit::beside()?)))
            .clone()
    }
}
