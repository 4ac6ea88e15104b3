//! Metrics: the numbers of a run against limits that somebody has set, and against those of an earlier run.
//!
//! Each number that is beyond is a case of its own, so that it reaches every form of the results.

use super::{Case, Number, Results, Status};
use crate::outcome::Failure;
use crate::output::source_text;
use miette::{Diagnostic, NamedSource, SourceSpan};
use serde_json::Value;
use std::collections::BTreeMap;
use thiserror::Error;

/// Options of commands whose results have numbers.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct MetricOptions {
    /// Results of an earlier run, as `--results` wrote them: a number that has got worse by more than `--tolerance` fails.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    compare: Option<String>,
    /// How much worse a number may be than that of the earlier run, in percent.
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 25,
        requires = "compare",
        help_heading = "Results"
    )]
    tolerance: u32,
    /// Limits of numbers (TOML, a line a number: `"power.l2.on" = { most = 200 }`): one that is beyond fails.
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    limits: Option<String>,
}

/// What is wrong with a file.
#[derive(Debug, Error, Diagnostic)]
enum MetricsError {
    #[error("{path}: {message}")]
    Limits {
        path: String,
        message: String,
        #[source_code]
        text: NamedSource<String>,
        #[label("here")]
        place: Option<SourceSpan>,
    },
    #[error("{path}: there is no number `{name}`: no test has that name before its last dot")]
    #[diagnostic(help("a number's name begins with that of its test; `--results` lists them"))]
    NoTest { path: String, name: String },
    #[error("{path}: {message}")]
    #[diagnostic(help("wanted: what `--results` wrote"))]
    Old { path: String, message: String },
}

/// What a number may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limit {
    least: Option<u64>,
    most: Option<u64>,
}

/// What numbers are held against.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    limits: BTreeMap<String, Limit>,
    old: Option<(String, Results)>,
    /// In percent.
    tolerance: u32,
}

impl MetricOptions {
    /// Whether there is something to hold numbers against.
    pub(crate) fn any(&self) -> bool {
        self.compare.is_some() || self.limits.is_some()
    }

    /// Reads the files. `known` are the names of all tests.
    pub(crate) fn read(&self, known: &[String]) -> Result<Metrics, Failure> {
        let limits = match &self.limits {
            Some(path) => read_limits(path, known)?,
            None => BTreeMap::new(),
        };
        let old = match &self.compare {
            Some(path) => Some((path.clone(), read_old(path)?)),
            None => None,
        };
        let tolerance = self.tolerance;
        Ok(Metrics {
            limits,
            old,
            tolerance,
        })
    }
}

fn text_of(path: &str) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|cause| Failure::unreadable(path, cause))
}

fn read_limits(path: &str, known: &[String]) -> Result<BTreeMap<String, Limit>, Failure> {
    let text = text_of(path)?;
    let refused = |message: String, place: Option<std::ops::Range<usize>>| {
        Failure::refused(MetricsError::Limits {
            path: path.to_owned(),
            message,
            text: source_text::shown(path, &text),
            place: place.map(SourceSpan::from),
        })
    };
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| refused(error.message().to_owned(), error.span()))?;
    let mut limits = BTreeMap::new();
    for (name, value) in table {
        let limit =
            limit(&value).map_err(|message| refused(format!("`{name}`: {message}"), None))?;
        if !known.iter().any(|test| is_of(&name, test)) {
            let path = path.to_owned();
            return Err(Failure::refused(MetricsError::NoTest { path, name }));
        }
        limits.insert(name, limit);
    }
    Ok(limits)
}

/// Whether a number is one of a test.
fn is_of(number: &str, test: &str) -> bool {
    let rest = number.strip_prefix(test);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn limit(value: &toml::Value) -> Result<Limit, String> {
    let table = value
        .as_table()
        .ok_or("wanted a table with `least`, `most` or both")?;
    let mut limit = Limit::default();
    for (key, value) in table {
        let place = match key.as_str() {
            "least" => &mut limit.least,
            "most" => &mut limit.most,
            _ if value.is_table() => return Err("a name with dots stands in quotes".to_owned()),
            other => {
                return Err(format!(
                    "unknown key `{other}`: there are `least` and `most`"
                ));
            }
        };
        let number = value.as_integer().and_then(|it| u64::try_from(it).ok());
        *place = Some(number.ok_or_else(|| format!("`{key}` is no whole number"))?);
    }
    match limit {
        Limit {
            least: None,
            most: None,
        } => Err("neither `least` nor `most`".to_owned()),
        Limit {
            least: Some(least),
            most: Some(most),
        } if least > most => Err(format!("nothing is at least {least} and at most {most}")),
        _ => Ok(limit),
    }
}

fn read_old(path: &str) -> Result<Results, Failure> {
    let text = text_of(path)?;
    let read = serde_json::from_str(&text)
        .map_err(|error| error.to_string())
        .and_then(|value: Value| Results::from_json(&value));
    read.map_err(|message| {
        let path = path.to_owned();
        Failure::refused(MetricsError::Old { path, message })
    })
}

/// Which way a number gets worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worse {
    Greater,
    Smaller,
    Either,
}

