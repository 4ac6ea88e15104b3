//! Further packages in the guest: everything of them but what only people read. Their scripts do not run, as they would at an
//! installation.

use super::initramfs::Archive;
use super::libraries::read;
use crate::outcome::{Failure, FileError};
use std::fs::{self, DirEntry};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What the guest does without.
const LEFT_OUT: &[&str] = &[
    "usr/share/bug",
    "usr/share/doc",
    "usr/share/doc-base",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
];
/// Folders that are links to those in `usr` on a Debian, and folders of their own here.
const MERGED: &[&str] = &["bin", "sbin", "lib", "lib64"];
/// Programs ask `/etc/passwd` who they run as.
const USERS: &str = "root:x:0:0:root:/root:/bin/sh\n";
const GROUPS: &str = "root:x:0:\n";

/// Puts all that is in a folder into the archive.
pub(super) fn put(folder: &Path, archive: &mut Archive) -> Result<(), Failure> {
    put_folder(folder, "", archive)?;
    archive.file("etc/passwd", USERS.as_bytes());
    archive.file("etc/group", GROUPS.as_bytes());
    if folder.join("usr/bin/bash").is_file() {
        // By this name scripts ask for it.
        archive.link("bin/bash", "/usr/bin/bash");
    }
    Ok(())
}

/// `path` is the folder's in the guest, without a slash in front; empty for the root.
fn put_folder(folder: &Path, path: &str, archive: &mut Archive) -> Result<(), Failure> {
    let unreadable = |cause| Failure::missing(FileError::at("read", folder, cause));
    let entries: Result<Vec<DirEntry>, _> = fs::read_dir(folder).map_err(unreadable)?.collect();
    let mut entries = entries.map_err(unreadable)?;
    // The same packages are the same archive.
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let path = match path {
            "" => name.to_owned(),
            path => format!("{path}/{name}"),
        };
        if !LEFT_OUT.contains(&path.as_str()) {
            put_entry(&entry.path(), &path, archive)?;
        }
    }
    Ok(())
}

fn put_entry(file: &Path, path: &str, archive: &mut Archive) -> Result<(), Failure> {
    let unreadable = |cause| Failure::missing(FileError::at("read", file, cause));
    let about = file.symlink_metadata().map_err(unreadable)?;
    if about.is_symlink() {
        let to = fs::read_link(file).map_err(unreadable)?;
        if !MERGED.contains(&path) {
            archive.link(path, &to.to_string_lossy());
        }
    } else if about.is_dir() {
        archive.folder(path);
        put_folder(file, path, archive)?;
    } else if about.is_file() && about.permissions().mode() & 0o111 != 0 {
        archive.program(path, &read(file)?);
    } else if about.is_file() {
        archive.file(path, &read(file)?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::initramfs::tests::read as read_archive;
    use std::os::unix::fs::symlink;

    #[test]
    fn programs_links_and_folders_arrive_and_manuals_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for made in ["usr/bin", "usr/share/man/man1", "var/lib/empty"] {
            fs::create_dir_all(at(made)).unwrap();
        }
        fs::write(at("usr/bin/tool"), b"#!/bin/sh\n").unwrap();
        fs::set_permissions(at("usr/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(at("usr/share/data"), b"1").unwrap();
        fs::write(at("usr/share/man/man1/tool.1"), b"2").unwrap();
        symlink("usr/bin", at("bin")).unwrap();
        symlink("tool", at("usr/bin/also")).unwrap();
        let mut archive = Archive::new();
        put(folder.path(), &mut archive).unwrap();
        let entries = read_archive(&archive.finish());
        let mode = |path: &str| {
            let found = entries.iter().find(|(entry, _, _)| entry == path);
            found.map(|(_, mode, _)| *mode)
        };
        assert_eq!(mode("usr/bin/tool"), Some(0o100_755));
        assert_eq!(mode("usr/bin/also"), Some(0o120_777));
        assert_eq!(mode("usr/share/data"), Some(0o100_644));
        assert_eq!(mode("var/lib/empty"), Some(0o040_755));
        assert_eq!(mode("usr/share/man"), None, "nobody reads manuals there");
        assert_eq!(mode("bin"), None, "busybox fills a folder of that name");
    }
}
