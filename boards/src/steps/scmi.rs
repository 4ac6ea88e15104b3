//! SCMI: messages to a power controller through a page of shared memory.
//!
//! Facts: hardware/boards.md 3.3; channels: boards-rk3588.md 9, boards-imx95.md 7.1, boards-others.md 1.4.

use super::machine::{Machine, SmcCall};
use core::fmt;
use core::time::Duration;

/// Offsets in the page.
#[rustfmt::skip]
mod offset {
    pub(super) const STATUS:  usize = 0x04;
    pub(super) const FLAGS:   usize = 0x10;
    pub(super) const LENGTH:  usize = 0x14;
    pub(super) const HEADER:  usize = 0x18;
    pub(super) const PAYLOAD: usize = 0x1C;
}

/// Headers of messages (hardware/boards.md 3.3).
#[rustfmt::skip]
#[expect(missing_docs, reason = "names of the protocol's own")]
pub mod header {
    pub const BASE_VERSION:     u32 = 0x4000;
    pub const POWER_SET:        u32 = 0x4404;
    pub const POWER_GET:        u32 = 0x4405;
    pub const LEVEL_SET:        u32 = 0x4C07;
    pub const LEVEL_GET:        u32 = 0x4C08;
    pub const CLOCK_ATTRIBUTES: u32 = 0x5003;
    pub const CLOCK_CONFIG:     u32 = 0x5007;
}

/// States of a power domain (hardware/boards.md 3.3).
pub mod power_state {
    /// On.
    pub const ON: u32 = 0;
    /// Off; what it held is lost.
    pub const OFF: u32 = 0x4000_0000;
}

/// Channel status: the page is ours.
const FREE: u32 = 1 << 0;
/// Channel status: the message could not be taken.
const ERROR: u32 = 1 << 1;
/// Longest that the controller may take.
const LIMIT: Duration = Duration::from_secs(5);
/// Between two looks at the status.
const POLL: Duration = Duration::from_micros(10);
/// Words of a reply that are kept, the status among them.
pub const REPLY_WORDS: usize = 8;

/// How the controller is told that there is a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Doorbell {
    /// A call of the firmware, which answers 0.
    Smc(SmcCall),
    /// A bit of a mailbox register, which the controller clears when it has seen it.
    Mailbox {
        /// The register.
        at: usize,
        /// The bit, as a mask.
        bit: u32,
    },
}

/// A page of shared memory, and its doorbell. The page is mapped as a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Channel {
    /// Address of the page.
    pub page: usize,
    /// Bytes of it.
    pub bytes: usize,
    /// The doorbell.
    pub doorbell: Doorbell,
}

/// A message, and what must be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Message {
    /// To which of the board's power controllers.
    pub to: usize,
    /// Message, type, protocol and token.
    pub header: u32,
    /// Words after the header.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub payload: &'static [u32],
    /// Words that the reply must begin with, after a status of 0.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub reply: &'static [super::Bits],
}

/// Why a message was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScmiError {
    /// The message does not fit into the page.
    TooLong {
        /// Bytes of the page.
        page: usize,
    },
    /// The page did not become free, before the message or after it.
    Busy {
        /// Channel status.
        status: u32,
    },
    /// The mailbox still has the doorbell before.
    DoorbellStuck {
        /// The register's value.
        value: u32,
    },
    /// The firmware did not take the doorbell.
    Firmware {
        /// x0.
        answer: u64,
    },
    /// The controller could not take the message.
    Channel {
        /// Channel status.
        status: u32,
    },
    /// The reply is to another message.
    Header {
        /// The header that was found.
        found: u32,
    },
    /// The controller refused.
    Refused {
        /// Its status, as a number.
        status: i32,
    },
    /// The reply is not what it must be.
    Reply {
        /// Which word, after the status.
        index: usize,
        /// What it is.
        found: u32,
        /// What it must be.
        wanted: super::Bits,
    },
}

/// Words for what a controller answers.
#[rustfmt::skip]
const STATUSES: &[(i32, &str)] = &[
    (-1,  "not supported"),
    (-2,  "invalid parameters"),
    (-3,  "denied"),
    (-4,  "not found"),
    (-5,  "out of range"),
    (-6,  "busy"),
    (-7,  "communication error"),
    (-8,  "generic error"),
    (-9,  "hardware error"),
    (-10, "protocol error"),
];

