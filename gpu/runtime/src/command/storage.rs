//! Thread-local and workgroup memory of the jobs in a command buffer.
//!
//! One area of each kind serves all jobs of the buffer; jobs that use an area do not overlap. An area grows by being
//! replaced; the old one stays until the buffer is recorded again, because jobs refer to it.
//! Facts: hardware/descriptors.md section 11.

use super::descriptors::{ThreadStorage, WorkgroupStorage};
use super::error::{CommandError, Limit};
use crate::device::{Device, Request};
use crate::gpu::Properties;
use crate::platform::Platform;
use crate::vm::{Object, Protection};
use eitri_program::Program;
use heapless::Vec;

/// Least bytes of a thread's memory, and of an instance of workgroup memory.
const LEAST_THREAD: u32 = 16;
const LEAST_WORKGROUP: u32 = 128;
/// Largest thread memory: the field holds log2 of bytes / 16 in five bits.
const MOST_THREAD: u32 = 1 << 24;
/// Most areas that a command buffer goes through.
const MOST_AREAS: usize = 8;

/// The areas of a command buffer; the last of each kind is in use.
#[derive(Debug, Default)]
pub(super) struct Storage {
    thread: Vec<Object, MOST_AREAS>,
    workgroup: Vec<Object, MOST_AREAS>,
}

/// What a dispatch uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) thread: Option<ThreadStorage>,
    pub(super) workgroup: Option<WorkgroupStorage>,
}

impl Used {
    /// Whether there is any: then the dispatch must not overlap another that uses some.
    pub(super) const fn any(&self) -> bool {
        self.thread.is_some() || self.workgroup.is_some()
    }
}

impl Storage {
    /// The memory for `workgroups` workgroups of a program.
    pub(super) fn provide<P: Platform>(
        &mut self,
        device: &mut Device<'_, P>,
        program: &Program<'_>,
        workgroups: u64,
    ) -> Result<Used, CommandError> {
        let properties = device.properties;
        let thread = match program.scratch_bytes() {
            0 => None,
            bytes => {
                let (size, total) = thread_size(&properties, bytes)?;
                let address = area(device, &mut self.thread, "thread-local memory", total)?;
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
                let address = area(device, &mut self.workgroup, "shared memory", total)?;
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

    /// Gives everything back. No job may use it any more.
    pub(super) fn release<P: Platform>(
        &mut self,
        device: &mut Device<'_, P>,
    ) -> Result<(), CommandError> {
        for areas in [&mut self.thread, &mut self.workgroup] {
            while let Some(object) = areas.pop() {
                device.destroy_object(object)?;
            }
        }
        Ok(())
    }
}

/// Bytes of a thread, and of all threads of all cores.
fn thread_size(properties: &Properties, bytes: u32) -> Result<(u32, u64), CommandError> {
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

/// An area of at least `bytes`: the one in use, or a larger one.
fn area<P: Platform>(
    device: &mut Device<'_, P>,
    areas: &mut Vec<Object, MOST_AREAS>,
    what: &'static str,
    bytes: u64,
) -> Result<u64, CommandError> {
    if let Some(object) = areas.last().filter(|object| object.bytes() >= bytes) {
        return Ok(object.address().0);
    }
    if areas.is_full() {
        let most = MOST_AREAS as u64;
        return Err(CommandError::Limit {
            what: Limit::StorageGrowth,
            wanted: most.wrapping_add(1),
            most,
        });
    }
    let object = device.create_object(Request::for_jobs(what, bytes, Protection::Data))?;
    let address = object.address().0;
    // There is room: it was looked for above.
    let _ = areas.push(object);
    Ok(address)
}
