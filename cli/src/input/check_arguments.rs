//! The arguments that say what checkers tell, and where it goes.

use crate::input::buffer_source::{BindingName, SourceError};
use eitri_checks::{Level, Rule, Unwritten};
use std::fmt;
use std::str::FromStr;

#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct CheckArguments {
    /// What checkers tell: `all`, `none`, `errors`, or rules by name, separated by commas (docs/checks.md lists them).
    #[arg(long, value_name = "none|errors|all|LIST")]
    check: Option<Wanted>,
    /// Write what the checkers found as SARIF, which editors and code hosts show.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<String>,
    /// Write what the checkers found as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) findings: Option<String>,
}

/// `--check-code`.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct CodeCheckArgument {
    /// Check the machine code, too, while the model executes it in this process: `all`, `none`, `errors`, or rules by name. `none` if
    /// not given.
    #[arg(long, value_name = "none|errors|all|LIST")]
    check_code: Option<Wanted>,
}

impl CodeCheckArgument {
    /// What is told of machine code.
    pub(crate) fn wanted(&self) -> Wanted {
        self.check_code.clone().unwrap_or(Wanted::Nothing)
    }
}

/// Bytes that the host is taken not to have written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnwrittenArgument {
    pub(crate) name: BindingName,
    pub(crate) bytes: std::ops::Range<u64>,
}

impl UnwrittenArgument {
    /// As the checkers have it.
    pub(crate) fn part(&self) -> Unwritten {
        Unwritten {
            key: (self.name.set, self.name.binding, self.name.element),
            bytes: self.bytes.clone(),
        }
    }
}

impl FromStr for UnwrittenArgument {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<UnwrittenArgument, SourceError> {
        let Some((name, range)) = text.split_once('=') else {
            return Ok(UnwrittenArgument {
                name: text.parse()?,
                bytes: 0..u64::MAX,
            });
        };
        let number = |part: &str| {
            part.parse().map_err(|_| SourceError::Number {
                text: part.to_owned(),
                what: "bytes",
            })
        };
        let (first, end) = range.split_once("..").ok_or_else(|| SourceError::Number {
            text: range.to_owned(),
            what: "bytes: FIRST..END",
        })?;
        Ok(UnwrittenArgument {
            name: name.parse()?,
            bytes: number(first)?..number(end)?,
        })
    }
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing: no checker runs.
    Nothing,
    /// Errors of all rules.
    Errors,
    /// Everything.
    All,
    /// Everything of these rules.
    Rules(Vec<Rule>),
}

impl Wanted {
    /// Whether something is told.
    pub(crate) fn has(&self, rule: Rule, level: Level) -> bool {
        match self {
            Wanted::Nothing => false,
            Wanted::Errors => level == Level::Error,
            Wanted::All => true,
            Wanted::Rules(rules) => rules.contains(&rule),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Nothing => f.write_str("none"),
            Wanted::Errors => f.write_str("errors"),
            Wanted::All => f.write_str("all"),
            Wanted::Rules(rules) => {
                let names: Vec<&str> = rules.iter().copied().map(Rule::name).collect();
                f.write_str(&names.join(","))
            }
        }
    }
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        match text {
            "none" => return Ok(Wanted::Nothing),
            "errors" => return Ok(Wanted::Errors),
            "all" => return Ok(Wanted::All),
            _ => {}
        }
        let rule = |name: &str| {
            let mut rules = Rule::ALL.into_iter();
            let found = rules.find(|rule| rule.name() == name.trim());
            found.ok_or_else(|| {
                let names = Rule::ALL.map(Rule::name).join(", ");
                format!("`{name}` is no rule of a checker; there are {names}")
            })
        };
        let rules = text.split(',').map(rule).collect::<Result<_, _>>()?;
        Ok(Wanted::Rules(rules))
    }
}

impl CheckArguments {
    /// What is told, if nothing else is said.
    pub(crate) fn wanted(&self, default: Wanted) -> Wanted {
        self.check.clone().unwrap_or(default)
    }

    /// The first of the options that asks for something, if one does.
    pub(crate) fn asked(&self) -> Option<&'static str> {
        let asked = [
            (
                "--check",
                self.check.as_ref().is_some_and(|it| *it != Wanted::Nothing),
            ),
            ("--sarif", self.sarif.is_some()),
            ("--findings", self.findings.is_some()),
        ];
        let mut asked = asked.into_iter().filter(|(_, asked)| *asked);
        asked.next().map(|(option, _)| option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_chosen_by_level_or_rule() {
        let of = |text: &str| text.parse::<Wanted>();
        assert!(of("errors").unwrap().has(Rule::Race, Level::Error));
        assert!(!of("errors").unwrap().has(Rule::Race, Level::Note));
        assert!(of("race,uninit").unwrap().has(Rule::Uninit, Level::Error));
        assert!(!of("race").unwrap().has(Rule::Uninit, Level::Error));
        assert!(!of("none").unwrap().has(Rule::Race, Level::Error));
        let error = of("races").unwrap_err();
        assert!(error.contains("race, uninit"), "{error}");
    }

    #[test]
    fn what_is_told_is_printed_as_it_is_read() {
        for text in ["none", "errors", "all", "race,uninit"] {
            assert_eq!(text.parse::<Wanted>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn unwritten_bytes_are_a_range_or_all() {
        let of = |text: &str| text.parse::<UnwrittenArgument>();
        assert_eq!(of("1=4..8").unwrap().bytes, 4..8);
        assert_eq!(of("0:2").unwrap().bytes, 0..u64::MAX);
        assert!(of("1=4-8").is_err());
    }
}
