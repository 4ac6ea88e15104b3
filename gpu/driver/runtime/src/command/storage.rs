//! Thread-local and workgroup memory of the jobs in a command buffer.
//!
//! One area of each kind serves all jobs of the buffer; jobs that use an area do not overlap. An area grows by being
//! replaced; the old one stays until the buffer is recorded again, because jobs refer to it, and the largest is kept for that
//! recording. Areas are objects that the command buffer refers to, and go with it.
//! Facts: hardware/descriptors.md section 11.

use super::buffer::is_kept;
use super::error::{CommandError, Limit};
use crate::device::Device;
use crate::error::{Error, Thing};
use crate::gpu::Properties;
use crate::handle::Space;
use crate::platform::Platform;
use crate::resource::{ThreadStorage, WorkgroupStorage};
use crate::slab::Key;
use crate::vm::Protection;
use eitri_program::Program;

/// Least bytes of a thread's memory, and of an instance of workgroup memory.
const LEAST_THREAD: u32 = 16;
const LEAST_WORKGROUP: u32 = 128;
/// Largest thread memory: the field holds log2 of bytes / 16 in five bits.
const MOST_THREAD: u32 = 1 << 24;

/// The tags of areas among what a command buffer refers to: of thread-local memory, of workgroup memory.
const THREAD: u32 = 1 << 29;
const WORKGROUP: u32 = 1 << 30;

/// An area in use: where it is, its bytes, and which of its kind.
#[derive(Clone, Copy, Debug)]
struct Area {
    address: u64,
    bytes: u64,
    tag: u32,
}

/// The areas that a command buffer uses now.
#[derive(Debug)]
pub(super) struct Areas {
    commands: Key,
    space: Space,
    thread: Option<Area>,
    workgroup: Option<Area>,
}

/// What a dispatch uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) thread: Option<ThreadStorage>,
    pub(super) workgroup: Option<WorkgroupStorage>,
}

impl Areas {
    /// The largest of the recording before; whatever else the command buffer referred to is let go, but for its blocks.
    pub(super) fn begin<P: Platform>(
        device: &mut Device<'_, '_, P>,
        commands: Key,
        space: Space,
    ) -> Areas {
        let [thread, workgroup] = [THREAD, WORKGROUP].map(|kind| largest(device, commands, kind));
        let kept = [thread, workgroup].map(|area| area.map(|area| area.tag));
        device.keep_links(commands, |tag| is_kept(tag) || kept.contains(&Some(tag)));
        Areas {
            commands,
            space,
            thread,
            workgroup,
        }
    }

    /// The memory for `workgroups` workgroups of a program.
    pub(super) fn provide<P: Platform>(
        &mut self,
        device: &mut Device<'_, '_, P>,
        program: &Program<'_>,
        workgroups: u64,
    ) -> Result<Used, Error> {
        let (commands, space) = (self.commands, self.space);
        let properties = device.hw.properties;
        let thread = match program.scratch_bytes() {
            0 => None,
            bytes => {
                let (size, total) = thread_size(&properties, bytes)?;
                let owner = (commands, space);
                let what = (THREAD, "thread-local memory");
                let address = area(device, owner, &mut self.thread, what, total)?;
                let size_log2 = (size / LEAST_THREAD).max(1).ilog2();
                Some(ThreadStorage { address, size_log2 })
            }
        };
        let workgroup = match program.shared_bytes() {
            0 => None,
            bytes => {
                let threads = program.workgroup().invocations();
                let (size, instances, total) =
                    workgroup_size(&properties, bytes, threads, workgroups)?;
                let owner = (commands, space);
                let what = (WORKGROUP, "shared memory");
                let address = area(device, owner, &mut self.workgroup, what, total)?;
                let size_log2 = size.max(1).ilog2();
                Some(WorkgroupStorage {
                    address,
                    instances,
                    size_log2,
                })
            }
        };
        Ok(Used { thread, workgroup })
    }
}

/// Bytes of a thread, and of all threads of all cores.
pub(crate) fn thread_size(properties: &Properties, bytes: u32) -> Result<(u32, u64), CommandError> {
    let (what, wanted) = (Limit::ScratchMemory, u64::from(bytes));
    let refused = CommandError::Limit {
        what,
        wanted,
        most: u64::from(MOST_THREAD),
    };
    let size = bytes
        .max(LEAST_THREAD)
        .checked_next_power_of_two()
        .ok_or(refused)?;
    if size > MOST_THREAD {
        return Err(refused);
    }
    let threads = u64::from(properties.scratch_threads_per_core);
    let cores = u64::from(properties.core_range());
    let total = u64::from(size)
        .checked_mul(threads)
        .and_then(|it| it.checked_mul(cores));
    Ok((size, total.ok_or(refused)?))
}

/// Bytes of an instance, instances of a core, and bytes of all instances of all cores.
fn workgroup_size(
    properties: &Properties,
    bytes: u32,
    threads: u32,
    workgroups: u64,
) -> Result<(u32, u32, u64), CommandError> {
    let what = Limit::SharedMemory;
    let refused = CommandError::Limit {
        what,
        wanted: u64::from(bytes),
        most: 1 << 31,
    };
    let size = bytes
        .max(LEAST_WORKGROUP)
        .checked_next_power_of_two()
        .ok_or(refused)?;
    let at_once = properties
        .threads_per_core
        .checked_div(threads)
        .unwrap_or(1)
        .max(1);
    let at_once = u64::from(at_once).min(workgroups.max(1));
    let instances = u32::try_from(at_once)
        .ok()
        .and_then(u32::checked_next_power_of_two);
    let instances = instances.ok_or(refused)?;
    let cores = u64::from(properties.core_range());
    let total = u64::from(size)
        .checked_mul(u64::from(instances))
        .and_then(|it| it.checked_mul(cores));
    Ok((size, instances, total.ok_or(refused)?))
}

/// The largest area of a kind that a command buffer has: that with the highest tag, as they only grow.
fn largest<P: Platform>(device: &Device<'_, '_, P>, commands: Key, kind: u32) -> Option<Area> {
    let list = device.objects.get(commands)?.list;
    let areas = device.links.of(list);
    let areas = areas.filter_map(|(key, tag)| Some((key, tag.filter(|tag| tag & kind != 0)?)));
    let (key, tag) = areas.max_by_key(|(_, tag)| *tag)?;
    let mapping = &device.objects.get(key)?.mapping;
    Some(Area {
        address: mapping.address().0,
        bytes: mapping.bytes(),
        tag,
    })
}

/// An area of at least `bytes`: the one in use, or a larger one.
fn area<P: Platform>(
    device: &mut Device<'_, '_, P>,
    (commands, space): (Key, Space),
    current: &mut Option<Area>,
    (kind, what): (u32, &'static str),
    bytes: u64,
) -> Result<u64, Error> {
    if let Some(area) = current.filter(|area| area.bytes >= bytes) {
        return Ok(area.address);
    }
    let tag = current.map_or(kind, |area| area.tag.saturating_add(1));
    let key = device.create_area(commands, space, (tag, None), what, bytes, Protection::Data)?;
    let mapping = &device.object(key, Thing::CommandBuffer)?.mapping;
    let (address, bytes) = (mapping.address().0, mapping.bytes());
    *current = Some(Area {
        address,
        bytes,
        tag,
    });
    Ok(address)
}
