//! Each board's image runs in QEMU on that board's memory map, console, interrupts and GPU, with stand-ins for what is around
//! the GPU: what it does there is right by the facts, in order and value.

use super::Case;
use crate::dispatch::Talk;
use crate::gpu_choice::GpuChoice;
use crate::lab_log::{self, Judgement};
use crate::outcome::Failure;
use crate::qemu::{self, Setting};
use crate::workspace::Workspace;
use eitri_boards::{ALL, Board};
use eitri_model::stub_firmware;
use std::time::Duration;

/// Longest that a board's image may run.
const LIMIT: Duration = Duration::from_secs(300);
/// The tests that are run, besides those of bring-up and shutdown.
const ONLY: &str = "eitri.only=power.";

pub(super) fn run(_: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let boards = ALL.iter().filter(|board| !board.gpu.power_on.is_empty());
    for board in boards {
        let setting = Setting {
            gpu: GpuChoice::of_board(board).unwrap_or_default(),
            limit: LIMIT,
            talk: Talk::Quiet,
            words: &[ONLY],
        };
        let (console, diagnoses) =
            qemu::run_validation(Some(board), &stub_firmware(), None, &setting)?;
        cases.push(Case::ran(
            format!("the image for {} on its board's stand-ins", board.name),
            wrong(board, &console, &diagnoses),
        ));
    }
    Ok(cases)
}

/// What is wrong with how it went.
fn wrong(board: &Board, console: &str, diagnoses: &[String]) -> Option<String> {
    let judgement = lab_log::read(console).judge();
    let last = board.gpu.power_on.last().map_or("", |action| action.what);
    let said = [
        format!("on {}", board.title),
        format!("power: {last}: "),
        "exit status 0".to_owned(),
    ];
    let missing = said.iter().find(|part| !console.contains(part.as_str()));
    let what = match (missing, diagnoses.first(), judgement) {
        (Some(part), ..) => format!("no `{part}`"),
        (None, Some(diagnosis), _) => diagnosis.clone(),
        (None, None, Judgement::Good) => return None,
        (None, None, judgement) => format!("{judgement:?}"),
    };
    Some(format!("{what}\n{}\n{console}", diagnoses.join("\n")))
}
