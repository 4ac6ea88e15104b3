//! `eitri kernels`: random kernels, with what another implementation of Vulkan computes as what is expected of them.

use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::random_kernels;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to write to: each kernel gets one in it, random_SEED.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 48))]
    seed: u64,
    /// The number of seeds: the first, and those that follow.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let left_out = random_kernels::write(&args.output, args.seed..args.seed + args.count)?;
    let written = args.count - left_out.len() as u64;
    let folder = args.output.display();
    outln!("{written} kernels in {folder}, as lavapipe computes them")?;
    if !left_out.is_empty() {
        outln!(
            "left out, since lavapipe can't run them: {}",
            left_out.join(", ")
        )?;
    }
    Ok(Status::Good)
}
