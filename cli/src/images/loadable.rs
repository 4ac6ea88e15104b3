//! Images of others: an ELF file as any linker writes it, or an arm64 `Image` as boot loaders take it, ready to be put into
//! memory.
//!
//! Facts: hardware/boards.md 2.1 (the header of an `Image`).

use crate::images::image::{MOST_BYTES, load_segments};
use crate::outcome::Failure;
use eitri_boards::Region;
use miette::Diagnostic;
use object::read::elf::FileHeader;
use object::{Endianness, elf};
use std::ops::Range;
use thiserror::Error;

/// Where the header of an `Image` has its mark, and the mark.
const MARK: usize = 56;
const MARK_BYTES: &[u8] = b"ARM\x64";

/// Why a file can't be booted.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum LoadableError {
    #[error("{path}: neither an ELF file for AArch64 nor an arm64 `Image`")]
    #[diagnostic(help(
        "link for a target such as aarch64-unknown-none or aarch64-none-elf; a raw file needs the header that boot loaders read"
    ))]
    Neither { path: String },
    #[error("{path}: an ELF file for another machine than AArch64 (e_machine {machine})")]
    Machine { path: String, machine: u16 },
    #[error("{path}: not an ELF file that can be read")]
    Elf {
        path: String,
        #[source]
        cause: object::Error,
    },
    #[error("{path}: nothing in it is loaded")]
    #[diagnostic(help("an object file or a library has to be linked first"))]
    Empty { path: String },
    #[error(
        "{path}: is linked for {:#x}..{:#x}, but images of {board} lie in {:#x}..{:#x}",
        .is.start, .is.end, .memory.base, .memory.end()
    )]
    #[diagnostic(help(
        "the linker script must place it in that memory: examples/standalone has one to copy"
    ))]
    Elsewhere {
        path: String,
        board: &'static str,
        is: Range<u64>,
        memory: Region,
    },
}

/// What is put into memory, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loadable {
    /// The first address.
    pub(crate) base: usize,
    /// The bytes from there on.
    pub(crate) bytes: Vec<u8>,
    /// The address of the first instruction.
    pub(crate) entry: usize,
}

impl Loadable {
    /// An image of which `file` is the content, for a board whose images lie in `memory`.
    pub(crate) fn read(
        path: &str,
        file: &[u8],
        board: &'static str,
        memory: Region,
    ) -> Result<Loadable, Failure> {
        let path = path.to_owned();
        let read = match file {
            [0x7F, b'E', b'L', b'F', ..] => of_elf(path, file, board, memory),
            _ if file.get(MARK..MARK + MARK_BYTES.len()) == Some(MARK_BYTES) => Ok(Loadable {
                base: memory.base,
                bytes: file.to_vec(),
                entry: memory.base,
            }),
            _ => Err(LoadableError::Neither { path }),
        };
        read.map_err(Failure::refused)
    }
}

fn of_elf(
    path: String,
    file: &[u8],
    board: &'static str,
    memory: Region,
) -> Result<Loadable, LoadableError> {
    let header = match elf::FileHeader64::<Endianness>::parse(file) {
        Ok(header) => header,
        Err(cause) => return Err(LoadableError::Elf { path, cause }),
    };
    let endian = match header.endian() {
        Ok(endian) => endian,
        Err(cause) => return Err(LoadableError::Elf { path, cause }),
    };
    let machine = header.e_machine(endian);
    if machine != elf::EM_AARCH64 {
        return Err(LoadableError::Machine { path, machine });
    }
    let segments = match load_segments(file) {
        Ok(segments) => segments,
        Err(cause) => return Err(LoadableError::Elf { path, cause }),
    };
    let base = segments.iter().map(|(address, _)| *address).min();
    let end = segments
        .iter()
        .map(|(address, bytes)| address.saturating_add(bytes.len() as u64))
        .max();
    let (Some(base), Some(end)) = (base, end) else {
        return Err(LoadableError::Empty { path });
    };
    let (from, to) = (memory.base as u64, memory.end() as u64);
    if base < from || end > to || end - base > MOST_BYTES {
        return Err(LoadableError::Elsewhere {
            path,
            board,
            is: base..end,
            memory,
        });
    }
    let mut bytes = vec![0; (end - base) as usize];
    for (address, content) in segments {
        // `base` is the smallest address and `end` the largest end, so every segment lies inside.
        let start = (address - base) as usize;
        if let Some(place) = bytes.get_mut(start..start + content.len()) {
            place.copy_from_slice(content);
        }
    }
    Ok(Loadable {
        base: base as usize,
        bytes,
        entry: header.e_entry(endian) as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Region = Region::new(0x4020_0000, 0x1000_0000);

    /// An ELF file with one segment of eight bytes at an address.
    fn elf_file(machine: u16, address: u64) -> Vec<u8> {
        let mut file = vec![0x7F, b'E', b'L', b'F', 2, 1, 1];
        file.resize(16, 0);
        file.extend([2, 0]);
        file.extend(machine.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        file.extend((address + 4).to_le_bytes());
        file.extend(64u64.to_le_bytes());
        file.extend(0u64.to_le_bytes());
        file.extend(0u32.to_le_bytes());
        for half in [64u16, 56, 1, 0, 0, 0] {
            file.extend(half.to_le_bytes());
        }
        for word in [1u32, 5] {
            file.extend(word.to_le_bytes());
        }
        for double in [120u64, address, address, 8, 16, 8] {
            file.extend(double.to_le_bytes());
        }
        file.extend(*b"\x01\x02\x03\x04\x05\x06\x07\x08");
        file
    }

    fn read(file: &[u8]) -> Result<Loadable, String> {
        let read = Loadable::read("it.elf", file, "qemu-virt", MEMORY);
        read.map_err(|failure| failure.to_string())
    }

    #[test]
    fn an_elf_file_lies_where_it_was_linked() {
        let loadable = read(&elf_file(183, 0x4080_0000)).unwrap();
        assert_eq!((loadable.base, loadable.entry), (0x4080_0000, 0x4080_0004));
        assert_eq!(loadable.bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn an_image_begins_with_its_first_byte() {
        let mut file = vec![0; 64];
        file[56..60].copy_from_slice(b"ARM\x64");
        let loadable = read(&file).unwrap();
        assert_eq!((loadable.base, loadable.entry), (MEMORY.base, MEMORY.base));
    }

    #[test]
    fn what_can_not_be_booted_is_refused_with_its_reason() {
        let text = |file: &[u8]| read(file).unwrap_err();
        assert!(text(b"hello").contains("neither an ELF file for AArch64"));
        assert!(text(&elf_file(62, 0x4080_0000)).contains("e_machine 62"));
        let elsewhere = text(&elf_file(183, 0x8_0000));
        assert!(elsewhere.contains("0x80000..0x80008"), "{elsewhere}");
        assert!(elsewhere.contains("0x40200000..0x50200000"), "{elsewhere}");
        assert!(text(&elf_file(183, u64::MAX - 4)).contains("qemu-virt"));
        for cut in [5, 20, 70, 125] {
            // Any error is fine: it must not panic.
            let _ = read(&elf_file(183, 0x4080_0000)[..cut]);
        }
    }
}
