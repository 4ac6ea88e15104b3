//! Interrupts: the physical GIC from EL2, and the virtual one that the image has in its place.
//!
//! All of this is a CPU's own. The image programs the redistributor itself; its distributor is [`crate::distributor`], and its CPU interface is virtual.
//! Physical interrupts come to EL2. Those of the monitor are its timer tick and the virtual GIC's maintenance interrupt; every other one is
//! the image's, and goes into a list register that is tied to the physical interrupt. The GPU's lines have no
//! physical interrupt: their list registers are free, and follow line and distributor at every entry.
//!
//! Facts: hardware/boards.md section 4 (INTIDs); the GIC's registers are the architecture's (GICv3, section 11 and 12).

use crate::distributor::Distributor;
use crate::machine;
use alloc::vec::Vec;
use arm_gic::gicv3::registers::{Gicd, GicrSgi};
use arm_gic::gicv3::{GicCpuInterface, GicV3};
use arm_gic::{IntId, InterruptGroup, UniqueMmioPointer};
use core::time::Duration;
use cortex_a::registers::{
    CNTFRQ_EL0, CNTHP_CTL_EL2, CNTPCT_EL0, ICC_SRE_EL2, ICH_HCR_EL2, ICH_LR0_EL2, ICH_LR1_EL2,
    ICH_LR2_EL2, ICH_LR3_EL2, ICH_VMCR_EL2, Readable, Writeable,
};
use eitri_aarch64::ListRegister;
use eitri_boards::Gic;
use eitri_boards::qemu_virt::BOARD;
use eitri_model::Lines;

/// The hypervisor's physical timer.
const TICK: IntId = IntId::ppi(10);
/// The virtual GIC's maintenance interrupt.
const MAINTENANCE: IntId = IntId::ppi(9);
/// What the image may not disable.
pub(crate) const OWN: [IntId; 2] = [TICK, MAINTENANCE];
const ALL_PRIORITIES: u8 = 0xFF;
/// How many redistributors QEMU's has at most.
const CPUS: usize = match BOARD.description().gic {
    Gic::V3 { cpus, .. } => cpus,
    Gic::V2 { .. } => panic!("the monitor needs a GIC of version 3"),
};
/// What the kernel's interrupts have; a virtual one of any other would do.
const PRIORITY: u8 = 0xA0;
/// How long the image runs at most before the monitor does.
const TICK_PERIOD: Duration = Duration::from_millis(1);

/// What the virtual GIC has yet to present.
pub(crate) struct Interrupts {
    /// Physical interrupts that no list register was free for.
    waiting: Vec<IntId>,
    /// Interrupts that the image sent to this CPU, a bit each.
    sent: u16,
}

/// Sets both sides up, on the machine's first CPU.
pub(crate) fn open() -> Interrupts {
    open_for(0, true)
}

/// Sets a further CPU's up.
pub(crate) fn open_cpu(cpu: usize) -> Interrupts {
    open_for(cpu, false)
}

fn open_for(cpu: usize, distributor_too: bool) -> Interrupts {
    ICC_SRE_EL2.write(ICC_SRE_EL2::SRE::SET + ICC_SRE_EL2::ENABLE::SET);
    // SAFETY: the registers are there and mapped. The image drives them too, which it does with the same word accesses
    // and never while the monitor runs.
    let gic = unsafe {
        let distributor = UniqueMmioPointer::new(BOARD.gic.distributor().pointer::<Gicd>());
        let redistributors = BOARD.gic.of_cpus().pointer::<GicrSgi>();
        GicV3::new(distributor, redistributors, CPUS)
    };
    let mut gic = match gic {
        Ok(gic) => gic,
        Err(error) => panic!("GIC: {error}"),
    };
    gic.init_cpu(cpu);
    if let Ok(mut redistributor) = gic.redistributor(cpu) {
        redistributor.configure_default_settings();
    }
    if distributor_too {
        gic.distributor().configure_default_settings();
    }
    GicCpuInterface::enable_group1(true);
    GicCpuInterface::set_priority_mask(ALL_PRIORITIES);
    // The end of a physical interrupt that the image handles is the image's: we only drop its priority.
    drop_priority_only();
    ICH_VMCR_EL2.set(0);
    ICH_HCR_EL2.write(ICH_HCR_EL2::En::SET);
    for id in OWN {
        // Private interrupts that every GIC has: no error is possible.
        let _ = gic.enable_interrupt(id, Some(cpu), true);
    }
    rearm_tick();
    Interrupts {
        waiting: Vec::new(),
        sent: 0,
    }
}

