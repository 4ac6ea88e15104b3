//! A compiled shader as a binary: what shaderc writes and the runtime reads.
//!
//! A program is one contiguous little-endian blob: a header, the machine code, data that the code reads, and small tables
//! of what the code expects (FAU words, what is computed of them, bindings, push-constant ranges). The compiler fills a
//! [`ProgramParts`] and [encodes](ProgramParts::encode) it; an image embeds the bytes ([`include_program!`]); the runtime
//! [parses](Program::parse) them without allocation. Parsing checks everything once, so that nothing that comes out of
//! a [`Program`] needs another check.
//!
//! A stage of the graphics pipeline is a [`GraphicsProgram`], written from [`GraphicsParts`]: the same tables, but several
//! [entry points](EntryPoint) over one data section, and what the stages must know of each other and the driver of them. Who only
//! computes does not have the code that reads it.
//!
//! Needs: nothing.  Guarantees: `Program::parse(parts.encode())` gives the parts back; damaged bytes are an error.
//! Never: knows what the code does (that is `eitri-isa`), or where it will be loaded.
//! Facts: hardware/compiler-abi.md 1 (tables and handles), 3.1 (preloads), 3.9 (what a driver needs), 4 (FAU);
//! hardware/graphics-compiler.md 1.1 (programs of a vertex shader), 2 (varyings), 10 (facts of a stage).
//!
//! ```
//! use eitri_program::{Arch, FauWord, Program, ProgramParts, RegisterFile, Stage, WorkgroupSize};
//!
//! let parts = ProgramParts {
//!     arch: Arch::V10,
//!     stage: Stage::Compute,
//!     entry: "main",
//!     code: &[0x7800_C000_0000_0000], // NOP.end
//!     data: &[],
//!     registers: RegisterFile::Half,
//!     preload: 0,
//!     workgroup: WorkgroupSize::new(64, 1, 1)?,
//!     shared_bytes: 0,
//!     scratch_bytes: 0,
//!     push_constant_bytes: 4,
//!     fau: &[FauWord::PushConstant { offset: 0 }],
//!     fau_steps: &[],
//!     bindings: &[],
//!     push_ranges: &[],
//! };
//! let mut bytes = [0; 256];
//! let length = parts.encode(&mut bytes)?;
//! let program = Program::parse(&bytes[..length])?;
//! assert_eq!(program.entry(), "main");
//! assert_eq!(program.fau().count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binding;
mod embed;
mod encode;
mod entry_point;
mod facts;
mod fau;
mod fau_step;
mod graphics;
mod graphics_encode;
mod header;
mod layout;
mod program;
mod varying;

pub use binding::{Binding, BindingKind, DescriptorSlot, ImageDimension, ImageShape};
pub use eitri_program_file::{Access, EncodeError, ProgramError, PushRange, WorkgroupSize};
pub use embed::Aligned;
pub use encode::ProgramParts;
pub use entry_point::EntryKind;
pub use facts::{FragmentFacts, VertexFacts};
pub use fau::{AddressHalf, Axis, DrawWord, FauWord};
pub use fau_step::{FauOp, FauOperand, FauStep};
pub use graphics::{EntryPoint, Facts, GraphicsProgram};
pub use graphics_encode::{EntryParts, GraphicsParts};
pub use header::{Arch, RegisterFile, SUPPORTED, Stage};
pub use program::Program;
pub use varying::{Attribute, ColorOutput, Interpolation, NumberKind, Varying, VaryingSize};

/// Most FAU words (32 bits each) that a program may ask for: 64 slots of 64 bits (hardware/compiler-abi.md 4).
pub const MAX_FAU_WORDS: usize = 128;
/// Most steps that change them: so many are soon taken, at each dispatch.
pub const MAX_FAU_STEPS: usize = 32;
/// Most bytes of push constants: the Vulkan maximum that the ABI carries (hardware/compiler-abi.md 4).
pub const MAX_PUSH_CONSTANT_BYTES: u32 = 256;
/// Alignment of a program's data in GPU memory, in bytes: what a load must not straddle, and a line of the cache.
pub const DATA_ALIGNMENT: u64 = 64;
/// Alignment of the blob in memory, in bytes, so that the code inside can be read as words.
pub const ALIGNMENT: usize = 8;
