//! Machine: what carries steps out.

use super::bus::Buses;
use crate::region::Region;
use embedded_hal::delay::DelayNs;

/// A call of the secure firmware, by `smc #0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct SmcCall {
    /// Function id.
    pub function: u32,
    /// x1 and x2.
    pub arguments: [u64; 2],
}

/// Registers, firmware, buses and time of a machine.
///
/// Every access is one plain load or store of 32 bits, in the order of the calls, and everything before a write is seen by
/// all before it.
pub trait Machine: DelayNs + Buses {
    /// Reads a register.
    fn read(&mut self, at: usize) -> u32;

    /// Writes a register.
    fn write(&mut self, at: usize, value: u32);

    /// Calls the secure firmware; gives x0.
    fn smc(&mut self, call: SmcCall) -> u64;

    /// The memory that a power controller may be given, which is read and written as registers are.
    fn shared_memory(&self) -> Option<Region> {
        None
    }
}
