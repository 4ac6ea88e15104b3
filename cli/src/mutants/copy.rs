//! Files of the workspace's copy.
//!
//! Guarantees: a file that stays the same is not written, so that cargo does not build it again.

use crate::outcome::{Failure, FileError};
use crate::workspace::Workspace;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The files that git knows of the workspace, and those that it would.
pub(super) fn known_files(workspace: &Workspace) -> Result<BTreeSet<String>, Failure> {
    let mut git = Command::new("git");
    git.current_dir(workspace.root());
    git.args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let failed = |cause| {
        Failure::missing(FileError {
            action: "run",
            path: "git".to_owned(),
            cause,
        })
    };
    let output = git.output().map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let files = text.split('\0').filter(|file| !file.is_empty());
    // Deleted, and not yet known to be.
    let there = files.filter(|file| workspace.root().join(file).is_file());
    Ok(there.map(str::to_owned).collect())
}

/// Removes files that an earlier state of the workspace had.
pub(super) fn remove_others(
    root: &Path,
    folder: &Path,
    files: &BTreeSet<String>,
) -> Result<(), Failure> {
    let unreadable = |cause| Failure::unreadable(folder, cause);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            remove_others(root, &path, files)?;
            continue;
        }
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        if !files.contains(&name) {
            std::fs::remove_file(&path).map_err(|cause| Failure::unwritable(&path, cause))?;
        }
    }
    Ok(())
}

/// Tests look for the facts beside their clone.
pub(super) fn link_facts(workspace: &Workspace, clone: &Path) -> Result<(), Failure> {
    let link = clone.with_file_name("shared");
    // Absent is as good as old.
    let _ = std::fs::remove_file(&link);
    let facts = workspace.root().join("../shared");
    match facts.canonicalize() {
        Ok(facts) => std::os::unix::fs::symlink(&facts, &link)
            .map_err(|cause| Failure::unwritable(&link, cause)),
        // Nothing to link to: those tests are skipped.
        Err(_) => Ok(()),
    }
}

pub(super) fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|cause| Failure::unreadable(path, cause))
}

/// Writes a file unless it holds these bytes: cargo builds again what is newer than its result.
pub(super) fn keep(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, bytes)
    };
    write().map_err(|cause| Failure::unwritable(path, cause))
}
