//! The compiler: SPIR-V to IR to Valhall machine code.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

// In reading order: the way of a shader.
mod front_end;
pub mod pipeline;

pub mod spirv;

pub mod interp;
pub mod ir;

mod lower;
mod opt;
pub mod pass;

pub mod valhall;

mod options;
mod target;

pub use front_end::{Lowered, front_end};
pub use options::Options;
pub use target::Target;
