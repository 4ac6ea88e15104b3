//! Queues: made, destroyed, asked what became of their jobs, cancelled. Nothing here waits for the firmware.
//!
//! Facts: hardware/csf-scheduling.md sections 2 to 5.

use super::backlog::Filed;
use super::{Device, Entry};
use crate::error::{Error, Table, Thing};
use crate::group::{Endpoints, Group, GroupMemory, Off, Residency, STREAMS, Termination};
use crate::handle::{Fence, Queue, Space};
use crate::platform::Platform;
use crate::policy::{Event, Outcome, outcome};
use crate::queue::{Job, Places, Ring, Status, Stream, StreamShape};
use crate::scheduler::Priority;
use crate::slab::Key;
use crate::vm::{GpuAddress, Mapping, NOTHING, Protection};
use eitri_cs::SubQueue;

/// How a queue is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QueueConfig {
    /// How urgent its work is, among all queues. Any number of queues may be equally urgent.
    pub priority: Priority,
    /// The address space that its jobs see. Without one it has its own, which goes with it.
    pub space: Option<Space>,
    /// The shader cores that its jobs may use, bits as in [`crate::Properties::cores`]; without this all.
    pub cores: Option<u64>,
    /// How urgent each of its streams is among them, by the numbers of [`SubQueue`]: 0 to 15.
    pub streams: [u8; STREAMS],
}

/// Bytes of the rings, which the GPU only reads.
const RINGS_BYTES: u64 = Ring::BYTES * STREAMS as u64;
/// Bytes between two sync objects: each has a line of its own.
const SYNC_STRIDE: u64 = 64;

impl<P: Platform> Device<'_, '_, P> {
    /// Makes a queue. The firmware hears of it when it has a job.
    ///
    /// # Errors
    /// If there is no memory or no place in the storage for it, or it wants cores or priorities that there are not.
    #[inline(never)]
    pub fn create_queue(&mut self, config: QueueConfig) -> Result<Queue, Error> {
        self.alive()?;
        self.collect();
        let QueueConfig {
            priority,
            space,
            cores,
            streams: urgency,
        } = config;
        let usable = self.hw.properties.cores;
        let cores = cores.unwrap_or(usable);
        if cores == 0 || cores & !usable != 0 {
            return Err(Error::Cores {
                wanted: cores,
                usable,
            });
        }
        if let Some(priority) = urgency.into_iter().find(|priority| *priority > 15) {
            return Err(Error::StreamPriority { priority });
        }
        let full = Error::Full {
            table: Table::Queues,
            places: self.groups.capacity(),
        };
        if self.groups.len() >= self.groups.capacity() {
            return Err(full);
        }
        let shape = StreamShape::new(
            self.hw.properties.arch,
            self.hw.interface.registers(),
            self.hw.interface.scoreboards(),
        )?;
        let owns_space = space.is_none();
        let space = match space {
            Some(space) if self.spaces.get(space.0).is_none() => {
                return Err(Error::Gone { what: Thing::Space });
            }
            Some(space) => space,
            None => self.create_space()?,
        };
        let memory = match self.group_memory(space) {
            Ok(memory) => memory,
            Err(error) => {
                if owns_space {
                    let _ = self.drop_space(space.0);
                }
                return Err(error);
            }
        };
        let group = || Group {
            priority,
            endpoints: Endpoints {
                cores,
                tilers: self.hw.properties.tilers,
            },
            space: space.0,
            owns_space,
            streams: streams(&memory, shape, urgency),
            memory,
            residency: Residency::Off(Off::FRESH),
            relies_on_registers: false,
            tiler: None,
            stamp: 0,
            backlog: Entry::NONE,
            ending: None,
        };
        // There is a place: it was looked for above.
        let queue = self.groups.insert_with(group).ok_or(full)?;
        if let Some(vm) = self.spaces.get_mut(space.0) {
            vm.queues = vm.queues.saturating_add(1);
        }
        Ok(Queue(queue))
    }

