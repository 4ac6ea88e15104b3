//! The validation suite: tests with stable names that say whether a GPU works.
//!
//! It runs on anything that is a [`Platform`](eitri_runtime::Platform): on a board with nothing underneath, in QEMU, and in an
//! ordinary process against the model. What is expected comes from the facts, never from the model: that one is a GPU among
//! others here, and models with one broken thing each are what the suite itself is tested with.
//!
//! Needs: a platform, a firmware image, `alloc`.  Guarantees: the plan first, one result a test in the order of the plan, also
//! when the GPU is lost in between; nothing hangs.  Never: names the model or a board.
//!
//! ```
//! use eitri_model::{Config, stub_firmware};
//! use eitri_on_model::Machine;
//! use eitri_validation::{Console, Form, Setup, run};
//!
//! let firmware = stub_firmware();
//! let setup = Setup { only: "registers.", ..Setup::new(&firmware) };
//! let mut console = Console::new(Form::Tap, "example", |line: &str| println!("{line}"));
//! let outcome = run(Machine::new(Config::default()), &setup, None, &mut console);
//! assert_eq!(outcome.summary.failed, 0);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "the runtime's errors carry what was seen"
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

// What is told, and what is asked.
mod console;
mod result;
mod setup;

// What runs on the GPU, and what must come of it.
mod cases;
mod programs;
mod tools;
pub mod vectors;

// What tests stand on: registers alone, or a running device.
mod bench;
mod raw;

mod tests;

mod suite;

// What others share a device with.
mod user;

pub use console::{Console, Form, LINE, Listener};
pub use programs::{NoProgram, Programs};
pub use result::{Measurement, Status, Summary, TestResult, Trouble, Unit, Verdict};
pub use setup::{Expected, Setup};
pub use suite::{Extra, Outcome, names, run, run_with};
pub use user::{SECOND_CPU, User};
