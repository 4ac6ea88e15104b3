//! `eitri image`: a shader as a file that a board boots.

use crate::board_choice;
use crate::boot_file::{self, Format};
use crate::dispatch::{self, Request, Talk};
use crate::gpu_choice::GpuChoice;
use crate::image::Builder;
use crate::job_arguments::JobArguments;
use crate::outcome::{Failure, Status};
use crate::shader_file;
use crate::streams::outln;
use crate::whole_file::Pending;
use eitri_job::Wants;
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    #[arg(required_unless_present = "list_boards")]
    shader: Option<String>,
    /// The board that it is for.
    #[arg(long, value_name = "NAME", required_unless_present = "list_boards")]
    board: Option<String>,
    /// List the boards, and do nothing else.
    #[arg(long)]
    list_boards: bool,
    /// The form of the file.
    #[arg(long, value_enum, default_value_t = Format::Image)]
    format: Format,
    /// Where the file goes; `eitri-BOARD` with the form's ending if not given.
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Write what U-Boot has to do as a script too, for its `source` command.
    #[arg(long, value_name = "FILE")]
    script: Option<String>,
    #[command(flatten)]
    job: JobArguments,
}

/// Why no image is made.
#[derive(Debug, Error, Diagnostic)]
enum RequestError {
    #[error("an ELF file is not for U-Boot: there is nothing to put into --script")]
    NoScript,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    if args.list_boards {
        for board in eitri_boards::ALL {
            outln!("{:<12} {}", board.name, board.title)?;
        }
        return Ok(Status::Good);
    }
    // clap has seen to it that there are a board and a shader.
    let name = args.board.as_deref().unwrap_or_default();
    let board = board_choice::named(name)?;
    if args.script.is_some() && args.format == Format::Elf {
        return Err(Failure::refused(RequestError::NoScript));
    }
    let shader = shader_file::load(args.shader.as_deref().unwrap_or_default())?;
    let compiled = dispatch::compile(&shader, &args.job.options())?;
    let request = Request {
        resources: args.job.resources()?,
        push_constants: args.job.push_constants(),
        groups: args.job.groups(),
        gpu: GpuChoice::default(),
        saves: Vec::new(),
        coherent: true,
        firmware: args.job.firmware()?,
        limit: args.job.limit(),
        wants: Wants::default(),
        talk: Talk::Quiet,
    };
    let bundle = dispatch::bundle(&shader.path, &compiled, &request)?;
    let image = Builder::new()?.build_job(Some(board), &bundle)?;
    let output = args.output.clone();
    let output =
        output.unwrap_or_else(|| format!("eitri-{}.{}", board.name, args.format.extension()));
    let name = Path::new(&output).file_name().unwrap_or_default();
    let lines = boot_file::u_boot_lines(board, args.format, Some(&name.to_string_lossy()));
    let file = Pending::write(&output, &boot_file::encode(&image, board, args.format)?)?;
    let script = match &args.script {
        Some(path) => Some(Pending::write(path, &boot_file::boot_script(&lines)?)?),
        None => None,
    };
    file.commit()?;
    script.map_or(Ok(()), Pending::commit)?;
    // What goes to standard output is either the file or what to do with it.
    if output != "-" && args.script.as_deref() != Some("-") && args.format != Format::Elf {
        outln!("{}", lines.join("\n"))?;
    }
    Ok(Status::Good)
}
