//! The driver: from power-off to a finished job.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod platform;

pub use platform::{Instant, Lines, PhysicalAddress, Platform, SystemCoherency};
