//! Timeline semaphores: 64-bit values that only grow, waited for and signalled by jobs of any queue and by the host.
//!
//! A semaphore is a page of its own, which lies at the same address in every space that it was mapped in: at the end of the
//! addresses, which are kept for semaphores in every space. So a shader reaches those that its own queue may signal, and no others.  Guarantees:
//! a job that does not come to its signals has them given when it is over, so that nobody waits for it for ever; its own status
//! tells what became of it.
//! Facts: hardware/csf-scheduling.md sections 3.7 and 5, command-stream.md 1.9.

use super::aliases::Access;
use super::backlog::{Backlog, Filed};
use super::objects::{Promise, Seen};
use super::submit::SubmitInfo;
use super::{Device, DeviceLost, Kind, Object};
use crate::access::SharedBlock;
use crate::error::{Error, Thing};
use crate::handle::{Fence, Semaphore, Space};
use crate::mmu::Part;
use crate::platform::Platform;
use crate::queue::{MOST_POINTS, Points, SyncPoint};
use crate::slab::{Key, Slab};
use crate::vm::{GpuAddress, Mapping, Vm, VmError};
use core::ops::Range;
use eitri_csf::interface::sync_object::SYNC64_VALUE;
use eitri_csf::page_table::{Attributes, PAGE_BYTES};

const WHAT: Thing = Thing::Semaphore;

/// A value of a semaphore: reached when the semaphore has it, or a larger one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SemaphorePoint {
    /// The semaphore.
    pub semaphore: Semaphore,
    /// The value.
    pub value: u64,
}

impl<P: Platform> Device<'_, '_, P> {
    /// Makes a semaphore with a value. Queues use it once it is mapped in their space: [`Device::map_semaphore`].
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it.
    pub fn create_semaphore(&mut self, value: u64) -> Result<Semaphore, Error> {
        self.alive()?;
        self.check_places()?;
        let it = &mut self.hw.platform;
        let pages = self.memory.take(it, "a semaphore", PAGE_BYTES, PAGE_BYTES);
        let pages = pages.map_err(VmError::OutOfMemory)?;
        SharedBlock::new(pages.start()).write(it, SYNC64_VALUE, value);
        // Where it lies depends on its place in the storage, which is known when it has one.
        let mapping = Mapping::of_pages(GpuAddress(0), pages);
        let kind = Kind::Semaphore {
            seen: [None; 2],
            promise: None,
        };
        let object = Object::new(Key::NONE, mapping, kind);
        let key = self.insert_object(object)?;
        let address = self.place_of_semaphore(key);
        if let Some(object) = self.objects.get_mut(key) {
            object.mapping.move_to(address);
        }
        Ok(Semaphore(key))
    }

    /// Where a semaphore lies in every space that it is mapped in: counted in pages from the end of the addresses, with one
    /// between each two.
    fn place_of_semaphore(&self, key: Key) -> GpuAddress {
        self.place_from_end(key.index())
    }

    fn place_from_end(&self, index: usize) -> GpuAddress {
        let pages = (index as u64).saturating_add(1).saturating_mul(2);
        let end = 1_u64.checked_shl(self.hw.properties.va_bits).unwrap_or(0);
        GpuAddress(end.wrapping_sub(pages.saturating_mul(PAGE_BYTES)))
    }

    /// Where the addresses begin that semaphores may have: two pages for each place of an object in the storage, up to the end.
    /// Nothing else is mapped there, in any space.
    pub fn semaphore_addresses(&self) -> GpuAddress {
        self.place_from_end(self.objects.capacity())
    }

    /// Lets the queues of a space wait for a semaphore ([`Access::Read`]), or wait for and signal it ([`Access::ReadWrite`]).
    /// Shaders of the space can read it then, or write it. A mapping goes with the space or the semaphore.
    ///
    /// # Errors
    /// If it is mapped there already, or there is no memory for tables.
    pub fn map_semaphore(
        &mut self,
        semaphore: Semaphore,
        space: Space,
        access: Access,
    ) -> Result<(), Error> {
        let mapping = &self.object(semaphore.0, WHAT)?.mapping;
        let (range, memory) = (range(mapping), mapping.memory());
        let attributes = match access {
            Access::ReadWrite => Attributes::UNCACHED,
            Access::Read | Access::Execute => Attributes::UNCACHED.read_only(),
        };
        self.wait_for_mmu();
        let gone = Error::Gone { what: Thing::Space };
        let vm = self.spaces.get_mut(space.0).ok_or(gone)?;
        let (platform, memory_of) = (&mut self.hw.platform, &mut self.memory);
        let part = Part {
            range,
            physical: memory,
            attributes,
        };
        let mapped = vm.space.map(platform, memory_of, &[part]);
        self.obeyed(mapped)
    }

