//! `eitri test`: every check of the repository, and a summary.

use crate::checks::{self, Needs, Tally};
use crate::outcome::{Failure, Status};
use crate::setup;
use crate::streams::outln;
use crate::workspace::Workspace;
use miette::Diagnostic;
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the names of the checks, and run none.
    #[arg(long)]
    list: bool,
    /// Run only checks whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Accept new output of tests that compare with a kept one; review the difference like code.
    #[arg(long)]
    bless: bool,
}

#[derive(Debug, Error, Diagnostic)]
#[error("no check's name contains `{filter}`")]
#[diagnostic(help("`cargo eitri test --list` prints them"))]
struct NoSuchCheck {
    filter: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let wanted = |name: &str| {
        args.filter
            .as_deref()
            .is_none_or(|filter| name.contains(filter))
    };
    let chosen: Vec<_> = checks::ALL
        .iter()
        .filter(|check| wanted(check.name))
        .collect();
    if let ([], Some(filter)) = (chosen.as_slice(), &args.filter) {
        return Err(Failure::refused(NoSuchCheck {
            filter: filter.clone(),
        }));
    }
    if args.list {
        for check in chosen {
            outln!("{:<12} {}", check.name, check.what)?;
        }
        return Ok(Status::Good);
    }
    let workspace = Workspace::find()?;
    if chosen.iter().any(|check| check.needs != Needs::Host) {
        setup::bare_metal_target(&workspace)?;
    }
    if chosen.iter().any(|check| check.needs == Needs::Qemu) {
        setup::qemu(&workspace)?;
    }
    let mut outcomes = Vec::new();
    for check in chosen {
        outcomes.push(check.run(&workspace, args.bless)?);
    }
    summarise(&outcomes)
}

/// Prints what failed, the table, and the line of totals; gives the status of the whole.
fn summarise(outcomes: &[checks::Outcome]) -> Result<Status, Failure> {
    for outcome in outcomes {
        if let Some(failure) = &outcome.failure {
            outln!(
                "---- {} ({})\n{failure}",
                outcome.name,
                outcome.log.display()
            )?;
            outln!("again: cargo eitri test --filter {}\n", outcome.name)?;
        }
    }
    outln!("check         passed  failed  skipped   seconds")?;
    let mut total = Tally::default();
    for outcome in outcomes {
        let Tally {
            passed,
            failed,
            skipped,
        } = outcome.tally;
        let (name, seconds) = (outcome.name, outcome.took.as_secs_f32());
        outln!("{name:<12} {passed:>7} {failed:>7} {skipped:>8} {seconds:>9.1}")?;
        total += outcome.tally;
    }
    // CI reads this line.
    outln!(
        "{} passed, {} failed, {} skipped",
        total.passed,
        total.failed,
        total.skipped
    )?;
    Ok(match total.failed {
        0 => Status::Good,
        _ => Status::CheckFailed,
    })
}
