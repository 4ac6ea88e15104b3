//! What an image adds to the suite: a second CPU, and the scripts that it was given.

use crate::second_cpu;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;
use eitri_amber_device::suite::{self, Case, SuiteError};
use eitri_amber_device::{Machine, Verdict, run_case, test_name};
use eitri_job::{Failure, Job, Saved};
use eitri_on_board::{Gpu, MmioPlatform};
use eitri_validation::{Extra, SECOND_CPU, Trouble};

/// The scripts.
pub(crate) struct Scripts {
    cases: Vec<Case>,
    firmware: &'static [u8],
}

impl Scripts {
    /// Those of a suite; none of no bytes.
    pub(crate) fn read(bytes: &[u8], firmware: &'static [u8]) -> Result<Scripts, SuiteError> {
        let cases = match bytes {
            [] => Vec::new(),
            _ => suite::read(bytes)?.cases.collect::<Result<_, _>>()?,
        };
        Ok(Scripts { cases, firmware })
    }
}

impl Extra<MmioPlatform> for Scripts {
    fn names(&self) -> Vec<String> {
        let scripts = self.cases.iter().map(|case| test_name(&case.name));
        iter::once(SECOND_CPU.to_owned()).chain(scripts).collect()
    }

    fn run(
        &mut self,
        number: usize,
        platform: MmioPlatform,
    ) -> (MmioPlatform, eitri_validation::Verdict) {
        let Some(script) = number.checked_sub(1) else {
            return second_cpu::run(platform, self.firmware);
        };
        let mut gpu = BoardGpu(Gpu::new(platform));
        let verdict = match self.cases.get(script) {
            Some(case) => run_case(&mut gpu, self.firmware, case),
            None => Verdict::Skip(format!("there is no script {script}")),
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
