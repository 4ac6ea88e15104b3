//! Pace: how long the work of shader cores takes, by the rates of their units.
//!
//! Each core has a clock of its own. While it has work, the clock advances by its busiest unit: what is issued to the arithmetic
//! units, messages by the lines of the cache that they touch, texels, components of varyings, pixels, and what the warps on it
//! can't do any faster, since each of them issues one instruction at a time. Cores work side by side: virtual time passes up to the
//! core that is least far, which works next. The memory behind the caches is one for all, and holds up whoever outruns it.
//!
//! Needs: that work is counted in `activity` when it is done.  Guarantees: a core's clock never goes back.
//!
//! Facts: hardware/compiler-optimization.md 3 (rates, and that no source holds latencies).

use crate::activity::{Activity, CoreActivity};
use crate::clock::{Clock, Nanoseconds};
use alloc::vec;
use alloc::vec::Vec;
use eitri_isa::Arch;
use eitri_isa::rates::{Rates, WARP};

/// Parts of a cycle: a multiple of what a warp takes in any unit.
pub type Parts = u64;

/// Parts of one cycle.
pub const CYCLE: Parts = 96;

/// From an instruction of a warp to the next one of the same warp.
// FACT: no source holds latencies (hardware/compiler-optimization.md 3); four cycles, so that the fewest warps that can keep the
// arithmetic units busy are as many as a workgroup of 256 threads has. Settled by timing a chain of dependent instructions in a
// workgroup of 16 threads, and in larger ones, on any board.
pub(crate) const LATENCY: Parts = 4 * CYCLE;

/// What one thing takes of its unit: an instruction of a warp, a line, a quad.
#[derive(Clone, Copy, Debug)]
struct Costs {
    fma: Parts,
    cvt: Parts,
    sfu: Parts,
    line: Parts,
    texture: Parts,
    component: Parts,
    quad: Parts,
}

impl Costs {
    fn of(arch: Arch) -> Costs {
        let rates = Rates::of(arch);
        let at = |rate: u32| CYCLE / Parts::from(rate);
        let warp_at = |rate: u32| CYCLE * Parts::from(WARP) / Parts::from(rate);
        Costs {
            fma: warp_at(rates.fma),
            cvt: warp_at(rates.cvt),
            sfu: warp_at(rates.sfu),
            line: at(rates.messages),
            texture: warp_at(rates.texels),
            component: warp_at(rates.components),
            quad: 4 * at(rates.pixels),
        }
    }
}

/// What a message takes of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageCosts {
    /// A line of the cache.
    pub(crate) line: Parts,
    /// The texels of a warp.
    pub(crate) texture: Parts,
    /// A component of 16 bits of a warp.
    pub(crate) component: Parts,
}

impl MessageCosts {
    pub(crate) fn of(arch: Arch) -> MessageCosts {
        let Costs {
            line,
            texture,
            component,
            ..
        } = Costs::of(arch);
        MessageCosts {
            line,
            texture,
            component,
        }
    }
}

/// For how long each unit of a core has been busy in all, in parts of a cycle: so many that every rate divides them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitParts {
    /// The arithmetic units together, which share what is issued.
    pub issue: u64,
    /// SFU alone.
    pub special: u64,
    /// Messages to memory, by the lines that they touch.
    pub messages: u64,
    /// Texels.
    pub texture: u64,
    /// Components that are interpolated.
    pub varying: u64,
    /// Pixels on their way to a shader.
    pub pixels: u64,
    /// The warps themselves.
    pub latency: u64,
}

impl UnitParts {
    /// What was done since `before`, which is an earlier state of the same core.
    pub fn since(&self, before: &UnitParts) -> UnitParts {
        UnitParts {
            issue: self.issue.saturating_sub(before.issue),
            special: self.special.saturating_sub(before.special),
            messages: self.messages.saturating_sub(before.messages),
            texture: self.texture.saturating_sub(before.texture),
            varying: self.varying.saturating_sub(before.varying),
            pixels: self.pixels.saturating_sub(before.pixels),
            latency: self.latency.saturating_sub(before.latency),
        }
    }

    /// The same in whole cycles.
    pub fn times(&self) -> UnitTimes {
        UnitTimes {
            arithmetic: self.issue.max(self.special).div_ceil(CYCLE),
            special: self.special.div_ceil(CYCLE),
            load_store: self.messages.div_ceil(CYCLE),
            texture: self.texture.div_ceil(CYCLE),
            varying: self.varying.div_ceil(CYCLE),
            pixels: self.pixels.div_ceil(CYCLE),
            latency: self.latency.div_ceil(CYCLE),
        }
    }

