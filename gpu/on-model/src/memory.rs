//! The memory of a machine: bytes that the model and the driver both reach.

use eitri_model::{BusError, PhysicalMemory};

/// Bytes from a base address on. Pages that nothing touches cost nothing: a zeroed vector of this size is not backed.
pub(crate) struct Memory {
    base: u64,
    bytes: Vec<u8>,
}

impl Memory {
    pub(crate) fn new(base: u64, bytes: u64) -> Memory {
        Memory {
            base,
            bytes: vec![0; bytes as usize],
        }
    }

    pub(crate) fn at(&mut self, address: u64, length: usize) -> Option<&mut [u8]> {
        let start = usize::try_from(address.checked_sub(self.base)?).ok()?;
        self.bytes.get_mut(start..start.checked_add(length)?)
    }
}

impl PhysicalMemory for Memory {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let from = self.at(address, bytes.len()).ok_or(BusError { address })?;
        bytes.copy_from_slice(from);
        Ok(())
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let to = self.at(address, bytes.len()).ok_or(BusError { address })?;
        to.copy_from_slice(bytes);
        Ok(())
    }
}
