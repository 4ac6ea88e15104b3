//! Waits: conditions that are waited for as states, and the only polling loop around them, with a time limit and an error
//! that names register, value and wanted value.
//!
//! The running phase keeps an [`RegisterWait`] and looks at it when it is polled; bring-up, restart and shutdown loop until it
//! holds.  Needs: a platform whose clock runs.  Guarantees: every wait ends; a word is looked at once more after the limit,
//! so that a late interrupt is not a failure.  Facts: limits are those of hardware/csf-mmio.md section 16.

use crate::access::RegisterAccess;
use crate::platform::{Instant, Lines, PhysicalAddress, Platform};
use core::fmt;
use core::time::Duration;
use eitri_csf::table::Register;

/// How a wait looks, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Time between two looks.
    pub(crate) step: Duration,
    /// Time after which the wait has failed.
    limit: Duration,
    /// Interrupt lines that call for a look at once.
    pub(crate) lines: Lines,
}

impl Pace {
    /// Looks at each interrupt of `lines`, and every millisecond in case one is lost; for `limit` at most.
    pub(crate) const fn new(lines: Lines, limit: Duration) -> Pace {
        Pace {
            step: ms(1),
            limit,
            lines,
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
    /// The row of the register or shared word.
    pub register: &'static Register,
    /// Its offset: it may be one of several.
    pub offset: u32,
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
            offset,
            value,
            wanted,
            limit,
            ..
        } = self;
        match self.address {
            None => write!(f, "{} ({offset:#x})", register.name)?,
            Some(address) => write!(f, "{} (in memory at {address})", register.name)?,
        }
        write!(f, " = {value:#x}, wanted {wanted}, after {limit:?}")
    }
}

impl core::error::Error for TimedOut {}

/// A register that must fulfil a condition by some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegisterWait {
    register: &'static Register,
    offset: u32,
    wanted: Condition,
    limit: Duration,
    begun: Instant,
    until: Instant,
}

impl RegisterWait {
    /// Waited for from `now` on; `limit` is that of a GPU at full clock.
    pub(crate) fn new<P: Platform>(
        platform: &P,
        now: Instant,
        register: &'static Register,
        wanted: Condition,
        limit: Duration,
    ) -> RegisterWait {
        let limit = scaled(platform, limit);
        RegisterWait {
            register,
            offset: register.offset,
            wanted,
            limit,
            begun: now,
            until: now.after(limit),
        }
    }

    /// The same of number `index` of a repeated register.
    pub(crate) const fn at(self, index: u32) -> RegisterWait {
        RegisterWait {
            offset: self.register.at(index).offset,
            ..self
        }
    }

    fn read<P: Platform>(&self, platform: &mut P) -> u64 {
        platform.read(Register {
            offset: self.offset,
            ..*self.register
        })
    }

    /// Whether it is fulfilled.
    ///
    /// # Errors
    /// [`TimedOut`] if it is not and `now` is too late.
    pub(crate) fn poll<P: Platform>(
        &self,
        platform: &mut P,
        now: Instant,
    ) -> Result<bool, TimedOut> {
        let value = self.read(platform);
        let holds = self.wanted.holds(value);
        if !holds && now >= self.until {
            return Err(self.timed_out(value));
        }
        Ok(holds)
    }

    /// How long to leave it alone after a look in vain: the longer it was waited for, the longer. What comes soon is seen soon, and
    /// what never comes is not looked at ten thousand times.
    pub(crate) fn pause(&self, now: Instant) -> Duration {
        pause(self.begun, now)
    }

    /// Reports the condition as failed now, before its deadline.
    pub(crate) fn missed<P: Platform>(&self, platform: &mut P) -> TimedOut {
        let value = self.read(platform);
        self.timed_out(value)
    }

    const fn timed_out(&self, value: u64) -> TimedOut {
        TimedOut {
            register: self.register,
            offset: self.offset,
            address: None,
            value,
            wanted: self.wanted,
            limit: self.limit,
        }
    }
}

