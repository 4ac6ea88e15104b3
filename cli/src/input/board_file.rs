//! A board that a file describes: read, checked, and handed to the builds of images.
//!
//! The form of the file is `eitri_boards::file`'s; docs/own-board.md shows one.

use crate::outcome::{Failure, FileError};
use crate::output::source_text;
use crate::output::whole_file;
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::file;
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use thiserror::Error;

/// What is wrong with a file.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: {message}")]
#[diagnostic(help("docs/own-board.md has every field, and examples/boards a file to begin with"))]
struct NoBoardInFile {
    path: String,
    message: String,
    #[source_code]
    text: NamedSource<String>,
    #[label("here")]
    place: Option<SourceSpan>,
}

/// A name that is taken.
#[derive(Debug, Error, Diagnostic)]
#[error("{path}: Eitri has a board `{name}` of its own")]
#[diagnostic(help("give yours another name"))]
struct Taken {
    path: String,
    name: &'static str,
}

/// The sources of Eitri that images are made of are not here.
#[derive(Debug, Error, Diagnostic)]
#[error(
    "`{name}` is a board of a file: what runs on it has to be built from Eitri's sources, which are not here"
)]
struct NoSources {
    name: &'static str,
}

/// The board that was read. A process works for one.
static CHOSEN: OnceLock<Chosen> = OnceLock::new();

struct Chosen {
    board: &'static str,
    /// The source that images are compiled with; where Eitri's own are not there, none are.
    source: Option<PathBuf>,
}

/// Whether what people wrote for a board's name is a file.
pub(super) fn is_file(name: &str) -> bool {
    let path = Path::new(name);
    path.extension()
        .is_some_and(|extension| extension == "toml")
        || path.components().count() > 1
}

/// The board that a file describes. From here on images are built for it.
pub(super) fn read(name: &str) -> Result<Target, Failure> {
    let path = Path::new(name);
    let bytes = std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let board = file::read(&text).map_err(|error| {
        Failure::refused(NoBoardInFile {
            path: name.to_owned(),
            message: error.message,
            place: error.place.map(SourceSpan::from),
            text: source_text::shown(name, &text),
        })
    })?;
    if let Some(own) = Target::named(board.name()) {
        let (path, name) = (name.to_owned(), own.name());
        return Err(Failure::refused(Taken { path, name }));
    }
    let source = write_source(board)?;
    let board_name = board.name();
    CHOSEN.get_or_init(|| Chosen {
        board: board_name,
        source,
    });
    Ok(board)
}

/// Writes what images are compiled with.
fn write_source(board: Target) -> Result<Option<PathBuf>, Failure> {
    let Ok(workspace) = Workspace::find() else {
        return Ok(None);
    };
    let folder = workspace.target_folder().join("eitri/boards-of-files");
    let path = folder.join(format!("{}.rs", board.name()));
    // QEMU's board, the only one without a source, is in no file.
    let source = file::rust_source(board).unwrap_or_default();
    // A file that stays as it is has nothing compiled anew.
    if std::fs::read_to_string(&path).is_ok_and(|old| old == source) {
        return Ok(Some(path));
    }
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure::missing(FileError::at("create", &folder, cause)))?;
    whole_file::put(&path, source.as_bytes())?;
    Ok(Some(path))
}

/// Where the source of the board of a file is, if there is one.
pub(crate) fn source() -> Option<&'static Path> {
    CHOSEN.get()?.source.as_deref()
}

/// Looks whether what was built before this command ran will do.
///
/// # Errors
/// For the board of a file it does not, and there may be no sources.
pub(crate) fn is_built_in() -> Result<bool, Failure> {
    match CHOSEN.get() {
        None => Ok(true),
        Some(Chosen {
            source: Some(_), ..
        }) => Ok(false),
        Some(Chosen { board: name, .. }) => Err(Failure::missing(NoSources { name })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_from_names() {
        for name in ["acme.toml", "./acme", "boards/acme.toml"] {
            assert!(is_file(name), "{name}");
        }
        for name in ["rk3588", "cix-p1", "orangepi5"] {
            assert!(!is_file(name), "{name}");
        }
    }
}
