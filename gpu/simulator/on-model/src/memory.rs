//! The memory of a machine: bytes that the model and the driver both reach.

use eitri_model::{Accessor, BusError, PhysicalMemory, Source};
use std::rc::Weak;

/// Who wants to know of each access of the GPU's.
pub(crate) trait Watcher {
    fn reads(&self, address: u64, bytes: u64, accessor: Accessor);
    fn writes(&self, address: u64, bytes: u64, accessor: Accessor);
}

/// Bytes from a base address on. Pages that nothing touches cost nothing: a zeroed vector of this size is not backed.
pub(crate) struct Memory {
    base: u64,
    bytes: Vec<u8>,
    watchers: Vec<Weak<dyn Watcher>>,
    /// Who of the GPU makes its accesses.
    accessor: Accessor,
}

impl Memory {
    pub(crate) fn new(base: u64, bytes: u64) -> Memory {
        Memory {
            base,
            bytes: vec![0; bytes as usize],
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
