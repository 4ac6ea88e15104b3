//! Prebuilt images: those that came with this command, for machines that have not the sources.
//!
//! Each looks behind itself for what it carries (`kernel/src/attached.rs`): a job, scripts, drawings, the GPU's firmware. `eitri debian` puts
//! them beside the command, in `share/eitri/images`, for QEMU and for every board that is stated whole. A command that was built with the
//! feature `portable` has those for QEMU inside. Where the sources are, images are linked from them, with all that they carry.

use super::image::{Builder, Image};
use super::monitor;
use crate::input::board_file;
use crate::input::buffer_source::BindingName;
use crate::outcome::{Failure, FileError};
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::qemu_virt::BOARD;
use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The variable that names another folder with prebuilt images; they are taken from there even where the sources are.
pub(crate) const FOLDER: &str = "EITRI_IMAGES";

/// A kind of image.
#[derive(Clone, Copy)]
struct Kind {
    /// What it is for, as its file is named.
    name: &'static str,
    package: &'static str,
    /// The one for QEMU, from inside of this command; empty without the feature `portable`.
    inside: &'static [u8],
}

macro_rules! inside {
    ($package:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", $package, ".elf"))
    };
}

#[rustfmt::skip]
const JOB:        Kind = Kind { name: "job",        package: "eitri-image",            inside: inside!("eitri-image") };
#[rustfmt::skip]
const SCRIPTS:    Kind = Kind { name: "scripts",    package: "eitri-amber-image",      inside: inside!("eitri-amber-image") };
#[rustfmt::skip]
const DRAWINGS:   Kind = Kind { name: "drawings",   package: "eitri-draw-image",       inside: inside!("eitri-draw-image") };
#[rustfmt::skip]
const VALIDATION: Kind = Kind { name: "validation", package: "eitri-validation-image", inside: inside!("eitri-validation-image") };

const KINDS: [Kind; 4] = [JOB, SCRIPTS, DRAWINGS, VALIDATION];

/// Why there is no prebuilt image of what is asked for.
#[derive(Debug, Error, Diagnostic)]
enum PrebuiltError {
    #[error(
        "no {kind} image of {board} came with this command, and it has not the sources to build one"
    )]
    #[diagnostic(help("looked for {path}; `cargo eitri` in a checkout builds it"))]
    None {
        kind: &'static str,
        board: &'static str,
        path: String,
    },
}

/// An image with this job, which shows an image of it on the board's display if one is named.
pub(crate) fn job(
    board: Target,
    bundle: &[u8],
    shown: Option<BindingName>,
) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_job(Some(board), bundle, shown);
    }
    let shown = shown.map(BindingName::words);
    let mut parts = vec![("job", bundle)];
    parts.extend(shown.iter().map(|shown| ("shown", shown.as_bytes())));
    JOB.with(Some(board), &parts)
}

/// The same for QEMU without a job, which it reads from a file of the host's.
pub(crate) fn without_job(shown: Option<BindingName>) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_without_job(shown);
    }
    let shown = shown.map(BindingName::words);
    let parts: Vec<_> = shown
        .iter()
        .map(|shown| ("shown", shown.as_bytes()))
        .collect();
    JOB.with(None, &parts)
}

/// An image that carries scripts; QEMU's if no board is named.
pub(crate) fn suite(board: Option<Target>, suite: &[u8]) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_suite(board, suite);
    }
    SCRIPTS.with(board, &[("scripts", suite)])
}

/// An image that carries drawings, and perhaps shows the first.
pub(crate) fn drawings(
    board: Option<Target>,
    drawings: &[u8],
    shown: bool,
) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_drawings(board, drawings, shown);
    }
    let mut parts = vec![("drawings", drawings)];
    if shown {
        parts.push(("shown", b"0"));
    }
    DRAWINGS.with(board, &parts)
}

/// A validation image with this firmware and perhaps scripts. Without firmware the boot loader puts it beside the image.
pub(crate) fn validation(
    board: Option<Target>,
    firmware: &[u8],
    scripts: Option<&[u8]>,
) -> Result<Image, Failure> {
    if is_built_here() {
        return Builder::new()?.build_validation(board, firmware, scripts);
    }
    let mut parts = Vec::new();
    if !firmware.is_empty() {
        parts.push(("firmware", firmware));
    }
    parts.extend(scripts.map(|scripts| ("scripts", scripts)));
    VALIDATION.with(board, &parts)
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

impl Kind {
    /// The image of a board with these parts.
    fn with(self, board: Option<Target>, parts: &[(&str, &[u8])]) -> Result<Image, Failure> {
        if !board_file::is_built_in()? {
            // The message about missing sources.
            Workspace::find()?;
        }
        let board = board.unwrap_or(Target::Board(&BOARD));
        self.find(&folder(), board.name())?.with_parts(board, parts)
    }

    /// The files of a board's image: the ELF file, and what is in it in words.
    fn paths(self, folder: &Path, board: &str) -> [PathBuf; 2] {
        ["elf", "txt"].map(|ending| folder.join(format!("{}-{board}.{ending}", self.name)))
    }

    fn find(self, folder: &Path, board: &'static str) -> Result<Image, Failure> {
        let [elf, about] = self.paths(folder, board);
        match (std::fs::read(&elf), std::fs::read_to_string(&about)) {
            (Ok(bytes), Ok(about)) => Ok(Image::prebuilt(bytes, elf, about.trim())),
            _ if board == BOARD.name && !self.inside.is_empty() => {
                let about = format!("revision v{}, {}", env!("CARGO_PKG_VERSION"), self.package);
                Ok(Image::prebuilt(self.inside.to_vec(), elf, &about))
            }
            _ => Err(Failure::missing(PrebuiltError::None {
                kind: self.name,
                board,
                path: elf.display().to_string(),
            })),
        }
    }
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

/// Builds all of them into a folder: an outline's image is linked for no address behind which something could stand.
pub(crate) fn put_all(folder: &Path) -> Result<(), Failure> {
    let mut boards = Target::all().filter(|target| target.board().is_some());
    boards.try_for_each(|board| put_board(folder, board))
}

/// Builds those of one board into a folder.
pub(crate) fn put_board(folder: &Path, board: Target) -> Result<(), Failure> {
    let mut kinds = KINDS.into_iter();
    kinds.try_for_each(|kind| put(folder, kind, board))
}

/// Builds one of them into a folder.
fn put(folder: &Path, kind: Kind, board: Target) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|cause| Failure::unwritable(folder, cause))?;
    let image = Builder::new()?.build_for_parts(Some(board), kind.package)?;
    let [elf, about] = kind.paths(folder, board.name());
    for (path, bytes) in [
        (elf, image.elf.as_slice()),
        (about, image.about().as_bytes()),
    ] {
        std::fs::write(&path, bytes)
            .map_err(|cause| Failure::refused(FileError::at("write", &path, cause)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_did_not_come_along_is_missed_by_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let failure = VALIDATION
            .find(folder.path(), "rk3588")
            .map(|_| ())
            .unwrap_err();
        let shown = failure.shown();
        assert!(
            shown.contains("no validation image of rk3588 came with"),
            "{shown}"
        );
        for (path, bytes) in VALIDATION
            .paths(folder.path(), "rk3588")
            .iter()
            .zip([&b"elf"[..], b"revision x\n"])
        {
            std::fs::write(path, bytes).unwrap();
        }
        let image = VALIDATION
            .find(folder.path(), "rk3588")
            .map_err(|it| it.shown())
            .unwrap();
        assert_eq!(
            (image.elf.as_slice(), image.about()),
            (&b"elf"[..], "revision x")
        );
    }
}
