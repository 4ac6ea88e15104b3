//! Waiting, for programs that have nothing else to do: a loop of [`Device::poll`] and of the platform's own wait.

use super::semaphores::SemaphorePoint;
use super::{Device, DevicePower};
use crate::error::Error;
use crate::fault::StreamStatus;
use crate::group::{Residency, STATUS, request_status, ring};
use crate::handle::Fence;
use crate::platform::{Lines, Platform};
use crate::queue::Status;
use crate::wait::{Pace, ms, poll};
use core::convert::Infallible;
use core::time::Duration;

/// How long the firmware may take to say what a stream does.
const EXPLAIN: Duration = ms(100);
/// How long all groups may take to leave their slots, and a GPU that is lost meanwhile to come up again: the sum of the limits
/// on the way.
const SETTLE: Duration = ms(20_000);

impl<P: Platform> Device<'_, '_, P> {
    /// Polls until a job is over, for `limit` at most: then it is still [`Status::Pending`], and goes on.
    #[inline(never)]
    pub fn wait(&mut self, fence: Fence, limit: Duration) -> Status {
        self.poll_until(Pace::new(Lines::ALL, limit), |device| {
            (!device.is_pending(fence)).then_some(())
        });
        let status = self.status(fence);
        self.collect();
        status
    }

    /// Polls until a point of a semaphore is reached, for `limit` at most; whether it is.
    ///
    /// # Errors
    /// If the semaphore was destroyed.
    pub fn wait_for(&mut self, point: SemaphorePoint, limit: Duration) -> Result<bool, Error> {
        self.semaphore_value(point.semaphore)?;
        let reached = self.poll_until(Pace::new(Lines::ALL, limit), |device| {
            let value = device.semaphore_value(point.semaphore);
            value.is_ok_and(|value| value >= point.value).then_some(())
        });
        Ok(reached.is_some())
    }

    /// Polls until no group is on its way to or from a slot, the GPU is on or off or given up, and nothing is left of what was
    /// destroyed; false if that does not come about in time.
    pub fn settle(&mut self) -> bool {
        let limit = self.hw.scaled(SETTLE);
        let settled = self.poll_until(Pace::new(Lines::ALL, limit), |device| {
            let mut groups = device.groups.iter();
            let moves = groups.any(|(_, group)| {
                let off = matches!(group.residency, Residency::Off(_));
                // One that was destroyed, too, is gone.
                let ends = off && group.ending.is_some() && !group.is_destroyed();
                group.moves() || ends
            });
            let off = device.power() == DevicePower::Off;
            let still = off || device.is_running() || device.lost.is_some();
            (!moves && still).then_some(())
        });
        self.collect();
        settled.is_some()
    }

    /// Asks the firmware for a sign of life, and polls until it has come.
    ///
    /// # Errors
    /// If the GPU is lost, for this reason or another: it may be on its way back. Or if the device is suspended.
    pub fn ping(&mut self) -> Result<(), Error> {
        self.powered()?;
        let now = self.hw.platform.now();
        self.watch.ask_now(now);
        self.restless = true;
        let limit = self.hw.scaled(SETTLE);
        let losses = self.recoveries;
        self.poll_until(Pace::new(Lines::ALL, limit), |device| {
            let now = device.hw.platform.now();
            let lost = device.lost.is_some() || device.recoveries != losses;
            (lost || !device.watch.is_asking(now)).then_some(())
        });
        match self.last_loss {
            Some(lost) if self.recoveries != losses => Err(lost.into()),
            _ => self.alive(),
        }
    }

    /// What the stream of a job is doing: why does it not get on? Asks the firmware, and waits for 100 ms at most. `None` if
    /// it is on no slot.
    pub fn explain(&mut self, fence: Fence) -> Option<StreamStatus> {
        let slot = self.group(fence.queue).ok()?.slot();
        let slot = slot.filter(|_| self.is_running())?;
        let slot = self.hw.interface.slots.get(slot)?;
        request_status(&mut self.hw.platform, slot);
        ring(&mut self.hw.platform, &self.hw.interface.global, slot);
        let requests = slot.requests();
        let limit = self.hw.scaled(EXPLAIN);
        let fresh = self.poll_until(Pace::new(Lines::ALL, limit), |device| {
            requests
                .is_answered(&mut device.hw.platform, STATUS)
                .then_some(())
        });
        let group = self.groups.get(fence.queue.0)?;
        let slot = group.blocks(&self.hw.interface)?;
        group.stream_status(
            &mut self.hw.platform,
            slot,
            fence.sub_queue,
            fresh.is_some(),
        )
    }

    /// Polls until `found` is, or the limit has come.
    fn poll_until<T>(
        &mut self,
        pace: Pace,
        mut found: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let ended = poll(
            self,
            |device| &mut device.hw.platform,
            |device| device.due,
            pace,
            |device, now| {
                device.poll(now);
                Ok::<_, Infallible>(found(device))
            },
        );
        match ended {
            Ok(found) => found,
            Err(never) => match never {},
        }
    }
}
