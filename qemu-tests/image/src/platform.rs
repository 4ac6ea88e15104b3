//! Platform: the runtime's host on bare metal: registers behind pointers, the GIC, the generic timer.
//!
//! Needs: the kernel has mapped the board's window and shared memory.  Guarantees: a register access is one plain load
//! or store; memory outside of the board's shared region is never touched.
//! Facts: hardware/boards.md 3.1 (barriers, attributes), csf-mmio.md section 1.

use core::ops::Range;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicBool, Ordering};
use eitri_boards::{Board, Coherency, Gpu, Region};
use eitri_kernel::interrupts::{self, Interrupt, RegisterError};
use eitri_kernel::time;
use eitri_runtime::{Instant, Lines, PhysicalAddress, Platform, SystemCoherency};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadWrite;

/// The GPU of a board, as the runtime wants it.
pub struct MmioPlatform {
    board: &'static Board,
    window: UniqueMmioPointer<'static, [ReadWrite<u32>]>,
    /// What of the shared region is not given away yet.
    free: Region,
}

/// Why there is no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// The GPU has an owner already.
    Taken,
    /// An interrupt can't be had.
    Interrupt(RegisterError),
}

/// Lines that came since [`MmioPlatform::wait`] asked for them, in the order of [`interrupts_of`].
static RAISED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
static TAKEN: AtomicBool = AtomicBool::new(false);

/// JOB, MMU, GPU.
fn interrupts_of(gpu: &Gpu) -> [Interrupt; 3] {
    [gpu.job, gpu.mmu, gpu.gpu].map(Interrupt::Shared)
}

/// A line is a level: until the runtime has cleared the cause, the interrupt would come for ever.
fn raised<const LINE: usize>(interrupt: Interrupt) {
    interrupts::disable(interrupt);
    RAISED[LINE].store(true, Ordering::Release);
}

fn alarm(_: Interrupt) {
    time::alarm_off();
}

impl MmioPlatform {
    /// Takes the board's GPU.
    ///
    /// # Errors
    /// When it is taken already, or an interrupt can't be registered.
    pub fn take(board: &'static Board) -> Result<MmioPlatform, PlatformError> {
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

        let window = board.gpu.window;
        let words = NonNull::without_provenance(nonzero(window.base));
        let words = NonNull::slice_from_raw_parts(words, window.bytes / 4);
        Ok(MmioPlatform {
            board,
            // SAFETY: the board says that the registers are there, the kernel mapped them as a device, and `TAKEN` makes
            // this the only pointer to them.
            window: unsafe { UniqueMmioPointer::new(words) },
            free: board.memory.shared,
        })
    }

    /// The pointer to `bytes` bytes of shared memory; `None` if any of them is not.
    fn pointer(&self, address: PhysicalAddress, bytes: usize) -> Option<*mut u8> {
        let shared = self.board.memory.shared;
        let start = usize::try_from(address.0).ok()?;
        let end = start.checked_add(bytes)?;
        (start >= shared.base && end <= shared.end()).then_some(start as *mut u8)
    }

    fn word(&self, address: PhysicalAddress) -> Option<*mut u32> {
        let pointer = self.pointer(address, size_of::<u32>())?.cast::<u32>();
        pointer.is_aligned().then_some(pointer)
    }

    fn lines_raised(&self, wanted: Lines) -> Lines {
        let [job, mmu, gpu] = [0, 1, 2].map(|line: usize| RAISED[line].load(Ordering::Acquire));
        Lines {
            job: wanted.job && job,
            mmu: wanted.mmu && mmu,
            gpu: wanted.gpu && gpu,
        }
    }
}

/// A board's window is not at address 0; one that were would be at the first page instead, where nothing is mapped.
fn nonzero(address: usize) -> core::num::NonZeroUsize {
    core::num::NonZeroUsize::new(address).unwrap_or(core::num::NonZeroUsize::MIN)
}

