//! Memory attributes: the three kinds of memory that page tables name, by index.
//!
//! Facts: hardware/boards.md 3.1 items 1 and 2.

use aarch64_paging::mair::{Mair, MairAttribute, NormalMemory};

/// Index of device memory (nGnRE): registers.
pub const DEVICE: u8 = 0;
/// Index of write-back memory.
pub const CACHED: u8 = 1;
/// Index of memory that is not cached.
pub const UNCACHED: u8 = 2;

/// The value of MAIR_EL1 and MAIR_EL2.
pub const MAIR: u64 = Mair::EMPTY
    .with_attribute(DEVICE, MairAttribute::DEVICE_NGNRE)
    .with_attribute(
        CACHED,
        MairAttribute::normal(
            NormalMemory::WriteBackNonTransientReadWriteAllocate,
            NormalMemory::WriteBackNonTransientReadWriteAllocate,
        ),
    )
    .with_attribute(
        UNCACHED,
        MairAttribute::normal(NormalMemory::NonCacheable, NormalMemory::NonCacheable),
    )
    .0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_index_has_its_byte() {
        let byte = |index: u8| MAIR.to_le_bytes()[usize::from(index)];
        assert_eq!(byte(DEVICE), 0x04, "Device-nGnRE");
        assert_eq!(byte(CACHED), 0xFF, "write-back, read and write allocate");
        assert_eq!(byte(UNCACHED), 0x44, "non-cacheable");
    }
}
