//! `eitri run`: from a shader to its results on a bare-metal image or on the model.

use crate::input::buffer_source::{BindingName, SaveArgument};
use crate::input::check_arguments::{CheckArguments, CodeCheckArgument, UnwrittenArgument, Wanted};
use crate::input::engine_choice::EngineArgument;
use crate::input::gpu_choice::{GpuChoice, GpusArgument};
use crate::input::image_source;
use crate::input::job_arguments::JobArguments;
use crate::input::model_place::{self, GuestOnly, ModelArgument};
use crate::input::passes::{self, PassArguments, Told};
use crate::input::reorder_choice::ReorderArgument;
use crate::input::result_view::{CompareArgument, PrintArgument};
use crate::input::shader_file::{LanguageArgument, Shader};
use crate::input::shown;
use crate::input::thread_choice::ThreadsArgument;
use crate::input::trace_option::TraceArgument;
use crate::interrupt;
use crate::outcome::{Failure, Status};
use crate::output::streams::{self, outln, talk};
use crate::output::whole_file::{self, Pending};
use crate::reports::counter_table;
use crate::reports::executed::Counter;
use crate::reports::fidelity;
use crate::reports::report::{ReportError, ShaderReport};
use crate::reports::spent::Spent;
use crate::reports::timeline::Both;
use crate::reports::waveform::{Waveform, WaveformArgument};
use crate::runs::checked::{self, Subject};
use crate::runs::checking;
use crate::runs::code_checks::CodeChecks;
use crate::runs::dispatch::{self, Done, Place, Ran, Request, Talk};
use crate::runs::every_gpu;
use crate::runs::known_lines::KnownLines;
use crate::runs::printf;
use crate::runs::screen::{self, Screen, Show};
use crate::runs::work_progress::WorkProgress;
use eitri_job::{Content, CoreDump, Wants};
use eitri_model::Sink;
use eitri_shaderc::{Compiled, Options};
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm; `-` is standard input.
    #[arg(required_unless_present = "list_passes")]
    shader: Option<String>,
    #[command(flatten)]
    language: LanguageArgument,
    #[command(flatten)]
    job: JobArguments,
    /// Where the content of a buffer or image goes after the dispatch; `-` is standard output. An image becomes a picture
    /// where FILE ends with .png.
    #[arg(long = "save", value_name = "BINDING=FILE")]
    saves: Vec<SaveArgument>,
    /// Print elements of a buffer after the dispatch, as TYPE: u32 (default), i32, f32, f16, u16, i16, u8 or i8; the first 16 without
    /// a range. `--print 1:f32[0..8]`.
    #[arg(long = "print", value_name = "BINDING[:TYPE][[FROM..TO]]")]
    prints: Vec<PrintArgument>,
    /// Compare a buffer after the dispatch with a file: the first difference is reported, and the exit status is 1. With a type, a
    /// TOLERANCE is allowed: of floats |got - expected| <= T + T * |expected|, of integers a difference.
    #[arg(long = "compare", value_name = "BINDING=FILE[:TYPE[:TOLERANCE]]")]
    compares: Vec<CompareArgument>,
    /// Show an image that the shader has written in QEMU's window, until that is closed: the image on bare metal puts it on the
    /// machine's display. Runs in QEMU.
    #[arg(long, value_name = "BINDING")]
    show: Option<BindingName>,
    /// No window for --show: write what the display shows into a file, a PNG where FILE ends with .png, else a portable pixmap.
    #[arg(long, value_name = "FILE", requires = "show")]
    screen: Option<String>,
    /// Where the job runs: `host` unless an image is shown.
    #[arg(long, value_enum)]
    on: Option<Place>,
    #[command(flatten)]
    model: ModelArgument,
    #[command(flatten)]
    gpu: GpusArgument,
    #[command(flatten)]
    engine: EngineArgument,
    #[command(flatten)]
    threads: ThreadsArgument,
    #[command(flatten)]
    reorder: ReorderArgument,
    #[command(flatten)]
    trace: TraceArgument,
    #[command(flatten)]
    waveform: WaveformArgument,
    /// Put CPU caches that the GPU does not see before its memory: cache upkeep that the driver forgets is told.
    #[arg(long)]
    non_coherent: bool,
    /// Write a core dump of the GPU if the job fails: for `eitri dump show` and `eitri dump replay`.
    #[arg(long, value_name = "FILE")]
    dump: Option<String>,
    /// Print what the GPU's performance counters have counted during the job.
    #[arg(long)]
    counters: bool,
    /// The same as JSON.
    #[arg(long)]
    counters_json: bool,
    /// Print the table of `--gpu all` as JSON.
    #[arg(long)]
    json: bool,
    /// Print the compiler's figures, and with `--on host` what the model executed.
    #[arg(long)]
    stats: bool,
    /// Print the machine code as text.
    #[arg(long)]
    disasm: bool,
    /// Report how far the results can be trusted: what was executed that is not exact by the facts, and what it has reached. With a
    /// FILE the report is JSON. On the host, some ten times slower.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    fidelity: Option<String>,
    /// Show the image's console, or with `--on host` each step of the bring-up.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    check: CheckArguments,
    #[command(flatten)]
    check_code: CodeCheckArgument,
    /// Bytes that the host is taken not to have written, for the checkers; without a range all of the buffer or image.
    #[arg(long = "unwritten", value_name = "BINDING[=FIRST..END]")]
    unwritten: Vec<UnwrittenArgument>,
    #[command(flatten)]
    passes: PassArguments,
}

