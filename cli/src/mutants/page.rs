//! Mutants that change nothing, as `docs/mutants.md` lists them with the reason.

use super::Mutant;
use crate::outcome::{Failure, Status};
use crate::output::streams::talk;
use crate::workspace::Workspace;
use std::collections::BTreeMap;

/// The page, from the root of the workspace.
pub(crate) const PAGE: &str = "docs/mutants.md";
/// The heading of the table.
const HEADING: &str = "## Equivalent mutants";

/// Mutants that no test can catch.
#[derive(Debug)]
pub(crate) struct Equivalents {
    /// Names, with the reason of each.
    reasons: BTreeMap<String, String>,
}

impl Equivalents {
    /// Those of the page.
    pub(crate) fn read(workspace: &Workspace) -> Result<Equivalents, Failure> {
        let path = workspace.root().join(PAGE);
        let text =
            std::fs::read_to_string(&path).map_err(|cause| Failure::unreadable(&path, cause))?;
        Ok(Equivalents::of(&text))
    }

    fn of(text: &str) -> Equivalents {
        let rows = text.lines().skip_while(|line| *line != HEADING).skip(1);
        let rows = rows.take_while(|line| !line.starts_with("## "));
        let row = |line: &str| {
            // Names hold bars, as operators: a row ends its name with the two ticks that it began with.
            let (name, rest) = line.strip_prefix("| `` ")?.split_once(" `` |")?;
            Some((name.to_owned(), rest.trim_matches([' ', '|']).to_owned()))
        };
        Equivalents {
            reasons: rows.filter_map(row).collect(),
        }
    }

    /// Why a mutant changes nothing.
    pub(crate) fn reason(&self, mutant: &Mutant) -> Option<&str> {
        self.reasons.get(&mutant.name()).map(String::as_str)
    }

    /// Says which rows name no mutant of these files any more.
    pub(crate) fn check(&self, mutants: &[Mutant]) -> Status {
        let known = |name: &String| mutants.iter().any(|mutant| mutant.name() == *name);
        let of_file = |name: &String| {
            mutants
                .iter()
                .any(|mutant| name.starts_with(&format!("{} ", mutant.file)))
        };
        let stale: Vec<&String> = self
            .reasons
            .keys()
            .filter(|name| of_file(name) && !known(name))
            .collect();
        for name in &stale {
            talk!("{PAGE}: there is no mutant `{name}` any more");
        }
        if stale.is_empty() {
            Status::Good
        } else {
            Status::CheckFailed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Mutants\n\n## Equivalent mutants\n\n| mutant | why |\n|---|---|\n\
        | `` a.rs f: `||` becomes `&&` in `a || b` `` | b follows from a |\n\n## Others\n";

    #[test]
    fn rows_have_names_and_reasons() {
        let (file, function) = ("a.rs".to_owned(), "f".to_owned());
        let what = "`||` becomes `&&` in `a || b`".to_owned();
        let mutant = Mutant {
            file,
            function,
            line: 3,
            what,
            nth: 1,
        };
        let page = Equivalents::of(TEXT);
        assert_eq!(page.reason(&mutant), Some("b follows from a"));
        assert_eq!(page.check(std::slice::from_ref(&mutant)), Status::Good);
        let other = Mutant {
            what: "other".to_owned(),
            ..mutant
        };
        assert_eq!(page.reason(&other), None);
        assert_eq!(
            page.check(&[other]),
            Status::CheckFailed,
            "a row that names nothing is stale"
        );
    }
}
