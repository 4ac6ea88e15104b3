//! Timer clock: the counter by which the firmware measures its time-outs, and the rate of that counter.
//!
//! TIMESTAMP is the system's counter, once whoever boots the machine has started it for the GPU; firmware of some boards may not.
//! Where it stands still the firmware's timers count GPU cycles, at a rate that is measured.
//! Facts: hardware/csf-mmio.md 6, 9 and 17, csf-firmware.md 8.2, boards-rk3588.md 14.

use crate::access::RegisterAccess;
use crate::platform::{Lines, Platform};
use crate::wait::us;
use core::time::Duration;
use eitri_csf::command::GpuCommand;
use eitri_csf::interface::global::{TimerSource, timer_longest, timer_word};
use eitri_csf::registers::control::{CYCLE_COUNT, GPU_COMMAND, TIMESTAMP};

/// Time between two reads of TIMESTAMP: 240 ticks of 24 MHz.
const BETWEEN: Duration = us(10);
/// Most reads of it. The time that they take is long enough for a counter of 10 kHz.
const READS: u32 = 10;
/// Time for which cycles are counted.
const COUNTED: Duration = us(100);

/// The counter that the firmware's timers use. A rate of 0 is not known: then timers are as long as can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerClock {
    /// TIMESTAMP, which runs at the rate of the CPU's counter.
    Timestamp {
        /// Its rate.
        hertz: u64,
    },
    /// GPU cycles: TIMESTAMP stands still.
    Cycles {
        /// Their rate when the GPU was brought up; it changes with the GPU's clock.
        hertz: u64,
    },
}

impl TimerClock {
    /// Reads TIMESTAMP until it changes, and measures the GPU's clock if it does not.
    pub(crate) fn find<P: Platform>(platform: &mut P) -> TimerClock {
        if timestamp_runs(platform) {
            let hertz = platform.counter_hertz();
            return TimerClock::Timestamp { hertz };
        }
        let hertz = measure_cycles(platform);
        TimerClock::Cycles { hertz }
    }

    /// The word of a timer for a time in microseconds.
    pub(crate) fn word(self, microseconds: u64) -> u32 {
        match self {
            TimerClock::Timestamp { hertz: 0 } | TimerClock::Cycles { hertz: 0 } => timer_longest(),
            TimerClock::Timestamp { hertz } => {
                timer_word(microseconds, hertz, TimerSource::Timestamp)
            }
            TimerClock::Cycles { hertz } => {
                timer_word(microseconds, hertz, TimerSource::CycleCount)
            }
        }
    }
}

fn timestamp_runs<P: Platform>(platform: &mut P) -> bool {
    let first = platform.read_word(TIMESTAMP);
    for _ in 0..READS {
        if platform.read_word(TIMESTAMP) != first {
            return true;
        }
        pause(platform, BETWEEN);
    }
    platform.read_word(TIMESTAMP) != first
}

/// Cycles a second; 0 if the cycle counter stands still too.
fn measure_cycles<P: Platform>(platform: &mut P) -> u64 {
    let command = |platform: &mut P, on| {
        platform.write(GPU_COMMAND, u64::from(GpuCommand::Time(on).word()));
    };
    command(platform, true);
    let (begun, first) = (platform.now(), platform.read_word(CYCLE_COUNT));
    pause(platform, COUNTED);
    let (ended, last) = (platform.now(), platform.read_word(CYCLE_COUNT));
    command(platform, false);
    let cycles = u64::from(last.wrapping_sub(first));
    let took = u64::try_from(ended.since(begun).as_nanos()).unwrap_or(u64::MAX);
    // At most 2^32 cycles: the product fits.
    cycles
        .saturating_mul(1_000_000_000)
        .checked_div(took)
        .unwrap_or(0)
}

fn pause<P: Platform>(platform: &mut P, time: Duration) {
    let until = platform.now().after(time);
    platform.wait(Lines::NONE, until);
}
