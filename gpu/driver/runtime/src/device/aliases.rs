//! Aliases: memory of a buffer at further addresses that its owner chooses, as replay, validation and other drivers need.
//!
//! Guarantees: no alias outlives the memory that it leads to; what the device has mapped itself is not unmapped.
//! Facts: hardware/gpu-mmu.md sections 6 and 7.

use super::{Device, DeviceLost, Kind, Object};
use crate::error::{Error, Thing};
use crate::group::Group;
use crate::handle::{Buffer, Space};
use crate::mmu::{MmuError, Part};
use crate::platform::Platform;
use crate::slab::Key;
use crate::vm::{GpuAddress, Mapping, VmError};
use core::ops::Range;
use eitri_csf::page_table::Attributes;

/// What may be done at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write; never execute.
    ReadWrite,
    /// Read and execute; never write.
    Execute,
}

impl Access {
    const fn attributes(self) -> Attributes {
        match self {
            Access::Read => Attributes::CACHED.read_only(),
            Access::ReadWrite => Attributes::CACHED,
            Access::Execute => Attributes::CODE,
        }
    }
}

impl<P: Platform> Device<'_, '_, P> {
    /// Maps `bytes` of a buffer from `offset` at `at` too, in the buffer's space; all three are multiples of 4096. Blocks of
    /// 2 MiB are used where they fit. The alias goes with the buffer. The last addresses of a space are the semaphores':
    /// [`Device::semaphore_addresses`].
    ///
    /// # Errors
    /// If that is not inside the buffer, something is mapped there or it is kept for semaphores, or there is no memory for tables.
    pub fn map_buffer(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: u64,
        at: GpuAddress,
        access: Access,
    ) -> Result<(), Error> {
        let object = self.object(buffer.0, Thing::Buffer)?;
        let (key, memory, size) = (
            object.space,
            object.mapping.memory(),
            object.mapping.bytes(),
        );
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= size);
        let outside = Error::Outside {
            offset,
            bytes,
            size,
        };
        let range = range(at, bytes).filter(|_| inside).ok_or(outside)?;
        if offset & 0xFFF != 0 {
            return Err(Error::Misaligned { offset });
        }
        let from = self.semaphore_addresses();
        if range.end > from.0 {
            return Err(Error::Reserved { from });
        }
        if let Some(object) = self.objects.get_mut(buffer.0)
            && let Kind::Buffer { aliased, .. } = &mut object.kind
        {
            *aliased = true;
        }
        let gone = Error::Gone { what: Thing::Space };
        self.wait_for_mmu();
        let vm = self.spaces.get_mut(key).ok_or(gone)?;
        let part = Part {
            range,
            physical: memory.offset(offset),
            attributes: access.attributes(),
        };
        let mapped = vm
            .space
            .map(&mut self.hw.platform, &mut self.memory, &[part]);
        self.obeyed(mapped)
    }

    /// Unmaps the aliases in a range of addresses, multiples of 4096; what is not mapped is passed over. A block of 2 MiB may be
    /// unmapped in part.
    ///
    /// # Errors
    /// If the range holds what has its address from the device, which goes when it is destroyed.
    pub fn unmap_range(&mut self, space: Space, at: GpuAddress, bytes: u64) -> Result<(), Error> {
        let outside = Error::Outside {
            offset: at.0,
            bytes,
            size: self.options.end_address,
        };
        let range = range(at, bytes).ok_or(outside)?;
        if let Some((what, number)) = self.owner_in(space.0, &range) {
            return Err(Error::Occupied { what, number });
        }
        let gone = Error::Gone { what: Thing::Space };
        self.wait_for_mmu();
        let vm = self.spaces.get_mut(space.0).ok_or(gone)?;
        let unmapped = vm
            .space
            .unmap(&mut self.hw.platform, &mut self.memory, &[range]);
        self.obeyed(unmapped)
    }

    /// Removes the aliases of memory that is about to be given back.
    pub(super) fn forget_aliases(&mut self, key: Key) -> Result<(), Error> {
        let Some(object) = self.objects.get(key) else {
            return Ok(());
        };
        let Kind::Buffer { aliased: true, .. } = object.kind else {
            return Ok(());
        };
        let (space, mapping) = (object.space, &object.mapping);
        let part = mapping.memory().span(mapping.bytes());
        self.wait_for_mmu();
        let Some(vm) = self.spaces.get_mut(space) else {
            return Ok(());
        };
        let unmapped = vm
            .space
            .unmap_memory(&mut self.hw.platform, &mut self.memory, part.clone());
        if unmapped.is_err_and(|error| error.costs_the_device()) {
            let told = self.obeyed(unmapped);
            // The GPU is stopped now: what is left is to change the tables in memory.
            if let Some(vm) = self.spaces.get_mut(space) {
                let _ = vm
                    .space
                    .unmap_memory(&mut self.hw.platform, &mut self.memory, part);
            }
            return told;
        }
        self.obeyed(unmapped)
    }

    /// An address space that does not obey is a loss of the GPU.
    pub(super) fn obeyed(&mut self, result: Result<(), MmuError>) -> Result<(), Error> {
        if let Err(error) = result
            && error.costs_the_device()
        {
            self.stop_now(DeviceLost::Mmu(error));
        }
        result.map_err(|error| Error::Vm(VmError::Mmu(error)))
    }

    /// What of the device's own lies in a range of addresses.
    fn owner_in(&self, space: Key, range: &Range<u64>) -> Option<(Thing, u16)> {
        let within = |mapping: &Mapping| {
            let start = mapping.address().0;
            start < range.end && range.start < start.saturating_add(mapping.bytes())
        };
        let mut objects = self.objects.iter();
        // Semaphores have the same address in every space.
        let here = |it: &Object<'_>| it.space == space || matches!(it.kind, Kind::Semaphore { .. });
        let object = objects.find(|(_, it)| here(it) && within(&it.mapping));
        let object = object.map(|(key, it)| (it.kind.thing(), key.index() as u16));
        object.or_else(|| {
            let mut groups = self.groups.iter();
            let has = |it: &Group| within(&it.memory.rings) || within(&it.memory.syncs);
            let group = groups.find(|(_, it)| it.space == space && has(it));
            group.map(|(key, _)| (Thing::Queue, key.index() as u16))
        })
    }
}

