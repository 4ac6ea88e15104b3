//! Dumps of `eitri boot`: the state of the GPU as a core dump, of a machine that runs or has ended.
//!
//! Memory is the machine's own, which this process maps. The monitor writes the registers into a folder, and waits there after the
//! GPU's first fault until the dump is taken (`qemu-tests/monitor/src/dump.rs`).
//! Guarantees: one dump at most.

use crate::outcome::Failure;
use crate::output::sparse_file::SparseFile;
use crate::output::streams::talk;
use crate::output::whole_file;
use crate::runs::host_model;
use eitri_boards::Board;
use eitri_dump::note::{self, Fault, Reporter};
use eitri_dump::{Memory, Region as Run, Source, Unreadable, collect};
use eitri_host_gpu::MachineMemory;
use eitri_model::PhysicalMemory;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs of physical memory that a dump may have.
const RUNS: usize = 1 << 14;

/// The dump of one boot.
pub(crate) struct BootDump {
    memory: MachineMemory,
    /// What the monitor and this process have in common.
    folder: PathBuf,
    /// The file that gets the dump.
    path: PathBuf,
    is_taken: AtomicBool,
}

/// The moment that a dump is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// The GPU has reported a fault, which its driver has not answered.
    Fault,
    /// The machine's time was over.
    TimedOut,
    /// The machine has stopped otherwise.
    Stopped,
}

impl BootDump {
    /// Prepares a dump into the file `path`; `folder` is for what the monitor has to say. Without a board the image sees QEMU's own
    /// machine.
    pub(crate) fn new(
        path: &Path,
        folder: &Path,
        board: Option<&Board>,
    ) -> Result<BootDump, Failure> {
        let folder = folder.join("dump");
        std::fs::create_dir_all(&folder).map_err(|cause| Failure::unwritable(&folder, cause))?;
        Ok(BootDump {
            memory: host_model::memory(board).map_err(Failure::missing)?,
            folder,
            path: path.to_owned(),
            is_taken: AtomicBool::new(false),
        })
    }

    /// The machine's memory.
    pub(crate) fn memory(&self) -> &MachineMemory {
        &self.memory
    }

    /// The word of the monitor's command line.
    pub(crate) fn word(&self) -> String {
        format!("dump={}", self.folder.display())
    }

    /// Takes the dump if the monitor waits for that; the machine then goes on.
    pub(crate) fn attend(&self) -> Result<(), Failure> {
        if self.is_taken.load(Ordering::Relaxed) || !self.folder.join("fault").exists() {
            return Ok(());
        }
        let taken = self.take(Moment::Fault);
        whole_file::put(&self.folder.join("go-on"), b"")?;
        taken
    }

    /// Takes the dump, unless there is one, and says so.
    pub(crate) fn take(&self, moment: Moment) -> Result<(), Failure> {
        if self.is_taken.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let path = self.path.display();
        let Some(registers) = self.registers()? else {
            talk!("dump: no {path}, since the image has not used the GPU");
            return Ok(());
        };
        let mut gpu = SeenGpu {
            registers,
            memory: &self.memory,
            moment,
        };
        let mut file = SparseFile::create(&self.path)?;
        let mut room = vec![Run::default(); RUNS];
        let written = collect(&mut gpu, &mut room, &mut file);
        file.finish(written)?;
        let when = match moment {
            Moment::Fault => "after the first fault of the GPU",
            Moment::TimedOut => "when the machine's time was over",
            Moment::Stopped => "when the machine stopped",
        };
        talk!("dump: {path} has the GPU's state {when}");
        Ok(())
    }

    /// The registers that the monitor has written, by offset; `None` before the image has used the GPU.
    fn registers(&self) -> Result<Option<HashMap<u32, u32>>, Failure> {
        let path = self.folder.join("registers");
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(Failure::unreadable(&path, cause)),
        };
        let (pairs, _) = bytes.as_chunks::<8>();
        let pairs = pairs.iter().map(|&[a, b, c, d, e, f, g, h]| {
            let words = [[a, b, c, d], [e, f, g, h]];
            let [offset, value] = words.map(u32::from_le_bytes);
            (offset, value)
        });
        Ok(Some(pairs.collect()))
    }
}

/// The GPU as its registers and its memory show it.
struct SeenGpu<'m> {
    registers: HashMap<u32, u32>,
    memory: &'m MachineMemory,
    moment: Moment,
}

impl Memory for SeenGpu<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let mut memory = self.memory;
        PhysicalMemory::read(&mut memory, address, bytes).map_err(|_| Unreadable { address })
    }
}

impl Source for SeenGpu<'_> {
    fn register(&mut self, offset: u32) -> u32 {
        self.registers.get(&offset).copied().unwrap_or(0)
    }

    fn producer(&self) -> &str {
        concat!("Eitri ", env!("CARGO_PKG_VERSION"), ", eitri boot")
    }

    fn faults(&mut self, tell: &mut dyn FnMut(Fault)) {
        if self.moment == Moment::TimedOut {
            tell(Fault {
                reporter: Reporter::Timeout,
                slot: note::NONE,
                stream: note::NONE,
                space: note::NONE,
                status: 0,
                address: 0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_csf::registers::identity::GPU_ID;
    use eitri_dump::Dump;

    #[test]
    fn a_dump_is_taken_once_and_has_what_the_monitor_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.core");
        let dump = BootDump::new(&path, folder.path(), None).unwrap();
        dump.attend().unwrap();
        assert!(!path.exists(), "nothing has failed");
        let shared = folder.path().join("dump");
        let pair = [GPU_ID.offset, 0xA867_0005].map(u32::to_le_bytes);
        std::fs::write(shared.join("registers"), pair.as_flattened()).unwrap();
        std::fs::write(shared.join("fault"), b"").unwrap();
        dump.attend().unwrap();
        assert!(shared.join("go-on").exists(), "the machine goes on");
        let read = |path: &Path| std::fs::read(path).unwrap();
        let file = read(&path);
        let parsed = Dump::parse(&file).unwrap();
        assert_eq!(parsed.register(GPU_ID), Some(0xA867_0005));
        std::fs::remove_file(&path).unwrap();
        dump.take(Moment::Stopped).unwrap();
        assert!(!path.exists(), "there was one");
    }

    #[test]
    fn an_image_that_did_not_use_the_gpu_leaves_no_dump() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gpu.core");
        let dump = BootDump::new(&path, folder.path(), None).unwrap();
        dump.take(Moment::Stopped).unwrap();
        assert!(!path.exists());
    }
}
