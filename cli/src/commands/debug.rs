//! `eitri debug`: a shader step by step, forward and back.

use crate::amber::debugged::ScriptJob;
use crate::commands::broken;
use crate::commands::draw::DrawError;
use crate::commands::dump;
use crate::commands::kernel;
use crate::draw::{ModelArguments, is_model};
use crate::input::buffer_source;
use crate::input::gpu_choice::{GpuArgument, GpuChoice};
use crate::input::job_arguments::JobArguments;
use crate::input::shader_file::LanguageArgument;
use crate::outcome::{Failure, Status};
use crate::output::png;
use crate::output::streams::{self, outln, talk};
use crate::output::whole_file;
use crate::runs::case_run;
use crate::runs::debug_protocol::{self, ListenArgument};
use crate::runs::debug_subject::{Subject, UseSession};
use crate::runs::debugged::{self, DebugLevel, Prepared};
use crate::runs::debugged_driver::SceneJob;
use crate::runs::debugged_dump::DumpJob;
use clap::{Args as _, FromArgMatches};
use eitri_compute_cases::{Module, find};
use eitri_debugger::console::{Answer, Console};
use eitri_debugger::execution::Execution;
use eitri_debugger::picture::Picture;
use eitri_debugger::session::Session;
use eitri_draw_scenes::Scene;
use miette::Diagnostic;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm; a kernel or a scene, NAME.json or its folder; a glTF model; an Amber script, of
    /// which a RUN is stepped through; or a core dump of the GPU, whose compute job is stepped through, at first before the step that
    /// fails.
    #[arg(value_name = "SHADER|KERNEL.json|SCENE.json|MODEL.glb|SCRIPT.amber|DUMP", required_unless_present_any = ["dap", "listen"])]
    subject: Option<String>,
    #[command(flatten)]
    language: LanguageArgument,
    #[command(flatten)]
    job: JobArguments,
    #[command(flatten)]
    gpu: GpuArgument,
    /// What is stepped through: lines of the source, instructions of the machine on the model, or these with all that the driver does.
    /// Of a dump it is always instructions, of a scene, a model and a draw of a script always what the driver does, too.
    #[arg(long, value_enum)]
    level: Option<DebugLevel>,
    /// Which compute job of a dump, in the order in which they start; without it the one that fails, or the first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    job_number: Option<u32>,
    /// Which RUN of a script; each turn of a REPEAT counts. The commands before it are carried out, without their expectations. If not
    /// given, the first.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    run: Option<u64>,
    /// Carry out the commands of a file, one a line (`help` lists them; `#` begins a comment), and print what each says; `-` is
    /// standard input. The first that is wrong ends the session with status 2, an `assert` that does not hold with status 1.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dap", "listen"])]
    commands: Option<String>,
    /// Speak the Debug Adapter Protocol on standard input and output, as an editor that starts the adapter wants it. What it launches
    /// is `program` with `args`, which are arguments of this command; without them what stands here.
    #[arg(long, conflicts_with = "listen")]
    dap: bool,
    /// The same on a port, to clients one after the other; on loopback alone unless an address is given.
    #[arg(long, value_name = "[ADDRESS:]PORT")]
    listen: Option<ListenArgument>,
    #[command(flatten)]
    models: ModelArguments,
}

/// Longest that the commands of a scene may take, unless more is asked for.
const SCENE_LIMIT: Duration = Duration::from_secs(60);

/// Nothing is to be debugged.
#[derive(Debug, Error, Diagnostic)]
#[error("nothing is to be debugged: neither the client nor the command line names a shader")]
#[diagnostic(help("`program` of launch.json is the shader: docs/debugging.md"))]
struct NoSubject;

/// A dump has no source.
#[derive(Debug, Error, Diagnostic)]
#[error("a dump has machine code alone: it has no lines to step through")]
#[diagnostic(help("leave `--level source` out"))]
struct NoSource;

/// A scene is drawn by the driver.
#[derive(Debug, Error, Diagnostic)]
#[error("a scene is drawn by the driver: it has no other level")]
#[diagnostic(help("leave `--level` out"))]
struct DriverOnly;

/// A dump has no driver.
#[derive(Debug, Error, Diagnostic)]
#[error("a dump has what a driver left in memory: no driver runs")]
#[diagnostic(help("leave `--level driver` out"))]
struct NoDriver;

/// `--job-number` without a dump.
#[derive(Debug, Error, Diagnostic)]
#[error("`--job-number` is for dumps: a shader or a kernel is one job")]
struct OneJob;

/// `--run` without a script.
#[derive(Debug, Error, Diagnostic)]
#[error("`--run` is for Amber scripts")]
struct NoScript;

/// Arguments of a client that are none.
#[derive(Debug, Error, Diagnostic)]
#[error("{0}")]
struct WrongArguments(String);

