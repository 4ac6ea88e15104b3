//! What several tests share.
pub mod kernel;
pub mod random_function;
pub mod spvasm;
pub mod wgsl;
