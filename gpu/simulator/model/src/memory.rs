//! Physical memory: what the model asks of its host.
//!
//! The host decides what an address means: an array in an ordinary process, the machine's own memory under a monitor.
//! Guarantees: the model never assumes that an access succeeds, and never asks for more than a page at once.

use crate::mmu::Source;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use core::fmt;

/// Bytes of a page: the granule of the tables and of [`SparseMemory`].
pub const PAGE: u64 = 4096;

/// The same as a length.
pub(crate) const PAGE_BYTES: usize = PAGE as usize;

/// The host has nothing at a physical address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusError {
    /// The physical address.
    pub address: u64,
}

impl fmt::Display for BusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no memory at physical address {:#x}", self.address)
    }
}

impl core::error::Error for BusError {}

/// What of the GPU accesses memory, for a host that tells who wrote what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accessor {
    /// A unit, or the page tables that its address is translated by.
    Unit(Source),
    /// The L2, which writes back for all of them.
    L2,
}

impl fmt::Display for Accessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Accessor::Unit(Source::Mcu) => f.write_str("the microcontroller"),
            Accessor::Unit(Source::StreamFetch { group, stream }) => {
                write!(f, "the fetch of stream {stream} in slot {group}")
            }
            Accessor::Unit(Source::Stream { group, stream }) => {
                write!(f, "stream {stream} in slot {group}")
            }
            Accessor::Unit(Source::Core(core)) => write!(f, "shader core {core}"),
            Accessor::Unit(Source::Texture(core)) => {
                write!(f, "the texture unit of shader core {core}")
            }
            Accessor::Unit(Source::TileBuffer(core)) => {
                write!(f, "the tile buffer of shader core {core}")
            }
            Accessor::Unit(Source::Tiler) => f.write_str("the tiler"),
            Accessor::L2 => f.write_str("the L2"),
        }
    }
}

/// Where the lanes of a message access a page that is lent: spans of bytes, one for each lane or one for all.
#[derive(Clone, Copy, Debug)]
pub struct PageAccess<'a> {
    pub(crate) starts: &'a [u32; 16],
    /// Lanes whose start counts.
    pub(crate) lanes: u16,
    /// Bytes from each start on.
    pub(crate) bytes: u32,
}

impl PageAccess<'_> {
    /// The spans: where each begins in the page, and its length.
    pub fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        let lanes = (0..16).filter(|lane| self.lanes >> lane & 1 != 0);
        lanes.map(|lane: usize| (self.starts[lane].into(), self.bytes.into()))
    }
}

/// Memory as it is while nobody writes to it.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a>(Kind<'a>);

