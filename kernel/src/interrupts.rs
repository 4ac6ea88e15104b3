//! Interrupts: the GIC, and who is told about which interrupt.
//!
//! Needs: a GIC of version 3 whose registers are mapped.  Guarantees: a handler runs with interrupts masked; an
//! interrupt that nobody registered for is disabled and reported once, so that it can't starve the image.
//! Facts: hardware/boards.md sections 4 and 5 (steps 6 and 7).

use crate::irq_mutex::IrqMutex;
use crate::println;
use alloc::vec::Vec;
use arm_gic::gicv3::registers::{Gicd, GicrSgi};
use arm_gic::gicv3::{GicCpuInterface, GicV3};
use arm_gic::{IntId, InterruptGroup, Trigger, UniqueMmioPointer};
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use cortex_a::registers::{DAIF, MPIDR_EL1, Readable, Writeable};
use eitri_boards::{Gic, Spi};

/// The CPU that the image was started on, and that interrupts come to, as the GIC counts.
static CPU: AtomicUsize = AtomicUsize::new(0);
/// Between the highest and the lowest that a CPU in the non-secure state can set.
const PRIORITY: u8 = 0xA0;
/// Lets every priority through.
const ALL_PRIORITIES: u8 = 0xFF;
/// The architecture revisions that [`open`] drives, in GICD_PIDR2: version 4 has all of version 3.
const REVISIONS: [u8; 2] = [3, 4];
/// Handlers that may be registered at most.
const HANDLERS: usize = 8;

/// Which interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// A private one, by its PPI number.
    Private(u32),
    /// A shared one.
    Shared(Spi),
}

impl Interrupt {
    fn id(self) -> IntId {
        match self {
            Interrupt::Private(number) => IntId::ppi(number),
            Interrupt::Shared(Spi(number)) => IntId::spi(number),
        }
    }
}

type Handler = (Interrupt, fn(Interrupt));

static GIC: IrqMutex<Option<GicV3<'static>>> = IrqMutex::new(None);
static HANDLED: IrqMutex<[Option<Handler>; HANDLERS]> = IrqMutex::new([None; HANDLERS]);

/// Sets the GIC up, with every interrupt disabled.
///
/// # Safety
/// The registers are there, mapped as device memory, and driven by nobody else.
pub(crate) unsafe fn open(board: &Gic) {
    // SAFETY: the caller's promise.
    let gic = unsafe {
        let distributor = UniqueMmioPointer::new(board.distributor.pointer::<Gicd>());
        let redistributors = board.redistributors.pointer::<GicrSgi>();
        GicV3::new(distributor, redistributors, board.cpus)
    };
    let mut gic = match gic {
        Ok(gic) => gic,
        // The only error there is; its own text would bring those of all others along.
        Err(_) => panic!(
            "GIC redistributors at {:#x}: frames of an unknown layout",
            board.redistributors.address()
        ),
    };
    let version = gic.distributor().pidr2().arch_rev();
    assert!(
        REVISIONS.contains(&version),
        "GIC at {:#x} is of version {version}",
        board.distributor.address()
    );
    let own = affinity();
    let found = (0..board.cpus).find(|cpu| {
        let typer = gic.gicr_typer(*cpu);
        typer.is_ok_and(|typer| typer.core_mpidr() == own)
    });
    let Some(cpu) = found else {
        panic!(
            "no GIC redistributor at {:#x} is of the CPU with affinity {own:#x}",
            board.redistributors.address()
        );
    };
    CPU.store(cpu, Ordering::Relaxed);
    gic.init_cpu(cpu);
    // Those of the other CPUs, which may have no power, are left alone.
    if let Ok(mut redistributor) = gic.redistributor(cpu) {
        redistributor.configure_default_settings();
    }
    gic.distributor().configure_default_settings();
    GicCpuInterface::enable_group1(true);
    GicCpuInterface::set_priority_mask(ALL_PRIORITIES);
    GIC.with(|place| *place = Some(gic));
}

/// Which CPU this is: the four affinities of MPIDR_EL1, where they stand there.
pub(crate) fn affinity() -> u64 {
    MPIDR_EL1.get() & 0xFF_00FF_FFFF
}

