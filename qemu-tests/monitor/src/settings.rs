//! Settings: what the command line asks of the monitor.
//!
//! Words of the form `key=value`; those that it does not know are the image's.

use alloc::string::String;
use core::fmt;
use core::num::ParseIntError;
use core::time::Duration;
use eitri_boards::HostError;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM};
use eitri_model::Product;

/// Longest command line.
const LINE_BYTES: usize = 4096;

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How long the image may run: `limit-ms=`.
    pub(crate) limit: Duration,
    /// What the image gets in x0: where QEMU puts the device tree when it was given an ELF file.
    pub(crate) device_tree: u64,
    /// Whether the GPU sees the image's caches; not with `coherent=no`.
    pub(crate) coherent: bool,
    /// The GPU that the model is: `gpu=`.
    pub(crate) product: Product,
    /// The file of the host's that gets a trace: `trace=`.
    pub(crate) trace: Option<String>,
}

/// Why the command line can't be followed.
#[derive(Debug)]
pub(crate) enum SettingsError {
    /// It can't be had.
    Host(HostError),
    /// The model can't be that GPU.
    Gpu,
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
            SettingsError::Gpu => f.write_str("command line: gpu: the model can't be that"),
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
            coherent: true,
            product: Product::g610(),
            trace: None,
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
            } else if let Some(name) = word.strip_prefix("gpu=") {
                settings.product = Product::find(name).ok_or(SettingsError::Gpu)?;
            } else if let Some(path) = word.strip_prefix("trace=") {
                settings.trace = Some(path.into());
            } else if word == "coherent=no" {
                settings.coherent = false;
            }
        }
        Ok(settings)
    }
}
