//! Memory: the image's own page tables, and caches.
//!
//! Addresses are physical ones: the map is the identity. Code is read-only and executable, nothing else is executable,
//! constants are read-only, and what is not listed is not mapped: a speculative read of memory that firmware keeps to
//! itself would be an SError.
//!
//! Facts: hardware/boards.md 3.1.

use crate::{linked, println};
use aarch64_paging::MapError;
use aarch64_paging::descriptor::El1Attributes;
use aarch64_paging::idmap::IdMap;
use aarch64_paging::mair::{Mair, MairAttribute, NormalMemory};
use aarch64_paging::paging::{El1And0, MemoryRegion};
use aarch64_rt::InitialPagetable;
use eitri_boards::{Board, Coherency, Region};
use spin::Mutex;

/// MAIR_EL1: device, write-back and non-cacheable memory, by attribute index 0, 1 and 2.
pub const MAIR: u64 = Mair::EMPTY
    .with_attribute(0, MairAttribute::DEVICE_NGNRE)
    .with_attribute(
        1,
        MairAttribute::normal(
            NormalMemory::WriteBackNonTransientReadWriteAllocate,
            NormalMemory::WriteBackNonTransientReadWriteAllocate,
        ),
    )
    .with_attribute(
        2,
        MairAttribute::normal(NormalMemory::NonCacheable, NormalMemory::NonCacheable),
    )
    .0;

/// The initial table has address space 0; switching to another one needs no break before make.
const ASID: usize = 1;
/// 39 bits of addresses, as `aarch64-rt` sets TCR_EL1.
const ROOT_LEVEL: usize = 1;
const GIB: usize = 1 << 30;

const VALID: El1Attributes = El1Attributes::VALID
    .union(El1Attributes::ACCESSED)
    .union(El1Attributes::NON_GLOBAL)
    .union(El1Attributes::UXN);
const NEVER_EXECUTED: El1Attributes = VALID.union(El1Attributes::PXN);
const CACHED: El1Attributes =
    El1Attributes::ATTRIBUTE_INDEX_1.union(El1Attributes::INNER_SHAREABLE);

/// What memory is for, and so how it is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Code of the image.
    Code,
    /// Constants of the image.
    Constants,
    /// Ordinary memory.
    Data,
    /// Memory that the GPU uses too, and does not keep coherent.
    Uncached,
    /// Registers.
    Device,
}

impl Kind {
    fn attributes(self) -> El1Attributes {
        match self {
            Kind::Code => VALID | CACHED | El1Attributes::READ_ONLY,
            Kind::Constants => NEVER_EXECUTED | CACHED | El1Attributes::READ_ONLY,
            Kind::Data => NEVER_EXECUTED | CACHED,
            Kind::Uncached => {
                NEVER_EXECUTED | El1Attributes::ATTRIBUTE_INDEX_2 | El1Attributes::INNER_SHAREABLE
            }
            Kind::Device => NEVER_EXECUTED | El1Attributes::ATTRIBUTE_INDEX_0,
        }
    }
}

/// The table until the map proper is made: the image's gibibyte as memory, those with device registers as devices.
///
/// In blocks of 1 GiB, since no more fits into one page of constants; what is speculated in that short time lies in the
/// gibibyte that the image itself is in.
///
/// # Panics
/// While it is compiled, when a device lies in the image's gibibyte, or anything above 512 GiB.
pub const fn initial_table(board: &Board) -> InitialPagetable {
    let mut table = [0; 512];
    let image = board.memory.ram.base / GIB;
    table[image] = (image * GIB) | VALID.union(CACHED).bits();
    // Page tables will be made in the heap.
    assert!(
        board.memory.heap.base / GIB == image,
        "a heap in another gibibyte than the image"
    );
    let device = NEVER_EXECUTED
        .union(El1Attributes::ATTRIBUTE_INDEX_0)
        .bits();
    let mut index = 0;
    while index < board.memory.devices.len() {
        let gib = board.memory.devices[index].base / GIB;
        assert!(gib != image, "a device in the gibibyte of the image");
        table[gib] = (gib * GIB) | device;
        index += 1;
    }
    InitialPagetable(table)
}

static MAP: Mutex<Option<IdMap<El1And0>>> = Mutex::new(None);

/// Maps what the board has and switches to that map.
pub(crate) fn map(board: &Board) {
    let mut tables = IdMap::with_asid(ASID, ROOT_LEVEL, El1And0);
    let memory = board.memory;
    let shared = match board.gpu.coherency {
        Coherency::None => Kind::Uncached,
        Coherency::AceLite => Kind::Data,
    };
    let image = [
        (linked::text(), Kind::Code),
        (linked::rodata(), Kind::Constants),
        (linked::data(), Kind::Data),
        (linked::boot_stack(), Kind::Data),
        (linked::main_stack(), Kind::Data),
    ];
    let board_regions = [
        (memory.heap, Kind::Data),
        (memory.shared, shared),
        (board.gpu.window, Kind::Device),
    ];
    let devices = memory.devices.iter().map(|region| (*region, Kind::Device));
    let mut mapped = Ok(());
    for (region, kind) in image.into_iter().chain(board_regions).chain(devices) {
        mapped = mapped.and_then(|()| add(&mut tables, region, kind));
    }
    if let Err(error) = mapped {
        panic!("page tables: {error}");
    }
    // SAFETY: the map holds the whole image, its stacks, the heap that the tables lie in, and the console, all at the
    // addresses where they are now; the tables stay, in `MAP`, for as long as the image runs.
    unsafe {
        tables.activate();
    }
    *MAP.lock() = Some(tables);
    println!(
        "memory: code {:#x}, data {:#x}, shared {:#x} to {:#x}",
        linked::text().base,
        linked::data().base,
        memory.shared.base,
        memory.shared.end()
    );
}

fn add(tables: &mut IdMap<El1And0>, region: Region, kind: Kind) -> Result<(), MapError> {
    let range = MemoryRegion::new(region.base, region.end());
    tables.map_range(&range, kind.attributes())
}

/// How the CPU would read an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// It would fault, with this status code.
    Fault(u8),
    /// It is mapped, with the attribute byte that MAIR_EL1 holds for it.
    Mapped {
        /// Physical address of its page.
        page: u64,
        /// Attribute byte.
        attribute: u8,
    },
}

/// Asks the MMU about an address.
pub fn translate(address: usize) -> Translation {
    let par: u64;
    // SAFETY: the instruction translates and stores its answer in PAR_EL1; it accesses nothing.
    unsafe {
        core::arch::asm!("at s1e1r, {}", "isb", "mrs {}, par_el1", in(reg) address, out(reg) par, options(nostack));
    }
    if par & 1 == 0 {
        Translation::Mapped {
            page: par & 0x000F_FFFF_FFFF_F000,
            attribute: (par >> 56) as u8,
        }
    } else {
        Translation::Fault((par >> 1 & 0x3F) as u8)
    }
}

/// Asks the MMU whether a write to an address would go through.
pub fn may_write(address: usize) -> bool {
    let par: u64;
    // SAFETY: as in `translate`.
    unsafe {
        core::arch::asm!("at s1e1w, {}", "isb", "mrs {}, par_el1", in(reg) address, out(reg) par, options(nostack));
    }
    par & 1 == 0
}
