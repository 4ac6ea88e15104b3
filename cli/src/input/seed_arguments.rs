//! The arguments of commands that write something for each seed of a range.

use std::ops::Range;
use std::path::PathBuf;

/// A folder and a range of seeds.
#[derive(clap::Args)]
pub(crate) struct SeedArguments {
    /// The folder to write to: each seed gets one in it, random_SEED.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// The first seed.
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 48))]
    seed: u64,
    /// The number of seeds: the first, and those that follow.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) count: u64,
}

impl SeedArguments {
    pub(crate) fn seeds(&self) -> Range<u64> {
        self.seed..self.seed + self.count
    }
}
