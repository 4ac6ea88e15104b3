//! `eitri amber`: scripts in the Amber language, run on Eitri.

use crate::amber::case::{self, Manner};
use crate::amber::expectations::Expectations;
use crate::amber::outputs::OutputArguments;
use crate::amber::report::{self, Checks, Form};
use crate::amber::results::Left;
use crate::amber::scripts::{self, ScriptFile};
use crate::amber::verdict::Verdict;
use crate::amber::workers::{self, Limits, Outcome};
use crate::amber::{source, suite};
use crate::images::boot_file::{self, Format};
use crate::images::prebuilt;
use crate::input::board_choice;
use crate::input::board_firmware;
use crate::input::check_arguments::Wanted;
use crate::input::gpu_choice::{GpuArgument, GpuChoice};
use crate::input::model_place::ModelArgument;
use crate::input::reorder_choice::ReorderArgument;
use crate::input::thread_choice::ThreadsArgument;
use crate::input::trace_option::TraceArgument;
use crate::outcome::{Failure, FileError, Status};
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::progress;
use crate::reports::timeline::Timelines;
use crate::results::{Picture, Recorder, ResultOptions};
use crate::runs::dispatch::Place;
use crate::runs::parallel;
use eitri_amber::Word;
use eitri_amber::script::TargetEnvironment;
use eitri_amber_device::{Case, Content};
use eitri_boards::qemu_virt::BOARD;
use eitri_launch::tools::{self, Tool};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scripts, and folders that are searched for them.
    #[arg(required = true, value_name = "FILE|DIR")]
    paths: Vec<String>,
    /// Only read the scripts, and say what is wrong with them.
    #[arg(long, short)]
    parse_only: bool,
    /// Compile every pipeline, and run nothing.
    #[arg(long, short = 's')]
    pipelines_only: bool,
    /// Print failures and the last line only.
    #[arg(long, short)]
    quiet: bool,
    /// Longest that a submission may take, in milliseconds, whatever the script says.
    #[arg(long, short, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    fence_timeout: Option<u32>,
    /// The environment of shaders that name none, such as spv1.3.
    #[arg(long, short, value_name = "ENV", value_parser = target)]
    target_env: Option<TargetEnvironment>,
    /// Where jobs run.
    #[arg(long, value_enum, default_value_t = Place::Host)]
    on: Place,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    gpu: GpuArgument,
    #[command(flatten)]
    trace: TraceArgument,
    /// Scripts at once; as many as the machine has cores, if not given.
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Only scripts whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print the names of the scripts, and run nothing.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    list: Option<ListForm>,
    /// Longest that a script may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86400))]
    timeout: u32,
    /// Most memory that a script may have, in MiB of address space.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(256..))]
    memory: u32,
    /// Print results in the Test Anything Protocol.
    #[arg(long, conflicts_with = "quiet")]
    tap: bool,
    /// What checkers report of compute dispatches: `none`, `errors`, `all`, or rules by name, separated by commas (docs/checks.md
    /// lists them). A script of which something is reported has failed. Without this, errors are printed, and what a script expects
    /// decides.
    #[arg(long, value_name = "none|errors|all|LIST")]
    check: Option<Wanted>,
    #[command(flatten)]
    threads: ThreadsArgument,
    #[command(flatten)]
    reorder: ReorderArgument,
    #[command(flatten)]
    results: ResultOptions,
    /// Failures that are known: NAME,STATUS lines. They don't fail the run; one that passes does.
    #[arg(long, value_name = "FILE")]
    baseline: Option<String>,
    /// Scripts that fail now and then: a regular expression a line.
    #[arg(long, value_name = "FILE")]
    flakes: Option<String>,
    /// Scripts that are not to be run: a regular expression a line.
    #[arg(long, value_name = "FILE")]
    skips: Option<String>,
    /// Write results.csv, failures.csv and a log a script here.
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write a page of what passes, fails and is skipped for which reason.
    #[arg(long, value_name = "FILE")]
    status: Option<String>,
    /// Keep modules, programs, listings, inputs, outputs, core dumps and pictures of differences here, a folder a script.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    outputs: OutputArguments,
    /// Write an image that carries the scripts and reports TAP on its console, and run nothing here.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tap", "junit", "results", "status", "output", "pipelines_only"])]
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
    /// Run the one script in this process, and write its verdict here.
    #[arg(long, hide = true, value_name = "FILE")]
    worker: Option<String>,
    /// Compile the one script for an image, and write it here.
    #[arg(long, hide = true, value_name = "FILE", requires = "worker")]
    case: Option<String>,
}

