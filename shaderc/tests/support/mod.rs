//! What several tests share.
pub mod kernel;