/// A command of a file that can't be carried out.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}:{line}: {why}")]
struct WrongCommand {
    file: String,
    line: usize,
    why: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.dap {
        streams::take_stdout();
        return debug_protocol::on_stdio(args);
    }
    if let Some(at) = args.listen {
        return debug_protocol::listen(args, at);
    }
    let subject = args.prepare()?;
    subject.debug(ByText {
        subject: &subject,
        commands: args.commands.as_deref(),
    })?
}

/// A session by text commands.
struct ByText<'t> {
    subject: &'t Subject,
    /// The file of commands; none: from standard input.
    commands: Option<&'t str>,
}

impl UseSession for ByText<'_> {
    type Done = Result<Status, Failure>;

    fn run<E: Execution>(self, session: Session<E>) -> Result<Status, Failure> {
        let console = Console::new(session, |file| self.subject.read_source(file));
        let console = console.saving(save_picture);
        match self.commands {
            Some(file) => run_commands(console, file),
            None => prompt(console),
        }
    }
}

/// Writes a picture of a session as a PNG file.
///
/// # Errors
/// Why it can't be written, for a person.
pub(crate) fn save_picture(path: &str, picture: &Picture) -> Result<(), String> {
    let file = png::rgba(picture.width, picture.height, &picture.pixels);
    let written = file.and_then(|file| whole_file::write(path, &file));
    written.map_err(|failure| failure.to_string())
}

/// What a client launches: a shader, and arguments as on a command line.
pub(crate) fn prepare_launched(program: &str, args: &[String]) -> Result<Subject, Failure> {
    let refused = |error: clap::Error| Failure::refused(WrongArguments(error.to_string()));
    let command = clap::Command::new("eitri debug").no_binary_name(true);
    let all = std::iter::once(program).chain(args.iter().map(String::as_str));
    let matches = Args::augment_args(command).try_get_matches_from(all);
    let parsed = Args::from_arg_matches(&matches.map_err(refused)?);
    parsed.map_err(refused)?.prepare()
}

impl Args {
    /// Reads what is to be debugged.
    ///
    /// # Errors
    /// What is wrong with it, or that it is nothing.
    pub(crate) fn prepare(&self) -> Result<Subject, Failure> {
        let subject = self.subject.as_deref();
        let subject = subject.ok_or_else(|| Failure::refused(NoSubject))?;
        if !is_model(Path::new(subject)) {
            self.models.refuse_without_model()?;
        }
        if is_dump(Path::new(subject)) {
            if self.run.is_some() {
                return Err(Failure::refused(NoScript));
            }
            match self.level {
                Some(DebugLevel::Source) => return Err(Failure::refused(NoSource)),
                Some(DebugLevel::Driver) => return Err(Failure::refused(NoDriver)),
                Some(DebugLevel::Machine) | None => {}
            }
            return Ok(Subject::Dump(DumpJob {
                path: subject.to_owned(),
                file: dump::read(subject)?,
                wanted: self.job_number.map(|number| number as usize),
                limit: self.job.limit(),
            }));
        }
        if self.job_number.is_some() {
            return Err(Failure::refused(OneJob));
        }
        if is_script(Path::new(subject)) {
            return Ok(Subject::Script(ScriptJob {
                path: subject.to_owned(),
                gpu: self.gpu.choice(),
                run: self.run.unwrap_or(1),
                limit: self.job.limit().max(SCENE_LIMIT),
                level: self.level,
            }));
        }
        if self.run.is_some() {
            return Err(Failure::refused(NoScript));
        }
        if is_model(Path::new(subject)) {
            let (scene, texts) = self.models.scene_with_texts(Path::new(subject))?;
            return self.scene(scene, texts);
        }
        if let Some(scene) = scene_at(Path::new(subject))? {
            return self.scene(scene, BTreeMap::new());
        }
        let origin = Origin {
            subject,
            language: &self.language,
            job: &self.job,
            gpu: self.gpu.choice(),
        };
        let prepared = prepare(&origin, self.level.unwrap_or_default())?;
        Ok(Subject::Shader(Box::new(prepared)))
    }

    /// A scene, with the texts of its shaders that are in no file.
    fn scene(&self, scene: Scene, texts: BTreeMap<String, String>) -> Result<Subject, Failure> {
        if matches!(self.level, Some(DebugLevel::Source | DebugLevel::Machine)) {
            return Err(Failure::refused(DriverOnly));
        }
        Ok(Subject::Scene(Box::new(SceneJob {
            path: scene.path.display().to_string(),
            scene,
            gpu: self.gpu.choice(),
            limit: self.job.limit().max(SCENE_LIMIT),
            texts,
        })))
    }
}

/// Whether a file is a core dump. Dumps are ELF files, and no shader is one.
fn is_dump(path: &Path) -> bool {
    let mut first = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == *b"\x7FELF"
}

