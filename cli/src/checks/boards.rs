//! The image links for every board, at its address and in its memory, and begins with the header that boot loaders read.

use super::{Case, board_files, u_boot};
use crate::images::image::{BUILD, Builder, Image, Parts};
use crate::outcome::Failure;
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_launch::images;
use std::path::PathBuf;

/// The fields of the arm64 Image header that matter: hardware/boards.md 2.1.
struct Header {
    text_offset: u64,
    image_bytes: u64,
    flags: u64,
    magic: [u8; 4],
}

/// Little-endian, pages of 4 KiB, may be placed anywhere.
const FLAGS: u64 = 0xA;
const MAGIC: [u8; 4] = *b"ARMd";

impl Header {
    fn parse(raw: &[u8]) -> Option<Header> {
        let double = |offset: usize| {
            let bytes = raw.get(offset..offset + 8)?.try_into().ok()?;
            Some(u64::from_le_bytes(bytes))
        };
        Some(Header {
            text_offset: double(8)?,
            image_bytes: double(16)?,
            flags: double(24)?,
            magic: raw.get(56..60)?.try_into().ok()?,
        })
    }
}

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let folder = workspace.target_folder().join("eitri/boards");
    let builder = Builder::new()?;
    let mut cases = Vec::new();
    let places = places(workspace);
    for board in Target::all() {
        let parts = Parts {
            board: Some(board),
            files: &[],
        };
        let image = builder.build_with("eitri-image", "eitri-image", &parts)?;
        cases.push(Case::ran(
            format!("the image for {}", board.name()),
            wrong(board, image.load_address()?, &image, &image.raw()?)
                .or_else(|| place_in(&image.elf, &places)),
        ));
        cases.push(Case::ran(
            format!("U-Boot's containers of it for {}", board.name()),
            u_boot::unreadable(&folder, board, &image)?,
        ));
    }
    // Another process builds.
    drop(builder);
    cases.push(board_files::image(workspace)?);
    Ok(cases)
}

/// The folders of this machine that a build reads from.
fn places(workspace: &Workspace) -> Vec<String> {
    let folders = [
        Some(workspace.root().to_owned()),
        Some(workspace.target_folder()),
        images::cargo_home(),
    ];
    let text = |folder: PathBuf| folder.to_str().map(str::to_owned);
    folders.into_iter().flatten().filter_map(text).collect()
}

/// The first of these folders that is named in an image, symbols and debug information included: it would not be the same where
/// another builds it.
fn place_in(elf: &[u8], places: &[String]) -> Option<String> {
    let is_named = |place: &&String| {
        elf.windows(place.len())
            .any(|part| part == place.as_bytes())
    };
    let place = places.iter().find(is_named)?;
    Some(format!("it names {place}, a folder of this machine"))
}

/// What is wrong with a board's image.
fn wrong(board: Target, address: u64, image: &Image, raw: &[u8]) -> Option<String> {
    let (memory, path) = (board.linked(), image.path().display());
    if address != memory.base as u64 {
        return Some(format!(
            "{path} is linked for {address:#x}, and loaded at {:#x}",
            memory.base
        ));
    }
    let Some(header) = Header::parse(raw) else {
        return Some(format!("{path} has no header"));
    };
    let bytes = raw.len() as u64..=memory.bytes as u64;
    if header.magic != MAGIC || header.flags != FLAGS || header.text_offset != 0 {
        return Some(format!(
            "{path}: magic {:02x?}, flags {:#x}, text offset {:#x}",
            header.magic, header.flags, header.text_offset
        ));
    }
    let id = image.build_id().unwrap_or_default();
    let text = [BUILD, id.as_bytes(), &[0]].concat();
    if id.is_empty() || !raw.windows(text.len()).any(|place| place == text) {
        return Some(format!("{path}: its build id, {id}, is not there as text"));
    }
    (!bytes.contains(&header.image_bytes)).then(|| {
        format!(
            "{path}: the header says {:#x} bytes, not {:#x} to {:#x}",
            header.image_bytes,
            bytes.start(),
            bytes.end()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_this_machine_is_found() {
        let places = ["/home/her/eitri".to_owned(), "/home/her/.cargo".to_owned()];
        let found = place_in(b"\0/home/her/.cargo/registry/src\0", &places);
        let said = found.as_deref();
        assert_eq!(
            said,
            Some("it names /home/her/.cargo, a folder of this machine")
        );
        assert_eq!(place_in(b"\0/crates/x/src/lib.rs\0", &places), None);
    }

    #[test]
    fn a_header_is_read_where_it_stands() {
        let mut raw = vec![0; 64];
        raw[16] = 0x40;
        raw[24] = 0x0A;
        raw[56..60].copy_from_slice(&[0x41, 0x52, 0x4D, 0x64]);
        let header = Header::parse(&raw).unwrap();
        assert_eq!((header.text_offset, header.image_bytes), (0, 0x40));
        assert_eq!((header.flags, header.magic), (FLAGS, MAGIC));
        assert!(Header::parse(&raw[..59]).is_none());
    }
}
