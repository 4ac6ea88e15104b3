//! Stage 2: what the image sees of the machine: everything but the GPU's window, the distributor and the monitor; of a board
//! that is not QEMU's its memory alone, at the board's addresses, and the redistributor.
//!
//! One page of the interrupt controller for each CPU is left out too and passed on by hand; see [`crate::redistributor`].

use crate::machine::{self, Part};
use crate::redistributor;
use aarch64_paging::Mapping;
use aarch64_paging::descriptor::{PhysicalAddress, Stage2Attributes};
use aarch64_paging::idmap::IdTranslation;
use aarch64_paging::paging::{Constraints, MemoryRegion, Stage2};
use alloc::vec::Vec;
use cortex_a::registers::{
    CNTHCTL_EL2, CNTVOFF_EL2, HCR_EL2, MIDR_EL1, MPIDR_EL1, Readable, SCTLR_EL1, VMPIDR_EL2,
    VTCR_EL2, VTTBR_EL2, Writeable,
};
use eitri_aarch64::entry_state;
use eitri_boards::Region;
use eitri_boards::qemu_virt::{BOARD, CONTROL, GUEST_RAM};
use spin::{Mutex, Once};

// The page beside the window is left out with it.
const _: () = assert!(CONTROL.base == BOARD.description().gpu.window.end());

/// 39 bits of addresses, as VTCR_EL2 is set below.
const ROOT_LEVEL: usize = 1;
const T0SZ: u64 = 64 - 39;

const PAGE: usize = 4096;

const MEMORY: Stage2Attributes = Stage2Attributes::VALID
    .union(Stage2Attributes::ACCESS_FLAG)
    .union(Stage2Attributes::S2AP_ACCESS_RW)
    .union(Stage2Attributes::SH_INNER)
    .union(Stage2Attributes::MEMATTR_NORMAL_OUTER_WB)
    .union(Stage2Attributes::MEMATTR_NORMAL_INNER_WB);
const DEVICE: Stage2Attributes = Stage2Attributes::VALID
    .union(Stage2Attributes::ACCESS_FLAG)
    .union(Stage2Attributes::S2AP_ACCESS_RW)
    .union(Stage2Attributes::MEMATTR_DEVICE_nGnRE)
    .union(Stage2Attributes::XN);

/// The image's RAM; without what it shares with the GPU, if its accesses there are to be seen.
fn memory(coherent: bool) -> Vec<Part> {
    let shared = machine::board().memory.shared;
    let mut parts = Vec::new();
    for part in machine::ram() {
        let Part { seen, place } = *part;
        let holds = seen.base <= shared.base && shared.end() <= seen.end();
        if coherent || !holds {
            parts.push(*part);
            continue;
        }
        for (base, end) in [(seen.base, shared.base), (shared.end(), seen.end())] {
            parts.push(Part {
                seen: Region::new(base, end - base),
                place: base - seen.base + place,
            });
        }
    }
    parts
}

/// Registers that are QEMU's own: on its own machine everything below RAM, around what is left out.
fn devices() -> Vec<Part> {
    let board = machine::board();
    if !machine::is_qemu(board) {
        return machine::devices(board);
    }
    let left_out = redistributor::pages().chain([board.gpu.window, CONTROL, GUEST_RAM]);
    let mut parts = Vec::new();
    let mut base = 0;
    for region in left_out {
        parts.push(Part {
            seen: Region::new(base, region.base - base),
            place: base,
        });
        base = region.end();
    }
    parts
}

/// What is the same on all CPUs.
struct Common {
    /// Where they are, and they themselves: never dropped.
    tables_at: u64,
    tables: Mutex<Mapping<IdTranslation<Stage2Attributes>, Stage2>>,
    coherent: bool,
}

static COMMON: Once<Common> = Once::new();

