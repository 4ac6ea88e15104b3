//! `eitri bench`: measurements; nothing here passes or fails.

mod boot;
mod checkpoint;
mod code;
mod compile;
mod draw;
mod empty_case;
mod faults;
mod fixed_costs;
mod graphics;
mod model;
mod record;
mod size;

use crate::outcome::{Failure, FileError, Status};
use crate::workspace::Workspace;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is measured.
    #[command(subcommand)]
    what: Subject,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// Instructions decoded, encoded and printed, descriptors packed, against a copy of the same bytes.
    Tables(Filter),
    /// The model's shader cores: lane instructions a second for compute kernels, against a Vulkan driver on the CPU if asked.
    Model(model::Args),
    /// The compiler's code on compute kernels: static figures, and what the model executed for the kernels' inputs.
    Code(code::Args),
    /// The compiler's code on the shaders of drawn scenes: static figures and what the model executed, by stage, against PanVK's.
    Graphics(graphics::Args),
    /// The compiler itself: milliseconds and peak memory for each shader.
    Compile(compile::Args),
    /// The model's drawing: primitives and pixels a second by scene.
    Draw(draw::Args),
    /// The driver's recording and submission: CPU instructions and bytes, counted in QEMU.
    Record(record::Args),
    /// Register accesses from power-off to the first result, against the fewest that could be.
    Boot(boot::Args),
    /// Bytes of the image, and of memory that a queue takes.
    Image(size::Args),
    /// A checkpoint of the debugger between two instructions: 16 MiB of memory, of which 1 % has changed.
    Checkpoint(checkpoint::Args),
    /// Every fault of the model at every moment of the driver's life.
    Faults,
}

#[derive(clap::Args)]
struct Filter {
    /// Only measurements whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    match &args.what {
        Subject::Tables(filter) => cargo(&["bench", "-p", "eitri", "--bench", "tables"], filter),
        Subject::Model(args) => model::run(args),
        Subject::Code(args) => code::run(args),
        Subject::Graphics(args) => graphics::run(args),
        Subject::Compile(args) => compile::run(args),
        Subject::Draw(args) => draw::run(args),
        Subject::Record(args) => record::run(args),
        Subject::Boot(args) => boot::run(args),
        Subject::Image(args) => size::run(args),
        Subject::Checkpoint(args) => checkpoint::run(args),
        Subject::Faults => faults::run(),
    }
}

/// Runs a benchmark of the workspace.
fn cargo(benchmark: &[&str], filter: &Filter) -> Result<Status, Failure> {
    let mut command = Workspace::find()?.cargo(benchmark);
    if let Some(filter) = &filter.filter {
        command.args(["--", filter]);
    }
    // Built with optimisation, whatever this process was built with; the figures go to standard output as they come.
    match command.status() {
        Ok(status) if status.success() => Ok(Status::Good),
        Ok(_) => Ok(Status::CheckFailed),
        Err(cause) => Err(Failure::missing(FileError::at("run", "cargo", cause))),
    }
}