/// Lets the tick come, a period from now: so the image has that much time however long the model's share took.
pub(crate) fn rearm_tick() {
    tick_within(TICK_PERIOD);
}

/// Lets the next tick come so soon.
pub(crate) fn tick_within(period: Duration) {
    let ticks = CNTFRQ_EL0.get() * period.as_micros() as u64 / 1_000_000;
    let moment = CNTPCT_EL0.get() + ticks;
    // SAFETY: sets when the timer of EL2 fires.
    unsafe {
        core::arch::asm!("msr cnthp_cval_el2, {}", in(reg) moment, options(nostack, nomem));
    }
    CNTHP_CTL_EL2.write(CNTHP_CTL_EL2::ENABLE::SET);
}

impl Interrupts {
    /// Takes every physical interrupt that is pending: one of ours must not keep those of the image waiting.
    ///
    /// Tells whether the tick was among them; the next one comes after [`rearm_tick`].
    pub(crate) fn take(&mut self) -> bool {
        let group = InterruptGroup::Group1;
        let mut ticked = false;
        while let Some(id) = GicCpuInterface::get_and_acknowledge_interrupt(group) {
            GicCpuInterface::end_interrupt(id, group);
            match id {
                TICK => {
                    ticked = true;
                    // The level has to go before it is deactivated.
                    CNTHP_CTL_EL2.write(CNTHP_CTL_EL2::ENABLE::CLEAR);
                    deactivate(id.raw_value());
                }
                MAINTENANCE => {
                    // Its cause goes with the list registers that are done, at the next entry.
                    deactivate(id.raw_value());
                    break;
                }
                _ if id.raw_value() < IntId::SGI_COUNT => {
                    // A list register can't be tied to one that software sends.
                    deactivate(id.raw_value());
                    self.sent |= 1 << id.raw_value();
                }
                _ => self.waiting.push(id),
            }
        }
        ticked
    }

    /// Brings the list registers up to date. Tells whether one has something for the image.
    pub(crate) fn present(&mut self, lines: Lines, distributor: &Distributor) -> bool {
        let mut lists = ListRegisters::load();
        let gpu = machine::board().gpu;
        for (spi, level) in [
            (gpu.job, lines.job),
            (gpu.mmu, lines.mmu),
            (gpu.gpu, lines.gpu),
        ] {
            lists.follow(
                IntId::spi(spi.0),
                level && distributor.gives_to_this_cpu(spi),
            );
        }
        self.waiting.retain(|id| !lists.add_physical(*id));
        for id in 0..u16::BITS {
            // One that is pending is so once.
            if self.sent >> id & 1 == 1 && lists.pend(id) {
                self.sent &= !(1 << id);
            }
        }
        lists.store();
        lists.has_pending()
    }
}

/// What the image does with a CPU interface of version 2.
impl Interrupts {
    /// Takes the interrupt that is pending.
    pub(crate) fn acknowledge(&mut self) -> Option<u32> {
        let mut lists = ListRegisters::load();
        let list = lists.0.iter_mut().find(|list| list.pending())?;
        list.set_pending(false);
        list.set_active(true);
        let id = list.virtual_id();
        lists.store();
        Some(id)
    }

    /// Ends an interrupt that was taken.
    pub(crate) fn end(&mut self, id: u32) {
        let mut lists = ListRegisters::load();
        let active = lists.0.iter_mut();
        let Some(list) = active
            .into_iter()
            .find(|list| list.active() && list.is_for(id))
        else {
            return;
        };
        if list.hardware() {
            deactivate(list.physical_id());
        }
        *list = ListRegister::EMPTY;
        lists.store();
    }
}

