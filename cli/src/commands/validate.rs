//! `eitri validate`: the validation suite on the model, or on models with one broken thing each.

use crate::amber::host_scripts::HostScripts;
use crate::amber::suite as scripts;
use crate::images::lab_log::{self, LabOutputs, Origin, Written, known};
use crate::input::board_choice;
use crate::input::check_arguments::{CheckArguments, Wanted};
use crate::input::engine_choice;
use crate::input::firmware_file;
use crate::input::gpu_choice::{GpuArgument, GpuChoice};
use crate::input::model_place::ModelArgument;
use crate::interrupt::{self, Registered};
use crate::outcome::{Failure, Status};
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::{outln, talk};
use crate::results::{self, Metrics, Shard};
use crate::runs::code_checks::CodeChecks;
use crate::runs::dispatch::{Place, Talk};
use crate::runs::known_lines::KnownLines;
use crate::runs::parallel;
use crate::runs::qemu::{self, Setting};
use eitri_boards::Target;
use eitri_boards::device_tree::INFERRED;
use eitri_model::{Config, SEEDED, Seeded, stub_firmware};
use eitri_on_model::Machine;
use eitri_validation::{
    Console, Expected, Form, Listener, NoProgram, Programs, SECOND_CPU, Setup, Status as Verdict,
    Summary, TestResult, names, run as run_suite, run_with,
};
use miette::Diagnostic;
use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

/// Bytes of memory of the machine on the host: enough for a block of 1 GiB beside all else.
const MEMORY: u64 = 3 << 30;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the suite runs. An image for a board is made by `eitri image --validation`.
    #[arg(long, value_enum, default_value_t = Place::Host)]
    on: Place,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    gpu: GpuArgument,
    /// Show the image in QEMU this board: its memory map, console, interrupts and GPU, with stand-ins for clocks, resets, power and
    /// firmware that tell a wrong order or value. A file describes one that is not listed (docs/own-board.md).
    #[arg(long, value_name = "NAME|FILE")]
    board: Option<String>,
    /// Allow the board's steps of power that no source states.
    #[arg(long, requires = "board")]
    inferred: bool,
    /// The form of the results.
    #[arg(long, value_name = "tap|lava|plain", default_value = "tap", value_parser = form)]
    console: Form,
    /// Only tests whose name begins with this, and the steps of bring-up and shutdown.
    #[arg(long, value_name = "PREFIX", default_value = "")]
    only: String,
    /// Decides what the soak does.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Rounds of the soak.
    #[arg(long, value_name = "N", default_value_t = 64)]
    soak: u32,
    /// Amber scripts, or folders of them, that are run after the suite's own tests.
    #[arg(long, value_name = "FILE|DIR", num_args = 1..)]
    suite: Vec<String>,
    /// A firmware image instead of the stub, such as the vendor's mali_csffw.bin.
    #[arg(long, value_name = "FILE")]
    firmware: Option<String>,
    /// List the tests, and do nothing else.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    list: Option<ListForm>,
    /// Run the suite on models with one broken thing each, and say which test tells each from a good GPU. A name, or its
    /// beginning, picks some.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    seeded_faults: Option<String>,
    /// With --seeded-faults: every N-th only, from the K-th on, for N machines.
    #[arg(
        long,
        value_name = "K/N",
        requires = "seeded_faults",
        help_heading = "Results"
    )]
    shard: Option<Shard>,
    #[command(flatten)]
    outputs: LabOutputs,
    #[command(flatten)]
    check: CheckArguments,
    /// Longest that one run may go on without progress, in seconds; in QEMU, longest in all.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=36_000))]
    timeout: u32,
}

fn form(word: &str) -> Result<Form, String> {
    Form::named(word).ok_or_else(|| "the forms are tap, lava and plain".to_owned())
}

