//! Time: the generic timer's virtual counter and its interrupt.
//!
//! The virtual timer serves on every path: on a board the offset is zero, under a hypervisor it is the hypervisor's.
//! Facts: hardware/boards.md 3.4.

use core::time::Duration;
use cortex_a::registers::{
    CNTFRQ_EL0, CNTV_CTL_EL0, CNTV_CVAL_EL0, CNTVCT_EL0, Readable, Writeable,
};

/// Ticks of the counter in a second, as firmware set it; 0 when it forgot to.
pub fn counter_hertz() -> u64 {
    CNTFRQ_EL0.get()
}

/// Time since the counter was zero.
pub fn now() -> Duration {
    // A read of the counter may otherwise be done before what the program did earlier.
    cortex_a::asm::barrier::isb(cortex_a::asm::barrier::SY);
    duration(CNTVCT_EL0.get())
}

fn duration(ticks: u64) -> Duration {
    let hertz = counter_hertz().max(1);
    // CNTFRQ has 32 bits, so that this has 62.
    let nanoseconds = (ticks % hertz) * 1_000_000_000 / hertz;
    Duration::new(ticks / hertz, nanoseconds as u32)
}

pub(crate) fn ticks(time: Duration) -> u64 {
    let hertz = counter_hertz();
    // As in `duration`.
    let of_part = u64::from(time.subsec_nanos()) * hertz / 1_000_000_000;
    time.as_secs().saturating_mul(hertz).saturating_add(of_part)
}

/// Lets the timer's interrupt come at `moment` (as [`now`] counts), at once if that has passed.
pub fn alarm_at(moment: Duration) {
    CNTV_CVAL_EL0.set(ticks(moment));
    CNTV_CTL_EL0.write(CNTV_CTL_EL0::ENABLE::SET + CNTV_CTL_EL0::IMASK::CLEAR);
}

/// Lets it not come.
pub fn alarm_off() {
    CNTV_CTL_EL0.write(CNTV_CTL_EL0::ENABLE::CLEAR);
}

/// Delays by the counter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delay;

impl embedded_hal::delay::DelayNs for Delay {
    fn delay_ns(&mut self, nanoseconds: u32) {
        let end = now() + Duration::from_nanos(u64::from(nanoseconds));
        while now() < end {
            core::hint::spin_loop();
        }
    }
}
