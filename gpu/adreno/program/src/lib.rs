//! A shader compiled for Adreno a6xx as a binary: what shaderc writes, and what would run it reads.
//!
//! A program is one contiguous little-endian blob: a header, the machine code, data that the code reads, the immediates of
//! its const file, its bindings, and the ranges of its push constants. The compiler fills a [`ProgramParts`] and
//! [encodes](ProgramParts::encode) it; who runs it [parses](Program::parse) it without allocation and asks it for the
//! words of its [const file](Program::write_constants). Parsing checks everything once.
//!
//! Needs: nothing.  Guarantees: `Program::parse(parts.encode())` gives the parts back; damaged bytes are an error.
//! Never: knows what the code does (that is `eitri-ir3-isa`), or where it will be loaded.
//! Code is for the modes that the known drivers set: half registers are parts of the full ones, and an instruction on halves
//! makes a half of the constant that it reads.
//! Facts: hardware/ir3-isa.md 2 (both modes), 12 (bindless descriptors), 14 (what a driver needs), 19 (limits).
//!
//! ```
//! use eitri_ir3_program::{ConstLayout, ConstNeeds, Gen, Program, ProgramParts, WaveSize, WorkgroupSize};
//!
//! let parts = ProgramParts {
//!     generation: Gen::A6xx,
//!     entry: "main",
//!     code: &[0x0300_0000_0000_0000], // end
//!     data: &[],
//!     constants: ConstLayout::new(ConstNeeds { push_words: 4, ..ConstNeeds::default() }).ok_or("too many constants")?,
//!     immediates: &[],
//!     uniforms: &[],
//!     full_registers: 1,
//!     half_registers: 0,
//!     branch_stack: 0,
//!     wave: WaveSize::Single,
//!     local_id: Some(0),
//!     workgroup_id: None,
//!     workgroup: WorkgroupSize::new(64, 1, 1)?,
//!     shared_bytes: 0,
//!     private_bytes: 0,
//!     push_constant_bytes: 4,
//!     bindings: &[],
//!     push_ranges: &[],
//! };
//! let mut bytes = [0; 256];
//! let length = parts.encode(&mut bytes)?;
//! let program = Program::parse(&bytes[..length])?;
//! assert_eq!(program.entry(), "main");
//! assert_eq!(program.constants().length(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binding;
mod constants;
mod encode;
mod header;
mod layout;
mod program;

pub use binding::{Binding, BindingKind};
pub use constants::{ConstLayout, ConstNeeds, DriverParam, Launch, UniformRange};
pub use eitri_program_file::{Access, EncodeError, ProgramError, PushRange, WorkgroupSize};
pub use encode::ProgramParts;
pub use header::{Gen, WaveSize};
pub use program::Program;

/// Most bytes of push constants: the Vulkan maximum of the known driver.
pub const MAX_PUSH_CONSTANT_BYTES: u32 = 256;
/// Length of the const file of a compute program, in vec4 (hardware/ir3-isa.md 19).
pub const MAX_CONSTANTS: u16 = 256;
/// What a state field holds that names no register (hardware/ir3-isa.md 14).
pub const NO_REGISTER: u8 = 252;
/// Descriptor sets that bindless access reaches; their numbers are less (hardware/compiler-ir3.md 5).
pub const DESCRIPTOR_SETS: u32 = 5;
