//! Random scenes (`eitri scenes`): a GPU of each kind draws what Mesa's CPU driver draws. Without that driver it is skipped.

use super::Case;
use super::draw::how;
use crate::commands::draw::read_scenes;
use crate::draw::{self, ModelArguments, Run, Verdict};
use crate::input::gpu_choice::GpuChoice;
use crate::outcome::Failure;
use crate::runs::dispatch::Place;
use crate::runs::{lavapipe, random_scenes};
use crate::workspace::Workspace;
use std::ops::Range;

const SEEDS: Range<u64> = 1..151;
/// GPUs, and whether they take the optimised modules.
const GPUS: &[(&str, bool)] = &[("G610", false), ("G720", true), ("G925", false)];

pub(super) fn run(workspace: &Workspace) -> Result<Vec<Case>, Failure> {
    let named = |gpu: &str| format!("random scenes are drawn on a {gpu} as lavapipe draws them");
    if lavapipe::driver().is_none() {
        let skipped =
            |(gpu, _): &(&str, bool)| Case::skipped(named(gpu), lavapipe::LACKING.to_owned());
        return Ok(GPUS.iter().map(skipped).collect());
    }
    let folder = workspace.target_folder().join("eitri/random-scenes");
    let _ = std::fs::remove_dir_all(&folder);
    random_scenes::write(&folder, SEEDS)?;
    let scenes = read_scenes(&[folder], &ModelArguments::default(), None)?;
    let mut cases = Vec::new();
    for (gpu, optimised) in GPUS {
        let how = Run {
            gpu: gpu.parse::<GpuChoice>().map_err(Failure::refused)?,
            optimised: *optimised,
            ..how(Place::Host)
        };
        let mut wrong = Vec::new();
        draw::run(&scenes, &how, |scene, drawn| {
            match drawn.verdict {
                Verdict::Passed => {}
                Verdict::Failed(why) | Verdict::Skipped(why) => {
                    wrong.push(format!("{}: {why}", scene.file.name));
                }
            }
            Ok(())
        })?;
        let failure = (!wrong.is_empty()).then(|| wrong.join("\n"));
        cases.push(Case::ran(named(gpu), failure));
    }
    Ok(cases)
}
