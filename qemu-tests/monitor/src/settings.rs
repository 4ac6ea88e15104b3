//! Settings: what the command line asks of the monitor.
//!
//! Words of the form `key=value`; those that it does not know are the image's.

use core::fmt;
use core::num::ParseIntError;
use core::time::Duration;
use eitri_boards::HostError;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM};

/// Longest command line.
const LINE_BYTES: usize = 4096;

/// What was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// How long the image may run: `limit-ms=`.
    pub(crate) limit: Duration,
    /// What the image gets in x0: where QEMU puts the device tree when it was given an ELF file.
    pub(crate) device_tree: u64,
}

/// Why the command line can't be followed.
#[derive(Debug)]
pub(crate) enum SettingsError {
    /// It can't be had.
    Host(HostError),
    /// A value is no number.
    Number {
        key: &'static str,
        error: ParseIntError,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingsError::Host(error) => write!(f, "command line: {error}"),
            SettingsError::Number { key, error } => write!(f, "command line: {key}: {error}"),
        }
    }
}

impl Settings {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Settings, SettingsError> {
        let mut settings = Settings {
            limit: Duration::from_secs(300),
            device_tree: GUEST_RAM.base as u64,
        };
        let Some(host) = BOARD.host() else {
            return Ok(settings);
        };
        let mut buffer = [0; LINE_BYTES];
        let line = host
            .command_line(&mut buffer)
            .map_err(SettingsError::Host)?;
        for word in line.split_ascii_whitespace() {
            if let Some(value) = word.strip_prefix("limit-ms=") {
                let key = "limit-ms";
                let milliseconds = value
                    .parse()
                    .map_err(|error| SettingsError::Number { key, error })?;
                settings.limit = Duration::from_millis(milliseconds);
            }
        }
        Ok(settings)
    }
}