    /// Destroys a semaphore.
    ///
    /// # Errors
    /// If a job in flight waits for it or signals it: then it stays. Or if it can't be unmapped, which costs the device.
    pub fn destroy_semaphore(&mut self, semaphore: Semaphore) -> Result<(), Error> {
        let key = semaphore.0;
        self.unused(key, WHAT)?;
        self.wait_for_mmu();
        let range = range(&self.object(key, WHAT)?.mapping);
        let mut result = Ok(());
        for index in 0..self.spaces.capacity() {
            let space = self.spaces.key_at(index);
            let Some(vm) = space.and_then(|space| self.spaces.get_mut(space)) else {
                continue;
            };
            let (platform, memory) = (&mut self.hw.platform, &mut self.memory);
            if vm.space.translate(platform, range.start).is_none() {
                continue;
            }
            if let Err(error) = vm
                .space
                .unmap(platform, memory, core::slice::from_ref(&range))
            {
                result = Err(Error::Vm(VmError::Mmu(error)));
                // The GPU is stopped then: what is left is to change the tables in memory.
                self.stop_now(DeviceLost::Mmu(error));
                if let Some(vm) = space.and_then(|space| self.spaces.get_mut(space)) {
                    let (platform, memory) = (&mut self.hw.platform, &mut self.memory);
                    let _ = vm
                        .space
                        .unmap(platform, memory, core::slice::from_ref(&range));
                }
            }
        }
        if let Some(object) = self.take_object(key) {
            let pages = object.mapping.into_pages();
            self.memory.give_back(&mut self.hw.platform, pages);
        }
        result
    }

    /// The value of a semaphore. What was done before it was signalled is seen by whoever reads after this.
    ///
    /// # Errors
    /// If it was destroyed.
    pub fn semaphore_value(&mut self, semaphore: Semaphore) -> Result<u64, Error> {
        self.object(semaphore.0, WHAT)?;
        let value = self.value_of(semaphore.0);
        self.hw.platform.observe();
        Ok(value.unwrap_or(0))
    }

    /// Gives a semaphore a value, if it is smaller: jobs that wait for it go on, and see what the host has written before. While
    /// the host signals a semaphore no job may: each value is to be signalled by one.
    ///
    /// # Errors
    /// If it was destroyed. Or if caches are not flushed in time, which costs the device.
    pub fn signal_semaphore(&mut self, semaphore: Semaphore, value: u64) -> Result<(), Error> {
        self.flush_for_waiters(semaphore.0, WHAT)?;
        if self.raise(semaphore.0, value) {
            self.wake_waiters();
        }
        Ok(())
    }

    fn block_of(&self, key: Key) -> Option<SharedBlock> {
        let object = self.objects.get(key)?;
        Some(SharedBlock::new(object.mapping.memory()))
    }

    fn value_of(&mut self, key: Key) -> Option<u64> {
        let block = self.block_of(key)?;
        Some(block.read(&mut self.hw.platform, SYNC64_VALUE))
    }

    /// Gives a semaphore a value if it is smaller; whether it was.
    fn raise(&mut self, key: Key, value: u64) -> bool {
        let Some(block) = self.block_of(key) else {
            return false;
        };
        if block.read(&mut self.hw.platform, SYNC64_VALUE) >= value {
            return false;
        }
        block.write(&mut self.hw.platform, SYNC64_VALUE, value);
        self.hw.platform.publish();
        true
    }

    /// The host has changed a sync object: streams on slots look again when the doorbell rings, groups that were saved while they
    /// waited may go on.
    pub(crate) fn wake_waiters(&mut self) {
        self.recheck_blocked();
        let now = self.hw.platform.now();
        if !self.is_running() {
            return self.wake_for_work(now);
        }
        self.hw.interface.global.ring(&mut self.hw.platform);
        if let Err(lost) = self.arrange(now) {
            self.lose(lost, now);
        }
    }

