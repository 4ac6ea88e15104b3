//! `eitri reduce`: the smallest shader that still does what a command looks for.

use crate::input::shader_file;
use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::{outln, talk};
use crate::output::whole_file;
use crate::reduce::{self, Progress};
use miette::Diagnostic;
use rspirv::binary::Disassemble;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    shader: String,
    /// The command that is asked about each candidate, by `sh -c`: it keeps one by ending with status 0. `{}` in it stands
    /// for the path of the candidate, a binary module; without one the path is put behind it.
    #[arg(long, value_name = "COMMAND")]
    keep_if: String,
    /// Where the smallest module is written; it is printed as text if this is missing.
    #[arg(short, long, value_name = "FILE.spv")]
    output: Option<String>,
}

#[derive(Debug, Error, Diagnostic)]
enum Refused {
    #[error("{path}: {cause}")]
    NoModule { path: String, cause: String },
    #[error("`{command}` does not keep {path} as it is: {said}")]
    #[diagnostic(help("it must end with status 0 for the shader that is reduced"))]
    NotKept {
        command: String,
        path: String,
        said: String,
    },
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let shader = shader_file::load(&args.shader)?;
    let module = reduce::load(&shader.spirv).map_err(|cause| {
        Failure::refused(Refused::NoModule {
            path: args.shader.clone(),
            cause: cause.to_string(),
        })
    })?;
    let folder = tempfile::tempdir().map_err(failed("make", "a folder for candidates"))?;
    let path = folder.path().join("candidate.spv");
    let ask = |candidate: &[u8]| -> Result<bool, Failure> {
        let mut file =
            std::fs::File::create(&path).map_err(failed("write", &path.to_string_lossy()))?;
        file.write_all(candidate)
            .map_err(failed("write", &path.to_string_lossy()))?;
        drop(file);
        keeps(&args.keep_if, &path)
    };
    // The shader itself, not what the parser made of it: whoever looks for a module that nothing can read, looks here.
    if !ask(&shader.spirv)? {
        return Err(Failure::refused(Refused::NotKept {
            command: args.keep_if.clone(),
            path: args.shader.clone(),
            said: "its status was not 0".to_owned(),
        }));
    }
    let before = reduce::size(&module);
    let small = reduce::reduce(
        module,
        |candidate| ask(&reduce::bytes(candidate)),
        |Progress {
             step,
             instructions,
             questions,
         }| talk!("{instructions:>7} instructions after {questions} questions: {step}"),
    )?;
    talk!("{before} instructions have become {}", reduce::size(&small));
    match &args.output {
        Some(output) => whole_file::write(output, &reduce::bytes(&small))?,
        None => outln!("{}", small.disassemble())?,
    }
    Ok(Status::Good)
}

/// Whether the command ends with status 0 for the candidate.
fn keeps(command: &str, candidate: &Path) -> Result<bool, Failure> {
    let path = candidate.to_string_lossy();
    let line = match command.contains("{}") {
        true => command.replace("{}", &path),
        false => format!("{command} {path}"),
    };
    let status = Command::new("sh")
        .args(["-c", &line])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(failed("run", "sh"))?;
    Ok(status.success())
}

fn failed<'a>(action: &'static str, path: &'a str) -> impl Fn(std::io::Error) -> Failure + 'a {
    move |cause| {
        Failure::missing(FileError {
            action,
            path: path.to_owned(),
            cause,
        })
    }
}