/// Every CPU that has a redistributor, as [`affinity`] counts.
pub(crate) fn affinities() -> Vec<u64> {
    let mut all = Vec::new();
    with_gic(|gic| {
        while let Ok(typer) = gic.gicr_typer(all.len()) {
            all.push(typer.core_mpidr());
            if typer.last_redistributor() {
                break;
            }
        }
    });
    all
}

/// The CPU that interrupts come to.
fn cpu() -> Option<usize> {
    Some(CPU.load(Ordering::Relaxed))
}

fn with_gic<T>(f: impl FnOnce(&mut GicV3<'static>) -> T) -> Option<T> {
    GIC.with(|gic| gic.as_mut().map(f))
}

/// Why an interrupt can't be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterError {
    /// As many handlers as there can be are registered.
    Full,
    /// The GIC does not have it.
    NoSuchInterrupt(Interrupt),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Full => f.write_str("too many handlers"),
            RegisterError::NoSuchInterrupt(interrupt) => {
                let id = u32::from(interrupt.id());
                write!(f, "there is no interrupt {id}")
            }
        }
    }
}

/// Calls `handler` when `interrupt` (level-triggered) comes. It stays disabled until [`enable`].
///
/// # Errors
/// When there are too many handlers, or no such interrupt.
pub fn register(interrupt: Interrupt, handler: fn(Interrupt)) -> Result<(), RegisterError> {
    HANDLED.with(|handled| {
        let place = handled.iter_mut().find(|place| match place {
            Some((taken, _)) => *taken == interrupt,
            None => true,
        });
        *place.ok_or(RegisterError::Full)? = Some((interrupt, handler));
        Ok(())
    })?;
    let id = interrupt.id();
    let set = with_gic(|gic| {
        gic.set_interrupt_priority(id, cpu(), PRIORITY)?;
        if let Interrupt::Shared(_) = interrupt {
            gic.distributor().set_routing(id, Some(affinity()))?;
        }
        gic.set_trigger(id, cpu(), Trigger::Level)
    });
    match set {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) | None => Err(RegisterError::NoSuchInterrupt(interrupt)),
    }
}

/// Lets a registered interrupt come.
pub fn enable(interrupt: Interrupt) {
    set_enabled(interrupt.id(), true);
}

/// Keeps an interrupt from coming.
pub fn disable(interrupt: Interrupt) {
    set_enabled(interrupt.id(), false);
}

fn set_enabled(id: IntId, enabled: bool) {
    // The only error is that there is no such interrupt: it was registered, so there is.
    let _ = with_gic(|gic| gic.enable_interrupt(id, cpu(), enabled));
}

/// Takes every interrupt that is pending. Called by the exception vector.
pub(crate) fn dispatch() {
    while let Some(id) = GicCpuInterface::get_and_acknowledge_interrupt(InterruptGroup::Group1) {
        let handler = HANDLED.with(|handled| {
            let mut handlers = handled.iter().flatten();
            handlers
                .find(|(interrupt, _)| interrupt.id() == id)
                .copied()
        });
        match handler {
            Some((interrupt, handler)) => handler(interrupt),
            None => {
                set_enabled(id, false);
                let id = u32::from(id);
                println!("interrupt {id}, which nobody registered for: disabled");
            }
        }
        GicCpuInterface::end_interrupt(id, InterruptGroup::Group1);
    }
}

/// Runs `f` with interrupts masked.
pub fn masked<T>(f: impl FnOnce() -> T) -> T {
    let before = DAIF.get();
    // SError stays as it is: a bus error should name itself at once.
    DAIF.set(before | DAIF::I::Masked.value | DAIF::F::Masked.value);
    let result = f();
    DAIF.set(before);
    result
}

/// Lets SErrors come.
pub(crate) fn unmask_errors() {
    DAIF.write(DAIF::D::Masked + DAIF::A::Unmasked + DAIF::I::Masked + DAIF::F::Masked);
}

/// Lets interrupts and SErrors come.
pub(crate) fn unmask() {
    DAIF.write(DAIF::D::Masked + DAIF::A::Unmasked + DAIF::I::Unmasked + DAIF::F::Unmasked);
}

/// Sleeps until an interrupt is pending, even one that is masked by [`masked`].
pub fn sleep() {
    arm_gic::wfi();
}
