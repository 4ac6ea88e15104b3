//! Writing a program of a stage of the graphics pipeline.

use crate::binding::Binding;
use crate::entry_point::{EntryKind, EntryRecord, padded};
use crate::fau::FauWord;
use crate::fau_step::FauStep;
use crate::graphics::{Facts, GraphicsProgram};
use crate::header::{Arch, RegisterFile, Stage};
use crate::layout::{Counts, GRAPHICS_FORMAT, GraphicsCounts, GraphicsSections, Sections};
use crate::varying::{Attribute, ColorOutput, Varying};
use eitri_program_file::{EncodeError, PushRange};

/// Everything that a program of a stage of the graphics pipeline consists of.
#[derive(Clone, Copy, Debug)]
pub struct GraphicsParts<'a> {
    /// Generation that the code is for.
    pub arch: Arch,
    /// Name of the entry point in the shader's text.
    pub entry: &'a str,
    /// The programs that were made of it, in the order of their kinds.
    pub entry_points: &'a [EntryParts<'a>],
    /// What the code reads through [`FauWord::DataAddress`], low word first.
    pub data: &'a [u64],
    /// Thread-local memory of a thread, in bytes: what the entry point takes that takes most.
    pub scratch_bytes: u32,
    /// Bytes of push constants: a multiple of 4, at most [`crate::MAX_PUSH_CONSTANT_BYTES`].
    pub push_constant_bytes: u32,
    /// Resources; each set and binding once.
    pub bindings: &'a [Binding],
    /// Members of the push-constant block.
    pub push_ranges: &'a [PushRange],
    /// What is known of the stage.
    pub facts: Facts,
    /// Render targets whose tile it reads, if it is a fragment shader.
    pub tile_reads: u8,
    /// What it reads of vertices, by location, if it is a vertex shader.
    pub attributes: &'a [Attribute],
    /// Colours that it writes, by target, if it is a fragment shader.
    pub outputs: &'a [ColorOutput],
    /// What it writes to records of vertices or reads there, by location.
    pub varyings: &'a [Varying],
    /// Bytes of such a record.
    pub record_bytes: u32,
}

/// One of its programs.
#[derive(Clone, Copy, Debug)]
pub struct EntryParts<'a> {
    /// What it is for.
    pub kind: EntryKind,
    /// The machine code; at least one instruction.
    pub code: &'a [u64],
    /// Registers that each thread needs.
    pub registers: RegisterFile,
    /// Registers to fill before the first instruction: bit n is r(48 + n).
    pub preload: u16,
    /// FAU words; at most [`crate::MAX_FAU_WORDS`]. A fragment program's begin with the four blend constants.
    pub fau: &'a [FauWord],
    /// What is computed of them, in the order of the words; at most [`crate::MAX_FAU_STEPS`].
    pub fau_steps: &'a [FauStep],
}

impl GraphicsParts<'_> {
    /// Bytes that [`GraphicsParts::encode`] writes.
    ///
    /// # Errors
    /// [`EncodeError::TooLarge`] when they could not be counted in 32 bits.
    pub fn encoded_len(&self) -> Result<usize, EncodeError> {
        let sections = self.counts().and_then(|counts| Sections::of(&counts));
        GRAPHICS_FORMAT.length(sections.as_ref())
    }

    /// Writes the program to the start of `out`, and gives its length in bytes.
    ///
    /// # Errors
    /// [`EncodeError::BufferTooSmall`], [`EncodeError::TooLarge`], or the [`EncodeError::Invalid`] that reading the
    /// program back would give.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, EncodeError> {
        let length = self.encoded_len()?;
        let counts = self.counts().ok_or(EncodeError::TooLarge)?;
        let out = GRAPHICS_FORMAT.write(out, length, &self.header(&counts), |writer| {
            for entry in self.entry_points {
                let length = padded(entry.code.len()).unwrap_or(0);
                let words = entry.code.iter().copied().chain(core::iter::repeat(0));
                for word in words.take(length) {
                    writer.put(&word.to_le_bytes());
                }
            }
            for word in self.data {
                writer.put(&word.to_le_bytes());
            }
            for fau in self.entry_points.iter().flat_map(|entry| entry.fau) {
                writer.put_words(&fau.to_record());
            }
            for step in self.entry_points.iter().flat_map(|entry| entry.fau_steps) {
                writer.put_words(&step.to_record());
            }
            for binding in self.bindings {
                writer.put_words(&binding.to_record());
            }
            for range in self.push_ranges {
                writer.put_words(&[range.offset, range.bytes]);
            }
            for entry in self.entry_points {
                writer.put_words(&entry.record().to_record());
            }
            for attribute in self.attributes {
                writer.put_words(&attribute.to_record());
            }
            for output in self.outputs {
                writer.put_words(&output.to_record());
            }
            for varying in self.varyings {
                writer.put_words(&varying.to_record());
            }
            writer.put(self.entry.as_bytes());
        })?;
        GraphicsProgram::parse(out)?;
        Ok(length)
    }

    /// How many records the tables hold; `None` when they could not be counted.
    fn counts(&self) -> Option<Counts> {
        let mut code = 0_usize;
        let (mut fau, mut fau_steps) = (0_usize, 0_usize);
        for entry in self.entry_points {
            code = code.checked_add(padded(entry.code.len())?)?;
            fau = fau.checked_add(entry.fau.len())?;
            fau_steps = fau_steps.checked_add(entry.fau_steps.len())?;
        }
        let graphics = GraphicsCounts {
            entry_points: self.entry_points.len(),
            attributes: self.attributes.len(),
            outputs: self.outputs.len(),
            varyings: self.varyings.len(),
        };
        Some(Counts {
            code,
            data: self.data.len(),
            fau,
            fau_steps,
            bindings: self.bindings.len(),
            push_ranges: self.push_ranges.len(),
            graphics: GraphicsSections::of(0, &graphics)?.bytes(),
            entry: self.entry.len(),
        })
    }

    /// The header's words behind the sum, in the order of `layout::word` and `layout::graphics_word`. The length fits 32 bits,
    /// so every count does.
    fn header(&self, counts: &Counts) -> [u32; 17] {
        let (stage, facts) = match self.facts {
            Facts::Vertex(facts) => (Stage::Vertex, facts.to_bits()),
            Facts::Fragment(facts) => (Stage::Fragment, facts.to_bits()),
        };
        [
            self.arch.major(),
            stage.code(),
            facts | u32::from(self.tile_reads) << crate::graphics::TILE_READS_SHIFT,
            self.record_bytes,
            self.entry_points.len() as u32,
            self.attributes.len() as u32,
            self.outputs.len() as u32,
            self.varyings.len() as u32,
            self.scratch_bytes,
            self.push_constant_bytes,
            self.entry.len() as u32,
            counts.code as u32,
            counts.fau as u32,
            self.bindings.len() as u32,
            self.push_ranges.len() as u32,
            self.data.len() as u32,
            counts.fau_steps as u32,
        ]
    }
}

impl EntryParts<'_> {
    fn record(&self) -> EntryRecord {
        // Too many of them mean nothing when the program is read back.
        let count = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        EntryRecord {
            kind: self.kind,
            code: self.code.len() as u32,
            registers: self.registers,
            preload: self.preload,
            fau: count(self.fau.len()),
            steps: count(self.fau_steps.len()),
        }
    }
}
