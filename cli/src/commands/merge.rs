//! `eitri merge`: the results of several machines as those of one.

use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::results::{self, Files, merge};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `--results` wrote on each machine.
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<String>,
    #[command(flatten)]
    outputs: Files,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let all = merge(&args.files)?;
    args.outputs.write(&all)?;
    if !args.outputs.on_stdout() {
        for case in all.cases.iter().filter(|case| case.status.is_bad()) {
            let why = case.why.lines().next().unwrap_or_default();
            outln!("FAIL {}: {why}", case.name)?;
        }
        let failed = all.cases.iter().filter(|case| case.status.is_bad()).count();
        let [passed, skipped] =
            [results::Status::Pass, results::Status::Skip].map(|status| all.count(status));
        outln!("{passed} passed, {failed} failed, {skipped} skipped")?;
        if all.interrupted {
            outln!("one of the runs was interrupted: tests may be missing")?;
        }
    }
    Ok(match all.is_good() {
        true => Status::Good,
        false => Status::CheckFailed,
    })
}