/// Whether a file is an Amber script, by its name.
fn is_script(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str());
    matches!(end, Some("amber" | "vkscript"))
}

/// The scene of a file or of its folder; none of what is no scene.
fn scene_at(path: &Path) -> Result<Option<Scene>, Failure> {
    let is_case = path.is_dir() || path.extension().is_some_and(|end| end == "json");
    if !is_case {
        return Ok(None);
    }
    // What can't be found or read is reported by the code that reads kernels.
    let found = find(path).unwrap_or_default();
    let [file] = found.as_slice() else {
        return Ok(None);
    };
    let text = std::fs::read(file).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    if value.get("steps").is_none() || value.get("pipelines").is_none() {
        return Ok(None);
    }
    let scene = Scene::read(file);
    Ok(Some(scene.map_err(|error| {
        Failure::refused(DrawError::from(error))
    })?))
}

/// A shader or a kernel, as a person names it.
pub(crate) struct Origin<'a> {
    pub(crate) subject: &'a str,
    pub(crate) language: &'a LanguageArgument,
    pub(crate) job: &'a JobArguments,
    pub(crate) gpu: GpuChoice,
}

/// Reads a shader with what its job needs, or a kernel with all of it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn prepare(origin: &Origin<'_>, level: DebugLevel) -> Result<Prepared, Failure> {
    let Origin {
        subject,
        language,
        job,
        gpu,
    } = *origin;
    let path = Path::new(subject);
    let is_case = path.is_dir() || path.extension().is_some_and(|end| end == "json");
    if is_case {
        let cases = kernel::read_cases(&[PathBuf::from(path)], None)?;
        let [case] = cases.as_slice() else {
            return Err(Failure::refused(WrongCommand {
                file: subject.to_owned(),
                line: 0,
                why: format!("{} kernels: name one", cases.len()),
            }));
        };
        let refused = |why| Failure::refused(debugged::NotDebugged::of(subject, why));
        let prepared = case_run::prepare(case, Module::Plain, gpu);
        return Ok(Prepared {
            level,
            ..prepared.map_err(refused)?
        });
    }
    let shader = match level {
        DebugLevel::Source => language.load_for_debugger(subject)?,
        DebugLevel::Machine | DebugLevel::Driver => language.load(subject)?,
    };
    let address = job.push_address();
    Ok(Prepared {
        options: eitri_shaderc::Options {
            target: gpu.target(),
            ..job.options()
        },
        groups: job.groups(),
        push_constants: job.push_constants(&shader)?,
        resources: job.resources()?,
        addresses: address.into_iter().map(broken::address).collect(),
        path: shader.path,
        spirv: shader.spirv,
        gpu,
        firmware: job.firmware()?,
        limit: job.limit(),
        level,
    })
}

/// Carries out the commands of a file.
fn run_commands<E: Execution>(mut console: Console<E>, file: &str) -> Result<Status, Failure> {
    let bytes = buffer_source::read(file)?;
    let text = String::from_utf8_lossy(&bytes);
    outln!("{}", console.show_start())?;
    for (number, line) in text.lines().enumerate() {
        let command = line.trim();
        if command.is_empty() || command.starts_with('#') {
            continue;
        }
        outln!("> {command}")?;
        let wrong = |why| WrongCommand {
            file: file.to_owned(),
            line: number + 1,
            why,
        };
        match console.execute(command) {
            Answer::Text(text) => show(&text)?,
            Answer::Wrong(why) => return Err(Failure::refused(wrong(why))),
            Answer::Failed(why) => return Err(Failure::check(wrong(why))),
            Answer::Quit => break,
        }
    }
    Ok(Status::Good)
}

/// Reads commands until the end of standard input.
fn prompt<E: Execution>(mut console: Console<E>) -> Result<Status, Failure> {
    let stdin = std::io::stdin();
    let is_terminal = stdin.is_terminal();
    outln!("{}", console.show_start())?;
    let mut status = Status::Good;
    let mut last = String::new();
    let mut lines = stdin.lock().lines();
    loop {
        if is_terminal {
            streams::put(b"(eitri) ")?;
        }
        let Some(Ok(line)) = lines.next() else {
            return Ok(status);
        };
        // An empty line at a prompt repeats a step.
        if !line.trim().is_empty() || !is_terminal {
            last = line;
        }
        match console.execute(&last) {
            Answer::Text(text) => show(&text)?,
            Answer::Wrong(why) => talk!("{why}"),
            Answer::Failed(why) => {
                talk!("{why}");
                status = Status::CheckFailed;
            }
            Answer::Quit => return Ok(status),
        }
    }
}

fn show(text: &str) -> Result<(), Failure> {
    match text {
        "" => Ok(()),
        _ => outln!("{text}"),
    }
}
