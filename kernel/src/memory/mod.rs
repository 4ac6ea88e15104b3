//! Memory: the image's own page tables.
//!
//! Addresses are physical ones: the map is the identity. Code is read-only and executable, nothing else is executable,
//! constants are read-only, and what is not listed is not mapped: a speculative read of memory that firmware keeps to
//! itself would be an SError.
//!
//! Facts: hardware/boards.md 3.1.

mod initial;

pub(crate) use initial::add as add_to_initial;
pub use initial::{Initial, InitialTables, Pages, TABLE_BYTES};

use crate::interrupts::masked;
use crate::irq_mutex::IrqMutex;
use crate::{cache, linked, println};
use aarch64_paging::MapError;
use aarch64_paging::descriptor::El1Attributes;
use aarch64_paging::idmap::IdMap;
use aarch64_paging::paging::{El1And0, MemoryRegion};
use core::sync::atomic::{AtomicU64, Ordering};
use cortex_a::registers::{Readable, TTBR0_EL1, Writeable};
use eitri_aarch64::Translation;
use eitri_boards::{Board, Coherency, Region};

/// The initial table has address space 0; switching to another one needs no break before make.
const ASID: usize = 1;
/// 39 bits of addresses, as `aarch64-rt` sets TCR_EL1.
const ROOT_LEVEL: usize = 1;

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
    /// Memory of the image before its parts are told apart.
    AnyOfImage,
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
    const fn attributes(self) -> El1Attributes {
        match self {
            Kind::AnyOfImage => VALID.union(CACHED),
            Kind::Code => VALID.union(CACHED).union(El1Attributes::READ_ONLY),
            Kind::Constants => NEVER_EXECUTED.union(CACHED).union(El1Attributes::READ_ONLY),
            Kind::Data => NEVER_EXECUTED.union(CACHED),
            Kind::Uncached => NEVER_EXECUTED
                .union(El1Attributes::ATTRIBUTE_INDEX_2)
                .union(El1Attributes::INNER_SHAREABLE),
            Kind::Device => NEVER_EXECUTED.union(El1Attributes::ATTRIBUTE_INDEX_0),
        }
    }
}

/// Kept for as long as the image runs: the MMU reads it.
static MAP: IrqMutex<Option<IdMap<El1And0>>> = IrqMutex::new(None);

/// What TTBR0_EL1 is while the map is in use.
static ROOT: AtomicU64 = AtomicU64::new(0);

/// Switches another CPU to the map proper.
///
/// # Safety
/// [`map`] was called. The initial map is in use, and the caller's code and stack are in both.
pub(crate) unsafe fn share_map() {
    TTBR0_EL1.set(ROOT.load(Ordering::Acquire));
    // SAFETY: the caller's promise: what it uses is at the same addresses in both maps.
    unsafe {
        core::arch::asm!("isb", "tlbi vmalle1", "dsb nsh", "isb", options(nostack));
    }
}

