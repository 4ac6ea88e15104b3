//! Verdict: what came of a script.

use alloc::borrow::ToOwned;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What came of a script that was run to an end of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Every expectation holds.
    Pass,
    /// It can't be read, does not compile, or an expectation does not hold; why.
    Fail(String),
    /// The hardware lacks this.
    Skip(String),
}

impl Verdict {
    /// The same in the words of whoever runs scripts among other tests.
    ///
    /// # Errors
    /// What it makes of a script that was skipped, or that has failed.
    pub fn result<E>(
        self,
        skipped: impl FnOnce(String) -> E,
        failed: impl FnOnce(String) -> E,
    ) -> Result<(), E> {
        match self {
            Verdict::Pass => Ok(()),
            Verdict::Skip(why) => Err(skipped(why)),
            Verdict::Fail(why) => Err(failed(why)),
        }
    }

    /// What it means for a script that must fail: one that fails as it should passes.
    pub fn inverted(self) -> Verdict {
        match self {
            Verdict::Fail(_) => Verdict::Pass,
            Verdict::Pass => {
                Verdict::Fail("it passes, but its name says that it must fail".to_owned())
            }
            skipped @ Verdict::Skip(_) => skipped,
        }
    }
}
