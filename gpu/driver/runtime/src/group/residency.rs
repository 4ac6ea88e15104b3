//! Residency: where a group is, and what is known of it there. Each state holds what it needs and nothing else.
//!
//! Facts: hardware/csf-scheduling.md sections 3.1 to 3.4.

use super::STREAMS;
use crate::platform::Instant;
use crate::policy::State;
use crate::queue::Waiting;

/// Where a group is, and where it is going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    /// On no slot: never started, or saved.
    Off(Off),
    /// On a slot, or on the way to it or from it.
    Seated(Seated),
    /// Ended: the group will never run again.
    Dead,
}

/// A group on no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Off {
    pub(crate) saved: Saved,
    /// The sync objects that the streams wait for, if there is nothing else to do.
    pub(crate) blocked: Option<[Option<Waiting>; STREAMS]>,
}

impl Off {
    /// A group that starts afresh.
    pub(crate) const FRESH: Off = Off {
        saved: Saved::Nothing,
        blocked: None,
    };
}

/// What the suspend buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// Nothing: the group is started, not resumed.
    Nothing,
    /// The group's state.
    State,
    /// A state that may be incomplete: the GPU was stopped before its caches were cleaned.
    Uncertain,
}

/// A group that has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seated {
    pub(crate) slot: usize,
    /// Number of the priority among slots.
    pub(crate) number: u32,
    pub(crate) stage: Stage,
    /// What the suspend buffer holds: nothing from the start on.
    pub(crate) saved: Saved,
    /// The firmware reports that the group has nothing to do now.
    pub(crate) idle: bool,
    /// Jobs came into the rings at a time when the firmware may not have seen them.
    pub(crate) unseen: bool,
}

/// Part of a stay on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The address space is not in the hardware yet.
    Waiting,
    /// The firmware is to start or resume the group, by then.
    Starting {
        /// The firmware's deadline.
        until: Instant,
    },
    /// The group runs.
    Running {
        /// When it came.
        since: Instant,
    },
    /// The firmware is to save the group, by then.
    Suspending {
        /// The firmware's deadline.
        until: Instant,
    },
    /// The firmware is to drop the group, by then.
    Terminating {
        /// The firmware's deadline.
        until: Instant,
    },
}

impl Residency {
    /// The state, as the policy's table names it.
    pub(crate) const fn state(&self) -> State {
        match self {
            Residency::Off(off) => match off.saved {
                Saved::Nothing | Saved::State => State::Off,
                Saved::Uncertain => State::Uncertain,
            },
            Residency::Seated(seated) => match seated.stage {
                Stage::Waiting => State::Waiting,
                Stage::Starting { .. } => State::Starting,
                Stage::Running { .. } => State::Running,
                Stage::Suspending { .. } => State::Suspending,
                Stage::Terminating { .. } => State::Terminating,
            },
            Residency::Dead => State::Dead,
        }
    }

    /// The stay on a slot.
    pub(crate) const fn seated(&self) -> Option<&Seated> {
        match self {
            Residency::Seated(seated) => Some(seated),
            Residency::Off(_) | Residency::Dead => None,
        }
    }

    /// The stay on a slot, to be changed.
    pub(crate) const fn seated_mut(&mut self) -> Option<&mut Seated> {
        match self {
            Residency::Seated(seated) => Some(seated),
            Residency::Off(_) | Residency::Dead => None,
        }
    }
}

impl Seated {
    /// A group that has just got a slot.
    pub(crate) const fn new(slot: usize, number: u32, saved: Saved) -> Seated {
        Seated {
            slot,
            number,
            stage: Stage::Waiting,
            saved,
            idle: false,
            unseen: false,
        }
    }

    /// Whether the group runs.
    pub(crate) const fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running { .. })
    }

    /// The group runs from `now` on.
    pub(crate) const fn start_running(&mut self, now: Instant) {
        self.stage = Stage::Running { since: now };
        self.saved = Saved::Nothing;
    }
}
