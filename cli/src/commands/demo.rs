//! `eitri demo`: the whole path once, with a picture at its end.

use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::input::shader_file;
use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::demo::{self, Checked, Demo, Difference, Picture};
use crate::runs::dispatch::{self, Place, Ran, Request, Talk};
use crate::workspace::Workspace;
use eitri_job::Wants;
use eitri_shaderc::Options;
use miette::Diagnostic;
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the shaders run.
    #[arg(long, value_enum, default_value_t = Place::Qemu)]
    on: Place,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{failed} of {all} demo shaders wrote something else than a CPU does")]
#[diagnostic(help("`cargo eitri demo --on host` runs the same without QEMU"))]
struct WrongResults {
    failed: usize,
    all: usize,
}

/// Longest that a demo shader may take: far more than it needs, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let workspace = Workspace::find()?;
    let picture = Picture::WHOLE_SET;
    let demos = demo::all(&picture);
    let mut outcomes = Vec::new();
    let mut steps = Vec::new();
    let mut painted = None;
    for demo in &demos {
        let ran = run_one(&workspace, demo, args.on)?;
        let written = ran.saved.first().map_or(&[][..], |(_, bytes)| bytes);
        outcomes.push((demo, demo.check(written)));
        painted = Some(written.to_vec());
        // Every boot takes the same steps: those of the first are shown.
        if steps.is_empty() {
            steps = ran.steps;
        }
    }
    outln!("step                            ms  found")?;
    for step in &steps {
        let milliseconds = step.microseconds as f64 / 1000.0;
        outln!("{:<30} {milliseconds:>6.2}  {}", step.name, step.found)?;
    }
    outln!("")?;
    let failed = print_results(&outcomes)?;
    let folder = workspace.target_folder().join("demo");
    let path = folder.join("mandelbrot.png");
    let path = path.to_string_lossy();
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure::missing(FileError::at("make the folder of", &*path, cause)))?;
    if let Some(png) = picture.png(&painted.unwrap_or_default()) {
        whole_file::write(&path, &png)?;
        outln!("\npicture: {path}")?;
    }
    match failed {
        0 => Ok(Status::Good),
        failed => Err(Failure::check(WrongResults {
            failed,
            all: demos.len(),
        })),
    }
}

fn run_one(workspace: &Workspace, demo: &Demo, place: Place) -> Result<Ran, Failure> {
    let path = workspace.root().join("cli/demo").join(demo.file);
    let shader = shader_file::load(&path.to_string_lossy())?;
    let compiled = dispatch::compile(&shader, &Options::default())?;
    dispatch::run(demo.file, &compiled, &request(demo), place)
}

/// What `eitri run` would be asked for this demo.
pub(crate) fn request(demo: &Demo) -> Request {
    Request {
        resources: demo
            .buffers
            .iter()
            .map(|(name, bytes)| Given::buffer(*name, bytes.clone()))
            .collect(),
        push_constants: demo.push_constants.clone(),
        groups: demo.groups,
        saves: vec![demo.output],
        gpu: GpuChoice::default(),
        coherent: true,
        firmware: None,
        limit: LIMIT,
        wants: Wants::default(),
        talk: Talk::Quiet,
    }
}

/// Prints a line a shader, and gives the number of wrong ones.
fn print_results(outcomes: &[(&Demo, Result<Checked, Difference>)]) -> Result<usize, Failure> {
    outln!("shader           what                                               result")?;
    for (demo, outcome) in outcomes {
        let result = match outcome {
            Ok(checked) => format!("ok: {} words as on a CPU", checked.words),
            Err(difference) => format!("WRONG: {difference}"),
        };
        outln!("{:<16} {:<50} {result}", demo.file, demo.what)?;
    }
    let wrong = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    Ok(wrong.count())
}
