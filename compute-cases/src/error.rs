//! What can be wrong: with a case file, and with what a run left behind.

use crate::compare::Mismatch;
use crate::contents::ContentsError;
use std::path::PathBuf;

/// What can be wrong with the file of a case or a scene, whatever it describes.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// A file or folder that can't be read.
    #[error("can't read {}: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The text is not JSON, or has another form.
    #[error("{}:{}:{}: {}", path.display(), cause.line(), cause.column(), without_place(cause))]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        cause: serde_json::Error,
    },
    /// A version of the format that is not known.
    #[error("{}: format {format} is not known; this version reads format 1", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The version.
        format: u64,
    },
    /// A member that contradicts another, or names what is not there.
    #[error("{}: {what}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What contradicts what.
        what: String,
    },
}

/// Why a case can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Something is wrong with a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Contents that can't be made.
    #[error("{}: binding {binding}: {cause}", path.display())]
    Contents {
        /// The case file.
        path: PathBuf,
        /// Name of the binding.
        binding: String,
        /// What is wrong with the rule.
        cause: ContentsError,
    },
    /// A file of contents that doesn't have the binding's size.
    #[error("{}: {bytes} bytes, but {binding} of {} has {wanted}", path.display(), case.display())]
    FileSize {
        /// The file of contents.
        path: PathBuf,
        /// The case file.
        case: PathBuf,
        /// Name of the binding.
        binding: String,
        /// Bytes of the file.
        bytes: u64,
        /// Bytes of the binding.
        wanted: u64,
    },
    /// A folder without any.
    #[error("{}: no case here: a case is a file NAME/NAME.json", path.display())]
    None {
        /// The folder.
        path: PathBuf,
    },
}

/// What a run left behind is not what the case expects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Difference {
    /// An output is wrong.
    #[error("{binding}: {mismatch}")]
    Output {
        /// Name of the binding.
        binding: String,
        /// Where and how.
        mismatch: Mismatch,
    },
    /// A buffer that is no output has changed.
    #[error("{binding} is no output, but has changed: {mismatch}")]
    Changed {
        /// Name of the binding.
        binding: String,
        /// Where and how.
        mismatch: Mismatch,
    },
    /// The contents have another length.
    #[error("{binding}: {bytes} bytes, expected {wanted}")]
    Length {
        /// Name of the binding.
        binding: String,
        /// Bytes that are there.
        bytes: usize,
        /// Bytes that should be.
        wanted: usize,
    },
}

/// What a JSON error says, without the place at its end: the message begins with it.
fn without_place(cause: &serde_json::Error) -> String {
    let text = cause.to_string();
    let place = format!(" at line {} column {}", cause.line(), cause.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
