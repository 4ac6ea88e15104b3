//! Boards by the names that people write.

use crate::nearest;
use crate::outcome::Failure;
use eitri_boards::Board;
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

/// The board that is called so.
pub(crate) fn named(name: &str) -> Result<&'static Board, Failure> {
    eitri_boards::named(name).ok_or_else(|| {
        let names = eitri_boards::ALL.iter().map(|board| board.name);
        Failure::refused(NoBoard {
            name: name.to_owned(),
            help: nearest::suggestion(name, names, "cargo eitri image --list-boards"),
        })
    })
}
