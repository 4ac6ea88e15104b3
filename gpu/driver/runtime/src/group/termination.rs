//! Termination: why a group ends, and what is known of it until it is gone.
//!
//! Who ends for what stands in [`crate::policy`].

use super::{Group, STREAMS};
use crate::fault::{Cause, JobFault, Recovery};
use crate::mmu::MmuFault;
use crate::platform::Instant;

/// Why a group will be terminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Termination {
    /// One of its streams can't go on.
    Stream,
    /// The owner has cancelled or destroyed the queue.
    Cancelled,
    /// The firmware did not save the group in time.
    NotSuspended,
    /// The address space has a fault.
    Space(SpaceFault),
}

/// A fault of a group's address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpaceFault {
    pub(crate) fault: MmuFault,
    /// End of the time in which streams may report which job caused the fault.
    pub(crate) until: Instant,
    /// The points that the streams had reached then.
    pub(crate) reached: [u64; STREAMS],
}

impl Termination {
    /// Cause for jobs of which nothing else is known.
    pub(crate) const fn cause(self) -> Cause {
        match self {
            Termination::Cancelled => Cause::Cancelled,
            Termination::NotSuspended => Cause::NotSuspended,
            Termination::Stream | Termination::Space(_) => Cause::Lost,
        }
    }

    /// Cause for jobs that come too late.
    pub(crate) const fn cause_of_refusal(self) -> Cause {
        match self {
            Termination::Space(SpaceFault { fault, .. }) => Cause::Mmu(fault),
            Termination::Cancelled | Termination::NotSuspended | Termination::Stream => {
                self.cause()
            }
        }
    }
}

/// The end of a group, from its first reason on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    /// The first reason.
    pub(crate) why: Termination,
    /// The fault that stopped the group.
    pub(crate) fault: Option<JobFault>,
    /// The owner has destroyed the queue: its memory is given back when the group is on no slot.
    pub(crate) destroyed: bool,
}

impl Group {
    /// Lets the group end; the first reason stays.
    pub(crate) fn end_for(&mut self, why: Termination) -> &mut Ending {
        self.ending.get_or_insert(Ending {
            why,
            fault: None,
            destroyed: false,
        })
    }

    /// The fault that stopped the group, if only a reset of the GPU helps.
    pub(crate) fn fault_for_reset(&self) -> Option<JobFault> {
        let fault = self.ending.as_ref()?.fault?;
        (fault.recovery == Recovery::Reset).then_some(fault)
    }

    /// Whether the owner has destroyed the queue.
    pub(crate) const fn is_destroyed(&self) -> bool {
        matches!(&self.ending, Some(ending) if ending.destroyed)
    }
}

impl Ending {
    /// Keeps what stopped the group: the first fault, or the one that costs most.
    pub(crate) fn note(&mut self, fault: JobFault) {
        if self.fault.is_none_or(|kept| kept.recovery < fault.recovery) {
            self.fault = Some(fault);
        }
    }
}
