//! A GIC of version 3 or 4: a redistributor for each CPU, and system registers.

use super::{Interrupt, PRIORITY, affinity};
use alloc::vec::Vec;
use arm_gic::gicv3::registers::{Gicd, GicrSgi};
use arm_gic::gicv3::{GicCpuInterface, GicV3};
use arm_gic::{IntId, InterruptGroup, Trigger, UniqueMmioPointer};
use eitri_boards::RegisterBase;

/// Lets every priority through.
const ALL_PRIORITIES: u8 = 0xFF;
/// The architecture revisions that [`open`] drives, in GICD_PIDR2: version 4 has all of version 3.
const REVISIONS: [u8; 2] = [3, 4];
const GROUP: InterruptGroup = InterruptGroup::Group1;

/// The controller, and the CPU that interrupts come to, as its redistributors are counted.
pub(super) struct Controller {
    gic: GicV3<'static>,
    cpu: usize,
}

/// Sets it up, with every interrupt disabled.
///
/// # Safety
/// As for [`super::open`].
pub(super) unsafe fn open(
    distributor: RegisterBase,
    redistributors: RegisterBase,
    cpus: usize,
) -> Controller {
    // SAFETY: the caller's promise.
    let gic = unsafe {
        let registers = UniqueMmioPointer::new(distributor.pointer::<Gicd>());
        GicV3::new(registers, redistributors.pointer::<GicrSgi>(), cpus)
    };
    let mut gic = match gic {
        Ok(gic) => gic,
        // The only error there is; its own text would bring those of all others along.
        Err(_) => panic!(
            "GIC redistributors at {:#x}: frames of an unknown layout",
            redistributors.address()
        ),
    };
    let version = gic.distributor().pidr2().arch_rev();
    assert!(
        REVISIONS.contains(&version),
        "GIC at {:#x} is of version {version}",
        distributor.address()
    );
    let own = affinity();
    let found = (0..cpus).find(|cpu| {
        let typer = gic.gicr_typer(*cpu);
        typer.is_ok_and(|typer| typer.core_mpidr() == own)
    });
    let Some(cpu) = found else {
        panic!(
            "no GIC redistributor at {:#x} is of the CPU with affinity {own:#x}",
            redistributors.address()
        );
    };
    gic.init_cpu(cpu);
    // Those of the other CPUs, which may have no power, are left alone.
    if let Ok(mut redistributor) = gic.redistributor(cpu) {
        redistributor.configure_default_settings();
    }
    gic.distributor().configure_default_settings();
    GicCpuInterface::enable_group1(true);
    GicCpuInterface::set_priority_mask(ALL_PRIORITIES);
    Controller { gic, cpu }
}

impl Controller {
    /// Makes an interrupt level-triggered, for this CPU; `false` if there is no such interrupt.
    pub(super) fn set_up(&mut self, interrupt: Interrupt) -> bool {
        let (id, cpu) = (interrupt.id(), Some(self.cpu));
        let gic = &mut self.gic;
        let routed = match interrupt {
            Interrupt::Shared(_) => gic.distributor().set_routing(id, Some(affinity())).is_ok(),
            Interrupt::Private(_) => true,
        };
        routed
            && gic.set_interrupt_priority(id, cpu, PRIORITY).is_ok()
            && gic.set_trigger(id, cpu, Trigger::Level).is_ok()
    }

    pub(super) fn set_enabled(&mut self, id: IntId, enabled: bool) {
        // The only error is that there is no such interrupt.
        let _ = self.gic.enable_interrupt(id, Some(self.cpu), enabled);
    }

    /// Every CPU that has a redistributor, as [`affinity`] counts.
    pub(super) fn affinities(&mut self) -> Vec<u64> {
        let mut all = Vec::new();
        while let Ok(typer) = self.gic.gicr_typer(all.len()) {
            all.push(typer.core_mpidr());
            if typer.last_redistributor() {
                break;
            }
        }
        all
    }
}

/// Takes the interrupt that is pending: no lock is needed for system registers.
pub(super) fn acknowledge() -> Option<IntId> {
    GicCpuInterface::get_and_acknowledge_interrupt(GROUP)
}

pub(super) fn end(id: IntId) {
    GicCpuInterface::end_interrupt(id, GROUP);
}
