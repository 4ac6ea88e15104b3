//! Files for labs: what labgrid and LAVA want to know, so that they power a board, load an image, and read its console.
//!
//! Names of a lab's own (servers, power ports) are in capitals, to be replaced. The image is the one with the validation suite,
//! whose lines these look for.  Facts: hardware/boards-labs.md 2 and 3.

mod labgrid;
mod lava;

use eitri_boards::Board;

/// A kind of lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LabKind {
    /// An environment, a strategy and a test for labgrid.
    Labgrid,
    /// A job and a device dictionary for LAVA.
    Lava,
}

/// A file for a lab: its name, and its text.
pub(crate) struct LabFile {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The files for a board whose image has this name.
pub(crate) fn files(kind: LabKind, board: &Board, image: &str) -> Vec<LabFile> {
    match kind {
        LabKind::Labgrid => labgrid::files(board, image),
        LabKind::Lava => lava::files(board, image),
    }
}

/// A text in single quotes, as YAML and Jinja read it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
