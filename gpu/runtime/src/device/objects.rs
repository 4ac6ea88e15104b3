//! Objects of the device: made and removed in either address space; a space that does not obey costs the device.

use super::{Device, DeviceLost};
use crate::mmu::MmuError;
use crate::platform::Platform;
use crate::vm::{Object, Protection, Space, Vm, VmError};
use heapless::Vec;

/// An object to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) space: Space,
    pub(crate) what: &'static str,
    pub(crate) bytes: u64,
    pub(crate) protection: Protection,
}

impl Request {
    /// An object for jobs.
    pub(crate) const fn for_jobs(
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Request {
        Request {
            space: Space::Jobs,
            what,
            bytes,
            protection,
        }
    }

    /// An object that the firmware uses.
    pub(crate) const fn for_firmware(
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Request {
        Request {
            space: Space::Firmware,
            what,
            bytes,
            protection,
        }
    }
}

impl<P: Platform> Device<'_, P> {
    /// Makes an object.
    pub(crate) fn create_object(&mut self, request: Request) -> Result<Object, VmError> {
        let Request {
            space,
            what,
            bytes,
            protection,
        } = request;
        let (platform, memory) = (&mut self.platform, &mut self.memory);
        let vm = match space {
            Space::Firmware => &mut self.firmware_vm,
            Space::Jobs => &mut self.job_vm,
        };
        let pages = memory
            .take(platform, what, bytes, Vm::alignment(bytes))
            .map_err(VmError::from)?;
        let placed = vm.place(platform, memory, what, pages, protection);
        placed.map_err(|(pages, error)| {
            // A space that does not obey has cost the device: the GPU is stopped before its memory has a new owner.
            self.note(error);
            self.memory.give_back(&mut self.platform, pages);
            error
        })
    }

    /// Makes all of these objects, or none.
    pub(crate) fn create_objects<const N: usize>(
        &mut self,
        requests: [Request; N],
    ) -> Result<[Object; N], VmError> {
        let mut made: Vec<Object, N> = Vec::new();
        for request in requests {
            match self.create_object(request) {
                // There is room: there are no more requests than places.
                Ok(object) => drop(made.push(object)),
                Err(error) => {
                    self.destroy_objects(made);
                    return Err(error);
                }
            }
        }
        // Each request has made one object, so the lengths agree.
        made.into_array().map_err(|_| VmError::OutOfAddresses {
            what: "objects",
            bytes: 0,
        })
    }

    /// Removes an object that no work uses any more.
    pub(crate) fn destroy_object(&mut self, object: Object) -> Result<(), VmError> {
        match self.remove_object(object) {
            Ok(()) => Ok(()),
            Err((object, error)) => {
                self.note(error);
                // The GPU is stopped now, if the space did not obey: what is left is to change the tables in memory.
                if self.lost.is_some() {
                    let _ = self.remove_object(object);
                }
                Err(error)
            }
        }
    }

    fn remove_object(&mut self, object: Object) -> Result<(), (Object, VmError)> {
        let vm = match object.space() {
            Space::Firmware => &mut self.firmware_vm,
            Space::Jobs => &mut self.job_vm,
        };
        let pages = vm.remove(&mut self.platform, &mut self.memory, object)?;
        self.memory.give_back(&mut self.platform, pages);
        Ok(())
    }

    /// Removes objects as far as possible; gives the first error.
    pub(crate) fn destroy_objects<const N: usize>(
        &mut self,
        mut objects: Vec<Object, N>,
    ) -> Option<VmError> {
        let mut first = None;
        while let Some(object) = objects.pop() {
            if let Err(error) = self.destroy_object(object) {
                first = first.or(Some(error));
            }
        }
        first
    }

    /// An address space that does not obey costs the device.
    fn note(&mut self, error: VmError) {
        if let VmError::Mmu(mmu @ (MmuError::Stuck(_) | MmuError::Flush(_))) = error {
            self.lose(DeviceLost::Mmu(mmu));
        }
    }
}
