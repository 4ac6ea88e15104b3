//! `eitri bench draw`: how fast the model draws, scene by scene, on one thread.
//!
//! A scene's time is all of its run on the host: bring-up of the GPU, the driver, and the model's work. Compilation is not in it.
//! With `--lavapipe` the same scenes are drawn by that driver on one thread: submission to end, once all is compiled.

use crate::commands::draw::{DrawError, read_scenes};
use crate::draw::ModelArguments;
use crate::draw::{Measured, Run, Verdict};
use crate::input::gpu_choice::GpuArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::dispatch::Place;
use crate::runs::lavapipe;
use crate::workspace::Workspace;
use eitri_draw_scenes::Scene;
use serde_json::json;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// Longest that one scene may take.
const LIMIT: Duration = Duration::from_secs(300);
/// Version of the JSON's shape.
const SCHEMA: u32 = 1;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scene files, or folders of them; shared/scenes beside the clone if none is given.
    #[arg(value_name = "SCENE.json|DIR")]
    scenes: Vec<PathBuf>,
    #[command(flatten)]
    gpu: GpuArgument,
    /// Only scenes whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Draw the scenes by lavapipe, too, on one thread; it must be installed.
    #[arg(long)]
    lavapipe: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The files of scenes, among those that paths lead to.
fn files_of(scenes: &[Scene], paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let found = eitri_draw_scenes::find(path);
        for file in found.map_err(|error| Failure::refused(DrawError::from(error)))? {
            let [scene] = &read_scenes(
                std::slice::from_ref(&file),
                &ModelArguments::default(),
                None,
            )?[..] else {
                continue;
            };
            let name = &scene.file.name;
            if scenes.iter().any(|wanted| wanted.file.name == *name) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

/// A measured scene.
struct Row {
    name: String,
    measured: Measured,
    /// Seconds that lavapipe takes.
    lavapipe: Option<f64>,
}

impl Row {
    fn a_second(&self, count: u64) -> f64 {
        count as f64 / self.measured.took.as_secs_f64().max(1e-9)
    }

    fn json(&self) -> serde_json::Value {
        let Measured { took, drawn } = &self.measured;
        json!({
            "name": self.name,
            "seconds": took.as_secs_f64(),
            "primitives": drawn.primitives,
            "pixels": drawn.pixels,
            "tiles": drawn.tiles,
            "lavapipe_seconds": self.lavapipe,
        })
    }

    fn print(&self) -> Result<(), Failure> {
        let Measured { took, drawn } = &self.measured;
        let against = self.lavapipe.map_or_else(String::new, |seconds| {
            let times = took.as_secs_f64() / seconds.max(1e-9);
            format!(" {:>9.2} ms by lavapipe {times:>7.1}x", seconds * 1e3)
        });
        outln!(
            "{:<28} {:>9.1} ms {:>8} primitives {:>9} pixels {:>10.0} primitives/s {:>11.0} pixels/s{against}",
            self.name,
            took.as_secs_f64() * 1e3,
            drawn.primitives,
            drawn.pixels,
            self.a_second(drawn.primitives),
            self.a_second(drawn.pixels),
        )
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let paths = match args.scenes.as_slice() {
        [] => vec![Workspace::find()?.root().join("../shared/scenes")],
        paths => paths.to_vec(),
    };
    let scenes = read_scenes(&paths, &ModelArguments::default(), args.filter.as_deref())?;
    let how = Run {
        place: Place::Host,
        gpu: args.gpu.choice(),
        optimised: false,
        limit: LIMIT,
        dump: false,
        jobs: NonZero::<usize>::MIN,
        check: false,
        timelines: None,
        pixel: None,
    };
    let by_lavapipe = match args.lavapipe {
        true => lavapipe::seconds(&["--draw"], &files_of(&scenes, &paths)?)?,
        false => BTreeMap::new(),
    };
    let mut rows = Vec::new();
    let mut failed = false;
    for scene in &scenes {
        let name = scene.file.name.clone();
        match how.measure(scene) {
            Ok(measured) => {
                let lavapipe = by_lavapipe.get(&name).copied();
                let row = Row {
                    name,
                    measured,
                    lavapipe,
                };
                if !args.json {
                    row.print()?;
                }
                rows.push(row);
            }
            Err(Verdict::Failed(why)) => {
                failed = true;
                eprint(&name, &why);
            }
            Err(Verdict::Skipped(why)) => eprint(&name, &why),
            Err(Verdict::Passed) => {}
        }
    }
    if args.json {
        let scenes: Vec<serde_json::Value> = rows.iter().map(Row::json).collect();
        outln!("{}", json!({"schema": SCHEMA, "scenes": scenes}))?;
    }
    Ok(match failed {
        false => Status::Good,
        true => Status::CheckFailed,
    })
}

fn eprint(name: &str, why: &str) {
    crate::output::streams::talk!("{name} is not measured: {why}");
}
