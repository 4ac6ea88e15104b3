//! Warnings: oddities of a GPU or its firmware that the driver can live with.
//!
//! Bring-up refuses what would let the GPU reach memory that is not its own, or what nothing could work with; everything else that
//! other drivers insist on is reported, and this driver goes on.
//! Facts: hardware/csf-firmware.md 7 (the checks of a host at start), boards-rk3588.md 14.

use core::fmt;

/// An oddity, and how the driver goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// TIMESTAMP stands still.
    TimestampStands {
        /// Rate of the GPU's cycles, by which the firmware measures time instead; 0 if they are not counted either.
        cycles_hertz: u64,
    },
    /// A count that other drivers refuse.
    Count {
        /// The word.
        register: &'static str,
        /// Its value.
        value: u32,
        /// The least that other drivers accept.
        least: u32,
        /// The most.
        most: u32,
    },
    /// Two slots, or two streams, differ.
    Unequal {
        /// The word.
        register: &'static str,
        /// The slot.
        slot: u32,
        /// Its value there.
        value: u32,
        /// The value of the first slot or stream.
        first: u32,
        /// Which of them the driver goes by.
        answer: &'static str,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::TimestampStands { cycles_hertz: 0 } => f.write_str(
                "TIMESTAMP (0x98) and CYCLE_COUNT (0x90) stand still: no timer of the firmware ends, and queries of time give a constant",
            ),
            Warning::TimestampStands { cycles_hertz } => write!(
                f,
                "TIMESTAMP (0x98) stands still: the firmware's timers count GPU cycles at {} kHz, and queries of time give a constant",
                cycles_hertz / 1000
            ),
            Warning::Count {
                register,
                value,
                least,
                most,
            } => write!(f, "{register} = {value}, where drivers expect {least} to {most}"),
            Warning::Unequal {
                register,
                slot,
                value,
                first,
                answer,
            } => write!(
                f,
                "{register} of slot {slot} = {value:#x}, but {first:#x} in the first slot: {answer}"
            ),
        }
    }
}
