//! `eitri docs`: the reference pages, generated from the tables.

use crate::outcome::{Failure, FileError, Status};
use crate::reference::{Document, documents};
use crate::streams::outln;
use crate::whole_file;
use crate::workspace::Workspace;
use std::path::Path;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; say which pages are stale, and fail if one is.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let folder = Workspace::find()?.root().join("docs/reference");
    let stale: Vec<Document> = documents()
        .into_iter()
        .filter(|document| {
            std::fs::read_to_string(folder.join(document.file))
                .ok()
                .as_ref()
                != Some(&document.text)
        })
        .collect();
    for document in &stale {
        let path = folder.join(document.file);
        outln!(
            "{} {}",
            if args.check { "stale" } else { "written" },
            path.display()
        )?;
        if !args.check {
            std::fs::create_dir_all(&folder).map_err(|cause| unwritable(&folder, cause))?;
            whole_file::write(&path.to_string_lossy(), document.text.as_bytes())?;
        }
    }
    Ok(if args.check && !stale.is_empty() {
        Status::CheckFailed
    } else {
        Status::Good
    })
}

fn unwritable(folder: &Path, cause: std::io::Error) -> Failure {
    let path = folder.display().to_string();
    Failure::refused(FileError {
        action: "create",
        path,
        cause,
    })
}
