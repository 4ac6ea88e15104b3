//! Judgement: what a verdict means beside the page of equivalents.

use super::page::PAGE;
use super::suite::Verdict;
use super::{Equivalents, Mutant};

/// What became of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// A test fails.
    Caught {
        /// The test.
        by: String,
    },
    /// No test fails, and the page says why none can.
    Equivalent {
        /// What the page says.
        reason: String,
    },
    /// No test fails, or the page is wrong.
    Survived {
        /// What was tried, in a sentence.
        why: String,
    },
}

impl Judgement {
    /// The judgement of a mutant that tests were asked about.
    pub(crate) fn of(mutant: &Mutant, verdict: Verdict, page: &Equivalents) -> Judgement {
        let survived = |why| Judgement::Survived { why };
        match (verdict, page.reason(mutant)) {
            (Verdict::Caught { by }, None) => Judgement::Caught { by },
            (Verdict::Caught { by }, Some(_)) => {
                survived(format!("{PAGE} calls it equivalent, but {by} catches it"))
            }
            (Verdict::Survived { .. } | Verdict::Unreached, Some(reason)) => {
                let reason = reason.to_owned();
                Judgement::Equivalent { reason }
            }
            (Verdict::Survived { tests }, None) => {
                survived(format!("{tests} tests run it, and pass"))
            }
            (Verdict::Unreached, None) => survived("no test runs it".to_owned()),
        }
    }
}