/// Only the checkers know addresses of buffers before the job runs.
#[derive(Debug, Error, Diagnostic)]
#[error("--push @{name}+{plus}: a job can't be given the address of a buffer")]
#[diagnostic(help("the checkers have run with it"))]
struct NoAddress {
    name: BindingName,
    plus: u64,
}

#[derive(Debug, Error, Diagnostic)]
#[error("--save {name} is given twice for the same file or binding")]
struct SavedTwice {
    name: BindingName,
}

/// Times of all GPUs are the model's own.
#[derive(Debug, Error, Diagnostic)]
#[error("--gpu all runs on the host alone")]
#[diagnostic(help("in QEMU the model's time is not its own: docs/how-true.md"))]
struct AllInQemu;

/// `--json` without `--gpu all`.
#[derive(Debug, Error, Diagnostic)]
#[error("--json is for the table of --gpu all")]
#[diagnostic(help("--counters-json prints the counters of one GPU, --save and --print results"))]
struct JsonOfOne;

/// `--gpu all` with an option that shows the results of a job on one GPU.
#[derive(Debug, Error, Diagnostic)]
#[error("--gpu all prints a table and nothing else: {option} is for one GPU")]
struct AllAlone {
    option: &'static str,
}

/// Only the model in this process can follow values.
#[derive(Debug, Error, Diagnostic)]
#[error("--fidelity is for jobs on the host")]
#[diagnostic(help("leave out --on qemu and --show"))]
struct FidelityInQemu;

/// A display is a machine's.
#[derive(Debug, Error, Diagnostic)]
#[error("--show is for --on qemu: there is no display without a machine")]
#[diagnostic(help("--save BINDING=FILE.png writes the picture"))]
struct NoMachine;

impl Args {
    fn place(&self) -> Place {
        let default = match self.show {
            Some(_) => Place::Qemu,
            None => Place::Host,
        };
        self.on.unwrap_or(default)
    }

    /// How the shader is compiled for a GPU.
    fn options(&self, gpu: GpuChoice) -> Options {
        self.passes.apply(Options {
            target: gpu.target(),
            printf: Some(printf::BUFFER),
            ..self.job.options()
        })
    }

    /// The job on a GPU.
    fn request(&self, shader: &Shader, gpu: GpuChoice) -> Result<Request, Failure> {
        Ok(Request {
            resources: self.job.resources()?,
            push_constants: self.job.push_constants(shader)?,
            groups: self.job.groups(),
            gpu,
            saves: self.wanted(),
            coherent: !self.non_coherent,
            firmware: self.job.firmware()?,
            limit: self.job.limit(),
            wants: Wants {
                dump: match self.dump {
                    Some(_) => CoreDump::OnFailure,
                    None => CoreDump::Never,
                },
                counters: self.counters || self.counters_json,
            },
            talk: match self.verbose {
                true => Talk::Verbose,
                false => Talk::Quiet,
            },
        })
    }

