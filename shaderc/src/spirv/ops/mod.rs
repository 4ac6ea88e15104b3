//! SPIR-V instructions to IR, one file a family.
//!
//! Facts: hardware/compiler-isel.md 15.1.
pub(crate) mod algebra;
pub(crate) mod atomic;
pub(crate) mod barrier;
pub(crate) mod composite;
pub(crate) mod convert;
pub(crate) mod group;
pub(crate) mod image;
mod image_query;
mod input_attachment;
pub(crate) mod integer;
pub(crate) mod memory;
pub(crate) mod quad;
pub(crate) mod scalar;
