//! Files that are written whole or not at all.

use crate::outcome::{Failure, FileError};
use crate::output::streams;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Contents for one path; nothing is visible under the path before [`Pending::commit`].
pub(crate) struct Pending {
    path: PathBuf,
    waits: Waits,
}

/// Where contents wait.
enum Waits {
    /// Beside the path, under another name.
    Beside(tempfile::NamedTempFile),
    /// In memory: a device, a pipe and standard output keep nothing, and a file must not take their place.
    InMemory(Vec<u8>),
}

impl Pending {
    /// Writes `bytes` beside `path`, under another name; those for a device, a pipe or `-`, standard output, wait in memory.
    pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<Pending, Failure> {
        let special = std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        if path == "-" || special {
            return Ok(Pending {
                path: path.into(),
                waits: Waits::InMemory(bytes.to_vec()),
            });
        }
        // Through a link to what it leads to, so that it stays one.
        let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let parent = match resolved.parent() {
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
                path: resolved,
                waits: Waits::Beside(file),
            }),
            Err(cause) => Err(failure(path, cause)),
        }
    }

    /// Makes the file visible under its path.
    pub(crate) fn commit(self) -> Result<(), Failure> {
        let done = match self.waits {
            Waits::Beside(file) => file
                .persist(&self.path)
                .map(drop)
                .map_err(|error| error.error),
            Waits::InMemory(bytes) if self.path == Path::new("-") => return streams::put(&bytes),
            Waits::InMemory(bytes) => std::fs::OpenOptions::new()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(&bytes)),
        };
        done.map_err(|cause| failure(&self.path.display().to_string(), cause))
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
    written.map_err(|cause| Failure::unwritable(path, cause))
}

/// A temporary file is private by default; a result is as readable as any other file.
fn readable_by_all() -> std::fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    std::fs::Permissions::from_mode(0o644)
}

fn failure(path: &str, cause: std::io::Error) -> Failure {
    Failure::refused(FileError::at("write", path, cause))
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

    #[test]
    fn a_device_and_a_link_stay_what_they_are() {
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        write(link.to_str().unwrap(), b"abc").unwrap();
        let device = std::fs::metadata("/dev/null").unwrap();
        assert!(device.file_type().is_char_device());
        assert!(link.is_symlink());

        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(link.to_str().unwrap(), b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
    }
}