    fn of(core: &CoreActivity, costs: &Costs) -> UnitParts {
        let special = core.sfu * costs.sfu;
        UnitParts {
            issue: core.fma * costs.fma + core.cvt * costs.cvt + special / 4,
            special,
            messages: core.lines * costs.line,
            texture: core.textures * costs.texture,
            varying: core.interpolated * costs.component,
            pixels: core.fragments.queued * costs.quad,
            latency: core.latency,
        }
    }

    /// What the busiest unit has done since.
    fn bound_since(&self, before: &UnitParts) -> Parts {
        let UnitParts {
            issue,
            special,
            messages,
            texture,
            varying,
            pixels,
            latency,
        } = self.since(before);
        [issue, special, messages, texture, varying, pixels, latency]
            .into_iter()
            .fold(0, Parts::max)
    }
}

impl core::ops::AddAssign for UnitParts {
    fn add_assign(&mut self, other: UnitParts) {
        self.issue += other.issue;
        self.special += other.special;
        self.messages += other.messages;
        self.texture += other.texture;
        self.varying += other.varying;
        self.pixels += other.pixels;
        self.latency += other.latency;
    }
}

/// For how many cycles the units of a core have been busy since the device got power. They work side by side: a core takes as long as
/// its busiest unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitTimes {
    /// FMA, CVT and SFU together, which share what is issued.
    pub arithmetic: u64,
    /// SFU alone.
    pub special: u64,
    /// Messages to memory, by the lines that they touch.
    pub load_store: u64,
    /// Texels.
    pub texture: u64,
    /// Components that are interpolated.
    pub varying: u64,
    /// Pixels on their way to a shader.
    pub pixels: u64,
    /// Warps that had too few others beside them.
    pub latency: u64,
}

impl UnitTimes {
    /// The units by name, in the order in which they are printed.
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("arithmetic", self.arithmetic),
            ("special functions", self.special),
            ("load/store", self.load_store),
            ("texture", self.texture),
            ("varying", self.varying),
            ("pixels", self.pixels),
            ("latency", self.latency),
        ]
    }

    /// The busiest unit, and its cycles: what the core takes at least.
    ///
    /// ```
    /// use eitri_model::UnitTimes;
    ///
    /// let times = UnitTimes { arithmetic: 40, load_store: 64, ..UnitTimes::default() };
    /// assert_eq!(times.bound(), ("load/store", 64));
    /// ```
    pub fn bound(&self) -> (&'static str, u64) {
        let first = ("arithmetic", self.arithmetic);
        let busier = |most: (&'static str, u64), unit: (&'static str, u64)| {
            if unit.1 > most.1 { unit } else { most }
        };
        self.named().into_iter().fold(first, busier)
    }
}

/// A core's clock.
#[derive(Clone, Copy, Debug, Default)]
struct CoreClock {
    /// When it began to work, and what it had done by then.
    since: Nanoseconds,
    before: UnitParts,
}

/// The clocks of all cores.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    costs: Costs,
    cores: Vec<CoreClock>,
    /// Bytes that had passed between caches and memory when memory began to be busy, and since when it has been.
    memory_since: Nanoseconds,
    memory_before: u64,
    /// Bytes that memory moves in a second.
    bandwidth: u64,
    /// Time in which no core works, and that must pass before any goes on.
    held_up: Nanoseconds,
}

impl Pace {
    /// Clocks of cores that have not worked.
    pub(crate) fn new(arch: Arch, cores: usize, bandwidth: u64) -> Pace {
        Pace {
            costs: Costs::of(arch),
            cores: vec![CoreClock::default(); cores.max(1)],
            memory_since: 0,
            memory_before: 0,
            bandwidth: bandwidth.max(1),
            held_up: 0,
        }
    }

    /// How far a core is with its work.
    pub(crate) fn reached(&self, activity: &Activity, clock: &Clock, core: u8) -> Nanoseconds {
        let index = usize::from(core) % self.cores.len();
        let CoreClock { since, before } = &self.cores[index];
        let done = UnitParts::of(&activity.cores()[index], &self.costs).bound_since(before);
        since.saturating_add(clock.time_of_parts(done, CYCLE))
    }

    /// For how long the units of each core have been busy.
    pub(crate) fn unit_times(&self, activity: &Activity) -> Vec<UnitTimes> {
        let cores = activity.cores().iter();
        cores
            .map(|core| UnitParts::of(core, &self.costs).times())
            .collect()
    }

