//! Initial map: what the tables need that the MMU is turned on with, before there is memory to make others in.
//!
//! Two levels: a root of 1 GiB entries and tables of 2 MiB blocks. An image's entry makes them; what it is to map is looked at
//! here, while the image is compiled.
//!
//! Guarantees: a block holds one kind of memory, all of it asked for. A speculative access to memory that firmware keeps to
//! itself would be an SError.  Facts: hardware/boards.md 3.1 item 4.

use core::ops::Range;

/// Bytes of a block: what is mapped begins and ends at multiples of it.
pub const BLOCK: usize = 2 << 20;
const GIB: usize = 1 << 30;
/// Entries of the root.
const GIBIBYTES: usize = 512;

/// How many tables of blocks map these addresses, of which each range is another kind of memory.
///
/// # Errors
/// When they are no whole blocks, lie above 512 GiB, or overlap.
pub const fn block_tables(mapped: &[Range<usize>]) -> Result<usize, &'static str> {
    let mut index = 0;
    while index < mapped.len() {
        let Range { start, end } = mapped[index];
        if !start.is_multiple_of(BLOCK) || !end.is_multiple_of(BLOCK) {
            return Err("no whole blocks of 2 MiB");
        }
        if end > GIBIBYTES * GIB {
            return Err("an address above 512 GiB");
        }
        let mut other = 0;
        while other < index {
            if start < mapped[other].end && mapped[other].start < end {
                return Err("two kinds of memory in a block of 2 MiB");
            }
            other += 1;
        }
        index += 1;
    }
    let mut tables = 0;
    let mut gibibyte = 0;
    while gibibyte < GIBIBYTES {
        if is_touched(gibibyte, mapped) {
            tables += 1;
        }
        gibibyte += 1;
    }
    Ok(tables)
}

const fn is_touched(gibibyte: usize, mapped: &[Range<usize>]) -> bool {
    let mut index = 0;
    while index < mapped.len() {
        let Range { start, end } = mapped[index];
        if start < end && start < (gibibyte + 1) * GIB && gibibyte * GIB < end {
            return true;
        }
        index += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn tables_of(one: Range<usize>) -> Result<usize, &'static str> {
        block_tables(core::slice::from_ref(&one))
    }

    #[test]
    fn there_is_a_table_for_each_gibibyte() {
        assert_eq!(block_tables(&[]), Ok(0));
        assert_eq!(tables_of(0x8220_0000..0x8260_0000), Ok(1));
        assert_eq!(tables_of(0x7FE0_0000..0x8020_0000), Ok(2));
        let last = GIBIBYTES * GIB - BLOCK;
        let apart = [0..BLOCK, 2 * BLOCK..3 * BLOCK, last..last + BLOCK];
        assert_eq!(block_tables(&apart), Ok(2));
    }

    #[test]
    fn what_blocks_cannot_map_is_refused() {
        let end = GIBIBYTES * GIB;
        assert_eq!(
            block_tables(&[BLOCK..3 * BLOCK, 0..2 * BLOCK]),
            Err("two kinds of memory in a block of 2 MiB")
        );
        assert_eq!(tables_of(0..BLOCK / 2), Err("no whole blocks of 2 MiB"));
        assert_eq!(tables_of(end..end + BLOCK), Err("an address above 512 GiB"));
    }

    proptest! {
        #[test]
        fn tables_are_as_many_as_gibibytes_with_a_block(
            first in 0usize..700, first_blocks in 0usize..600, second in 1300usize..2400, second_blocks in 0usize..600,
        ) {
            let blocks = [first..first + first_blocks, second..second + second_blocks];
            let gibibytes: BTreeSet<_> = blocks.iter().cloned().flatten().map(|block| block * BLOCK / GIB).collect();
            let mapped = blocks.map(|blocks| blocks.start * BLOCK..blocks.end * BLOCK);
            prop_assert_eq!(block_tables(&mapped), Ok(gibibytes.len()));
        }
    }
}
