//! `eitri draw`: drawn scenes with known pictures, a verdict each; and glTF models.

use crate::draw::{self, Drawn, ModelArguments, PixelArgument, Run, Verdict, is_model};
use crate::images::boot_file::{self, Format};
use crate::images::prebuilt;
use crate::input::board_choice;
use crate::input::board_firmware;
use crate::input::check_arguments::{CheckArguments, Wanted};
use crate::input::gpu_choice::{GpuArgument, GpuChoice};
use crate::input::model_place::ModelArgument;
use crate::input::reorder_choice::ReorderArgument;
use crate::input::thread_choice::ThreadsArgument;
use crate::input::trace_option::TraceArgument;
use crate::outcome::{Failure, Status};
use crate::output::findings::{self, Sources};
use crate::output::png::{difference, rgba};
use crate::output::streams::{self, outln, talk};
use crate::output::whole_file;
use crate::progress;
use crate::reports::fidelity;
use crate::reports::timeline::Timelines;
use crate::results::{self, ResultOptions};
use crate::runs::checking;
use crate::runs::dispatch::Place;
use crate::runs::parallel;
use eitri_boards::qemu_virt::BOARD;
use eitri_checks::Finding;
use eitri_compute_cases::CaseError;
use eitri_draw_scenes::{Picture, Scene, SceneError, find};
use miette::Diagnostic;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scene files, or folders of them: every NAME/NAME.json below. Or glTF models, whose picture -o writes.
    #[arg(required = true, value_name = "SCENE.json|DIR|MODEL.glb")]
    scenes: Vec<PathBuf>,
    /// Where they are drawn.
    #[arg(long, value_enum, default_value_t = Place::Host)]
    on: Place,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    gpu: GpuArgument,
    #[command(flatten)]
    trace: TraceArgument,
    /// Take the optimised modules.
    #[arg(long)]
    opt: bool,
    /// Report for each scene how far it can be trusted: what is not exact by the facts, and what it has reached. On the host, some ten
    /// times slower.
    #[arg(long, conflicts_with = "image")]
    fidelity: bool,
    /// Print the history of a pixel of the framebuffer: which draws touch it, what each test says, and what is blended. On the host.
    #[arg(long, value_name = "X,Y", conflicts_with = "image")]
    pixel: Option<PixelArgument>,
    /// Draw only scenes whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Write what the scene draws as a picture: the first image that it expects. For one scene alone.
    #[arg(short, value_name = "FILE.png")]
    output: Option<String>,
    /// Scenes at once; as many as the machine has processors if not given. In QEMU always one, and checked are so many.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Longest that a scene may go on without progress, in seconds: 60 if not given. In QEMU, longest in all: 600 if not given.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: Option<u32>,
    #[command(flatten)]
    checks: CheckArguments,
    #[command(flatten)]
    threads: ThreadsArgument,
    #[command(flatten)]
    reorder: ReorderArgument,
    #[command(flatten)]
    results: ResultOptions,
    /// Leave what each failed scene has drawn in this folder, NAME-N.png and NAME-N.bin for its expectation N, and a core dump of
    /// the GPU if its commands failed: NAME.core.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Write an image that carries what is drawn, and run nothing here but on the model, to know what should come out. On the board it
    /// reports TAP on its console, with a checksum of each result; the word `rows` on its command line asks for the rows that differ.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "keep", "trace", "junit", "results"])]
    image: Option<String>,
    /// The board that the image is for.
    #[arg(long, value_name = "NAME", requires = "image", default_value = BOARD.name)]
    board: String,
    /// The form of the image's file; if not given, what the board's own boot loader takes.
    #[arg(long, value_enum, requires = "image")]
    format: Option<Format>,
    /// The firmware for the GPU of the image's board: a file, such as the vendor's mali_csffw.bin, or the stub, which runs on the
    /// model only. Every board but qemu-virt needs one of them.
    #[arg(long, value_name = "FILE|stub", requires = "image")]
    firmware: Option<String>,
    #[command(flatten)]
    models: ModelArguments,
}

impl Args {
    fn limit(&self) -> Duration {
        let usual = match self.on {
            Place::Host => 60,
            Place::Qemu => 600,
        };
        Duration::from_secs(self.timeout.unwrap_or(usual).into())
    }
}

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum DrawError {
    #[error(transparent)]
    Find(#[from] CaseError),
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error("no scene's name contains `{filter}`; there are {}", names.join(", "))]
    NoMatch { filter: String, names: Vec<String> },
    #[error("-o writes the picture of one scene, and there are {scenes}")]
    #[diagnostic(help("--keep DIR leaves the pictures of all that fail"))]
    OnePicture { scenes: usize },
    #[error("--trace is for scenes that are drawn on the host")]
    TraceInQemu,
    #[error("--fidelity is for scenes that are drawn on the host")]
    FidelityInQemu,
    #[error("--pixel is for scenes that are drawn on the host")]
    PixelInQemu,
    #[error("{name} has left no image that can be a picture")]
    NoPicture { name: String },
    #[error("{name} is not drawn: {why}")]
    NotDrawn { name: String, why: String },
}

