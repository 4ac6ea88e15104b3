//! What a TFTP server serves for a board: everything in a folder of the board's own, under names that stay from one image to
//! the next, so that a boot loader can be told once. Facts: hardware/boards.md section 2.3.

use eitri_boards::Target;

/// What U-Boot fetches and runs to do the rest by itself.
pub(crate) const SCRIPT: &str = "boot.scr";

/// The name on the server of a board's file, from the server's root.
pub(crate) fn name(board: Target, file: &str) -> String {
    format!("eitri/{}/{file}", board.name())
}

/// What to type at U-Boot's prompt to have the script do the rest, which is loaded at an address or a variable.
pub(crate) fn lines(board: Target, at: &str) -> [String; 2] {
    let script = name(board, SCRIPT);
    [format!("tftpboot {at} {script}"), format!("source {at}")]
}
