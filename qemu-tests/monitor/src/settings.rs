//! Settings: what the command line asks of the monitor.
//!
//! Words of the form `key=value`; those that it does not know are the image's.

use crate::machine;
use alloc::string::String;
use core::fmt;
use core::num::ParseIntError;
use core::time::Duration;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM, MONITOR_RAM};
use eitri_boards::{Board, HostError};
use eitri_model::{Config, Product};

/// Longest command line.
const LINE_BYTES: usize = 4096;

/// Most memory above the monitor: all that 39 bits of addresses leave.
pub(crate) const MOST_MEMORY_ABOVE: usize = (1 << 39) - MONITOR_RAM.end();

/// What was asked.
#[derive(Clone)]
pub(crate) struct Settings {
    /// How long the image may run: `limit-ms=`.
    pub(crate) limit: Duration,
    /// What the image gets in x0: `device-tree=` and an address in hexadecimal; else where QEMU puts the tree when it was given an
    /// ELF file.
    pub(crate) device_tree: u64,
    /// Where the image begins: `entry=` and an address in hexadecimal; else the first address of the board's images.
    pub(crate) entry: Option<u64>,
    /// With `system=yes` the image is an operating system: as on a machine, accesses to nothing abort into it.
    pub(crate) system: bool,
    /// With `tests=yes` the image is one of tests, and may ask for GPUs of its own and for what they have to say.
    pub(crate) tests: bool,
    /// Bytes of memory that the image has above the monitor, besides what is below it: `memory-above-mib=`.
    pub(crate) memory_above: usize,
    /// Whether the GPU sees the image's caches: `coherent=no`, `coherent=pages`.
    pub(crate) coherence: Coherence,
    /// The board that the image sees: `board=`.
    pub(crate) board: &'static Board,
    /// The GPU that the model is: `gpu=`.
    pub(crate) product: Product,
    /// Whether its wide varyings drift: `,drift` behind its name.
    pub(crate) wide_varyings_drift: bool,
    /// Where the model is: with `model=host` in a process of the host; with `ask=` and `answer=`, pipes of that process's, its clock is
    /// the machine's.
    pub(crate) model: ModelPlace,
    /// The image's clock waits for the GPU: `gpu-time=yes`.
    pub(crate) gpu_time: bool,
    /// The file of the host's that gets a trace: `trace=`.
    pub(crate) trace: Option<String>,
    /// The folder of the host's through which core dumps are taken: `dump=`.
    pub(crate) dump: Option<String>,
}

/// Whether the GPU sees the image's caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coherence {
    /// It does.
    Whole,
    /// It does not, and each access to them is looked at: it is known who stored what was not cleaned.
    NoneByLines,
    /// It does not, and only their upkeep is looked at.
    NoneByPages,
}

/// Who runs the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelPlace {
    /// The monitor.
    Monitor,
    /// A process that has mapped the machine's memory.
    Host(Clock),
}

/// Whose time the model's clock shows, where a process of the host runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The host's.
    Host,
    /// The machine's: the monitor asks for each step by the first of these pipes, and waits at the second.
    Machine { ask: String, answer: String },
}

/// Why the command line can't be followed.
#[derive(Debug)]
pub(crate) enum SettingsError {
    /// It can't be had.
    Host(HostError),
    /// There is no such board.
    Board,
    /// The model can't be that GPU.
    Gpu,
    /// Caches before the memory of a model that is elsewhere.
    Caches,
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
            SettingsError::Board => f.write_str("command line: board: there is no such board"),
            SettingsError::Gpu => f.write_str("command line: gpu: the model can't be that"),
            SettingsError::Caches => {
                f.write_str("command line: caches and `model=host` exclude each other")
            }
            SettingsError::Number { key, error } => write!(f, "command line: {key}: {error}"),
        }
    }
}

impl Settings {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Settings, SettingsError> {
        let (mut ask, mut answer) = (None, None);
        let mut settings = Settings {
            limit: Duration::from_secs(300),
            device_tree: GUEST_RAM.base as u64,
            entry: None,
            system: false,
            tests: false,
            memory_above: 0,
            board: &BOARD,
            coherence: Coherence::Whole,
            product: Product::g610(),
            wide_varyings_drift: false,
            model: ModelPlace::Monitor,
            gpu_time: false,
            trace: None,
            dump: None,
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
            } else if let Some(name) = word.strip_prefix("board=") {
                settings.board = machine::named(name).ok_or(SettingsError::Board)?;
                settings.device_tree = machine::tree(settings.board).base as u64;
            } else if let Some(name) = word.strip_prefix("gpu=") {
                let named = Config::named(name).ok_or(SettingsError::Gpu)?;
                settings.product = named.product;
                settings.wide_varyings_drift = named.wide_varyings_drift;
            } else if let Some(path) = word.strip_prefix("trace=") {
                settings.trace = Some(path.into());
            } else if let Some(path) = word.strip_prefix("dump=") {
                settings.dump = Some(path.into());
            } else if let Some(path) = word.strip_prefix("ask=") {
                ask = Some(String::from(path));
            } else if let Some(path) = word.strip_prefix("answer=") {
                answer = Some(String::from(path));
            } else if let Some(value) = word.strip_prefix("device-tree=") {
                let key = "device-tree";
                settings.device_tree = u64::from_str_radix(value, 16)
                    .map_err(|error| SettingsError::Number { key, error })?;
            } else if let Some(value) = word.strip_prefix("entry=") {
                let key = "entry";
                let entry = u64::from_str_radix(value, 16)
                    .map_err(|error| SettingsError::Number { key, error })?;
                settings.entry = Some(entry);
            } else if let Some(value) = word.strip_prefix("memory-above-mib=") {
                let key = "memory-above-mib";
                let mebibytes: usize = value
                    .parse()
                    .map_err(|error| SettingsError::Number { key, error })?;
                settings.memory_above = mebibytes.min(MOST_MEMORY_ABOVE >> 20) << 20;
            } else if word == "system=yes" {
                settings.system = true;
            } else if word == "tests=yes" {
                settings.tests = true;
            } else if word == "model=host" {
                settings.model = ModelPlace::Host(Clock::Host);
            } else if word == "gpu-time=yes" {
                settings.gpu_time = true;
            } else if word == "coherent=no" {
                settings.coherence = Coherence::NoneByLines;
            } else if word == "coherent=pages" {
                settings.coherence = Coherence::NoneByPages;
            }
        }
        if settings.model == ModelPlace::Monitor {
            return Ok(settings);
        }
        if settings.coherence != Coherence::Whole {
            return Err(SettingsError::Caches);
        }
        if let Some((ask, answer)) = ask.zip(answer) {
            settings.model = ModelPlace::Host(Clock::Machine { ask, answer });
        }
        Ok(settings)
    }
}
