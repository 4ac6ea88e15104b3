//! Handles: what a user holds of things that the device keeps. They are copied freely; one of a thing that was destroyed is
//! known to be void, also when its place has a new owner; so is one of another device.

use crate::slab::Key;
use core::fmt;
use eitri_cs::SubQueue;

macro_rules! handles {
    ($($(#[$about:meta])* $name:ident),* $(,)?) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub(crate) Key);

        impl $name {
            /// The handle as a number that is never 0, for an interface that has no such types.
            pub const fn to_bits(self) -> u64 {
                self.0.number()
            }

            /// The handle that was this number; `None` if it is 0. One that was no handle is known to be void, like that of a thing
            /// that was destroyed.
            pub fn from_bits(bits: u64) -> Option<$name> {
                Key::of_number(bits).map($name)
            }
        }
    )* };
}

handles! {
    /// An address space of the GPU: what is made in it is seen by its queues, and by no others.
    Space,
    /// A queue of jobs: three streams that run side by side.
    Queue,
    /// Memory that shaders read and write.
    Buffer,
    /// Texels that shaders read, write and sample.
    Image,
    /// A compiled shader with its code where the GPU can run it.
    Pipeline,
    /// Compiled shaders of vertices and fragments, with the state of their draws.
    GraphicsPipeline,
    /// The descriptors of one set of a program.
    DescriptorSet,
    /// Recorded commands, to be submitted as often as wanted.
    CommandBuffer,
    /// Something that is set and waited for, by the host and by commands.
    Event,
    /// A value of 64 bits that only grows, waited for and signalled by the host and by jobs of any queue: a timeline.
    Semaphore,
    /// Results of queries: times, and counts.
    QueryPool,
    /// Memory of the tiler.
    TilerHeap,
}

impl fmt::Display for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "queue {}", self.0.index())
    }
}

/// A job that was submitted: the point that a stream's timeline reaches when the job is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fence {
    /// The queue.
    pub queue: Queue,
    /// The stream of the queue.
    pub sub_queue: SubQueue,
    /// The point: the n-th job of a stream reaches point n.
    pub point: u64,
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.sub_queue {
            SubQueue::VertexTiler => "vertex-tiler",
            SubQueue::Fragment => "fragment",
            SubQueue::Compute => "compute",
        };
        write!(
            f,
            "job {} of the {kind} stream of {}",
            self.point, self.queue
        )
    }
}
