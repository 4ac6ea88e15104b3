//! `eitri merge`: the results of several machines as those of one.

use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use crate::output::whole_file;
use crate::results::{self, merge};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// What `--results` wrote on each machine.
    #[arg(required = true, value_name = "FILE.json")]
    files: Vec<String>,
    /// Write all results as JSON, which can be merged again.
    #[arg(long, value_name = "FILE")]
    results: Option<String>,
    /// Write all results as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let all = merge(&args.files)?;
    if let Some(path) = &args.results {
        whole_file::write(path, format!("{:#}\n", all.to_json()).as_bytes())?;
    }
    if let Some(path) = &args.junit {
        whole_file::write(path, all.junit().as_bytes())?;
    }
    let to_stdout = [&args.results, &args.junit].map(Option::as_deref);
    if !to_stdout.contains(&Some("-")) {
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
