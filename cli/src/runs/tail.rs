//! A file that another process writes, read as it grows.

use crate::outcome::Failure;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The end of a growing file.
pub(crate) struct Tail {
    file: File,
    /// The beginning of a line whose end has not come yet.
    rest: String,
}

impl Tail {
    /// Follows the file at `path` from its begin; the file must exist.
    pub(crate) fn of(path: &Path) -> Result<Tail, Failure> {
        match File::open(path) {
            Ok(file) => Ok(Tail {
                file,
                rest: String::new(),
            }),
            Err(cause) => Err(Failure::unreadable(path, cause)),
        }
    }

    /// The bytes that have come since the last call.
    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // What can't be read now is there the next time.
        let _ = self.file.read_to_end(&mut bytes);
        bytes
    }

    /// The lines that have become whole since the last call.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        let bytes = self.bytes();
        self.rest.push_str(&String::from_utf8_lossy(&bytes));
        let Some((whole, rest)) = self.rest.rsplit_once('\n') else {
            return Vec::new();
        };
        let lines = whole.split('\n').map(str::to_owned).collect();
        self.rest = rest.to_owned();
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_given_once_they_are_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut tail = Tail::of(file.path()).unwrap();
        assert!(tail.lines().is_empty());
        file.write_all(b"one\ntw").unwrap();
        assert_eq!(tail.lines(), ["one"]);
        file.write_all(b"o\n\nthree\n").unwrap();
        assert_eq!(tail.lines(), ["two", "", "three"]);
        assert!(tail.lines().is_empty());
    }
}
