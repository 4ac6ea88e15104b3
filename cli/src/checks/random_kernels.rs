//! Random kernels (`eitri kernels`): machines of each kind compute what Mesa's CPU driver computes. Without that driver, or the tools that
//! make modules, it is skipped.

use super::Case;
use crate::commands::kernel::read_cases;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::{self, GpuChoice};
use crate::outcome::Failure;
use crate::runs::case_run::{self, Setting, Verdict};
use crate::runs::dispatch::Place;
use crate::runs::khronos_tools::{self, GLSLANG, SPIRV_OPT};
use crate::runs::{ir3_case, lavapipe, parallel, random_kernels};
use crate::workspace::Workspace;
use eitri_compute_cases::Module;
use eitri_shaderc::{Machine, Robust};
use std::ops::Range;
use std::time::Duration;

const SEEDS: Range<u64> = 1..151;
/// Machines, and the modules that they take.
const MACHINES: &[(&str, Module)] = &[
    ("G610", Module::Plain),
    ("G720", Module::Optimised),
    ("a6xx", Module::Plain),
    ("a650", Module::Optimised),
];
/// Kernels that lavapipe may be unable to run.
const MOST_LEFT_OUT: usize = 5;
/// Longest that a kernel may take on the model.
const LIMIT: Duration = Duration::from_secs(5);

/// Why the check can't run on this machine, if so.
fn missing() -> Option<String> {
    if lavapipe::driver().is_none() {
        return Some(lavapipe::LACKING.to_owned());
    }
    let tools = [GLSLANG, SPIRV_OPT].into_iter();
    let mut lacking = tools.filter(|tool| !khronos_tools::is_there(*tool));
    lacking.next().map(|tool| {
        let khronos_tools::Tool { program, package } = tool;
        format!("`{program}` is not installed: Debian has it in {package}")
    })
}

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let named =
        |machine: &str| format!("random kernels compute for {machine} what lavapipe computes");
    if let Some(why) = missing() {
        let skipped = |(machine, _): &(&str, _)| Case::skipped(named(machine), why.clone());
        return Ok(MACHINES.iter().map(skipped).collect());
    }
    let folder = workspace.target_folder().join("eitri/random-kernels");
    let _ = std::fs::remove_dir_all(&folder);
    let left_out = random_kernels::write(&folder, SEEDS)?;
    let failure = (left_out.count() > MOST_LEFT_OUT)
        .then(|| format!("{} are left out: {left_out:?}", left_out.count()));
    let mut cases = vec![Case::ran("lavapipe runs random kernels", failure)];
    let kernels = read_cases(&[folder], None)?;
    for (name, module) in MACHINES {
        let target = gpu_choice::machine(name)?;
        let setting = Setting {
            module: *module,
            place: Place::Host,
            gpu: match target.machine {
                Machine::Valhall(_) => name.parse().map_err(Failure::refused)?,
                Machine::Ir3(_) => GpuChoice::default(),
            },
            timelines: None,
            robust: Robust::On,
            counts: false,
            limit: LIMIT,
            keep: None,
            check: &Wanted::All,
            check_code: &Wanted::Nothing,
        };
        let mut wrong = Vec::new();
        let work = |kernel: &_| match target.machine {
            Machine::Valhall(_) => case_run::run(kernel, setting),
            Machine::Ir3(_) => ir3_case::run_case(kernel, *module, target, 1),
        };
        parallel::in_order(&kernels, parallel::available(), work, |kernel, verdict| {
            if let Verdict::Failed(why) | Verdict::Skipped(why) = verdict {
                wrong.push(format!("{}: {why}", kernel.name));
            }
            Ok::<(), Failure>(())
        })?;
        let failure = (!wrong.is_empty()).then(|| wrong.join("\n"));
        cases.push(Case::ran(named(name), failure));
    }
    Ok(cases)
}
