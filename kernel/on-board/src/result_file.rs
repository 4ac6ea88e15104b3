//! Result file: where the result stream goes: a file of the host's that is whole or not there.

use eitri_boards::{HostError, HostFile, HostFiles};
use eitri_job::result::Sink;

/// Longest path.
const PATH_BYTES: usize = 1000;
const SUFFIX: &str = ".part";
/// Small records are gathered before the host is asked to write them.
const GATHERED: usize = 4096;

/// A file that has its name only when it is whole.
pub struct ResultFile {
    files: HostFiles,
    file: HostFile,
    path: PartPath,
    gathered: [u8; GATHERED],
    length: usize,
}

/// The path with the suffix; without it, the first `length` bytes.
struct PartPath {
    bytes: [u8; PATH_BYTES + SUFFIX.len()],
    length: usize,
}

impl PartPath {
    fn new(path: &str) -> Result<PartPath, HostError> {
        let too_long = HostError::TooLong { limit: PATH_BYTES };
        let mut bytes = [0; PATH_BYTES + SUFFIX.len()];
        let length = path.len();
        if length > PATH_BYTES {
            return Err(too_long);
        }
        for (to, from) in bytes.iter_mut().zip(path.bytes().chain(SUFFIX.bytes())) {
            *to = from;
        }
        Ok(PartPath { bytes, length })
    }

    /// What was put together from two texts is text.
    fn text(&self, length: usize) -> &str {
        let bytes = self.bytes.get(..length).unwrap_or(&[]);
        core::str::from_utf8(bytes).unwrap_or("")
    }

    fn part(&self) -> &str {
        self.text(self.length + SUFFIX.len())
    }

    fn whole(&self) -> &str {
        self.text(self.length)
    }
}

impl ResultFile {
    /// Begins the file that will be `path`.
    ///
    /// # Errors
    /// Those of the host.
    pub fn create(files: HostFiles, path: &str) -> Result<ResultFile, HostError> {
        let path = PartPath::new(path)?;
        let file = files.create(path.part())?;
        Ok(ResultFile {
            files,
            file,
            path,
            gathered: [0; GATHERED],
            length: 0,
        })
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Those of the host; the file then has not got its name.
    pub fn finish(mut self) -> Result<(), HostError> {
        self.flush()?;
        self.files.close(self.file)?;
        self.files.rename(self.path.part(), self.path.whole())
    }

    fn flush(&mut self) -> Result<(), HostError> {
        let gathered = self.gathered.get(..self.length).unwrap_or(&[]);
        self.length = 0;
        if gathered.is_empty() {
            return Ok(());
        }
        self.files.write(&mut self.file, gathered)
    }
}

impl Sink for ResultFile {
    type Error = HostError;

    fn put(&mut self, bytes: &[u8]) -> Result<(), HostError> {
        let end = self.length.saturating_add(bytes.len());
        if let Some(place) = self.gathered.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
            return Ok(());
        }
        self.flush()?;
        self.files.write(&mut self.file, bytes)
    }
}
