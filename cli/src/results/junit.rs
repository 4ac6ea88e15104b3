//! Results as JUnit XML, which every CI system reads.

use super::{Case, Results, Status};
use crate::output::xml::escaped;
use std::fmt::Write;

impl Results {
    /// The whole file: one suite.
    pub(crate) fn junit(&self) -> String {
        let seconds = self
            .cases
            .iter()
            .filter_map(|case| case.seconds)
            .fold(0.0, |sum, it| sum + it);
        let errors = self.count(Status::Error) + self.count(Status::Missing);
        let start = self
            .start
            .as_deref()
            .map(|start| start.trim_end_matches('Z'));
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\" time=\"{seconds:.3}\"",
            escaped(&self.suite),
            self.cases.len(),
            self.count(Status::Fail),
            self.count(Status::Skip),
        );
        if let Some(start) = start {
            let _ = write!(text, " timestamp=\"{}\"", escaped(start));
        }
        text.push_str(">\n");
        text.push_str(&properties(
            self.properties
                .iter()
                .map(|(name, value)| (name.as_str(), value.clone())),
        ));
        let group = self.suite.split('.').next().unwrap_or_default();
        self.cases
            .iter()
            .for_each(|case| text.push_str(&element(group, case)));
        text.push_str("</testsuite>\n</testsuites>\n");
        text
    }
}

fn properties<'p>(all: impl Iterator<Item = (&'p str, String)>) -> String {
    let mut text = String::new();
    for (name, value) in all {
        let _ = write!(
            text,
            "<property name=\"{}\" value=\"{}\"/>",
            escaped(name),
            escaped(&value)
        );
    }
    match text.is_empty() {
        true => text,
        false => format!("<properties>{text}</properties>\n"),
    }
}

/// A case; `group` begins the name of its class.
fn element(group: &str, case: &Case) -> String {
    // The group of a test is its class: `mmu.blocks.small`, `draw/lines/wide.amber`.
    let split = case
        .name
        .rsplit_once('/')
        .or_else(|| case.name.rsplit_once('.'));
    let (class, name) = match split {
        Some((class, name)) => (format!("{group}.{class}"), name),
        None => (group.to_owned(), case.name.as_str()),
    };
    let head = format!(
        "<testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(&class.replace('/', ".")),
        escaped(name),
        case.seconds.unwrap_or(0.0)
    );
    let numbers = case.numbers.iter();
    let numbers = numbers.map(|number| {
        (
            number.name.as_str(),
            format!("{} {}", number.value, number.unit),
        )
    });
    let mut inside = properties(numbers);
    let summary = escaped(case.why.lines().next().unwrap_or_default());
    let why = escaped(&case.why);
    let _ = match case.status {
        Status::Pass => Ok(()),
        Status::Skip => writeln!(inside, "<skipped message=\"{summary}\"/>"),
        Status::Fail => writeln!(
            inside,
            "<failure type=\"Fail\" message=\"{summary}\">{why}</failure>"
        ),
        Status::Error => writeln!(
            inside,
            "<error type=\"Crash\" message=\"{summary}\">{why}</error>"
        ),
        Status::Missing => writeln!(
            inside,
            "<error type=\"Missing\" message=\"{summary}\">{why}</error>"
        ),
    };
    if !case.output.is_empty() {
        let _ = writeln!(inside, "<system-out>{}</system-out>", escaped(&case.output));
    }
    match inside.is_empty() {
        true => format!("{head}/>\n"),
        false => format!("{head}>\n{inside}</testcase>\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Number;
    use super::*;

    #[test]
    fn every_status_has_its_element() {
        let mut results = Results::new("eitri.rk3588");
        results.start = Some("2026-11-28T04:00:00Z".to_owned());
        results.properties = vec![("build".to_owned(), "c0ffee".to_owned())];
        results.cases = vec![
            Case::new("power.l2", Status::Pass, "").took(1.5),
            Case::new("a/b/c.amber", Status::Fail, "1 < 2\nmore"),
            Case::new("mmu.blocks", Status::Skip, "no memory"),
            Case::new("mmu.read", Status::Error, "hung"),
            Case::new("mmu.write", Status::Missing, "did not run"),
        ];
        results.cases[0].numbers.push(Number {
            name: "power.l2.on".to_owned(),
            value: 20,
            unit: "us".to_owned(),
        });
        results.cases[1].output = "a\x1b[0m<b>".to_owned();
        let text = results.junit();
        for part in [
            "<testsuite name=\"eitri.rk3588\" tests=\"5\" failures=\"1\" errors=\"2\" skipped=\"1\" time=\"1.500\" timestamp=\"2026-11-28T04:00:00\">",
            "<properties><property name=\"build\" value=\"c0ffee\"/></properties>",
            "<testcase classname=\"eitri.power\" name=\"l2\" time=\"1.500\">\n<properties><property name=\"power.l2.on\" value=\"20 us\"/>",
            "<testcase classname=\"eitri.a.b\" name=\"c.amber\" time=\"0.000\">\n<failure type=\"Fail\" message=\"1 &lt; 2\">1 &lt; 2\nmore</failure>\n<system-out>a[0m&lt;b&gt;</system-out>",
            "<skipped message=\"no memory\"/>",
            "<error type=\"Crash\" message=\"hung\">",
            "<error type=\"Missing\" message=\"did not run\">",
        ] {
            assert!(text.contains(part), "no {part} in\n{text}");
        }
    }
}
