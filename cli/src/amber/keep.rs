//! What `--keep` leaves of a script: modules, programs, listings, inputs, outputs, pictures.

use std::path::PathBuf;

/// Where things are kept; nowhere without `--keep`.
pub(super) struct Kept {
    folder: Option<PathBuf>,
}

impl Kept {
    /// Keeps things in `folder`, which is made.
    pub(super) fn new(folder: Option<PathBuf>) -> std::io::Result<Kept> {
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)?;
        }
        Ok(Kept { folder })
    }

    /// Keeps a file; names of a script's things become file names.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        if let Some(folder) = &self.folder {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            let name: String = name
                .chars()
                .map(|c| if is_plain(c) { c } else { '_' })
                .collect();
            let path = folder.join(name);
            if let Err(cause) = std::fs::write(&path, bytes) {
                crate::output::streams::talk!("can't write {}: {cause}", path.display());
            }
        }
    }

    /// Whether anything is kept.
    pub(super) fn is_on(&self) -> bool {
        self.folder.is_some()
    }
}
