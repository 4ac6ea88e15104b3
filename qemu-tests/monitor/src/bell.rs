//! Bell: wakes the host's process that runs the model, and waits for it, by two pipes.
//!
//! The wait is a call of QEMU's that returns when the pipe has a byte: no instruction is executed meanwhile, so that a machine whose
//! counter counts instructions stands still.

use crate::report::say;
use eitri_boards::qemu_virt::BOARD;
use eitri_boards::{HostError, HostFile, HostFiles};

/// The byte that says that there is an answer.
const RUNG: u8 = b'!';

/// The pipes.
pub(crate) struct Bell {
    files: HostFiles,
    ask: HostFile,
    answer: HostFile,
}

impl Bell {
    /// Opens the pipes at these paths; says why if that can't be.
    pub(crate) fn open(ask: &str, answer: &str) -> Option<Bell> {
        let files = BOARD.host_files()?;
        let open = || {
            Ok::<Bell, HostError>(Bell {
                files,
                ask: files.create(ask)?,
                answer: files.open(answer)?,
            })
        };
        open()
            .inspect_err(|error| say!("the host's model: {error}"))
            .ok()
    }

    /// Wakes the process, and waits for its answer. Tells whether there is one.
    pub(crate) fn ring(&mut self) -> bool {
        let mut byte = [0];
        let rung = self.files.write(&mut self.ask, &[RUNG]);
        let read = rung.and_then(|()| self.files.read(&mut self.answer, &mut byte));
        read == Ok(1) && byte == [RUNG]
    }
}
