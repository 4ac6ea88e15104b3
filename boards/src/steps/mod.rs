//! Steps: how a board's GPU gets its clocks, resets and power, as data.
//!
//! A board states rows; [`run`] carries them out on any [`Machine`]: the kernel's, which is the real one, or a fake in a
//! test. So the order is reviewed against the facts' sequence, row by row, and not against code.
//!
//! Facts: hardware/boards.md sections 3.2, 3.3 and 9.

pub mod bus;
mod machine;
mod mailbox;
mod runner;
mod scmi;
mod suspect;

pub use machine::{Machine, SmcCall};
pub use mailbox::{Argument, MESSAGE_WORDS, Mailbox, MailboxChannel, MailboxError, MailboxMessage};
pub use runner::{Found, Log, Permission, StepError, run};
pub use scmi::{Channel, Doorbell, Message, REPLY_WORDS, ScmiError, header, power_state};
pub use suspect::Suspect;

use crate::Text;
use bus::Transfer;
use core::time::Duration;

/// How sure a fact is: the marks of hardware/boards.md.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Certainty {
    /// Read in a source for that chip.
    #[default]
    Sourced,
    /// Follows from several facts, and no source says it: done only when it was asked for, and the sequence ends where it
    /// is needed.
    Inferred,
    /// Inferred too, but the sequence may do without: left out unless it was asked for.
    Spare,
}

/// One row of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Action {
    /// What it does, in words, said before it is done: a wrong access may hang the machine without a sound.
    #[cfg_attr(
        feature = "files",
        serde(deserialize_with = "crate::file::fields::text")
    )]
    pub what: Text,
    /// How sure we are that it is right.
    #[cfg_attr(feature = "files", serde(default))]
    pub certainty: Certainty,
    /// What is done.
    pub step: Step,
}

impl Action {
    /// A step that a source for the chip states.
    pub const fn sourced(what: &'static str, step: Step) -> Action {
        Action {
            what,
            certainty: Certainty::Sourced,
            step,
        }
    }

    /// A step that was inferred, and that may turn out not to be needed.
    pub const fn spare(what: &'static str, step: Step) -> Action {
        Action {
            what,
            certainty: Certainty::Spare,
            step,
        }
    }

    /// A step that was inferred.
    pub const fn inferred(what: &'static str, step: Step) -> Action {
        Action {
            what,
            certainty: Certainty::Inferred,
            step,
        }
    }
}

/// Some bits of a word, and what they must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Bits {
    /// Which bits count.
    pub mask: u32,
    /// What they are.
    pub value: u32,
}

impl Bits {
    /// Bits that are all 1.
    pub const fn set(mask: u32) -> Bits {
        Bits { mask, value: mask }
    }

    /// Bits that are all 0.
    pub const fn clear(mask: u32) -> Bits {
        Bits { mask, value: 0 }
    }

    /// A whole word.
    pub const fn word(value: u32) -> Bits {
        Bits {
            mask: u32::MAX,
            value,
        }
    }

    /// Whether a word has them.
    pub const fn are_in(self, word: u32) -> bool {
        word & self.mask == self.value
    }
}

/// What is done. Registers are words of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Step {
    /// Reads a register, and tells what it holds.
    Show {
        /// Its address.
        at: usize,
    },
    /// Writes a register.
    Write {
        /// Its address.
        at: usize,
        /// What is written.
        value: u32,
    },
    /// Reads a register, changes some bits, and writes it.
    Modify {
        /// Its address.
        at: usize,
        /// The bits that change, and to what.
        bits: Bits,
    },
    /// Reads a register until bits are as they must be.
    Poll {
        /// Its address.
        at: usize,
        /// What is waited for.
        until: Bits,
        /// How long at most.
        #[cfg_attr(feature = "files", serde(with = "crate::file::fields::time"))]
        limit: Duration,
    },
    /// Reads a register whose bits must be as they must be at once.
    Expect {
        /// Its address.
        at: usize,
        /// What they must be.
        bits: Bits,
    },
    /// Reads a register on which the next access to the GPU depends: with other bits that access would hang the machine.
    Check {
        /// Its address.
        at: usize,
        /// What the bits must be.
        bits: Bits,
        /// What is wrong with the GPU otherwise.
        suspect: Suspect,
    },
    /// Reads a register that a power domain is about to forget.
    Save {
        /// Its address.
        at: usize,
    },
    /// Writes what was saved of a register; nothing if that never was.
    Restore {
        /// Its address.
        at: usize,
    },
    /// Waits.
    #[cfg_attr(feature = "files", serde(with = "crate::file::fields::time"))]
    Delay(Duration),
    /// Calls the secure firmware.
    Smc {
        /// The call.
        call: SmcCall,
        /// What it must answer in x0.
        wanted: u64,
    },
    /// Sends a message to one of the board's power controllers.
    Scmi(Message),
    /// Exchanges bytes with a device behind I2C or SPI.
    Transfer(Transfer),
    /// Reads a register, and goes on with one of two sequences.
    Choose {
        /// Its address.
        at: usize,
        /// What it may hold.
        bits: Bits,
        /// What is done where it does.
        #[cfg_attr(
            feature = "files",
            serde(
                default = "crate::file::fields::usual::nothing",
                deserialize_with = "crate::file::fields::list"
            )
        )]
        so: &'static [Action],
        /// What is done where it does not.
        #[cfg_attr(
            feature = "files",
            serde(
                default = "crate::file::fields::usual::nothing",
                deserialize_with = "crate::file::fields::list"
            )
        )]
        otherwise: &'static [Action],
    },
    /// Sends a message to a microcontroller through its mailbox.
    Mailbox(MailboxMessage),
    /// Writes a word of the memory that a power controller is given.
    Put {
        /// Bytes from its begin.
        offset: usize,
        /// What is written.
        value: u32,
    },
    /// Reads a word of it, and tells what it holds.
    Get {
        /// Bytes from its begin.
        offset: usize,
    },
}

impl Step {
    /// The register that it touches.
    pub const fn register(&self) -> Option<usize> {
        match *self {
            Step::Show { at }
            | Step::Write { at, .. }
            | Step::Modify { at, .. }
            | Step::Poll { at, .. }
            | Step::Expect { at, .. }
            | Step::Check { at, .. }
            | Step::Save { at }
            | Step::Restore { at }
            | Step::Choose { at, .. } => Some(at),
            Step::Delay(_)
            | Step::Smc { .. }
            | Step::Scmi(_)
            | Step::Transfer(_)
            | Step::Mailbox(_)
            | Step::Put { .. }
            | Step::Get { .. } => None,
        }
    }
}
