//! The file of a core dump, whole or not at all. Pages of zeros take no room on a disk.

use crate::outcome::{Failure, FileError};
use eitri_dump::{Sink, WriteError};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of a page.
const PAGE: usize = 4096;

/// A file that is being written, under another name.
pub(crate) struct SparseFile {
    path: PathBuf,
    beside: PathBuf,
    file: BufWriter<File>,
}

impl SparseFile {
    /// Begins the file.
    pub(crate) fn create(path: &Path) -> Result<SparseFile, Failure> {
        let mut beside = path.to_owned().into_os_string();
        beside.push(".part");
        let beside = PathBuf::from(beside);
        let file = File::create(&beside).map_err(|cause| Failure::unwritable(path, cause))?;
        Ok(SparseFile {
            path: path.to_owned(),
            beside,
            file: BufWriter::new(file),
        })
    }

    /// Gives the file its name, if all was written.
    pub(crate) fn finish<T>(
        self,
        written: Result<T, WriteError<io::Error>>,
    ) -> Result<(), Failure> {
        let SparseFile {
            path,
            beside,
            mut file,
        } = self;
        let written = match written {
            Ok(_) => Ok(()),
            Err(WriteError::Sink(cause)) => Err(cause),
            Err(other) => Err(io::Error::other(other.to_string())),
        };
        let done = written.and_then(|()| {
            let end = file.stream_position()?;
            file.flush()?;
            // Zeros at the end were only passed over.
            file.get_ref().set_len(end)?;
            std::fs::rename(&beside, &path)
        });
        done.map_err(|cause| {
            // It is of no use, and may be gone.
            let _ = std::fs::remove_file(&beside);
            Failure::refused(FileError::at("write", &path, cause))
        })
    }
}

impl Sink for SparseFile {
    type Error = io::Error;

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() == PAGE && bytes.iter().all(|byte| *byte == 0) {
            return self.file.seek(SeekFrom::Current(PAGE as i64)).map(drop);
        }
        self.file.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_zeros_are_in_the_file_and_unfinished_files_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let mut file = SparseFile::create(&path).unwrap();
        file.put(&[1; PAGE]).unwrap();
        file.put(&[0; PAGE]).unwrap();
        file.put(&[2; 8]).unwrap();
        file.put(&[0; PAGE]).unwrap();
        assert!(!path.exists(), "it is not whole yet");
        file.finish(Ok(())).unwrap();
        let mut wanted = vec![1; PAGE];
        wanted.extend([0; PAGE]);
        wanted.extend([2; 8]);
        wanted.extend([0; PAGE]);
        assert!(std::fs::read(&path).unwrap() == wanted);

        let failed = folder.path().join("failed");
        let file = SparseFile::create(&failed).unwrap();
        assert!(file.finish::<()>(Err(WriteError::Regions)).is_err());
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
