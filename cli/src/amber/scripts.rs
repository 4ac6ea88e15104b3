//! Which scripts are run: files, folders, a filter, a shard.

use crate::outcome::Failure;
use crate::results::Shard;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A script to run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScriptFile {
    /// Its name in every report: the path below the folder that was given, or the path itself.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
}

impl ScriptFile {
    /// Whether its name says that it must fail.
    pub(crate) fn must_fail(&self) -> bool {
        self.name.contains(".expect_fail.")
    }

    /// Where files about it go in a folder for all scripts. A name holds folders, but none above: it is a path below what was
    /// searched, or as it was given.
    pub(crate) fn place(&self) -> PathBuf {
        let parts = self.name.split('/');
        parts
            .filter(|part| !matches!(*part, "" | "." | ".."))
            .collect()
    }
}

/// What is wrong with the choice of scripts.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
pub(crate) enum ChoiceError {
    #[error("no script is chosen")]
    #[diagnostic(help("a folder is searched for files that end in .amber or .vkscript"))]
    Nothing,
}

/// The scripts of `paths` that `filter` and `shard` leave, in order of name; a folder is searched to its depths.
pub(crate) fn choose(
    paths: &[String],
    filter: Option<&str>,
    shard: Option<Shard>,
) -> Result<Vec<ScriptFile>, Failure> {
    let mut found = Vec::new();
    for given in paths {
        let path = Path::new(given);
        let prefix = match paths {
            [_] => Path::new(""),
            _ => path,
        };
        let there = std::fs::metadata(path);
        match there
            .map_err(|cause| Failure::unreadable(path, cause))?
            .is_dir()
        {
            true => search(path, prefix, &mut found)?,
            false => found.push(ScriptFile {
                name: given.clone(),
                path: path.to_owned(),
            }),
        }
    }
    found.sort();
    found.dedup();
    found.retain(|script| filter.is_none_or(|filter| script.name.contains(filter)));
    match found.is_empty() {
        true => Err(Failure::refused(ChoiceError::Nothing)),
        // A part may be empty.
        false => Ok(Shard::part(shard, found)),
    }
}

fn search(folder: &Path, name: &Path, found: &mut Vec<ScriptFile>) -> Result<(), Failure> {
    let unreadable = |cause| Failure::unreadable(folder, cause);
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, name) = (entry.path(), name.join(entry.file_name()));
        // A link to a folder is not followed: it may lead back here.
        if entry.file_type().map_err(unreadable)?.is_dir() {
            search(&path, &name, found)?;
        } else if path
            .extension()
            .is_some_and(|extension| extension == "amber" || extension == "vkscript")
        {
            let name = name.display().to_string();
            found.push(ScriptFile { name, path });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_every_nth_script() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.amber", "b.amber", "c.vkscript", "d.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let paths = [folder.path().to_str().unwrap().to_owned()];
        let names = |filter, shard: &str| -> Vec<String> {
            let chosen = choose(&paths, filter, shard.parse().ok()).unwrap();
            chosen.into_iter().map(|script| script.name).collect()
        };
        assert_eq!(names(None, ""), ["a.amber", "b.amber", "c.vkscript"]);
        assert_eq!(names(None, "1/2"), ["a.amber", "c.vkscript"]);
        assert_eq!(names(None, "2/2"), ["b.amber"]);
        assert_eq!(names(Some("b."), ""), ["b.amber"]);
        assert!(choose(&paths, Some("zzz"), None).is_err());
    }
}
