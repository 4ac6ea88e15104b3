//! What a person or a harness reads: a line a script, and the last line.

use super::case::{LEFT_OUT, REPORTED};
use super::verdict::Verdict;
use super::workers::Outcome;
use crate::outcome::Failure;
use crate::output::streams::{outln, talk};
use std::fmt;

/// How many scripts ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
    /// Of those that passed: known failures, which nobody wants to see as such.
    pub(crate) expected: usize,
    /// Of those that passed: what fails now and then.
    pub(crate) flaky: usize,
}

impl Tally {
    pub(crate) fn of<'o>(outcomes: impl IntoIterator<Item = &'o Verdict>) -> Tally {
        let mut tally = Tally::default();
        for verdict in outcomes {
            match verdict {
                Verdict::Skip(_) => tally.skipped += 1,
                verdict if verdict.failed() => tally.failed += 1,
                _ => tally.passed += 1,
            }
            match verdict {
                Verdict::ExpectedFail(_) => tally.expected += 1,
                Verdict::Flake(_) => tally.flaky += 1,
                _ => (),
            }
        }
        tally
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        )
    }
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line a script, for people.
    Lines,
    /// Only failures.
    Quiet,
    /// The Test Anything Protocol, version 13.
    Tap,
}

/// Whether `--check` was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// It was not: jobs that the checkers left out are counted.
    Usual,
    /// It was: each job that they left out is named.
    Wanted,
}

/// Jobs of a script that the checkers left out.
fn left_out(outcome: &Outcome) -> impl Iterator<Item = &str> {
    let lines = outcome.output.lines();
    lines.filter_map(|line| line.strip_prefix(LEFT_OUT))
}

/// What stands before the first script.
pub(crate) fn start(form: Form, count: usize) -> Result<(), Failure> {
    match form {
        Form::Tap => outln!("TAP version 13\n1..{count}"),
        Form::Lines | Form::Quiet => Ok(()),
    }
}

/// A script has ended: one write.
pub(crate) fn one(
    form: Form,
    checks: Checks,
    number: usize,
    outcome: &Outcome,
) -> Result<(), Failure> {
    let Outcome {
        script, verdict, ..
    } = outcome;
    let name = &script.name;
    if *verdict == Verdict::Pass {
        let lines = outcome.output.lines();
        for line in lines.filter_map(|line| line.strip_prefix(REPORTED)) {
            talk!("{name}: {line}");
        }
    }
    if checks == Checks::Wanted {
        for why in left_out(outcome) {
            talk!("{name}: {LEFT_OUT}{why}");
        }
    }
    if form == Form::Tap {
        return match verdict {
            Verdict::Pass => outln!("ok {number} - {name}"),
            Verdict::Skip(reason) => outln!("ok {number} - {name} # SKIP {}", escaped(reason)),
            Verdict::ExpectedFail(_) => outln!("not ok {number} - {name} # TODO in the baseline"),
            Verdict::Flake(_) => outln!("not ok {number} - {name} # TODO flake"),
            other => outln!(
                "not ok {number} - {name}\n{}",
                commented(&format!("{}: {}", other.word(), other.message()))
            ),
        };
    }
    match verdict {
        Verdict::Pass | Verdict::Skip(_) if form == Form::Quiet => Ok(()),
        Verdict::Pass => outln!("pass {name}"),
        Verdict::Skip(reason) => outln!("skip {name}: skipped: {reason}"),
        Verdict::ExpectedFail(_) | Verdict::Flake(_) if form == Form::Quiet => Ok(()),
        Verdict::ExpectedFail(_) => outln!("fail {name}: as the baseline says"),
        Verdict::Flake(_) => outln!("flake {name}: {}", verdict.summary()),
        other => outln!(
            "{} {name}: {}",
            other.word().to_uppercase(),
            other.message()
        ),
    }
}

/// The last line of all, and on stderr how to run one failure again.
pub(crate) fn end(form: Form, checks: Checks, outcomes: &[Outcome]) -> Result<(), Failure> {
    let in_part = |outcome: &&Outcome| left_out(outcome).next().is_some();
    let in_part = outcomes.iter().filter(in_part).count();
    if in_part != 0 && checks == Checks::Usual {
        talk!("the checkers left out parts of {in_part} scripts: `--check errors` names them");
    }
    if let Some(first) = outcomes.iter().find(|outcome| outcome.verdict.failed()) {
        talk!(
            "to run the first failure alone: eitri amber {} --keep kept",
            first.script.path.display()
        );
    }
    let tally = Tally::of(outcomes.iter().map(|outcome| &outcome.verdict));
    if tally.expected + tally.flaky != 0 {
        talk!(
            "of those that passed, {} failed as expected, and {} fail now and then",
            tally.expected,
            tally.flaky
        );
    }
    match form {
        Form::Tap => outln!("# {tally}\n# done"),
        Form::Lines | Form::Quiet => outln!("{tally}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\n', " ").replace('#', "\\#")
}

fn commented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("# {line}")).collect();
    lines.join("\n")
}