    /// A sync object has changed: groups that were saved while they waited for it are ready.
    pub(super) fn recheck_blocked(&mut self) {
        let mut next = self.backlog.first(Filed::Blocked);
        // There are no more in a list than groups.
        for _ in 0..self.groups.capacity() {
            let Some(key) = next else { break };
            next = Backlog::after(&self.groups, key);
            let Some(group) = self.groups.get_mut(key) else {
                break;
            };
            let space = self.spaces.get(group.space).map(|vm| &vm.space);
            group.recheck_blocked(&mut self.hw.platform, space);
            self.file(key);
        }
    }

    /// Takes a place for the semaphores of a job of `stream`, which has its point still to come, and finds out where a space has them.
    ///
    /// # Errors
    /// If there is no place, there are too many, one was destroyed, one is not mapped in the space for what the job does with it, or
    /// the job would not raise one that it signals: over the value that it has, over the one that the last job of its stream signals,
    /// and over what this job signals before. The order in which jobs of other streams end is not known here.
    #[inline(always)]
    pub(super) fn new_points(
        &mut self,
        space: Key,
        stream: Fence,
        info: &SubmitInfo<'_>,
    ) -> Result<Key, Error> {
        // There are as many places as for jobs. They are large: what was there last is written over.
        let Some((key, points)) = self.points.reuse(Points::default) else {
            return Err(self.jobs_are_full());
        };
        points.clear();
        let tables = SpaceTables {
            space,
            platform: &mut self.hw.platform,
            spaces: &self.spaces,
        };
        match tables.find_points(&mut self.objects, points, stream, info) {
            Ok(()) => Ok(key),
            Err(error) => {
                let _ = self.points.release(key);
                Err(error)
            }
        }
    }

    /// Counts a job in flight that uses semaphores, and notes what it signals.
    pub(super) fn count_points(&mut self, points: Key, fence: Fence) {
        let Fence {
            queue, sub_queue, ..
        } = fence;
        let Some(points) = self.points.get(points) else {
            return;
        };
        for point in &points.waits {
            if let Some(object) = self.objects.get_mut(point.semaphore) {
                object.uses = object.uses.saturating_add(1);
            }
        }
        for point in &points.signals {
            let Some(object) = self.objects.get_mut(point.semaphore) else {
                continue;
            };
            object.uses = object.uses.saturating_add(1);
            if let Kind::Semaphore { promise, .. } = &mut object.kind {
                *promise = Some(Promise {
                    value: point.value,
                    queue,
                    sub_queue,
                });
            }
        }
    }

    /// A job with semaphores is not in flight any more. One that has run has signalled; for another they are signalled now. The
    /// host may have given a semaphore the value of a job that was cancelled over a larger one that the GPU wrote at that moment:
    /// the job which the GPU wrote it for puts that right here.
    pub(super) fn end_points(&mut self, points: Key) {
        let Some(all) = self.points.get(points) else {
            return;
        };
        for point in all.all() {
            if let Some(object) = self.objects.get_mut(point.semaphore) {
                object.uses = object.uses.saturating_sub(1);
            }
        }
        let mut raised = false;
        for index in 0..MOST_POINTS {
            let signals = self.points.get(points).map(|points| &points.signals);
            let Some(point) = signals.and_then(|signals| signals.get(index)).copied() else {
                break;
            };
            raised |= self.raise(point.semaphore, point.value);
        }
        let _ = self.points.release(points);
        if raised {
            self.recheck_blocked();
            if self.is_running() {
                self.hw.interface.global.ring(&mut self.hw.platform);
            }
        }
    }

    /// Whether a job has not begun because it still waits for a semaphore.
    pub(super) fn still_waits(&mut self, points: Key) -> bool {
        let Some(points) = self.points.get(points) else {
            return false;
        };
        points.waits.iter().any(|point| {
            let object = self.objects.get(point.semaphore);
            object.is_some_and(|object| {
                let block = SharedBlock::new(object.mapping.memory());
                block.read(&mut self.hw.platform, SYNC64_VALUE) < point.value
            })
        })
    }
}

fn range(mapping: &Mapping) -> Range<u64> {
    let start = mapping.address().0;
    start..start.wrapping_add(mapping.bytes())
}

