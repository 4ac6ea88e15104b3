//! Tables against the entries of the facts, and what a map or an unmap leaves.

use super::*;
use crate::testing::Fake;

fn tables(bytes: u64) -> (Fake, Memory, PageTables) {
    let (mut fake, mut memory) = (Fake::new(bytes), Memory::new());
    let tables = PageTables::new(&mut fake, &mut memory, 48).expect("memory");
    (fake, memory, tables)
}

const BLOCK: u64 = 0x20_0000;
const MEMORY: PhysicalAddress = PhysicalAddress(0x8000_0000);

#[test]
fn entries_are_those_of_the_facts() {
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let range = 0x1_0000..0x1_1000;
    tables
        .map(&mut fake, &mut memory, range, MEMORY, Attributes::CODE)
        .expect("free");
    let (slot, level) = tables.find(&mut fake, 0x1_0000);
    assert_eq!((slot.entry.0, level), (0x0000_0000_8000_0FC7, Level::L3));
    let expected = Some((MEMORY.offset(0x123), Attributes::CODE));
    assert_eq!(tables.translate(&mut fake, 0x1_0123), expected);
    assert_eq!(tables.translate(&mut fake, 0x1_1000), None);
}

#[test]
fn blocks_are_used_where_they_fit_and_unmapped_whole() {
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let range = BLOCK..2 * BLOCK + 0x2000;
    tables
        .map(&mut fake, &mut memory, range, MEMORY, Attributes::CACHED)
        .expect("free");
    assert_eq!(tables.find(&mut fake, BLOCK).1, Level::L2);
    assert_eq!(tables.find(&mut fake, 2 * BLOCK).1, Level::L3);
    // A part of the block goes, and the rest is as it was.
    let part = BLOCK + 0x3000..BLOCK + 0x5000;
    tables
        .unmap(&mut fake, &mut memory, part, &mut Emptied::new())
        .expect("memory for a table");
    for (offset, mapped) in [
        (0, true),
        (0x2FFF, true),
        (0x3000, false),
        (0x4FFF, false),
        (0x5000, true),
        (BLOCK - 1, true),
    ] {
        let found = tables.translate(&mut fake, BLOCK + offset);
        let expected = mapped.then_some((MEMORY.offset(offset), Attributes::CACHED));
        assert_eq!(found, expected, "{offset:#x}");
    }
    tables
        .unmap(
            &mut fake,
            &mut memory,
            BLOCK..2 * BLOCK + 0x2000,
            &mut Emptied::new(),
        )
        .expect("whole");
    assert_eq!(tables.translate(&mut fake, BLOCK), None);
    assert_eq!(tables.translate(&mut fake, 2 * BLOCK), None);
}

#[test]
fn the_largest_blocks_are_of_a_gibibyte() {
    const HUGE: u64 = 1 << 30;
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let range = HUGE..2 * HUGE + BLOCK;
    tables
        .map(&mut fake, &mut memory, range, MEMORY, Attributes::CACHED)
        .expect("free");
    assert_eq!(tables.find(&mut fake, HUGE).1, Level::L1);
    assert_eq!(tables.find(&mut fake, 2 * HUGE).1, Level::L2);
    // A page goes: it is in a table of pages now, its neighbours in blocks of 2 MiB, and all else is as it was.
    let page = HUGE + 3 * BLOCK + 0x1000;
    let part = page..page + 0x1000;
    tables
        .unmap(&mut fake, &mut memory, part.clone(), &mut Emptied::new())
        .expect("memory for two tables");
    let at = |address: u64| Some((MEMORY.offset(address - HUGE), Attributes::CACHED));
    for (address, level) in [
        (HUGE, Level::L2),
        (page - 0x1000, Level::L3),
        (page + 0x1000, Level::L3),
        (2 * HUGE - 1, Level::L2),
        (2 * HUGE, Level::L2),
    ] {
        assert_eq!(tables.translate(&mut fake, address), at(address));
        assert_eq!(tables.find(&mut fake, address).1, level, "{address:#x}");
    }
    assert_eq!(tables.translate(&mut fake, page), None);
    // What is below a table is filled one by one.
    tables
        .map(
            &mut fake,
            &mut memory,
            part,
            MEMORY.offset(page - HUGE),
            Attributes::CACHED,
        )
        .expect("free again");
    assert_eq!(tables.translate(&mut fake, page), at(page));
    tables
        .unmap(&mut fake, &mut memory, HUGE..2 * HUGE, &mut Emptied::new())
        .expect("whole");
    tables
        .map(
            &mut fake,
            &mut memory,
            HUGE..2 * HUGE,
            MEMORY,
            Attributes::CODE,
        )
        .expect("free");
    assert_eq!(
        tables.find(&mut fake, HUGE).1,
        Level::L2,
        "its table has stayed"
    );
}

