//! Results: what commands that run a list of things write for other programs, in one form, whatever was run.
//!
//! Guarantees: a part of a list says which part it is, so that `eitri merge` knows what is missing.

mod json;
mod junit;
mod merge;
mod metrics;
mod options;
mod shard;

pub(crate) use merge::merge;
pub(crate) use metrics::{MetricOptions, Metrics};
pub(crate) use options::{Files, Recorder, ResultOptions};
pub(crate) use shard::Shard;

/// How one thing ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Pass,
    Fail,
    Skip,
    /// It could not be judged: a crash, a hang, a time limit.
    Error,
    /// It was planned and did not run.
    Missing,
}

impl Status {
    /// All, with their words in JSON.
    pub(crate) const ALL: [(Status, &'static str); 5] = [
        (Status::Pass, "pass"),
        (Status::Fail, "fail"),
        (Status::Skip, "skip"),
        (Status::Error, "error"),
        (Status::Missing, "missing"),
    ];

    pub(crate) fn word(self) -> &'static str {
        let row = Status::ALL.iter().find(|(status, _)| *status == self);
        row.map_or("error", |(_, word)| word)
    }

    fn named(word: &str) -> Option<Status> {
        let row = Status::ALL.iter().find(|(_, of)| *of == word);
        row.map(|(status, _)| *status)
    }

    /// Whether it makes the whole run fail.
    pub(crate) fn is_bad(self) -> bool {
        matches!(self, Status::Fail | Status::Error | Status::Missing)
    }
}

/// A number that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) name: String,
    pub(crate) value: u64,
    pub(crate) unit: String,
}

/// A picture of a result, for pages; the other forms have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// What it shows.
    pub(crate) name: String,
    /// A PNG file.
    pub(crate) png: Vec<u8>,
}

/// What came of one thing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// The name; dots or slashes separate its groups.
    pub(crate) name: String,
    pub(crate) status: Status,
    /// Why it did not pass; the first line is a summary.
    pub(crate) why: String,
    /// How long it took, if that is known.
    pub(crate) seconds: Option<f64>,
    pub(crate) numbers: Vec<Number>,
    /// What was printed meanwhile, if it did not pass.
    pub(crate) output: String,
    pub(crate) pictures: Vec<Picture>,
}

impl Case {
    pub(crate) fn new(name: &str, status: Status, why: &str) -> Case {
        Case {
            name: name.to_owned(),
            status,
            why: why.to_owned(),
            seconds: None,
            numbers: Vec::new(),
            output: String::new(),
            pictures: Vec::new(),
        }
    }

    pub(crate) fn took(self, seconds: f64) -> Case {
        Case {
            seconds: Some(seconds),
            ..self
        }
    }
}

/// What came of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    /// The command that ran it, or the suite.
    pub(crate) suite: String,
    /// Which part of the list it is.
    pub(crate) shard: Option<Shard>,
    /// When it began, in RFC 3339, if that is known.
    pub(crate) start: Option<String>,
    /// Facts of the whole run: board, build, device, GPU.
    pub(crate) properties: Vec<(String, String)>,
    /// The run was stopped from outside, so cases may be missing.
    pub(crate) interrupted: bool,
    pub(crate) cases: Vec<Case>,
}

impl Results {
    pub(crate) fn new(suite: &str) -> Results {
        Results {
            suite: suite.to_owned(),
            shard: None,
            start: None,
            properties: Vec::new(),
            interrupted: false,
            cases: Vec::new(),
        }
    }

    pub(crate) fn count(&self, status: Status) -> usize {
        self.cases
            .iter()
            .filter(|case| case.status == status)
            .count()
    }

    /// Whether nothing in it is bad.
    pub(crate) fn is_good(&self) -> bool {
        !self.interrupted && !self.cases.iter().any(|case| case.status.is_bad())
    }
}

/// A time as RFC 3339 has it, in UTC.
pub(crate) fn rfc3339(time: std::time::SystemTime) -> String {
    let since = time.duration_since(std::time::UNIX_EPOCH);
    // A clock before 1970 is as good as none.
    let seconds = since.map_or(0, |since| since.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years from March on, so that a leap day is the last: 400 years have 146,097 days.
    let from_march = days + 719_468;
    let era = from_march / 146_097;
    let day = from_march % 146_097;
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_are_those_of_the_calendar() {
        let at = |seconds: u64| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_795_838_399), "2026-11-28T03:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
