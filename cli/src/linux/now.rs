//! The GPU as it is now, as what a dump is taken from, with changes that only the dump shows.

use eitri_dump::note::Submission;
use eitri_dump::walk::Space;
use eitri_dump::{Memory, Source, Unreadable};
use eitri_host_gpu::MachineMemory;
use eitri_model::{Gpu, PAGE, PhysicalMemory};
use std::collections::BTreeMap;

/// Bytes of a page.
const BYTES: usize = PAGE as usize;

/// The GPU and the machine's memory.
pub(super) struct Now<'n> {
    gpu: &'n mut Gpu,
    memory: &'n MachineMemory,
    /// Pages that the dump has otherwise than memory, by physical address.
    changed: BTreeMap<u64, [u8; BYTES]>,
    /// Notes of submissions.
    pub(super) submissions: Vec<Submission>,
    /// Who takes it.
    producer: String,
}

impl Now<'_> {
    /// Everything as it is; `what` is told of the dump's producer.
    pub(super) fn new<'n>(gpu: &'n mut Gpu, memory: &'n MachineMemory, what: &str) -> Now<'n> {
        Now {
            gpu,
            memory,
            changed: BTreeMap::new(),
            submissions: Vec::new(),
            producer: format!("Eitri {}{what}", env!("CARGO_PKG_VERSION")),
        }
    }

    /// Lets the dump show `bytes` at a virtual address, which must not cross a page. Where nothing is mapped nothing is shown.
    pub(super) fn patch(&mut self, space: &Space, address: u64, bytes: &[u8]) {
        let Ok(mapping) = space.look(self, address) else {
            return;
        };
        let physical = mapping.physical_of(address);
        let (page, start) = (physical & !(PAGE - 1), (physical % PAGE) as usize);
        let mut content = [0; BYTES];
        if self.read(page, &mut content).is_ok()
            && let Some(to) = content.get_mut(start..start + bytes.len())
        {
            to.copy_from_slice(bytes);
            self.changed.insert(page, content);
        }
    }
}

impl Memory for Now<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        let unreadable = Unreadable { address };
        if let Some(page) = self.changed.get(&(address & !(PAGE - 1))) {
            let start = (address % PAGE) as usize;
            let found = page.get(start..start + bytes.len());
            bytes.copy_from_slice(found.ok_or(unreadable)?);
            return Ok(());
        }
        let mut memory = self.memory;
        PhysicalMemory::read(&mut memory, address, bytes).map_err(|_| unreadable)
    }
}

impl Source for Now<'_> {
    fn register(&mut self, offset: u32) -> u32 {
        self.gpu.read32(&mut self.memory, offset)
    }

    fn producer(&self) -> &str {
        &self.producer
    }

    fn submissions(&mut self, tell: &mut dyn FnMut(Submission)) {
        self.submissions.iter().copied().for_each(tell);
    }
}
