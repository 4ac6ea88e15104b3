//! Mappings: memory of objects, mapped in address spaces and unmapped.
//!
//! A space whose tables the MMU does not let go of costs the device.

use super::{Device, DeviceLost};
use crate::error::{Error, Thing};
use crate::memory::OutOfMemory;
use crate::platform::{PhysicalAddress, Platform};
use crate::slab::{Key, Slab};
use crate::vm::{AT_ONCE, Mapping, NOTHING, Protection, Vm, VmError, Wanted};
use core::ops::Range;

impl<'d, P: Platform> Device<'_, 'd, P> {
    /// The space with this key; without one the firmware's.
    fn vm<'a>(
        firmware: &'a mut Vm,
        spaces: &'a mut Slab<'_, Vm>,
        space: Option<Key>,
    ) -> Result<&'a mut Vm, Error> {
        match space {
            None => Ok(firmware),
            Some(space) => spaces
                .get_mut(space)
                .ok_or(Error::Gone { what: Thing::Space }),
        }
    }

    /// Maps fresh memory in a space; without one in the firmware's.
    pub(crate) fn map(
        &mut self,
        space: Option<Key>,
        what: &'static str,
        bytes: u64,
        protection: Protection,
    ) -> Result<Mapping, Error> {
        let wanted = (what, bytes.max(1), protection);
        let [mapping, ..] = self.map_all(space, [wanted, NOTHING, NOTHING])?;
        let what = Thing::Buffer;
        mapping.ok_or(Error::Empty { what })
    }

    /// Maps several in one go, for which the hardware is asked once; nothing where no bytes are wanted.
    #[inline(never)]
    pub(crate) fn map_all(
        &mut self,
        space: Option<Key>,
        wanted: [Wanted; AT_ONCE],
    ) -> Result<[Option<Mapping>; AT_ONCE], Error> {
        self.wait_for_mmu();
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let mapped = vm.map(&mut self.hw.platform, &mut self.memory, wanted);
        mapped.map_err(|(pages, error)| {
            // A space that does not obey has cost the device: the GPU is stopped before its memory has a new owner.
            self.note(error);
            for pages in pages.into_iter().flatten() {
                self.memory.give_back(&mut self.hw.platform, pages);
            }
            error.into()
        })
    }

    /// Maps memory that the platform lends in a space.
    pub(super) fn map_borrowed(
        &mut self,
        space: Key,
        what: &'static str,
        memory: Range<PhysicalAddress>,
    ) -> Result<Mapping, Error> {
        let bytes = memory.end.0.saturating_sub(memory.start.0);
        let missing = VmError::OutOfMemory(OutOfMemory { what, bytes });
        self.wait_for_mmu();
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, Some(space))?;
        let platform = &mut self.hw.platform;
        let pages = self.memory.borrow(platform, memory).ok_or(missing)?;
        let mapped = vm.map_borrowed(platform, &mut self.memory, pages, what);
        mapped.map_err(|(pages, error)| {
            self.note(error);
            self.memory.give_back(&mut self.hw.platform, pages);
            error.into()
        })
    }

    /// Unmaps what no work uses any more, and gives its memory back.
    #[inline(never)]
    pub(crate) fn unmap(
        &mut self,
        space: Option<Key>,
        mappings: [Option<Mapping>; AT_ONCE],
    ) -> Result<(), Error> {
        self.wait_for_mmu();
        let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
        let unmapped = vm.unmap(&mut self.hw.platform, &mut self.memory, &mappings);
        if let Err(error) = unmapped {
            self.note(error);
            // The GPU is stopped now, if the space did not obey: what is left is to change the tables in memory.
            let vm = Self::vm(&mut self.firmware_vm, &mut self.spaces, space)?;
            let _ = vm.unmap(&mut self.hw.platform, &mut self.memory, &mappings);
        }
        for mapping in mappings.into_iter().flatten() {
            self.memory
                .give_back(&mut self.hw.platform, mapping.into_pages());
        }
        Ok(unmapped?)
    }

    /// An address space that does not obey is a loss of the GPU.
    fn note(&mut self, error: VmError) {
        if let VmError::Mmu(mmu) = error
            && mmu.costs_the_device()
        {
            self.stop_now(DeviceLost::Mmu(mmu));
        }
    }
}
