//! Results: what a test says, and what was measured.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What became of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The GPU does what the facts say.
    Passed,
    /// It does not.
    Failed,
    /// It could not be tried.
    Skipped,
}

/// Why a test did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The GPU does something else than the facts say: what, in one line.
    Failed(String),
    /// It could not be tried: why.
    Skipped(String),
}

/// What a test comes to.
pub type Verdict = Result<(), Trouble>;

/// A failure with its text, as `format!`.
macro_rules! failed {
    ($($text:tt)*) => { $crate::result::Trouble::Failed(alloc::format!($($text)*)) };
}

/// The reason why a test can't be tried, as `format!`.
macro_rules! skipped {
    ($($text:tt)*) => { $crate::result::Trouble::Skipped(alloc::format!($($text)*)) };
}

pub(crate) use {failed, skipped};

impl<E: core::error::Error> From<E> for Trouble {
    /// Whatever the driver reports in the middle of a test fails it.
    fn from(error: E) -> Trouble {
        failed!("{error}")
    }
}

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Thousands of bytes a second.
    KilobytesPerSecond,
    /// Thousands of cycles a second.
    Kilohertz,
    /// Things.
    Count,
}

impl Unit {
    /// Its usual name.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Microseconds => "us",
            Unit::KilobytesPerSecond => "kB/s",
            Unit::Kilohertz => "kHz",
            Unit::Count => "count",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A number that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// The name of its test, a full stop, and its own.
    pub name: String,
    /// How much.
    pub value: u64,
    /// Of what.
    pub unit: Unit,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Its place in the plan, from 1 on.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// What became of it.
    pub status: Status,
    /// Why it did not pass: one line; empty if it did.
    pub why: String,
    /// What was measured meanwhile.
    pub measured: Vec<Measurement>,
}

/// How many tests came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Tests that passed.
    pub passed: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that could not be tried.
    pub skipped: usize,
}

impl Summary {
    pub(crate) fn count(&mut self, status: Status) {
        match status {
            Status::Passed => self.passed += 1,
            Status::Failed => self.failed += 1,
            Status::Skipped => self.skipped += 1,
        }
    }
}
