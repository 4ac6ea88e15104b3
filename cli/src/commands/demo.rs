//! `eitri demo`: the whole path once, with a picture at its end.

use crate::input::given::Given;
use crate::input::gpu_choice::GpuChoice;
use crate::input::model_place::ModelArgument;
use crate::input::shader_file::{self, Shader};
use crate::outcome::{Failure, FileError, Status};
use crate::output::png::rgba;
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::runs::demo::drawn::{self, DrawnDemo};
use crate::runs::demo::{self, Checked, Demo, Difference, Picture};
use crate::runs::dispatch::{self, Done, Place, Ran, Request, Talk};
use crate::runs::drawings;
use crate::runs::known_lines::KnownLines;
use crate::runs::qemu::Setting;
use crate::runs::screen::Screen;
use crate::workspace::Workspace;
use eitri_drawing::Drawing;
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
    #[command(flatten)]
    model: ModelArgument,
    /// Open QEMU's window with a cube that turns, drawn on bare metal, until it is closed. Nothing else is done.
    #[arg(long, conflicts_with = "on")]
    show: bool,
}

#[derive(Debug, Error, Diagnostic)]
enum DemoError {
    #[error("{failed} of {all} demos gave something else than a CPU does")]
    #[diagnostic(help("`cargo eitri demo --on host` runs the same without QEMU"))]
    WrongResults { failed: usize, all: usize },
    #[error("{name} could not be drawn: {why}")]
    NotDrawn { name: &'static str, why: String },
    #[error("{name}: {errors}")]
    Compile {
        name: &'static str,
        errors: eitri_shaderc::Errors,
    },
}

/// Longest that a demo shader may take: far more than it needs, even on a slow machine.
const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.model.choose(args.on)?;
    if args.show {
        return show();
    }
    let picture = Picture::WHOLE_SET;
    let demos = demo::all(&picture);
    let mut outcomes = Vec::new();
    let mut steps = Vec::new();
    let mut painted = None;
    for demo in &demos {
        let ran = run_one(demo, args.on)?;
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
    let mut failed = print_results(&outcomes)?;
    let mut pictures = Vec::new();
    pictures.extend(
        picture
            .png(&painted.unwrap_or_default())
            .map(|png| ("mandelbrot", png)),
    );
    let drawn = drawn::all();
    for (demo, pixels) in drawn.iter().zip(draw(&drawn, args.on)?) {
        let result = match demo.check(&pixels) {
            Ok(same) => format!("ok: {same} pixels as on a CPU"),
            Err(difference) => {
                failed += 1;
                format!("WRONG: {difference}")
            }
        };
        outln!("{:<16} {:<50} {result}", demo.name, demo.what)?;
        pictures.push((demo.name, rgba(demo.side(), demo.side(), &pixels)?));
    }
    let folder = match Workspace::find() {
        Ok(workspace) => workspace.target_folder().join("demo"),
        Err(_) => std::env::temp_dir().join("eitri-demo"),
    };
    std::fs::create_dir_all(&folder)
        .map_err(|cause| Failure::missing(FileError::at("make the folder", &folder, cause)))?;
    outln!("")?;
    for (name, png) in pictures {
        let path = folder.join(format!("{name}.png"));
        whole_file::put(&path, &png)?;
        outln!("picture: {}", path.display())?;
    }
    match failed {
        0 => Ok(Status::Good),
        failed => Err(Failure::check(DemoError::WrongResults {
            failed,
            all: demos.len() + drawn.len(),
        })),
    }
}

/// The programs of a drawn demo's two shaders.
pub(crate) fn programs(demo: &DrawnDemo) -> Result<[Vec<u8>; 2], Failure> {
    let load = |stage: &str| shader(&format!("{}.{stage}", demo.name));
    let (vertex, fragment) = (load("vert")?, load("frag")?);
    let options = Options::default();
    let sources = (
        (&*vertex.spirv, &options),
        Some((&*fragment.spirv, &options)),
    );
    let compiled = eitri_shaderc::compile_graphics(sources.0, sources.1).map_err(|errors| {
        let name = demo.name;
        Failure::refused(DemoError::Compile { name, errors })
    })?;
    let fragment = compiled.fragment.map(|stage| stage.program);
    Ok([compiled.vertex.program, fragment.unwrap_or_default()])
}

/// Draws demos; gives the pixels of each.
fn draw(demos: &[DrawnDemo], place: Place) -> Result<Vec<Vec<u8>>, Failure> {
    let programs = demos.iter().map(programs);
    let programs = programs.collect::<Result<Vec<_>, _>>()?;
    let pairs = demos.iter().zip(&programs);
    let drawings: Vec<Drawing<'_>> = pairs
        .map(|(demo, [vertex, fragment])| demo.drawing([vertex, fragment]))
        .collect();
    let gpu = GpuChoice::default();
    let done: Vec<Result<Done, String>> = match place {
        Place::Host => {
            let drawings = drawings.iter();
            let alone = |it| drawings::on_host(it, gpu, LIMIT, KnownLines::default(), None);
            let done = drawings.map(|it| alone(it).map(Ok));
            done.collect::<Result<_, _>>()?
        }
        Place::Qemu => drawings::in_qemu(&drawings, gpu, LIMIT)?,
    };
    let pixels = demos.iter().zip(done).map(|(demo, done)| {
        let why = match done {
            Ok(Done {
                result, diagnoses, ..
            }) => match (result.failure, diagnoses.first()) {
                (Some(failure), _) => failure.text,
                (None, Some(diagnosis)) => diagnosis.clone(),
                (None, None) => {
                    let picture = result.buffers.into_iter().next();
                    return Ok(picture.map_or(Vec::new(), |it| it.bytes));
                }
            },
            Err(why) => why,
        };
        let name = demo.name;
        Err(Failure::check(DemoError::NotDrawn { name, why }))
    });
    pixels.collect()
}

/// Opens a window with the demo that turns.
fn show() -> Result<Status, Failure> {
    let screen = Screen::window()?;
    let demo = drawn::turning();
    let [vertex, fragment] = programs(&demo)?;
    let setting = Setting {
        gpu: GpuChoice::default(),
        limit: LIMIT,
        talk: Talk::Quiet,
        words: &[],
    };
    drawings::show(&demo.drawing([&vertex, &fragment]), &screen, &setting)?;
    Ok(Status::Good)
}

/// A shader of the demos, from inside of this command.
fn shader(file: &str) -> Result<Shader, Failure> {
    let folder = tempfile::tempdir();
    let folder = folder.map_err(|cause| Failure::unwritable(std::env::temp_dir(), cause))?;
    let path = folder.path().join(file);
    whole_file::put(&path, demo::source(file).as_bytes())?;
    shader_file::load(&path.to_string_lossy())
}

fn run_one(demo: &Demo, place: Place) -> Result<Ran, Failure> {
    let shader = shader(demo.file)?;
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
