//! `eitri test`: every check of the repository, and a summary.

use crate::checks::{self, Check, Lane, Tally, When};
use crate::outcome::{Failure, Status};
use crate::output::list::{self, ListForm, Row};
use crate::output::streams::outln;
use crate::workspace::Workspace;
use eitri_launch::tools::{self, Tool};
use miette::Diagnostic;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the names of the checks, and run none.
    #[arg(long, value_name = "FORM", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    list: Option<ListForm>,
    /// Run only checks whose name contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run the long checks too; `--list` says how long each takes.
    #[arg(long)]
    long: bool,
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

#[derive(Debug, Error, Diagnostic)]
#[error("what `{filter}` names is run only with `--long`")]
struct OnlyLong {
    filter: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let filter = args.filter.as_deref().unwrap_or("");
    let mut chosen: Vec<_> = checks::ALL
        .iter()
        .filter(|check| check.name.contains(filter))
        .collect();
    if let Some(filter) = args.filter.clone().filter(|_| chosen.is_empty()) {
        return Err(Failure::refused(NoSuchCheck { filter }));
    }
    if let Some(form) = args.list {
        let row = |check: &&checks::Check| {
            let row = Row::named(check.name).about(check.what);
            match check.when {
                When::Always => row,
                When::Long(time) => row.with("long", json!(time)),
            }
        };
        let rows: Vec<Row> = chosen.iter().map(row).collect();
        list::print(form, "checks", &rows, |row| {
            let long = row.more.as_ref().and_then(|(_, time)| time.as_str());
            let long = long.map_or(String::new(), |time| {
                format!(" (only with --long: about {time})")
            });
            format!("{:<12} {}{long}", row.name, row.about)
        })?;
        return Ok(Status::Good);
    }
    if !args.long {
        chosen.retain(|check| !matches!(check.when, When::Long(_)));
    }
    if chosen.is_empty() {
        let filter = filter.to_owned();
        return Err(Failure::refused(OnlyLong { filter }));
    }
    let workspace = Workspace::find()?;
    let needed = |tool: &Tool| chosen.iter().any(|check| check.needs.contains(tool));
    let wanted: Vec<Tool> = Tool::ALL.iter().copied().filter(needed).collect();
    tools::ensure(&workspace, &wanted)?;
    summarise(&run_all(&chosen, &workspace, args.bless)?)
}

/// Runs the checks, those of each lane one after the other; gives their outcomes in the order of `chosen`.
fn run_all(
    chosen: &[&Check],
    workspace: &Workspace,
    bless: bool,
) -> Result<Vec<checks::Outcome>, Failure> {
    let given_up = AtomicBool::new(false);
    let outcomes: Vec<Mutex<Option<checks::Outcome>>> =
        chosen.iter().map(|_| Mutex::default()).collect();
    let run_lane = |lane: Lane| -> Result<(), Failure> {
        for (check, place) in chosen.iter().zip(&outcomes) {
            if check.lane != lane || given_up.load(Ordering::Relaxed) {
                continue;
            }
            let outcome = check.run(workspace, bless);
            given_up.fetch_or(outcome.is_err(), Ordering::Relaxed);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome?);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let images = scope.spawn(|| run_lane(Lane::Images));
        let host = run_lane(Lane::Host);
        // A panic goes on in the thread that waits for it.
        let images = images
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        host.and(images)
    })?;
    let taken = outcomes
        .into_iter()
        .map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(taken.flatten().collect())
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
