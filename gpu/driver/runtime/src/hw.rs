//! Hardware: the platform, and what bring-up has found out about the GPU and its firmware. What works on one object of the device
//! takes this beside the object.

use crate::firmware::{ANSWER, Interface};
use crate::gpu::Properties;
use crate::platform::{Instant, Platform};
use crate::wait::scaled;
use core::time::Duration;
use eitri_csf::registers::control::Coherency;

/// The hardware of a device.
#[derive(Debug)]
pub(crate) struct Hw<P> {
    pub(crate) platform: P,
    pub(crate) properties: Properties,
    pub(crate) coherency: Coherency,
    /// The interface of the firmware that runs.
    pub(crate) interface: Interface,
}

impl<P: Platform> Hw<P> {
    /// A limit on a GPU that is clocked as it is.
    pub(crate) fn scaled(&self, limit: Duration) -> Duration {
        scaled(&self.platform, limit)
    }

    /// When an answer of the firmware that is requested now is late.
    pub(crate) fn deadline(&self, now: Instant) -> Instant {
        now.after(self.scaled(ANSWER))
    }
}
