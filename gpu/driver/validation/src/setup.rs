//! Setup: what a run of the suite is told.

use core::time::Duration;

/// What the GPU must be, where that is known: a board's own, or the one that the model plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// `GPU_ID`.
    pub gpu_id: Option<u32>,
    /// `SHADER_PRESENT`.
    pub cores: Option<u64>,
    /// The GPU's clock in kilohertz, as it was set.
    pub clock_khz: Option<u64>,
}

/// A run of the suite.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The firmware's image.
    pub firmware: &'a [u8],
    /// What the GPU must be.
    pub expected: Expected,
    /// Decides what the soak does. The same seed does the same.
    pub seed: u64,
    /// Rounds of the soak.
    pub soak: u32,
    /// Only tests whose name begins with this, and those that they need; empty for all.
    pub only: &'a str,
    /// End after the first test that fails.
    pub stop_at_failure: bool,
}

impl<'a> Setup<'a> {
    /// All tests, with this firmware and nothing known of the GPU.
    pub const fn new(firmware: &'a [u8]) -> Setup<'a> {
        Setup {
            firmware,
            expected: Expected {
                gpu_id: None,
                cores: None,
                clock_khz: None,
            },
            seed: 1,
            soak: 64,
            only: "",
            stop_at_failure: false,
        }
    }
}

/// How long a job of a test may take, on a GPU at its usual clock: each is one of microseconds.
pub(crate) const JOB: Duration = Duration::from_millis(500);
