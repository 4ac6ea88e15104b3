//! Initial map: the tables that the MMU is turned on with, before there is memory to make others in.
//!
//! Two levels: a root of 1 GiB entries and tables of 2 MiB blocks. Made while the image is compiled, so that nothing has
//! to run before the MMU does; only the addresses of the tables themselves are the linker's.
//!
//! Guarantees: nothing is mapped but what was asked for. A speculative access to memory that firmware keeps to itself
//! would be an SError.  Facts: hardware/boards.md 3.1 item 4; the descriptors are those of `aarch64-paging`.

use aarch64_paging::descriptor::El1Attributes;

/// Bytes of a block: what is mapped begins and ends at multiples of it.
pub const BLOCK: usize = 2 << 20;
/// Gibibytes that something may be mapped in.
pub const LEVEL2_TABLES: usize = 4;
const GIB: usize = 1 << 30;
const ENTRIES: usize = 512;

/// The map: which gibibytes have a table, and the tables.
#[derive(Clone, Copy, Debug)]
pub struct InitialMap {
    gibibytes: [usize; LEVEL2_TABLES],
    used: usize,
    level2: [[usize; ENTRIES]; LEVEL2_TABLES],
}

impl InitialMap {
    /// Nothing is mapped.
    pub const EMPTY: InitialMap = InitialMap {
        gibibytes: [0; LEVEL2_TABLES],
        used: 0,
        level2: [[0; ENTRIES]; LEVEL2_TABLES],
    };

    /// The map with `bytes` bytes at `base` in it, at the same physical address.
    ///
    /// # Panics
    /// When they are no whole blocks, lie above 512 GiB or in one gibibyte too many, or are mapped otherwise already. The
    /// map is made while the image is compiled, so that is when it fails:
    ///
    /// ```compile_fail,E0080
    /// use aarch64_paging::descriptor::El1Attributes;
    /// use eitri_aarch64::{BLOCK, InitialMap};
    ///
    /// const MAP: InitialMap = InitialMap::EMPTY
    ///     .with(0, BLOCK, El1Attributes::VALID)
    ///     .with(0, BLOCK, El1Attributes::VALID.union(El1Attributes::PXN));
    /// assert_eq!(MAP.block(0), None);
    /// ```
    pub const fn with(mut self, base: usize, bytes: usize, attributes: El1Attributes) -> Self {
        assert!(
            base.is_multiple_of(BLOCK) && bytes.is_multiple_of(BLOCK),
            "no whole blocks of 2 MiB"
        );
        let mut address = base;
        while address < base + bytes {
            let table = self.table_of(address / GIB);
            let descriptor = address | attributes.bits();
            let entry = &mut self.level2[table][address % GIB / BLOCK];
            assert!(
                *entry == 0 || *entry == descriptor,
                "two kinds of memory in a block of 2 MiB"
            );
            *entry = descriptor;
            address += BLOCK;
        }
        self
    }

    /// The number of the table for a gibibyte, a new one if there is none.
    const fn table_of(&mut self, gibibyte: usize) -> usize {
        assert!(gibibyte < ENTRIES, "an address above 512 GiB");
        let mut table = 0;
        while table < self.used {
            if self.gibibytes[table] == gibibyte {
                return table;
            }
            table += 1;
        }
        assert!(table < LEVEL2_TABLES, "more gibibytes than tables");
        self.gibibytes[table] = gibibyte;
        self.used += 1;
        table
    }

    /// The tables of blocks, as they are to stand in memory.
    pub const fn level2(&self) -> &[[usize; ENTRIES]; LEVEL2_TABLES] {
        &self.level2
    }

    /// Which of them the root's entry for a gibibyte points to.
    pub const fn level2_of(&self, gibibyte: usize) -> Option<usize> {
        let mut table = 0;
        while table < self.used {
            if self.gibibytes[table] == gibibyte {
                return Some(table);
            }
            table += 1;
        }
        None
    }

    /// The descriptor of the block that an address lies in; `None` where an access faults.
    pub fn block(&self, address: usize) -> Option<usize> {
        let table = self.level2.get(self.level2_of(address / GIB)?)?;
        let descriptor = table.get(address % GIB / BLOCK).copied()?;
        (descriptor != 0).then_some(descriptor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MEMORY: El1Attributes = El1Attributes::VALID.union(El1Attributes::ATTRIBUTE_INDEX_1);
    const DEVICE: El1Attributes = El1Attributes::VALID.union(El1Attributes::PXN);

    #[test]
    fn what_lies_beside_a_region_faults() {
        let map =
            InitialMap::EMPTY
                .with(0x4220_0000, 2 * BLOCK, MEMORY)
                .with(0xFEA0_0000, BLOCK, DEVICE);
        assert_eq!(map.block(0x421F_FFFF), None);
        assert_eq!(map.block(0x4220_0000), Some(0x4220_0000 | MEMORY.bits()));
        assert_eq!(map.block(0x425F_FFFF), Some(0x4240_0000 | MEMORY.bits()));
        assert_eq!(map.block(0x4260_0000), None);
        assert_eq!(map.block(0xFEBF_FFFF), Some(0xFEA0_0000 | DEVICE.bits()));
        assert_eq!(map.block(0), None);
        assert_eq!((map.level2_of(1), map.level2_of(3)), (Some(0), Some(1)));
        assert_eq!((map.level2_of(0), map.level2_of(2)), (None, None));
    }

    proptest! {
        #[test]
        fn exactly_the_regions_are_mapped(
            first in 0usize..700, first_blocks in 0usize..600, second in 700usize..1400, second_blocks in 0usize..600,
            asked in 0usize..2048,
        ) {
            let first = first..(first + first_blocks).min(700);
            let second = second..second + second_blocks;
            let map = InitialMap::EMPTY
                .with(first.start * BLOCK, first.len() * BLOCK, MEMORY)
                .with(second.start * BLOCK, second.len() * BLOCK, DEVICE);
            let wanted = match asked {
                block if first.contains(&block) => Some((block * BLOCK) | MEMORY.bits()),
                block if second.contains(&block) => Some((block * BLOCK) | DEVICE.bits()),
                _ => None,
            };
            prop_assert_eq!(map.block(asked * BLOCK + 0x1234), wanted);
        }
    }
}
