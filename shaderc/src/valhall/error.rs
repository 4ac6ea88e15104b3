//! What the back end refuses, and what would be a defect of its own.

use std::fmt;

use crate::ir::Position;

/// An IR instruction that the back end has no code for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// The operation's name.
    pub what: String,
    /// Where it came from.
    pub position: Position,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the Valhall back end has no code for `{}`", self.what)?;
        match (&self.position.source, self.position.id) {
            (Some(line), _) => write!(f, " ({}:{})", line.file, line.line),
            (None, Some(id)) => write!(f, " (SPIR-V %{id})"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Unsupported {}
