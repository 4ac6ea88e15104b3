//! Address spaces: made and destroyed, and given a number in the hardware while their queues run.
//!
//! Facts: hardware/gpu-mmu.md section 6.

use super::{Device, DeviceLost};
use crate::error::{Error, Table, Thing};
use crate::fault::Neighbour;
use crate::group::Group;
use crate::handle::Space;
use crate::memory::Memory;
use crate::mmu::AddressSpace;
use crate::platform::Platform;
use crate::seats::Claim;
use crate::slab::Key;
use crate::vm::{GpuAddress, Vm, VmError};

impl<P: Platform> Device<'_, '_, P> {
    /// Makes an address space. A queue that is not told another one has its own.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    pub fn create_space(&mut self) -> Result<Space, Error> {
        let (bits, coherency) = (self.properties.va_bits, self.coherency);
        let space = AddressSpace::new(&mut self.platform, &mut self.memory, bits, coherency);
        let space = space.map_err(VmError::Mmu)?;
        let range = self.options.first_address..self.options.end_address;
        match self.spaces.insert(Vm::new(space, range)) {
            Ok(key) => Ok(Space(key)),
            Err(vm) => {
                vm.space.release(&mut self.platform, &mut self.memory);
                Err(Error::Full {
                    table: Table::Spaces,
                    places: self.spaces.capacity(),
                })
            }
        }
    }

    /// Destroys an address space in which nothing is left.
    ///
    /// # Errors
    /// If there are queues or objects in it. Or if the hardware does not let go of it, which costs the device.
    pub fn destroy_space(&mut self, space: Space) -> Result<(), Error> {
        let key = space.0;
        if self.spaces.get(key).is_none() {
            return Err(Error::Gone { what: Thing::Space });
        }
        let queues = self.groups.iter();
        let queues = queues.filter(|(_, group)| group.space == key).count();
        let objects = self.objects.iter();
        let objects = objects.filter(|(_, object)| object.space == key).count();
        if queues > 0 || objects > 0 {
            return Err(Error::NotEmpty { queues, objects });
        }
        self.drop_space(key)
    }

    /// Destroys a space and everything in it: no group of it is left.
    pub(super) fn drop_space(&mut self, key: Key) -> Result<(), Error> {
        for index in 0..self.objects.capacity() {
            let of_space = |device: &Self| {
                let object = device.objects.key_at(index)?;
                (device.objects.get(object)?.space == key).then_some(object)
            };
            if let Some(object) = of_space(self) {
                self.forget_links(object);
                if let Some(object) = self.objects.remove(object) {
                    let _ = self.unmap(Some(key), object.mapping);
                }
            }
        }
        let mut result = Ok(());
        if let Some(mut vm) = self.spaces.remove(key) {
            self.space_seats.leave(key.index());
            if let Err(error) = vm.space.disable(&mut self.platform) {
                let lost = self.lose(DeviceLost::Mmu(error));
                result = Err(lost.into());
            }
            vm.space.release(&mut self.platform, &mut self.memory);
        }
        result
    }

    /// Gives a space a number in the hardware, if it has none; takes it from the space that has not been used for longest, if
    /// there is no other. `None` if every number is in use.
    pub(super) fn seat_space(&mut self, key: Key) -> Result<Option<u32>, DeviceLost> {
        let who = key.index();
        let number = match self.space_seats.claim(who) {
            Claim::Has(number) => number,
            Claim::Free(number) => number,
            Claim::Evict { seat, whom } => {
                self.space_seats.leave(whom);
                let old = self.spaces.key_at(whom);
                if let Some(vm) = old.and_then(|old| self.spaces.get_mut(old)) {
                    vm.space
                        .disable(&mut self.platform)
                        .map_err(DeviceLost::Mmu)?;
                }
                seat
            }
            Claim::None => return Ok(None),
        };
        let Ok(wanted) = u32::try_from(number) else {
            return Ok(None);
        };
        let Some(vm) = self.spaces.get_mut(key) else {
            return Ok(None);
        };
        if vm.space.number() != Some(wanted) {
            self.space_seats.take(number, who);
            vm.space
                .enable(&mut self.platform, wanted)
                .map_err(DeviceLost::Mmu)?;
        }
        Ok(Some(wanted))
    }

    /// What is mapped in a space, nearest to an address that is not.
    pub(super) fn nearest(&self, space: Key, address: u64) -> Option<Neighbour> {
        let objects = self.objects.iter();
        let objects = objects.filter(|(_, object)| object.space == space);
        let objects = objects.map(|(key, object)| {
            let bytes = match object.kind {
                super::Kind::Buffer { bytes, .. } => bytes,
                _ => object.mapping.bytes(),
            };
            (object.kind.thing(), key, object.mapping.address(), bytes)
        });
        let groups = self.groups.iter();
        let groups = groups.filter(|(_, group)| group.space == space);
        let groups = groups.map(|(key, group): (Key, &Group)| {
            let rings = &group.memory.rings;
            (Thing::Queue, key, rings.address(), rings.bytes())
        });
        let all = objects.chain(groups).map(|(what, key, start, bytes)| {
            let GpuAddress(first) = start;
            let before = address < first;
            let missed_by = match before {
                true => first.wrapping_sub(address),
                false => address.saturating_sub(first.saturating_add(bytes)),
            };
            Neighbour {
                what,
                number: key.index() as u16,
                address: start,
                bytes,
                missed_by,
                before,
            }
        });
        all.min_by_key(|near| near.missed_by)
    }
}

/// Gives the tables of every space back: the GPU is stopped.
pub(super) fn release_all<P: Platform>(
    platform: &mut P,
    memory: &mut Memory,
    spaces: &mut crate::slab::Slab<'_, Vm>,
) {
    for index in 0..spaces.capacity() {
        let vm = spaces.key_at(index).and_then(|key| spaces.remove(key));
        if let Some(vm) = vm {
            vm.space.release(platform, memory);
        }
    }
}
