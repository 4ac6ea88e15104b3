//! Firmware: what an image can't do itself, asked of the secure firmware by PSCI.
//!
//! Facts: hardware/boards.md 3.2.

use crate::println;
use core::fmt;
use eitri_boards::Firmware;
use smccc::psci::{self, Version};
use smccc::{Hvc, Smc};
use spin::Once;

/// By which instruction the firmware is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conduit {
    /// `smc #0`.
    Smc,
    /// `hvc #0`: a hypervisor is in its place.
    Hvc,
}

impl fmt::Display for Conduit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Conduit::Smc => "SMC",
            Conduit::Hvc => "HVC",
        })
    }
}

static CONDUIT: Once<Conduit> = Once::new();

/// Notes how the firmware is called, where that is known.
pub(crate) fn open(firmware: Firmware) {
    match firmware {
        Firmware::PsciBySmc => {
            CONDUIT.call_once(|| Conduit::Smc);
        }
        Firmware::AsTreeSays => {}
    }
}

/// How the firmware is called; `None` if there is none that we know of.
pub fn conduit() -> Option<Conduit> {
    CONDUIT.get().copied()
}

/// The version of PSCI that the firmware has; `None` if there is none.
pub fn psci_version() -> Option<Version> {
    match conduit()? {
        Conduit::Smc => psci::version::<Smc>().ok(),
        Conduit::Hvc => psci::version::<Hvc>().ok(),
    }
}

/// Resets the machine. Comes back only where that can't be done.
pub(crate) fn reset() {
    let refused = match conduit() {
        Some(Conduit::Smc) => psci::system_reset::<Smc>().err(),
        Some(Conduit::Hvc) => psci::system_reset::<Hvc>().err(),
        None => return println!("no firmware to reset the machine"),
    };
    println!("the firmware does not reset the machine: {refused:?}");
}
