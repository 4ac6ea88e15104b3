//! Host steps: what a host did with the device and its memory, recorded so that the same device goes the same way again.
//!
//! The device is deterministic, so its state and these steps are all that a replay needs: no driver runs in it.

use crate::clock::Nanoseconds;
use alloc::vec::Vec;

/// Something that a host did, or the time that it let pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostStep {
    /// A read of a register word.
    Read {
        /// Byte offset in the window.
        offset: u32,
        /// The word that the host got.
        value: u32,
    },
    /// A write of a register word.
    Write {
        /// Byte offset in the window.
        offset: u32,
        /// The word.
        value: u32,
    },
    /// A store to memory.
    Store {
        /// Physical address of the first byte.
        address: u64,
        /// The bytes, at least one.
        bytes: Vec<u8>,
    },
    /// A part of memory is filled with zeros.
    Zero {
        /// Physical address of the first byte.
        address: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// Turns of the device, as [`crate::Gpu::run_turn`] makes them.
    Turns {
        /// The time until which they run at the longest.
        end: Nanoseconds,
        /// How many.
        count: u32,
    },
}
