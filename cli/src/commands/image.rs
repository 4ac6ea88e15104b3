//! `eitri image`: a shader as a file that a board boots.

use crate::board_choice;
use crate::boot_file::{self, Format};
use crate::dispatch::{self, Request, Talk};
use crate::gpu_choice::GpuChoice;
use crate::image::{Builder, Image};
use crate::job_arguments::JobArguments;
use crate::lab_files::{self, LabKind};
use crate::outcome::{Failure, Status};
use crate::shader_file;
use crate::streams::outln;
use crate::whole_file::Pending;
use eitri_boards::Board;
use eitri_job::Wants;
use eitri_model::stub_firmware;
use miette::Diagnostic;
use std::path::Path;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shader: .wgsl, .comp or .glsl, .spv, .spvasm.
    #[arg(required_unless_present_any = ["list_boards", "validation"])]
    shader: Option<String>,
    /// The validation suite instead of a shader: an image that says whether the board's GPU works.
    #[arg(long, conflicts_with = "shader")]
    validation: bool,
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
    /// Write what a lab wants to know beside the file: environment, strategy and test for labgrid, or job and device
    /// dictionary for LAVA.
    #[arg(long, value_enum)]
    lab: Option<LabKind>,
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
    let image = match args.validation {
        true => validation_image(args, board)?,
        false => job_image(args, board)?,
    };
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
    let mut lab = Vec::new();
    if let Some(kind) = args.lab {
        let folder = Path::new(&output).parent().unwrap_or(Path::new(""));
        for file in lab_files::files(kind, board, &name.to_string_lossy()) {
            let path = folder.join(&file.name).display().to_string();
            lab.push(Pending::write(&path, file.text.as_bytes())?);
        }
    }
    file.commit()?;
    script.map_or(Ok(()), Pending::commit)?;
    lab.into_iter().try_for_each(Pending::commit)?;
    // What goes to standard output is either the file or what to do with it.
    if output != "-" && args.script.as_deref() != Some("-") && args.format != Format::Elf {
        outln!("{}", lines.join("\n"))?;
    }
    Ok(Status::Good)
}

/// The image that runs the shader.
fn job_image(args: &Args, board: &Board) -> Result<Image, Failure> {
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
    Builder::new()?.build_job(Some(board), &bundle)
}

/// The image that runs the validation suite.
fn validation_image(args: &Args, board: &Board) -> Result<Image, Failure> {
    let firmware = args.job.firmware()?.unwrap_or_else(stub_firmware);
    Builder::new()?.build_validation(Some(board), &firmware)
}
