//! What several tests share.
pub mod kernel;
pub mod spvasm;
pub mod wgsl;
