//! Boards by the names that people write.

use crate::input::{board_file, nearest};
use crate::outcome::Failure;
use eitri_boards::Target;
use miette::Diagnostic;
use thiserror::Error;

/// A name that no board has.
#[derive(Debug, Error, Diagnostic)]
#[error("there is no board `{name}`")]
#[diagnostic(help("{help}"))]
struct NoBoard {
    name: String,
    help: String,
}

/// The board that is called so, or the outline of one; or that of a file.
pub(crate) fn named(name: &str) -> Result<Target, Failure> {
    if board_file::is_file(name) {
        return board_file::read(name);
    }
    Target::named(name).ok_or_else(|| {
        let names = Target::all().map(Target::name);
        Failure::refused(NoBoard {
            name: name.to_owned(),
            help: nearest::suggestion(name, names, "cargo eitri image --list-boards"),
        })
    })
}
