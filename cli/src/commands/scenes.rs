//! `eitri scenes`: random scenes, with what another implementation of Vulkan draws as what is expected of them.

use crate::input::seed_arguments::SeedArguments;
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::runs::random_scenes;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    seeds: SeedArguments,
}

pub(crate) fn run(Args { seeds: args }: &Args) -> Result<Status, Failure> {
    random_scenes::write(&args.output, args.seeds())?;
    let folder = args.output.display();
    outln!("{} scenes in {folder}, as lavapipe draws them", args.count)?;
    Ok(Status::Good)
}