fn target(text: &str) -> Result<TargetEnvironment, String> {
    TargetEnvironment::from_text(text)
        .ok_or_else(|| format!("write one of {}", TargetEnvironment::choices()))
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.model.choose(args.on)?;
    args.reorder.choose(args.on, false)?;
    args.threads.choose();
    // An image's scripts are compiled for the GPU of its board.
    let gpu = match args.image {
        Some(_) => GpuChoice::of_board(board_choice::named(&args.board)?),
        None => None,
    };
    // A page shows the pictures that failing scripts have left.
    let pictures = match (args.results.shows_pictures(), &args.keep) {
        (true, None) => Some(tempfile::tempdir().map_err(|cause| {
            Failure::refused(FileError::at("create", "a temporary folder", cause))
        })?),
        _ => None,
    };
    let kept = args.keep.clone();
    let kept = kept.or_else(|| pictures.as_ref().map(|folder| folder.path().to_owned()));
    let manner = Manner {
        fence_timeout: args
            .fence_timeout
            .map(|limit| Duration::from_millis(limit.into())),
        target: args.target_env,
        place: args.on,
        gpu: gpu.unwrap_or(args.gpu.choice()),
        pipelines_only: args.pipelines_only,
        keep: kept.clone(),
        outputs: args.outputs.clone(),
        check: args.check.clone(),
        lines: false,
    };
    let trace = args.trace.path();
    let timelines = Timelines::default();
    if let (Some(verdict), [script]) = (&args.worker, &args.paths[..]) {
        let traced = trace.map(|_| &timelines);
        let found = match &args.case {
            Some(path) => prepare(script, &manner, path)?,
            None => case::run(script.as_ref(), &manner, traced),
        };
        if let Some(path) = trace {
            timelines.write(path)?;
        }
        whole_file::write(verdict, found.to_json().as_bytes())?;
        return Ok(Status::Good);
    }
    let chosen = scripts::choose(&args.paths, args.filter.as_deref(), args.results.shard())?;
    if let Some(form) = args.list {
        let rows: Vec<Row> = chosen
            .iter()
            .map(|script| Row::named(script.name.as_str()))
            .collect();
        list::print(form, "scripts", &rows, |row| row.name.clone())?;
        return Ok(Status::Good);
    }
    args.outputs.check(chosen.len())?;
    let lists = [&args.baseline, &args.flakes, &args.skips].map(Option::as_deref);
    let expectations = Expectations::read(lists[0], lists[1], lists[2])?;
    if args.filter.is_none() && args.results.shard().is_none() {
        let names: Vec<&str> = chosen.iter().map(|script| &script.name[..]).collect();
        for name in expectations.missing(&names) {
            talk!("warning: the baseline names {name}, and there is no such script");
        }
    }
    if let Some(path) = &args.image {
        return image(args, path, &chosen, (&manner, &expectations));
    }
    let form = match (args.tap, args.quiet) {
        (true, _) => Form::Tap,
        (_, true) => Form::Quiet,
        _ => Form::Lines,
    };
    report::start(form, chosen.len())?;
    let recorder = args
        .results
        .record("amber", &[("gpu", &manner.gpu.to_string())]);
    let checks = match manner.check {
        None => Checks::Usual,
        Some(_) => Checks::Wanted,
    };
    let left = Left::new(args.output.clone(), args.status.clone());
    let tell = Tell {
        form,
        checks,
        recorder: &recorder,
        left: &left,
        pictures: kept.as_deref().filter(|_| args.results.shows_pictures()),
    };
    let outcomes = match args.parse_only && !args.pipelines_only {
        true => read(&chosen, &tell)?,
        false => {
            let timelines = trace.map(|_| &timelines);
            carry_out(args, &chosen, &manner, (&expectations, timelines), &tell)?
        }
    };
    if let Some(path) = trace {
        timelines.write(path)?;
    }
    recorder.finish()?;
    left.finish()?;
    report::end(form, checks, &outcomes)?;
    Ok(
        match outcomes.iter().any(|outcome| outcome.verdict.failed()) {
            true => Status::CheckFailed,
            false => Status::Good,
        },
    )
}

/// Where the outcome of each script goes.
struct Tell<'r> {
    form: Form,
    checks: Checks,
    recorder: &'r Recorder,
    left: &'r Left,
    /// Where scripts keep their things, if what failed is shown.
    pictures: Option<&'r Path>,
}

impl Tell<'_> {
    fn one(&self, number: usize, outcome: &Outcome) -> Result<(), Failure> {
        let mut case = outcome.case();
        if let (true, Some(kept)) = (case.status.is_bad(), self.pictures) {
            case.pictures = pictures(&kept.join(outcome.script.place()))?;
        }
        self.recorder.add(case);
        self.left.add(number, outcome);
        report::one(self.form, self.checks, number, outcome)
    }
}

