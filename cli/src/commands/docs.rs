//! `eitri docs`: pages that are generated: the reference from the tables, the open facts from the marks in the source.

use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::reports::open_facts;
use crate::reports::reference::documents;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; say which pages are stale, and fail if one is or if a mark has not the form.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    let folder = workspace.root().join("docs");
    let sources = open_facts::collect(workspace.root())?;
    let mut pages: Vec<(PathBuf, String)> = documents()
        .into_iter()
        .map(|document| (folder.join("reference").join(document.file), document.text))
        .collect();
    pages.push((folder.join("open-facts.md"), open_facts::page(&sources)));
    let faults = open_facts::faults(&sources);
    for fault in &faults {
        outln!("{fault}")?;
    }
    pages.retain(|(path, text)| std::fs::read_to_string(path).ok().as_ref() != Some(text));
    for (path, text) in &pages {
        if args.check {
            outln!("stale {}", path.display())?;
            continue;
        }
        let folder = path.parent().unwrap_or(path);
        std::fs::create_dir_all(folder).map_err(|cause| unwritable(folder, cause))?;
        whole_file::write(&path.to_string_lossy(), text.as_bytes())?;
        outln!("written {}", path.display())?;
    }
    let stale = args.check && !pages.is_empty();
    Ok(match stale || !faults.is_empty() {
        true => Status::CheckFailed,
        false => Status::Good,
    })
}

fn unwritable(folder: &Path, cause: std::io::Error) -> Failure {
    let path = folder.display().to_string();
    Failure::refused(FileError::at("create", path, cause))
}