/// Makes the image's view of the machine, for all CPUs, and sets this one up.
/// Where memory is not `coherent` what the image does to the memory that it shares with the GPU comes to EL2 too, and so do its
/// cache instructions.
pub(crate) fn show_machine(coherent: bool) {
    let mut tables = Mapping::new(IdTranslation::default(), ROOT_LEVEL, Stage2);
    let devices = devices().into_iter().map(|part| (part, DEVICE));
    let ram = memory(coherent).into_iter().map(|part| (part, MEMORY));
    let mut parts = devices.chain(ram).filter(|(part, _)| part.seen.bytes != 0);
    let mapped = parts.try_for_each(|(part, attributes)| {
        let range = MemoryRegion::new(part.seen.base, part.seen.end());
        let place = PhysicalAddress(part.place);
        tables.map_range(&range, place, attributes, Constraints::empty())
    });
    if let Err(error) = mapped {
        panic!("stage 2 tables: {error}");
    }
    // SAFETY: stage 2 concerns EL1 only, which does not run yet. The tables are never dropped.
    unsafe { tables.activate() };
    let tables_at = VTTBR_EL2.get();
    COMMON.call_once(|| Common {
        tables_at,
        tables: Mutex::new(tables),
        coherent,
    });
    set_up_cpu();
}

/// Shows the image a page that was left out: at this address of its own, from this place in memory.
pub(crate) fn show_page(seen: usize, place: usize) {
    let Some(common) = COMMON.get() else {
        return;
    };
    let range = MemoryRegion::new(seen, seen + PAGE);
    let place = PhysicalAddress(place);
    // Nothing was mapped there, so that no CPU can have it in its TLB.
    let mapped = common
        .tables
        .lock()
        .map_range(&range, place, MEMORY, Constraints::empty());
    if let Err(error) = mapped {
        panic!("stage 2 tables: {error}");
    }
}

/// Sets EL1 of this CPU up: translation by stage 2, interrupts to EL2, WFI to EL2, calls of the firmware to EL2, everything else as on
/// the machine itself.
pub(crate) fn set_up_cpu() {
    let Some(common) = COMMON.get() else {
        return;
    };
    VTCR_EL2.write(
        VTCR_EL2::RES1::SET
            + VTCR_EL2::PS::PA_40B_1TB
            + VTCR_EL2::TG0::Granule4KB
            + VTCR_EL2::SH0::Inner
            + VTCR_EL2::ORGN0::NormalWBRAWA
            + VTCR_EL2::IRGN0::NormalWBRAWA
            + VTCR_EL2::SL0::Granule4KBLevel1
            + VTCR_EL2::T0SZ.val(T0SZ),
    );
    VTTBR_EL2.set(common.tables_at);
    // SAFETY: EL1 of this CPU does not run yet.
    unsafe {
        core::arch::asm!("isb", "tlbi alle1", "dsb nsh", "isb", options(nostack));
    }
    let trapped = match common.coherent {
        true => HCR_EL2::TPCP::CLEAR,
        false => HCR_EL2::TPCP::SET,
    };
    HCR_EL2.write(
        HCR_EL2::RW::EL1IsAarch64
            + HCR_EL2::VM::Enable
            + HCR_EL2::IMO::SET
            + HCR_EL2::FMO::SET
            + HCR_EL2::AMO::SET
            + HCR_EL2::TWI::SET
            + HCR_EL2::TSC::SET
            + trapped,
    );
    CNTHCTL_EL2.write(CNTHCTL_EL2::EL1PCEN::SET + CNTHCTL_EL2::EL1PCTEN::SET);
    CNTVOFF_EL2.set(0);
    VMPIDR_EL2.set(MPIDR_EL1.get());
    // SAFETY: it is what EL1 reads as its own identity.
    unsafe {
        core::arch::asm!("msr vpidr_el2, {}", in(reg) MIDR_EL1.get(), options(nostack, nomem));
    }
    SCTLR_EL1.set(entry_state::SCTLR_EL1);
}
