//! Shader cores: what instructions compute, warps, messages.
//!
//! Facts: hardware/valhall-isa.md.

mod alu;
mod float;
mod lanes;
mod select;
