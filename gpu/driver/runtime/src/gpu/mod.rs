//! GPU: its registers. What it is, its reset and power, its caches, its microcontroller's switch, its interrupt lines.
//!
//! Needs: a platform.  Never: knows of page tables, firmware or jobs; every layer above may use it.
//! Facts: hardware/csf-mmio.md.

pub(crate) mod caches;
pub(crate) mod interrupts;
pub(crate) mod mcu;
pub(crate) mod power;
pub(crate) mod probe;
pub(crate) mod reset;
pub(crate) mod timer_clock;

#[cfg(test)]
mod tests;

pub use mcu::HaltError;
pub use power::{DomainState, PowerState, PowerStuck};
pub use probe::{ProbeError, Properties};
pub use reset::ResetError;
pub use timer_clock::TimerClock;
