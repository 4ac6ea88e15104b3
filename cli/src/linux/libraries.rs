//! Shared libraries: which ones a program needs, and those in turn.

use crate::outcome::{Failure, FileError};
use object::read::elf::{Dyn, FileHeader};
use object::{Endianness, elf};
use std::collections::BTreeSet;
use std::path::Path;

/// The libraries of `folder` that these files need, directly or not, by file name. What the folder lacks is left out: the program
/// tells when it starts.
pub(super) fn needed<'a>(
    files: impl IntoIterator<Item = &'a [u8]>,
    folder: &Path,
) -> Result<BTreeSet<String>, Failure> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = files.into_iter().flat_map(named).collect();
    while let Some(name) = open.pop() {
        let path = folder.join(&name);
        if found.contains(&name) || !path.is_file() {
            continue;
        }
        open.extend(named(&read(&path)?));
        found.insert(name);
    }
    Ok(found)
}

/// The libraries that a file names. None for what is no ELF file of 64 bits.
fn named(file: &[u8]) -> Vec<String> {
    names(file).unwrap_or_default()
}

fn names(file: &[u8]) -> object::Result<Vec<String>> {
    let header = elf::FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, file)?;
    let Some((entries, strings)) = sections.dynamic(endian, file)? else {
        return Ok(Vec::new());
    };
    let strings = sections.strings(endian, file, strings)?;
    let needed = entries
        .iter()
        .filter(|entry| entry.tag32(endian) == Some(elf::DT_NEEDED));
    let mut names = Vec::new();
    for entry in needed {
        let name = entry.string(endian, strings)?;
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(names)
}

/// The bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|cause| Failure::missing(FileError::at("read", path, cause)))
}
