//! Dump: what the host needs for a core dump of the GPU beside the memory, which it has mapped: registers, and a moment.
//!
//! Files in a folder of the host's. `registers` is written anew whenever registers may have changed, so that the host has them when
//! QEMU ends, which an image does without the monitor. `fault` is made after the GPU's first fault: the monitor then waits until it
//! can take `go-on` away, which the host makes when it has its dump. The moment is that before the image's first store to a register
//! behind the fault: the GPU has said all that it has to say, and the driver has cleared nothing. A driver that stores nothing is
//! interrupted [`PATIENCE`] after the fault.

use crate::report::say;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use eitri_boards::qemu_virt::BOARD;
use eitri_boards::{HostError, HostFiles};
use eitri_kernel::time;
use eitri_model::Gpu;

/// How long the driver may take to see a fault.
const PATIENCE: Duration = Duration::from_millis(2);
/// Longest that the host may take for its dump, by the machine's clock, which runs while it is asked.
const LIMIT: Duration = Duration::from_secs(60);

/// The way to the host's dump.
pub(crate) struct Dump {
    files: HostFiles,
    folder: String,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has failed.
    Good,
    /// Something failed then.
    Failed(Duration),
    /// The host has its dump.
    Taken,
}

impl Dump {
    /// By this folder.
    pub(crate) fn by(folder: &str) -> Option<Dump> {
        Some(Dump {
            files: BOARD.host_files()?,
            folder: folder.into(),
            state: State::Good,
        })
    }

    /// The GPU has worked, and may have failed.
    pub(crate) fn worked(&mut self, gpu: &mut Gpu) {
        match self.state {
            State::Good if gpu.faults() != 0 => self.state = State::Failed(time::now()),
            State::Failed(since) if time::now().saturating_sub(since) > PATIENCE => {
                self.take(gpu);
            }
            _ => {}
        }
    }

    /// The image is about to store to a register.
    pub(crate) fn before_store(&mut self, gpu: &mut Gpu) {
        self.worked(gpu);
        if let State::Failed(_) = self.state {
            self.take(gpu);
        }
    }

    /// Writes the registers as they are.
    pub(crate) fn registers(&self, gpu: &mut Gpu) {
        let mut bytes = Vec::new();
        eitri_dump::registers(&mut |offset| gpu.peek32(offset), &mut |offset, value| {
            bytes.extend_from_slice(&offset.to_le_bytes());
            bytes.extend_from_slice(&value.to_le_bytes());
        });
        if let Err(error) = self.put("registers", &bytes) {
            say!("dump: {error}");
        }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), HostError> {
        let path = |name: &str| format!("{}/{name}", self.folder);
        let part = path("part");
        let mut file = self.files.create(&part)?;
        self.files.write(&mut file, bytes)?;
        self.files.close(file)?;
        // Whole or not at all: the image may end QEMU at any time.
        self.files.rename(&part, &path(name))
    }

    /// Lets the host take its dump.
    fn take(&mut self, gpu: &mut Gpu) {
        self.state = State::Taken;
        self.registers(gpu);
        if let Err(error) = self.put("fault", &[]) {
            return say!("dump: {error}");
        }
        let [from, to] = ["go-on", "gone"].map(|name| format!("{}/{name}", self.folder));
        let begin = time::now();
        while self.files.rename(&from, &to).is_err() {
            if time::now().saturating_sub(begin) > LIMIT {
                return say!("dump: the host takes none");
            }
        }
    }
}
