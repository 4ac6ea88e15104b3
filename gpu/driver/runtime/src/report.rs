//! Reports of bring-up: which step, what was found, how long it took.
//!
//! A reporter hears of a step before it begins, because a wrong step may hang the machine (hardware/boards.md
//! section 5), and again when it has succeeded.

use crate::platform::Platform;
use crate::warning::Warning;
use core::fmt;
use core::time::Duration;

/// A step from power-off to a GPU that takes jobs, and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Read what the GPU is.
    Probe,
    /// Reset it.
    Reset,
    /// Power the L2 cache.
    PowerOn,
    /// Copy and map the firmware's sections.
    LoadFirmware,
    /// Give address space 0 to the firmware.
    EnableFirmwareSpace,
    /// Start the microcontroller and wait for its boot notice.
    StartFirmware,
    /// Check the interface that the firmware offers.
    CheckInterface,
    /// Set cores and timers.
    Configure,
    /// Ask the firmware for a sign of life.
    Ping,
    /// Stop groups.
    StopGroups,
    /// Halt and stop the microcontroller.
    StopFirmware,
    /// Take the address spaces away.
    DisableSpaces,
    /// Cut the L2 cache's power.
    PowerOff,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Probe => "probe",
            Step::Reset => "soft reset",
            Step::PowerOn => "L2 power on",
            Step::LoadFirmware => "load firmware",
            Step::EnableFirmwareSpace => "enable firmware address space",
            Step::StartFirmware => "start firmware",
            Step::CheckInterface => "check interface",
            Step::Configure => "configure",
            Step::Ping => "ping",
            Step::StopGroups => "stop groups",
            Step::StopFirmware => "stop firmware",
            Step::DisableSpaces => "disable address spaces",
            Step::PowerOff => "L2 power off",
        })
    }
}

/// A step that has succeeded.
#[derive(Clone, Copy, Debug)]
pub struct Done<'a> {
    /// Which.
    pub step: Step,
    /// What was found, one line.
    pub found: fmt::Arguments<'a>,
    /// How long it took.
    pub took: Duration,
}

/// Who hears of steps.
pub trait Reporter {
    /// A step begins.
    fn begin(&mut self, step: Step) {
        let _ = step;
    }

    /// A step has succeeded.
    fn done(&mut self, done: &Done<'_>);

    /// A step has found something odd that the driver can live with.
    fn warn(&mut self, warning: &Warning) {
        let _ = warning;
    }
}

/// Hears nothing.
impl Reporter for () {
    fn done(&mut self, _: &Done<'_>) {}
}

/// A closure hears of steps that have succeeded.
impl<F: FnMut(&Done<'_>)> Reporter for F {
    fn done(&mut self, done: &Done<'_>) {
        self(done);
    }
}

/// Takes steps one by one: announces each, times it, and reports it when it has succeeded.
pub(crate) struct Steps<'r, R> {
    reporter: &'r mut R,
}

impl<'r, R: Reporter> Steps<'r, R> {
    pub(crate) const fn new(reporter: &'r mut R) -> Steps<'r, R> {
        Steps { reporter }
    }

    /// Reports what the last step found odd.
    pub(crate) fn warn(&mut self, warning: &Warning) {
        self.reporter.warn(warning);
    }

    /// Takes one step. `found` hands what was found, one line, to its second argument.
    ///
    /// # Errors
    /// Those of the step: then it is not reported.
    pub(crate) fn take<P: Platform, T, E>(
        &mut self,
        platform: &mut P,
        step: Step,
        action: impl FnOnce(&mut P) -> Result<T, E>,
        found: impl FnOnce(&T, &mut dyn FnMut(fmt::Arguments<'_>)),
    ) -> Result<T, E> {
        self.take_with(platform, |it| it, step, action, found)
    }

    /// As [`Steps::take`], on something that has the platform in it.
    pub(crate) fn take_with<P: Platform, S, T, E>(
        &mut self,
        state: &mut S,
        platform: fn(&mut S) -> &mut P,
        step: Step,
        action: impl FnOnce(&mut S) -> Result<T, E>,
        found: impl FnOnce(&T, &mut dyn FnMut(fmt::Arguments<'_>)),
    ) -> Result<T, E> {
        self.reporter.begin(step);
        let since = platform(state).now();
        let value = action(state)?;
        let took = platform(state).now().since(since);
        found(&value, &mut |found| {
            self.reporter.done(&Done { step, found, took });
        });
        Ok(value)
    }
}
