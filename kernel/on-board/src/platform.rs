//! Platform: the runtime's host on bare metal: registers behind pointers, the GIC, the generic timer.
//!
//! Needs: the kernel has mapped the board's window and shared memory.  Guarantees: a register access is one plain load
//! or store, and so is an access to a word of memory; memory outside of the board's shared region is never touched.
//! Facts: hardware/boards.md 3.1 (barriers, attributes), csf-mmio.md section 1.

use alloc::boxed::Box;
use core::ops::Range;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, Ordering};
use cortex_a::asm::barrier;
use eitri_boards::{Board, Coherency, Gpu};
use eitri_kernel::interrupts::{self, Interrupt, RegisterError};
use eitri_kernel::time;
use eitri_runtime::{
    DmaRegion, Instant, Lines, PageAllocator, PhysicalAddress, Platform, SystemCoherency,
};
use safe_mmio::UniqueMmioPointer;
use safe_mmio::fields::ReadWrite;
use volatile::VolatilePtr;

/// The GPU of a board, as the runtime wants it.
pub struct MmioPlatform {
    board: &'static Board,
    window: UniqueMmioPointer<'static, [ReadWrite<u32>]>,
    /// What of the shared region is given away.
    pages: PageAllocator<Box<[u64]>>,
}

/// Why there is no platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformError {
    /// The GPU has an owner already.
    Taken,
    /// The board's window or shared region is not whole aligned pages.
    Board,
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
    /// When it is taken already, the board's addresses make no sense, or an interrupt can't be registered.
    pub fn take(board: &'static Board) -> Result<MmioPlatform, PlatformError> {
        let window = board.gpu.window;
        let words = NonNull::new(window.base as *mut ReadWrite<u32>);
        let words = words.filter(|it| it.is_aligned());
        let words = words.ok_or(PlatformError::Board)?;
        let shared = board.memory.shared;
        let (base, bytes) = (PhysicalAddress(shared.base as u64), shared.bytes as u64);
        let map = alloc::vec![0; PageAllocator::words(bytes)].into_boxed_slice();
        let pages = PageAllocator::new(base, bytes, map).ok_or(PlatformError::Board)?;
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

        let words = NonNull::slice_from_raw_parts(words, window.bytes / 4);
        Ok(MmioPlatform {
            board,
            // SAFETY: whoever made the board says that the registers are there, the kernel mapped them as a device, and
            // `TAKEN` makes this the only pointer to them.
            window: unsafe { UniqueMmioPointer::new(words) },
            pages,
        })
    }

    /// The word of shared memory at `address`; `None` if it is not there, or not aligned.
    fn word<T>(&self, address: PhysicalAddress) -> Option<VolatilePtr<'_, T>> {
        let shared = self.board.memory.shared;
        let start = usize::try_from(address.0).ok()?;
        let end = start.checked_add(size_of::<T>())?;
        let inside = start >= shared.base && end <= shared.end();
        let pointer = NonNull::new(start as *mut T).filter(|it| inside && it.is_aligned())?;
        // SAFETY: aligned, inside the shared region, which is mapped and which nothing else refers to but the GPU: that is
        // why the access is volatile.
        Some(unsafe { VolatilePtr::new(pointer) })
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

// SAFETY: whoever made the board (`Board::new`) says that its window is the GPU's and its shared region memory for nobody
// else; there is one platform at most. Every access is checked to be inside, and is volatile.
unsafe impl Platform for MmioPlatform {
    fn read32(&mut self, offset: u32) -> u32 {
        // Outside of the window is what the window itself answers where no register is.
        let register = self.window.get(offset as usize / 4);
        register.map_or(0, |mut register| register.read())
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if let Some(mut register) = self.window.get(offset as usize / 4) {
            register.write(value);
        }
    }

    fn allocate(&mut self, bytes: u64, alignment: u64) -> Option<DmaRegion> {
        let region = self.pages.allocate(bytes, alignment)?;
        self.zero(region.start(), region.bytes());
        Some(region)
    }

    fn free(&mut self, region: DmaRegion) {
        self.pages.free(region);
    }

    fn load32(&mut self, address: PhysicalAddress) -> u32 {
        self.word(address).map_or(0, VolatilePtr::read)
    }

    fn store32(&mut self, address: PhysicalAddress, value: u32) {
        if let Some(word) = self.word(address) {
            word.write(value);
        }
    }

    fn load64(&mut self, address: PhysicalAddress) -> u64 {
        self.word(address).map_or(0, VolatilePtr::read)
    }

    fn store64(&mut self, address: PhysicalAddress, value: u64) {
        if let Some(word) = self.word(address) {
            word.write(value);
        }
    }

    fn publish(&mut self) {
        barrier::dsb(barrier::SY);
    }

    fn observe(&mut self) {
        barrier::dsb(barrier::SY);
    }

    /// The memory is not cached, or the GPU sees the caches.
    fn clean(&mut self, _range: Range<PhysicalAddress>) {}

    /// As for `clean`.
    fn invalidate(&mut self, _range: Range<PhysicalAddress>) {}

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

    fn slowdown(&self) -> u32 {
        self.board.gpu.slowdown
    }
}
