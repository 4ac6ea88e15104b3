//! Where the cases are.

use crate::error::{CaseError, FileError};
use std::path::{Path, PathBuf};

/// Folders inside of folders that are looked into: enough for every tree, and an end to one that holds itself.
const MAX_DEPTH: usize = 8;

/// The case files at `path`, in order of their names: itself when it is a file, else every `NAME/NAME.json` below it, `path`
/// included.
///
/// # Errors
/// A folder that can't be read, or one without any case.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, CaseError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    collect(path, MAX_DEPTH, &mut found)?;
    if found.is_empty() {
        return Err(CaseError::None {
            path: path.to_owned(),
        });
    }
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let unreadable = |cause| FileError::Read {
        path: folder.to_owned(),
        cause,
    };
    // `.` and `..` have names too, but not in their text.
    let named = folder.canonicalize().map_err(unreadable)?;
    if let Some(name) = named.file_name() {
        let mut file = name.to_owned();
        file.push(".json");
        let file = folder.join(file);
        if file.is_file() {
            found.push(file);
            return Ok(());
        }
    }
    if depth == 0 {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_a_file_named_as_its_folder() {
        let root = tempfile::tempdir().unwrap();
        for name in ["b", "deep/a", "other"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        for file in ["b/b.json", "deep/a/a.json", "other/x.json", "peers.json"] {
            std::fs::write(root.path().join(file), "{}").unwrap();
        }
        let found = find(root.path()).unwrap();
        let wanted = ["b/b.json", "deep/a/a.json"].map(|file| root.path().join(file));
        assert_eq!(found, wanted);
        let single = root.path().join("peers.json");
        assert_eq!(find(&single).unwrap(), [single]);
        let error = find(&root.path().join("other")).unwrap_err().to_string();
        assert!(error.contains("a case is a file NAME/NAME.json"), "{error}");
    }
}