    /// Destroys a queue that has no job in flight; with its own address space goes everything that is in it. Its memory is
    /// given back when the firmware has let go of it.
    ///
    /// # Errors
    /// If a job is in flight: wait for it, or cancel it.
    #[inline(never)]
    pub fn destroy_queue(&mut self, queue: Queue) -> Result<(), Error> {
        let group = self.group(queue)?;
        let mut streams = group.streams.iter();
        if let Some(by) = streams.find_map(|stream| stream.oldest(&self.jobs)) {
            let (what, by) = (Thing::Queue, by.fence);
            return Err(Error::InUse { what, by });
        }
        // What is left of it are failures that nobody asks for any more.
        if group.streams.iter().any(Stream::keeps_failures) {
            for index in 0..self.jobs.capacity() {
                let key = self.jobs.key_at(index);
                let job = key.and_then(|key| self.jobs.get(key));
                if let (Some(key), Some(job)) = (key, job)
                    && job.fence.queue == queue
                {
                    let _ = self.jobs.remove(key);
                }
            }
        }
        if let Some(group) = self.groups.get_mut(queue.0) {
            group.end_for(Termination::Cancelled).destroyed = true;
        }
        self.restless = true;
        self.file(queue.0);
        self.collect();
        Ok(())
    }

    /// Stops a queue, whatever it is doing: its jobs that are not over fail, and it takes no more. Nothing else kills a job.
    /// The next [`Device::poll`] begins with it.
    ///
    /// # Errors
    /// If there is no such queue.
    pub fn cancel(&mut self, queue: Queue) -> Result<(), Error> {
        self.group(queue)?;
        self.cancel_group(queue.0);
        Ok(())
    }

    /// Lets a group end, if it has not ended yet.
    pub(super) fn cancel_group(&mut self, key: Key) {
        if let Some(group) = self.groups.get_mut(key)
            && outcome(Event::Cancelled, group.residency.state()) == Outcome::Ends
        {
            group.end_for(Termination::Cancelled);
        }
        self.restless = true;
        self.file(key);
    }

    /// The address space of a queue.
    ///
    /// # Errors
    /// If there is no such queue.
    pub fn space(&self, queue: Queue) -> Result<Space, Error> {
        Ok(Space(self.group(queue)?.space))
    }

    /// What became of a job, as far as [`Device::poll`] has seen. It may be asked for again and again; a failure is kept
    /// until [`Device::discard`].
    pub fn status(&self, fence: Fence) -> Status {
        let group = self.group(fence.queue).ok();
        let stream = group.and_then(|group| group.stream(fence.sub_queue));
        stream.map_or(Status::Unknown, |stream| stream.status(&self.jobs, fence))
    }

    /// Whether a job is in flight.
    pub(super) fn is_pending(&self, fence: Fence) -> bool {
        let group = self.group(fence.queue).ok();
        let stream = group.and_then(|group| group.stream(fence.sub_queue));
        stream.is_some_and(|stream| stream.is_pending(&self.jobs, fence))
    }

    /// How many jobs of a stream are over.
    ///
    /// # Errors
    /// If there is no such queue.
    pub fn reached(&mut self, queue: Queue, sub_queue: SubQueue) -> Result<u64, Error> {
        self.group(queue)?;
        let group = self.groups.get(queue.0);
        let stream = group.and_then(|group| group.stream(sub_queue));
        Ok(stream.map_or(0, |stream| stream.reached(&mut self.hw.platform)))
    }

    /// Gives the place of a failed job back. Its outcome, and that of the jobs before it, is not known afterwards.
    pub fn discard(&mut self, fence: Fence) {
        let failed = |job: &Job| job.fence == fence && job.over;
        let failed = self.jobs.iter().find(|(_, job)| failed(job));
        let Some(key) = failed.map(|(key, _)| key) else {
            return;
        };
        let _ = self.jobs.remove(key);
        let group = self.groups.get_mut(fence.queue.0);
        if let Some(stream) = group.and_then(|group| group.stream_mut(fence.sub_queue)) {
            stream.note_discarded(fence.point);
        }
    }

    /// The group of a queue that its owner has not destroyed.
    pub(crate) fn group(&self, queue: Queue) -> Result<&Group, Error> {
        let group = self
            .groups
            .get(queue.0)
            .filter(|group| !group.is_destroyed());
        group.ok_or(Error::Gone { what: Thing::Queue })
    }