/// Time between two looks at what has been waited for since `begun`.
fn pause(begun: Instant, now: Instant) -> Duration {
    if now < begun.after(us(100)) {
        us(10)
    } else if now < begun.after(ms(1)) {
        us(100)
    } else {
        ms(1)
    }
}

/// A limit on a GPU that is clocked as it is. Waits begin seldom: one copy of it is smaller than one in each.
#[inline(never)]
pub(crate) fn scaled<P: Platform>(platform: &P, limit: Duration) -> Duration {
    limit.saturating_mul(platform.slowdown().max(1))
}

/// Looks at a state, which has its own limits, until it is done.
///
/// # Errors
/// Those of the state.
pub(crate) fn finish<P: Platform, E>(
    platform: &mut P,
    lines: Lines,
    step: Duration,
    mut look: impl FnMut(&mut P, Instant) -> Result<bool, E>,
) -> Result<(), E> {
    let pace = Pace {
        step,
        limit: Duration::MAX,
        lines,
    };
    let done = poll(
        platform,
        |it| it,
        |_| None,
        pace,
        |platform, now| Ok(look(platform, now)?.then_some(())),
    );
    done.map(|_| ())
}

/// How often interrupt lines may end a wait within one step of its pace.
const MOST_WAKES: u32 = 64;