/// By its unit.
fn worse(unit: &str) -> Worse {
    match unit {
        "ns" | "us" | "ms" | "s" => Worse::Greater,
        "kB/s" => Worse::Smaller,
        _ => Worse::Either,
    }
}

fn numbers(results: &Results) -> impl Iterator<Item = (&Case, &Number)> {
    let cases = results.cases.iter();
    cases.flat_map(|case| case.numbers.iter().map(move |number| (case, number)))
}

fn fail(name: String, why: &str) -> Case {
    Case::new(&name, Status::Fail, why)
}

impl Metrics {
    /// A case for each number that is beyond, or that should be there and is not.
    pub(crate) fn judge(&self, results: &Results) -> Vec<Case> {
        let mut cases: Vec<Case> = self.beyond_limits(results);
        if let Some((path, old)) = &self.old {
            cases.extend(self.compared(path, old, results));
        }
        cases
    }

    fn beyond_limits(&self, results: &Results) -> Vec<Case> {
        let judged = self.limits.iter().filter_map(|(name, limit)| {
            let case = |why: String| Some(fail(format!("limit.{name}"), &why));
            let Some((_, number)) = numbers(results).find(|(_, number)| number.name == *name)
            else {
                // Of a test that was not run nothing is expected.
                let passed = |case: &&Case| case.status == Status::Pass && is_of(name, &case.name);
                let test = results.cases.iter().find(passed)?;
                return case(format!("{} has passed and did not measure it", test.name));
            };
            let (value, unit) = (number.value, &number.unit);
            match *limit {
                Limit {
                    least: Some(least), ..
                } if value < least => case(format!("{value} {unit}, at least {least} are wanted")),
                Limit {
                    most: Some(most), ..
                } if value > most => case(format!("{value} {unit}, at most {most} are allowed")),
                _ => None,
            }
        });
        judged.collect()
    }

    fn compared(&self, path: &str, old: &Results, results: &Results) -> Vec<Case> {
        let board = |results: &Results| {
            let mut properties = results.properties.iter();
            properties
                .find(|(name, _)| name == "board")
                .map(|(_, value)| value.clone())
        };
        if let (Some(before), Some(now)) = (board(old), board(results))
            && before != now
        {
            let why = format!("{path} is of board {before}, this run of {now}");
            return vec![fail("compare".to_owned(), &why)];
        }
        let judged = numbers(old).filter_map(|(test, before)| {
            let case = |why: String| Some(fail(format!("compare.{}", before.name), &why));
            let found = numbers(results).find(|(_, number)| number.name == before.name);
            let Some((_, now)) = found else {
                let passed = |case: &Case| case.name == test.name && case.status == Status::Pass;
                let passed = results.cases.iter().any(passed);
                return passed.then_some(()).and_then(|()| {
                    case(format!(
                        "it was {} {}, and is not measured any more",
                        before.value, before.unit
                    ))
                });
            };
            if now.unit != before.unit {
                return case(format!("it is in {}, and was in {}", now.unit, before.unit));
            }
            let percent = self.worse_by(before.value, now.value, worse(&now.unit))?;
            case(format!(
                "{} {unit}, was {} {unit}: {percent} % worse, {} are allowed",
                now.value,
                before.value,
                self.tolerance,
                unit = now.unit
            ))
        });
        judged.collect()
    }

