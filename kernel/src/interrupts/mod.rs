//! Interrupts: the GIC, and who is told about which interrupt.
//!
//! Needs: a GIC of version 2 or 3 whose registers are mapped.  Guarantees: a handler runs with interrupts masked; an
//! interrupt that nobody registered for is disabled and reported once, so that it can't starve the image.
//! Facts: hardware/boards.md sections 4 and 5 (steps 6 and 7).

#[cfg(feature = "gic-v2")]
mod v2;
mod v3;

use crate::irq_mutex::IrqMutex;
use crate::println;
use alloc::vec::Vec;
use arm_gic::IntId;
use core::fmt;
use cortex_a::registers::{DAIF, MPIDR_EL1, Readable, Writeable};
use eitri_boards::{Gic, Spi};

/// Between the highest and the lowest that a CPU in the non-secure state can set.
const PRIORITY: u8 = 0xA0;
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

static GIC: IrqMutex<Option<Controller>> = IrqMutex::new(None);
static HANDLED: IrqMutex<[Option<Handler>; HANDLERS]> = IrqMutex::new([None; HANDLERS]);

/// A GIC of some version.
enum Controller {
    V3(v3::Controller),
    #[cfg(feature = "gic-v2")]
    V2(v2::Controller),
}

#[cfg(feature = "gic-v2")]
impl Controller {
    fn v2(&mut self) -> Option<&mut v2::Controller> {
        match self {
            Controller::V2(gic) => Some(gic),
            Controller::V3(_) => None,
        }
    }
}

/// Does the same with either.
macro_rules! either {
    ($controller:expr, $gic:ident => $does:expr) => {
        match $controller {
            Controller::V3($gic) => $does,
            #[cfg(feature = "gic-v2")]
            Controller::V2($gic) => $does,
        }
    };
}

/// Sets the GIC up, with every interrupt disabled.
///
/// # Safety
/// The registers are there, mapped as device memory, and driven by nobody else.
pub(crate) unsafe fn open(gic: &Gic) {
    // SAFETY: the caller's promise.
    let controller = unsafe {
        match *gic {
            Gic::V3 {
                distributor,
                redistributors,
                cpus,
            } => Controller::V3(v3::open(distributor, redistributors, cpus)),
            #[cfg(feature = "gic-v2")]
            Gic::V2 {
                distributor,
                cpu_interface,
            } => Controller::V2(v2::open(distributor, cpu_interface)),
            #[cfg(not(feature = "gic-v2"))]
            Gic::V2 { .. } => panic!("a GIC of version 2: eitri-kernel's feature `gic-v2`"),
        }
    };
    GIC.with(|place| *place = Some(controller));
}

/// Which CPU this is: the four affinities of MPIDR_EL1, where they stand there.
pub(crate) fn affinity() -> u64 {
    MPIDR_EL1.get() & 0xFF_00FF_FFFF
}

/// Every CPU that the GIC serves, as [`affinity`] counts.
pub(crate) fn affinities() -> Vec<u64> {
    with_gic(|gic| either!(gic, gic => gic.affinities())).unwrap_or_default()
}

fn with_gic<T>(f: impl FnOnce(&mut Controller) -> T) -> Option<T> {
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
    match with_gic(|gic| either!(gic, gic => gic.set_up(interrupt))) {
        Some(true) => Ok(()),
        Some(false) | None => Err(RegisterError::NoSuchInterrupt(interrupt)),
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
    with_gic(|gic| either!(gic, gic => gic.set_enabled(id, enabled)));
}

/// Takes the interrupt that is pending.
fn acknowledge() -> Option<IntId> {
    #[cfg(feature = "gic-v2")]
    if let Some(found) = with_gic(|gic| gic.v2().map(v2::Controller::acknowledge)).flatten() {
        return found;
    }
    v3::acknowledge()
}

fn end(id: IntId) {
    #[cfg(feature = "gic-v2")]
    if with_gic(|gic| gic.v2().map(|gic| gic.end(id)))
        .flatten()
        .is_some()
    {
        return;
    }
    v3::end(id);
}

/// Takes every interrupt that is pending. Called by the exception vector.
pub(crate) fn dispatch() {
    while let Some(id) = acknowledge() {
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
        end(id);
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