/// The scenes below these paths whose name contains `filter`, and the models, drawn by these options.
pub(crate) fn read_scenes(
    paths: &[PathBuf],
    models: &ModelArguments,
    filter: Option<&str>,
) -> Result<Vec<Scene>, Failure> {
    if !paths.iter().any(|path| is_model(path)) {
        models.refuse_without_model()?;
    }
    let mut scenes = Vec::new();
    for path in paths {
        if is_model(path) {
            scenes.push(models.scene(path)?);
            continue;
        }
        let found = find(path).map_err(|error| Failure::refused(DrawError::from(error)))?;
        for file in found {
            let scene = Scene::read(&file);
            scenes.push(scene.map_err(|error| Failure::refused(DrawError::from(error)))?);
        }
    }
    if let Some(filter) = filter {
        let names = scenes
            .iter()
            .map(|scene: &Scene| scene.file.name.clone())
            .collect();
        scenes.retain(|scene| scene.file.name.contains(filter));
        if scenes.is_empty() {
            let filter = filter.to_owned();
            return Err(Failure::refused(DrawError::NoMatch { filter, names }));
        }
    }
    Ok(scenes)
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.model.choose(args.on)?;
    let scenes = read_scenes(&args.scenes, &args.models, args.filter.as_deref())?;
    let scenes = args.results.part(scenes);
    if args.output.is_some() && scenes.len() != 1 {
        let scenes = scenes.len();
        return Err(Failure::refused(DrawError::OnePicture { scenes }));
    }
    args.reorder.choose(args.on, args.fidelity)?;
    args.threads.choose();
    if let Some(path) = &args.image {
        return image(args, path, &scenes);
    }
    let timelines = Timelines::default();
    let trace = args.trace.path();
    refuse_in_qemu(args)?;
    let wanted = args.checks.wanted(Wanted::All);
    let how = Run {
        place: args.on,
        gpu: args.gpu.choice().following(args.fidelity),
        optimised: args.opt,
        limit: args.limit(),
        dump: args.keep.is_some(),
        jobs: args.jobs.unwrap_or_else(parallel::available),
        check: wanted != Wanted::Nothing,
        timelines: trace.map(|_| &timelines),
        pixel: args.pixel,
    };
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let progress = progress::count(scenes.len());
    let recorder = args
        .results
        .record("draw", &[("gpu", &how.gpu.to_string())]);
    let mut begun = Instant::now();
    let mut all_found: Vec<Finding> = vec![];
    draw::run(&scenes, &how, |scene, mut drawn| {
        let name = &scene.file.name;
        let found = std::mem::take(&mut drawn.checked.findings);
        let found = checking::wanted_of(found, &wanted);
        if let (Verdict::Passed, Some(error)) = (&drawn.verdict, checking::first_error(&found)) {
            drawn.verdict = Verdict::Failed(checking::line_of(error));
        }
        let (status, why) = match &drawn.verdict {
            Verdict::Passed => (results::Status::Pass, ""),
            Verdict::Failed(why) => (results::Status::Fail, why.as_str()),
            Verdict::Skipped(why) => (results::Status::Skip, why.as_str()),
        };
        // Since the one before: with several at once that is less than it took.
        let took = std::mem::replace(&mut begun, Instant::now()).elapsed();
        let mut case = results::Case::new(name, status, why).took(took.as_secs_f64());
        if args.results.shows_pictures() {
            case.pictures = shown(scene, &drawn)?;
        }
        recorder.add(case);
        if let Some(path) = &args.output {
            write_picture(path, scene, &drawn)?;
        }
        if let (Some(folder), Verdict::Failed(_)) = (&args.keep, &drawn.verdict) {
            keep(folder, scene, &drawn)?;
        }
        progress.done(name, || match &drawn.verdict {
            Verdict::Passed => {
                passed += 1;
                outln!("ok {name}")
            }
            Verdict::Failed(why) => {
                failed += 1;
                outln!("FAIL {name}: {why}")
            }
            Verdict::Skipped(why) => {
                skipped += 1;
                outln!("skipped {name}: {why}")
            }
        })?;
        if let Some(history) = &drawn.history {
            streams::put(format!("{name}: {history}").as_bytes())?;
        }
        show_checked(scene, &found, &drawn.checked.left_out);
        all_found.extend(found);
        if drawn.fidelity.is_on() {
            let on = (how.gpu.arch(), how.gpu.to_string());
            let report = fidelity::Report::new(&drawn.fidelity, on, None);
            streams::put(report.text(name).as_bytes())?;
        }
        Ok(())
    })?;
    drop(progress);
    if let Some(path) = trace {
        timelines.write(path)?;
    }
    recorder.finish()?;
    let paths: Vec<String> = args
        .scenes
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    findings::write_files(&args.checks, &paths.join(" "), &all_found)?;
    outln!("{passed} passed, {failed} failed, {skipped} skipped")?;
    Ok(match failed {
        0 => Status::Good,
        _ => Status::CheckFailed,
    })
}

