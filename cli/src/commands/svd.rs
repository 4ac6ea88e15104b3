//! `eitri svd`: the GPU's registers for debuggers.

use crate::input::board_choice;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::{Failure, Status};
use crate::output::whole_file;
use crate::reports::svd;
use eitri_boards::qemu_virt::BOARD;
use eitri_cs::SUPPORTED;
use eitri_csf::Arch;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The board whose addresses and interrupts it has; QEMU's machine, as `eitri boot` shows it, if none is named.
    #[arg(long, value_name = "NAME", default_value = BOARD.name)]
    board: String,
    /// The generation, v10 to v14; that of the board's GPU, or v10.
    #[arg(long, value_name = "ARCH")]
    arch: Option<String>,
    /// Where the file goes; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
}

/// An architecture that the register tables do not have.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the tables have no registers of `{text}`")]
#[diagnostic(help("v10 to v14"))]
struct NoArch {
    text: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let board = board_choice::named(&args.board)?;
    let arch = match &args.arch {
        Some(text) => {
            let parsed = SUPPORTED.parse(text);
            let text = text.clone();
            parsed.map_err(|_| Failure::refused(NoArch { text }))?
        }
        None => GpuChoice::of_board(board).map_or(Arch::V10, GpuChoice::arch),
    };
    let text = svd::document(board.name(), board.gpu(), arch);
    whole_file::write(&args.output, text.as_bytes())?;
    Ok(Status::Good)
}
