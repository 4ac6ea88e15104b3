//! `--shard K/N`: one part of a list, for one of several machines.

use miette::Diagnostic;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// `K/N`: every N-th thing, from the K-th on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shard {
    pub(crate) number: usize,
    pub(crate) of: usize,
}

/// A text that is no shard.
#[derive(Clone, Debug, PartialEq, Eq, Error, Diagnostic)]
#[error("`{text}` is no shard: write K/N with K from 1 to N")]
pub(crate) struct NotShard {
    text: String,
}

impl FromStr for Shard {
    type Err = NotShard;

    fn from_str(text: &str) -> Result<Shard, NotShard> {
        let parts = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err(NotShard {
                text: text.to_owned(),
            }),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl Shard {
    /// The part of `all`; all of it without a shard. Parts of a list in the same order have nothing in common.
    pub(crate) fn part<T>(shard: Option<Shard>, all: Vec<T>) -> Vec<T> {
        match shard {
            Some(Shard { number, of }) => all.into_iter().skip(number - 1).step_by(of).collect(),
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_of_the_list_and_nothing_twice() {
        let all: Vec<u32> = (0..11).collect();
        let part = |text: &str| Shard::part(text.parse().ok(), all.clone());
        assert_eq!(part("1/3"), [0, 3, 6, 9]);
        let mut together = [part("1/3"), part("2/3"), part("3/3")].concat();
        together.sort_unstable();
        assert_eq!(together, all);
        assert_eq!(part("12/12"), [0; 0]);
        for bad in ["0/2", "3/2", "1", "x/y", "1/0"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
