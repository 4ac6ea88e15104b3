//! What can be wrong: with a scene file, and with what a run left behind.

use crate::expectation::{Mismatch, Target};
use eitri_compute_cases::{ContentsError, FileError};
use std::path::PathBuf;

/// Why a scene can't be read.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// Something is wrong with a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Contents that can't be made.
    #[error("{}: {of}: {cause}", path.display())]
    Contents {
        /// The scene file.
        path: PathBuf,
        /// The buffer, image or expectation.
        of: String,
        /// What is wrong with the rule.
        cause: ContentsError,
    },
}

/// How what a run left behind differs from what a scene expects.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Difference {
    /// Another size.
    #[error("{target} has {found} bytes, {wanted} are expected")]
    Length {
        /// The place.
        target: Target,
        /// Bytes that were left.
        found: usize,
        /// Bytes that are expected.
        wanted: usize,
    },
    /// Another digest, of contents that the scene does not hold.
    #[error("{target} has the SHA-256 {found}, {wanted} is expected")]
    Digest {
        /// The place.
        target: Target,
        /// The digest of what was left.
        found: String,
        /// The digest that is expected.
        wanted: String,
    },
    /// Texels, or bytes, that break the rule.
    #[error("{target}: {mismatch}")]
    Values {
        /// The place.
        target: Target,
        /// The first, and how many.
        mismatch: Box<Mismatch>,
    },
    /// The root of the mean squared difference is too large.
    #[error(
        "{target}: the root of the mean squared difference is {found:.6}, at most {most} is good"
    )]
    Mean {
        /// The place.
        target: Target,
        /// The root of the mean.
        found: f64,
        /// The most.
        most: f64,
    },
}
