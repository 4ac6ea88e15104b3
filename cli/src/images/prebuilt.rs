//! Prebuilt images: the validation images that a package of this command brings along, for machines that have not the sources.
//!
//! `eitri debian` puts them beside the command, in `share/eitri/images`. One for QEMU has the stub firmware inside; those for boards have
//! none, since the vendor's is not ours to give away: U-Boot loads it beside them (`--firmware-at`). Everything else is built from the
//! sources.

use super::image::{Builder, Image};
use super::monitor;
use crate::input::board_file;
use crate::outcome::{Failure, FileError};
use crate::workspace::Workspace;
use eitri_boards::qemu_virt::BOARD;
use eitri_boards::{Loader, Target};
use eitri_model::stub_firmware;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The variable that names another folder with prebuilt images; they are taken from there even where the sources are.
const FOLDER: &str = "EITRI_IMAGES";

/// Why there is no prebuilt image of what is asked for.
#[derive(Debug, Error, Diagnostic)]
enum PrebuiltError {
    #[error("the prebuilt validation image of {board} has no firmware inside")]
    #[diagnostic(help(
        "let U-Boot load it beside the image: --firmware-at ADDRESS; with the sources of Eitri, `cargo eitri image` puts it inside"
    ))]
    NoFirmware { board: &'static str },
    #[error("the prebuilt validation image has the stub firmware and no other")]
    #[diagnostic(help("leave --firmware out, or use `cargo eitri` in a checkout"))]
    OtherFirmware,
    #[error("prebuilt validation images have no scripts inside")]
    #[diagnostic(help("`cargo eitri` in a checkout builds images with scripts"))]
    Scripts,
    #[error(
        "no validation image of {board} came with this command, and it has not the sources to build one"
    )]
    #[diagnostic(help("looked for {path}; `cargo eitri` in a checkout builds it"))]
    None { board: &'static str, path: String },
}

/// A validation image with these parts: built from the sources, or the prebuilt one where there are no sources.
pub(crate) fn validation(
    board: Option<Target>,
    firmware: &[u8],
    scripts: Option<&[u8]>,
) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_validation(board, firmware, scripts);
    }
    if !board_file::is_built_in()? {
        // The message about missing sources.
        Workspace::find()?;
    }
    let refused = |error| Err(Failure::refused(error));
    if scripts.is_some() {
        return refused(PrebuiltError::Scripts);
    }
    let name = board.map_or(BOARD.name, Target::name);
    match (name == BOARD.name, firmware) {
        (true, firmware) if firmware != stub_firmware() => {
            return refused(PrebuiltError::OtherFirmware);
        }
        (false, firmware) if !firmware.is_empty() => {
            return refused(PrebuiltError::NoFirmware { board: name });
        }
        _ => {}
    }
    find(&folder(), name)
}

/// The monitor's ELF file and the validation image, for QEMU.
pub(crate) fn validation_in_qemu(
    board: Option<Target>,
    firmware: &[u8],
    scripts: Option<&[u8]>,
) -> Result<(Vec<u8>, Image), Failure> {
    let image = validation(board, firmware, scripts)?;
    Ok((monitor::elf()?, image))
}

/// Whether images are built from the sources.
fn is_built_here() -> bool {
    std::env::var_os(FOLDER).is_none() && Workspace::find().is_ok()
}

/// Where prebuilt images are: beside the folder that has this command.
fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return folder.into();
    }
    let command = std::env::current_exe().unwrap_or_default();
    let prefix = command.parent().and_then(Path::parent);
    prefix
        .unwrap_or(Path::new("/usr"))
        .join("share/eitri/images")
}

/// The files of a board's image: the ELF file, and what is in it in words.
fn paths(folder: &Path, board: &str) -> [PathBuf; 2] {
    ["elf", "txt"].map(|ending| folder.join(format!("validation-{board}.{ending}")))
}

fn find(folder: &Path, board: &'static str) -> Result<Image, Failure> {
    let [elf, about] = paths(folder, board);
    match (std::fs::read(&elf), std::fs::read_to_string(&about)) {
        (Ok(bytes), Ok(about)) => Ok(Image::prebuilt(bytes, elf, about.trim())),
        _ => {
            let path = elf.display().to_string();
            Err(Failure::missing(PrebuiltError::None { board, path }))
        }
    }
}

/// Builds all of them into a folder.
pub(crate) fn put_all(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|cause| Failure::unwritable(folder, cause))?;
    let builder = Builder::new()?;
    let put = |board: Option<Target>, firmware: &[u8]| {
        let image = builder.build_validation(board, firmware, None)?;
        let name = board.map_or(BOARD.name, Target::name);
        let [elf, about] = paths(folder, name);
        for (path, bytes) in [
            (elf, image.elf.as_slice()),
            (about, image.about().as_bytes()),
        ] {
            std::fs::write(&path, bytes)
                .map_err(|cause| Failure::refused(FileError::at("write", &path, cause)))?;
        }
        Ok::<(), Failure>(())
    };
    put(None, &stub_firmware())?;
    for board in Target::all().filter(|board| takes_firmware_beside(*board)) {
        put(Some(board), &[])?;
    }
    Ok(())
}

/// Whether U-Boot can load firmware beside the image of a board.
fn takes_firmware_beside(board: Target) -> bool {
    let is_real = board.name() != BOARD.name;
    is_real && matches!(board.loader(), Loader::UBoot(_)) && board.board().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_did_not_come_along_is_missed_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let failure = find(folder.path(), "rk3588").map(|_| ()).unwrap_err();
        let shown = failure.shown();
        assert!(
            shown.contains("no validation image of rk3588 came with"),
            "{shown}"
        );
        for (path, bytes) in paths(folder.path(), "rk3588")
            .iter()
            .zip([&b"elf"[..], b"revision x\n"])
        {
            std::fs::write(path, bytes).unwrap();
        }
        let image = find(folder.path(), "rk3588")
            .map_err(|it| it.shown())
            .unwrap();
        assert_eq!(
            (image.elf.as_slice(), image.about()),
            (&b"elf"[..], "revision x")
        );
    }
}