/// Everything before is done, for every observer, before anything after.
fn barrier() {
    // SAFETY: a barrier.
    unsafe { core::arch::asm!("dsb sy", options(nostack, preserves_flags)) };
}

impl Platform for MmioPlatform {
    fn read32(&mut self, offset: u32) -> u32 {
        // Outside of the window is what the window itself answers where no register is.
        let register = self.window.get(offset as usize / 4);
        register.map_or(0, |mut register| register.read())
    }

    fn write32(&mut self, offset: u32, value: u32) {
        barrier();
        if let Some(mut register) = self.window.get(offset as usize / 4) {
            register.write(value);
        }
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<PhysicalAddress> {
        let (bytes, alignment) = (
            usize::try_from(bytes).ok()?,
            usize::try_from(alignment).ok()?,
        );
        let base = self.free.base.checked_next_multiple_of(alignment)?;
        let next = base.checked_add(bytes)?;
        let left = self.free.end().checked_sub(next)?;
        self.free = Region {
            base: next,
            bytes: left,
        };
        let address = PhysicalAddress(base as u64);
        self.zero(address, bytes as u64);
        Some(address)
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        match self.word(address) {
            // SAFETY: aligned, inside the shared region, which is mapped and which nothing else refers to.
            Some(word) => unsafe { word.read_volatile() },
            None => 0,
        }
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        if let Some(word) = self.word(address) {
            // SAFETY: as in `load32`.
            unsafe { word.write_volatile(value) };
        }
    }

    /// The memory is not cached, or the GPU sees the caches: what is left is the order.
    fn clean(&mut self, _range: Range<PhysicalAddress>) {
        barrier();
    }

    fn invalidate(&mut self, _range: Range<PhysicalAddress>) {
        barrier();
    }

    fn now(&mut self) -> Instant {
        Instant(time::now())
    }

    fn counter_hertz(&self) -> u64 {
        time::counter_hertz()
    }

    fn wait(&mut self, wanted: Lines, until: Instant) -> Lines {
        let interrupts = interrupts_of(&self.board.gpu);
        let wanted_lines = [wanted.job, wanted.mmu, wanted.gpu];
        for ((interrupt, raised), wanted) in interrupts.into_iter().zip(&RAISED).zip(wanted_lines) {
            if wanted {
                raised.store(false, Ordering::Relaxed);
                interrupts::enable(interrupt);
            }
        }
        time::alarm_at(until.0);
        loop {
            // Masked, so that an interrupt between the look and the sleep still ends the sleep.
            let done = interrupts::masked(|| {
                let lines = self.lines_raised(wanted);
                if lines.any() || time::now() >= until.0 {
                    return Some(lines);
                }
                interrupts::sleep();
                None
            });
            if let Some(lines) = done {
                time::alarm_off();
                return lines;
            }
        }
    }

    fn coherency(&self) -> SystemCoherency {
        match self.board.gpu.coherency {
            Coherency::None => SystemCoherency::None,
            Coherency::AceLite => SystemCoherency::AceLite,
        }
    }

    fn write_bytes(&mut self, address: PhysicalAddress, bytes: &[u8]) {
        if let Some(target) = self.pointer(address, bytes.len()) {
            // SAFETY: inside the shared region, as in `load32`; `bytes` is elsewhere, since nothing refers to that region.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
        }
    }

    fn read_bytes(&mut self, address: PhysicalAddress, bytes: &mut [u8]) {
        if let Some(source) = self.pointer(address, bytes.len()) {
            // SAFETY: as in `write_bytes`.
            unsafe { ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), bytes.len()) };
        }
    }

    fn zero(&mut self, address: PhysicalAddress, bytes: u64) {
        let Ok(bytes) = usize::try_from(bytes) else {
            return;
        };
        if let Some(target) = self.pointer(address, bytes) {
            // SAFETY: as in `write_bytes`.
            unsafe { ptr::write_bytes(target, 0, bytes) };
        }
    }
}
