//! Source: what a dump is taken from, a GPU with its memory.

use crate::note::{Fault, Label, Submission};
use core::fmt;

/// There is no memory at a physical address, or none that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The physical address.
    pub address: u64,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory at physical address {:#x}", self.address)
    }
}

impl core::error::Error for Unreadable {}

/// Physical memory that can be read.
pub trait Memory {
    /// Copies the bytes from the physical `address` on into `bytes`. A read never crosses a page of 4 KiB.
    ///
    /// # Errors
    /// [`Unreadable`]; `bytes` are then unspecified.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable>;
}

/// A GPU with its memory. The clocks of the GPU run; nothing else is asked of its state.
///
/// Page tables may be damaged: [`Memory::read`] must answer for any address, so a source on a machine without an MMU says
/// [`Unreadable`] wherever there is no RAM.
pub trait Source: Memory {
    /// Reads the 32-bit register word at `offset` bytes of the window.
    fn register(&mut self, offset: u32) -> u32;

    /// Who takes the dump: a name and a version.
    fn producer(&self) -> &str;

    /// Tells the faults that the driver has seen. What registers and interface words still say need not be told.
    ///
    /// Called twice for a dump; both times it tells the same number.
    fn faults(&mut self, _tell: &mut dyn FnMut(Fault)) {}

    /// Tells the last submissions to each stream, oldest first. Called twice, as [`Source::faults`].
    fn submissions(&mut self, _tell: &mut dyn FnMut(Submission)) {}

    /// Tells what the driver calls the ranges of addresses that it gave out. Called twice, as [`Source::faults`].
    fn labels(&mut self, _tell: &mut dyn FnMut(Label<'_>)) {}

    /// Tells what the driver has concluded from faults, such as the draw that failed. Called twice, as [`Source::faults`].
    fn remarks(&mut self, _tell: &mut dyn FnMut(&str)) {}
}
