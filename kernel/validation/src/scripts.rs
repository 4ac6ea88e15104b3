//! Scripts: those that the image was given, as tests of the suite.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use eitri_amber_device::suite::{self, Case, SuiteError};
use eitri_amber_device::{Machine, Verdict, run_case, test_name};
use eitri_job::{Failure, Job, Saved};
use eitri_on_board::{Gpu, MmioPlatform};
use eitri_validation::{Extra, Trouble};

/// The scripts.
pub(crate) struct Scripts<'f> {
    cases: Vec<Case>,
    firmware: &'f [u8],
}

impl<'f> Scripts<'f> {
    /// Those of a suite; none of no bytes.
    pub(crate) fn read(bytes: &[u8], firmware: &'f [u8]) -> Result<Scripts<'f>, SuiteError> {
        let cases = match bytes {
            [] => Vec::new(),
            _ => suite::read(bytes)?.cases.collect::<Result<_, _>>()?,
        };
        Ok(Scripts { cases, firmware })
    }
}

impl Extra<MmioPlatform> for Scripts<'_> {
    fn names(&self) -> Vec<String> {
        self.cases
            .iter()
            .map(|case| test_name(&case.name))
            .collect()
    }

    fn run(
        &mut self,
        number: usize,
        platform: MmioPlatform,
    ) -> (MmioPlatform, eitri_validation::Verdict) {
        let mut gpu = BoardGpu(Gpu::new(platform));
        let verdict = match self.cases.get(number) {
            Some(case) => run_case(&mut gpu, self.firmware, case),
            None => Verdict::Skip(format!("there is no script {number}")),
        };
        let verdict = match verdict {
            Verdict::Pass => Ok(()),
            Verdict::Skip(why) => Err(Trouble::Skipped(why)),
            Verdict::Fail(why) => Err(Trouble::Failed(why)),
        };
        (gpu.0.into_platform(), verdict)
    }
}

/// The board's GPU, for the scripts.
struct BoardGpu(Gpu);

impl Machine for BoardGpu {
    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Saved>, Failure> {
        self.0.run(job)
    }
}
