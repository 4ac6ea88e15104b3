//! `eitri docs`: pages that are generated: the reference from the tables, the open facts from the marks in the source; and all pages
//! as a site.

use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::pages::{self, Document, Lost};
use crate::reports::open_facts;
use crate::reports::reference::documents;
use crate::workspace::Workspace;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write nothing; say which pages are stale, and fail if one is or if a mark has not the form.
    #[arg(long)]
    check: bool,
    /// Write all pages as a site for a browser into this folder; `index.html` is the first. It needs no server, and searches itself.
    #[arg(long, value_name = "FOLDER", conflicts_with = "check")]
    site: Option<PathBuf>,
}

/// What is wrong with pages.
#[derive(Debug, Error, Diagnostic)]
#[error("links of pages lead nowhere")]
struct LostLinks {
    #[help]
    which: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    if let Some(to) = &args.site {
        return site(workspace.root(), to);
    }
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

/// The folders of pages, and what their part of the site is called.
const PARTS: &[(&str, &str)] = &[
    ("docs/start", "Getting started"),
    ("docs", "Using Eitri"),
    ("docs/boards", "Boards"),
    ("docs/reference", "Reference"),
    ("docs/hardware", "Hardware"),
];

/// Writes the site.
fn site(root: &Path, to: &Path) -> Result<Status, Failure> {
    let mut documents = vec![read(root, "README.md", "Eitri")?];
    for (folder, part) in PARTS {
        let mut names: Vec<String> = std::fs::read_dir(root.join(folder))
            .map_err(|cause| Failure::unreadable(root.join(folder), cause))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".md"))
            .collect();
        // A folder's own page comes first.
        names.sort_by_key(|name| (name != "README.md", name.clone()));
        for name in names {
            documents.push(read(root, &format!("{folder}/{name}"), part)?);
        }
    }
    let exists = |path: &str| root.join(path).exists();
    let (files, lost) = pages::site(&documents, exists)?;
    for (path, text) in &files {
        let path = to.join(path);
        let folder = path.parent().unwrap_or(to);
        std::fs::create_dir_all(folder).map_err(|cause| unwritable(folder, cause))?;
        whole_file::put(&path, text.as_bytes())?;
    }
    outln!("{} pages in {}", documents.len(), to.display())?;
    if lost.is_empty() {
        return Ok(Status::Good);
    }
    let which: Vec<String> = lost.iter().map(Lost::to_string).collect();
    let which = which.join("\n");
    Err(Failure::check(LostLinks { which }))
}

fn read(root: &Path, path: &str, part: &'static str) -> Result<Document, Failure> {
    let file = root.join(path);
    let text = std::fs::read_to_string(&file).map_err(|cause| Failure::unreadable(&file, cause))?;
    Ok(Document {
        path: path.to_owned(),
        part,
        text,
    })
}

fn unwritable(folder: &Path, cause: std::io::Error) -> Failure {
    let path = folder.display().to_string();
    Failure::refused(FileError::at("create", path, cause))
}
