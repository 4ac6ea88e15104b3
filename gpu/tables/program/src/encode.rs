//! Writing: what the compiler knows to bytes.

use crate::binding::Binding;
use crate::fau::FauWord;
use crate::fau_step::FauStep;
use crate::header::{Arch, RegisterFile, Stage};
use crate::layout::{Counts, FORMAT, Sections};
use crate::program::Program;
use eitri_program_file::{EncodeError, PushRange, WorkgroupSize};

/// Everything that a program of compute consists of.
#[derive(Clone, Copy, Debug)]
pub struct ProgramParts<'a> {
    /// Generation that the code is for.
    pub arch: Arch,
    /// Stage that the code runs as.
    pub stage: Stage,
    /// Name of the entry point in the shader's text.
    pub entry: &'a str,
    /// The machine code; at least one instruction.
    pub code: &'a [u64],
    /// What the code reads through [`FauWord::DataAddress`], low word first.
    pub data: &'a [u64],
    /// Registers that each thread needs.
    pub registers: RegisterFile,
    /// Registers to fill before the first instruction: bit n is r(48 + n).
    pub preload: u16,
    /// Invocations of a workgroup.
    pub workgroup: WorkgroupSize,
    /// Shared memory of a workgroup, in bytes.
    pub shared_bytes: u32,
    /// Thread-local memory of a thread, in bytes.
    pub scratch_bytes: u32,
    /// Bytes of push constants: a multiple of 4, at most [`crate::MAX_PUSH_CONSTANT_BYTES`].
    pub push_constant_bytes: u32,
    /// FAU words; at most [`crate::MAX_FAU_WORDS`].
    pub fau: &'a [FauWord],
    /// What is computed of them, in the order of the words; at most [`crate::MAX_FAU_STEPS`].
    pub fau_steps: &'a [FauStep],
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
        let out = FORMAT.write(out, length, &self.header(), |writer| {
            for word in self.code.iter().chain(self.data) {
                writer.put(&word.to_le_bytes());
            }
            for fau in self.fau {
                writer.put_words(&fau.to_record());
            }
            for step in self.fau_steps {
                writer.put_words(&step.to_record());
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
            fau: self.fau.len(),
            fau_steps: self.fau_steps.len(),
            bindings: self.bindings.len(),
            push_ranges: self.push_ranges.len(),
            graphics: 0,
            entry: self.entry.len(),
        })
    }

    /// The header's words behind the sum, in the order of `layout::word`. The length fits 32 bits, so every count does.
    fn header(&self) -> [u32; 17] {
        [
            self.arch.major(),
            self.stage.code(),
            self.registers.registers(),
            u32::from(self.preload),
            self.workgroup.x(),
            self.workgroup.y(),
            self.workgroup.z(),
            self.shared_bytes,
            self.scratch_bytes,
            self.push_constant_bytes,
            self.entry.len() as u32,
            self.code.len() as u32,
            self.fau.len() as u32,
            self.bindings.len() as u32,
            self.push_ranges.len() as u32,
            self.data.len() as u32,
            self.fau_steps.len() as u32,
        ]
    }
}