#[derive(Clone, Copy, Debug)]
enum Kind<'a> {
    /// Bytes from a base address on.
    Bytes(u64, &'a [u8]),
    Sparse(&'a SparseMemory),
}

/// A page that was never written.
static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

impl<'a> Snapshot<'a> {
    /// Memory whose `bytes` lie from `base` on, a multiple of [`PAGE`].
    pub fn new(base: u64, bytes: &'a [u8]) -> Snapshot<'a> {
        Snapshot(Kind::Bytes(base, bytes))
    }

    /// The page that begins at `address`; `None` where there is none.
    pub(crate) fn page(&self, address: u64) -> Option<&'a [u8; PAGE_BYTES]> {
        match self.0 {
            Kind::Bytes(base, bytes) => {
                let start = usize::try_from(address.checked_sub(base)?).ok()?;
                let bytes = bytes.get(start..start.checked_add(PAGE_BYTES)?)?;
                bytes.try_into().ok()
            }
            Kind::Sparse(memory) => {
                let number = address / PAGE;
                let last = memory.last.as_ref().filter(|(last, _)| *last == number);
                let page = last.map(|(_, page)| page);
                let page = page.or_else(|| memory.pages.get(&number));
                (address < memory.limit).then(|| page.map_or(&ZEROS, |page| page))
            }
        }
    }
}

/// The memory behind the GPU's page tables.
///
/// Accesses are little-endian, never cross a page, and may have any alignment. An aligned access of 4 or 8 bytes should
/// be one access to memory, since the CPU looks at the same words.
pub trait PhysicalMemory {
    /// States who makes the accesses that follow. Who does not tell them apart has nothing to do.
    fn accessed_by(&mut self, _accessor: Accessor) {}

    /// Copies the bytes from `address` on into `bytes`.
    ///
    /// # Errors
    /// [`BusError`] where nothing answers; `bytes` is then unspecified.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError>;

    /// Copies `bytes` to `address` and on.
    ///
    /// # Errors
    /// [`BusError`] where nothing answers.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError>;

    /// The bytes of the page that begins at `address`, for accesses that the host need not hear of one by one. `None` where nothing
    /// answers, or where the host does not lend its memory.
    fn page(&mut self, _address: u64) -> Option<&mut [u8; PAGE as usize]> {
        None
    }

    /// As [`PhysicalMemory::page`], for the reads that `access` names.
    fn page_to_read(
        &mut self,
        address: u64,
        _access: &PageAccess<'_>,
    ) -> Option<&[u8; PAGE as usize]> {
        self.page(address).map(|page| &*page)
    }

    /// As [`PhysicalMemory::page`], for the writes that `access` names.
    fn page_to_write(
        &mut self,
        address: u64,
        _access: &PageAccess<'_>,
    ) -> Option<&mut [u8; PAGE as usize]> {
        self.page(address)
    }

    /// All of the memory as it is, for several threads to read: `None` where the host does not lend it so. Whoever lends it lends its
    /// pages too, and need not hear of accesses.
    fn snapshot(&self) -> Option<Snapshot<'_>> {
        None
    }

    /// The 32-bit word at `address`.
    ///
    /// # Errors
    /// As [`PhysicalMemory::read`].
    fn read32(&mut self, address: u64) -> Result<u32, BusError> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The 64-bit word at `address`.
    ///
    /// # Errors
    /// As [`PhysicalMemory::read`].
    fn read64(&mut self, address: u64) -> Result<u64, BusError> {
        let mut bytes = [0; 8];
        self.read(address, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Writes the 32-bit word at `address`.
    ///
    /// # Errors
    /// As [`PhysicalMemory::write`].
    fn write32(&mut self, address: u64, value: u32) -> Result<(), BusError> {
        self.write(address, &value.to_le_bytes())
    }

    /// Writes the 64-bit word at `address`.
    ///
    /// # Errors
    /// As [`PhysicalMemory::write`].
    fn write64(&mut self, address: u64, value: u64) -> Result<(), BusError> {
        self.write(address, &value.to_le_bytes())
    }
}

/// Memory for tests and ordinary processes: pages appear when they are first written, within a limit.
#[derive(Debug, Default)]
pub struct SparseMemory {
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
    limit: u64,
    /// The page of the last access, out of the tree: most accesses stay in one page.
    last: Option<(u64, Box<[u8; PAGE as usize]>)>,
}

impl SparseMemory {
    /// Memory from address 0 to `limit` bytes; untouched pages read as zero and cost nothing.
    pub fn new(limit: u64) -> SparseMemory {
        SparseMemory {
            limit,
            ..SparseMemory::default()
        }
    }

    /// The page of `address`, brought to the front; `None` beyond the limit.
    fn page_of(&mut self, address: u64) -> Option<&mut [u8; PAGE as usize]> {
        let number = address / PAGE;
        if self.last.as_ref().map(|(last, _)| *last) != Some(number) {
            if address >= self.limit {
                return None;
            }
            if let Some((old, page)) = self.last.take() {
                self.pages.insert(old, page);
            }
            let page = self.pages.remove(&number);
            self.last = Some((number, page.unwrap_or_else(|| Box::new([0; PAGE as usize]))));
        }
        self.last.as_mut().map(|(_, page)| &mut **page)
    }
}

impl PhysicalMemory for SparseMemory {
    fn snapshot(&self) -> Option<Snapshot<'_>> {
        Some(Snapshot(Kind::Sparse(self)))
    }

    fn page(&mut self, address: u64) -> Option<&mut [u8; PAGE as usize]> {
        self.page_of(address)
    }

    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), BusError> {
        let start = (address % PAGE) as usize;
        self.page_of(address)
            .and_then(|page| page.get(start..start + bytes.len()))
            .map(|source| bytes.copy_from_slice(source))
            .ok_or(BusError { address })
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let start = (address % PAGE) as usize;
        self.page_of(address)
            .and_then(|page| page.get_mut(start..start + bytes.len()))
            .map(|target| target.copy_from_slice(bytes))
            .ok_or(BusError { address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_keep_what_was_written_to_them() {
        let mut memory = SparseMemory::new(1 << 20);
        for page in 0..8u64 {
            assert_eq!(memory.write32(page * PAGE + 8, page as u32 + 1), Ok(()));
        }
        for page in 0..8u64 {
            assert_eq!(memory.read64(page * PAGE + 8), Ok(page + 1));
        }
        let beyond = BusError { address: 1 << 20 };
        assert_eq!(memory.read32(1 << 20), Err(beyond));
        let snapshot = memory.snapshot().expect("it is lent");
        let word = |page: u64| snapshot.page(page * PAGE).map(|page| page[8]);
        assert_eq!([word(0), word(7), word(8)], [Some(1), Some(8), Some(0)]);
        assert_eq!(word((1 << 20) / PAGE), None);
        assert_eq!(
            memory.write32(PAGE - 2, 0),
            Err(BusError { address: PAGE - 2 })
        );
    }
}
