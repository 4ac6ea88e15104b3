//! Bell: two pipes by which the machine's monitor and this process wake each other, a byte each time.
//!
//! The monitor waits in a call of QEMU's, during which the machine stands still: its counter, if QEMU counts instructions, too. So the
//! time that the model takes on the host is no time of the machine's.
//!
//! Guarantees: neither side waits for one that has gone. The machine is told when the model ends ([`Bell::say_farewell`]), and finds a
//! closed pipe when this process has ended; the model is woken by [`Bell::stop`].

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// The byte that says that there is something in the mailbox.
const RUNG: u8 = b'!';
/// The byte that says that the model has ended.
const FAREWELL: u8 = b'.';

/// The bell.
#[derive(Debug)]
pub struct Bell {
    /// The monitor writes, this process reads.
    asked: (PipeReader, PipeWriter),
    /// This process writes, the monitor reads.
    answered: (PipeReader, PipeWriter),
    is_stopped: AtomicBool,
}

impl Bell {
    /// A bell that nobody has rung.
    ///
    /// # Errors
    /// The system's, which has no pipes left.
    pub fn new() -> io::Result<Bell> {
        Ok(Bell {
            asked: io::pipe()?,
            answered: io::pipe()?,
            is_stopped: AtomicBool::new(false),
        })
    }

    /// The ends by which a process that this one starts asks and reads answers, as long as this value lives.
    pub fn paths(&self) -> [PathBuf; 2] {
        let process = std::process::id();
        let ends = [self.asked.1.as_raw_fd(), self.answered.0.as_raw_fd()];
        ends.map(|end| PathBuf::from(format!("/proc/{process}/fd/{end}")))
    }

    /// Ends the model: the machine has ended.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        // The reader is this process: the pipe is open.
        let _ = (&self.asked.1).write_all(&[RUNG]);
    }

    /// Waits until the monitor rings; `false` once the model is to end.
    pub(crate) fn wait(&self) -> bool {
        let mut byte = [0];
        let rung = (&self.asked.0).read_exact(&mut byte);
        rung.is_ok() && !self.is_stopped.load(Ordering::Relaxed)
    }

    /// Wakes the monitor, which has its answer.
    pub(crate) fn ring(&self) {
        // Should the machine have ended, the pipe still has room for the last byte.
        let _ = (&self.answered.1).write_all(&[RUNG]);
    }

    /// Wakes the monitor for the last time: there is nobody to answer.
    pub(crate) fn say_farewell(&self) {
        let _ = (&self.answered.1).write_all(&[FAREWELL]);
    }
}
