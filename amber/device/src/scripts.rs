//! Scripts as tests among others: those of a suite, each run on a platform that is given back.
//!
//! What the validation suite does with them is the same on the host and on a board; only the platform differs.

use crate::{Case, Machine, Verdict, run_case, test_name};
use alloc::string::String;
use alloc::vec::Vec;
use eitri_drawing::Drawing;
use eitri_drawing::suite::{self, SuiteError};
use eitri_job::result::FailureKind;
use eitri_job::{Failure, Job, Saved, run_here};
use eitri_runtime::Platform;

/// The scripts of a suite.
pub struct Scripts<'f> {
    cases: Vec<Case>,
    firmware: &'f [u8],
}

impl<'f> Scripts<'f> {
    /// Those of a suite's bytes, to be run on a GPU with this firmware; none of no bytes.
    ///
    /// # Errors
    /// When the bytes are no suite.
    pub fn read(bytes: &[u8], firmware: &'f [u8]) -> Result<Scripts<'f>, SuiteError> {
        let cases = match bytes {
            [] => Vec::new(),
            _ => suite::read(bytes)?.entries.collect::<Result<_, _>>()?,
        };
        Ok(Scripts { cases, firmware })
    }

    /// Their names as tests, in their order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.cases.iter().map(|case| test_name(&case.name))
    }

    /// Runs one, by its place among the names, and gives the platform back.
    pub fn run<P: Platform>(&self, number: usize, platform: P) -> (P, Verdict) {
        let Some(case) = self.cases.get(number) else {
            return (
                platform,
                Verdict::Skip(format!("there is no script {number}")),
            );
        };
        let mut gpu = OnPlatform::new(platform);
        let verdict = run_case(&mut gpu, self.firmware, case);
        (gpu.into_platform(), verdict)
    }
}

/// The GPU behind a platform, for one job after the other: each from power-off to power-off.
pub struct OnPlatform<P>(Option<P>);

impl<P> OnPlatform<P> {
    /// That of a platform.
    pub fn new(platform: P) -> OnPlatform<P> {
        OnPlatform(Some(platform))
    }

    fn take(&mut self) -> Result<P, Failure> {
        self.0.take().ok_or_else(|| Failure {
            kind: FailureKind::Device,
            text: "the GPU is gone".into(),
        })
    }

    /// The platform again.
    ///
    /// # Panics
    /// Never: whatever a job comes to, the platform comes back.
    pub fn into_platform(self) -> P {
        // `run` takes it and puts it back before it returns.
        self.0.expect("a platform")
    }
}

impl<P: Platform> Machine for OnPlatform<P> {
    fn run(&mut self, job: &Job<'_>) -> Result<Vec<Saved>, Failure> {
        let (platform, outcome) = run_here(self.take()?, job, &mut ());
        self.0 = Some(platform);
        outcome
    }

    fn play(&mut self, firmware: &[u8], drawing: &Drawing<'_>) -> Result<Vec<Saved>, Failure> {
        let (platform, outcome) = eitri_player::play_here(self.take()?, firmware, drawing, &mut ());
        self.0 = Some(platform);
        outcome
    }
}
