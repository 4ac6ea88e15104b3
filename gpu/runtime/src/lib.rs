//! The driver: from power-off to a finished job.
//!
//! Drives Mali GPUs with a command-stream front end (architectures 10 to 13) through their registers and firmware,
//! with no operating system underneath. Its API follows Vulkan's names: [`Device`], [`Queue`], [`CommandBuffer`],
//! [`Pipeline`], [`DescriptorSet`], [`TimelineSemaphore`].
//!
//! Needs: a [`Platform`], a firmware image.  Guarantees: no call panics or hangs, whatever GPU, firmware or caller do:
//! every wait has a limit, every failure is a value that names what was seen; submission allocates nothing; memory is
//! bounded.  Never: names the model, or any board.  Facts: hardware/csf-*.md, gpu-mmu.md, command-stream.md.
//!
//! ```no_run
//! use core::time::Duration;
//! use eitri_program::Program;
//! use eitri_runtime::{Device, Done, Options, Platform, QueueConfig};
//!
//! /// Doubles `values` on the GPU with a shader that takes one storage buffer, 64 values a workgroup.
//! fn double<P: Platform>(
//!     platform: P,
//!     firmware: &[u8],
//!     shader: &[u8],
//!     values: &mut [u8],
//! ) -> Result<(), Box<dyn std::error::Error>> {
//!     let mut report = |done: &Done<'_>| println!("{}: {} ({:?})", done.step, done.found, done.took);
//!     let mut device = Device::bring_up(platform, firmware, Options::default(), &mut report)
//!         .map_err(|failed| failed.error)?;
//!     let queue = device.create_queue(QueueConfig::default())?;
//!
//!     let pipeline = device.create_pipeline(&Program::parse(shader)?)?;
//!     let buffer = device.create_buffer(values.len() as u64)?;
//!     device.write_buffer(&buffer, 0, values)?;
//!     let set = device.create_descriptor_set(&pipeline, 0)?;
//!     device.bind_buffer(&set, 0, &buffer)?;
//!
//!     let groups = (values.len() / 4).div_ceil(64) as u32;
//!     let mut commands = device.create_command_buffer()?;
//!     commands.record(&mut device, |recorder| {
//!         recorder.bind_pipeline(&pipeline).bind_descriptor_set(&set);
//!         recorder.dispatch([groups, 1, 1])?;
//!         Ok(())
//!     })?;
//!     let point = queue.submit(&mut device, &commands)?;
//!     queue.timeline().wait(&mut device, point, Duration::from_secs(1))?;
//!     device.read_buffer(&buffer, 0, values)?;
//!
//!     device.destroy_queue(queue)?;
//!     device.shutdown(&mut report).map_err(|failed| failed.error)?;
//!     Ok(())
//! }
//! ```
#![no_std]
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![allow(
    clippy::result_large_err,
    reason = "errors carry what was seen, and there is no heap to put it on"
)]

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

// The layers, from the hardware up: these four use nothing that comes after them.
mod gpu;

mod mmu;

mod vm;

mod firmware;

// What jobs go through, and the owner of it all.
mod group;

mod queue;

mod command;

mod device;

// What is told to the caller.
mod fault;

mod report;

pub use command::{CommandBuffer, CommandError, DescriptorSet, Limit, Pipeline, Recorder};
pub use device::{
    BringUpError, Buffer, BufferError, Device, DeviceLost, Failed, FirmwareCrash, Options,
    QueueConfig,
};
pub use fault::{Cause, GpuFault, JobFault, Recovery, StreamException, StreamStatus};
pub use firmware::{BootError, InterfaceError, LoadError, RequestIgnored};
pub use gpu::{
    DomainState, HaltError, PowerChange, PowerState, PowerStuck, ProbeError, Properties, ResetError,
};
pub use memory::OutOfMemory;
pub use mmu::{AsCommandStuck, MapError, MmuError, MmuFault};
pub use page_allocator::PageAllocator;
pub use platform::{DmaRegion, Instant, Lines, PhysicalAddress, Platform, SystemCoherency};
pub use queue::{
    Queue, QueueError, SubQueue, SubmitError, TimelineSemaphore, UnusableStream, WaitError,
};
pub use report::{Done, Reporter, Step};
pub use vm::{GpuAddress, VmError};
pub use wait::{Condition, TimedOut};
