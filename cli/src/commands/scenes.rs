//! `eitri scenes`: random scenes, with what another implementation of Vulkan draws as what is expected of them.

use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::random_scenes;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder to write to: each scene gets one in it, random_SEED.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 48))]
    seed: u64,
    /// The number of scenes: that of the first seed, and those of the seeds that follow.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    count: u64,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    random_scenes::write(&args.output, args.seed..args.seed + args.count)?;
    let folder = args.output.display();
    outln!("{} scenes in {folder}, as lavapipe draws them", args.count)?;
    Ok(Status::Good)
}