/// The pictures in a folder, by name.
fn pictures(folder: &Path) -> Result<Vec<Picture>, Failure> {
    // A script that failed early has none, nor a folder.
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|it| it == "png"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default();
            let name = name.to_string_lossy().into_owned();
            let png = std::fs::read(path).map_err(|cause| Failure::unreadable(path, cause))?;
            Ok(Picture { name, png })
        })
        .collect()
}

/// Reads scripts: in this process, since reading can't fail but with an error. What is wrong is shown in its place.
fn read(chosen: &[ScriptFile], tell: &Tell<'_>) -> Result<Vec<Outcome>, Failure> {
    let mut outcomes = Vec::new();
    for script in chosen {
        let started = std::time::Instant::now();
        let verdict = match source::load(&script.path) {
            Ok(_) => Verdict::Pass,
            Err(error) => {
                let text = error.to_string();
                if !script.must_fail() {
                    talk!("{:?}", miette::Report::new_boxed(error));
                }
                Verdict::Fail(text)
            }
        };
        let verdict = match verdict {
            // One that must fail may do so later.
            Verdict::Fail(_) if script.must_fail() => Verdict::Pass,
            other => other,
        };
        let outcome = Outcome {
            script: script.clone(),
            verdict,
            took: started.elapsed(),
            output: String::new(),
        };
        tell.one(outcomes.len() + 1, &outcome)?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn carry_out(
    args: &Args,
    chosen: &[ScriptFile],
    manner: &Manner,
    (expectations, timelines): (&Expectations, Option<&Timelines>),
    tell: &Tell<'_>,
) -> Result<Vec<Outcome>, Failure> {
    tools::ensure_programs(&[Tool::Glslang, Tool::SpirvAs])?;
    let limits = limits(args);
    let mut number = 0;
    // What is wanted of each dispatch needs an image for each.
    let all_there = manner.keep.is_some() || manner.outputs.any() || timelines.is_some();
    let one_image = !all_there && !manner.pipelines_only;
    if manner.place == Place::Qemu && one_image {
        let cases = compile(chosen, (manner, expectations), &limits)?;
        let setting = (manner.gpu, &limits);
        return suite::run_in_qemu(chosen, &cases, setting, expectations, |outcome| {
            number += 1;
            tell.one(number, outcome)
        });
    }
    let count = progress::count(chosen.len());
    workers::run(
        chosen,
        manner,
        &limits,
        expectations,
        timelines,
        |outcome| {
            number += 1;
            count.done(&outcome.script.name, || tell.one(number, outcome))
        },
    )
}

fn limits(args: &Args) -> Limits {
    Limits {
        jobs: args.jobs.unwrap_or_else(parallel::available),
        time: Duration::from_secs(args.timeout.into()),
        memory: args.memory.into(),
    }
}

/// Compiles the scripts, for an image.
fn compile(
    chosen: &[ScriptFile],
    (manner, expectations): (&Manner, &Expectations),
    limits: &Limits,
) -> Result<Vec<Case>, Failure> {
    let count = progress::count(chosen.len());
    workers::prepare(chosen, manner, limits, expectations, |script| {
        count.done(&script.name, || Ok(()))
    })
}

/// Compiles one script for an image: what a worker does.
fn prepare(script: &str, manner: &Manner, path: &str) -> Result<Verdict, Failure> {
    match case::prepare(script.as_ref(), manner) {
        Ok(compiled) => {
            let case = Case {
                name: script.to_owned(),
                must_fail: false,
                content: Content::Script(Box::new(compiled)),
            };
            suite::write_case(path, &case)?;
            Ok(Verdict::Pass)
        }
        Err(verdict) => Ok(verdict),
    }
}

/// Writes the image that carries the scripts.
fn image(
    args: &Args,
    path: &str,
    chosen: &[ScriptFile],
    (manner, expectations): (&Manner, &Expectations),
) -> Result<Status, Failure> {
    let board = board_choice::named(&args.board)?;
    let firmware = board_firmware::for_board(board, args.firmware.as_deref())?;
    tools::ensure_programs(&[Tool::Glslang, Tool::SpirvAs])?;
    let cases = compile(chosen, (manner, expectations), &limits(args))?;
    let built = prebuilt::suite(Some(board), &suite::bytes(&cases, Some(firmware))?)?;
    boot_file::write(path, &built, board, args.format)?;
    Ok(Status::Good)
}
