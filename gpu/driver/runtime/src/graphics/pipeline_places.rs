//! Places in the memory of a graphics pipeline: what stands where.
//!
//! Facts: hardware/graphics-draw.md 3.6 says how large a table of inputs is; the rest is the driver's own.

use super::prepared_words::PREPARED;
use super::uniform_plan::{FIRST_WORDS, MOST_WORDS};
use super::vertex_input::{MOST_ATTRIBUTES, MOST_BINDINGS};
use crate::platform::PhysicalAddress;
use crate::resource::DESCRIPTOR_BYTES;
use crate::vm::GpuAddress;

/// Where the parts of a pipeline's memory stand: the vertex stage's table of inputs, the fragment stage's of one sampler, tests,
/// blending, storage of no bytes, and, which the GPU does not read, the strides of what goes on with instances, by attributes and by
/// bindings, the prepared words of draws and the plan of uniforms.
const INPUTS: u64 = 0;
const SAMPLER: u64 = 0x240;
const TESTS: u64 = 0x280;
const BLENDS: u64 = 0x2C0;
const STORAGE: u64 = 0x340;
const STRIDES: u64 = 0x380;
const BINDING_STRIDES: u64 = 0x3C0;
const PLAN: u64 = 0x4C0;
// In front of the plan: both are read at once.
const PREPARED_WORDS: u64 = PLAN - 8 * PREPARED as u64;
const _: () = assert!(BINDING_STRIDES + 4 * MOST_BINDINGS as u64 <= PREPARED_WORDS);
/// All of it.
pub(super) const BYTES: u64 = PLAN + 8 * (FIRST_WORDS + MOST_WORDS) as u64;

/// What of a pipeline stands where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) memory: PhysicalAddress,
    pub(super) address: GpuAddress,
}

impl Places {
    /// Bytes of the table of inputs.
    pub(super) const INPUT_BYTES: u32 = (MOST_ATTRIBUTES as u32 + 1) * DESCRIPTOR_BYTES as u32;

    pub(super) const fn inputs(&self) -> (PhysicalAddress, GpuAddress) {
        self.part(INPUTS)
    }

    pub(super) const fn sampler(&self) -> (PhysicalAddress, GpuAddress) {
        self.part(SAMPLER)
    }

    pub(super) const fn tests(&self) -> (PhysicalAddress, GpuAddress) {
        self.part(TESTS)
    }

    pub(super) const fn blends(&self) -> (PhysicalAddress, GpuAddress) {
        self.part(BLENDS)
    }

    pub(super) const fn storage(&self) -> (PhysicalAddress, GpuAddress) {
        self.part(STORAGE)
    }

    pub(super) const fn strides(&self) -> PhysicalAddress {
        self.part(STRIDES).0
    }

    pub(super) const fn binding_strides(&self) -> PhysicalAddress {
        self.part(BINDING_STRIDES).0
    }

    pub(super) const fn prepared(&self) -> PhysicalAddress {
        self.part(PREPARED_WORDS).0
    }

    pub(super) const fn plan(&self) -> PhysicalAddress {
        self.part(PLAN).0
    }

    const fn part(&self, offset: u64) -> (PhysicalAddress, GpuAddress) {
        (self.memory.offset(offset), self.address.offset(offset))
    }
}
