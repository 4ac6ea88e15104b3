//! Each board's image runs in QEMU on that board's memory map, console, interrupts and GPU, with stand-ins for what is around
//! the GPU: what it does there is right by the facts, in order and value.

use super::{Case, board_files};
use crate::images::lab_log::{self, Judgement};
use crate::input::board_choice;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::dispatch::Talk;
use crate::runs::qemu::{self, Setting};
use crate::workspace::Workspace;
use eitri_boards::Target;
use eitri_boards::device_tree::INFERRED;
use eitri_boards::steps::Certainty;
use eitri_model::stub_firmware;
use std::time::Duration;

/// Longest that a board's image may run.
const LIMIT: Duration = Duration::from_secs(300);
/// The tests that are run, besides those of bring-up and shutdown.
const ONLY: &str = "eitri.only=power.";

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    let boards = Target::all().filter(|board| !board.gpu().power_on.is_empty());
    for board in boards {
        let mut steps = board.gpu().power_on.iter();
        let words = match steps.any(|action| action.certainty == Certainty::Inferred) {
            true => &[ONLY, INFERRED][..],
            false => &[ONLY],
        };
        let setting = Setting {
            gpu: GpuChoice::of_board(board).unwrap_or_default(),
            limit: LIMIT,
            talk: Talk::Quiet,
            words,
        };
        let nothing = Wanted::Nothing;
        let validated =
            qemu::run_validation(Some(board), &stub_firmware(), None, &setting, &nothing)?;
        let (console, diagnoses) = (validated.console, validated.diagnoses);
        cases.push(Case::ran(
            format!("the image for {} on its board's stand-ins", board.name()),
            wrong(board, &console, &diagnoses),
        ));
    }
    for row in WRONG {
        cases.extend(row.cases()?);
    }
    cases.extend(board_files::in_qemu(workspace)?);
    Ok(cases)
}

/// What must be told of wrong steps of a board.
struct Wrong {
    board: &'static str,
    /// Of the opposite order.
    order: &'static str,
    /// Of another value; boards whose steps are messages alone have no register to write another into.
    value: Option<&'static str>,
}

/// A row a kind of machine.
#[rustfmt::skip]
const WRONG: &[Wrong] = &[
    Wrong { board: "rk3588", order: "the bus of the GPU is asked for before its domain is on", value: Some("does not let through") },
    Wrong { board: "imx95",  order: "the GPU's clock is switched while its domain is off",     value: None },
    Wrong { board: "cix-p1", order: "clock gating is set while the GPU is off or in reset",    value: Some("bits 0x8000 of the reset register are not the GPU's") },
    Wrong { board: "mt8196", order: "before it was seen to have started",                      value: Some("bits that no step of the facts has") },
];

impl Wrong {
    /// Each way, and that the right one is told nothing of: else whatever is told would prove nothing.
    fn cases(&self) -> Result<Vec<Case>, Failure> {
        let board = board_choice::named(self.board)?;
        let ways: Vec<(&str, Option<&str>)> = [("right", None), ("order", Some(self.order))]
            .into_iter()
            .chain(self.value.map(|told| ("value", Some(told))))
            .collect();
        let words: Vec<&str> = ways.iter().map(|(way, _)| *way).collect();
        let ran = qemu::run_wrong_power(board, LIMIT, &words)?;
        let cases = ways
            .iter()
            .zip(ran)
            .map(|((way, told), (console, diagnoses))| {
                let good = match told {
                    Some(told) => diagnoses.iter().any(|line| line.contains(told)),
                    None => diagnoses.is_empty() && console.contains("the GPU has power"),
                };
                let wanted = told.unwrap_or("nothing");
                Case::ran(
                    format!("{wanted} is told of {way} steps of {}", self.board),
                    (!good).then(|| format!("{}\n{console}", diagnoses.join("\n"))),
                )
            });
        Ok(cases.collect())
    }
}

/// What is wrong with how it went.
fn wrong(board: Target, console: &str, diagnoses: &[String]) -> Option<String> {
    let judgement = lab_log::read(console).judge();
    let last = board.gpu().power_on.last().map_or("", |action| action.what);
    let said = [
        format!("on {}", board.title()),
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
