//! `eitri kernel`: compute kernels with known inputs and outputs, a verdict each.

use crate::input::check_arguments::{CodeCheckArgument, Wanted};
use crate::input::gpu_choice::{self, GpuArgument};
use crate::input::model_place::ModelArgument;
use crate::input::reorder_choice::ReorderArgument;
use crate::input::thread_choice::ThreadsArgument;
use crate::input::trace_option::TraceArgument;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln};
use crate::progress;
use crate::reports::fidelity;
use crate::reports::timeline::Timelines;
use crate::results::{self, ResultOptions};
use crate::runs::case_run::{self, Passed, Setting, Verdict};
use crate::runs::dispatch::Place;
use crate::runs::ir3_case;
use crate::runs::parallel;
use eitri_compute_cases::{Case, CaseError, Module, find};
use eitri_shaderc::{Machine, Robust, Target};
use miette::Diagnostic;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Case files, or folders of them: every NAME/NAME.json below.
    #[arg(required = true, value_name = "FILE.json|DIR")]
    cases: Vec<PathBuf>,
    /// Where the jobs run.
    #[arg(long, value_enum, default_value_t = Place::Host)]
    on: Place,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    gpu: GpuArgument,
    #[command(flatten)]
    trace: TraceArgument,
    /// Compile for an Adreno, such as a6xx or a650, and run the interpreter of its instructions, which faults on results that are
    /// read too early.
    #[arg(long, value_name = "MACHINE", conflicts_with_all = ["on", "model", "gpu", "trace", "keep", "timeout"])]
    target: Option<String>,
    /// With --target: so many orders of waves and workgroups, of which hardware promises nothing, each bent by a seed.
    #[arg(long, value_name = "N", requires = "target", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    orders: u64,
    /// Take the optimised module of each kernel.
    #[arg(long)]
    opt: bool,
    /// Run only kernels whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Kernels at once; as many as the machine has processors if not given. In QEMU always one.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Longest that one job may go on without progress, in seconds; in QEMU, longest in all.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
    #[command(flatten)]
    threads: ThreadsArgument,
    #[command(flatten)]
    reorder: ReorderArgument,
    #[command(flatten)]
    results: ResultOptions,
    /// Leave a core dump of the GPU in this folder for each job that fails: NAME.core.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Report for each kernel how far its outputs can be trusted: what is not exact by the facts, and what it has reached. On the host,
    /// some ten times slower.
    #[arg(long, conflicts_with = "target")]
    fidelity: bool,
    /// What checkers tell besides: `all`, `none`, `errors`, or rules by name, separated by commas (docs/checks.md). A kernel of which
    /// an error or a warning is told has failed. Not with --target.
    #[arg(long, value_name = "none|errors|all|LIST", default_value = "all")]
    check: Wanted,
    #[command(flatten)]
    check_code: CodeCheckArgument,
}

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum KernelError {
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error("kernels for {name} run on the model of the GPU")]
    #[diagnostic(help("--gpu chooses which"))]
    OnModel { name: String },
    #[error("--fidelity is for kernels that run on the host")]
    FidelityInQemu,
    #[error("no kernel's name contains `{filter}`; there are {}", names.join(", "))]
    NoMatch { filter: String, names: Vec<String> },
}

/// Reads the cases at `paths` whose name contains `filter`.
pub(crate) fn read_cases(paths: &[PathBuf], filter: Option<&str>) -> Result<Vec<Case>, Failure> {
    let refused = |error: CaseError| Failure::refused(KernelError::from(error));
    let mut cases = Vec::new();
    for path in paths {
        for file in find(path).map_err(refused)? {
            cases.push(Case::read(&file).map_err(refused)?);
        }
    }
    if let Some(filter) = filter {
        let names = cases.iter().map(|case| case.name.clone()).collect();
        cases.retain(|case| case.name.contains(filter));
        if cases.is_empty() {
            return Err(Failure::refused(KernelError::NoMatch {
                filter: filter.to_owned(),
                names,
            }));
        }
    }
    Ok(cases)
}

