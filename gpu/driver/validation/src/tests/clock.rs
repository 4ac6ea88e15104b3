//! Clocks: the GPU's timestamp against the CPU's counter, and its cycles against time.
//!
//! Facts: hardware/csf-mmio.md 9.

use crate::raw::Raw;
use crate::result::{Unit, Verdict, failed};
use core::time::Duration;
use eitri_csf::command::GpuCommand;
use eitri_csf::registers::control::{CYCLE_COUNT, TIMESTAMP};
use eitri_runtime::Platform;

/// How long a clock is watched.
const WATCHED: Duration = Duration::from_millis(2);
/// The same where something came between two reads, as it may under another system: first so long, then longer.
const WATCHED_AGAIN: [Duration; 3] = [WATCHED, Duration::from_millis(8), Duration::from_millis(32)];

/// The counter's growth, and the nanoseconds in which it grew. On the way each bit that should have changed must have been
/// seen both ways.
fn growth<P: Platform>(
    it: &mut Raw<'_, P>,
    register: eitri_csf::table::Register,
    watched: Duration,
) -> Result<(u64, u64), crate::result::Trouble> {
    let (start, first) = (it.platform.now(), it.read(register));
    let (mut last, mut ones, mut zeros) = (first, first, !first);
    let mut step = 1;
    while it.platform.now().since(start) < watched {
        // Steps of no common measure, so that no bit is always met in the same state.
        step = step * 7 % 61;
        it.pass(watched / 4096 * step);
        let value = it.read(register);
        if value < last {
            let name = register.name;
            return Err(failed!("{name} went back from {last:#x} to {value:#x}"));
        }
        (last, ones, zeros) = (value, ones | value, zeros | !value);
    }
    let took = it.platform.now().since(start).as_nanos() as u64;
    let grown = last - first;
    // Reads are no better than some ten ticks apart: what the lowest bits do is not to be seen.
    let seen = (6..64).take_while(|bit| grown >> (bit + 3) != 0);
    let seen = seen.fold(0, |mask, bit| mask | 1 << bit);
    let stuck = seen & !(ones & zeros);
    if stuck != 0 {
        let name = register.name;
        return Err(failed!(
            "{name} grows from {first:#x} to {last:#x}, but its bits {stuck:#x} never change"
        ));
    }
    Ok((grown, took.max(1)))
}

fn kilohertz(ticks: u64, nanoseconds: u64) -> u64 {
    (u128::from(ticks) * 1_000_000 / u128::from(nanoseconds)) as u64
}

fn is_near(value: u64, wanted: u64, percent: u64) -> bool {
    value.abs_diff(wanted) * 100 <= wanted * percent
}

/// Ticks, and their rate in thousands a second. Where that is not the one that is wanted it is watched for longer: what comes
/// between two reads counts less then.
fn rate<P: Platform>(
    it: &mut Raw<'_, P>,
    register: eitri_csf::table::Register,
    wanted: Option<u64>,
) -> Result<(u64, u64), crate::result::Trouble> {
    let mut found = (0, 0);
    for watched in WATCHED_AGAIN {
        let (ticks, took) = growth(it, register, watched)?;
        found = (ticks, kilohertz(ticks, took));
        if wanted.is_none_or(|wanted| is_near(found.1, wanted, 5)) {
            break;
        }
    }
    Ok(found)
}

/// TIMESTAMP runs at the rate of the CPU's counter.
pub(crate) fn timestamp<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    let wanted = it.platform.counter_hertz() / 1000;
    let (ticks, rate) = rate(it, TIMESTAMP, Some(wanted))?;
    it.measure("rate", rate, Unit::Kilohertz);
    match wanted {
        _ if ticks == 0 => Err(failed!("TIMESTAMP (0x98) stands still")),
        0 => Ok(()),
        _ if is_near(rate, wanted, 5) => Ok(()),
        _ => Err(failed!(
            "TIMESTAMP (0x98) runs at {rate} kHz, the CPU's counter at {wanted} kHz"
        )),
    }
}

/// CYCLE_COUNT runs while it is told to, at the rate of the GPU's clock.
pub(crate) fn cycles<P: Platform>(it: &mut Raw<'_, P>) -> Verdict {
    it.command(GpuCommand::Time(true));
    let counted = rate(it, CYCLE_COUNT, it.setup.expected.clock_khz);
    it.command(GpuCommand::Time(false));
    let (cycles, rate) = counted?;
    it.measure("rate", rate, Unit::Kilohertz);
    if cycles == 0 {
        return Err(failed!(
            "CYCLE_COUNT (0x90) stands still though it was started"
        ));
    }
    let (idle, _) = growth(it, CYCLE_COUNT, WATCHED)?;
    if idle != 0 {
        return Err(failed!(
            "CYCLE_COUNT (0x90) grows by {idle} though it was stopped"
        ));
    }
    match it.setup.expected.clock_khz {
        Some(wanted) if !is_near(rate, wanted, 5) => Err(failed!(
            "the GPU's clock runs at {rate} kHz, {wanted} kHz were set: is it derived from another source?"
        )),
        _ => Ok(()),
    }
}
