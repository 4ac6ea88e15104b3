//! Watchdog of the i.MX family (WDOG): resets the machine unless it is told in time that the image lives.
//!
//! It is refreshed and never stopped: an image that hangs still ends.  Facts: hardware/boards-imx95.md section 8.

use crate::region::RegisterBase;
use crate::steps::Machine;
use core::time::Duration;

/// A watchdog that may run when the image is entered.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Watchdog {
    /// Its registers.
    pub base: RegisterBase,
    /// After how long it resets the machine.
    #[cfg_attr(feature = "files", serde(with = "crate::file::fields::time"))]
    pub expires: Duration,
}

/// Offsets.
#[rustfmt::skip]
mod offset {
    pub(super) const CS:  usize = 0x0;
    pub(super) const CNT: usize = 0x4;
}

/// CS: it runs.
const ENABLED: u32 = 1 << 7;
/// CS: commands are words of 32 bits, and not two of 16.
const WIDE_COMMANDS: u32 = 1 << 13;
/// What refreshes it, as two commands; the wide one has the second in its upper half.
const REFRESH: [u32; 2] = [0xA602, 0xB480];

impl Watchdog {
    /// Whether it runs.
    pub fn is_running(&self, machine: &mut impl Machine) -> bool {
        machine.read(self.base.address() + offset::CS) & ENABLED != 0
    }

    /// Lets it count from the beginning.
    pub fn refresh(&self, machine: &mut impl Machine) {
        let wide = machine.read(self.base.address() + offset::CS) & WIDE_COMMANDS != 0;
        let counter = self.base.address() + offset::CNT;
        let [first, second] = REFRESH;
        if wide {
            machine.write(counter, second << 16 | first);
        } else {
            machine.write(counter, first);
            machine.write(counter, second);
        }
    }
}
