//! The GPU's firmware in a board's image: the vendor's, or the stub where somebody asks for it by name.
//!
//! Guarantees: the image of a real board never has the stub unasked, since no GPU runs it.
//! Facts: hardware/boards.md 8, hardware/csf-firmware.md 1 (names of files in linux-firmware).

use crate::input::firmware_file;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use eitri_boards::{Target, qemu_virt};
use eitri_model::stub_firmware;
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;

/// The word for the stub, where a file's name could stand.
const STUB: &str = "stub";
/// The folder where Linux has firmware.
const FIRMWARE_FOLDER: &str = "/lib/firmware";
/// The vendor's name of the file.
pub(crate) const FILE_NAME: &str = "mali_csffw.bin";

/// A request for a board's image that says nothing of firmware.
#[derive(Debug, Error, Diagnostic)]
#[error("an image for {board} needs the GPU's firmware")]
#[diagnostic(help(
    "--firmware FILE, where {}; --firmware-at ADDRESS, if U-Boot loads it; or --firmware stub, for an image that runs on the \
     model only",
    where_it_is(.folder.as_deref())
))]
struct NotGiven {
    board: &'static str,
    /// The folder of this board's GPU below that of all firmware, if the GPU is known.
    folder: Option<String>,
}

/// The place of the file, on this machine or where it comes from.
fn where_it_is(folder: Option<&str>) -> String {
    let Some(folder) = folder else {
        return format!("FILE is {FILE_NAME} of Debian's package firmware-misc-nonfree");
    };
    let file = format!("{folder}/{FILE_NAME}");
    let here = Path::new(FIRMWARE_FOLDER).join(&file);
    match here.is_file() {
        true => format!("FILE is {}", here.display()),
        false => format!(
            "FILE is {file} of linux-firmware, or of Debian's package firmware-misc-nonfree, which puts it into {FIRMWARE_FOLDER}"
        ),
    }
}

/// The folder of a board's GPU below that of all firmware.
fn folder(board: Target) -> Option<String> {
    let (major, minor, _) = GpuChoice::of_board(board)?.id().arch_version();
    Some(format!("arm/mali/arch{major}.{minor}"))
}

/// The firmware that `--firmware` names for any run: a file's, or none for the stub.
pub(crate) fn named(option: Option<&str>) -> Result<Option<Vec<u8>>, Failure> {
    let file = option.filter(|name| *name != STUB);
    file.map(firmware_file::read).transpose()
}

/// The file that `--firmware` names; none for the stub.
pub(crate) fn path(option: Option<&str>) -> Option<&str> {
    option.filter(|name| *name != STUB)
}

/// The firmware inside of an image for `board`, of what `--firmware` says.
pub(crate) fn for_board(board: Target, option: Option<&str>) -> Result<Vec<u8>, Failure> {
    let is_virtual = board.name() == qemu_virt::BOARD.name;
    match named(option)? {
        Some(firmware) => Ok(firmware),
        None if option.is_some() || is_virtual => Ok(stub_firmware()),
        None => Err(Failure::refused(NotGiven {
            board: board.name(),
            folder: folder(board),
        })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_of_a_real_board_needs_firmware() {
        for board in Target::all() {
            let given = for_board(board, None);
            if board.name() == "qemu-virt" {
                assert_eq!(given.unwrap(), stub_firmware());
                continue;
            }
            let text = format!("{:?}", given.unwrap_err());
            for part in [board.name(), "--firmware stub", FILE_NAME] {
                assert!(text.contains(part), "no {part:?} in {text}");
            }
            assert_eq!(for_board(board, Some("stub")).unwrap(), stub_firmware());
        }
    }

    #[test]
    fn the_file_is_named_by_the_gpus_architecture() {
        let board = Target::named("rk3588").unwrap();
        assert_eq!(folder(board).as_deref(), Some("arm/mali/arch10.8"));
        let missing = where_it_is(Some("arm/mali/arch99.9"));
        assert!(missing.contains("firmware-misc-nonfree"), "{missing}");
    }
}
