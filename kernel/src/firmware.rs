//! Firmware: what an image can't do itself, asked of the secure firmware by PSCI.
//!
//! Facts: hardware/boards.md 3.2.

use crate::println;
use eitri_boards::{Conduit, Firmware};
use smccc::psci::{self, Version};
use smccc::{Hvc, Smc};
use spin::Once;

static CONDUIT: Once<Conduit> = Once::new();

/// Notes how the firmware is called: as the board says, or else as the device tree does.
pub(crate) fn open(firmware: Firmware, tree_says: Option<Conduit>) {
    let conduit = match firmware {
        Firmware::Psci(conduit) => Some(conduit),
        Firmware::AsTreeSays => tree_says,
    };
    if let Some(conduit) = conduit {
        CONDUIT.call_once(|| conduit);
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

/// Starts a CPU at an address, with a word in x0; `None` if there is no firmware.
///
/// # Safety
/// What begins there can run on a CPU that has just been started, with that word.
pub(crate) unsafe fn start_cpu(cpu: u64, at: u64, word: u64) -> Option<Result<(), psci::Error>> {
    Some(match conduit()? {
        Conduit::Smc => psci::cpu_on::<Smc>(cpu, at, word),
        Conduit::Hvc => psci::cpu_on::<Hvc>(cpu, at, word),
    })
}

/// Resets the machine. Comes back only where that can't be done.
pub(crate) fn reset() {
    let refused = match conduit() {
        Some(Conduit::Smc) => psci::system_reset::<Smc>().err(),
        Some(Conduit::Hvc) => psci::system_reset::<Hvc>().err(),
        None => return println!("no firmware to reset the machine"),
    };
    println!("the firmware does not reset the machine");
    // The names of all reasons are text.
    if cfg!(feature = "text")
        && let Some(refused) = refused
    {
        println!("it says: {refused:?}");
    }
}
