//! Mutation testing: one slip at a time in the code, and the question whether a test fails.
//!
//! [`find`] lists the mutants of a source file, [`rewrite`] puts those of a sample into its text behind a switch, [`tree`] builds
//! the workspace with that text, [`suite`] runs tests with one mutant switched on, [`page`] knows the mutants that change nothing, and [`judgement`] says what both mean
//! together.
//! So all mutants of a sample cost one build.
//!
//! Never: a mutant in test code, in a constant (which is computed when there is no switch yet), or in the text of a macro.

mod copy;
mod find;
mod judgement;
mod page;
mod rewrite;
mod subjects;
mod suite;
mod tree;

pub(crate) use judgement::Judgement;
pub(crate) use page::Equivalents;
pub(crate) use subjects::{Subject, of_name, subjects};
pub(crate) use suite::Suite;
pub(crate) use tree::Tree;

use std::hash::{DefaultHasher, Hash, Hasher};

/// One slip in the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The file, from the root of the workspace.
    pub(crate) file: String,
    /// The function that holds the slip.
    pub(crate) function: String,
    /// Line of the file, from 1.
    pub(crate) line: usize,
    /// The change in words: `a < b` becomes `a <= b`.
    pub(crate) what: String,
    /// Which of the same changes in the same function it is, from 1.
    pub(crate) nth: usize,
}

impl Mutant {
    /// The name by which a page refers to the mutant. It has no line number, so it outlives changes elsewhere in the file.
    pub(crate) fn name(&self) -> String {
        let Mutant {
            file,
            function,
            what,
            nth,
            ..
        } = self;
        match nth {
            1 => format!("{file} {function}: {what}"),
            nth => format!("{file} {function}: {what} ({nth})"),
        }
    }

    /// The place as editors open it.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// Numbers in an order that depends on `seed` and the mutants' names alone: a sample is the first of them.
pub(crate) fn shuffled(mutants: &[Mutant], mut numbers: Vec<usize>, seed: u64) -> Vec<usize> {
    let key = |number: &usize| {
        let mut hasher = DefaultHasher::new();
        (seed, mutants[*number].name()).hash(&mut hasher);
        hasher.finish()
    };
    numbers.sort_by_cached_key(key);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(nth: usize) -> Mutant {
        let (file, function) = ("a.rs".to_owned(), "f".to_owned());
        let what = "`+` becomes `-`".to_owned();
        Mutant {
            file,
            function,
            line: 1,
            what,
            nth,
        }
    }

    #[test]
    fn a_sample_depends_on_its_seed_alone() {
        let all: Vec<Mutant> = (1..=100).map(mutant).collect();
        let order = |seed| shuffled(&all, (0..100).collect(), seed);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1)[..10], order(2)[..10]);
        let backwards = shuffled(&all, (0..100).rev().collect(), 1);
        assert_eq!(
            backwards,
            order(1),
            "the order of the numbers counts for nothing"
        );
    }

    #[test]
    fn names_tell_the_same_changes_of_a_function_apart() {
        assert_eq!(mutant(1).name(), "a.rs f: `+` becomes `-`");
        assert_eq!(mutant(2).name(), "a.rs f: `+` becomes `-` (2)");
    }
}
