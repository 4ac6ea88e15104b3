//! Writing: a log's results for a person, as TAP, and as JUnit.

use super::{Judgement, Log, Outcome};
use crate::output::xml::escaped;
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

/// The Test Anything Protocol; what was promised and did not come is not ok.
pub(crate) fn tap(log: &Log) -> String {
    let mut text = format!(
        "TAP version 14\n1..{}\n",
        log.planned.unwrap_or(0).max(log.tests.len())
    );
    for (number, test) in (1..).zip(&log.tests) {
        let (name, why) = (&test.name, test.why.replace('#', "no."));
        let _ = match test.outcome {
            Outcome::Passed => writeln!(text, "ok {number} {name}"),
            Outcome::Failed => writeln!(text, "not ok {number} {name} # {why}"),
            Outcome::Skipped => writeln!(text, "ok {number} {name} # SKIP {why}"),
        };
        for it in &test.numbers {
            let _ = writeln!(text, "# @M {} {} {}", it.name, it.value, it.unit);
        }
    }
    for (number, missing) in (log.tests.len() + 1..).zip(0..log.missing()) {
        let name = match &log.begun {
            Some(begun) if missing == 0 => begun,
            _ => "missing",
        };
        let _ = writeln!(text, "not ok {number} {name} # it has said nothing");
    }
    if let Judgement::Bad(why) = log.judge() {
        for line in why {
            let _ = writeln!(text, "# {line}");
        }
    }
    text
}

/// JUnit XML: one suite, a case a test, and one more for whatever else is wrong with the log.
pub(crate) fn junit(log: &Log) -> String {
    let failed = log.count(Outcome::Failed);
    let others = match log.judge() {
        Judgement::Bad(why) => why,
        Judgement::Good => Vec::new(),
        Judgement::Nothing => vec!["nothing of Eitri's is in the log".to_owned()],
    };
    // That tests failed is told by themselves.
    let others: Vec<String> = others
        .into_iter()
        .filter(|line| !line.ends_with(" failed"))
        .collect();
    let errors = usize::from(!others.is_empty());
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"eitri.{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" skipped=\"{}\" time=\"0\">\n",
        escaped(&log.board),
        log.tests.len() + errors,
        log.count(Outcome::Skipped)
    );
    if !log.build.is_empty() {
        let build = escaped(&log.build);
        let _ = writeln!(
            text,
            "<properties><property name=\"build\" value=\"{build}\"/></properties>"
        );
    }
    for test in &log.tests {
        let (class, name) = test.name.rsplit_once('.').unwrap_or(("eitri", &test.name));
        let head = format!(
            "<testcase classname=\"eitri.{}\" name=\"{}\" time=\"0\"",
            escaped(class),
            escaped(name)
        );
        let why = escaped(&test.why);
        let _ = match test.outcome {
            Outcome::Passed => writeln!(text, "{head}/>"),
            Outcome::Failed => writeln!(
                text,
                "{head}>\n<failure type=\"Fail\" message=\"{why}\">{why}</failure>\n</testcase>"
            ),
            Outcome::Skipped => {
                writeln!(text, "{head}>\n<skipped message=\"{why}\"/>\n</testcase>")
            }
        };
    }
    if errors > 0 {
        let why = escaped(&others.join("; "));
        let _ = writeln!(
            text,
            "<testcase classname=\"eitri\" name=\"log\" time=\"0\">\n<error type=\"Crash\" message=\"{why}\">{why}</error>\n</testcase>"
        );
    }
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}