    /// The same of one core, in parts of a cycle.
    pub(crate) fn unit_parts(&self, activity: &Activity, core: u8) -> UnitParts {
        let index = usize::from(core) % self.cores.len();
        UnitParts::of(&activity.cores()[index], &self.costs)
    }

    /// A core is given work: if it had none, its clock begins anew.
    pub(crate) fn begin(&mut self, activity: &Activity, clock: &Clock, core: u8) {
        if self.reached(activity, clock, core) < clock.now() {
            let index = usize::from(core) % self.cores.len();
            self.cores[index] = CoreClock {
                since: clock.now(),
                before: UnitParts::of(&activity.cores()[index], &self.costs),
            };
        }
    }

    /// What is not done by cores takes time.
    pub(crate) fn hold_up(&mut self, time: Nanoseconds) {
        self.held_up += time;
    }

    /// The time for which cores are held up since the last call.
    pub(crate) fn take_held_up(&mut self) -> Nanoseconds {
        core::mem::take(&mut self.held_up)
    }

    /// Work goes on: if memory has moved all that it was asked for, its clock begins anew.
    pub(crate) fn begin_memory(&mut self, activity: &Activity, now: Nanoseconds) {
        if self.memory_reached(activity) < now {
            (self.memory_since, self.memory_before) = (now, activity.external_bytes());
        }
    }

    /// When memory has moved what it was asked for.
    pub(crate) fn memory_reached(&self, activity: &Activity) -> Nanoseconds {
        let bytes = activity.external_bytes() - self.memory_before;
        let time = u128::from(bytes) * 1_000_000_000 / u128::from(self.bandwidth);
        let time = Nanoseconds::try_from(time).unwrap_or(Nanoseconds::MAX);
        self.memory_since.saturating_add(time)
    }
}

/// The numbers of cores in a mask.
pub(crate) fn numbers(mask: u64) -> impl Iterator<Item = u8> {
    let mut rest = mask;
    core::iter::from_fn(move || {
        let number = rest.trailing_zeros();
        rest &= rest.wrapping_sub(1);
        (number < u64::BITS).then_some(number as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l2_tags::Moved;

    fn clock() -> Clock {
        Clock::new(1_000_000_000, 24_000_000)
    }

    #[test]
    fn a_core_takes_as_long_as_its_busiest_unit() {
        let (clock, mut activity) = (clock(), Activity::new(2, 1));
        let pace = Pace::new(Arch::V10, 2, 1);
        activity.core(0).fma = 400;
        assert_eq!(
            pace.reached(&activity, &clock, 0),
            100,
            "four warps a cycle"
        );
        activity.core(0).cvt = 400;
        assert_eq!(
            pace.reached(&activity, &clock, 0),
            200,
            "they share what is issued"
        );
        activity.core(0).sfu = 300;
        assert_eq!(pace.reached(&activity, &clock, 0), 300, "one warp a cycle");
        activity.core(0).lines = 250;
        assert_eq!(pace.reached(&activity, &clock, 0), 300, "beside the others");
        activity.core(0).lines = 350;
        assert_eq!(pace.reached(&activity, &clock, 0), 350, "one line a cycle");
        assert_eq!(
            pace.reached(&activity, &clock, 1),
            0,
            "the other has done nothing"
        );
    }

    #[test]
    fn a_core_that_had_nothing_to_do_begins_now() {
        let (mut clock, mut activity) = (clock(), Activity::new(1, 1));
        let mut pace = Pace::new(Arch::V10, 1, 1);
        activity.core(0).sfu = 100;
        clock.advance(40);
        pace.begin(&activity, &clock, 0);
        assert_eq!(pace.reached(&activity, &clock, 0), 100, "it is ahead");
        clock.advance(100);
        pace.begin(&activity, &clock, 0);
        assert_eq!(pace.reached(&activity, &clock, 0), 140);
        activity.core(0).sfu += 10;
        assert_eq!(pace.reached(&activity, &clock, 0), 150);
    }

    #[test]
    fn memory_holds_up_whoever_outruns_it() {
        let mut activity = Activity::new(1, 1);
        let mut pace = Pace::new(Arch::V10, 1, 1_000_000_000);
        let line = Moved {
            read: 1,
            written: 0,
        };
        activity.requested(0, false, line);
        assert_eq!(pace.memory_reached(&activity), 64);
        pace.begin_memory(&activity, 50);
        assert_eq!(pace.memory_reached(&activity), 64, "still at it");
        pace.begin_memory(&activity, 100);
        activity.requested(1, false, line);
        assert_eq!(pace.memory_reached(&activity), 164);
    }
}
