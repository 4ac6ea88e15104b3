//! What can be wrong with a pipeline, a descriptor set or a recorded command.

use crate::vm::VmError;
use core::fmt;
use eitri_cs::builder::BuildFault;
use eitri_csf::Arch;
use eitri_descriptors::DescriptorError;
use thiserror::Error;

/// A limit of the GPU or of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Threads of a workgroup (`THREAD_MAX_WORKGROUP_SIZE`).
    WorkgroupThreads,
    /// Workgroups along one axis: 2^32 - 1 fit the register, fewer threads than 2^32 the global id.
    Workgroups,
    /// Bytes of shared memory of all workgroups at once.
    SharedMemory,
    /// Bytes of thread-local memory of a thread.
    ScratchMemory,
    /// Bytes of descriptors and uniforms of a command buffer.
    CommandBufferData,
    /// Resource tables of a pipeline.
    ResourceTables,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::WorkgroupThreads => "threads of a workgroup",
            Limit::Workgroups => "invocations along one axis",
            Limit::SharedMemory => "bytes of shared memory",
            Limit::ScratchMemory => "bytes of thread-local memory of a thread",
            Limit::CommandBufferData => "bytes of descriptors in a command buffer",
            Limit::ResourceTables => "resource tables",
        })
    }
}

/// Why a pipeline, a descriptor set or a command is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CommandError {
    /// The program is for another architecture.
    #[error("the program is for {program}, the GPU is {gpu}: compile it for this GPU")]
    Arch {
        /// Architecture of the program.
        program: Arch,
        /// Architecture of the GPU.
        gpu: Arch,
    },
    /// No memory, or no addresses.
    #[error(transparent)]
    Vm(#[from] VmError),
    /// More than the GPU or the runtime can do.
    #[error("{what}: {wanted} wanted, at most {most} are possible")]
    Limit {
        /// Of what.
        what: Limit,
        /// How much is wanted.
        wanted: u64,
        /// How much is possible.
        most: u64,
    },
    /// The program has no bindings in this set, or they do not share one resource table.
    #[error("set {set} can't be made: its bindings do not stand in one resource table")]
    Set {
        /// The set.
        set: u32,
    },
    /// The program has no such binding.
    #[error("the program has no binding {set}:{binding} with element {element}")]
    NoBinding {
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
        /// The element of an array binding.
        element: u32,
    },
    /// Nothing was written into a binding that the program uses.
    #[error("binding {set}:{binding} is missing (element {element})")]
    Missing {
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
        /// The element of an array binding.
        element: u32,
    },
    /// The buffer is too small for the binding.
    #[error("binding {set}:{binding} needs at least {needed} bytes, the buffer has {bytes}")]
    TooSmall {
        /// The set.
        set: u32,
        /// The binding.
        binding: u32,
        /// Bytes that are bound.
        bytes: u64,
        /// Bytes that are needed.
        needed: u32,
    },
    /// A part of a buffer that can't be bound.
    #[error(
        "bytes {offset:#x} and {bytes:#x} more of a buffer of {size:#x} can't be bound: they must be inside, aligned to 16, and fewer than 2^32"
    )]
    Range {
        /// First byte.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Length of the buffer.
        size: u64,
    },
    /// Push constants that the program does not have.
    #[error("push constants of {given} bytes, the program has {wanted}")]
    PushConstants {
        /// Bytes given.
        given: usize,
        /// Bytes that the program has.
        wanted: u32,
    },
    /// A dispatch without a pipeline.
    #[error("no pipeline is bound")]
    NoPipeline,
    /// A descriptor can't be written.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    /// Commands of a command buffer are called by others, not submitted.
    #[error("the commands were recorded for other commands to run: execute them there")]
    Secondary,
    /// Commands that can't be called by others.
    #[error("the commands were recorded for a queue: other commands can't run them")]
    NotSecondary,
    /// Commands that call commands that call commands, or themselves.
    #[error("commands call commands at most {most} deep, and never themselves")]
    TooDeep {
        /// How deep they may.
        most: u8,
    },
    /// Invocations can't be counted between the two places: the host does not know how many there are.
    #[error("invocations can't be counted past a dispatch whose counts the GPU reads")]
    NotCounted,
    /// There is no such query in the pool.
    #[error("queries {first} and {count} more are not in a pool of {size}")]
    NoQuery {
        /// The first.
        first: u32,
        /// How many.
        count: u32,
        /// How many there are.
        size: u32,
    },
    /// Commands with render passes were submitted to a queue that has no tiler heap.
    #[error(
        "the queue has no tiler heap, which render passes need: bind one with `Device::bind_tiler_heap`"
    )]
    NoTilerHeap,
    /// A render pass or a graphics pipeline is refused. Without the feature `draw` there is no such value.
    #[error(transparent)]
    Graphics(#[from] crate::graphics::GraphicsError),
    /// An instruction can't be written.
    #[error("the commands can't be written: {0}")]
    Build(BuildFault),
}
