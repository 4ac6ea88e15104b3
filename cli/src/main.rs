//! The `eitri` command: everything a person runs, developers' tasks included.
//!
//! Results go to stdout; diagnostics and progress go to stderr. The exit status is that of [`outcome::Status`].
#![forbid(unsafe_code)]

/// A compiler asks for much small memory: with this one large shaders take a seventh less time than with that of the system.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod amber;
mod checks;
mod commands;
mod draw;
mod help;
mod images;
mod input;
mod interrupt;
mod linux;
mod messages;
mod mutants;
mod outcome;
mod output;
mod pages;
mod profile;
mod reduce;
mod reports;
mod results;
mod runs;

use clap::FromArgMatches;
// What happens before this command runs has these too.
use eitri_launch::{process, progress, workspace};

/// Bring-up of Arm Mali Valhall CSF GPUs with no operating system underneath.
///
/// Exit status: 0 good; 1 a check or a test failed; 2 the request can't be carried out (usage, bad input, unsupported, a shader
/// that never ends); 3 something on this machine is missing; 101 an internal error. `linux` and `boot` end as the guest does.
#[derive(clap::Parser)]
#[command(name = "eitri", version, max_term_width = 110)]
struct Eitri {
    #[command(subcommand)]
    command: commands::Command,
    #[command(flatten)]
    messages: messages::Arguments,
}

fn main() -> std::process::ExitCode {
    // clap answers a wrong command line with status 2 by itself, as it must be.
    let matches = help::command().get_matches();
    let eitri = Eitri::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    eitri.messages.apply();
    // Temporary files of this process lie in one folder, so that they are removed whatever ends it.
    let temporary = tempfile::Builder::new().prefix("eitri-").tempdir().ok();
    let folder = temporary.as_ref().map(|folder| folder.path().to_owned());
    if let Some(folder) = &folder {
        // An error means that there is such a folder already: nobody else sets one.
        let _ = tempfile::env::override_temp_dir(folder);
    }
    interrupt::watch(folder);
    let checked = input::engine_choice::check_variable();
    let checked = checked.and_then(|()| input::thread_choice::check_variable());
    let checked = checked.and_then(|()| input::reorder_choice::check_variable());
    let checked = checked.and_then(|()| input::model_place::check_variable());
    let done = checked.and_then(|()| commands::run(eitri.command));
    // A QEMU that an interrupt has stopped may have ended the command first; the status is the signal's all the same.
    interrupt::stay_if_ending();
    outcome::report(done)
}