impl fmt::Display for ScmiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScmiError::TooLong { page } => write!(f, "the message does not fit into {page} bytes"),
            ScmiError::Busy { status } => {
                write!(f, "the channel is not free (status {status:#x})")
            }
            ScmiError::DoorbellStuck { value } => {
                write!(f, "the doorbell before was not taken ({value:#x})")
            }
            ScmiError::Firmware { answer } => {
                write!(f, "the firmware answers the doorbell with {answer:#x}")
            }
            ScmiError::Channel { status } => {
                write!(f, "the controller could not take it (status {status:#x})")
            }
            ScmiError::Header { found } => write!(f, "the reply is to another message, {found:#x}"),
            ScmiError::Refused { status } => {
                let row = STATUSES.iter().find(|row| row.0 == *status);
                let words = row.map_or("unknown", |row| row.1);
                write!(f, "the controller refuses: {words} ({status})")
            }
            ScmiError::Reply {
                index,
                found,
                wanted,
            } => write!(
                f,
                "word {index} of the reply is {found:#x}, wanted {:#x} in {:#x}",
                wanted.value, wanted.mask
            ),
        }
    }
}

impl core::error::Error for ScmiError {}

impl Channel {
    /// Whether the channel is free, within the time that a controller may take.
    fn wait_until_free(&self, machine: &mut impl Machine) -> Result<u32, ScmiError> {
        let mut waited = Duration::ZERO;
        loop {
            let status = machine.read(self.page + offset::STATUS);
            if status & FREE != 0 {
                return Ok(status);
            }
            if waited >= LIMIT {
                return Err(ScmiError::Busy { status });
            }
            machine.delay_us(POLL.as_micros() as u32);
            waited += POLL;
        }
    }

    fn ring(&self, machine: &mut impl Machine) -> Result<(), ScmiError> {
        match self.doorbell {
            Doorbell::Smc(call) => match machine.smc(call) {
                0 => Ok(()),
                answer => Err(ScmiError::Firmware { answer }),
            },
            Doorbell::Mailbox { at, bit } => {
                machine.write(at, bit);
                Ok(())
            }
        }
    }

    /// Sends a message and reads its reply: the words after the status, as many as there are and fit.
    ///
    /// # Errors
    /// When it was not carried out, or the reply is not what the message says.
    pub fn send(
        &self,
        message: &Message,
        machine: &mut impl Machine,
    ) -> Result<[u32; REPLY_WORDS], ScmiError> {
        let words = message.payload.len().max(message.reply.len() + 1);
        if offset::PAYLOAD + 4 * words > self.bytes {
            return Err(ScmiError::TooLong { page: self.bytes });
        }
        self.wait_until_free(machine)?;
        if let Doorbell::Mailbox { at, bit } = self.doorbell {
            let value = machine.read(at);
            if value & bit != 0 {
                return Err(ScmiError::DoorbellStuck { value });
            }
        }
        for (index, word) in message.payload.iter().enumerate() {
            machine.write(self.page + offset::PAYLOAD + 4 * index, *word);
        }
        let length = 4 + 4 * message.payload.len() as u32;
        machine.write(self.page + offset::HEADER, message.header);
        machine.write(self.page + offset::LENGTH, length);
        machine.write(self.page + offset::FLAGS, 0);
        machine.write(self.page + offset::STATUS, 0);
        self.ring(machine)?;
        let status = self.wait_until_free(machine)?;
        if status & ERROR != 0 {
            return Err(ScmiError::Channel { status });
        }
        let found = machine.read(self.page + offset::HEADER);
        if found != message.header {
            return Err(ScmiError::Header { found });
        }
        let status = machine.read(self.page + offset::PAYLOAD) as i32;
        if status != 0 {
            return Err(ScmiError::Refused { status });
        }
        let length = machine.read(self.page + offset::LENGTH) as usize;
        let room = (self.bytes - offset::PAYLOAD) / 4 - 1;
        let there = (length / 4).saturating_sub(2).min(room);
        let mut reply = [0; REPLY_WORDS];
        for (index, word) in reply.iter_mut().enumerate().take(there) {
            *word = machine.read(self.page + offset::PAYLOAD + 4 + 4 * index);
        }
        for (index, wanted) in message.reply.iter().enumerate() {
            let found = reply.get(index).copied().unwrap_or(0);
            if !wanted.are_in(found) {
                let wanted = *wanted;
                return Err(ScmiError::Reply {
                    index,
                    found,
                    wanted,
                });
            }
        }
        Ok(reply)
    }
}
