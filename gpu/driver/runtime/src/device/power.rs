//! Power: off when nothing is to be done, on again when there is; suspend and resume of the whole device by its owner.
//!
//! On the way off groups are saved, the firmware halts, address spaces leave the hardware, the L2 and then the supply are switched
//! off; on the way on the firmware goes on in the memory that it has kept. What does not obey on the way off is reset, and the
//! firmware is loaded anew next time.  Guarantees: each step is a state with a deadline that `poll` looks at; while the supply is
//! off no register is accessed; jobs outlive it.
//! Facts: hardware/csf-mmio.md sections 16.4, 16.6 to 16.8.

use super::recovery::Phase;
use super::start::Start;
use super::{BringUpError, Device, DeviceLost};
use crate::error::Error;
use crate::firmware::ANSWER;
use crate::gpu::caches::Flush;
use crate::gpu::interrupts::mask_all;
use crate::gpu::power::{self, Switch};
use crate::group::Group;
use crate::mmu;
use crate::platform::{Instant, Lines, OperatingPoint, Platform, PowerChange};
use crate::wait::{finish, ms, scaled};
use core::time::Duration;
use eitri_csf::command::CacheFlush;

/// How long the platform's supply and clocks may take to come or go, and how often one looks.
const SUPPLY: Duration = ms(500);
const LOOK: Duration = ms(1);

/// Whether a device's GPU has power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevicePower {
    /// It runs, or a lost GPU is being started again.
    On,
    /// Its groups are being saved, and it is being switched off.
    GoingOff,
    /// It is off: its supply too, where the platform can switch that.
    Off,
    /// It is being switched on and started.
    ComingOn,
}

/// What is known and wanted of the power.
#[derive(Debug)]
pub(super) struct Power {
    /// Its owner wants it to be off.
    suspended: bool,
    /// It is on its way off.
    pub(super) going_off: bool,
    /// It is on its way on.
    coming_on: bool,
    /// The firmware has halted in order: what it has in memory is good.
    kept: bool,
    /// Since when there has been nothing to do.
    pub(super) idle_since: Option<Instant>,
    /// The clock and voltage that its owner wants.
    point: Option<OperatingPoint>,
}

impl Power {
    /// That of a GPU that runs.
    pub(super) const ON: Power = Power {
        suspended: false,
        going_off: false,
        coming_on: false,
        kept: false,
        idle_since: None,
        point: None,
    };
}

impl<P: Platform> Device<'_, '_, P> {
    /// Whether the GPU has power.
    pub fn power(&self) -> DevicePower {
        match self.phase {
            Phase::Off => DevicePower::Off,
            _ if self.power.going_off => DevicePower::GoingOff,
            _ if self.power.coming_on => DevicePower::ComingOn,
            _ => DevicePower::On,
        }
    }

    /// Lets the GPU be switched off, whatever it is doing, until [`Device::resume`]: jobs that run are saved and go on then. Jobs
    /// are taken meanwhile. Returns at once: [`Device::poll`] does it, and [`Device::power`] tells how far it is.
    ///
    /// # Errors
    /// If the device was given up.
    pub fn suspend(&mut self) -> Result<(), Error> {
        self.alive()?;
        self.power.suspended = true;
        self.restless = true;
        Ok(())
    }

    /// Ends [`Device::suspend`]. Returns at once: [`Device::poll`] switches the GPU on if there is something to do.
    ///
    /// # Errors
    /// If the device was given up.
    pub fn resume(&mut self) -> Result<(), Error> {
        self.alive()?;
        self.power.suspended = false;
        self.restless = true;
        // Who has never asked for a GPU that is off while it is idle wants it on.
        if self.options.idle_off.is_none() {
            let now = self.hw.platform.now();
            self.wake(now);
        }
        Ok(())
    }

    /// Runs the GPU at another clock and voltage from now on: see [`Platform::set_operating_point`]. One that is off gets them when it
    /// is switched on.
    pub fn set_operating_point(&mut self, point: OperatingPoint) {
        self.power.point = Some(point);
        if self.has_supply() {
            self.hw.platform.set_operating_point(point);
        }
    }

    /// Whether registers may be accessed.
    pub(super) const fn has_supply(&self) -> bool {
        !matches!(self.phase, Phase::Off | Phase::Supplying { .. })
    }