/// Reports what checkers found in a scene, and what they left out.
fn show_checked(scene: &Scene, found: &[Finding], left_out: &[String]) {
    findings::show(found, &mut Sources::beside(&scene.path.to_string_lossy()));
    for why in left_out {
        talk!("{}: not checked: {why}", scene.file.name);
    }
}

/// Refuses what only scenes that are drawn on the host have.
fn refuse_in_qemu(args: &Args) -> Result<(), Failure> {
    if args.on != Place::Qemu {
        return Ok(());
    }
    if args.trace.path().is_some() {
        return Err(Failure::refused(DrawError::TraceInQemu));
    }
    if args.fidelity {
        return Err(Failure::refused(DrawError::FidelityInQemu));
    }
    if args.pixel.is_some() {
        return Err(Failure::refused(DrawError::PixelInQemu));
    }
    Ok(())
}

/// Writes the image that carries the scenes.
fn image(args: &Args, path: &str, scenes: &[Scene]) -> Result<Status, Failure> {
    let board = board_choice::named(&args.board)?;
    let firmware = board_firmware::for_board(board, args.firmware.as_deref())?;
    let how = Run {
        place: Place::Host,
        // What an image draws is compiled for the GPU of its board.
        gpu: GpuChoice::of_board(board).unwrap_or(args.gpu.choice()),
        optimised: args.opt,
        limit: args.limit(),
        dump: false,
        jobs: args.jobs.unwrap_or_else(parallel::available),
        check: false,
        timelines: None,
        pixel: None,
    };
    let suite = draw::suite(scenes, &how, &firmware, |name, why| {
        talk!("left out of the image: {name}: {why}");
    })?;
    let built = prebuilt::drawings(Some(board), &suite, false)?;
    boot_file::write(path, &built, board, args.format)?;
    Ok(Status::Good)
}

/// The pictures of a scene's results, with the numbers of their expectations.
fn pictures<'p>(scene: &'p Scene, drawn: &'p Drawn) -> impl Iterator<Item = (usize, Picture)> + 'p {
    let pairs = scene.expect.iter().zip(&drawn.results).enumerate();
    pairs.filter_map(|(number, (expectation, got))| Some((number, expectation.picture(got)?)))
}

/// What a page shows of a scene: what was drawn, and where that is not good what was expected and where both differ.
fn shown(scene: &Scene, drawn: &Drawn) -> Result<Vec<results::Picture>, Failure> {
    let mut all = vec![];
    for (number, got) in pictures(scene, drawn) {
        let mut show = |what: &str, picture: &Picture| -> Result<(), Failure> {
            let name = format!("{what} {number}");
            let png = png(picture)?;
            all.push(results::Picture { name, png });
            Ok(())
        };
        let expectation = &scene.expect[number];
        show(
            &format!("drawn (allowed: {})", expectation.comparison),
            &got,
        )?;
        let expected = expectation
            .contents()
            .and_then(|contents| expectation.picture(contents))
            .filter(|it| (it.width, it.height) == (got.width, got.height));
        if let (Some(expected), Verdict::Failed(_)) = (expected, &drawn.verdict) {
            show("expected", &expected)?;
            let off = Picture {
                pixels: difference(&got.pixels, &expected.pixels, 8),
                ..got
            };
            show("difference, eight times", &off)?;
        }
    }
    Ok(all)
}

fn write_picture(path: &str, scene: &Scene, drawn: &Drawn) -> Result<(), Failure> {
    let Some((_, picture)) = pictures(scene, drawn).next() else {
        let name = scene.file.name.clone();
        return match &drawn.verdict {
            // One that failed says so on its own line.
            Verdict::Failed(_) if drawn.results.is_empty() => Ok(()),
            Verdict::Skipped(why) => {
                let why = why.clone();
                Err(Failure::refused(DrawError::NotDrawn { name, why }))
            }
            _ => Err(Failure::refused(DrawError::NoPicture { name })),
        };
    };
    whole_file::write(path, &png(&picture)?)
}

fn keep(folder: &Path, scene: &Scene, drawn: &Drawn) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|cause| Failure::unwritable(folder, cause))?;
    let name = &scene.file.name;
    for (number, bytes) in drawn.results.iter().enumerate() {
        whole_file::put(&folder.join(format!("{name}-{number}.bin")), bytes)?;
    }
    for (number, picture) in pictures(scene, drawn) {
        whole_file::put(
            &folder.join(format!("{name}-{number}.png")),
            &png(&picture)?,
        )?;
    }
    if !drawn.dump.is_empty() {
        whole_file::put(&folder.join(format!("{name}.core")), &drawn.dump)?;
    }
    Ok(())
}

fn png(picture: &Picture) -> Result<Vec<u8>, Failure> {
    rgba(picture.width, picture.height, &picture.pixels)
}
