//! Own memory: the monitor's page tables at EL2.
//!
//! Memory that the image maps non-cacheable is non-cacheable here too, so that both see the same words without cache
//! upkeep; what it maps cached is cached in both, and inner shareable.
//! Facts: hardware/boards.md 3.1 items 2 and 3.

use crate::settings::MOST_MEMORY_ABOVE;
use aarch64_paging::MapError;
use aarch64_paging::descriptor::El23Attributes;
use aarch64_paging::idmap::IdMap;
use aarch64_paging::paging::{El2, MemoryRegion};
use eitri_boards::Region;
use eitri_boards::qemu_virt::{BOARD, GUEST_RAM, MONITOR_RAM};

/// 39 bits of addresses.
const ROOT_LEVEL: usize = 1;

const VALID: El23Attributes = El23Attributes::VALID
    .union(El23Attributes::ACCESSED)
    .union(El23Attributes::USER_RES1);
const DEVICE: El23Attributes = VALID
    .union(El23Attributes::ATTRIBUTE_INDEX_0)
    .union(El23Attributes::XN);
const CACHED: El23Attributes = VALID
    .union(El23Attributes::ATTRIBUTE_INDEX_1)
    .union(El23Attributes::INNER_SHAREABLE);
const UNCACHED: El23Attributes = VALID
    .union(El23Attributes::ATTRIBUTE_INDEX_2)
    .union(El23Attributes::INNER_SHAREABLE)
    .union(El23Attributes::XN);

/// Switches to the map.
pub(crate) fn map() {
    let shared = BOARD.memory.shared;
    let below = Region::new(GUEST_RAM.base, shared.base - GUEST_RAM.base);
    let above = Region::new(shared.end(), GUEST_RAM.end() - shared.end());
    let guest = CACHED | El23Attributes::XN;
    let memory = [
        (below, guest),
        (shared, UNCACHED),
        (above, guest),
        (MONITOR_RAM, CACHED),
        // Not all of it is there; what is touched is what the machine was given.
        (Region::new(MONITOR_RAM.end(), MOST_MEMORY_ABOVE), guest),
    ];
    let devices = BOARD.memory.devices.iter().map(|region| (*region, DEVICE));
    let mut tables = IdMap::new(ROOT_LEVEL, El2);
    let mapped = memory
        .into_iter()
        .chain(devices)
        .try_for_each(|(region, attributes)| add(&mut tables, region, attributes));
    if let Err(error) = mapped {
        panic!("page tables: {error}");
    }
    // SAFETY: all of the monitor lies in MONITOR_RAM, which the map holds at the same addresses. The tables are never
    // dropped.
    unsafe {
        tables.activate();
        // The initial table's blocks may be in the TLB, and EL2 has no address space numbers to tell them apart.
        core::arch::asm!("tlbi alle2", "dsb nsh", "isb", options(nostack));
    }
    core::mem::forget(tables);
}

fn add(
    tables: &mut IdMap<El2>,
    region: Region,
    attributes: El23Attributes,
) -> Result<(), MapError> {
    tables.map_range(&MemoryRegion::new(region.base, region.end()), attributes)
}
