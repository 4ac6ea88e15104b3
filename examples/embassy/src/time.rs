//! Embassy's time on this kernel: the generic timer. Whoever waits looks again at once; a board would set the timer's alarm.

use core::task::Waker;
use embassy_time_driver::{Driver, TICK_HZ, time_driver_impl};

struct GenericTimer;

impl Driver for GenericTimer {
    fn now(&self) -> u64 {
        let now = eitri_kernel::time::now().as_nanos();
        let ticks = now * u128::from(TICK_HZ) / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    fn schedule_wake(&self, _at: u64, waker: &Waker) {
        waker.wake_by_ref();
    }
}

time_driver_impl!(static TIMER: GenericTimer = GenericTimer);