#[test]
fn memory_is_unmapped_wherever_it_is() {
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let data = Attributes::CACHED;
    for (at, from) in [
        (0x1_0000, MEMORY),
        (0x9000_0000, MEMORY),
        (0x2_0000, MEMORY.offset(0x1000)),
    ] {
        tables
            .map(&mut fake, &mut memory, at..at + 0x1000, from, data)
            .expect("free");
    }
    tables.unmap_memory(&mut fake, MEMORY.span(0x1000));
    assert_eq!(tables.translate(&mut fake, 0x1_0000), None);
    assert_eq!(tables.translate(&mut fake, 0x9000_0000), None);
    assert!(tables.translate(&mut fake, 0x2_0000).is_some());
}

#[test]
fn a_block_goes_page_by_page_where_a_table_stands() {
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let small = BLOCK..BLOCK + 0x1000;
    tables
        .map(
            &mut fake,
            &mut memory,
            small.clone(),
            MEMORY,
            Attributes::CACHED,
        )
        .expect("free");
    tables
        .unmap(&mut fake, &mut memory, small, &mut Emptied::new())
        .expect("mapped");
    let large = BLOCK..2 * BLOCK;
    tables
        .map(&mut fake, &mut memory, large, MEMORY, Attributes::CACHED)
        .expect("free");
    let last = 2 * BLOCK - 1;
    let found = tables
        .translate(&mut fake, last)
        .map(|(physical, _)| physical);
    assert_eq!(found, Some(MEMORY.offset(BLOCK - 1)));
}

#[test]
fn nothing_is_mapped_twice_and_a_failed_map_leaves_nothing() {
    let (mut fake, mut memory, tables) = tables(0x10_0000);
    let data = Attributes::CACHED;
    tables
        .map(&mut fake, &mut memory, 0x5000..0x6000, MEMORY, data)
        .expect("free");
    let got = tables.map(&mut fake, &mut memory, 0x3000..0x7000, MEMORY, data);
    assert_eq!(got, Err(MapError::AlreadyMapped { address: 0x5000 }));
    assert_eq!(tables.translate(&mut fake, 0x3000), None);
    assert!(tables.translate(&mut fake, 0x5000).is_some());
}

#[test]
fn bad_ranges_and_missing_memory_are_refused() {
    let (mut fake, mut memory, tables) = tables(0x2000);
    let data = Attributes::CACHED;
    for (start, end) in [
        (0x1000, 0x1000),
        (0x800, 0x1000),
        (0x1000, 0x1800),
        (0, 1 << 49),
    ] {
        let got = tables.map(&mut fake, &mut memory, start..end, MEMORY, data);
        assert_eq!(
            got,
            Err(MapError::BadRange {
                start,
                end,
                bits: 48
            })
        );
    }
    let got = tables.map(&mut fake, &mut memory, 0..0x1000, MEMORY, data);
    assert!(matches!(got, Err(MapError::OutOfMemory(_))), "{got:?}");
}