    /// The buffers that are wanted back.
    fn wanted(&self) -> Vec<BindingName> {
        let saved = self.saves.iter().map(|save| save.name);
        let printed = self.prints.iter().map(|print| print.name);
        let compared = self.compares.iter().map(|compare| compare.name);
        let mut wanted: Vec<BindingName> = saved.chain(printed).chain(compared).collect();
        wanted.sort();
        wanted.dedup();
        wanted
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    args.engine.choose()?;
    args.reorder.choose(args.place(), args.fidelity.is_some())?;
    args.threads.choose();
    args.model.choose(args.place())?;
    if args.non_coherent && args.place() == Place::Qemu {
        model_place::refuse_on_host(GuestOnly::Caches("--non-coherent"))?;
    }
    let target = args.gpu.choice().target();
    if let Some(form) = args.passes.list_passes {
        passes::print_list(form, &target)?;
        return Ok(Status::Good);
    }
    args.passes.check(&target)?;
    check_saves(&args.saves, args.screen.as_deref())?;
    let show = show(args)?;
    // clap has seen to it that there is one.
    let shader = args
        .language
        .load(args.shader.as_deref().unwrap_or_default())?;
    if args.json && !args.gpu.is_all() {
        return Err(Failure::refused(JsonOfOne));
    }
    if args.gpu.is_all() {
        return run_on_all(args, &shader);
    }
    let options = args.options(args.gpu.choice());
    if let Some(pass) = args.passes.last() {
        let text = dispatch::compile_until(&shader, &options, pass)?;
        let text = text.ok_or_else(|| args.passes.not_reached())?;
        outln!("{}", text.trim_end())?;
        return Ok(Status::Good);
    }
    let compiled = dispatch::compile(&shader, &options)?;
    args.passes.tell(&shader.path, &Told::of(&compiled));
    if args.fidelity.is_some() && args.place() != Place::Host {
        return Err(Failure::refused(FidelityInQemu));
    }
    let gpu = args.gpu.choice().following(args.fidelity.is_some());
    let mut request = args.request(&shader, gpu)?;
    if let Some(show) = &show {
        shown::save(show.name, &request.resources, &mut request.saves)?;
    }
    printf::attach(&compiled, &mut request);
    // Told to end, a job is given up like one that takes too long, and leaves what that one leaves.
    // QEMU is stopped at once.
    let held_up = (args.place() == Place::Host).then(interrupt::hold_up);
    let trace = args.trace.start();
    // Instructions are told on the host alone.
    let counter = (args.stats && args.place() == Place::Host).then(Counter::default);
    let timeline = trace.as_ref().map(|trace| trace.sink());
    let waveform = args.waveform.start();
    let counted = counter.as_ref().map(Counter::sink);
    let waves = waveform.as_ref().map(Waveform::sink);
    let wanted = args.check_code.wanted();
    let code = CodeChecks::new(wanted, args.gpu.choice().arch());
    let code = code.filter(|_| args.place() == Place::Host);
    let checked = code.as_ref().map(|code| code.sink(None));
    let sinks = [timeline, counted, waves, checked].into_iter().flatten();
    let sink = sinks.reduce(|one, other| {
        let both: Box<dyn Sink> = Box::new(Both(one, other));
        both
    });
    // Workgroups are told on the host alone.
    let sink = match args.place() {
        Place::Host => Some(Box::new(WorkProgress::before(sink)) as Box<dyn Sink>),
        Place::Qemu => sink,
    };
    let unwritten: Vec<_> = args.unwritten.iter().map(UnwrittenArgument::part).collect();
    let address = args.job.push_address();
    let addresses: Vec<_> = address.into_iter().map(super::broken::address).collect();
    let subject = Subject {
        spirv: &shader.spirv,
        options: &options,
        groups: request.groups,
        push_constants: &request.push_constants,
        resources: &request.resources,
        unwritten: &unwritten,
        addresses: &addresses,
        step_limit: checked::STEP_LIMIT,
    };
    // Before checkers find that nothing lies where nothing was given.
    dispatch::refuse_what_does_not_fit(&shader.path, &compiled, &request)?;
    let checks = args.check.wanted(Wanted::All);
    let (done, mut found) = checking::beside(&shader.path, &checks, &subject, || {
        if let Some((name, plus)) = address {
            return Err(Failure::refused(NoAddress { name, plus }));
        }
        match &show {
            Some(show) => dispatch::execute_shown(&shader.path, &compiled, &request, show, sink),
            None => dispatch::execute(&shader.path, &compiled, &request, args.place(), sink)
                .map(|done| (done, None)),
        }
    });
    let lines = KnownLines::of_compute(&compiled);
    let code = code.map(|code| code.finish(&lines));
    if let Some(code) = code {
        code.show(&shader.path);
        found.extend(code.findings);
    }
    let status = checking::settle(&shader.path, &args.check, &found)?;
    // A job that failed is what people want to look at.
    if let Some(trace) = trace {
        trace.write(&shader.path)?;
    }
    if let Some(waveform) = waveform {
        args.waveform.write(&waveform)?;
    }
    let (done, screen) = done?;
    if let Some(path) = &args.dump {
        write_dump(path, &done)?;
    }
    drop(held_up);
    let ran = dispatch::finished(done)?;
    printf::tell(&compiled, &ran);
    let screen = args.screen.as_ref().zip(screen);
    let screen = screen.map(|(path, pixmap)| screen::file(path, &pixmap));
    save(&args.saves, &request, &ran, screen.transpose()?)?;
    if let Some(path) = args.fidelity.as_deref().filter(|path| !path.is_empty()) {
        let value = fidelity(args, &compiled, &ran).json(&shader.path);
        whole_file::write(path, format!("{value:#}\n").as_bytes())?;
    }
    report(args, &compiled, &ran, counter.as_ref())?;
    Ok(match compare(&args.compares, &ran)? {
        Status::Good => status,
        failed => failed,
    })
}

/// Runs the job on each GPU, and prints what it takes there.
fn run_on_all(args: &Args, shader: &Shader) -> Result<Status, Failure> {
    if args.place() != Place::Host {
        return Err(Failure::refused(AllInQemu));
    }
    let asked = [
        ("--save", !args.saves.is_empty()),
        ("--print", !args.prints.is_empty()),
        ("--compare", !args.compares.is_empty()),
        ("--dump", args.dump.is_some()),
        ("--counters", args.counters || args.counters_json),
        ("--stats", args.stats),
        ("--disasm", args.disasm),
        ("--fidelity", args.fidelity.is_some()),
    ];
    if let Some((option, _)) = asked.into_iter().find(|(_, asked)| *asked) {
        return Err(Failure::refused(AllAlone { option }));
    }
    let rows = every_gpu::run(|gpu| {
        let compiled = dispatch::compile(shader, &args.options(gpu))?;
        let mut request = args.request(shader, gpu)?;
        printf::attach(&compiled, &mut request);
        dispatch::execute(&shader.path, &compiled, &request, Place::Host, None)
    })?;
    match args.json {
        true => outln!("{}", every_gpu::json(&rows))?,
        false => streams::put(every_gpu::table(&rows).as_bytes())?,
    }
    Ok(Status::Good)
}

/// Writes the core dump, if there is one: a job that went well leaves none.
fn write_dump(path: &str, done: &Done) -> Result<(), Failure> {
    if let Some(why) = &done.result.no_dump {
        talk!("the core dump is not whole: {why}");
    }
    if done.result.dump.is_empty() {
        if done.result.failure.is_some() {
            talk!("no core dump: what failed is not what the GPU was doing");
        }
        return Ok(());
    }
    whole_file::write(path, &done.result.dump)
}

fn check_saves(saves: &[SaveArgument], screen: Option<&str>) -> Result<(), Failure> {
    for (index, save) in saves.iter().enumerate() {
        let same = |other: &SaveArgument| other.name == save.name || other.path == save.path;
        if saves.iter().take(index).any(same) || screen == Some(&save.path) {
            return Err(Failure::refused(SavedTwice { name: save.name }));
        }
    }
    Ok(())
}

/// The image that `--show` names and the screen that shows it; `None` without `--show`.
fn show(args: &Args) -> Result<Option<Show>, Failure> {
    let Some(name) = args.show else {
        return Ok(None);
    };
    if args.place() != Place::Qemu {
        return Err(Failure::refused(NoMachine));
    }
    let screen = match args.screen {
        Some(_) => Screen::Kept,
        None => Screen::window()?,
    };
    Ok(Some(Show { name, screen }))
}

/// Writes every file, and only then makes any of them visible.
fn save(
    saves: &[SaveArgument],
    request: &Request,
    ran: &Ran,
    screen: Option<Pending>,
) -> Result<(), Failure> {
    let mut pending: Vec<Pending> = screen.into_iter().collect();
    for save in saves {
        let bytes = content(ran, save.name);
        let image = request
            .resources
            .iter()
            .find_map(|given| match given.content {
                Content::Image(info) if given.name == save.name => Some(info),
                _ => None,
            });
        let is_picture = save.path.to_ascii_lowercase().ends_with(".png");
        match image.filter(|_| is_picture) {
            Some(info) => {
                let picture = image_source::picture(&info, bytes)?;
                pending.push(Pending::write(&save.path, &picture)?);
            }
            None => pending.push(Pending::write(&save.path, bytes)?),
        }
    }
    pending.into_iter().try_for_each(Pending::commit)
}

/// The content of a buffer after the dispatch.
fn content(ran: &Ran, name: BindingName) -> &[u8] {
    let found = ran.saved.iter().find(|(of, _)| *of == name);
    found.map_or(&[], |(_, bytes)| bytes)
}

/// Reports how buffers differ from what is expected.
fn compare(compares: &[CompareArgument], ran: &Ran) -> Result<Status, Failure> {
    let mut status = Status::Good;
    for compare in compares {
        if let Some(difference) = compare.difference(content(ran, compare.name))? {
            talk!("{difference}");
            status = Status::CheckFailed;
        }
    }
    Ok(status)
}

/// How far the results can be trusted.
fn fidelity<'a>(args: &Args, compiled: &'a Compiled, ran: &'a Ran) -> fidelity::Report<'a> {
    let gpu = args.gpu.choice();
    let on = (gpu.arch(), gpu.to_string());
    fidelity::Report::new(&ran.fidelity, on, Some(&compiled.listing))
}

/// What was asked for on standard output; a person's own data there is left alone.
fn report(
    args: &Args,
    compiled: &Compiled,
    ran: &Ran,
    counter: Option<&Counter>,
) -> Result<(), Failure> {
    let name = Path::new(args.shader.as_deref().unwrap_or_default())
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let data_on_stdout =
        args.saves.iter().any(|save| save.path == "-") || args.screen.as_deref() == Some("-");
    let mut text = String::new();
    for print in &args.prints {
        text.push_str(&format!("{}\n", print.line(content(ran, print.name))));
    }
    if args.stats {
        let report = ShaderReport::of(&name, compiled, &args.gpu.choice().target());
        let report = report.map_err(Failure::refused)?;
        text.push_str(&format!("{}\n", report.lines()));
    }
    if let Some(counter) = counter {
        let executed = counter.executed(args.gpu.choice().arch());
        let executed = executed.map_err(|cause| Failure::refused(ReportError::Word(cause)))?;
        text.push_str(&format!("{name} - executed: {executed}\n"));
        text.push_str(&format!("{name} - time: {}\n", Spent(&ran.cores)));
    }
    if args.fidelity.as_deref() == Some("") {
        text.push_str(&fidelity(args, compiled, ran).text(&name));
    }
    if args.disasm {
        text.push_str(&compiled.listing.to_string());
    }
    let gpu = args.gpu.choice();
    let arch = gpu.arch();
    if args.counters {
        text.push_str(&counter_table::text(&ran.counters, arch));
    }
    if args.counters_json {
        let value = counter_table::json(&ran.counters, arch, &gpu.to_string());
        text.push_str(&format!("{value}\n"));
    }
    match data_on_stdout {
        true => streams::say(format_args!("{text}")),
        false => streams::put(text.as_bytes())?,
    }
    Ok(())
}
