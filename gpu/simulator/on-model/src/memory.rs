//! The memory of a machine: bytes that the model and the driver both reach.

use eitri_model::{Accessor, BusError, PAGE, PhysicalMemory, Snapshot, Source};
use memmap2::{MmapMut, MmapOptions};
use std::rc::Weak;

/// Who wants to know of each access of the GPU's.
pub(crate) trait Watcher {
    fn reads(&self, address: u64, bytes: u64, accessor: Accessor);
    fn writes(&self, address: u64, bytes: u64, accessor: Accessor);
}

/// Bytes from a base address on. The system backs a page when it is first touched, and takes all of them back at the end: an
/// allocator would hand the same bytes to the next machine, and clear the gibibyte by hand.
pub(crate) struct Memory {
    base: u64,
    bytes: MmapMut,
    watchers: Vec<Weak<dyn Watcher>>,
    /// Who of the GPU makes its accesses.
    accessor: Accessor,
}

impl Memory {
    /// # Panics
    /// If the process has no room for so many addresses.
    pub(crate) fn new(base: u64, bytes: u64) -> Memory {
        let mut wanted = MmapOptions::new();
        let mapped = wanted.len(bytes as usize).no_reserve_swap().map_anon();
        Memory {
            base,
            bytes: mapped.unwrap_or_else(|error| panic!("no room for {bytes} bytes: {error}")),
            watchers: Vec::new(),
            accessor: Accessor::Unit(Source::Mcu),
        }
    }

    /// Tells somebody of the GPU's accesses for as long as he is there.
    pub(crate) fn watch(&mut self, watcher: Weak<dyn Watcher>) {
        self.watchers.retain(|it| it.strong_count() != 0);
        self.watchers.push(watcher);
    }

    pub(crate) fn at(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }
}

impl PhysicalMemory for Memory {
    fn accessed_by(&mut self, accessor: Accessor) {
        self.accessor = accessor;
    }

    fn page(&mut self, address: u64) -> Option<&mut [u8; PAGE as usize]> {
        // Whoever watches hears of each access.
        if !self.watchers.is_empty() {
            return None;
        }
        self.at(address, PAGE as usize)?.try_into().ok()
    }

    fn snapshot(&self) -> Option<Snapshot<'_>> {
        self.watchers
            .is_empty()
            .then(|| Snapshot::new(self.base, &self.bytes))
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let from = self.at(address, bytes.len()).ok_or(BusError { address })?;
        bytes.copy_from_slice(from);
        for watcher in self.watchers.iter().filter_map(Weak::upgrade) {
            watcher.reads(address, bytes.len() as u64, self.accessor);
        }
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        for watcher in self.watchers.iter().filter_map(Weak::upgrade) {
            watcher.writes(address, bytes.len() as u64, self.accessor);
        }
        let to = self.at(address, bytes.len()).ok_or(BusError { address })?;
        to.copy_from_slice(bytes);
        Ok(())
    }
}

/// The memory without those who watch it: for accesses that are not the GPU's.
pub(crate) struct Unwatched<'m>(pub(crate) &'m mut Memory);

impl PhysicalMemory for Unwatched<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let from = self.0.at(address, bytes.len());
        bytes.copy_from_slice(from.ok_or(BusError { address })?);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let to = self.0.at(address, bytes.len());
        to.ok_or(BusError { address })?.copy_from_slice(bytes);
        Ok(())
    }
}
