//! Writing: a log's results for a person, and as TAP.

use super::{Judgement, Log, Outcome};
use crate::results::{Results, Status};
use std::fmt::Write;

/// For a person: what failed, what was measured, the verdict.
pub(crate) fn plain(log: &Log) -> String {
    let mut text = String::new();
    if !log.title.is_empty() {
        let _ = writeln!(text, "{}", log.title);
    }
    for test in &log.tests {
        let word = match test.outcome {
            Outcome::Passed => continue,
            Outcome::Failed => "FAILED ",
            Outcome::Skipped => "skipped",
        };
        let _ = writeln!(text, "{word}  {}: {}", test.name, test.why);
    }
    for number in log.tests.iter().flat_map(|test| &test.numbers) {
        let _ = writeln!(text, "{} = {} {}", number.name, number.value, number.unit);
    }
    match log.judge() {
        Judgement::Good => {
            let _ = writeln!(text, "good: {} tests passed", log.count(Outcome::Passed));
        }
        Judgement::Bad(why) => {
            for line in why {
                let _ = writeln!(text, "bad: {line}");
            }
        }
        Judgement::Nothing => text.push_str("nothing of Eitri's is in the log\n"),
    }
    text
}

/// The Test Anything Protocol; what was planned and did not come is not ok.
pub(super) fn tap(log: &Log, results: &Results) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", results.cases.len());
    for (number, case) in (1..).zip(&results.cases) {
        let (name, why) = (&case.name, case.why.replace('#', "no.").replace('\n', " "));
        let _ = match case.status {
            Status::Pass => writeln!(text, "ok {number} {name}"),
            Status::Skip => writeln!(text, "ok {number} {name} # SKIP {why}"),
            Status::Fail | Status::Error | Status::Missing => {
                writeln!(text, "not ok {number} {name} # {why}")
            }
        };
        for it in &case.numbers {
            let _ = writeln!(text, "# @M {} {} {}", it.name, it.value, it.unit);
        }
    }
    if let Judgement::Bad(why) = log.judge() {
        for line in why {
            let _ = writeln!(text, "# {line}");
        }
    }
    text
}
