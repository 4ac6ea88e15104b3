//! `cargo eitri`: builds the `eitri` command where a person can see it, and becomes it.
//!
//! Guarantees: what is missing on the machine is said before the long build; what can be installed is installed while it
//! runs; nothing is printed when nothing has to be built.
#![forbid(unsafe_code)]

mod later_calls;
mod request;

use eitri_launch::cargo::{self, Manner, Watch};
use eitri_launch::tools::{self, Tool};
use eitri_launch::workspace::Workspace;
use eitri_launch::{Problem, images, process, progress};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Exit status when something on this machine is missing, as the `eitri` command has it.
const MISSING: u8 = 3;
/// Exit status when the sources don't compile: the request can't be carried out, as the `eitri` command has it.
const BROKEN: u8 = 2;
/// Longest that the build may take: a day, since a person watches it.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match prepare(&arguments) {
        Ok(Prepared::Ready) => become_eitri(&arguments),
        Ok(Prepared::Broken) => ExitCode::from(BROKEN),
        Ok(Prepared::NotBuilt) => ExitCode::from(MISSING),
        Err(problem) => {
            tell(&problem);
            ExitCode::from(MISSING)
        }
    }
}

/// How the build went.
enum Prepared {
    Ready,
    /// The sources don't compile.
    Broken,
    /// Cargo could not even try: no network, say.
    NotBuilt,
}

/// Builds, and installs what the command line needs, side by side.
fn prepare(arguments: &[std::ffi::OsString]) -> Result<Prepared, Problem> {
    let workspace = Workspace::find()?;
    later_calls::quieten(&workspace);
    let words: Vec<String> = arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let wanted = request::tools(&words);
    let missing = tools::missing(&workspace, &wanted);
    tools::installable(&missing)?;
    std::thread::scope(|scope| {
        let packages = scope.spawn(|| tools::install_packages(&workspace, &missing));
        let images = scope.spawn(|| {
            if missing.contains(&Tool::Target) {
                tools::install_target(&workspace, Tool::Target.program())?;
            }
            if wanted.contains(&Tool::Target) {
                begin_monitor(&workspace)?;
            }
            Ok(())
        });
        let built = build(&workspace);
        for installed in [packages.join(), images.join()] {
            // A thread that panicked has said so.
            installed.unwrap_or(Ok(()))?;
        }
        built
    })
}

/// Builds the `eitri` command.
fn build(workspace: &Workspace) -> Result<Prepared, Problem> {
    let watch = Watch {
        what: "building the eitri command",
        log: &workspace.target_folder().join("eitri/build-eitri.log"),
        limit: LIMIT,
        manner: Manner::PassOn,
    };
    let finished = cargo::run(&mut workspace.cargo(&["build", "-p", "eitri"]), &watch)?;
    Ok(match finished.end.good() {
        true => Prepared::Ready,
        false if finished.output().contains(cargo::SOURCES_ARE_BROKEN) => Prepared::Broken,
        false => Prepared::NotBuilt,
    })
}

/// A head start: the monitor is built beside the command, when it has never been built here.
///
/// Nobody waits for it, and what comes of it is not looked at: the command builds it again where it needs it, and by cargo's own
/// lock waits until this one is through.
fn begin_monitor(workspace: &Workspace) -> Result<(), Problem> {
    if images::path(workspace, images::MONITOR, images::MONITOR).exists() {
        return Ok(());
    }
    // The command takes longer, and ends with one crate that only one core works on: it goes first.
    let mut build = process::yielding(&images::build(workspace, images::MONITOR));
    process::begin(&mut build, &images::log_of_head_start(workspace))
}

/// Replaces this process by the `eitri` command, which lies beside it.
fn become_eitri(arguments: &[std::ffi::OsString]) -> ExitCode {
    let own = std::env::current_exe().unwrap_or_default();
    let cause = Command::new(own.with_file_name("eitri"))
        .args(arguments)
        .exec();
    let program = "eitri".to_owned();
    tell(&Problem::Start { program, cause });
    ExitCode::from(MISSING)
}

fn tell(problem: &Problem) {
    progress::say(format_args!("error: {problem}\n"));
    if let Some(cause) = std::error::Error::source(problem) {
        progress::say(format_args!("cause: {cause}\n"));
    }
    if let Some(help) = problem.help() {
        progress::say(format_args!("help: {help}\n"));
    }
}
