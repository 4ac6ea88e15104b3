//! Files that are written whole or not at all.

use crate::outcome::{Failure, FileError};
use crate::streams;
use std::io::Write;
use std::path::Path;

/// Contents for one path; nothing is visible under the path before [`Pending::commit`].
pub(crate) struct Pending {
    file: Option<tempfile::NamedTempFile>,
    path: String,
    bytes_for_stdout: Vec<u8>,
}

impl Pending {
    /// Writes `bytes` beside `path`, under another name; `-` means standard output, and waits in memory.
    pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<Pending, Failure> {
        if path == "-" {
            return Ok(Pending {
                file: None,
                path: path.to_owned(),
                bytes_for_stdout: bytes.to_vec(),
            });
        }
        let parent = match Path::new(path).parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let written = tempfile::Builder::new()
            .permissions(readable_by_all())
            .tempfile_in(parent)
            .and_then(|mut file| {
                file.write_all(bytes)?;
                Ok(file)
            });
        match written {
            Ok(file) => Ok(Pending {
                file: Some(file),
                path: path.to_owned(),
                bytes_for_stdout: Vec::new(),
            }),
            Err(cause) => Err(failure(path, cause)),
        }
    }

    /// Makes the file visible under its path.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        match self.file {
            Some(file) => match file.persist(&self.path) {
                Ok(_) => Ok(()),
                Err(error) => Err(failure(&self.path, error.error)),
            },
            None => streams::put(&self.bytes_for_stdout),
        }
    }
}

/// Writes `bytes` to `path` (`-`: standard output), whole or not at all.
pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    Pending::write(path, bytes)?.commit()
}

/// Writes a file of the command's own, and makes the folder that it lies in. Nobody else waits for it.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes));
    written.map_err(|cause| {
        Failure::missing(FileError {
            action: "write",
            path: path.display().to_string(),
            cause,
        })
    })
}

/// A temporary file is private by default; a result is as readable as any other file.
fn readable_by_all() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o644)
}

fn failure(path: &str, cause: std::io::Error) -> Failure {
    Failure::refused(FileError {
        action: "write",
        path: path.to_owned(),
        cause,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_there_before_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.bin");
        let text = path.to_str().unwrap();
        let pending = Pending::write(text, b"abc").unwrap();
        assert!(!path.exists(), "visible before the commit");
        pending.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
    }
}
