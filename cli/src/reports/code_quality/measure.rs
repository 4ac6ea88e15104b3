//! Measuring: compile and run each kernel, and count.

use super::column::COLUMNS;
use super::table::{Kernel, Result, Table};
use crate::outcome::Failure;
use crate::output::streams::talk;
use crate::progress;
use crate::runs::case_run::{self, Setting, Verdict};
use crate::runs::parallel;
use eitri_compute_cases::Case;
use std::num::NonZero;

/// The figures of `cases`. Those that fail are told on stderr.
pub(crate) fn measure(
    cases: &[Case],
    setting: Setting,
    jobs: NonZero<usize>,
) -> std::result::Result<Table, Failure> {
    let mut kernels = Vec::new();
    let progress = progress::count(cases.len());
    let work = |case: &Case| case_run::run(case, setting);
    parallel::in_order(cases, jobs, work, |case, verdict| {
        let name = case.name.clone();
        let result = progress.done(&case.name, || result(&name, verdict));
        kernels.push(Kernel { name, result });
        Ok::<(), Failure>(())
    })?;
    Ok(Table { kernels })
}

fn result(name: &str, verdict: Verdict) -> Result {
    match verdict {
        Verdict::Passed(passed) => {
            // Cases are run on the model, which is a Mali.
            let Some(statistics) = passed.compiled.statistics.valhall() else {
                return Result::Failed;
            };
            let executed = passed.executed;
            let executed = executed.unwrap_or_default();
            let figures = COLUMNS.iter();
            Result::Figures(
                figures
                    .map(|column| Some(column.of(statistics, &executed)))
                    .collect(),
            )
        }
        Verdict::Skipped(_) => Result::Refused,
        Verdict::Failed(why) => {
            talk!("FAIL {name}: {why}");
            Result::Failed
        }
    }
}
