//! Logger: `defmt` over the console, beside plain text.
//!
//! A frame is a zero byte, the encoded frame (rzCOBS, which has no zero byte), and a zero byte. Text has no zero byte
//! either. So a reader of the console switches at every zero: text, frame, text.
//!
//! Guarantees: one frame is not interrupted by another, nor by text; a crash ends an open frame before its report.

use crate::{console, time};
use core::sync::atomic::{AtomicBool, Ordering};
use cortex_a::registers::{DAIF, Readable, Writeable};
use defmt::Encoder;
use spin::mutex::{SpinMutex, SpinMutexGuard};

/// Separates frames from text.
const SEPARATOR: u8 = 0;

struct Open {
    encoder: Encoder,
    /// DAIF before the frame began.
    before: u64,
}

/// Locked from the begin of a frame to its end.
static OPEN: SpinMutex<Open> = SpinMutex::new(Open {
    encoder: Encoder::new(),
    before: 0,
});
static IN_FRAME: AtomicBool = AtomicBool::new(false);

#[defmt::global_logger]
struct Logger;

// SAFETY: `acquire` masks interrupts and locks `OPEN`, and `release` undoes both. So from one to the other no second
// context, of this CPU or of another, gets into a frame; a report of a crash ends the frame by `abandon_frame` and logs
// nothing afterwards.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        let before = DAIF.get();
        DAIF.set(before | DAIF::I::Masked.value | DAIF::F::Masked.value);
        // What belongs to the lock is had by way of `open_frame` until it is unlocked.
        let open = SpinMutexGuard::leak(OPEN.lock());
        open.before = before;
        IN_FRAME.store(true, Ordering::Relaxed);
        console::send(&[SEPARATOR]);
        // What the encoder would begin the very first frame with is a separator of its own.
        open.encoder.start_frame(|_| {});
    }

    unsafe fn flush() {}

    unsafe fn release() {
        // SAFETY: `release` comes after `acquire`, which left it locked.
        let open = unsafe { open_frame() };
        open.encoder.end_frame(console::send);
        IN_FRAME.store(false, Ordering::Relaxed);
        let before = open.before;
        // SAFETY: as above; `open` is not used any more.
        unsafe { OPEN.force_unlock() };
        DAIF.set(before);
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: `write` comes after `acquire`, which left it locked.
        let open = unsafe { open_frame() };
        open.encoder.write(bytes, console::send);
    }
}

/// The frame that this context has begun.
///
/// # Safety
/// [`Logger::acquire`] was called and `release` was not, by this context; and no other reference to the frame is in use.
unsafe fn open_frame() -> &'static mut Open {
    // SAFETY: the lock is this context's, so nobody else has a reference.
    unsafe { &mut *OPEN.as_mut_ptr() }
}

defmt::timestamp!("{=u64:us}", time::now().as_micros() as u64);

/// Ends a frame that was open when the image crashed, so that text can follow.
pub(crate) fn abandon_frame() {
    if IN_FRAME.swap(false, Ordering::Relaxed) {
        console::send(&[SEPARATOR]);
    }
}
