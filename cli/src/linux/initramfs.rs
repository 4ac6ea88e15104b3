//! An initial RAM file system: a `cpio` archive in the form that Linux unpacks ("newc").
//!
//! Facts: the format is the kernel's, Documentation/driver-api/early-userspace/buffer-format.rst.

use std::collections::BTreeSet;

/// When everything in it was made: a fixed moment, so that the same contents are the same archive. Not 0, which Mesa takes for a
/// broken file system.
const MADE: u32 = 1_700_000_000;

/// Bytes of a page.
const PAGE: usize = 4096;

/// The kinds of file.
#[derive(Clone, Copy)]
enum Kind {
    Folder,
    File,
    Program,
    Link,
    /// A character device of this number.
    Device(u32, u32),
}

impl Kind {
    /// Type and permissions.
    fn mode(self) -> u32 {
        match self {
            Kind::Folder => 0o040_755,
            Kind::File => 0o100_644,
            Kind::Program => 0o100_755,
            Kind::Link => 0o120_777,
            Kind::Device(..) => 0o020_600,
        }
    }
}

/// An archive that is being written.
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    /// Every path that has an entry.
    there: BTreeSet<String>,
}

impl Archive {
    /// One with the console that the kernel opens for the first process.
    pub(super) fn new() -> Archive {
        let mut archive = Archive {
            bytes: Vec::new(),
            entries: 0,
            there: BTreeSet::new(),
        };
        archive.add("dev/console", Kind::Device(5, 1), b"");
        archive
    }

    /// An empty folder.
    pub(super) fn folder(&mut self, path: &str) {
        self.add(path, Kind::Folder, b"");
    }

    /// A file.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.add(path, Kind::File, content);
    }

    /// A file that is run.
    pub(super) fn program(&mut self, path: &str, content: &[u8]) {
        self.add(path, Kind::Program, content);
    }

    /// A symbolic link.
    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.add(path, Kind::Link, to.as_bytes());
    }

    /// The whole archive, in whole pages: zeros after its end are skipped.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), b"");
        self.bytes
            .resize(self.bytes.len().next_multiple_of(PAGE), 0);
        self.bytes
    }

    /// Adds an entry, and the folders above it. What is there already stays as it is.
    fn add(&mut self, path: &str, kind: Kind, content: &[u8]) {
        let above = path.char_indices().filter(|(_, c)| *c == '/');
        for (end, _) in above {
            self.add_new(&path[..end], Kind::Folder, b"");
        }
        self.add_new(path, kind, content);
    }

    fn add_new(&mut self, path: &str, kind: Kind, content: &[u8]) {
        if self.there.insert(path.to_owned()) {
            let device = match kind {
                Kind::Device(major, minor) => (major, minor),
                _ => (0, 0),
            };
            self.entry(path, kind.mode(), device, content);
        }
    }

    fn entry(&mut self, path: &str, mode: u32, device: (u32, u32), content: &[u8]) {
        self.entries += 1;
        // Paths and contents are far below 4 GiB: initial file systems live in the guest's first gibibyte.
        let (path_bytes, bytes) = (path.len() as u32 + 1, content.len() as u32);
        let fields = [
            self.entries, // inode
            mode,
            0, // user
            0, // group
            1, // links
            MADE,
            bytes,
            0, // major and minor number of its device
            0,
            device.0,
            device.1,
            path_bytes,
            0, // checksum, of which this form has none
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes
                .extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    /// Entries and contents begin at multiples of 4 bytes.
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Path, mode and content of each entry.
    pub(in crate::linux) fn read(archive: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let (mut entries, mut at) = (Vec::new(), 0);
        loop {
            let field = |index: usize| {
                let start = at + 6 + 8 * index;
                let digits = std::str::from_utf8(&archive[start..start + 8]).unwrap();
                u32::from_str_radix(digits, 16).unwrap()
            };
            assert_eq!(&archive[at..at + 6], b"070701", "an entry at byte {at}");
            let (mode, bytes, name) = (field(1), field(6) as usize, field(11) as usize);
            let path = String::from_utf8(archive[at + 110..at + 110 + name - 1].to_vec()).unwrap();
            let start = (at + 110 + name).next_multiple_of(4);
            at = (start + bytes).next_multiple_of(4);
            if path == "TRAILER!!!" {
                assert_eq!(archive.len() % PAGE, 0);
                assert!(
                    archive[at..].iter().all(|byte| *byte == 0),
                    "only zeros come after the trailer"
                );
                return entries;
            }
            entries.push((path, mode, archive[start..start + bytes].to_vec()));
        }
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_once() {
        let mut archive = Archive::new();
        archive.file("a/b/one", b"1");
        archive.program("a/b/two", b"22");
        archive.link("a/three", "b/one");
        let entries = read(&archive.finish());
        let listed: Vec<(&str, u32)> = entries
            .iter()
            .map(|(path, mode, _)| (path.as_str(), *mode))
            .collect();
        assert_eq!(
            listed,
            [
                ("dev", 0o040_755),
                ("dev/console", 0o020_600),
                ("a", 0o040_755),
                ("a/b", 0o040_755),
                ("a/b/one", 0o100_644),
                ("a/b/two", 0o100_755),
                ("a/three", 0o120_777),
            ]
        );
        assert_eq!(entries[5].2, b"22");
        assert_eq!(entries[6].2, b"b/one");
    }

    #[test]
    fn what_was_added_first_stays() {
        let mut archive = Archive::new();
        archive.file("firmware", b"given");
        archive.file("firmware", b"packaged");
        assert_eq!(read(&archive.finish())[2].2, b"given");
    }
}
