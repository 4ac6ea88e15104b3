//! Stage 2: what the image sees of the machine: everything but the GPU's window and the monitor.
//!
//! One page of the interrupt controller is left out too and passed on by hand; see [`crate::redistributor`].

use crate::physical_memory;
use crate::redistributor;
use aarch64_paging::MapError;
use aarch64_paging::descriptor::Stage2Attributes;
use aarch64_paging::idmap::IdMap;
use aarch64_paging::paging::{MemoryRegion, Stage2};
use cortex_a::registers::{
    CNTHCTL_EL2, CNTVOFF_EL2, HCR_EL2, MIDR_EL1, MPIDR_EL1, Readable, SCTLR_EL1, VMPIDR_EL2,
    VTCR_EL2, Writeable,
};
use eitri_aarch64::entry_state;
use eitri_boards::Region;
use eitri_boards::qemu_virt::{BOARD, ENDING, GUEST_RAM};

// The page beside the window is left out with it.
const _: () = assert!(ENDING.base == BOARD.description().gpu.window.end());

/// 39 bits of addresses, as VTCR_EL2 is set below.
const ROOT_LEVEL: usize = 1;
const T0SZ: u64 = 64 - 39;

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
fn memory(coherent: bool) -> [Region; 3] {
    let shared = BOARD.memory.shared;
    let (below, above) = match coherent {
        true => (GUEST_RAM.end(), GUEST_RAM.end()),
        false => (shared.base, shared.end()),
    };
    [
        Region::new(GUEST_RAM.base, below - GUEST_RAM.base),
        Region::new(above, GUEST_RAM.end() - above),
        physical_memory::above(),
    ]
}

/// Everything below RAM, around what is left out.
fn devices() -> [Region; 3] {
    let (page, window) = (redistributor::PAGE, BOARD.gpu.window);
    [
        Region::new(0, page.base),
        Region::new(page.end(), window.base - page.end()),
        Region::new(ENDING.end(), GUEST_RAM.base - ENDING.end()),
    ]
}

/// Sets EL1 up: translation by stage 2, interrupts to EL2, WFI to EL2, everything else as on the machine itself.
/// Where memory is not `coherent` what the image does to the memory that it shares with the GPU comes to EL2 too, and so do its
/// cache instructions.
pub(crate) fn show_machine(coherent: bool) {
    let mut tables = IdMap::new(ROOT_LEVEL, Stage2);
    let mapped = devices()
        .into_iter()
        .try_for_each(|region| add(&mut tables, region, DEVICE))
        .and_then(|()| {
            let ram = memory(coherent).into_iter();
            let mut ram = ram.filter(|region| region.bytes != 0);
            ram.try_for_each(|region| add(&mut tables, region, MEMORY))
        });
    if let Err(error) = mapped {
        panic!("stage 2 tables: {error}");
    }
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
    // SAFETY: stage 2 concerns EL1 only, which does not run yet. The tables are never dropped.
    unsafe {
        tables.activate();
        core::arch::asm!("tlbi alle1", "dsb nsh", "isb", options(nostack));
    }
    core::mem::forget(tables);

    let trapped = match coherent {
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

fn add(
    tables: &mut IdMap<Stage2>,
    region: Region,
    attributes: Stage2Attributes,
) -> Result<(), MapError> {
    tables.map_range(&MemoryRegion::new(region.base, region.end()), attributes)
}
