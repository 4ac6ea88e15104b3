//! Physical memory whose clones share pages until one of them writes.
use std::collections::HashMap;
use std::sync::Arc;

use eitri_model::{BusError, PAGE, PhysicalMemory};

/// The bytes of a page.
type Page = [u8; PAGE as usize];

/// Memory from a base address on. Pages that nobody has written are zero and take nothing.
#[derive(Clone, Debug, Default)]
pub struct SharedPages {
    base: u64,
    bytes: u64,
    pages: HashMap<u64, Arc<Page>>,
}

impl SharedPages {
    /// So many bytes from an address on, both multiples of a page.
    pub fn new(base: u64, bytes: u64) -> SharedPages {
        SharedPages {
            base,
            bytes,
            pages: HashMap::new(),
        }
    }

    /// Pages that something was written to.
    pub fn pages(&self) -> usize {
        self.pages.len()
    }

    /// The same memory for a reader.
    pub fn reader(&self) -> Reader<'_> {
        Reader(self)
    }

    /// Whether all of it is memory.
    fn check(&self, address: u64, length: usize) -> Result<(), BusError> {
        let start = address.checked_sub(self.base);
        let end = start.and_then(|start| start.checked_add(length as u64));
        match end.is_some_and(|end| end <= self.bytes) {
            true => Ok(()),
            false => Err(BusError { address }),
        }
    }

    fn load(&self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.check(address, bytes.len())?;
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        // An access never crosses a page.
        let part = offset..offset.saturating_add(bytes.len());
        match self.pages.get(&page) {
            None => bytes.fill(0),
            Some(page) => {
                let part = page.get(part).ok_or(BusError { address })?;
                bytes.copy_from_slice(part);
            }
        }
        Ok(())
    }
}

impl PhysicalMemory for SharedPages {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.load(address, bytes)
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        self.check(address, bytes.len())?;
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        let part = offset..offset.saturating_add(bytes.len());
        let page = self.pages.entry(page);
        let page = page.or_insert_with(|| Arc::new([0; PAGE as usize]));
        let part = Arc::make_mut(page)
            .get_mut(part)
            .ok_or(BusError { address })?;
        part.copy_from_slice(bytes);
        Ok(())
    }
}

/// Memory that is only read.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'m>(&'m SharedPages);

impl PhysicalMemory for Reader<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        self.0.load(address, bytes)
    }

    fn write(&mut self, address: u64, _: &[u8]) -> Result<(), BusError> {
        Err(BusError { address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_keeps_what_was_there() {
        let mut memory = SharedPages::new(PAGE, 4 * PAGE);
        memory.write(PAGE + 8, &[1, 2]).unwrap();
        let kept = memory.clone();
        memory.write(PAGE + 8, &[3]).unwrap();
        let read = |memory: &SharedPages| {
            let mut bytes = [0; 2];
            memory.reader().read(PAGE + 8, &mut bytes).unwrap();
            bytes
        };
        assert_eq!((read(&memory), read(&kept)), ([3, 2], [1, 2]));
        assert!(memory.write(0, &[0]).is_err(), "below its start");
        assert!(memory.write(5 * PAGE, &[0]).is_err(), "behind its end");
        assert!(memory.reader().write(PAGE, &[0]).is_err());
    }
}
