//! Logs of boards: what an image has said on its console, read back and judged.
//!
//! Needs: nothing of the image.  Guarantees: a result that was promised and did not come is missing, never good; bytes that are
//! no text, other programs' lines and time stamps before lines change nothing.
//! Facts: hardware/boards-labs.md 1 (lines), 4 (KCIDB).

mod kcidb;
mod outputs;
mod prefix;
mod read;
mod write;

pub(crate) use outputs::{LabOutputs, Origin, Written};
pub(crate) use read::{read, said_end};
pub(crate) use write::plain;

use crate::results::{Case, Number, Results, Status};

/// The names of all tests of an image, in their order.
pub(crate) fn known() -> Vec<String> {
    let mut names = eitri_validation::names::<eitri_on_model::Machine>();
    names.push(eitri_validation::SECOND_CPU.to_owned());
    names
}

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// A test that has said how it ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    /// Why, in one line.
    pub(crate) why: String,
    pub(crate) numbers: Vec<Number>,
    /// How long it took, if lines have time stamps.
    pub(crate) seconds: Option<f64>,
    /// What was printed before its result, if it failed.
    pub(crate) output: String,
    /// Its lines have come as they were sent: their checksum is right.
    pub(crate) is_summed: bool,
}

/// One boot, as its log tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    /// Version, board and build, as the first line has them.
    pub(crate) title: String,
    /// The board's own name for itself.
    pub(crate) board: String,
    /// The build id.
    pub(crate) build: String,
    /// The version of the sources that the image was built from: its number, and the revision.
    pub(crate) version: String,
    pub(crate) revision: String,
    /// The package that the image is of, and what it has inside.
    pub(crate) image: String,
    pub(crate) features: String,
    /// The machine's name and serial number, and what has loaded the image, as its device tree says.
    pub(crate) model: String,
    pub(crate) serial: String,
    pub(crate) loader: String,
    /// The version of the interface that the GPU's firmware speaks.
    pub(crate) interface: String,
    /// Tests that were promised; `None` if nothing was.
    pub(crate) planned: Option<usize>,
    pub(crate) tests: Vec<Told>,
    /// The test that had begun last.
    pub(crate) begun: Option<String>,
    /// What the image said when it could not go on.
    pub(crate) crash: Option<String>,
    /// Passed, failed and skipped, as the last line counts them.
    pub(crate) end: Option<[usize; 3]>,
    /// How long the log goes on behind the last begin, in seconds, if lines have time stamps.
    pub(crate) waited: Option<f64>,
    /// There are checksums: an image that prints one for each test.
    pub(crate) has_sums: bool,
    /// Tests whose lines are not those that were sent, by the name that came.
    pub(crate) damaged: Vec<String>,
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

impl Told {
    fn case(&self) -> Case {
        let status = match self.outcome {
            Outcome::Passed => Status::Pass,
            Outcome::Failed => Status::Fail,
            Outcome::Skipped => Status::Skip,
        };
        Case {
            seconds: self.seconds,
            numbers: self.numbers.clone(),
            output: self.output.clone(),
            ..Case::new(&self.name, status, &self.why)
        }
    }
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

    /// How a log ends that does not end as it should.
    fn cut_off(&self) -> String {
        let Some(begun) = &self.begun else {
            return "the log does not end with `# done`: the image hung between tests, or the log was cut off"
                .to_owned();
        };
        let waited = self
            .waited
            .map(|seconds| format!(", begun {seconds:.0} s before the end"));
        let waited = waited.unwrap_or_default();
        format!("the log ends in {begun}{waited}: the test hung, or the log was cut off")
    }

    /// The results, a case for each test that was planned. `known` are the names of all tests, in their order.
    pub(crate) fn results(&self, known: &[String]) -> Results {
        let mut results = Results::new(&match self.board.as_str() {
            "" => "eitri".to_owned(),
            board => format!("eitri.{board}"),
        });
        for (name, value) in [
            ("board", &self.board),
            ("build", &self.build),
            ("version", &self.version),
            ("revision", &self.revision),
            ("image", &self.image),
            ("features", &self.features),
            ("title", &self.title),
            ("model", &self.model),
            ("serial", &self.serial),
            ("loader", &self.loader),
            ("interface", &self.interface),
        ] {
            if !value.is_empty() {
                results.properties.push((name.to_owned(), value.clone()));
            }
        }
        results.cases = self.tests.iter().map(Told::case).collect();
        // That tests failed or are missing is told by themselves.
        let mut others = match self.judge() {
            Judgement::Good => Vec::new(),
            Judgement::Bad(why) => why,
            Judgement::Nothing => vec!["nothing of Eitri's is in the log".to_owned()],
        };
        others.retain(|why| !why.ends_with(" failed") && !why.ends_with(" have no result"));
        let mut missing = self.missing();
        if let (Some(begun), None) = (&self.begun, self.end) {
            let why = match &self.crash {
                Some(crash) => format!("the image crashed: {crash}"),
                None => self.cut_off(),
            };
            results.cases.push(Case::new(begun, Status::Error, &why));
            missing = missing.saturating_sub(1);
            others.retain(|why| {
                !why.starts_with("the log ends in ") && !why.starts_with("the image crashed")
            });
        }
        results.cases.extend(self.not_run(known, missing));
        if !others.is_empty() {
            results
                .cases
                .push(Case::new("log", Status::Error, &others.join("; ")));
        }
        results
    }

    /// A case for each test that has not begun: by its name, if it is certain which ones were planned.
    fn not_run(&self, known: &[String], missing: usize) -> Vec<Case> {
        let told = |name: &String| {
            self.tests.iter().any(|test| test.name == *name) || self.begun.as_ref() == Some(name)
        };
        let names: Vec<String> = known.iter().filter(|name| !told(name)).cloned().collect();
        let names = match names.len() == missing {
            true => names,
            false => {
                let planned = self.planned.unwrap_or(0);
                let first = planned - missing + 1;
                let number = |number| format!("test {number} of {planned}");
                (first..=planned).map(number).collect()
            }
        };
        let case = |name: &String| Case::new(name, Status::Missing, "it did not run");
        names.iter().map(case).collect()
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
        for name in &self.damaged {
            why.push(format!(
                "{name}: the checksum of its lines is wrong: bytes were lost or changed on the line"
            ));
        }
        let unsummed = self
            .tests
            .iter()
            .filter(|test| self.has_sums && !test.is_summed && !self.damaged.contains(&test.name));
        for test in unsummed {
            why.push(format!(
                "{}: its lines have no checksum: a line was lost",
                test.name
            ));
        }
        match (self.planned, self.missing()) {
            (None, _) => why.push("no plan: what was to be run is not known".to_owned()),
            (_, 0) => {}
            (Some(planned), missing) => {
                why.push(format!(
                    "{missing} of {planned} planned tests have no result"
                ));
            }
        }
        match self.end {
            None => why.push(self.cut_off()),
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
