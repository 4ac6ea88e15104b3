//! Handles: numbers in structures of their own, so that C's compiler tells them apart.

use crate::status::Refusal;
use eitri_runtime::{
    Buffer, CommandBuffer, DescriptorSet, Error, Event, Fence, Pipeline, QueryPool, Queue,
    Semaphore, Space, SubQueue,
};

/// A handle of C's that the driver has one of its own for.
pub(crate) trait Handle: Copy {
    /// The driver's.
    type Own;

    /// The driver's handle; one that is 0 is refused.
    fn own(self) -> Result<Self::Own, Refusal>;

    /// C's handle.
    fn of(own: Self::Own) -> Self;
}

macro_rules! handle {
    ($c:ident, $own:ident) => {
        impl Handle for $c {
            type Own = $own;

            fn own(self) -> Result<$own, Refusal> {
                $own::from_bits(self.id).ok_or(Refusal::Argument(concat!(
                    stringify!($c),
                    " 0 names nothing"
                )))
            }

            fn of(own: $own) -> $c {
                $c { id: own.to_bits() }
            }
        }
    };
}
#[cfg(feature = "draw")]
pub(crate) use handle;

/// An address space of the GPU: what is made in it is seen by its queues, and by no others.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSpace {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriSpace, Space);

/// A queue of jobs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriQueue {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriQueue, Queue);

/// Memory that shaders read and write.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriBuffer {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriBuffer, Buffer);

/// A compute shader, where the GPU can run it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriPipeline {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriPipeline, Pipeline);

/// The resources that are bound to one set of a compute shader.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSet {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriSet, DescriptorSet);

/// Recorded commands, to be submitted as often as wanted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriCommands {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriCommands, CommandBuffer);

/// A value that only grows, waited for and signalled by jobs of any queue and by the CPU.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriSemaphore {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriSemaphore, Semaphore);

/// An event: the CPU and commands of its space set and reset it, and commands wait until it is set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriEvent {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriEvent, Event);

/// Results that commands write: times, and counts.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriQueries {
    /// 0 names nothing.
    pub id: u64,
}
handle!(EitriQueries, QueryPool);

/// A job that was submitted.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct EitriFence {
    /// Its queue.
    pub queue: EitriQueue,
    /// The stream of the queue that ends it: 0 vertices, 1 fragments, 2 compute.
    pub stream: u32,
    /// Its number on that stream.
    pub point: u64,
}

impl Handle for EitriFence {
    type Own = Fence;

    fn own(self) -> Result<Fence, Refusal> {
        let sub_queue = match self.stream {
            0 => SubQueue::VertexTiler,
            1 => SubQueue::Fragment,
            2 => SubQueue::Compute,
            _ => return Err(Refusal::Argument("EitriFence.stream is not 0 to 2")),
        };
        Ok(Fence {
            queue: self.queue.own()?,
            sub_queue,
            point: self.point,
        })
    }

    fn of(own: Fence) -> EitriFence {
        EitriFence {
            queue: EitriQueue::of(own.queue),
            stream: match own.sub_queue {
                SubQueue::VertexTiler => 0,
                SubQueue::Fragment => 1,
                SubQueue::Compute => 2,
            },
            point: own.point,
        }
    }
}

/// Writes a handle where C wants it.
///
/// # Safety
/// `to` is null, or may be written to.
pub(crate) unsafe fn give<H: Handle>(
    to: *mut H,
    made: Result<H::Own, Error>,
) -> Result<(), Refusal> {
    let own = made?;
    // SAFETY: the caller's promise; every call checks for null before it makes anything.
    unsafe { to.write(H::of(own)) };
    Ok(())
}