/// What is wrong with the request.
#[derive(Debug, Error, Diagnostic)]
enum ValidateError {
    #[error("no test's name begins with `{prefix}`")]
    #[diagnostic(help("`eitri validate --list` shows their names"))]
    NoTest { prefix: String },
    #[error("no seeded fault's name begins with `{prefix}`")]
    #[diagnostic(help("the first of {count} is {first}", count = SEEDED.len(), first = SEEDED[0].name))]
    NoFault { prefix: String },
    #[error("seeded faults are of the Mali-G610, on the host")]
    #[diagnostic(help("leave --gpu and --on out"))]
    OnlyHere,
    #[error("--seeded-faults writes its results with --results and --junit alone")]
    Outputs,
    #[error("boards are shown in QEMU: the host has none")]
    #[diagnostic(help("--on qemu"))]
    NoBoard,
    #[error(transparent)]
    Program(#[from] NoProgram),
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if let Some(form) = args.list {
        let mut rows: Vec<Row> = names::<Machine>().into_iter().map(Row::named).collect();
        rows.push(Row::named(SECOND_CPU).about("in images"));
        list::print(form, "tests", &rows, |row| match row.about.is_empty() {
            true => row.name.clone(),
            false => format!("{} ({})", row.name, row.about),
        })?;
        return Ok(Status::Good);
    }
    args.model.choose(args.on)?;
    // Names of scripts are known when they have been compiled.
    let is_one = |name: &String| name.starts_with(&args.only);
    let mut known = names::<Machine>();
    if args.on == Place::Qemu {
        known.push(SECOND_CPU.to_owned());
    }
    if args.suite.is_empty() && !known.iter().any(is_one) {
        let prefix = args.only.clone();
        return Err(Failure::refused(ValidateError::NoTest { prefix }));
    }
    let firmware = match &args.firmware {
        None => stub_firmware(),
        Some(path) => firmware_file::read(path)?,
    };
    let board = args.board.as_deref().map(board_choice::named).transpose()?;
    if board.is_some() && args.on == Place::Host {
        return Err(Failure::refused(ValidateError::NoBoard));
    }
    match (&args.seeded_faults, args.on) {
        (Some(prefix), Place::Host) => seeded_faults(args, prefix, &firmware),
        (Some(_), Place::Qemu) => Err(Failure::refused(ValidateError::OnlyHere)),
        (None, Place::Host) => on_host(args, &firmware),
        (None, Place::Qemu) => in_qemu(args, board, &firmware),
    }
}

/// What is known of the model's GPU.
fn expected(config: &Config) -> Expected {
    let part = config.product.part;
    Expected {
        gpu_id: Some(part.gpu_id.0),
        cores: Some(part.shader_present),
        clock_khz: Some(config.clock_hz / 1000),
    }
}

fn setup<'a>(args: &'a Args, firmware: &'a [u8], config: &Config) -> Setup<'a> {
    Setup {
        expected: expected(config),
        seed: args.seed,
        soak: args.soak,
        only: &args.only,
        ..Setup::new(firmware)
    }
}

/// A good GPU, with an L2 that keeps what it has until it is flushed.
fn good(args: &Args) -> Config {
    Config {
        l2: true,
        ..args.gpu.choice().config()
    }
}

fn on_host(args: &Args, firmware: &[u8]) -> Result<Status, Failure> {
    let config = good(args);
    let setup = setup(args, firmware, &config);
    // The words of a board's first line: version, board, build.
    let title = format!("{} model {}", env!("CARGO_PKG_VERSION"), args.gpu.choice());
    let mut said = Ok(());
    let transcript = Transcript::of(&args.outputs)?;
    let mut console = Console::new(args.console, &title, |line: &str| {
        transcript.line(line);
        if said.is_ok() && !transcript.on_stdout {
            said = outln!("{line}");
        }
    });
    let patience = Duration::from_secs(args.timeout.into());
    let machine = Machine::with_memory(config, MEMORY).with_patience(patience);
    let checks = CodeChecks::new(args.check.wanted(Wanted::All), args.gpu.choice().arch());
    if let Some(checks) = &checks {
        machine.gpu(|gpu| gpu.trace_to(Some(checks.sink(None))));
    }
    let bytes = scripts::compiled(&args.suite, args.gpu.choice())?;
    let mut scripts = HostScripts::read(bytes.as_deref(), firmware)?;
    let outcome = run_with(machine, &setup, None, &mut scripts, &mut console);
    said?;
    let numbers = transcript.finish(false)?;
    let checked = checks.map(|checks| checks.finish(&KnownLines::default()));
    let checked = checked.map(|checked| checked.tell(SUBJECT, &args.check));
    let checked = checked.transpose()?.unwrap_or(Status::Good);
    let all = [verdict(outcome.summary), numbers, checked].into_iter();
    Ok(all.fold(Status::Good, first_bad))
}

/// What findings are of, where no file is.
const SUBJECT: &str = "validation";

/// The first of two that is not good.
fn first_bad(first: Status, second: Status) -> Status {
    match first {
        Status::Good => second,
        bad => bad,
    }
}

fn verdict(summary: Summary) -> Status {
    match summary.failed {
        0 => Status::Good,
        _ => Status::CheckFailed,
    }
}

fn in_qemu(args: &Args, board: Option<Target>, firmware: &[u8]) -> Result<Status, Failure> {
    let gpu = board.and_then(GpuChoice::of_board);
    let gpu = gpu.unwrap_or(args.gpu.choice());
    let scripts = scripts::compiled(&args.suite, gpu)?;
    let row = Form::ALL.iter().find(|(_, form)| *form == args.console);
    let form = row.map_or("tap", |(word, _)| word);
    let words = [
        format!("eitri.console={form}"),
        format!("eitri.seed={}", args.seed),
        format!("eitri.soak={}", args.soak),
        format!("eitri.only={}", args.only),
    ];
    let words = words.iter().map(String::as_str);
    let words: Vec<&str> = words.chain(args.inferred.then_some(INFERRED)).collect();
    let setting = Setting {
        gpu,
        limit: Duration::from_secs(args.timeout.into()),
        talk: Talk::Quiet,
        words: &words,
    };
    let wanted = args.check.wanted(Wanted::All);
    let validated = qemu::run_validation(board, firmware, scripts.as_deref(), &setting, &wanted)?;
    let (console, diagnoses) = (validated.console, validated.diagnoses);
    let transcript = Transcript::of(&args.outputs)?;
    for line in console.lines() {
        transcript.line(line);
        if !transcript.on_stdout {
            outln!("{line}")?;
        }
    }
    let numbers = transcript.finish(true)?;
    for line in diagnoses {
        talk!("{line}");
    }
    let checked = match validated.checked {
        Some(checked) => checked.tell(SUBJECT, &args.check)?,
        None => {
            // Whoever asks for nothing is told nothing.
            if let Some(option) = args.check.asked() {
                talk!("{option}: not checked: the model is in the machine, which has no checkers");
            }
            Status::Good
        }
    };
    let failed = |line: &str| line.starts_with("not ok") || line.ends_with(" fail");
    let failed = console
        .lines()
        .any(|line| failed(line.trim_end()) || line.starts_with("FAILED"));
    Ok(match failed {
        true => Status::CheckFailed,
        false => first_bad(numbers, checked),
    })
}

/// What the suite prints, with the time of each line, for those who want the results as files.
struct Transcript {
    text: Arc<Mutex<String>>,
    begun: Instant,
    time: SystemTime,
    outputs: LabOutputs,
    metrics: Metrics,
    /// One of the files is standard output.
    on_stdout: bool,
    _registered: Option<Registered>,
}

impl Transcript {
    fn of(outputs: &LabOutputs) -> Result<Transcript, Failure> {
        let text = Arc::new(Mutex::new(String::new()));
        let time = SystemTime::now();
        let metrics = outputs.metrics(&known())?;
        let registered = outputs.any().then(|| {
            let (text, outputs) = (Arc::clone(&text), outputs.clone());
            let metrics = metrics.clone();
            interrupt::before_end(move || write(&text, &outputs, time, &metrics, true).map(drop))
        });
        Ok(Transcript {
            text,
            begun: Instant::now(),
            time,
            on_stdout: outputs.on_stdout(),
            outputs: outputs.clone(),
            metrics,
            _registered: registered,
        })
    }

