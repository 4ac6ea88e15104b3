//! Address spaces: made and destroyed, and given a number in the hardware while their queues run.
//!
//! Who has which number is decided at once; the hardware is told of it state by state, one space at a time.
//! Facts: hardware/gpu-mmu.md section 6.

use super::{Device, DeviceLost};
use crate::access::RegisterAccess;
use crate::error::{Error, Table, Thing};
use crate::fault::Neighbour;
use crate::firmware::MAX_SLOTS;
use crate::group::doorbell;
use crate::handle::Space;
use crate::memory::Memory;
use crate::mmu::{AddressSpace, LOOK};
use crate::platform::{Instant, Platform};
use crate::seats::Claim;
use crate::slab::Key;
use crate::vm::{GpuAddress, Vm, VmError};

/// Looks at the MMU in one go. A command is done after few of them: so a job that is submitted to a space which is not in the
/// hardware usually begins without another `poll`.
const LOOKS: usize = 24;

impl<P: Platform> Device<'_, '_, P> {
    /// Makes an address space. A queue that is not told another one has its own.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    #[inline(never)]
    pub fn create_space(&mut self) -> Result<Space, Error> {
        let (bits, coherency) = (self.hw.properties.va_bits, self.hw.coherency);
        let space = AddressSpace::new(&mut self.hw.platform, &mut self.memory, bits, coherency);
        let space = space.map_err(VmError::Mmu)?;
        // The addresses behind are kept for semaphores.
        let end = self.options.end_address.min(self.semaphore_addresses().0);
        let range = self.options.first_address..end;
        match self.spaces.insert(Vm::new(space, range)) {
            Ok(key) => Ok(Space(key)),
            Err(vm) => {
                vm.space.release(&mut self.hw.platform, &mut self.memory);
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
        let gone = Error::Gone { what: Thing::Space };
        let vm = self.spaces.get(key).ok_or(gone)?;
        let (queues, objects) = (vm.queues as usize, vm.objects as usize);
        if queues > 0 || objects > 0 {
            return Err(Error::NotEmpty { queues, objects });
        }
        self.drop_space(key)
    }

    /// Destroys a space and everything in it: no group of it is left.
    pub(super) fn drop_space(&mut self, key: Key) -> Result<(), Error> {
        self.wait_for_mmu();
        // Its commands are idle: they hold nothing of it any more.
        self.refresh_uses();
        // The hardware forgets it first: what is in it is then unmapped in memory alone.
        let result = self.take_out(key);
        let left = |device: &Self| device.spaces.get(key).map_or(0, |vm| vm.objects);
        for index in 0..self.objects.capacity() {
            if left(self) == 0 {
                break;
            }
            let of_space = |device: &Self| {
                let object = device.objects.key_at(index)?;
                (device.objects.get(object)?.space == key).then_some(object)
            };
            if let Some(object) = of_space(self) {
                self.forget_links(object);
                if let Some(object) = self.take_object(object) {
                    let _ = self.unmap(Some(key), [Some(object.mapping), None, None]);
                }
            }
        }
        if let Some(vm) = self.spaces.remove(key) {
            vm.space.release(&mut self.hw.platform, &mut self.memory);
        }
        result
    }

    /// Takes a space out of the hardware that no group uses any more, and waits for it.
    pub(super) fn take_out(&mut self, key: Key) -> Result<(), Error> {
        self.spaces_move = true;
        self.space_seats.leave(key.index());
        let Some(vm) = self.spaces.get_mut(key) else {
            return Ok(());
        };
        let disabled = vm.space.disable(&mut self.hw.platform);
        disabled.map_err(|error| {
            self.stop_now(DeviceLost::Mmu(error));
            Error::Vm(VmError::Mmu(error))
        })
    }

    /// Gives a space a number, if it has none; takes it from the space that has not been used for longest, if there is no other.
    /// The hardware is told by [`Device::move_spaces`]. False if every number is in use.
    pub(super) fn seat_space(&mut self, key: Key) -> bool {
        let who = key.index();
        let seat = match self.space_seats.claim(who) {
            Claim::Has(_) => return true,
            Claim::Free(seat) => seat,
            Claim::Evict { seat, whom } => {
                self.space_seats.leave(whom);
                seat
            }
            Claim::None => return false,
        };
        self.space_seats.take(seat, who);
        self.spaces_move = true;
        true
    }

    /// The number that a space is to have.
    fn wanted(&self, key: Key, vm: &Vm) -> Option<u32> {
        let seat = self.space_seats.of(key.index()).filter(|_| !vm.faulted);
        seat.and_then(|seat| u32::try_from(seat).ok())
    }

    /// The number that a space has in the hardware, if it is the one that it is to keep.
    pub(super) fn seated(&self, key: Key) -> Option<u32> {
        let vm = self.spaces.get(key).filter(|vm| !vm.faulted)?;
        let number = vm.space.number();
        number.filter(|seat| self.space_seats.has(*seat as usize, key.index()))
    }

    /// The next space that is to leave the hardware, or to enter it, as a number. Those that leave make room first.
    fn next_move(&self) -> Option<(Key, Option<u32>)> {
        let known = |key: Key| {
            let vm = self.spaces.get(key)?;
            Some((key, vm.space.number(), self.wanted(key, vm)))
        };
        let mut inside = self.numbered.iter().flatten().copied().filter_map(known);
        if let Some((key, ..)) = inside.find(|(_, has, to)| has.is_some() && has != to) {
            return Some((key, None));
        }
        let wanted = (0..self.numbered.len()).filter_map(|seat| self.space_seats.who(seat));
        let wanted = wanted.filter_map(|who| known(self.spaces.key_at(who)?));
        let mut enters = wanted.filter(|(_, has, to)| has.is_none() && to.is_some());
        enters.next().map(|(key, _, to)| (key, to))
    }

    /// The space that is on its way into the hardware or out of it.
    fn moving(&self) -> Option<Key> {
        let moves = |key: &Key| self.spaces.get(*key).is_some_and(|vm| vm.space.moves());
        self.numbered.iter().flatten().copied().find(moves)
    }

    /// Tells the hardware which spaces have which numbers, one space at a time; when to go on, if it is still at it.
    pub(super) fn move_spaces(&mut self, now: Instant) -> Result<Option<Instant>, DeviceLost> {
        if !self.spaces_move {
            return Ok(None);
        }
        for _ in 0..LOOKS {
            if let Some(key) = self.moving() {
                let Some(vm) = self.spaces.get_mut(key) else {
                    return Ok(None);
                };
                let done = vm.space.step(&mut self.hw.platform, now);
                if done.map_err(DeviceLost::Mmu)? {
                    self.space_has_moved(key);
                }
                continue;
            }
            let Some((key, number)) = self.next_move() else {
                self.spaces_move = false;
                return Ok(None);
            };
            let Some(vm) = self.spaces.get_mut(key) else {
                return Ok(None);
            };
            match number {
                None => vm.space.begin_leave(&mut self.hw.platform, now),
                Some(number) => {
                    vm.space
                        .begin_enter(&mut self.hw.platform, now, number)
                        .map_err(DeviceLost::Mmu)?;
                    if let Some(place) = self.numbered.get_mut(number as usize) {
                        *place = Some(key);
                    }
                }
            }
        }
        Ok(Some(now.after(LOOK)))
    }

    /// Work that came into rings while their space was not in the hardware is rung for when it is again.
    fn space_has_moved(&mut self, space: Key) {
        let entered = self.spaces.get(space);
        if entered.is_none_or(|vm| vm.space.number().is_none()) {
            return;
        }
        for seat in 0..MAX_SLOTS {
            let key = self.group_on(seat);
            let Some(group) = key.and_then(|key| self.groups.get_mut(key)) else {
                continue;
            };
            if group.space != space {
                continue;
            }
            let slot = group.blocks(&self.hw.interface);
            if let (Some(slot), Some(seated)) = (slot, group.residency.seated_mut())
                && seated.is_running()
                && seated.unseen
            {
                seated.unseen = false;
                self.hw.platform.ring(doorbell(slot));
            }
        }
    }

    /// Goes on with the flush of a space that is leaving, if there is one: whether there is none any more, or `None` if it
    /// hangs.
    pub(super) fn finish_flush(&mut self, now: Instant) -> Option<bool> {
        for (_, vm) in self.spaces.iter_mut() {
            if vm.space.is_flushing() {
                vm.space.step(&mut self.hw.platform, now).ok()?;
            }
            if vm.space.is_flushing() {
                return Some(false);
            }
        }
        Some(true)
    }

    /// The mapping of a space that holds an address, else the nearest one.
    pub(crate) fn nearest(&self, space: Key, address: u64) -> Option<Neighbour> {
        let mut nearest: Option<Neighbour> = None;
        let mut look = |what, key: Key, start, bytes| {
            let found = Neighbour {
                what,
                number: key.index() as u16,
                address: start,
                bytes,
                fault: GpuAddress(address),
            };
            let distance = found.side().distance();
            if nearest.is_none_or(|other| distance < other.side().distance()) {
                nearest = Some(found);
            }
        };
        for (key, object) in self.objects.iter() {
            if object.space == space {
                let bytes = match object.kind {
                    super::Kind::Buffer { bytes, .. } => bytes,
                    _ => object.mapping.bytes(),
                };
                look(object.kind.thing(), key, object.mapping.address(), bytes);
            }
        }
        for (key, group) in self.groups.iter() {
            if group.space == space {
                for part in [&group.memory.rings, &group.memory.syncs] {
                    look(Thing::Queue, key, part.address(), part.bytes());
                }
            }
        }
        nearest
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
