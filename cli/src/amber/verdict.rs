//! What came of a script, and how a worker tells it to the process that started it.

use serde_json::{Value, json};

/// What came of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every expectation holds.
    Pass,
    /// It can't be read, does not compile, or an expectation does not hold.
    Fail(String),
    /// The process that ran it died.
    Crash(String),
    /// It was stopped.
    Timeout(String),
    /// The hardware or Eitri lacks this, or a list says so.
    Skip(String),
    /// It failed, as the baseline says.
    ExpectedFail(String),
    /// It passed, though the baseline says that it fails.
    UnexpectedPass(String),
    /// It fails now and then.
    Flake(String),
}

impl From<eitri_amber_device::Verdict> for Verdict {
    fn from(verdict: eitri_amber_device::Verdict) -> Verdict {
        use eitri_amber_device::Verdict as Device;
        match verdict {
            Device::Pass => Verdict::Pass,
            Device::Fail(why) => Verdict::Fail(why),
            Device::Skip(what) => Verdict::Skip(what),
        }
    }
}

impl Verdict {
    /// The word for it, as runners of such tests say it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Verdict::Pass => "Pass",
            Verdict::Fail(_) => "Fail",
            Verdict::Crash(_) => "Crash",
            Verdict::Timeout(_) => "Timeout",
            Verdict::Skip(_) => "Skip",
            Verdict::ExpectedFail(_) => "ExpectedFail",
            Verdict::UnexpectedPass(_) => "UnexpectedPass",
            Verdict::Flake(_) => "Flake",
        }
    }

    /// Why it did not pass; empty for one that did.
    pub(crate) fn message(&self) -> &str {
        match self {
            Verdict::Pass => "",
            Verdict::Fail(message)
            | Verdict::Crash(message)
            | Verdict::Timeout(message)
            | Verdict::Skip(message)
            | Verdict::ExpectedFail(message)
            | Verdict::UnexpectedPass(message)
            | Verdict::Flake(message) => message,
        }
    }

    /// The first line of the message.
    pub(crate) fn summary(&self) -> &str {
        self.message().lines().next().unwrap_or("")
    }

    /// Whether it makes the whole run fail.
    pub(crate) fn failed(&self) -> bool {
        match self {
            Verdict::Pass | Verdict::Skip(_) | Verdict::ExpectedFail(_) | Verdict::Flake(_) => {
                false
            }
            Verdict::Fail(_)
            | Verdict::Crash(_)
            | Verdict::Timeout(_)
            | Verdict::UnexpectedPass(_) => true,
        }
    }

    /// What it means for a script that must fail: one that fails as it should passes.
    pub(crate) fn inverted(self) -> Verdict {
        match self {
            Verdict::Fail(_) => Verdict::Pass,
            Verdict::Pass => {
                Verdict::Fail("it passes, but its name says that it must fail".to_owned())
            }
            other => other,
        }
    }

    /// As a worker writes it.
    pub(crate) fn to_json(&self) -> String {
        json!({ "verdict": self.word(), "message": self.message() }).to_string()
    }

    /// As a worker has written it; `None` for anything else.
    pub(crate) fn from_json(text: &str) -> Option<Verdict> {
        let value: Value = serde_json::from_str(text).ok()?;
        let message = value.get("message")?.as_str()?.to_owned();
        match value.get("verdict")?.as_str()? {
            "Pass" => Some(Verdict::Pass),
            "Fail" => Some(Verdict::Fail(message)),
            "Skip" => Some(Verdict::Skip(message)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_travel_between_processes() {
        for verdict in [
            Verdict::Pass,
            Verdict::Fail("a\n\"b\"".to_owned()),
            Verdict::Skip("graphics".to_owned()),
        ] {
            assert_eq!(Verdict::from_json(&verdict.to_json()), Some(verdict));
        }
        assert_eq!(Verdict::from_json("{\"verdict\": \"Pass\""), None);
    }

    #[test]
    fn a_script_that_must_fail_has_to() {
        let fail = Verdict::Fail("x".to_owned());
        assert_eq!(fail.inverted(), Verdict::Pass);
        assert!(Verdict::Pass.inverted().failed());
        let crash = Verdict::Crash("x".to_owned());
        assert_eq!(crash.clone().inverted(), crash);
    }
}
