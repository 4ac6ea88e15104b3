//! Waits: the only polling loop, with a time limit and an error that names register, value and wanted value.
//!
//! Needs: a platform whose clock runs.  Guarantees: every wait ends; a word is looked at once more after the limit,
//! so that a late interrupt is not a failure.  Facts: limits are those of hardware/csf-mmio.md section 16.

use crate::access::Access;
use crate::platform::{Lines, PhysicalAddress, Platform};
use core::fmt;
use core::time::Duration;
use eitri_csf::table::Register;

/// How a wait looks, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Time between two looks.
    pub(crate) step: Duration,
    /// Time after which the wait has failed.
    limit: Limit,
    /// Interrupt lines that call for a look at once.
    pub(crate) lines: Lines,
}

/// Whose limit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// What hardware or firmware takes at full clock: longer on a slower one ([`Platform::slowdown`]).
    Hardware(Duration),
    /// What the caller is ready to wait.
    Caller(Duration),
}

impl Pace {
    /// Looks every `step`, for `limit` at most; no interrupt helps.
    pub(crate) const fn polling(step: Duration, limit: Duration) -> Pace {
        Pace {
            step,
            limit: Limit::Hardware(limit),
            lines: Lines::NONE,
        }
    }

    /// Looks at each interrupt of `lines`, and every millisecond in case one is lost; for `limit` at most.
    pub(crate) const fn interrupt(lines: Lines, limit: Duration) -> Pace {
        Pace {
            step: ms(1),
            limit: Limit::Hardware(limit),
            lines,
        }
    }

    /// As [`Pace::interrupt`], for the `limit` that a caller gave.
    pub(crate) const fn caller(lines: Lines, limit: Duration) -> Pace {
        Pace {
            step: ms(1),
            limit: Limit::Caller(limit),
            lines,
        }
    }

    /// How long the wait lasts at most on this platform.
    pub(crate) fn limit<P: Platform>(self, platform: &P) -> Duration {
        match self.limit {
            Limit::Hardware(limit) => limit.saturating_mul(platform.slowdown().max(1)),
            Limit::Caller(limit) => limit,
        }
    }
}

/// Microseconds, for the tables of limits.
pub(crate) const fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

/// Milliseconds, for the tables of limits.
pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// The bits of a word that matter, and the value they must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Bits that matter.
    pub mask: u64,
    /// What they must be.
    pub wanted: u64,
}

impl Condition {
    /// All bits of `mask` are 1.
    pub const fn set(mask: u64) -> Condition {
        Condition { mask, wanted: mask }
    }

    /// All bits of `mask` are 0.
    pub const fn clear(mask: u64) -> Condition {
        Condition { mask, wanted: 0 }
    }

    /// The bits of `mask` equal those of `value`.
    pub const fn equal(mask: u64, value: u64) -> Condition {
        Condition {
            mask,
            wanted: value & mask,
        }
    }

    /// Whether `value` fulfils it.
    pub const fn holds(self, value: u64) -> bool {
        value & self.mask == self.wanted
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.wanted)?;
        if self.mask != self.wanted {
            write!(f, " in bits {:#x}", self.mask)?;
        }
        Ok(())
    }
}

/// A wait that came to its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut {
    /// The register or shared word.
    pub register: Register,
    /// Where a shared word stands; `None` for a register.
    pub address: Option<PhysicalAddress>,
    /// Its value at the end.
    pub value: u64,
    /// What was waited for.
    pub wanted: Condition,
    /// For how long.
    pub limit: Duration,
}

impl fmt::Display for TimedOut {
    /// `L2_READY (0x160) = 0x0, wanted 0x1, after 20ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimedOut {
            register,
            value,
            wanted,
            limit,
            ..
        } = self;
        match self.address {
            None => write!(f, "{} ({:#x})", register.name, register.offset)?,
            Some(address) => write!(f, "{} (in memory at {address})", register.name)?,
        }
        write!(f, " = {value:#x}, wanted {wanted}, after {limit:?}")
    }
}

impl core::error::Error for TimedOut {}

/// Waits until a register fulfils `wanted`, and gives its value then.
///
/// # Errors
/// [`TimedOut`] if it does not within the limit.
pub(crate) fn wait_until<P: Platform>(
    platform: &mut P,
    register: Register,
    wanted: Condition,
    pace: Pace,
) -> Result<u64, TimedOut> {
    let mut value = 0;
    let found = poll(
        platform,
        |platform| platform,
        pace,
        |platform| {
            value = platform.read(register);
            Ok::<_, TimedOut>(wanted.holds(value).then_some(value))
        },
    )?;
    found.ok_or(TimedOut {
        register,
        address: None,
        value,
        wanted,
        limit: pace.limit(platform),
    })
}

/// How often interrupt lines may end a wait within one step of its pace.
const MOST_WAKES: u32 = 64;

/// Looks again and again until `probe` finds something or fails; `None` when the limit has come.
///
/// `platform_of` finds the platform inside whatever `probe` looks at.
pub(crate) fn poll<P: Platform, S, T, E>(
    state: &mut S,
    platform_of: fn(&mut S) -> &mut P,
    pace: Pace,
    mut probe: impl FnMut(&mut S) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let platform = platform_of(state);
    let end = platform.now().after(pace.limit(platform));
    // A line that is high for a reason that `probe` does not remove would end every wait at once. So lines end a few
    // waits in a step of time, and are not listened to for what is left of it.
    let mut step_ends = platform.now().after(pace.step);
    let mut wakes = 0_u32;
    loop {
        let now = platform_of(state).now();
        if let Some(found) = probe(state)? {
            return Ok(Some(found));
        }
        if now >= end {
            return Ok(None);
        }
        if now >= step_ends {
            step_ends = now.after(pace.step);
            wakes = 0;
        }
        let lines = if wakes < MOST_WAKES {
            pace.lines
        } else {
            Lines::NONE
        };
        let woken = platform_of(state).wait(lines, step_ends.min(end));
        if woken.any() {
            wakes = wakes.saturating_add(1);
        }
    }
}