fn range(at: GpuAddress, bytes: u64) -> Option<Range<u64>> {
    Some(at.0..at.0.checked_add(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::QueueConfig;
    use crate::testing::firmware::{control_blocks, device, image};

    /// Nobody unmaps what the queues of a space have there, by any page of it.
    #[test]
    fn memory_of_queues_and_buffers_is_not_unmapped() {
        let image = image(&control_blocks());
        let mut device = device(&image);
        let space = device.create_space().expect("memory");
        let config = QueueConfig {
            space: Some(space),
            ..QueueConfig::default()
        };
        let queue = device.create_queue(config).expect("a place");
        let group = device.groups.get(queue.0).expect("there");
        let parts = [&group.memory.rings, &group.memory.syncs];
        let parts = parts.map(|it| it.address().0..it.address().0 + it.bytes());
        for part in parts {
            for at in [part.start, part.end - 4096] {
                let error = device.unmap_range(space, GpuAddress(at), 4096);
                let (what, number) = (Thing::Queue, 0);
                assert_eq!(error, Err(Error::Occupied { what, number }));
            }
            let around = [part.start - 4096, part.end];
            for at in around {
                let unmapped = device.unmap_range(space, GpuAddress(at), 4096);
                assert_eq!(unmapped, Ok(()), "beside it");
            }
        }
        let buffer = device.create_buffer(space, 8192).expect("memory");
        let at = device.buffer_address(buffer).expect("there");
        let error = device.unmap_range(space, at.offset(4096), 4096);
        assert!(matches!(error, Err(Error::Occupied { .. })), "{error:?}");
        assert_eq!(device.unmap_range(space, at.offset(8192), 4096), Ok(()));
    }
}
