//! Device: the GPU as its user holds it, with everything that belongs to it.
//!
//! Needs: [`Device::bring_up`].  Guarantees: no call hangs or panics, whatever the GPU or its firmware does; once the
//! device is lost every call says why, until [`Device::restart`].
//! Facts: hardware/csf-mmio.md section 16, csf-scheduling.md.

mod bring_up;
mod buffers;
mod events;
mod objects;
mod queues;

pub use bring_up::{BringUpError, Failed, Options};
pub use buffers::{Buffer, BufferError};
pub use events::{DeviceLost, FirmwareCrash};
pub(crate) use objects::Request;
pub use queues::QueueConfig;

use crate::firmware::{Interface, LoadedImage};
use crate::gpu::Properties;
use crate::group::{Group, GroupId, GroupState, MAX_GROUPS};
use crate::memory::Memory;
use crate::platform::Platform;
use crate::vm::Vm;
use eitri_csf::interface::control::Version;
use eitri_csf::registers::control::Coherency;
use heapless::Vec;

/// A running GPU. `'f` is the lifetime of the firmware image, which a restart reads again.
///
/// A device is given up with [`Device::shutdown`]. One that is only dropped leaves its GPU running, with the memory that
/// it was given: that memory stays taken, as the rules of [`Platform`] say.
#[derive(Debug)]
#[must_use = "a device that is dropped leaves its GPU running"]
pub struct Device<'f, P> {
    pub(crate) platform: P,
    pub(crate) properties: Properties,
    pub(crate) coherency: Coherency,
    pub(crate) memory: Memory,
    /// The firmware's address space: its sections, suspend buffers, user pages.
    pub(crate) firmware_vm: Vm,
    /// The address space of jobs.
    pub(crate) job_vm: Vm,
    pub(crate) image: LoadedImage<'f>,
    pub(crate) interface: Interface,
    pub(crate) groups: Vec<Group, MAX_GROUPS>,
    pub(crate) next_group: u32,
    pub(crate) lost: Option<DeviceLost>,
}

impl<P: Platform> Device<'_, P> {
    /// What the GPU is and has.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// The interface version that the running firmware offers.
    pub fn interface_version(&self) -> Version {
        self.interface.version
    }

    /// The git hash of the firmware's build, if its image has one.
    pub fn firmware_build(&self) -> Option<&str> {
        self.image.image().build_info()
    }

    /// The platform, to look at. Only the runtime programs the GPU.
    pub fn platform(&self) -> &P {
        &self.platform
    }

    /// Why the device is lost, if it is.
    pub fn lost(&self) -> Option<&DeviceLost> {
        self.lost.as_ref()
    }

    /// Memory, in bytes, that is taken from the platform now.
    pub fn memory_in_use(&self) -> u64 {
        self.memory.in_use()
    }

    /// Memory, in bytes, that was destroyed but not given back to the platform: the GPU was lost and did not even reset,
    /// so that it may still be writing there.
    pub fn memory_withheld(&self) -> u64 {
        self.memory.withheld()
    }

    pub(crate) fn alive(&self) -> Result<(), DeviceLost> {
        match self.lost {
            Some(lost) => Err(lost),
            None => Ok(()),
        }
    }

    pub(crate) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.iter().find(|group| group.id == id)
    }

    /// A group that runs, with what its calls need.
    pub(crate) fn active_group(&mut self, id: GroupId) -> Option<(&mut Group, &mut P, &Interface)> {
        let group = self.groups.iter_mut().find(|group| group.id == id)?;
        (group.state == GroupState::Active).then_some((group, &mut self.platform, &self.interface))
    }
}
