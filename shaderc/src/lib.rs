//! The compiler: SPIR-V to IR to Valhall machine code.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod interp;
pub mod ir;
pub mod spirv;
pub mod valhall;
