//! Errors: one type for everything that a running device refuses, and what kind of refusal it is.

use crate::command::CommandError;
use crate::device::{BringUpError, CountersError, DeviceLost, Failed};
use crate::fault::{JobFault, Recovery};
use crate::graphics::{TilerHeap, TilerHeapConfig, fmt_refused_heap};
use crate::handle::{Fence, Queue};
use crate::queue::UnusableStream;
use crate::resource::ImageError;
use crate::vm::{GpuAddress, VmError};
use core::fmt;
use core::time::Duration;
use eitri_program::ProgramError;
use thiserror::Error;

/// Something that has a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A [`crate::Space`].
    Space,
    /// A [`crate::Queue`].
    Queue,
    /// A [`crate::Buffer`].
    Buffer,
    /// A [`crate::Image`].
    Image,
    /// A [`crate::Pipeline`].
    Pipeline,
    /// A [`crate::DescriptorSet`].
    DescriptorSet,
    /// A [`crate::CommandBuffer`].
    CommandBuffer,
    /// A [`crate::Event`].
    Event,
    /// A [`crate::Semaphore`].
    Semaphore,
    /// A [`crate::QueryPool`].
    QueryPool,
    /// A [`crate::TilerHeap`].
    TilerHeap,
}

impl Thing {
    /// What it is called in messages and core dumps.
    pub const fn name(self) -> &'static str {
        match self {
            Thing::Space => "address space",
            Thing::Queue => "queue",
            Thing::Buffer => "buffer",
            Thing::Image => "image",
            Thing::Pipeline => "pipeline",
            Thing::DescriptorSet => "descriptor set",
            Thing::CommandBuffer => "command buffer",
            Thing::Event => "event",
            Thing::Semaphore => "semaphore",
            Thing::QueryPool => "query pool",
            Thing::TilerHeap => "tiler heap",
        }
    }
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A table of the [`crate::Storage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Queues.
    Queues,
    /// Address spaces.
    Spaces,
    /// Jobs in flight, and jobs that failed and were not discarded.
    Jobs,
    /// Objects.
    Objects,
    /// References between objects.
    References,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Table::Queues => "queues",
            Table::Spaces => "address spaces",
            Table::Jobs => "jobs in flight or failed",
            Table::Objects => "objects",
            Table::References => "references between objects",
        })
    }
}

/// What can be done about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The GPU is lost, or never came up: start it again.
    Lost,
    /// The platform's memory, or a space's addresses, are used up.
    OutOfMemory,
    /// A table of the storage is full: give it more places, or take something out.
    OutOfStorage,
    /// The handle is of something that was destroyed.
    Gone,
    /// A job in flight uses it: wait for the job.
    InUse,
    /// There is no room now: wait for a job of the queue.
    Busy,
    /// The queue has failed: destroy it and make another.
    QueueFailed,
    /// A job failed.
    JobFailed,
    /// The call asks for what can't be.
    Refused,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The device was given up: it was lost, and did not come back by itself.
    #[error("{0}\n  {next}", next = Recovery::Restart)]
    Lost(#[from] DeviceLost),
    /// The owner has suspended the device.
    #[error("the device is suspended: `Device::resume` ends that")]
    Suspended,
    /// The GPU did not come up, or down.
    #[error(transparent)]
    BringUp(#[from] BringUpError),
    /// A program that is none.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// No memory, no addresses, or a mapping that can't be.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// A table of the storage is full.
    #[error("the storage holds {places} {table}, and all places are taken")]
    Full {
        /// The table.
        table: Table,
        /// How many places it has.
        places: usize,
    },
    /// The handle is of something that was destroyed.
    #[error("the {what} was destroyed")]
    Gone {
        /// What it was.
        what: Thing,
    },
    /// A job in flight uses it.
    #[error("the {what} is in use: {by} is in flight")]
    InUse {
        /// What it is.
        what: Thing,
        /// The oldest job found that uses it.
        by: Fence,
    },
    /// A space that queues or objects are still in.
    #[error("the address space still has {queues} queues and {objects} objects")]
    NotEmpty {
        /// Queues.
        queues: usize,
        /// Objects.
        objects: usize,
    },
    /// The GPU was reset before its caches could be cleaned: what jobs wrote there is lost.
    #[error(
        "what jobs wrote into the {what} is lost: the GPU had to be reset with it still in its caches\n  help: write the {what} again, and repeat the jobs that wrote it"
    )]
    ContentsLost {
        /// What it is.
        what: Thing,
    },
    /// Two things of different address spaces.
    #[error("the {what} is in another address space")]
    OtherSpace {
        /// What it is.
        what: Thing,
    },
    /// A semaphore that a job is to signal is mapped to be waited for only.
    #[error("the {what} is mapped to be read only")]
    ReadOnly {
        /// What it is.
        what: Thing,
    },
    /// The range holds what has its address from the device.
    #[error("the addresses belong to {what} {number}")]
    Occupied {
        /// What it is.
        what: Thing,
        /// The number of its place.
        number: u16,
    },
    /// A job did not end in the time that it had.
    #[error("{fence} did not end within {limit:?}")]
    TimedOut {
        /// The job.
        fence: Fence,
        /// Its time.
        limit: Duration,
    },
    /// More of a kind than a call takes.
    #[error("more than {most} of a kind in one call")]
    TooMany {
        /// How many it takes.
        most: usize,
    },
    /// A tiler heap serves one queue. Without the feature `draw` there is no such value.
    #[error("the tiler heap serves {queue}")]
    TilerHeapServes {
        /// The heap.
        heap: TilerHeap,
        /// The queue that it serves.
        queue: Queue,
    },
    /// The ring of the stream is full: wait for a job.
    #[error("the ring of {queue} is full: wait for one of its jobs first")]
    RingFull {
        /// The queue.
        queue: Queue,
    },
    /// The queue has failed before.
    #[error("{queue} has failed: {fault}")]
    QueueFailed {
        /// The queue.
        queue: Queue,
        /// What stopped it.
        fault: JobFault,
    },
    /// A job that was waited for failed.
    #[error(transparent)]
    Job(#[from] JobFault),
    /// A command, a pipeline or a binding is refused.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// An image that can't be, or a part that it has not.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The command buffer holds no finished commands.
    #[error("the command buffer holds no finished commands")]
    NotRecorded,
    /// The firmware's streams can't be used.
    #[error(transparent)]
    Stream(#[from] UnusableStream),
    /// Cores that there are not, or none.
    #[error("cores {wanted:#x} are wanted, {usable:#x} can be used")]
    Cores {
        /// What is wanted.
        wanted: u64,
        /// What there is.
        usable: u64,
    },
    /// There is no such priority of a stream.
    #[error("priority {priority} of a stream is not 0 to 15")]
    StreamPriority {
        /// The priority.
        priority: u8,
    },
    /// A tiler heap that can't be. Without the feature `draw` there is no such value.
    #[error(fmt = fmt_refused_heap)]
    TilerHeap(TilerHeapConfig),
    /// Nothing is counted.
    #[error(transparent)]
    Counters(#[from] CountersError),
    /// Something of no length.
    #[error("a {what} of size 0 can't be made")]
    Empty {
        /// What was to be made.
        what: Thing,
    },
    /// Addresses that semaphores may have.
    #[error("addresses from {from} on are kept for semaphores")]
    Reserved {
        /// The first of them.
        from: GpuAddress,
    },
    /// A semaphore's value would not grow.
    #[error(
        "value {value} is not larger than {reached}, which the semaphore has or is about to get before"
    )]
    NotLarger {
        /// The value that was to be signalled.
        value: u64,
        /// The value that it has, or that a job before signals.
        reached: u64,
    },
    /// Not inside the buffer.
    #[error("bytes {offset:#x} and {bytes:#x} more are not inside a buffer of {size:#x}")]
    Outside {
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Length of the buffer.
        size: u64,
    },
    /// The offset is not a multiple of 4.
    #[error("offset {offset:#x} is not a multiple of 4")]
    Misaligned {
        /// The offset.
        offset: u64,
    },
}

impl<P> From<Failed<P>> for Error {
    fn from(failed: Failed<P>) -> Error {
        Error::BringUp(failed.error)
    }
}

impl Error {
    /// What can be done about it.
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Error::Lost(_) | Error::BringUp(_) => ErrorKind::Lost,
            Error::Vm(error) | Error::Command(CommandError::Vm(error)) => vm_kind(error),
            Error::Full { .. } => ErrorKind::OutOfStorage,
            Error::Gone { .. } => ErrorKind::Gone,
            Error::InUse { .. } | Error::NotEmpty { .. } => ErrorKind::InUse,
            Error::RingFull { .. } => ErrorKind::Busy,
            Error::QueueFailed { .. } => ErrorKind::QueueFailed,
            Error::Job(_) | Error::TimedOut { .. } | Error::ContentsLost { .. } => {
                ErrorKind::JobFailed
            }
            Error::Suspended
            | Error::Program(_)
            | Error::Command(_)
            | Error::Image(_)
            | Error::NotRecorded
            | Error::Stream(_)
            | Error::OtherSpace { .. }
            | Error::ReadOnly { .. }
            | Error::Occupied { .. }
            | Error::TooMany { .. }
            | Error::Cores { .. }
            | Error::StreamPriority { .. }
            | Error::TilerHeap(_)
            | Error::TilerHeapServes { .. }
            | Error::Counters(_)
            | Error::Empty { .. }
            | Error::Reserved { .. }
            | Error::NotLarger { .. }
            | Error::Outside { .. }
            | Error::Misaligned { .. } => ErrorKind::Refused,
        }
    }
}

const fn vm_kind(error: &VmError) -> ErrorKind {
    match error {
        VmError::OutOfMemory(_) | VmError::OutOfAddresses { .. } => ErrorKind::OutOfMemory,
        VmError::Mmu(error) if error.costs_the_device() => ErrorKind::Lost,
        VmError::Mmu(_) => ErrorKind::Refused,
    }
}
