//! Firmware: its image in memory, the microcontroller that runs it, and the interface that it offers.
//!
//! Facts: hardware/csf-firmware.md, csf-mmio.md sections 11 and 16.5 to 16.7.

mod channel;
mod global;
mod interface;
mod load;
mod mcu;
#[cfg(test)]
mod tests;

pub use channel::RequestIgnored;
pub(crate) use channel::{ANSWER, Channel, PendingRequest};
pub(crate) use global::Global;
pub use interface::InterfaceError;
pub(crate) use interface::{Interface, MAX_SLOTS, SlotBlocks, StreamBlocks};
pub use load::LoadError;
pub(crate) use load::{Filling, LoadedImage};
pub use mcu::BootError;
pub(crate) use mcu::Notice;