/// Looks again and again until `probe` finds something or fails; `None` when the limit has come. At the pace of `pace`, and more
/// slowly when it takes long.
///
/// `platform_of` finds the platform inside whatever `probe` looks at, with the time of that look; `due` tells when that wants to be looked at at the
/// latest.
pub(crate) fn poll<P: Platform, S, T, E>(
    state: &mut S,
    platform_of: fn(&mut S) -> &mut P,
    due: fn(&S) -> Option<Instant>,
    pace: Pace,
    mut probe: impl FnMut(&mut S, Instant) -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let begun = platform_of(state).now();
    let end = begun.after(pace.limit);
    // A line that is high for a reason that `probe` does not remove would end every wait at once. So lines end a few
    // waits in a step of time, and are not listened to for what is left of it.
    let mut step_ends = begun.after(pace.step);
    let mut wakes = 0_u32;
    let mut now = begun;
    loop {
        if let Some(found) = probe(state, now)? {
            return Ok(Some(found));
        }
        if now >= end {
            return Ok(None);
        }
        if now >= step_ends {
            step_ends = now.after(pace.step.max(pause(begun, now)));
            wakes = 0;
        }
        let lines = if wakes < MOST_WAKES {
            pace.lines
        } else {
            Lines::NONE
        };
        let until = due(state).map_or(step_ends, |due| step_ends.min(due));
        let woken = platform_of(state).wait(lines, until.min(end));
        if woken.any() {
            wakes = wakes.saturating_add(1);
        }
        now = platform_of(state).now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fake;
    use eitri_csf::registers::power::L2_READY;
    use std::format;
    use std::vec::Vec;

    fn at(time: Duration) -> Instant {
        Instant(time)
    }

    #[test]
    fn pauses_grow_with_what_was_waited() {
        let begun = at(ms(7));
        let since = |time: Duration| pause(begun, begun.after(time));
        assert_eq!((since(us(0)), since(us(99))), (us(10), us(10)));
        assert_eq!((since(us(100)), since(us(999))), (us(100), us(100)));
        assert_eq!((since(ms(1)), since(ms(1000))), (ms(1), ms(1)));
    }

    #[test]
    fn a_condition_is_about_its_bits_alone() {
        let set = Condition::set(6);
        assert!(set.holds(7) && !set.holds(2));
        let clear = Condition::clear(6);
        assert!(clear.holds(9) && !clear.holds(4));
        let equal = Condition::equal(6, 3);
        assert!(equal.holds(2) && equal.holds(11) && !equal.holds(6));
        assert_eq!(format!("{set}, {equal}"), "0x6, 0x2 in bits 0x6");
    }

    #[test]
    fn a_register_is_asked_until_its_time_is_over() {
        let mut fake = Fake::new(4096);
        let begun = at(ms(3));
        let wanted = Condition::set(1);
        let wait = RegisterWait::new(&fake, begun, &L2_READY, wanted, ms(20));
        assert_eq!(wait.poll(&mut fake, at(us(22_999))), Ok(false));
        let error = wait.poll(&mut fake, at(ms(23))).expect_err("too late");
        assert_eq!(error.limit, ms(20));
        assert!(
            format!("{error}").ends_with(" = 0x0, wanted 0x1, after 20ms"),
            "{error}"
        );
        assert_eq!(wait.missed(&mut fake), error);
        assert_eq!(wait.pause(begun.after(us(100))), us(100));
        let mut fake = fake.with(L2_READY, 3);
        // It is asked once more behind the limit.
        assert_eq!(wait.poll(&mut fake, at(ms(23))), Ok(true));
    }

    #[test]
    fn a_slower_clock_has_longer_limits() {
        let mut fake = Fake::new(4096);
        for (slowdown, limit) in [(0, ms(20)), (1, ms(20)), (7, ms(140))] {
            fake.slowdown = slowdown;
            assert_eq!(scaled(&fake, ms(20)), limit);
        }
    }

    /// When something is looked at, by a pace of so much time, until the limit.
    fn looks(fake: &mut Fake, lines: Lines, limit: Duration) -> Vec<Duration> {
        let pace = Pace {
            step: us(300),
            limit,
            lines,
        };
        let mut looks = Vec::new();
        let found = poll(
            fake,
            |it| it,
            |_| None,
            pace,
            |_, now| {
                looks.push(now.0);
                Ok::<Option<()>, ()>(None)
            },
        );
        assert_eq!(found, Ok(None), "the limit comes");
        looks
    }

    #[test]
    fn what_is_waited_for_is_looked_at_at_its_pace_and_once_more_at_the_end() {
        let mut fake = Fake::new(4096);
        let found = looks(&mut fake, Lines::NONE, us(4000));
        let expected = [0, 300, 600, 900, 1200, 2200, 3200, 4000].map(us);
        assert_eq!(found, expected, "from a millisecond on it is a millisecond");
    }

    /// A line that stays high does not keep the CPU: so many looks, and the rest of a step is waited for.
    #[test]
    fn a_line_that_stays_high_ends_some_waits_of_a_step() {
        let mut fake = Fake::new(4096);
        fake.high = Lines::ALL;
        let found = looks(&mut fake, Lines::ALL, us(600));
        let before = |end: u64| found.iter().filter(|time| **time < us(end)).count();
        let most = MOST_WAKES as usize + 1;
        assert_eq!(before(300), most);
        assert_eq!(before(600), 2 * most);
    }

    /// Whoever is looked at may want that sooner than the pace.
    #[test]
    fn what_is_due_sooner_is_looked_at_sooner() {
        struct State(Fake);
        let pace = Pace::new(Lines::NONE, ms(2));
        let mut looks = Vec::new();
        let found = poll(
            &mut State(Fake::new(4096)),
            |state| &mut state.0,
            |_| Some(at(us(400))),
            pace,
            |_, now| {
                looks.push(now.0);
                Ok::<_, ()>((looks.len() == 2).then_some(now))
            },
        );
        assert_eq!(found, Ok(Some(at(us(400)))));
    }

    #[test]
    fn a_state_is_looked_at_until_it_is_done_or_fails() {
        let mut fake = Fake::new(4096);
        let mut left = 3;
        let done = finish(&mut fake, Lines::NONE, ms(1), |_, _| {
            left -= 1;
            Ok::<bool, ()>(left == 0)
        });
        assert_eq!((done, left), (Ok(()), 0));
        let failed = finish(&mut fake, Lines::NONE, ms(1), |_, _| Err::<bool, _>("why"));
        assert_eq!(failed, Err("why"));
    }
}
