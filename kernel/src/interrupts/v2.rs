//! A GIC of version 2: one distributor, and a CPU interface in memory.
//! Facts: hardware/ has none of this version; layout and meaning of registers are those of `arm-gic`, and what follows below.

use super::{Interrupt, PRIORITY, affinity};
use alloc::vec::Vec;
use arm_gic::gicv2::GicV2;
use arm_gic::gicv2::registers::{Gicc, Gicd};
use arm_gic::{IntId, InterruptGroup, Trigger, UniqueMmioPointer};
use eitri_boards::RegisterBase;
use safe_mmio::field;

// FACT: hardware/ has nothing of GICs of version 2. That interrupts have a byte each of targets, and that the bytes of a CPU's own name
// that CPU, is what QEMU's answers; so is that bit 0 of the distributor's control lets the interrupts come of whoever asks, secure or
// not. Settled by the suite's tests `interrupts.` on a board with a GIC-400.
/// The group of whoever asks: by its first name for those who are not secure, and for all where there is no other.
const GROUP: InterruptGroup = InterruptGroup::Group0;
/// Numbers from here on are no interrupts, but say why there is none.
const FIRST_SPECIAL: u32 = 1020;
/// Targets in a register, and registers of interrupts that are a CPU's own.
const TARGETS: usize = 4;
const OWN_TARGETS: usize = 32 / TARGETS;

/// Where its registers are. Each access makes pointers anew, so that there are never two.
pub(super) struct Controller {
    distributor: RegisterBase,
    cpu_interface: RegisterBase,
}

/// Sets it up, with every interrupt disabled.
///
/// # Safety
/// As for [`super::open`].
pub(super) unsafe fn open(distributor: RegisterBase, cpu_interface: RegisterBase) -> Controller {
    let mut controller = Controller {
        distributor,
        cpu_interface,
    };
    let mut gic = controller.gic();
    gic.enable_all_interrupts(false);
    gic.setup();
    gic.enable_group0(true);
    controller
}

impl Controller {
    fn gic(&mut self) -> GicV2<'_> {
        let distributor = self.distributor.pointer::<Gicd>().as_ptr();
        let cpu_interface = self.cpu_interface.pointer::<Gicc>().as_ptr();
        // SAFETY: the promise of who has opened it; `self` is borrowed as long as the pointers are there.
        unsafe { GicV2::new(distributor, cpu_interface) }
    }

    /// The register of the targets of four interrupts.
    fn with_targets<T>(
        &mut self,
        index: usize,
        f: impl FnOnce(UniqueMmioPointer<'_, u32>) -> T,
    ) -> Option<T> {
        // SAFETY: as above.
        let mut registers = unsafe { UniqueMmioPointer::new(self.distributor.pointer::<Gicd>()) };
        let mut targets = field!(registers, itargetsr);
        targets.get(index).map(f)
    }

    fn read_targets(&mut self, index: usize) -> u32 {
        // SAFETY: reads which CPUs get interrupts, which has no effect.
        let read = self.with_targets(index, |mut register| unsafe { register.read_unsafe() });
        read.unwrap_or(0)
    }

    /// The bit of the CPU that asks, as targets have it; none where there is but one CPU.
    fn own_target(&mut self) -> Option<u8> {
        let mut own = (0..OWN_TARGETS).flat_map(|index| self.read_targets(index).to_le_bytes());
        own.find(|target| *target != 0)
    }

    /// Lets an interrupt come to this CPU.
    fn route(&mut self, id: IntId) {
        let Some(own) = self.own_target() else {
            return;
        };
        let number = id.raw_value() as usize;
        let (index, shift) = (number / TARGETS, 8 * (number % TARGETS));
        let others = self.read_targets(index) & !(0xFF << shift);
        // SAFETY: says where an interrupt goes that is ours.
        self.with_targets(index, |mut register| unsafe {
            register.write_unsafe(others | u32::from(own) << shift);
        });
    }

    /// Makes an interrupt level-triggered, for this CPU; `false` if there is no such interrupt.
    pub(super) fn set_up(&mut self, interrupt: Interrupt) -> bool {
        let id = interrupt.id();
        let mut gic = self.gic();
        if id.raw_value() >= gic.typer().num_irqs().min(FIRST_SPECIAL) {
            return false;
        }
        gic.set_interrupt_priority(id, PRIORITY);
        gic.set_trigger(id, Trigger::Level);
        if let Interrupt::Shared(_) = interrupt {
            self.route(id);
        }
        true
    }

    pub(super) fn set_enabled(&mut self, id: IntId, enabled: bool) {
        // The only error is that there is no such interrupt.
        let _ = self.gic().enable_interrupt(id, enabled);
    }

    pub(super) fn acknowledge(&mut self) -> Option<IntId> {
        let id = self.gic().get_and_acknowledge_interrupt(GROUP);
        id.filter(|id| id.raw_value() < FIRST_SPECIAL)
    }

    pub(super) fn end(&mut self, id: IntId) {
        self.gic().end_interrupt(id, GROUP);
    }

    /// Every CPU that it serves, as [`affinity`] counts: it numbers them, so they are taken to be one cluster.
    pub(super) fn affinities(&mut self) -> Vec<u64> {
        let cluster = affinity() & !0xFF;
        let cpus = u64::from(self.gic().typer().cpu_count());
        (0..cpus).map(|cpu| cluster | cpu).collect()
    }
}
