//! An image has the same bytes wherever it is built: in another folder, with another home of cargo's.

use super::{Case, make_folder};
use crate::outcome::{Failure, FileError};
use crate::process::run_logged;
use crate::workspace::Workspace;
use eitri_launch::images;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What is built, and for which board.
const PACKAGE: &str = "eitri-image";
const BOARD: &str = "rk3588";
/// Longest that a build may take.
const LIMIT: Duration = Duration::from_secs(20 * 60);
/// Folders that are no sources.
const NO_SOURCES: &[&str] = &["target", ".git"];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/places");
    let name = "an image built in another place has the same bytes";
    // What an earlier run has left may be of other sources.
    let _ = std::fs::remove_dir_all(&folder);
    // Deeper than the repository is, so that no length is the same by chance.
    let root = folder.join("another/place/of/the/sources");
    take_over(workspace.root(), &root, NO_SOURCES)?;
    let registry = images::cargo_home().map(|home| home.join("registry"));
    let Some(registry) = registry.filter(|registry| registry.is_dir()) else {
        return Ok(vec![Case::skipped(name, "cargo has no home".to_owned())]);
    };
    // No link to the whole of it: the compiler would see through that.
    let home = folder.join("another-home");
    take_over(&registry, &home.join("registry"), &[])?;
    let here = build(workspace, None, &folder)?;
    let there = build(&Workspace::at(root), Some(&home), &folder)?;
    let failure = match (here, there) {
        (Ok(here), Ok(there)) => first_difference(&here, &there),
        (Err(output), _) | (_, Err(output)) => Some(output),
    };
    Ok(vec![Case::ran(name, failure)])
}

/// The image's ELF file; what cargo printed if there is none.
fn build(
    workspace: &Workspace,
    home: Option<&Path>,
    folder: &Path,
) -> Result<Result<Vec<u8>, String>, Failure> {
    let mut command = images::build_at(workspace, home, PACKAGE);
    command.env("EITRI_BOARD", BOARD).env_remove("EITRI_JOB");
    let finished = run_logged(&mut command, &folder.join("build.log"), LIMIT)?;
    if !finished.end.good() {
        return Ok(Err(finished.output()));
    }
    let path = images::path(workspace, PACKAGE, PACKAGE);
    let read = std::fs::read(&path);
    Ok(Ok(read.map_err(|cause| {
        Failure::missing(FileError::at("read", &path, cause))
    })?))
}

/// Where two files differ first, in words.
fn first_difference(here: &[u8], there: &[u8]) -> Option<String> {
    let mut pairs = here.iter().zip(there);
    match pairs.position(|(left, right)| left != right) {
        Some(at) => Some(format!("byte {at:#x} of the ELF file differs")),
        None if here.len() != there.len() => Some(format!(
            "the ELF file has {} bytes here and {} there",
            here.len(),
            there.len()
        )),
        None => None,
    }
}

/// Gives a folder's files a second name elsewhere, or copies them where that can't be; nothing changes them. Folders of these names
/// stay behind.
fn take_over(from: &Path, to: &Path, without: &[&str]) -> Result<(), Failure> {
    let failed = |path: &Path, cause| Failure::missing(FileError::at("copy", path, cause));
    let mut folders: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        make_folder(&to)?;
        let entries = std::fs::read_dir(&from).map_err(|cause| failed(&from, cause))?;
        for entry in entries {
            let entry = entry.map_err(|cause| failed(&from, cause))?;
            let (path, name) = (entry.path(), entry.file_name());
            if without.iter().any(|other| name == *other) {
                continue;
            }
            let target = to.join(name);
            if path.is_dir() {
                folders.push((path, target));
            } else if std::fs::hard_link(&path, &target).is_err() {
                std::fs::copy(&path, &target).map_err(|cause| failed(&path, cause))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference(b"abc", b"abc"), None);
        let text = first_difference(b"abc", b"abd").unwrap();
        assert!(text.contains("byte 0x2"), "{text}");
        let text = first_difference(b"abc", b"ab").unwrap();
        assert!(text.contains("3 bytes here and 2 there"), "{text}");
    }
}
