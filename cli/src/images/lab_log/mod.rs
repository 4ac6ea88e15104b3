//! Logs of boards: what an image has said on its console, read back and judged.
//!
//! Needs: nothing of the image.  Guarantees: a result that was promised and did not come is missing, never good; bytes that are
//! no text, other programs' lines and time stamps before lines change nothing.
//! Facts: hardware/boards-labs.md 1 (lines), 4 (KCIDB).

mod kcidb;
mod read;
mod write;

pub(crate) use kcidb::kcidb;
pub(crate) use read::{read, said_end};
pub(crate) use write::{junit, plain, tap};

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A number that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) name: String,
    pub(crate) value: u64,
    pub(crate) unit: String,
}

/// A test that has said how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Why, in one line.
    pub(crate) why: String,
    pub(crate) numbers: Vec<Number>,
}

/// One boot, as its log tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// Version, board and build, as the first line has them.
    pub(crate) title: String,
    /// The board's own name for itself.
    pub(crate) board: String,
    /// The build id.
    pub(crate) build: String,
    /// Tests that were promised; `None` if nothing was.
    pub(crate) planned: Option<usize>,
    pub(crate) tests: Vec<Told>,
    /// The test that had begun last.
    pub(crate) begun: Option<String>,
    /// What the image said when it could not go on.
    pub(crate) crash: Option<String>,
    /// Passed, failed and skipped, as the last line counts them.
    pub(crate) end: Option<[usize; 3]>,
    /// How often an image has started: more than once is a board that resets in between.
    pub(crate) starts: usize,
}

/// What is to be thought of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// Everything that was promised has passed, or could not be tried.
    Good,
    /// Why not: one line each.
    Bad(Vec<String>),
    /// Nothing of Eitri's is in it.
    Nothing,
}

impl Log {
    fn count(&self, outcome: Outcome) -> usize {
        let tests = self.tests.iter();
        tests.filter(|test| test.outcome == outcome).count()
    }

    /// How many tests were promised and have said nothing.
    pub(crate) fn missing(&self) -> usize {
        self.planned.unwrap_or(0).saturating_sub(self.tests.len())
    }

    /// What is to be thought of it.
    pub(crate) fn judge(&self) -> Judgement {
        if self.starts == 0 && self.tests.is_empty() && self.crash.is_none() {
            return Judgement::Nothing;
        }
        let mut why = Vec::new();
        if let Some(crash) = &self.crash {
            let during = self.begun.as_deref();
            let during = during.map_or(String::new(), |test| format!(" in {test}"));
            why.push(format!("the image crashed{during}: {crash}"));
        }
        if self.starts > 1 {
            why.push(format!("the image has started {} times", self.starts));
        }
        match self.count(Outcome::Failed) {
            0 => {}
            1 => why.push("1 test failed".to_owned()),
            failed => why.push(format!("{failed} tests failed")),
        }
        match (self.planned, self.missing()) {
            (None, _) => why.push("no plan: what was to be run is not known".to_owned()),
            (_, 0) => {}
            (Some(planned), missing) => {
                why.push(format!("{missing} of {planned} tests have said nothing"));
            }
        }
        match self.end {
            None => why.push(
                "the log does not end with `# done`: the image hung, or was cut off".to_owned(),
            ),
            Some(end) => {
                let told = [Outcome::Passed, Outcome::Failed, Outcome::Skipped];
                let seen = told.map(|outcome| self.count(outcome));
                if seen != end {
                    why.push(format!(
                        "the last line counts {} passed, {} failed, {} skipped; the log has {}, {}, {}: lines were lost",
                        end[0], end[1], end[2], seen[0], seen[1], seen[2]
                    ));
                }
            }
        }
        match why.is_empty() {
            true => Judgement::Good,
            false => Judgement::Bad(why),
        }
    }
}
