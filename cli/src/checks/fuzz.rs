//! Random words on the decoders, more of them than a test has time for, and others in each run.

use super::Case;
use crate::commands::fuzz;
use crate::outcome::Failure;
use crate::progress;
use crate::workspace::Workspace;
use std::time::{SystemTime, UNIX_EPOCH};

/// Words for a decoder that is quick.
const COUNT: u64 = 50_000_000;

pub(super) fn run(_: &Workspace) -> Result<Vec<Case>, Failure> {
    // A clock before 1970 gives the seed 0, which is as good as any.
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seed = since.unwrap_or_default().as_secs();
    let run = |decoder: fuzz::Decoder| {
        let name = format!("{} decoder, seed {seed}", decoder.name());
        let step = progress::start(&name);
        let faults = fuzz::faults(decoder, seed, COUNT);
        step.finish(faults.is_empty());
        Case::ran(name, (!faults.is_empty()).then(|| faults.join("\n")))
    };
    Ok(fuzz::Decoder::ALL.into_iter().map(run).collect())
}