/// Too many semaphores of a kind.
const FULL: Error = Error::TooMany { most: MOST_POINTS };

/// A semaphore that a job uses.
struct Used<'a> {
    mapping: &'a Mapping,
    /// Where it was mapped for the last job that waited for it, and for the last that signalled it.
    seen: &'a mut [Option<Seen>; 2],
    /// What a job was told last to signal.
    promise: &'a Option<Promise>,
}

/// The semaphore that a key names.
#[inline(always)]
fn semaphore_of<'a>(objects: &'a mut Slab<'_, Object<'_>>, key: Key) -> Result<Used<'a>, Error> {
    const GONE: Error = Error::Gone { what: WHAT };
    let object = objects.get_mut(key).ok_or(GONE)?;
    let Kind::Semaphore { seen, promise } = &mut object.kind else {
        return Err(GONE);
    };
    Ok(Used {
        mapping: &object.mapping,
        seen,
        promise,
    })
}

/// The tables of the space whose jobs use semaphores.
struct SpaceTables<'a, 's, P> {
    space: Key,
    platform: &'a mut P,
    spaces: &'a Slab<'s, Vm>,
}

impl<P: Platform> SpaceTables<'_, '_, P> {
    /// As [`Device::new_points`], into `points`.
    #[inline(always)]
    fn find_points(
        mut self,
        objects: &mut Slab<'_, Object<'_>>,
        points: &mut Points,
        stream: Fence,
        info: &SubmitInfo<'_>,
    ) -> Result<(), Error> {
        let Points { waits, signals } = points;
        if info.waits.len() > MOST_POINTS {
            return Err(FULL);
        }
        for SemaphorePoint { semaphore, value } in info.waits {
            let key = semaphore.0;
            let Used { mapping, seen, .. } = semaphore_of(objects, key)?;
            let [seen, _] = seen;
            let address = mapping.address();
            self.check(address, seen, false)?;
            let point = SyncPoint {
                semaphore: key,
                address,
                value: *value,
            };
            // Every value is at least 0.
            if *value > 0 {
                waits.push(point).map_err(|_| FULL)?;
            }
        }
        for SemaphorePoint { semaphore, value } in info.signals {
            let (key, value) = (semaphore.0, *value);
            let Used {
                mapping,
                seen,
                promise,
            } = semaphore_of(objects, key)?;
            let [_, seen] = seen;
            let block = SharedBlock::new(mapping.memory());
            let mut reached = block.read(self.platform, SYNC64_VALUE);
            let of_stream =
                |it: &Promise| it.queue == stream.queue && it.sub_queue == stream.sub_queue;
            if let Some(promise) = promise.filter(of_stream) {
                reached = reached.max(promise.value);
            }
            for before in &*signals {
                if before.semaphore == key {
                    reached = reached.max(before.value);
                }
            }
            if value <= reached {
                return Err(Error::NotLarger { value, reached });
            }
            let address = mapping.address();
            self.check(address, seen, true)?;
            let point = SyncPoint {
                semaphore: key,
                address,
                value,
            };
            signals.push(point).map_err(|_| FULL)?;
        }
        Ok(())
    }
    /// Checks that jobs of the space may read a semaphore at `address`, and write it if it is signalled.
    #[inline]
    fn check(
        &mut self,
        address: GpuAddress,
        seen: &mut Option<Seen>,
        signals: bool,
    ) -> Result<(), Error> {
        let writable = match seen {
            Some(seen) if seen.space == self.space => seen.writable,
            _ => self.find(address, seen)?,
        };
        if signals && !writable {
            return Err(Error::ReadOnly { what: WHAT });
        }
        Ok(())
    }

    /// Whether jobs of the space may write a semaphore, by the tables. A mapping stays for as long as both are there: so it is
    /// noted.
    #[cold]
    #[inline(never)]
    fn find(&mut self, address: GpuAddress, seen: &mut Option<Seen>) -> Result<bool, Error> {
        let vm = self.spaces.get(self.space);
        let mapped = vm.and_then(|vm| vm.space.translate(self.platform, address.0));
        let (_, attributes) = mapped.ok_or(Error::OtherSpace { what: WHAT })?;
        let (space, writable) = (self.space, attributes.writable);
        *seen = Some(Seen { space, writable });
        Ok(writable)
    }
}
