//! Tracing: what happens inside the device, told to whoever wants to know.
//!
//! Needs: nothing; without a sink nothing is formatted and little is computed.

use crate::clock::Nanoseconds;
use crate::mmu::PageFault;

/// One thing that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// The host read a register.
    Read {
        /// Byte offset in the window.
        offset: u32,
        /// What it got.
        value: u32,
    },
    /// The host wrote a register.
    Write {
        /// Byte offset in the window.
        offset: u32,
        /// What it wrote.
        value: u32,
    },
    /// An address space refused an access.
    PageFault(PageFault),
    /// A stream is about to execute an instruction.
    Instruction {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// GPU address of the instruction.
        address: u64,
        /// The instruction.
        word: u64,
    },
    /// A compute job began.
    JobStarted {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// Workgroups in x, y, z.
        groups: [u32; 3],
    },
    /// A compute job ended.
    JobEnded {
        /// Group slot.
        group: u8,
        /// Stream number.
        stream: u8,
        /// Exception code; 0 is success.
        exception: u8,
    },
    /// A warp is about to execute an instruction.
    Shader {
        /// GPU address of the instruction.
        address: u64,
        /// The instruction.
        word: u64,
        /// Lanes that execute it, a bit a lane.
        lanes: u16,
    },
}

/// Receives events as they happen.
pub trait Sink {
    /// `event` happened at `time`.
    fn event(&mut self, time: Nanoseconds, event: Event);
}
