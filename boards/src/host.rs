//! Host: what a board can do for an image besides running it, where something watches it.
//!
//! Only test plumbing goes through here; an image must do its work without it.

use core::fmt;

/// How an image ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went well.
    Success,
    /// A check said no, or the device failed.
    Failed,
    /// The request can't be carried out.
    Refused,
    /// A panic.
    Panic,
    /// An exception that nothing handles.
    Exception,
    /// It did not end in its time.
    Watchdog,
    /// What watches the image failed, not the image.
    Monitor,
}

impl Exit {
    /// The status as the host sees it.
    pub const fn status(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Refused => 2,
            Exit::Panic => 101,
            Exit::Exception => 102,
            Exit::Watchdog => 124,
            Exit::Monitor => 125,
        }
    }
}

/// Why the host did not do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The path or the text does not fit into the buffer for it.
    TooLong {
        /// Bytes that there are at most.
        limit: usize,
    },
    /// The host refused; the number is its own.
    Refused {
        /// Which call.
        call: &'static str,
        /// The host's error number.
        errno: i64,
    },
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostError::TooLong { limit } => write!(f, "longer than {limit} bytes"),
            HostError::Refused { call, errno } => {
                write!(f, "the host refused to {call}: error {errno}")
            }
        }
    }
}

/// A file of the host that is open for writing, or for reading.
#[derive(Debug, PartialEq, Eq)]
pub struct HostFile(pub(crate) u64);

/// The host's files. They are no part of [`Host`]: an image that writes none has no code for them.
#[derive(Clone, Copy, Debug)]
pub struct HostFiles(());

/// The command line that the host gave, its side channel, and the end of the image.
pub trait Host: Sync {
    /// The command line, as text in `buffer`.
    ///
    /// # Errors
    /// When it does not fit, or the host has none.
    fn command_line<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, HostError>;

    /// Says a line or a part of one on the host's side channel.
    fn say(&self, text: &str);

    /// Ends the image, and tells the host how.
    fn end(&self, exit: Exit) -> !;
}

/// How an image ends on a board.
#[derive(Clone, Copy, Default)]
#[cfg_attr(
    feature = "files",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, rename_all(deserialize = "kebab-case"))
)]
pub enum Ending {
    /// The host is told; it also has files and a command line.
    #[cfg_attr(feature = "files", serde(skip))]
    Host(&'static dyn Host),
    /// The machine is reset: the boot loader's prompt comes back, which is what a lab waits for.
    #[default]
    Reset,
}

impl Ending {
    /// The host, where there is one.
    pub fn host(&self) -> Option<&'static dyn Host> {
        match *self {
            Ending::Host(host) => Some(host),
            Ending::Reset => None,
        }
    }

    /// The host's files, where there is a host.
    pub fn files(&self) -> Option<HostFiles> {
        self.host().map(|_| HostFiles(()))
    }
}
