//! Suspect: why a GPU would not answer, as far as a register beside it shows.
//!
//! An access to a GPU in this state ends in no error: the bus waits for ever. So a board's steps read such registers first.
//! Facts: hardware/boards-rk3588.md sections 7 and 10, hardware/boards-others.md section 1.3.

use core::fmt;

/// State of a GPU in which its registers do not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Suspect {
    /// A reset line of the GPU, or of what stands between it and the bus, is asserted.
    Reset,
    /// The power gate of the GPU's domain is closed.
    PowerGate,
    /// A clock of the GPU is gated.
    ClockGate,
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Suspect::Reset => "a reset is asserted",
            Suspect::PowerGate => "the power domain is gated",
            Suspect::ClockGate => "a clock is gated",
        })
    }
}
