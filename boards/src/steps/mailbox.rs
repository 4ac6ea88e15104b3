//! Mailbox: messages to a microcontroller whose buffers are registers, with a bit for each channel that says who is to move.
//!
//! Facts: hardware/boards-others.md 2.2 (item 5 and 6).

use super::machine::Machine;
use core::fmt;
use core::time::Duration;

/// Longest that the microcontroller may take for a reply.
// FACT: how long the GPUEB may take for a reply is not published (hardware/boards-others.md 2.2). Settled by the number of looks
// that an image prints on an MT8196.
const LIMIT: Duration = Duration::from_secs(1);
/// Between two looks.
const POLL: Duration = Duration::from_micros(10);
/// Words of a message, and of a reply.
pub const MESSAGE_WORDS: usize = 8;
/// Words before the arguments: magic, command, target, 0.
const HEAD_WORDS: usize = 4;

/// A mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Mailbox {
    /// Where its buffers begin.
    pub data: usize,
    /// The register whose bits say which messages were not taken yet.
    pub sent: usize,
    /// The register that says that there is a message.
    pub send: usize,
    /// The register whose bits say which replies are there.
    pub arrived: usize,
    /// The register that forgets replies.
    pub clear: usize,
    /// The register with the first word of every message.
    pub magic: usize,
}

/// A channel of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct MailboxChannel {
    /// The mailbox.
    #[cfg_attr(
        feature = "files",
        serde(
            serialize_with = "crate::file::fields::reference",
            deserialize_with = "crate::file::fields::one"
        )
    )]
    pub mailbox: &'static Mailbox,
    /// Its number, which is that of its bit.
    pub number: u32,
    /// Bytes from the begin of the buffers to the message.
    pub message: usize,
    /// The same to the reply.
    pub reply: usize,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct MailboxMessage {
    /// Where it is sent.
    #[cfg_attr(
        feature = "files",
        serde(
            serialize_with = "crate::file::fields::reference",
            deserialize_with = "crate::file::fields::one"
        )
    )]
    pub to: &'static MailboxChannel,
    /// The command.
    pub command: u32,
    /// What the command is for.
    pub target: u32,
    /// What follows: at most four words.
    #[cfg_attr(
        feature = "files",
        serde(
            default = "crate::file::fields::usual::nothing",
            deserialize_with = "crate::file::fields::list"
        )
    )]
    pub arguments: &'static [Argument],
}

/// An argument of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Argument {
    /// A word.
    Word(u32),
    /// Where the memory is that the machine shares with the microcontroller, as two words, the lower first.
    MemoryBase,
    /// How many bytes that has, as a word.
    MemoryBytes,
}

impl Argument {
    /// Words that it has.
    pub(crate) const fn words(self) -> usize {
        match self {
            Argument::Word(_) | Argument::MemoryBytes => 1,
            Argument::MemoryBase => 2,
        }
    }
}

impl MailboxMessage {
    /// Whether its arguments fit.
    pub(crate) const fn fits(&self) -> bool {
        let mut words = HEAD_WORDS;
        let mut index = 0;
        while index < self.arguments.len() {
            words += self.arguments[index].words();
            index += 1;
        }
        words <= MESSAGE_WORDS
    }

    /// The registers that it touches first and last.
    pub(crate) const fn registers(&self) -> [usize; 7] {
        let (to, mailbox) = (self.to, self.to.mailbox);
        [
            mailbox.data + to.message,
            mailbox.data + to.reply + 4 * (MESSAGE_WORDS - 1),
            mailbox.sent,
            mailbox.send,
            mailbox.arrived,
            mailbox.clear,
            mailbox.magic,
        ]
    }
}

/// Why a message was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxError {
    /// The message before was not taken.
    Busy {
        /// The register of what was not taken.
        sent: u32,
    },
    /// No reply came.
    NoReply {
        /// The register of what was not taken.
        sent: u32,
    },
    /// The message needs memory that is shared with the microcontroller, and the machine has set none aside.
    NoMemory,
}

impl fmt::Display for MailboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailboxError::Busy { sent } => {
                write!(f, "the message before was not taken ({sent:#x})")
            }
            MailboxError::NoReply { sent } => {
                write!(f, "no reply after {LIMIT:?} (not taken: {sent:#x})")
            }
            MailboxError::NoMemory => f.write_str("no memory is set aside for it"),
        }
    }
}

impl core::error::Error for MailboxError {}

impl MailboxMessage {
    /// Sends it, and gives the words of the reply.
    ///
    /// # Errors
    /// When the mailbox is not free, or no reply comes.
    pub(crate) fn send(
        &self,
        machine: &mut impl Machine,
    ) -> Result<[u32; MESSAGE_WORDS], MailboxError> {
        let (to, mailbox) = (self.to, self.to.mailbox);
        let bit = 1 << to.number;
        let mut words = [
            machine.read(mailbox.magic),
            self.command,
            self.target,
            0,
            0,
            0,
            0,
            0,
        ];
        let mut places = words.iter_mut().skip(HEAD_WORDS);
        let mut put = |word: u32| {
            if let Some(place) = places.next() {
                *place = word;
            }
        };
        for argument in self.arguments {
            let memory = machine.shared_memory().ok_or(MailboxError::NoMemory);
            match argument {
                Argument::Word(word) => put(*word),
                Argument::MemoryBase => {
                    let base = memory?.base as u64;
                    put(base as u32);
                    put((base >> 32) as u32);
                }
                Argument::MemoryBytes => put(memory?.bytes as u32),
            }
        }
        let sent = machine.read(mailbox.sent);
        if sent & bit != 0 {
            return Err(MailboxError::Busy { sent });
        }
        // A reply that nobody has waited for.
        if machine.read(mailbox.arrived) & bit != 0 {
            machine.write(mailbox.clear, bit);
        }
        for (index, word) in words.iter().enumerate() {
            machine.write(mailbox.data + to.message + 4 * index, *word);
        }
        machine.write(mailbox.send, bit);
        let mut waited = Duration::ZERO;
        while machine.read(mailbox.arrived) & bit == 0 {
            if waited >= LIMIT {
                let sent = machine.read(mailbox.sent);
                return Err(MailboxError::NoReply { sent });
            }
            machine.delay_us(POLL.as_micros() as u32);
            waited += POLL;
        }
        let mut reply = [0; MESSAGE_WORDS];
        for (index, word) in reply.iter_mut().enumerate() {
            *word = machine.read(mailbox.data + to.reply + 4 * index);
        }
        machine.write(mailbox.clear, bit);
        Ok(reply)
    }
}
