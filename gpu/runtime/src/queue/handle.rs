//! What a user holds of a queue: submission, and its timeline.
//!
//! A timeline semaphore counts the jobs of its queue that are done: the n-th job reaches point n.
//! Facts: hardware/csf-scheduling.md sections 4 to 6.

use super::stream::{JobState, PushError};
use super::wrapper::UnusableStream;
use crate::access::Access;
use crate::command::CommandBuffer;
use crate::device::{Device, DeviceLost};
use crate::fault::{Cause, JobFault, Recovery};
use crate::group::{Group, GroupId};
use crate::platform::{Lines, Platform};
use crate::vm::VmError;
use crate::wait::{Pace, poll};
use core::time::Duration;
use eitri_cs::EncodeError;
use thiserror::Error;

/// The stream of a group that takes compute work.
const COMPUTE: usize = 0;

/// A queue of jobs. It must be given back with [`Device::destroy_queue`].
#[derive(Debug)]
#[must_use = "a queue that is dropped keeps its slot"]
pub struct Queue {
    pub(crate) id: GroupId,
}

/// The timeline of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineSemaphore {
    id: GroupId,
}

/// Why a queue can't be made or destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum QueueError {
    /// The device is lost.
    #[error(transparent)]
    Lost(#[from] DeviceLost),
    /// There is no such priority.
    #[error("priority {priority} is not 0 to 15")]
    Priority {
        /// The priority.
        priority: u32,
    },
    /// Another queue has this priority.
    #[error("another queue has priority {priority}: every queue needs its own")]
    PriorityTaken {
        /// The priority.
        priority: u32,
    },
    /// Every slot has a group.
    #[error("all {slots} group slots are taken")]
    NoSlot {
        /// Slots that there are.
        slots: usize,
    },
    /// The firmware's streams can't be used.
    #[error(transparent)]
    Stream(#[from] UnusableStream),
    /// No memory, or no addresses.
    #[error(transparent)]
    Vm(#[from] VmError),
}

/// Why a job is not submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SubmitError {
    /// The device is lost.
    #[error(transparent)]
    Lost(#[from] DeviceLost),
    /// The queue has failed before.
    #[error("the queue has failed: {0}")]
    Failed(JobFault),
    /// The queue does not exist any more.
    #[error("the queue was destroyed")]
    Gone,
    /// The ring is full: wait for a job first.
    #[error("the queue is full: wait for one of its jobs first")]
    Full,
    /// The commands were not ended with `finish`, or hold nothing.
    #[error("the command buffer holds no finished commands")]
    NotRecorded,
    /// The call can't be encoded.
    #[error("the job's call can't be encoded: {0}")]
    Encode(EncodeError),
}

/// Why a wait did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WaitError {
    /// The device is lost.
    #[error(transparent)]
    Lost(#[from] DeviceLost),
    /// A job failed.
    #[error(transparent)]
    Job(#[from] JobFault),
    /// The queue does not exist any more.
    #[error("the queue was destroyed")]
    Gone,
    /// No job was submitted that would reach the point.
    #[error("point {point} was never submitted: the last is {last}")]
    NeverSubmitted {
        /// The point.
        point: u64,
        /// The last point that was submitted.
        last: u64,
    },
    /// The job ended, and so many jobs have failed since that it is not known any more whether it did too.
    #[error("point {point} was reached so long ago that its outcome is not kept")]
    Forgotten {
        /// The point.
        point: u64,
    },
}

impl Queue {
    /// Submits commands; gives the point that the queue's timeline reaches when they are done. Allocates nothing.
    ///
    /// # Errors
    /// If the queue is full, has failed, or the device is lost. Nothing is submitted then.
    pub fn submit<P: Platform>(
        &self,
        device: &mut Device<'_, P>,
        commands: &CommandBuffer,
    ) -> Result<u64, SubmitError> {
        device.process_events()?;
        let (start, bytes) = commands.recorded().ok_or(SubmitError::NotRecorded)?;
        let Some((group, platform, _)) = device.active_group(self.id) else {
            return Err(failed(device.group(self.id)));
        };
        let bell = group.doorbell();
        let stream = group.streams.get_mut(COMPUTE).ok_or(SubmitError::Gone)?;
        let point = stream
            .push(platform, start, bytes)
            .map_err(|error| match error {
                PushError::Full => SubmitError::Full,
                PushError::Encode(error) => SubmitError::Encode(error),
            })?;
        platform.ring(bell);
        Ok(point)
    }

    /// The queue's timeline.
    pub const fn timeline(&self) -> TimelineSemaphore {
        TimelineSemaphore { id: self.id }
    }
}

fn failed(group: Option<&Group>) -> SubmitError {
    let fault = group.and_then(|group| group.streams.get(COMPUTE)?.stopped());
    fault.map_or(SubmitError::Gone, |fault| SubmitError::Failed(*fault))
}

impl TimelineSemaphore {
    /// The point that was reached: how many jobs are done.
    ///
    /// # Errors
    /// If the queue does not exist any more.
    pub fn value<P: Platform>(&self, device: &mut Device<'_, P>) -> Result<u64, WaitError> {
        let group = device.groups.iter().find(|group| group.id == self.id);
        let stream = group
            .and_then(|group| group.streams.get(COMPUTE))
            .ok_or(WaitError::Gone)?;
        Ok(stream.reached(&mut device.platform))
    }

    /// Waits until the job of `point` is over, for `limit` at most. A job that is not by then is diagnosed and its queue
    /// is stopped.
    ///
    /// # Errors
    /// If that job failed or did not end in time, or the device is lost. What became of other jobs is theirs to tell.
    pub fn wait<P: Platform>(
        &self,
        device: &mut Device<'_, P>,
        point: u64,
        limit: Duration,
    ) -> Result<(), WaitError> {
        let last = self.stream(device)?.submitted();
        if point > last {
            return Err(WaitError::NeverSubmitted { point, last });
        }
        let done = poll(
            device,
            |device| &mut device.platform,
            Pace::caller(Lines::ALL, limit),
            |device| {
                // A device that is lost has said so to its queues, which know more of the job.
                let _ = device.process_events();
                self.look(device, point)
            },
        )?;
        match done {
            Some(()) => Ok(()),
            None => Err(self.give_up(device, limit)),
        }
    }

    /// Whether the job of `point` is over; an error if it failed.
    fn look<P: Platform>(
        &self,
        device: &mut Device<'_, P>,
        point: u64,
    ) -> Result<Option<()>, WaitError> {
        let group = device.groups.iter_mut().find(|group| group.id == self.id);
        let stream = group.and_then(|group| group.streams.get_mut(COMPUTE));
        let stream = stream.ok_or(WaitError::Gone)?;
        stream.settle(&mut device.platform);
        match (stream.state(point), device.lost) {
            (JobState::Done, _) => Ok(Some(())),
            (JobState::Forgotten, _) => Err(WaitError::Forgotten { point }),
            (JobState::Pending, None) => Ok(None),
            // Of a job that went down with the device, the device knows why.
            (JobState::Pending, Some(lost)) => Err(WaitError::Lost(lost)),
            (JobState::Failed(fault), Some(lost)) if fault.cause == Cause::Lost => {
                Err(WaitError::Lost(lost))
            }
            (JobState::Failed(fault), _) => Err(WaitError::Job(fault)),
        }
    }

    /// Finds out what the job was doing that the queue does not get past, and stops the queue.
    fn give_up<P: Platform>(&self, device: &mut Device<'_, P>, limit: Duration) -> WaitError {
        let global = device.interface.global;
        let group = device.groups.iter_mut().find(|group| group.id == self.id);
        let Some(group) = group else {
            return WaitError::Gone;
        };
        let platform = &mut device.platform;
        let Some(status) = group.status(platform, &global, COMPUTE) else {
            return WaitError::Gone;
        };
        let Some(stream) = group.streams.get_mut(COMPUTE) else {
            return WaitError::Gone;
        };
        let job = stream.current_job(platform);
        let cause = Cause::TimeLimit { limit, status };
        let fault = stream.fault(job, cause, Recovery::NewQueue);
        stream.stop(fault);
        match group.terminate(platform, &global) {
            Ok(()) => WaitError::Job(fault),
            Err(silent) => {
                device.silent(silent);
                WaitError::Job(JobFault {
                    recovery: Recovery::Restart,
                    ..fault
                })
            }
        }
    }

    fn stream<'d, P: Platform>(
        &self,
        device: &'d Device<'_, P>,
    ) -> Result<&'d super::Stream, WaitError> {
        let group = device.group(self.id).ok_or(WaitError::Gone)?;
        group.streams.get(COMPUTE).ok_or(WaitError::Gone)
    }
}