/// Maps what the board has and switches to that map. `cached` says that the GPU's memory is cached though the GPU does not see
/// the caches: whoever uses it keeps them up.
///
/// # Safety
/// Called once, when the heap is open, on a map that has the image, its stacks and the heap.
pub(crate) unsafe fn map(board: &Board, cached: bool) {
    let mut tables = IdMap::with_asid(ASID, ROOT_LEVEL, El1And0);
    let memory = board.memory;
    let shared = match board.gpu.coherency {
        Coherency::None if !cached => Kind::Uncached,
        Coherency::None | Coherency::AceLite => Kind::Data,
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
    let controller = memory.controller.map(|region| (region, Kind::Uncached));
    let devices = memory.devices.iter().map(|region| (*region, Kind::Device));
    let of_board = board_regions.into_iter().chain(controller).chain(devices);
    let mut mapped = Ok(());
    for (region, kind) in image.into_iter().chain(of_board) {
        mapped = mapped.and_then(|()| add(&mut tables, region, kind));
    }
    if let Err(error) = mapped {
        refused(error);
    }
    // SAFETY: the map holds the whole image, its stacks, the heap that the tables lie in, and the console, all at the
    // addresses where they are now; the tables stay, in `MAP`, for as long as the image runs.
    unsafe {
        tables.activate();
        // What is left of the initial map.
        core::arch::asm!("tlbi vmalle1", "dsb nsh", "isb", options(nostack));
    }
    ROOT.store(TTBR0_EL1.get(), Ordering::Release);
    MAP.with(|map| *map = Some(tables));
    if shared == Kind::Uncached && board.has_caches() {
        // The initial map did not have it; but whoever ran before us may have, and a line of its that is written back
        // later would be written over what the GPU and we have there by then.
        cache::clean_and_invalidate(memory.shared);
    }
    if let Some(controller) = memory.controller {
        cache::clean_and_invalidate(controller);
    }
    // What an image without text leaves out of its console.
    if cfg!(feature = "text") {
        println!(
            "memory: code {:#x}, data {:#x}, shared {:#x} to {:#x}",
            linked::text().base,
            linked::data().base,
            memory.shared.base,
            memory.shared.end()
        );
    }
}

/// Ends the image: a map was refused. The reasons of the tables' crate are text.
#[cold]
fn refused(error: MapError) -> ! {
    if cfg!(feature = "text") {
        panic!("page tables: {error}");
    }
    panic!("page tables");
}

fn add(tables: &mut IdMap<El1And0>, region: Region, kind: Kind) -> Result<(), MapError> {
    let range = MemoryRegion::new(region.base, region.end());
    tables.map_range(&range, kind.attributes())
}

/// Maps memory for reading, and gives it.
///
/// # Safety
/// [`map`] was called. The region is ordinary memory that nobody writes for as long as the image runs, and apart from
/// everything that the board maps.
pub(crate) unsafe fn constants(region: Region) -> &'static [u8] {
    const PAGE: usize = 4096;
    let base = region.base / PAGE * PAGE;
    let pages = Region {
        base,
        bytes: region.end().next_multiple_of(PAGE) - base,
    };
    let mapped = MAP.with(|map| map.as_mut().map(|map| add(map, pages, Kind::Constants)));
    if let Some(Err(error)) = mapped {
        refused(error);
    }
    // SAFETY: the caller's promise; it is mapped.
    unsafe { core::slice::from_raw_parts(region.base as *const u8, region.bytes) }
}

/// Maps whole pages past the caches, and gives a part of them. What the caches had of the pages is written back before.
///
/// # Safety
/// [`map`] was called. The pages are ordinary memory, apart from everything that is mapped, which nobody else writes for as long as the
/// image runs; the part lies in them.
pub(crate) unsafe fn uncached(pages: Region, part: Region) -> &'static mut [u8] {
    let mapped = MAP.with(|map| map.as_mut().map(|map| add(map, pages, Kind::Uncached)));
    if let Some(Err(error)) = mapped {
        refused(error);
    }
    cache::clean_and_invalidate(pages);
    // SAFETY: the caller's promise; it is mapped.
    unsafe { core::slice::from_raw_parts_mut(part.base as *mut u8, part.bytes) }
}

/// Maps the page of a device that is not the board's own, unless it is mapped.
///
/// # Safety
/// [`map`] was called. At the address are a device's registers.
pub unsafe fn device(address: usize) {
    const PAGE: usize = 4096;
    if matches!(translate(address), Translation::Mapped { .. }) {
        return;
    }
    let page = Region {
        base: address / PAGE * PAGE,
        bytes: PAGE,
    };
    let mapped = MAP.with(|map| map.as_mut().map(|map| add(map, page, Kind::Device)));
    if let Some(Err(error)) = mapped {
        refused(error);
    }
}

/// Asks the MMU about a read of an address.
pub fn translate(address: usize) -> Translation {
    masked(|| {
        let par: u64;
        // SAFETY: the instruction translates and stores its answer in PAR_EL1; it accesses nothing. Nobody else uses that
        // register before it is read: a handler of an interrupt would have to come in between.
        unsafe {
            core::arch::asm!("at s1e1r, {}", "isb", "mrs {}, par_el1", in(reg) address, out(reg) par, options(nostack));
        }
        Translation::from(par)
    })
}

/// Asks the MMU whether a write to an address would go through.
pub fn may_write(address: usize) -> bool {
    masked(|| {
        let par: u64;
        // SAFETY: as in `translate`.
        unsafe {
            core::arch::asm!("at s1e1w, {}", "isb", "mrs {}, par_el1", in(reg) address, out(reg) par, options(nostack));
        }
        matches!(Translation::from(par), Translation::Mapped { .. })
    })
}
