//! The whole validation suite in QEMU, with the model as the GPU and scripts behind it: every test passes, and nothing is told
//! of the driver.

use super::Case;
use crate::amber::suite;
use crate::images::lab_log::{self, Judgement};
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::dispatch::Talk;
use crate::runs::qemu::{self, Setting};
use crate::workspace::Workspace;
use eitri_model::stub_firmware;
use std::time::Duration;

/// Longest that the suite may take.
const LIMIT: Duration = Duration::from_secs(1800);

/// Scripts that are run after the suite's own tests.
const SCRIPTS: &str = "cli/tests/amber";

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let gpu = GpuChoice::default();
    let folder = workspace.root().join(SCRIPTS).display().to_string();
    let scripts = suite::compiled(&[folder], gpu)?;
    let setting = Setting {
        gpu,
        limit: LIMIT,
        talk: Talk::Quiet,
        words: &["eitri.soak=16"],
    };
    let nothing = Wanted::Nothing;
    let validated = qemu::run_validation(
        None,
        &stub_firmware(),
        scripts.as_deref(),
        &setting,
        &nothing,
    )?;
    let (console, diagnoses) = (validated.console, validated.diagnoses);
    let failure = match lab_log::read(&console).judge() {
        Judgement::Good => None,
        judgement => Some(format!("{judgement:?}\n{console}")),
    };
    // A shader of a test reads outside of its buffer, to see that it gets 0.
    let of_driver = diagnoses
        .iter()
        .filter(|line| !line.contains(" ns: shader at "));
    let diagnoses: Vec<&str> = of_driver.map(String::as_str).collect();
    let told = (!diagnoses.is_empty()).then(|| diagnoses.join("\n"));
    let ran = console.contains("amber.");
    let unheard = (!ran).then(|| format!("no line of `amber.`\n{console}"));
    Ok(vec![
        Case::ran("every test passes", failure),
        Case::ran("the scripts are among them", unheard),
        Case::ran("nothing is told of the driver", told),
    ])
}
