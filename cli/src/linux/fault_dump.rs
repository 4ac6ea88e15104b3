//! The core dump of a guest's GPU: of its first fault, or of the end of a guest that did not end well.

use super::now::Now;
use crate::outcome::Failure;
use crate::output::sparse_file::SparseFile;
use eitri_dump::{Region, collect};
use eitri_host_gpu::MachineMemory;
use eitri_model::Gpu;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Runs of physical memory that a dump may have.
const REGIONS: usize = 1 << 14;
/// How long the driver may take to see a fault: the dump is of the moment before it stores to a register.
const PATIENCE: Duration = Duration::from_millis(20);

/// Takes the dump.
#[derive(Debug)]
pub(super) struct FaultDump<'a> {
    path: &'a Path,
    /// Whether the guest has ended as none should.
    has_failed: &'a AtomicBool,
    /// When the first fault was seen.
    since: Option<Instant>,
    taken: Option<Result<&'static str, Failure>>,
}

impl<'a> FaultDump<'a> {
    /// One into the file at `path`. `has_failed` is set when the guest ends badly.
    pub(super) fn new(path: &'a Path, has_failed: &'a AtomicBool) -> FaultDump<'a> {
        FaultDump {
            path,
            has_failed,
            since: None,
            taken: None,
        }
    }

    /// The GPU has worked; the driver may be about to store to a register.
    pub(super) fn worked(&mut self, gpu: &mut Gpu, memory: &MachineMemory, is_store_due: bool) {
        if self.taken.is_some() || gpu.faults() == 0 {
            return;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if is_store_due || since.elapsed() > PATIENCE {
            self.take(gpu, memory, "after the first fault of the GPU");
        }
    }

    /// The guest has ended.
    pub(super) fn ended(&mut self, gpu: &mut Gpu, memory: &MachineMemory) {
        if self.taken.is_none() && self.has_failed.load(Ordering::Relaxed) {
            self.take(gpu, memory, "when the guest was stopped");
        }
    }

    fn take(&mut self, gpu: &mut Gpu, memory: &MachineMemory, when: &'static str) {
        let mut write = || {
            let mut file = SparseFile::create(self.path)?;
            let mut room = vec![Region::default(); REGIONS];
            let mut now = Now::new(gpu, memory, ", eitri linux");
            let written = collect(&mut now, &mut room, &mut file);
            file.finish(written)
        };
        self.taken = Some(write().map(|()| when));
    }

    /// What was taken, in words.
    pub(super) fn finish(self) -> Result<String, Failure> {
        let path = self.path.display();
        Ok(match self.taken.transpose()? {
            Some(when) => format!("dump: {path} has the GPU's state {when}"),
            None => format!("dump: no {path}, since the GPU has reported no fault"),
        })
    }
}
