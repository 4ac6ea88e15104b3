//! Results as JUnit XML, which every CI system reads.

use super::report::Tally;
use super::verdict::Verdict;
use super::workers::Outcome;
use crate::output::xml::escaped;

/// The whole file.
pub(crate) fn document(outcomes: &[Outcome]) -> String {
    let tally = Tally::of(outcomes.iter().map(|outcome| &outcome.verdict));
    let errors = outcomes
        .iter()
        .filter(|outcome| matches!(outcome.verdict, Verdict::Crash(_) | Verdict::Timeout(_)))
        .count();
    let seconds: f64 = outcomes
        .iter()
        .map(|outcome| outcome.took.as_secs_f64())
        .sum();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"amber\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{seconds:.3}\">\n",
        outcomes.len(),
        tally.failed - errors,
        tally.skipped + tally.expected + tally.flaky,
    );
    outcomes
        .iter()
        .for_each(|outcome| text.push_str(&case(outcome)));
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

fn case(outcome: &Outcome) -> String {
    let name = &outcome.script.name;
    let (class, name) = name.rsplit_once('/').unwrap_or(("amber", name));
    let seconds = outcome.took.as_secs_f64();
    let head = format!(
        "<testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.3}\"",
        escaped(&class.replace('/', ".")),
        escaped(name)
    );
    let summary = escaped(outcome.verdict.summary());
    let details = escaped(outcome.verdict.message());
    let element = match &outcome.verdict {
        Verdict::Pass => return format!("{head}/>\n"),
        Verdict::Skip(_) => {
            return format!("{head}>\n<skipped message=\"{summary}\"/>\n</testcase>\n");
        }
        // What is known is neither good nor news.
        Verdict::ExpectedFail(_) | Verdict::Flake(_) => {
            let word = outcome.verdict.word();
            return format!("{head}>\n<skipped message=\"{word}: {summary}\"/>\n</testcase>\n");
        }
        Verdict::Fail(_) | Verdict::UnexpectedPass(_) => "failure",
        Verdict::Crash(_) | Verdict::Timeout(_) => "error",
    };
    let (word, output) = (outcome.verdict.word(), escaped(&outcome.output));
    format!(
        "{head}>\n<{element} type=\"{word}\" message=\"{summary}\">{details}</{element}>\n<system-out>{output}</system-out>\n</testcase>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::super::scripts::ScriptFile;
    use super::*;
    use std::time::Duration;

    #[test]
    fn every_verdict_has_its_element() {
        let outcome = |name: &str, verdict| Outcome {
            script: ScriptFile {
                name: name.to_owned(),
                path: name.into(),
            },
            verdict,
            took: Duration::from_millis(1500),
            output: "a\x1b[0m<b>".to_owned(),
        };
        let outcomes = [
            outcome("a/b/c.amber", Verdict::Pass),
            outcome("d.amber", Verdict::Skip("graphics".to_owned())),
            outcome("e.amber", Verdict::Fail("1 < 2\nmore".to_owned())),
            outcome("f.amber", Verdict::Crash("x".to_owned())),
        ];
        let text = document(&outcomes);
        for part in [
            "tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"6.000\"",
            "<testcase classname=\"a.b\" name=\"c.amber\" time=\"1.500\"/>",
            "<skipped message=\"graphics\"/>",
            "<failure type=\"Fail\" message=\"1 &lt; 2\">1 &lt; 2\nmore</failure>",
            "<error type=\"Crash\" message=\"x\">x</error>\n<system-out>a[0m&lt;b&gt;</system-out>",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}