    fn line(&self, line: &str) {
        let seconds = self.begun.elapsed().as_secs_f64();
        locked(&self.text).push_str(&format!("[{seconds:.6}] {line}\n"));
    }

    /// Writes the files, and says which numbers are beyond what they may be: whether all are good. An image's lines have come all at once: the times of its tests are not known.
    fn finish(&self, of_image: bool) -> Result<Status, Failure> {
        if of_image {
            let mut text = locked(&self.text);
            let lines = text
                .lines()
                .map(|line| line.split_once("] ").map_or(line, |(_, it)| it));
            *text = lines.map(|line| format!("{line}\n")).collect();
        }
        let written = write(&self.text, &self.outputs, self.time, &self.metrics, false)?;
        for line in &written.beyond {
            talk!("bad: {line}");
        }
        Ok(match written.beyond.is_empty() {
            true => Status::Good,
            false => Status::CheckFailed,
        })
    }
}

fn locked(text: &Mutex<String>) -> MutexGuard<'_, String> {
    // A line is there or not.
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(
    text: &Mutex<String>,
    outputs: &LabOutputs,
    time: SystemTime,
    metrics: &Metrics,
    interrupted: bool,
) -> Result<Written, Failure> {
    if !outputs.any() {
        return Ok(Written::default());
    }
    let text = locked(text).clone();
    let origin = Origin {
        time,
        known: known(),
        metrics: metrics.clone(),
        interrupted,
    };
    outputs.write(&text, &lab_log::read(&text), &origin)
}

/// The first test that failed, and what it said.
#[derive(Default)]
struct First(Option<(String, String)>);

impl Listener for First {
    fn plan(&mut self, _: usize) {}

