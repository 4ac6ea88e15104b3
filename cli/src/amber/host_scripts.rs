//! Scripts as tests of the validation suite, on the model: what `kernel/validation` does with them on a board.

use super::suite::unreadable;
use crate::outcome::Failure;
use eitri_amber_device::suite::{self, Case};
use eitri_amber_device::{Machine, Verdict, run_case, test_name};
use eitri_job::{Failure as JobFailure, Job, Saved, run_here};
use eitri_on_model::Machine as Model;
use eitri_validation::{Extra, Trouble};

/// The scripts.
pub(crate) struct HostScripts<'f> {
    cases: Vec<Case>,
    firmware: &'f [u8],
}

impl<'f> HostScripts<'f> {
    /// Those of a suite, if there is one.
    pub(crate) fn read(
        bytes: Option<&[u8]>,
        firmware: &'f [u8],
    ) -> Result<HostScripts<'f>, Failure> {
        let cases = match bytes {
            None => Vec::new(),
            Some(bytes) => suite::read(bytes)
                .and_then(|suite| suite.cases.collect())
                .map_err(unreadable)?,
        };
        Ok(HostScripts { cases, firmware })
    }
}

impl Extra<Model> for HostScripts<'_> {
    fn names(&self) -> Vec<String> {
        let cases = self.cases.iter();
        cases.map(|case| test_name(&case.name)).collect()
    }

    fn run(&mut self, number: usize, platform: Model) -> (Model, eitri_validation::Verdict) {
        let mut gpu = OnModel(Some(platform));
        let verdict = match self.cases.get(number) {
            Some(case) => run_case(&mut gpu, self.firmware, case),
            None => Verdict::Skip(format!("there is no script {number}")),
        };
        let verdict = match verdict {
            Verdict::Pass => Ok(()),
            Verdict::Skip(why) => Err(Trouble::Skipped(why)),
            Verdict::Fail(why) => Err(Trouble::Failed(why)),
        };
        // Each run puts it back, whatever the job comes to.
        (gpu.0.expect("a platform"), verdict)
    }
}

/// The model, for one job after the other.
struct OnModel(Option<Model>);

impl Machine for OnModel {
    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Saved>, JobFailure> {
        // As above: it is there between two runs.
        let platform = self.0.take().expect("a platform");
        let (platform, outcome) = run_here(platform, job, &mut ());
        self.0 = Some(platform);
        outcome
    }
}
