//! What is known of a target beforehand: which scripts fail there, which now fail and now pass, which are not to be run.
//!
//! The files are those of the runners that driver developers use (deqp-runner): a baseline of `NAME,STATUS` lines, and lists
//! of regular expressions; in each, what follows `#` at the begin of a line is a comment.

use super::verdict::Verdict;
use crate::outcome::Failure;
use miette::Diagnostic;
use regex::Regex;
use std::collections::BTreeMap;
use thiserror::Error;

/// What is expected of scripts.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// Known failures: the word of their verdict.
    baseline: BTreeMap<String, String>,
    flakes: Vec<Listed>,
    skips: Vec<Listed>,
    /// Whether any list was given.
    given: bool,
}

/// A line of a list.
#[derive(Debug)]
struct Listed {
    pattern: Regex,
    /// File and line, for people.
    place: String,
}

/// What is wrong with a list.
#[derive(Debug, Error, Diagnostic)]
enum ListError {
    #[error("{place}: `{line}` is no NAME,STATUS")]
    #[diagnostic(help(
        "STATUS is one of Fail, Crash, Timeout; a name stands there as `--list` prints it"
    ))]
    Baseline { place: String, line: String },
    #[error("{place}: {name} is there twice")]
    Twice { place: String, name: String },
    #[error("{place}: no regular expression: {cause}")]
    Pattern { place: String, cause: regex::Error },
}

/// Failures that a baseline may name.
const KNOWN: &[&str] = &["Fail", "Crash", "Timeout"];

impl Expectations {
    /// Reads the lists; each may be absent.
    pub(crate) fn read(
        baseline: Option<&str>,
        flakes: Option<&str>,
        skips: Option<&str>,
    ) -> Result<Expectations, Failure> {
        Ok(Expectations {
            baseline: baseline.map_or(Ok(BTreeMap::new()), read_baseline)?,
            flakes: flakes.map_or(Ok(Vec::new()), read_patterns)?,
            skips: skips.map_or(Ok(Vec::new()), read_patterns)?,
            given: baseline.or(flakes).or(skips).is_some(),
        })
    }

    /// Why a script is not to be run, if it is not.
    pub(crate) fn skip(&self, name: &str) -> Option<String> {
        let found = self
            .skips
            .iter()
            .find(|listed| listed.pattern.is_match(name));
        found.map(|listed| format!("listed in {}", listed.place))
    }

    /// What a verdict means here. A failure that nobody expects is tried `again`: another verdict then makes it a flake.
    pub(crate) fn judge(
        &self,
        name: &str,
        verdict: Verdict,
        again: impl FnOnce() -> Result<Verdict, Failure>,
    ) -> Result<Verdict, Failure> {
        if !self.given || matches!(verdict, Verdict::Skip(_)) {
            return Ok(verdict);
        }
        let expected = self.baseline.get(name);
        if verdict == Verdict::Pass {
            return Ok(match expected {
                Some(status) => Verdict::UnexpectedPass(format!("the baseline says {status}")),
                None => verdict,
            });
        }
        if expected.is_some_and(|status| status == verdict.word()) {
            return Ok(Verdict::ExpectedFail(verdict.message().to_owned()));
        }
        if let Some(listed) = self
            .flakes
            .iter()
            .find(|listed| listed.pattern.is_match(name))
        {
            let message = format!("listed in {}: {}", listed.place, verdict.message());
            return Ok(Verdict::Flake(message));
        }
        let second = again()?;
        Ok(match second.word() == verdict.word() {
            true => verdict,
            false => Verdict::Flake(format!(
                "{} first, then {}: {}",
                verdict.word(),
                second.word(),
                verdict.message()
            )),
        })
    }

    /// Names of the baseline that none of `scripts` has: it is out of date.
    pub(crate) fn missing<'e>(&'e self, scripts: &[&str]) -> Vec<&'e str> {
        let names = self.baseline.keys().map(String::as_str);
        names.filter(|name| !scripts.contains(name)).collect()
    }
}

/// Lines that are no comment: where each stands, and what it says.
fn lines(path: &str) -> Result<Vec<(String, String)>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|cause| Failure::unreadable(path, cause))?;
    let lines = text.lines().map(str::trim).enumerate();
    Ok(lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(index, line)| (format!("{path}:{}", index + 1), line.to_owned()))
        .collect())
}

fn read_baseline(path: &str) -> Result<BTreeMap<String, String>, Failure> {
    let mut baseline = BTreeMap::new();
    for (place, line) in lines(path)? {
        let parts = line.rsplit_once(',');
        let Some((name, status)) = parts.filter(|(_, status)| KNOWN.contains(status)) else {
            return Err(Failure::refused(ListError::Baseline { place, line }));
        };
        let before = baseline.insert(name.to_owned(), status.to_owned());
        if before.is_some() {
            let name = name.to_owned();
            return Err(Failure::refused(ListError::Twice { place, name }));
        }
    }
    Ok(baseline)
}

fn read_patterns(path: &str) -> Result<Vec<Listed>, Failure> {
    let listed = |(place, line): (String, String)| match Regex::new(&line) {
        Ok(pattern) => Ok(Listed { pattern, place }),
        Err(cause) => Err(Failure::refused(ListError::Pattern { place, cause })),
    };
    lines(path)?.into_iter().map(listed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectations(baseline: &str, flakes: &str) -> Result<Expectations, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let (baseline, flakes) = (file("baseline", baseline), file("flakes", flakes));
        Expectations::read(Some(&baseline), Some(&flakes), None)
    }

    #[track_caller]
    fn judged(known: &Expectations, name: &str, first: Verdict, second: Verdict) -> &'static str {
        known.judge(name, first, || Ok(second)).unwrap().word()
    }

    #[test]
    fn verdicts_are_held_against_what_is_known() {
        let known = expectations("# known\na.amber,Fail\nb.amber,Crash\n", "^c[0-9]\n").unwrap();
        let (fail, crash) = (Verdict::Fail(String::new()), Verdict::Crash(String::new()));
        let pass = Verdict::Pass;
        let check = |name, first: &Verdict, second: &Verdict, expected| {
            assert_eq!(
                judged(&known, name, first.clone(), second.clone()),
                expected,
                "{name}"
            );
        };
        check("a.amber", &fail, &pass, "ExpectedFail");
        check("a.amber", &pass, &pass, "UnexpectedPass");
        check("b.amber", &fail, &fail, "Fail");
        check("b.amber", &crash, &crash, "ExpectedFail");
        check("c1.amber", &fail, &fail, "Flake");
        check("d.amber", &fail, &fail, "Fail");
        check("d.amber", &fail, &pass, "Flake");
        check("d.amber", &pass, &pass, "Pass");
        assert_eq!(known.missing(&["a.amber"]), ["b.amber"]);
    }

    #[test]
    fn a_bad_list_is_refused_with_its_line() {
        let text = |result: Result<Expectations, Failure>| result.unwrap_err().to_string();
        let error = text(expectations("a.amber,Fail\nb.amber\n", ""));
        assert!(error.contains("baseline:2: `b.amber`"), "{error}");
        let error = text(expectations("a,Fail\na,Crash\n", ""));
        assert!(error.contains("baseline:2: a is there twice"), "{error}");
        let error = text(expectations("", "\n(\n"));
        assert!(error.contains("flakes:2: no regular expression"), "{error}");
    }
}
