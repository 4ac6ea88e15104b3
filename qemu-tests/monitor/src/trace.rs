//! Trace: what happens inside of the model, record by record, into a file of the host's.

use crate::report::say;
use alloc::boxed::Box;
use alloc::vec::Vec;
use eitri_boards::qemu_virt::BOARD;
use eitri_boards::{HostFile, HostFiles};
use eitri_model::{Event, Nanoseconds, RECORD_BYTES, Sink};

/// Bytes that are gathered before the host is asked to write them.
const GATHERED: usize = 512 * RECORD_BYTES;

/// A file that gets the records.
pub(crate) struct TraceFile {
    files: HostFiles,
    file: HostFile,
    gathered: Vec<u8>,
}

impl TraceFile {
    /// Begins the file at `path`; says why if that can't be.
    pub(crate) fn create(path: &str) -> Option<Box<dyn Sink>> {
        let files = BOARD.host_files()?;
        match files.create(path) {
            Ok(file) => Some(Box::new(TraceFile {
                files,
                file,
                gathered: Vec::new(),
            })),
            Err(error) => {
                say!("trace {path}: {error}");
                None
            }
        }
    }

    fn flush(&mut self) {
        if let Err(error) = self.files.write(&mut self.file, &self.gathered) {
            say!("trace: {error}");
        }
        self.gathered.clear();
    }
}

impl Sink for TraceFile {
    fn event(&mut self, time: Nanoseconds, event: Event) {
        let Some(record) = event.record(time) else {
            return;
        };
        self.gathered.extend_from_slice(&record);
        // The image ends QEMU by itself, so what is gathered must not be much: what an idle GPU has to tell, and what the image
        // writes, is put into the file at once.
        let over = matches!(
            event,
            Event::Line { high: false, .. } | Event::Group { .. } | Event::Write { .. }
        );
        if over || self.gathered.len() >= GATHERED {
            self.flush();
        }
    }

    fn wants_instructions(&self) -> bool {
        false
    }
}
