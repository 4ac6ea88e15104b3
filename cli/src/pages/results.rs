//! Results of a list as a page: the verdict first, what failed with its reasons, then all by area.

use super::{anchor, environment, render};
use crate::outcome::Failure;
use crate::results::{Case, Picture, Results, Status};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

/// How many failures are named in the verdict.
const NAMED: usize = 12;

/// The page; `log` is what a machine printed, where that is kept.
pub(crate) fn results(results: &Results, log: Option<&str>) -> Result<String, Failure> {
    let mut groups: Vec<(String, Vec<&Case>)> = vec![];
    for case in &results.cases {
        let area = area(&case.name);
        match groups.iter_mut().find(|(name, _)| *name == area) {
            Some((_, cases)) => cases.push(case),
            None => groups.push((area, vec![case])),
        }
    }
    let bad: Vec<&Case> = results
        .cases
        .iter()
        .filter(|case| case.status.is_bad())
        .collect();
    let named = bad.iter().take(NAMED);
    let named = named.map(|case| json!({ "id": anchor("case", &case.name), "name": case.name, "summary": summary(case) }));
    let counts = Status::ALL.iter().filter_map(|(status, _)| {
        let number = results.count(*status);
        let count = json!({ "number": number, "word": past(*status), "class": class(*status) });
        (number != 0).then_some(count)
    });
    let properties = results.properties.iter();
    let properties = properties.map(|(name, value)| json!({ "name": name, "value": value }));
    let start = results
        .start
        .iter()
        .map(|start| json!({ "name": "begun", "value": start }));
    let shard = results
        .shard
        .iter()
        .map(|shard| json!({ "name": "part", "value": shard.to_string() }));
    let value = json!({
        "title": format!("{}: {}", results.suite, if results.is_good() { "good" } else { "not good" }),
        "good": results.is_good(),
        "verdict": verdict(results, bad.len()),
        "counts": counts.collect::<Vec<_>>(),
        "bad": named.collect::<Vec<_>>(),
        "unlisted": bad.len().saturating_sub(NAMED),
        "properties": properties.chain(start).chain(shard).collect::<Vec<_>>(),
        "groups": groups.iter().map(|(name, cases)| group(name, cases)).collect::<Vec<_>>(),
        "log": log,
        "log_lines": log.map_or(0, |log| log.lines().count()),
    });
    render(
        &environment().map_err(Failure::refused)?,
        "results.html",
        value,
    )
}

/// What the whole came to.
fn verdict(results: &Results, bad: usize) -> String {
    match (results.interrupted, bad, results.cases.len()) {
        (true, _, ran) => format!("The run was interrupted after {ran} results."),
        (_, 0, 0) => "Nothing ran.".to_owned(),
        (_, 0, _) => "Nothing failed.".to_owned(),
        (_, bad, all) => format!("{bad} of {all} did not pass."),
    }
}

/// The first part of a name.
fn area(name: &str) -> String {
    let end = name.find(['.', '/']).unwrap_or(0);
    name[..end].to_owned()
}

fn group(name: &str, cases: &[&Case]) -> Value {
    let passed = cases
        .iter()
        .filter(|case| case.status == Status::Pass)
        .count();
    json!({
        "id": anchor("area", name),
        "name": if name.is_empty() { "all" } else { name },
        "passed": passed,
        "cases": cases.iter().map(|case| of_case(case)).collect::<Vec<_>>(),
    })
}

fn summary(case: &Case) -> &str {
    case.why.lines().next().unwrap_or_default()
}

fn of_case(case: &Case) -> Value {
    let details = if case.why.lines().count() > 1 {
        case.why.as_str()
    } else {
        ""
    };
    let numbers = case.numbers.iter();
    let numbers = numbers
        .map(|number| json!({ "name": number.name, "value": number.value, "unit": number.unit }));
    let picture =
        |picture: &Picture| json!({ "name": picture.name, "png": BASE64.encode(&picture.png) });
    json!({
        "id": anchor("case", &case.name),
        "name": case.name,
        "status": case.status.word(),
        "class": class(case.status),
        "summary": summary(case),
        "details": details,
        "open": case.status.is_bad(),
        "seconds": case.seconds.map(|seconds| format!("{seconds:.3} s")),
        "numbers": numbers.collect::<Vec<_>>(),
        "output": case.output,
        "output_lines": case.output.lines().count(),
        "pictures": case.pictures.iter().map(picture).collect::<Vec<_>>(),
    })
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Pass => "good",
        Status::Skip => "skip",
        Status::Fail | Status::Error | Status::Missing => "bad",
    }
}

fn past(status: Status) -> &'static str {
    match status {
        Status::Pass => "passed",
        Status::Fail => "failed",
        Status::Skip => "skipped",
        Status::Error => "could not be judged",
        Status::Missing => "did not run",
    }
}
