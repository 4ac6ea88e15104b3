//! Writing: what the compiler knows to bytes.

use crate::NO_REGISTER;
use crate::binding::Binding;
use crate::constants::{ConstLayout, UniformRange};
use crate::header::{Gen, WaveSize};
use crate::layout::{Counts, FORMAT, HEADER_WORDS, Sections};
use crate::program::{CONSTANTS, Program};
use eitri_program_file::{EncodeError, PushRange, WorkgroupSize};

/// Everything that a program consists of.
#[derive(Clone, Copy, Debug)]
pub struct ProgramParts<'a> {
    /// Generation that the code is for.
    pub generation: Gen,
    /// Name of the entry point in the shader's text.
    pub entry: &'a str,
    /// The machine code; at least one instruction.
    pub code: &'a [u64],
    /// What the code reads through the address in its const file.
    pub data: &'a [u32],
    /// What stands where in the const file.
    pub constants: ConstLayout,
    /// The last part of the const file.
    pub immediates: &'a [u32],
    /// What of uniform buffers stands in the const file, in that order.
    pub uniforms: &'a [UniformRange],
    /// Vec4 of full registers that a lane needs, halves included.
    pub full_registers: u8,
    /// Vec4 of half registers that a lane needs: 0 where both kinds are one file.
    pub half_registers: u8,
    /// Points of reconvergence that are open at once, at most.
    pub branch_stack: u32,
    /// Lanes of a wave.
    pub wave: WaveSize,
    /// The full register (4 times its number plus component) of the local id's x; y and z follow.
    pub local_id: Option<u8>,
    /// The shared register of the workgroup id's x; y and z follow.
    pub workgroup_id: Option<u8>,
    /// Invocations of a workgroup.
    pub workgroup: WorkgroupSize,
    /// Shared memory of a workgroup, in bytes.
    pub shared_bytes: u32,
    /// Private memory of a lane, in bytes.
    pub private_bytes: u32,
    /// Bytes of push constants: a multiple of 4, at most [`crate::MAX_PUSH_CONSTANT_BYTES`].
    pub push_constant_bytes: u32,
    /// Resources; each set and binding once.
    pub bindings: &'a [Binding],
    /// Members of the push-constant block.
    pub push_ranges: &'a [PushRange],
}

impl ProgramParts<'_> {
    /// Bytes that [`ProgramParts::encode`] writes.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] when they could not be counted in 32 bits.
    pub fn encoded_len(&self) -> Result<usize, EncodeError> {
        FORMAT.length(self.sections().as_ref())
    }

    /// Writes the program to the start of `out`, and gives its length in bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLarge`], or the [`EncodeError::Invalid`] that reading the
    /// program back would give.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = self.encoded_len()?;
        let (_, immediates) = self.constants.immediates();
        let counted = usize::try_from(immediates) == Ok(self.immediates.len());
        if !counted || self.constants.data_address().is_some() == self.data.is_empty() {
            return Err(CONSTANTS.into());
        }
        let out = FORMAT.write(out, length, &self.header(), |writer| {
            for word in self.code {
                writer.put(&word.to_le_bytes());
            }
            writer.put_words(self.data);
            writer.put_words(self.immediates);
            for range in self.uniforms {
                writer.put_words(&range.to_record());
            }
            for binding in self.bindings {
                writer.put_words(&binding.to_record());
            }
            for range in self.push_ranges {
                writer.put_words(&[range.offset, range.bytes]);
            }
            writer.put(self.entry.as_bytes());
        })?;
        Program::parse(out)?;
        Ok(length)
    }

    fn sections(&self) -> Option<Sections> {
        Sections::of(&Counts {
            code: self.code.len(),
            data: self.data.len(),
            immediates: self.immediates.len(),
            uniforms: self.uniforms.len(),
            bindings: self.bindings.len(),
            push_ranges: self.push_ranges.len(),
            entry: self.entry.len(),
        })
    }

    /// The header's words behind the sum, in the order of `layout::word`. The length fits 32 bits, so every count does.
    fn header(&self) -> [u32; HEADER_WORDS] {
        let register = |number: Option<u8>| u32::from(number.unwrap_or(NO_REGISTER));
        let [x, y, z] = self.workgroup.sides();
        [
            self.generation.number(),
            self.full_registers.into(),
            self.half_registers.into(),
            self.branch_stack,
            self.wave.lanes(),
            register(self.local_id),
            register(self.workgroup_id),
            x,
            y,
            z,
            self.shared_bytes,
            self.private_bytes,
            self.push_constant_bytes,
            self.constants.push_words(),
            self.constants.driver_params(),
            self.entry.len() as u32,
            self.code.len() as u32,
            self.data.len() as u32,
            self.immediates.len() as u32,
            self.bindings.len() as u32,
            self.push_ranges.len() as u32,
            self.uniforms.len() as u32,
            self.constants.uniform_vec4(),
        ]
    }
}