    /// Gives back what destroyed queues had, where the firmware has let go of it.
    pub(super) fn collect(&mut self) {
        // There are no more in a list than groups.
        for _ in 0..self.groups.capacity() {
            let Some(key) = self.backlog.first(Filed::Gone) else {
                return;
            };
            self.unfile(key);
            let Some(group) = self.groups.remove(key) else {
                continue;
            };
            let space = group.space;
            let GroupMemory {
                rings,
                syncs,
                pages,
                suspend,
                protected,
            } = group.memory;
            let left = self.spaces.get_mut(space).map_or(0, |vm| {
                vm.queues = vm.queues.saturating_sub(1);
                vm.queues
            });
            let goes = group.owns_space && left == 0;
            // A space that does not obey has cost the device, which says so from now on.
            if goes {
                self.wait_for_mmu();
                let _ = self.take_out(space);
            }
            let _ = self.unmap(Some(space), [Some(rings), Some(syncs), None]);
            let _ = self.unmap(None, [Some(pages), Some(suspend), protected]);
            // The space is its other queue's from now on, or goes.
            if goes {
                let _ = self.drop_space(space);
            } else if group.owns_space {
                let mut groups = self.groups.iter_mut();
                if let Some((_, other)) = groups.find(|(_, other)| other.space == space) {
                    other.owns_space = true;
                }
            }
        }
    }

    #[inline(never)]
    fn group_memory(&mut self, space: Space) -> Result<GroupMemory, Error> {
        let facts = self.hw.interface.facts;
        let user = Stream::USER_BYTES.wrapping_mul(STREAMS as u64);
        // Shaders reach what is in the queue's own space: only what its streams have to write is writable there.
        #[rustfmt::skip]
        let own = [
            ("ring buffers", RINGS_BYTES,                  Protection::Given),
            ("sync objects", SYNC_STRIDE * STREAMS as u64, Protection::Shared),
            NOTHING,
        ];
        #[rustfmt::skip]
        let of_firmware = [
            ("user pages",                 user,                                 Protection::Shared),
            ("a suspend buffer",           facts.suspend_bytes.into(),           Protection::Data),
            ("a protected suspend buffer", facts.protected_suspend_bytes.into(), Protection::Data),
        ];
        let [rings, syncs, _] = self.map_all(Some(space.0), own)?;
        let [pages, suspend, protected] = match self.map_all(None, of_firmware) {
            Ok(made) => made,
            Err(error) => {
                let _ = self.unmap(Some(space.0), [rings, syncs, None]);
                return Err(error);
            }
        };
        match (rings, syncs, pages, suspend) {
            (Some(rings), Some(syncs), Some(pages), Some(suspend)) => Ok(GroupMemory {
                rings,
                syncs,
                pages,
                suspend,
                protected,
            }),
            // Firmware that saves a group to no bytes: it is not known to.
            (rings, syncs, pages, suspend) => {
                let _ = self.unmap(Some(space.0), [rings, syncs, None]);
                let _ = self.unmap(None, [pages, suspend, protected]);
                Err(Error::Gone { what: Thing::Queue })
            }
        }
    }
}

/// A part of a mapping: as its space has it, and in memory.
fn part(mapping: &Mapping, offset: u64) -> (GpuAddress, crate::platform::PhysicalAddress) {
    (
        mapping.address().offset(offset),
        mapping.memory().offset(offset),
    )
}

/// The streams of a queue, each with its part of the queue's memory.
#[inline(always)]
fn streams(memory: &GroupMemory, shape: StreamShape, urgency: [u8; STREAMS]) -> [Stream; STREAMS] {
    let mut number = 0_u64;
    SubQueue::ALL.map(|sub_queue| {
        let ring = number.wrapping_mul(Ring::BYTES);
        let sync = number.wrapping_mul(SYNC_STRIDE);
        let page = number.wrapping_mul(Stream::USER_BYTES);
        number = number.wrapping_add(1);
        let priority = urgency.get(sub_queue as usize).copied().unwrap_or(0);
        let places = Places {
            ring: part(&memory.rings, ring),
            sync: part(&memory.syncs, sync),
            pages: part(&memory.pages, page),
        };
        Stream::new(sub_queue, places, shape, priority)
    })
}