    /// By how much a number has got worse, in percent, if that is more than may be.
    fn worse_by(&self, before: u64, now: u64, worse: Worse) -> Option<u64> {
        let by = match worse {
            Worse::Greater => now.saturating_sub(before),
            Worse::Smaller => before.saturating_sub(now),
            Worse::Either => now.abs_diff(before),
        };
        let hundred = u128::from(by) * 100;
        let beyond = hundred > u128::from(before) * u128::from(self.tolerance);
        let percent = hundred.div_ceil(u128::from(before).max(1));
        beyond.then_some(u64::try_from(percent).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(board: &str, numbers: &[(&str, u64, &str)]) -> Results {
        let mut results = Results::new("eitri");
        results
            .properties
            .push(("board".to_owned(), board.to_owned()));
        let numbers = numbers.iter().map(|(name, value, unit)| Number {
            name: (*name).to_owned(),
            value: *value,
            unit: (*unit).to_owned(),
        });
        results.cases.push(Case {
            numbers: numbers.collect(),
            ..Case::new("power.l2", Status::Pass, "")
        });
        results
    }

    #[track_caller]
    fn check(metrics: &Metrics, results: &Results, wanted: &[(&str, &str)]) {
        let cases = metrics.judge(results);
        let found: Vec<(&str, &str)> = cases
            .iter()
            .map(|case| (case.name.as_str(), case.why.as_str()))
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_number_beyond_its_limit_is_a_case() {
        let limit = |least, most| Limit { least, most };
        let limits = [
            ("power.l2.on", limit(None, Some(200))),
            ("power.l2.rate", limit(Some(10), None)),
            ("power.l2.off", limit(Some(1), Some(2))),
            ("mmu.walk.time", limit(None, Some(1))),
        ];
        let metrics = Metrics {
            limits: limits.map(|(name, limit)| (name.to_owned(), limit)).into(),
            ..Metrics::default()
        };
        let good = [
            ("power.l2.on", 200, "us"),
            ("power.l2.rate", 10, "kB/s"),
            ("power.l2.off", 1, "us"),
        ];
        check(&metrics, &results("x", &good), &[]);
        let bad = [("power.l2.on", 201, "us"), ("power.l2.rate", 9, "kB/s")];
        check(
            &metrics,
            &results("x", &bad),
            &[
                (
                    "limit.power.l2.off",
                    "power.l2 has passed and did not measure it",
                ),
                ("limit.power.l2.on", "201 us, at most 200 are allowed"),
                ("limit.power.l2.rate", "9 kB/s, at least 10 are wanted"),
            ],
        );
    }

    #[test]
    fn a_number_that_got_worse_is_a_case() {
        let old = results(
            "x",
            &[
                ("power.l2.on", 100, "us"),
                ("power.l2.rate", 100, "kB/s"),
                ("power.l2.clock", 100, "kHz"),
            ],
        );
        let metrics = Metrics {
            old: Some(("old.json".to_owned(), old)),
            tolerance: 25,
            ..Metrics::default()
        };
        let good = [
            ("power.l2.on", 125, "us"),
            ("power.l2.rate", 900, "kB/s"),
            ("power.l2.clock", 75, "kHz"),
        ];
        check(&metrics, &results("x", &good), &[]);
        let better = [
            ("power.l2.on", 1, "us"),
            ("power.l2.rate", 75, "kB/s"),
            ("power.l2.clock", 125, "kHz"),
        ];
        check(&metrics, &results("x", &better), &[]);
        let worse = [
            ("power.l2.on", 126, "us"),
            ("power.l2.rate", 74, "kB/s"),
            ("power.l2.clock", 200, "kHz"),
        ];
        check(
            &metrics,
            &results("x", &worse),
            &[
                (
                    "compare.power.l2.on",
                    "126 us, was 100 us: 26 % worse, 25 are allowed",
                ),
                (
                    "compare.power.l2.rate",
                    "74 kB/s, was 100 kB/s: 26 % worse, 25 are allowed",
                ),
                (
                    "compare.power.l2.clock",
                    "200 kHz, was 100 kHz: 100 % worse, 25 are allowed",
                ),
            ],
        );
        check(
            &metrics,
            &results("y", &good),
            &[("compare", "old.json is of board x, this run of y")],
        );
        check(
            &metrics,
            &results(
                "x",
                &[("power.l2.on", 100, "us"), ("power.l2.rate", 100, "kB/s")],
            ),
            &[(
                "compare.power.l2.clock",
                "it was 100 kHz, and is not measured any more",
            )],
        );
    }

    #[test]
    fn limits_that_mean_nothing_are_refused() {
        let parse = |text: &str| {
            let table: toml::Table = toml::from_str(text).unwrap();
            limit(&table["a"])
        };
        assert_eq!(
            parse("a = { most = 5 }"),
            Ok(Limit {
                least: None,
                most: Some(5)
            })
        );
        for text in [
            "a = 5",
            "a = {}",
            "a = { least = 5, most = 4 }",
            "a = { max = 1 }",
            "a = { most = -1 }",
            "a = { most = 1.5 }",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(is_of("power.l2.on", "power.l2") && !is_of("power.l2x", "power.l2"));
    }
}
