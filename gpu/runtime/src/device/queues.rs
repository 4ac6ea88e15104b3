//! Making and destroying queues: their group, streams and memory.
//!
//! Facts: hardware/csf-scheduling.md sections 2 and 3.1.

use super::Device;
use super::objects::Request;
use crate::firmware::MAX_STREAMS;
use crate::group::{Endpoints, Group, GroupId, MAX_GROUPS, SuspendBuffers};
use crate::platform::Platform;
use crate::queue::{Queue, QueueError, Stream, StreamMemory, StreamShape, SubQueue};
use crate::vm::{Protection, Space, VmError};
use eitri_cs::Layout;
use eitri_cs::builder::Config;
use eitri_csf::interface::sync_object::SYNC64_BYTES;
use heapless::Vec;

/// How a queue is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Its priority among queues: 15 highest, 0 lowest. No two queues may have the same: equal priorities can
    /// dead-lock in the firmware.
    pub priority: u8,
}

impl Default for QueueConfig {
    fn default() -> QueueConfig {
        QueueConfig { priority: 8 }
    }
}

/// The streams that a queue has.
const SUB_QUEUES: [SubQueue; 1] = [SubQueue::Compute];

impl<P: Platform> Device<'_, P> {
    /// Makes a queue and starts its group on a free slot of the firmware.
    ///
    /// # Errors
    /// If no slot or memory is free, the priority is taken, or the firmware does not start the group.
    pub fn create_queue(&mut self, config: QueueConfig) -> Result<Queue, QueueError> {
        self.process_events()?;
        let priority = u32::from(config.priority);
        if priority > 15 {
            return Err(QueueError::Priority { priority });
        }
        if self.groups.iter().any(|group| group.priority() == priority) {
            return Err(QueueError::PriorityTaken { priority });
        }
        let slots = self.interface.slots.iter().take(MAX_GROUPS);
        let taken = |number| self.groups.iter().any(|group| group.slot.number == number);
        let slot = slots
            .clone()
            .find(|slot| !taken(slot.number))
            .cloned()
            .ok_or(QueueError::NoSlot { slots: slots.len() })?;

        let arch = self.properties.arch;
        let shape = StreamShape::new(
            arch,
            self.interface.registers(),
            self.interface.scoreboards(),
        )?;
        let suspend = self.suspend_buffers()?;
        let mut streams: Vec<Stream, MAX_STREAMS> = Vec::new();
        let number = slot.number;
        let id = GroupId(self.next_group);
        for sub_queue in SUB_QUEUES {
            match self.stream_memory() {
                // There is room: there are no more sub-queues than streams.
                Ok(memory) => drop(streams.push(Stream::new(sub_queue, number, memory, shape))),
                Err(error) => {
                    self.destroy_group(Group::new(id, slot, streams, suspend, priority));
                    return Err(error.into());
                }
            }
        }
        self.next_group = self.next_group.wrapping_add(1);
        let mut group = Group::new(id, slot, streams, suspend, priority);
        let endpoints = Endpoints {
            cores: self.properties.cores,
            tilers: self.properties.tilers,
        };
        let global = self.interface.global;
        let started = group.start(&mut self.platform, &global, endpoints, Space::Jobs.number());
        if let Err(ignored) = started {
            let lost = self.silent(ignored);
            self.destroy_group(group);
            return Err(lost.into());
        }
        // There is room: a free slot was found.
        let _ = self.groups.push(group);
        Ok(Queue { id })
    }

    /// Destroys a queue; unfinished jobs are lost.
    ///
    /// # Errors
    /// If its group does not end, which costs the device, or its memory can't be unmapped. The queue is gone all the
    /// same.
    pub fn destroy_queue(&mut self, queue: Queue) -> Result<(), QueueError> {
        let global = self.interface.global;
        let Some(mut group) = self.remove_group(queue.id) else {
            return Ok(());
        };
        let ended = group.terminate(&mut self.platform, &global);
        let lost = ended.err().map(|ignored| self.silent(ignored));
        let kept = self.destroy_group(group);
        match (lost, kept) {
            (Some(lost), _) => Err(lost.into()),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Ok(()),
        }
    }

    /// Gives the memory of a group back; gives the first error.
    fn destroy_group(&mut self, group: Group) -> Option<VmError> {
        self.destroy_objects(group.into_objects())
    }

    /// Takes a group out of the list: the last one fills its place.
    fn remove_group(&mut self, id: GroupId) -> Option<Group> {
        let last = self.groups.pop()?;
        if last.id == id {
            return Some(last);
        }
        match self.groups.iter_mut().find(|group| group.id == id) {
            Some(place) => Some(core::mem::replace(place, last)),
            None => {
                // There is room: it was popped above.
                let _ = self.groups.push(last);
                None
            }
        }
    }

    /// What command-stream instructions are built for.
    pub(crate) fn builder_config(&self) -> Config {
        let mut config = Config::new(self.properties.arch);
        let registers = u8::try_from(self.interface.registers()).ok();
        if let Some(layout) = registers.and_then(Layout::with_count) {
            config.layout = layout;
            config.writable = layout.all().without(layout.kernel());
        }
        if let Ok(slots) = u8::try_from(self.interface.scoreboards()) {
            config.slots = slots;
        }
        config
    }

    fn suspend_buffers(&mut self) -> Result<SuspendBuffers, VmError> {
        let facts = self.interface.facts;
        let buffer =
            |bytes: u32| Request::for_firmware("a suspend buffer", bytes.into(), Protection::Data);
        let normal = buffer(facts.suspend_bytes);
        if facts.protected_suspend_bytes == 0 {
            let normal = self.create_object(normal)?;
            return Ok(SuspendBuffers {
                normal,
                protected: None,
            });
        }
        let both = [normal, buffer(facts.protected_suspend_bytes)];
        let [normal, protected] = self.create_objects(both)?;
        Ok(SuspendBuffers {
            normal,
            protected: Some(protected),
        })
    }

    fn stream_memory(&mut self) -> Result<StreamMemory, VmError> {
        let [ring, sync, pages] = self.create_objects([
            Request::for_jobs("a ring buffer", Stream::RING_BYTES, Protection::Shared),
            Request::for_jobs("a sync object", SYNC64_BYTES, Protection::Shared),
            Request::for_firmware("user pages", Stream::USER_BYTES, Protection::Shared),
        ])?;
        Ok(StreamMemory { ring, sync, pages })
    }
}