    /// Whether there is work that a GPU with power would go on with.
    fn has_work(&self) -> bool {
        self.backlog.has_ready() || self.seated_groups().any(Group::is_ready)
    }

    /// Switches power on if it is off and there is work.
    pub(super) fn wake_for_work(&mut self, now: Instant) {
        if !self.power.suspended && self.has_work() {
            self.wake(now);
        }
    }

    /// Switches power on if it is off.
    fn wake(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Off) {
            self.power.coming_on = true;
            self.begin_supply(now, PowerChange::On);
        }
    }

    /// For calls that need a GPU with power and wait anyway.
    ///
    /// # Errors
    /// If its owner has suspended the device, or it does not come on.
    pub(super) fn powered(&mut self) -> Result<(), Error> {
        self.alive()?;
        if self.power.suspended {
            return Err(Error::Suspended);
        }
        // A GPU that is on its way off can be woken only when it is off.
        self.wait_for_phase(|phase| matches!(phase, Phase::Running | Phase::Dead | Phase::Off));
        let now = self.hw.platform.now();
        self.wake(now);
        self.wait_for_phase(|phase| matches!(phase, Phase::Running | Phase::Dead));
        self.alive()
    }

    /// Begins to switch off what has had nothing to do for long enough, or what its owner wants to be off; when that is due.
    pub(super) fn poll_power(&mut self, now: Instant) -> Option<Instant> {
        // A group that is on its way to or from a slot is waited for, and one that has to go.
        let moves = self.seated_groups().any(Group::moves);
        let counts = self.counters.as_ref().is_some_and(|it| it.is_on());
        let idle = !self.has_work() && !counts && !self.watch.is_asking(now);
        if !idle {
            self.power.idle_since = None;
        }
        let due = match (self.power.suspended, self.options.idle_off) {
            (true, _) => now,
            (false, Some(limit)) if idle => {
                let since = *self.power.idle_since.get_or_insert(now);
                since.after(limit)
            }
            (false, _) => return None,
        };
        if now >= due {
            if moves {
                return None;
            }
            self.power.idle_since = None;
            self.power.going_off = true;
            self.power.kept = true;
            self.phase = Phase::Saving(now.after(self.hw.scaled(ANSWER)));
        }
        Some(due)
    }

    /// Everything is saved that can be: goes on with the firmware, if no group is left on its slot; whether it does.
    pub(super) fn halt_for_power(&mut self, now: Instant) -> bool {
        self.power.kept = self.groups.iter().all(|(_, group)| group.is_off());
        if self.power.kept {
            let halting = self
                .hw
                .interface
                .global
                .begin_halt(&mut self.hw.platform, now);
            self.phase = Phase::Halting(halting);
        }
        self.power.kept
    }

    /// Firmware that does not halt or stop is stopped by a reset, when what groups were saved to is in memory.
    pub(super) fn reset_for_power(&mut self, now: Instant) {
        self.power.kept = false;
        let flush = Flush::begin(&mut self.hw.platform, now, CacheFlush::CLEAN);
        self.phase = Phase::Cleaning(flush);
    }

    /// The microcontroller has stopped, or does not: what comes next on the way off.
    pub(super) fn stopped_for_power(&mut self, now: Instant, in_order: bool) {
        match (self.power.kept, in_order) {
            (true, true) => {
                self.space_seats.clear();
                self.spaces_move = true;
                self.phase = Phase::Leaving;
            }
            (true, false) => self.reset_for_power(now),
            (false, _) => self.phase = Phase::Starting(Start::stop()),
        }
    }

    /// Lets all address spaces leave the hardware, the firmware's last; when to go on, if that takes time.
    pub(super) fn leave_spaces(&mut self, now: Instant) -> Option<Duration> {
        let of_jobs = self.move_spaces(now);
        let left = match of_jobs {
            Ok(Some(_)) => return Some(mmu::LOOK),
            Ok(None) => {
                let space = &mut self.firmware_vm.space;
                if !space.moves() {
                    space.begin_leave(&mut self.hw.platform, now);
                }
                space.step(&mut self.hw.platform, now).is_ok()
            }
            Err(_) => false,
        };
        if !left {
            // Caches may still hold what groups were saved to.
            self.forget_saved();
            self.power.kept = false;
            self.phase = Phase::Starting(Start::stop());
            return None;
        }
        if self.firmware_vm.space.holds().is_some() {
            return Some(mmu::LOOK);
        }
        let switch = Switch::begin(&mut self.hw.platform, now, PowerChange::Off);
        self.phase = Phase::SwitchingOff(switch);
        None
    }

    /// Looks at the L2; when to look again.
    pub(super) fn switch_off(&mut self, now: Instant) -> Option<Duration> {
        let Phase::SwitchingOff(switch) = &mut self.phase else {
            return None;
        };
        match switch.poll(&mut self.hw.platform, now) {
            Ok(false) => Some(power::LOOK),
            Ok(true) => {
                self.stopped(true);
                self.cut_supply(now);
                None
            }
            // It stays on: the reset takes it.
            Err(_) => {
                self.power.kept = false;
                self.phase = Phase::Starting(Start::stop());
                None
            }
        }
    }

    /// Nothing in the GPU runs: its supply goes.
    pub(super) fn cut_supply(&mut self, now: Instant) {
        mask_all(&mut self.hw.platform);
        self.begin_supply(now, PowerChange::Off);
    }

    fn begin_supply(&mut self, now: Instant, change: PowerChange) {
        if let (PowerChange::On, Some(point)) = (change, self.power.point) {
            self.hw.platform.set_operating_point(point);
        }
        self.hw.platform.begin_supply(change);
        let until = now.after(self.hw.scaled(SUPPLY));
        self.phase = Phase::Supplying { change, until };
    }

    /// Looks at the supply; when to look again.
    pub(super) fn poll_supply(
        &mut self,
        now: Instant,
        change: PowerChange,
        until: Instant,
    ) -> Option<Duration> {
        let stable = self.hw.platform.supply_is_stable();
        if !stable && now < until {
            return Some(LOOK);
        }
        match change {
            // One that does not go is no harm: nothing runs.
            PowerChange::Off => {
                self.power.going_off = false;
                self.phase = Phase::Off;
            }
            PowerChange::On if stable => {
                let start = if self.power.kept {
                    self.hw.interface.global.clear_halt(&mut self.hw.platform);
                    Start::fast()
                } else {
                    Start::slow()
                };
                self.phase = Phase::Starting(start);
            }
            PowerChange::On => {
                let limit = self.hw.scaled(SUPPLY);
                self.give_up(DeviceLost::Restart(BringUpError::NoSupply { limit }));
            }
        }
        None
    }

    /// It is on its way neither on nor off any more: it runs, or was given up.
    pub(super) const fn power_is_settled(&mut self) {
        self.power.going_off = false;
        self.power.coming_on = false;
        self.power.idle_since = None;
    }

    /// Waits until the GPU is not on its way off, and has its supply, for whoever is about to reset it.
    pub(super) fn supply_for_reset(&mut self) {
        if self.power.going_off {
            self.wait_for_phase(|phase| matches!(phase, Phase::Running | Phase::Dead | Phase::Off));
        }
        let now = self.hw.platform.now();
        self.wake(now);
        self.wait_for_phase(|phase| !matches!(phase, Phase::Supplying { .. }));
        self.power.suspended = false;
        self.power_is_settled();
    }

    /// Waits until the GPU is off or on, for whoever is about to shut it down; whether it is off.
    pub(super) fn is_off_for_shutdown(&mut self) -> bool {
        if self.power.going_off || self.power.coming_on {
            self.power.suspended = true;
            self.wait_for_phase(|phase| matches!(phase, Phase::Running | Phase::Dead | Phase::Off));
        }
        matches!(self.phase, Phase::Off)
    }
}

/// Waits until the supply has come.
///
/// # Errors
/// If it does not in time.
pub(super) fn supply<P: Platform>(platform: &mut P) -> Result<(), BringUpError> {
    platform.begin_supply(PowerChange::On);
    let limit = scaled(platform, SUPPLY);
    let until = platform.now().after(limit);
    finish(platform, Lines::NONE, LOOK, |it, now| {
        let stable = it.supply_is_stable();
        if !stable && now >= until {
            return Err(BringUpError::NoSupply { limit });
        }
        Ok(stable)
    })
}