    fn result(&mut self, result: &TestResult) {
        if result.status == Verdict::Failed && self.0.is_none() {
            self.0 = Some((result.name.clone(), result.why.clone()));
        }
    }

    fn done(&mut self, _: Summary) {}
}

fn seeded_faults(args: &Args, prefix: &str, firmware: &[u8]) -> Result<Status, Failure> {
    let chosen: Vec<Seeded> = SEEDED
        .iter()
        .filter(|seeded| seeded.name.starts_with(prefix))
        .copied()
        .collect();
    let all = chosen.len();
    let chosen = Shard::part(args.shard, chosen);
    if all == 0 {
        let prefix = prefix.to_owned();
        return Err(Failure::refused(ValidateError::NoFault { prefix }));
    }
    let good = Config {
        l2: true,
        engine: engine_choice::chosen(),
        ..Config::default()
    };
    if good.product != args.gpu.choice().config().product {
        return Err(Failure::refused(ValidateError::OnlyHere));
    }
    let programs = Programs::build(good.product.arch());
    let programs = programs.map_err(|cause| Failure::refused(ValidateError::Program(cause)))?;
    let patience = Duration::from_secs(args.timeout.into());
    let try_one = |seeded: &Seeded| {
        let setup = Setup {
            stop_at_failure: true,
            ..setup(args, firmware, &good)
        };
        let machine =
            Machine::with_memory(seeded.config(good.clone()), MEMORY).with_patience(patience);
        let mut first = First::default();
        run_suite(machine, &setup, Some(&programs), &mut first);
        first.0
    };
    if args.outputs.any_but_results() {
        return Err(Failure::refused(ValidateError::Outputs));
    }
    let recorder = args.outputs.record("seeded-faults", args.shard);
    outln!("1..{}", chosen.len())?;
    let mut number = 0;
    let mut missed = 0;
    let jobs: NonZero<usize> = parallel::available();
    parallel::in_order(&chosen, jobs, try_one, |seeded, first| {
        number += 1;
        let caught = match &first {
            Some(_) => results::Case::new(seeded.name, results::Status::Pass, ""),
            None => results::Case::new(seeded.name, results::Status::Fail, "no test fails"),
        };
        recorder.add(caught);
        match first {
            Some((test, why)) => {
                let why = why.lines().next().unwrap_or("").replace('#', "no.");
                outln!("ok {number} {} # caught by {test}: {why}", seeded.name)
            }
            None => {
                missed += 1;
                outln!(
                    "not ok {number} {} # no test fails: {:?}",
                    seeded.name,
                    seeded.broken
                )
            }
        }
    })?;
    recorder.finish()?;
    let caught = chosen.len() - missed;
    outln!(
        "# done: {caught} of {} caught, {missed} missed",
        chosen.len()
    )?;
    Ok(match missed {
        0 => Status::Good,
        _ => Status::CheckFailed,
    })
}
