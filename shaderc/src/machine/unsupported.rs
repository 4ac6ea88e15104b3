//! What a back end refuses: an operation, and where it came from.

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
    /// What there is not, with the position as people read it, if there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no code for `{}`", self.what)?;
        match (&self.position.source, self.position.id) {
            (Some(line), _) => write!(f, " ({}:{})", line.file, line.line),
            (None, Some(id)) => write!(f, " (SPIR-V %{id} at byte {})", self.position.offset),
            (None, None) => Ok(()),
        }
    }
}