/// Lets interrupts of these priorities come to the image, or none.
pub(crate) fn let_through(enabled: bool, priorities: u8) {
    /// ICH_VMCR_EL2: virtual interrupts of group 1; which priorities are too low.
    const GROUP_1: u64 = 1 << 1;
    const PRIORITIES: u32 = 24;
    let group = if enabled { GROUP_1 } else { 0 };
    ICH_VMCR_EL2.set(group | u64::from(priorities) << PRIORITIES);
}

/// Sends interrupts as the image wants to: they come to the monitor of each CPU that gets one.
pub(crate) fn send(request: u64) {
    // SAFETY: interrupts that only software sends; the monitor has none of its own among them.
    unsafe {
        core::arch::asm!("dsb ish", "msr S3_0_C12_C11_5, {}", "isb", in(reg) request, options(nostack));
    }
}

/// Whether a physical interrupt is pending, for us or for the image.
pub(crate) fn is_physical_pending() -> bool {
    let pending: u64;
    // SAFETY: reads a status.
    unsafe { core::arch::asm!("mrs {}, isr_el1", out(reg) pending, options(nostack, nomem)) };
    pending != 0
}

/// Lets a write to ICC_EOIR1_EL1 drop the priority and not deactivate.
fn drop_priority_only() {
    /// ICC_CTLR_EL1.EOImode.
    const EOI_MODE: u64 = 1 << 1;
    // SAFETY: changes what the end of an interrupt means to this module, which knows.
    unsafe {
        core::arch::asm!("msr S3_0_C12_C12_4, {}", "isb", in(reg) EOI_MODE, options(nostack));
    }
}

fn deactivate(id: u32) {
    // SAFETY: an interrupt of our own, which was acknowledged and whose priority was dropped.
    unsafe {
        core::arch::asm!("msr S3_0_C12_C11_1, {}", in(reg) u64::from(id), options(nostack));
    }
}

/// The four that QEMU's GIC has.
struct ListRegisters([ListRegister; 4]);

impl ListRegisters {
    fn load() -> ListRegisters {
        let values = [
            ICH_LR0_EL2.get(),
            ICH_LR1_EL2.get(),
            ICH_LR2_EL2.get(),
            ICH_LR3_EL2.get(),
        ];
        // One that is done still asks for the maintenance interrupt, until it is empty.
        let lists = values.map(ListRegister::new);
        ListRegisters(lists.map(|list| match list.is_free() {
            true => ListRegister::EMPTY,
            false => list,
        }))
    }

    fn store(&self) {
        let [a, b, c, d] = self.0;
        ICH_LR0_EL2.set(a.value());
        ICH_LR1_EL2.set(b.value());
        ICH_LR2_EL2.set(c.value());
        ICH_LR3_EL2.set(d.value());
    }

    fn has_pending(&self) -> bool {
        self.0.iter().any(|list| list.pending())
    }

    /// Makes a level-triggered virtual interrupt what its level is. One that is active stays so: the image's end of it
    /// brings us back, by the maintenance interrupt.
    fn follow(&mut self, id: IntId, level: bool) {
        let present = self.0.iter_mut().find(|list| list.is_for(id.raw_value()));
        match (present, level) {
            (Some(list), false) if !list.active() => *list = ListRegister::EMPTY,
            (None, true) => {
                self.add(ListRegister::without_physical(id.raw_value(), PRIORITY));
            }
            _ => {}
        }
    }

    /// Adds an interrupt that is tied to the physical one. `false` if there is no room.
    fn add_physical(&mut self, id: IntId) -> bool {
        self.add(ListRegister::with_physical(id.raw_value(), PRIORITY))
    }

    /// Makes an interrupt that only software raises pending. `false` if there is no room, or it is being handled.
    fn pend(&mut self, id: u32) -> bool {
        match self.0.iter().find(|list| list.is_for(id)) {
            Some(list) => list.pending(),
            None => self.add(ListRegister::without_physical(id, PRIORITY)),
        }
    }

    fn add(&mut self, list: ListRegister) -> bool {
        let Some(free) = self.0.iter_mut().find(|list| list.is_free()) else {
            return false;
        };
        *free = list;
        true
    }
}
