//! The driver: from power-off to a finished job.
//!
//! Drives Mali GPUs with a command-stream front end (architectures 10 to 13) through their registers and firmware,
//! with no operating system underneath. Its API follows Vulkan's names: [`Device`], [`Queue`], [`CommandBuffer`],
//! [`Pipeline`], [`DescriptorSet`], [`Fence`].
//!
//! Needs: a [`Platform`], a firmware image.  Guarantees: no call panics or hangs, whatever GPU, firmware or caller do:
//! every wait has a limit, every failure is a value that names what was seen; submission allocates nothing; memory is
//! bounded.  Never: names the model, or any board.  Facts: hardware/csf-*.md, gpu-mmu.md, command-stream.md.
//!
//! ```no_run
//! use core::time::Duration;
//! use eitri_program::Program;
//! use eitri_runtime::{Device, Done, Error, Options, Platform, QueueConfig, Status, Storage};
//!
//! /// Doubles `values` on the GPU with a shader that takes one storage buffer, 64 values a workgroup.
//! fn double<P: Platform>(
//!     platform: P,
//!     firmware: &[u8],
//!     shader: &[u8],
//!     values: &mut [u8],
//! ) -> Result<(), Error> {
//!     let mut report = |done: &Done<'_>| println!("{}: {} ({:?})", done.step, done.found, done.took);
//!     let mut storage: Storage = Storage::new();
//!     let mut device = Device::bring_up(platform, firmware, &mut storage, Options::default(), &mut report)?;
//!     let queue = device.create_queue(QueueConfig::default())?;
//!     let space = device.space(queue)?;
//!
//!     let pipeline = device.create_pipeline(space, &Program::parse(shader)?)?;
//!     let buffer = device.create_buffer(space, values.len() as u64)?;
//!     device.write_buffer(buffer, 0, values)?;
//!     let set = device.create_descriptor_set(pipeline, 0)?;
//!     device.bind_buffer(set, 0, buffer)?;
//!
//!     let groups = (values.len() / 4).div_ceil(64) as u32;
//!     let commands = device.create_command_buffer(space)?;
//!     device.record(commands, |recorder| {
//!         recorder.bind_pipeline(pipeline)?.bind_descriptor_set(set)?.dispatch([groups, 1, 1])?;
//!         Ok(())
//!     })?;
//!     let fence = device.submit(queue, commands)?;
//!     match device.wait(fence, Duration::from_secs(1)) {
//!         Status::Failed(fault) => return Err(fault.into()),
//!         Status::Pending => device.cancel(queue)?,
//!         _ => device.read_buffer(buffer, 0, values)?,
//!     }
//!     device.shutdown(&mut report)?;
//!     Ok(())
//! }
//! ```
//!
//! # Features
//! - `draw`, on by default: graphics, which is everything around [`GraphicsPipeline`], [`RenderPass`] and [`TilerHeap`]. A driver that
//!   only computes goes without. Images that compute shaders use stay, and so do copies of images, unless these are compressed
//!   without loss.
//! - `text`: messages say what registers and codes mean, beside their names and values.
//! - `defmt`: everything public that is a value can be logged by defmt.
#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "errors carry what was seen, and there is no heap to put it on"
)]
#![cfg_attr(
    not(feature = "draw"),
    allow(
        dead_code,
        unused_imports,
        rustdoc::broken_intra_doc_links,
        reason = "other modules have items that only graphics uses"
    )
)]

// What has one caller and hands on errors is often `inline(never)`: inlined, its errors are taken apart and put together again in
// the caller, byte by byte where a target has no unaligned accesses. It made an image a sixteenth larger. Nothing of it is
// on the way of a dispatch or a submission.

#[cfg(test)]
extern crate std;

#[cfg(test)]
mod testing;

// What everything stands on.
mod platform;

mod access;

mod wait;

mod memory;

mod page_allocator;

// Where things are kept, and by what they are named.
mod slab;

mod links;

mod handle;

mod storage;

// Who has what of the hardware, and who ends for what: pure, and tested alone.
mod seats;

mod scheduler;

mod policy;

// The layers, from the hardware up: these four use nothing that comes after them.
mod gpu;

mod mmu;

mod vm;

mod firmware;

mod hw;

// What jobs go through, and the owner of it all.
mod group;

mod queue;

mod resource;

mod command;

#[cfg_attr(not(feature = "draw"), path = "without_graphics.rs")]
mod graphics;

mod device;

// What is told to the caller.
mod error;

mod error_code;

mod fault;

mod report;

mod warning;

#[cfg(feature = "defmt")]
mod log_format;

pub use command::{
    Accesses, BufferImageCopy, CommandError, ImageCopy, ImageSubresource, Invocations, Limit,
    QueryCopy, Recorder, ShaderStage,
};
pub use device::{
    Access, Bound, BringUpError, CountersError, Counts, Device, DeviceLost, DevicePower, Failed,
    FirmwareCrash, ImagePart, Next, Options, QueueConfig, ScanOut, SemaphorePoint, SubmitInfo,
};
pub use eitri_descriptors::formats::VkFormat;
pub use eitri_descriptors::texture::{Func, WrapMode};
pub use error::{Error, ErrorKind, Table, Thing};
pub use error_code::{CODE_BEGINS, Code, CodeError};
pub use fault::{
    Cause, GpuFault, JobFault, Neighbour, Recovery, Side, StreamException, StreamStatus,
};
pub use firmware::{BootError, InterfaceError, LoadError, RequestIgnored};
pub use gpu::{
    DomainState, HaltError, PowerState, PowerStuck, ProbeError, Properties, ResetError, TimerClock,
};
#[cfg(feature = "draw")]
pub use graphics::{
    Attachment, BlendComponent, BlendFactor, BlendOp, BlitFilter, BlitRegion, ClearAttachment,
    ClearColor, ClearRect, ColorAttachment, ColorBlend, DepthAttachment, DepthBias, DepthState,
    Draw, DrawsKnownBy, FailedCode, FailedDraws, FailedPass, FrontFace, GraphicsError,
    GraphicsPipeline, GraphicsPipelineInfo, GraphicsSet, ImageView, IndexType, IndirectDraws,
    Inherited, InheritedRendering, InputRate, LoadOp, Occlusion, PassPart, PixelRange, Rect,
    RenderPass, RenderingInfo, Resolve, ResolveMode, StencilAttachment, StencilFace, StencilOp,
    StencilState, StoreOp, TilerHeap, TilerHeapConfig, TilerHeapInfo, Topology, Unsupported,
    VertexAttribute, VertexBinding, Viewport,
};
pub use handle::{
    Buffer, CommandBuffer, DescriptorSet, Event, Fence, Image, Pipeline, QueryPool, Queue,
    Semaphore, Space,
};
pub use memory::OutOfMemory;
pub use mmu::{AsCommandStuck, MapError, MmuError, MmuFault};
pub use page_allocator::PageAllocator;
pub use platform::{
    DmaRegion, Instant, Lines, OperatingPoint, PhysicalAddress, Platform, PowerChange,
    SystemCoherency,
};
pub use queue::{Status, SubQueue, UnusableStream};
pub use report::{Done, Reporter, Step};
pub use resource::{
    Aspect, BindingElement, BufferRange, Component, DynamicOffset, ImageError, ImageInfo,
    ImageRange, ImageUses, Placement, SamplerInfo, Tiling, ViewInfo,
};
pub use scheduler::Priority;
pub use storage::Storage;
pub use vm::{GpuAddress, VmError};
pub use wait::{Condition, TimedOut};
pub use warning::Warning;
