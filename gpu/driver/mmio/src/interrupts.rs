//! Interrupts: how a wait sleeps, and learns of the GPU's three lines.

use core::sync::atomic::{AtomicU8, Ordering};
use eitri_runtime::{Instant, Lines};

/// The GPU's interrupt lines, as a kernel lets its driver wait for them.
pub trait Interrupts {
    /// Sleeps until one of the `wanted` lines is high or the moment `until` has come, and tells which lines are high. May
    /// return early with none.
    ///
    /// Lines are levels: the handler of an interrupt disables it at the interrupt controller, and this enables it again.
    /// [`Raised`] is what a handler tells its news to.
    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines;
}

/// No interrupts: the driver looks at the GPU again and again. Right everywhere, and burns power.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoInterrupts;

impl Interrupts for NoInterrupts {
    fn wait(&mut self, _wanted: Lines, _until: Instant) -> Lines {
        core::hint::spin_loop();
        Lines::NONE
    }
}

/// Lines that interrupt handlers have seen high: a static that they and the driver share.
///
/// ```
/// use eitri_mmio::Raised;
/// use eitri_runtime::Lines;
///
/// static RAISED: Raised = Raised::new();
/// RAISED.raise(Lines::JOB); // in the handler
/// assert_eq!(RAISED.of(Lines::ALL), Lines::JOB);
/// RAISED.forget(Lines::JOB); // before the interrupt is enabled again
/// assert!(!RAISED.of(Lines::ALL).any());
/// ```
#[derive(Debug, Default)]
pub struct Raised(AtomicU8);

impl Raised {
    /// None yet.
    pub const fn new() -> Raised {
        Raised(AtomicU8::new(0))
    }

    /// These lines are high.
    pub fn raise(&self, lines: Lines) {
        self.0.fetch_or(bits(lines), Ordering::Release);
    }

    /// Those of `wanted` that are high.
    pub fn of(&self, wanted: Lines) -> Lines {
        let raised = self.0.load(Ordering::Acquire) & bits(wanted);
        Lines {
            job: raised & JOB != 0,
            mmu: raised & MMU != 0,
            gpu: raised & GPU != 0,
        }
    }

    /// Whether these are high is to be found out anew.
    pub fn forget(&self, lines: Lines) {
        self.0.fetch_and(!bits(lines), Ordering::Relaxed);
    }
}

const JOB: u8 = 1;
const MMU: u8 = 2;
const GPU: u8 = 4;

fn bits(lines: Lines) -> u8 {
    let bit = |high: bool, bit: u8| if high { bit } else { 0 };
    bit(lines.job, JOB) | bit(lines.mmu, MMU) | bit(lines.gpu, GPU)
}
