//! Writing: what the compiler knows to bytes.

use crate::binding::{Binding, PushRange};
use crate::error::EncodeError;
use crate::fau::FauWord;
use crate::header::{Arch, RegisterFile, Stage, WorkgroupSize};
use crate::layout::{CRC, Counts, MAGIC, Sections, VERSION, word};
use crate::program::Program;

/// Everything that a program consists of.
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
        let sections = self.sections().ok_or(EncodeError::TooLarge)?;
        match u32::try_from(sections.length()) {
            Ok(_) => Ok(sections.length()),
            Err(_) => Err(EncodeError::TooLarge),
        }
    }

    /// Writes the program to the start of `out`, and gives its length in bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLarge`], or the [`EncodeError::Invalid`] that reading the
    /// program back would give.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = self.encoded_len()?;
        let available = out.len();
        let Some(out) = out.get_mut(..length) else {
            return Err(EncodeError::BufferTooSmall {
                available,
                needed: length,
            });
        };
        let mut writer = Writer { rest: &mut *out };
        writer.put(&MAGIC);
        for value in self.header(length) {
            writer.put(&value.to_le_bytes());
        }
        for word in self.code.iter().chain(self.data) {
            writer.put(&word.to_le_bytes());
        }
        for fau in self.fau {
            writer.put_words(&fau.to_record());
        }
        for binding in self.bindings {
            writer.put_words(&binding.to_record());
        }
        for range in self.push_ranges {
            writer.put_words(&[range.offset, range.bytes]);
        }
        writer.put(self.entry.as_bytes());

        let sum = CRC.checksum(out.get(word::SUM + 4..).unwrap_or(&[]));
        let mut writer = Writer {
            rest: out.get_mut(word::SUM..).unwrap_or(&mut []),
        };
        writer.put(&sum.to_le_bytes());
        Program::parse(out)?;
        Ok(length)
    }

    fn sections(&self) -> Option<Sections> {
        Sections::of(&Counts {
            code: self.code.len(),
            data: self.data.len(),
            fau: self.fau.len(),
            bindings: self.bindings.len(),
            push_ranges: self.push_ranges.len(),
            entry: self.entry.len(),
        })
    }

    /// The header's words after the magic, in the order of `layout::word`. `length` fits 32 bits, so every count does.
    fn header(&self, length: usize) -> [u32; 20] {
        let sum_comes_later = 0;
        [
            VERSION,
            length as u32,
            sum_comes_later,
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
            0,
        ]
    }
}

/// Puts bytes one after the other; what does not fit is dropped, but `encode` has measured before.
struct Writer<'a> {
    rest: &'a mut [u8],
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let rest = core::mem::take(&mut self.rest);
        if let Some((to, rest)) = rest.split_at_mut_checked(bytes.len()) {
            to.copy_from_slice(bytes);
            self.rest = rest;
        }
    }

    fn put_words(&mut self, words: &[u32]) {
        for word in words {
            self.put(&word.to_le_bytes());
        }
    }
}
