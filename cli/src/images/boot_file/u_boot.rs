//! What is typed at U-Boot's prompt.
//!
//! Facts: hardware/boards.md section 2.3. Addresses are the board's own, so nothing depends on how U-Boot's environment
//! was set up; the device tree is the one that U-Boot runs with.

use super::{Format, fit};
use eitri_boards::Board;

/// Where the file is loaded. What `booti` takes is entered where it lies; a container is unpacked from memory that the
/// image itself does not occupy.
pub(super) fn address(board: &Board, format: Format) -> Option<usize> {
    match format {
        Format::Elf => None,
        Format::Bin | Format::Image => Some(board.memory.image.base),
        Format::Fit | Format::Uimage | Format::Efi => Some(board.memory.heap.base),
    }
}

/// What comes first: the device tree stays where it is, out of the memory that the image wants.
pub(super) fn before() -> Vec<String> {
    vec!["setenv fdt_high 0xffffffffffffffff".to_owned()]
}

/// What starts a file that was loaded, with another beside it (`ADDRESS:BYTES`). A tree's configuration is named: a U-Boot that looks for the one that fits its own
/// device tree would find none.
pub(super) fn start(board: &Board, format: Format, beside: Option<&str>) -> Option<String> {
    let at = address(board, format)?;
    let what = match format {
        Format::Elf => return None,
        Format::Bin | Format::Image => format!("booti {at:#x}"),
        Format::Fit => format!("bootm {at:#x}#{}", fit::CONFIGURATION),
        Format::Uimage => format!("bootm {at:#x}"),
        Format::Efi => return Some(format!("bootefi {at:#x}")),
    };
    let beside = beside.unwrap_or("-");
    Some(format!("{what} {beside} ${{fdtcontroladdr}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_loaded_where_the_image_does_not_go() {
        for board in eitri_boards::ALL {
            let image = board.memory.image;
            for format in [Format::Fit, Format::Uimage, Format::Efi] {
                let at = address(board, format).unwrap_or(image.base);
                assert!(!image.contains(at), "{}: {at:#x}", board.name);
            }
            assert_eq!(address(board, Format::Image), Some(image.base));
        }
    }
}
