//! `eitri amber`: scripts in the Amber language, run on Eitri.

use crate::amber::case::{self, Manner};
use crate::amber::expectations::Expectations;
use crate::amber::report::{self, Form};
use crate::amber::scripts::{self, ScriptFile, Shard};
use crate::amber::verdict::Verdict;
use crate::amber::workers::{self, Limits, Outcome};
use crate::amber::{junit, results, source, status};
use crate::dispatch::Place;
use crate::gpu_choice::GpuArgument;
use crate::outcome::{Failure, Status};
use crate::parallel;
use crate::progress;
use crate::streams::{outln, talk};
use crate::timeline::Timelines;
use crate::trace_option::TraceArgument;
use crate::whole_file;
use crate::workspace::Workspace;
use eitri_amber::Word;
use eitri_amber::script::TargetEnvironment;
use eitri_launch::tools::{self, Tool};
use std::num::NonZero;
use std::path::PathBuf;
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
    gpu: GpuArgument,
    #[command(flatten)]
    trace: TraceArgument,
    /// Scripts at once; as many as the machine has cores, if not given.
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Every N-th script only, from the K-th on: for N machines, whose JUnit files are merged.
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Only scripts whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Print the names of the scripts, and run nothing.
    #[arg(long)]
    list: bool,
    /// Longest that a script may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86400))]
    timeout: u32,
    /// Most memory that a script may have, in MiB of address space.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(256..))]
    memory: u32,
    /// Print results in the Test Anything Protocol.
    #[arg(long, conflicts_with = "quiet")]
    tap: bool,
    /// Write results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
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
    /// Keep modules, programs, listings, inputs, outputs and pictures of differences here, a folder a script.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Run the one script in this process, and write its verdict here.
    #[arg(long, hide = true, value_name = "FILE")]
    worker: Option<String>,
}

fn target(text: &str) -> Result<TargetEnvironment, String> {
    TargetEnvironment::from_text(text)
        .ok_or_else(|| format!("write one of {}", TargetEnvironment::choices()))
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let manner = Manner {
        fence_timeout: args
            .fence_timeout
            .map(|limit| Duration::from_millis(limit.into())),
        target: args.target_env,
        place: args.on,
        gpu: args.gpu.choice(),
        pipelines_only: args.pipelines_only,
        keep: args.keep.clone(),
    };
    let trace = args.trace.path();
    let timelines = Timelines::default();
    if let (Some(verdict), [script]) = (&args.worker, &args.paths[..]) {
        let traced = trace.map(|_| &timelines);
        let found = case::run(script.as_ref(), &manner, traced);
        if let Some(path) = trace {
            timelines.write(path)?;
        }
        whole_file::write(verdict, found.to_json().as_bytes())?;
        return Ok(Status::Good);
    }
    let chosen = scripts::choose(&args.paths, args.filter.as_deref(), args.shard)?;
    if args.list {
        chosen
            .iter()
            .try_for_each(|script| outln!("{}", script.name))?;
        return Ok(Status::Good);
    }
    let lists = [&args.baseline, &args.flakes, &args.skips].map(Option::as_deref);
    let expectations = Expectations::read(lists[0], lists[1], lists[2])?;
    if args.filter.is_none() && args.shard.is_none() {
        let names: Vec<&str> = chosen.iter().map(|script| &script.name[..]).collect();
        for name in expectations.missing(&names) {
            talk!("warning: the baseline names {name}, and there is no such script");
        }
    }
    let form = match (args.tap, args.quiet) {
        (true, _) => Form::Tap,
        (_, true) => Form::Quiet,
        _ => Form::Lines,
    };
    report::start(form, chosen.len())?;
    let outcomes = match args.parse_only && !args.pipelines_only {
        true => read(&chosen, form)?,
        false => {
            let timelines = trace.map(|_| &timelines);
            carry_out(args, &chosen, &manner, (&expectations, timelines), form)?
        }
    };
    if let Some(path) = trace {
        timelines.write(path)?;
    }
    if let Some(path) = &args.junit {
        whole_file::write(path, junit::document(&outcomes).as_bytes())?;
    }
    if let Some(path) = &args.status {
        whole_file::write(path, status::page(&outcomes).as_bytes())?;
    }
    if let Some(folder) = &args.output {
        results::write(folder, &outcomes)?;
    }
    report::end(form, &outcomes)?;
    Ok(
        match outcomes.iter().any(|outcome| outcome.verdict.failed()) {
            true => Status::CheckFailed,
            false => Status::Good,
        },
    )
}

/// Reads scripts: in this process, since reading can't fail but with an error. What is wrong is shown in its place.
fn read(chosen: &[ScriptFile], form: Form) -> Result<Vec<Outcome>, Failure> {
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
        report::one(form, outcomes.len() + 1, &outcome)?;
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn carry_out(
    args: &Args,
    chosen: &[ScriptFile],
    manner: &Manner,
    (expectations, timelines): (&Expectations, Option<&Timelines>),
    form: Form,
) -> Result<Vec<Outcome>, Failure> {
    tools::ensure(&Workspace::find()?, &[Tool::Glslang, Tool::SpirvAs])?;
    let limits = Limits {
        jobs: args.jobs.unwrap_or_else(parallel::available),
        time: Duration::from_secs(args.timeout.into()),
        memory: args.memory.into(),
    };
    let count = progress::count(chosen.len());
    let mut number = 0;
    workers::run(
        chosen,
        manner,
        &limits,
        expectations,
        timelines,
        |outcome| {
            number += 1;
            count.done(&outcome.script.name, || report::one(form, number, outcome))
        },
    )
}
