//! Hold: the image's clock stands still while the GPU, which is slower than a device, catches up: no time limit of a driver passes
//! on a slow model.
//!
//! The clock is the virtual counter, the physical one less CNTVOFF_EL2, and must be the same on all CPUs and never go back. So
//! a CPU that finds the GPU behind, at its tick, waits until no CPU runs the image, lets the time pass, and adds it to an offset
//! that each CPU loads when it enters the image again. The image's timers follow the virtual counter.

use crate::gpu::Gpu;
use crate::interrupts;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use cortex_a::registers::{CNTFRQ_EL0, CNTPCT_EL0, CNTVOFF_EL2, Readable, Writeable};

/// How long a CPU sleeps at most before it looks again.
const NAP: Duration = Duration::from_micros(100);

/// What CPUs know of each other.
pub(crate) struct Hold {
    enabled: bool,
    /// CPUs that run the image.
    running: AtomicU32,
    /// One CPU lets time pass.
    holding: AtomicBool,
    /// Ticks of the counter that the image's clock has stood still.
    held: AtomicU64,
}

impl Hold {
    /// No time was held yet; none ever is unless `enabled`.
    pub(crate) fn new(enabled: bool) -> Hold {
        Hold {
            enabled,
            running: AtomicU32::new(0),
            holding: AtomicBool::new(false),
            held: AtomicU64::new(0),
        }
    }

    /// This CPU is about to run the image; waits while the clock stands still.
    pub(crate) fn enter(&self) {
        if !self.enabled {
            return;
        }
        loop {
            while self.holding.load(Ordering::SeqCst) {
                nap();
            }
            self.running.fetch_add(1, Ordering::SeqCst);
            if !self.holding.load(Ordering::SeqCst) {
                break;
            }
            self.running.fetch_sub(1, Ordering::SeqCst);
        }
        CNTVOFF_EL2.set(self.held.load(Ordering::SeqCst));
    }

    /// This CPU has come back from the image.
    pub(crate) fn leave(&self) {
        if self.enabled {
            self.running.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Lets the GPU catch up if it is behind; `gpu` gives access to it.
    pub(crate) fn wait_for(&self, gpu: impl Fn(&dyn Fn(&Gpu) -> bool) -> bool) {
        let is_behind = || gpu(&Gpu::is_behind);
        if !self.enabled || !is_behind() || self.holding.swap(true, Ordering::SeqCst) {
            return;
        }
        // Each comes back at its tick.
        while self.running.load(Ordering::SeqCst) != 0 {
            core::hint::spin_loop();
        }
        let begin = CNTPCT_EL0.get();
        gpu(&|gpu| {
            gpu.hold();
            true
        });
        while is_behind() {
            nap();
        }
        let held = self.held.load(Ordering::SeqCst) + (CNTPCT_EL0.get() - begin);
        self.held.store(held, Ordering::SeqCst);
        let nanoseconds = u128::from(held) * 1_000_000_000 / u128::from(CNTFRQ_EL0.get().max(1));
        gpu(&|gpu| {
            gpu.go_on(nanoseconds as u64);
            true
        });
        self.holding.store(false, Ordering::SeqCst);
    }
}

/// Sleeps for a moment. The image's timer must not wake this CPU, since its clock stands still: it is far from any time meanwhile.
fn nap() {
    CNTVOFF_EL2.set(CNTPCT_EL0.get());
    interrupts::tick_within(NAP);
    cortex_a::asm::wfi();
}
