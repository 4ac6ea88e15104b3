//! Merging: the results of several machines as those of one.

use super::{Case, Results, Shard, Status};
use crate::input::buffer_source;
use crate::outcome::Failure;
use miette::Diagnostic;
use std::collections::BTreeMap;
use thiserror::Error;

/// What can't be merged.
#[derive(Debug, Error, Diagnostic)]
pub(crate) enum MergeError {
    #[error("{path}: no results: {why}")]
    #[diagnostic(help(
        "--results FILE of `amber`, `kernel`, `draw`, `validate`, `mutants` and `console` writes them"
    ))]
    NotResults { path: String, why: String },
    #[error("{path} is of {suite}, {first} of {of}: one list is merged at a time")]
    OtherSuite {
        path: String,
        suite: String,
        first: String,
        of: String,
    },
    #[error("{path} is part {shard}, {first} is of {of} parts")]
    OtherParts {
        path: String,
        shard: Shard,
        first: String,
        of: usize,
    },
    #[error("{case} is in {first} and in {second}")]
    #[diagnostic(help("the same part was given twice, or the parts are of different lists"))]
    Twice {
        case: String,
        first: String,
        second: String,
    },
}

fn read(path: &str) -> Result<Results, Failure> {
    let bytes = buffer_source::read(path)?;
    let parsed = serde_json::from_slice(&bytes).map_err(|cause| cause.to_string());
    let results = parsed.and_then(|value| Results::from_json(&value));
    results.map_err(|why| {
        let path = path.to_owned();
        Failure::refused(MergeError::NotResults { path, why })
    })
}

/// The results of these files as one; a part that nobody gave is a case that is missing.
pub(crate) fn merge(paths: &[String]) -> Result<Results, Failure> {
    let mut parts = Vec::new();
    for path in paths {
        parts.push((path, read(path)?));
    }
    merged(parts).map_err(Failure::refused)
}

fn merged(parts: Vec<(&String, Results)>) -> Result<Results, MergeError> {
    let mut all = Results::new("");
    let mut seen: BTreeMap<String, &String> = BTreeMap::new();
    let mut shards: Vec<Shard> = Vec::new();
    let mut first: Option<&String> = None;
    for (path, part) in parts {
        let Some(first) = first else {
            first = Some(path);
            shards.extend(part.shard);
            seen.extend(part.cases.iter().map(|case| (case.name.clone(), path)));
            all = part;
            continue;
        };
        if part.suite != all.suite {
            return Err(MergeError::OtherSuite {
                path: path.clone(),
                suite: part.suite,
                first: first.clone(),
                of: all.suite,
            });
        }
        if let (Some(shard), Some(before)) = (part.shard, shards.first())
            && shard.of != before.of
        {
            return Err(MergeError::OtherParts {
                path: path.clone(),
                shard,
                first: first.clone(),
                of: before.of,
            });
        }
        shards.extend(part.shard);
        for case in &part.cases {
            if let Some(first) = seen.insert(case.name.clone(), path) {
                return Err(MergeError::Twice {
                    case: case.name.clone(),
                    first: first.clone(),
                    second: path.clone(),
                });
            }
        }
        all.start = [all.start.take(), part.start].into_iter().flatten().min();
        all.interrupted |= part.interrupted;
        // What is not the same for all is no fact of the whole.
        all.properties
            .retain(|property| part.properties.contains(property));
        all.cases.extend(part.cases);
    }
    all.shard = None;
    all.cases.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(Shard { of, .. }) = shards.first().copied() {
        for number in 1..=of {
            if !shards.iter().any(|shard| shard.number == number) {
                let name = format!("part {number} of {of}");
                all.cases
                    .push(Case::new(&name, Status::Missing, "nobody gave its results"));
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(shard: &str, names: &[&str]) -> Results {
        let mut results = Results::new("kernel");
        results.shard = shard.parse().ok();
        let case = |name: &&str| Case::new(name, Status::Pass, "");
        results.cases = names.iter().map(case).collect();
        results
    }

    fn merged(parts: &[Results]) -> Result<Results, String> {
        let paths: Vec<String> = (1..=parts.len())
            .map(|number| format!("{number}.json"))
            .collect();
        let parts = paths.iter().zip(parts.iter().cloned()).collect();
        super::merged(parts).map_err(|error| error.to_string())
    }

    #[test]
    fn parts_become_one_list() {
        let all = merged(&[part("2/2", &["b"]), part("1/2", &["a", "c"])]).unwrap();
        let names: Vec<&str> = all.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(all.is_good());
    }

    #[test]
    fn a_part_that_is_missing_is_told() {
        let all = merged(&[part("1/3", &["a"]), part("3/3", &["c"])]).unwrap();
        let missing: Vec<&str> = all
            .cases
            .iter()
            .filter(|case| case.status == Status::Missing)
            .map(|case| case.name.as_str())
            .collect();
        assert_eq!(missing, ["part 2 of 3"]);
        assert!(!all.is_good());
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let twice = merged(&[part("1/2", &["a"]), part("2/2", &["a"])]).unwrap_err();
        assert!(twice.contains("a is in 1.json and in 2.json"), "{twice}");
        let parts = merged(&[part("1/2", &["a"]), part("2/3", &["b"])]).unwrap_err();
        assert!(parts.contains("part 2/3"), "{parts}");
        let other = Results {
            suite: "draw".to_owned(),
            ..part("", &["b"])
        };
        assert!(
            merged(&[part("", &["a"]), other])
                .unwrap_err()
                .contains("of draw")
        );
    }
}
