//! Platform: the board's GPU, with the GIC and the generic timer of this kernel.
//!
//! Needs: the kernel has mapped the board's window and shared memory.  Guarantees: a GPU has one owner at most; the rest is
//! [`Mmio`]'s.  Facts: hardware/boards.md 3.1 (barriers, attributes), csf-mmio.md section 1.

use alloc::boxed::Box;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use eitri_boards::{Board, Coherency, Gpu};
use eitri_kernel::interrupts::{self, Interrupt, RegisterError};
use eitri_kernel::{power, time};
use eitri_mmio::{Clock, Interrupts, Misplaced, Mmio, Raised, Soc};
use eitri_runtime::{Instant, Lines, PageAllocator, SystemCoherency};

pub use eitri_mmio::Caching;

/// The GPU of a board, as the runtime wants it.
pub type MmioPlatform = Mmio<Box<[u64]>, Counter, GicLines>;

/// Why there is no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// The GPU has an owner already.
    Taken,
    /// The board's addresses make no sense.
    Board(Misplaced),
    /// An interrupt can't be had.
    Interrupt(RegisterError),
}

/// Lines that came since [`GicLines::wait`] asked for them.
static RAISED: Raised = Raised::new();
static TAKEN: AtomicBool = AtomicBool::new(false);

/// In the order of [`interrupts_of`].
const LINES: [Lines; 3] = [Lines::JOB, Lines::MMU, Lines::GPU];

/// JOB, MMU, GPU.
fn interrupts_of(gpu: &Gpu) -> [Interrupt; 3] {
    [gpu.job, gpu.mmu, gpu.gpu].map(Interrupt::Shared)
}

/// A line is a level: until the runtime has cleared the cause, the interrupt would come for ever.
fn raised<const LINE: usize>(interrupt: Interrupt) {
    interrupts::disable(interrupt);
    RAISED.raise(LINES[LINE]);
}

fn alarm(_: Interrupt) {
    time::alarm_off();
}

/// Takes the board's GPU. `caching` says how its memory is mapped.
///
/// # Errors
/// When it is taken already, the board's addresses make no sense, or an interrupt can't be registered.
pub fn take_gpu(board: &'static Board, caching: Caching) -> Result<MmioPlatform, PlatformError> {
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(PlatformError::Taken);
    }
    let handlers = [raised::<0>, raised::<1>, raised::<2>];
    for (interrupt, handler) in interrupts_of(&board.gpu).into_iter().zip(handlers) {
        interrupts::register(interrupt, handler).map_err(PlatformError::Interrupt)?;
    }
    let timer = Interrupt::Private(board.virtual_timer_ppi);
    interrupts::register(timer, alarm).map_err(PlatformError::Interrupt)?;
    interrupts::enable(timer);

    let (window, memory) = (board.gpu.window, board.memory.shared);
    let map = alloc::vec![0; PageAllocator::words(memory.bytes as u64)].into_boxed_slice();
    let lines = GicLines {
        interrupts: interrupts_of(&board.gpu),
    };
    let (window, memory) = (window.base..window.end(), memory.base..memory.end());
    // SAFETY: whoever made the board (`Board::new`) says that its window is the GPU's and its shared region memory for
    // nobody else; the kernel mapped both, and `TAKEN` makes this the only owner.
    let platform = unsafe { Mmio::new(window, memory, map, Counter, lines) };
    let soc = Soc {
        coherency: match board.gpu.coherency {
            Coherency::None => SystemCoherency::None,
            Coherency::AceLite => SystemCoherency::AceLite,
        },
        caching,
        slowdown: board.gpu.slowdown,
        slice_hash: board.gpu.slice_hash,
        fused_cores: power::usable_cores(board),
    };
    Ok(platform.map_err(PlatformError::Board)?.with_soc(soc))
}

/// The generic timer.
#[derive(Clone, Copy, Debug)]
pub struct Counter;

impl Clock for Counter {
    fn now(&mut self) -> Instant {
        Instant(time::now())
    }

    fn hertz(&self) -> u64 {
        time::counter_hertz()
    }
}

/// The GPU's lines at the GIC.
#[derive(Clone, Copy, Debug)]
pub struct GicLines {
    interrupts: [Interrupt; 3],
}

impl Interrupts for GicLines {
    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        RAISED.forget(wanted);
        let each = [wanted.job, wanted.mmu, wanted.gpu];
        for (interrupt, _) in self.interrupts.into_iter().zip(each).filter(|(_, on)| *on) {
            interrupts::enable(interrupt);
        }
        let raised = || {
            let lines = RAISED.of(wanted);
            lines.any().then_some(lines)
        };
        sleep_until(until.0, raised).unwrap_or_else(|| RAISED.of(wanted))
    }
}

/// Sleeps until something is found, or the moment has come. Needs the timer's interrupt, which [`take_gpu`] enables.
pub(crate) fn sleep_until<T>(until: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    time::alarm_at(until);
    loop {
        // Masked, so that an interrupt between the look and the sleep still ends the sleep.
        let ended = interrupts::masked(|| {
            let found = found();
            if found.is_some() || time::now() >= until {
                return Some(found);
            }
            interrupts::sleep();
            None
        });
        if let Some(found) = ended {
            time::alarm_off();
            return found;
        }
    }
}
