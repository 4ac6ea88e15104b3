//! `eitri kernels`: random kernels, with what another implementation of Vulkan computes as what is expected of them.

use crate::input::seed_arguments::SeedArguments;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::random_kernels;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    seeds: SeedArguments,
}

pub(crate) fn run(Args { seeds: args }: &Args) -> Result<Status, Failure> {
    let left_out = random_kernels::write(&args.output, args.seeds())?;
    let written = args.count - left_out.count() as u64;
    let folder = args.output.display();
    outln!("{written} kernels in {folder}, as lavapipe computes them")?;
    for (names, why) in [
        (
            left_out.invalid,
            "spirv-opt refuses what glslang makes of them",
        ),
        (left_out.not_run, "lavapipe can't run them"),
    ] {
        if !names.is_empty() {
            outln!("left out, since {why}: {}", names.join(", "))?;
        }
    }
    Ok(Status::Good)
}