/// How far the outputs of a kernel can be trusted.
fn fidelity_of(setting: &Setting<'_>, name: &str, passed: &Passed) -> String {
    let on = (setting.gpu.arch(), setting.gpu.to_string());
    let listing = Some(&passed.compiled.listing);
    fidelity::Report::new(&passed.fidelity, on, listing).text(name)
}

/// The Adreno that `--target` names.
fn adreno(name: &str) -> Result<Target, Failure> {
    let target = gpu_choice::machine(name)?;
    match target.machine {
        Machine::Ir3(_) => Ok(target),
        Machine::Valhall(_) => Err(Failure::refused(KernelError::OnModel {
            name: name.to_owned(),
        })),
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.model.choose(args.on)?;
    let target = args.target.as_deref().map(adreno).transpose()?;
    let cases = args
        .results
        .part(read_cases(&args.cases, args.filter.as_deref())?);
    if args.fidelity && args.on == Place::Qemu {
        return Err(Failure::refused(KernelError::FidelityInQemu));
    }
    let trace = args.trace.path();
    let timelines = Timelines::default();
    let check_code = args.check_code.wanted();
    let setting = Setting {
        module: match args.opt {
            true => Module::Optimised,
            false => Module::Plain,
        },
        place: args.on,
        gpu: args.gpu.choice().following(args.fidelity),
        timelines: trace.map(|_| &timelines),
        robust: Robust::On,
        counts: false,
        limit: Duration::from_secs(args.timeout.into()),
        keep: args.keep.as_deref(),
        check: &args.check,
        check_code: &check_code,
    };
    let jobs = match args.on {
        // Images are built one after the other.
        Place::Qemu => NonZero::<usize>::MIN,
        Place::Host => args.jobs.unwrap_or_else(parallel::available),
    };
    args.reorder.choose(args.on, args.fidelity)?;
    args.threads.choose();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let progress = progress::count(cases.len());
    let work = |case: &Case| match target {
        Some(target) => ir3_case::run_case(case, setting.module, target, args.orders),
        None => case_run::run(case, setting),
    };
    // What an Adreno lacks is refused by name; a case that a job can't carry is skipped.
    let what_skipped = if target.is_some() {
        "refused"
    } else {
        "skipped"
    };
    let gpu = args
        .target
        .clone()
        .unwrap_or_else(|| args.gpu.choice().to_string());
    let recorder = args.results.record("kernel", &[("gpu", &gpu)]);
    let timed = |case: &Case| {
        let started = Instant::now();
        (work(case), started.elapsed())
    };
    parallel::in_order(&cases, jobs, timed, |case, (verdict, took)| {
        let name = &case.name;
        let (status, why) = match &verdict {
            Verdict::Passed(_) => (results::Status::Pass, ""),
            Verdict::Failed(why) => (results::Status::Fail, why.as_str()),
            Verdict::Skipped(what) => (results::Status::Skip, what.as_str()),
        };
        recorder.add(results::Case::new(name, status, why).took(took.as_secs_f64()));
        progress.done(name, || match verdict {
            Verdict::Passed(of) => {
                passed += 1;
                outln!("ok {name}")?;
                match of.fidelity.is_on() {
                    true => streams::put(fidelity_of(&setting, name, &of).as_bytes()),
                    false => Ok(()),
                }
            }
            Verdict::Failed(why) => {
                failed += 1;
                outln!("FAIL {name}: {why}")
            }
            Verdict::Skipped(what) => {
                skipped += 1;
                outln!("{what_skipped} {name}: {what}")
            }
        })
    })?;
    drop(progress);
    if let Some(path) = trace {
        timelines.write(path)?;
    }
    recorder.finish()?;
    outln!("{passed} passed, {failed} failed, {skipped} {what_skipped}")?;
    Ok(match failed {
        0 => Status::Good,
        _ => Status::CheckFailed,
    })
}
