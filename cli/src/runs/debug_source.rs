//! The source files of a session: where those that debug information names are.

use std::path::{Path, PathBuf};

/// Where the source file of this name may be, the likeliest place first; `subject` is the path of what is debugged.
pub(crate) fn places(subject: &str, file: &str) -> impl Iterator<Item = PathBuf> {
    let (subject, file) = (Path::new(subject), Path::new(file));
    // A script's shaders have its name without its folder.
    let own = (subject.file_name() == Some(file.as_os_str())).then(|| subject.to_owned());
    let folder = subject.parent().unwrap_or(Path::new(""));
    let beside = file.file_name().map(|name| folder.join(name));
    let places = [own, Some(file.to_owned()), Some(folder.join(file)), beside];
    places.into_iter().flatten()
}

/// The text of a source file.
pub(crate) fn read(subject: &str, file: &str) -> Option<String> {
    let bytes = places(subject, file).find_map(|path| std::fs::read(path).ok())?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
