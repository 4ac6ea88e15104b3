//! Reading: bytes to a checked program, with no allocation.
//!
//! Guarantees: after `parse`, no accessor can fail.

use crate::binding::{Binding, DescriptorSlot};
use crate::fau::FauWord;
use crate::fau_step::FauStep;
use crate::header::{Arch, RegisterFile, Stage};
use crate::layout::{Counts, FORMAT, Sections, word};
use crate::{MAX_FAU_STEPS, MAX_FAU_WORDS, MAX_PUSH_CONSTANT_BYTES};
use eitri_program_file::{
    Header, ProgramError, PushRange, Section, WorkgroupSize, code_words, records,
};

/// The tables, in errors.
const FAU_TABLE: &str = "FAU table";
const STEP_TABLE: &str = "table of FAU steps";
const BINDING_TABLE: &str = "binding table";
const PUSH_TABLE: &str = "push-constant table";

/// How many records the tables hold that every program has.
pub(crate) fn counts(header: &Header<'_>) -> Result<Counts, ProgramError> {
    Ok(Counts {
        code: header.count(word::CODE_WORDS)?,
        data: header.count(word::DATA_WORDS)?,
        fau: header.count(word::FAU_WORDS)?,
        fau_steps: header.count(word::FAU_STEPS)?,
        bindings: header.count(word::BINDINGS)?,
        push_ranges: header.count(word::PUSH_RANGES)?,
        graphics: 0,
        entry: header.count(word::ENTRY_BYTES)?,
    })
}

fn push_constant_bytes(header: &Header<'_>) -> Result<u32, ProgramError> {
    header.meaning(word::PUSH_BYTES, |bytes| {
        (bytes <= MAX_PUSH_CONSTANT_BYTES && bytes % 4 == 0).then_some(bytes)
    })
}

/// A checked program that borrows its bytes: one of compute, or what one of graphics has in common with it
/// ([`crate::GraphicsProgram::common`]).
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    bytes: &'a [u8],
    sections: Sections,
    arch: Arch,
    stage: Stage,
    entry: &'a str,
    registers: RegisterFile,
    preload: u16,
    workgroup: WorkgroupSize,
    shared_bytes: u32,
    scratch_bytes: u32,
    push_constant_bytes: u32,
}

impl<'a> Program<'a> {
    /// Checks the whole of `bytes`, a program of compute: sum, header, and every record.
    ///
    /// # Errors
    /// A [`ProgramError`] that names the first thing that is wrong.
    // Its errors would be taken apart in the caller.
    #[inline(never)]
    pub fn parse(bytes: &'a [u8]) -> Result<Program<'a>, ProgramError> {
        let header = Header::checked(bytes, &FORMAT)?;
        let counts = counts(&header)?;
        let sections = header.tables(Sections::of(&counts))?;
        if counts.fau > MAX_FAU_WORDS {
            return Err(header.bad(word::FAU_WORDS));
        }
        if counts.fau_steps > MAX_FAU_STEPS {
            return Err(header.bad(word::FAU_STEPS));
        }
        let program = Program {
            bytes,
            sections,
            arch: header.meaning(word::ARCH, crate::header::arch)?,
            stage: header.meaning(word::STAGE, Stage::compute)?,
            entry: header.entry(&sections)?,
            registers: header.meaning(word::REGISTERS, RegisterFile::from_registers)?,
            preload: header.meaning(word::PRELOAD, |mask| u16::try_from(mask).ok())?,
            workgroup: WorkgroupSize::new(
                header.get(word::WORKGROUP_X)?,
                header.get(word::WORKGROUP_Y)?,
                header.get(word::WORKGROUP_Z)?,
            )?,
            shared_bytes: header.get(word::SHARED_BYTES)?,
            scratch_bytes: header.get(word::SCRATCH_BYTES)?,
            push_constant_bytes: push_constant_bytes(&header)?,
        };
        program.check_records()?;
        if counts.fau_steps > 0 {
            program.check_steps(sections.fau, sections.fau_steps)?;
        }
        Ok(program)
    }

    /// The tables of a program of a stage of graphics: what [`Program::parse`] makes of one of compute, with a workgroup of one
    /// invocation. Its FAU steps are not looked at: each entry point has its own.
    pub(crate) fn of_graphics(
        bytes: &'a [u8],
        header: &Header<'a>,
        sections: Sections,
    ) -> Result<Program<'a>, ProgramError> {
        let program = Program {
            bytes,
            sections,
            arch: header.meaning(word::ARCH, crate::header::arch)?,
            stage: header.meaning(word::STAGE, Stage::graphics)?,
            entry: header.entry(&sections)?,
            registers: RegisterFile::Full,
            preload: 0,
            workgroup: WorkgroupSize::new(1, 1, 1)?,
            shared_bytes: 0,
            scratch_bytes: header.get(word::SCRATCH_BYTES)?,
            push_constant_bytes: push_constant_bytes(header)?,
        };
        program.check_records()?;
        Ok(program)
    }

    fn check_records(&self) -> Result<(), ProgramError> {
        let push = self.push_constant_bytes;
        for (index, record) in records::<2>(self.sections.fau.of(self.bytes)).enumerate() {
            let bad = Header::bad_record(FAU_TABLE, index, &record);
            let word = FauWord::from_record(record, push).ok_or(bad)?;
            let slot = word.slot();
            if !word.is_of(self.stage) {
                return Err(bad);
            }
            if slot.is_some_and(|slot| !self.bindings().any(|binding| binding.has(slot))) {
                return Err(bad);
            }
        }
        let bindings = self.sections.bindings.of(self.bytes);
        for (index, record) in records::<7>(bindings).enumerate() {
            let binding = Binding::from_record(record);
            let binding = binding.ok_or(Header::bad_record(BINDING_TABLE, index, &record))?;
            let twin =
                |other: &Binding| (other.set, other.binding) == (binding.set, binding.binding);
            if self.bindings().take(index).any(|other| twin(&other)) {
                return Err(ProgramError::DuplicateBinding {
                    set: binding.set,
                    binding: binding.binding,
                });
            }
        }
        let ranges = self.sections.push_ranges.of(self.bytes);
        for (index, record) in records::<2>(ranges).enumerate() {
            PushRange::from_record(record, push)
                .ok_or(Header::bad_record(PUSH_TABLE, index, &record))?;
        }
        Ok(())
    }

    /// Steps come in the order of their words, and each changes a word that can be changed.
    #[inline(never)]
    pub(crate) fn check_steps(&self, fau: Section, steps: Section) -> Result<(), ProgramError> {
        let mut last = 0;
        for (index, record) in records::<2>(steps.of(self.bytes)).enumerate() {
            let bad = Header::bad_record(STEP_TABLE, index, &record);
            let step = FauStep::from_record(record, self.push_constant_bytes).ok_or(bad)?;
            let word = self.fau_of(fau).nth(step.word.into());
            if step.word < last || !word.is_some_and(FauWord::takes_steps) {
                return Err(bad);
            }
            last = step.word;
        }
        Ok(())
    }

    /// The FAU words of a part of their table.
    pub(crate) fn fau_of(&self, fau: Section) -> impl Iterator<Item = FauWord> + use<'a> {
        let push = self.push_constant_bytes;
        records::<2>(fau.of(self.bytes)).map_while(move |record| FauWord::from_record(record, push))
    }

    /// The steps of a part of their table.
    pub(crate) fn steps_of(&self, steps: Section) -> impl Iterator<Item = FauStep> + use<'a> {
        let push = self.push_constant_bytes;
        records::<2>(steps.of(self.bytes))
            .map_while(move |record| FauStep::from_record(record, push))
    }

    /// Where the tables stand.
    pub(crate) fn sections(&self) -> &Sections {
        &self.sections
    }

    /// The bytes that this program was parsed from.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Generation that the code is for.
    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Stage that the code runs as.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Name of the entry point in the shader's text.
    pub fn entry(&self) -> &'a str {
        self.entry
    }

    /// The machine code, little endian, 8 bytes an instruction. It must be loaded at a 128-byte boundary of
    /// executable memory and padded with zeros (hardware/compiler-abi.md 3.9).
    pub fn code_bytes(&self) -> &'a [u8] {
        self.sections.code.of(self.bytes)
    }

    /// What the code reads through [`FauWord::DataAddress`]: it must be loaded at a multiple of
    /// [`crate::DATA_ALIGNMENT`] of memory that the GPU can read. Empty when there is none.
    pub fn data_bytes(&self) -> &'a [u8] {
        self.sections.data.of(self.bytes)
    }

    /// The machine code, one instruction an item.
    pub fn code(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        code_words(self.code_bytes())
    }

    /// Registers that each thread needs.
    pub fn registers(&self) -> RegisterFile {
        self.registers
    }

    /// Registers that the hardware must fill before the first instruction: bit n is r(48 + n).
    pub fn preload(&self) -> u16 {
        self.preload
    }

    /// Invocations of a workgroup.
    pub fn workgroup(&self) -> WorkgroupSize {
        self.workgroup
    }

    /// Shared memory of a workgroup, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Thread-local memory (scratch and spills) of a thread, in bytes.
    pub fn scratch_bytes(&self) -> u32 {
        self.scratch_bytes
    }

    /// Bytes of push constants that the shader declares: a multiple of 4.
    pub fn push_constant_bytes(&self) -> u32 {
        self.push_constant_bytes
    }

    /// What to put into the FAU words, in order; at most [`MAX_FAU_WORDS`].
    pub fn fau(&self) -> impl Iterator<Item = FauWord> + use<'a> {
        self.fau_of(self.sections.fau)
    }

    /// What is computed of the FAU words before they are put there, in the order of the words; at most
    /// [`MAX_FAU_STEPS`].
    pub fn fau_steps(&self) -> impl Iterator<Item = FauStep> + use<'a> {
        self.steps_of(self.sections.fau_steps)
    }

    /// The resources that the code uses, each set and binding once.
    pub fn bindings(&self) -> impl Iterator<Item = Binding> + use<'a> {
        records::<7>(self.sections.bindings.of(self.bytes)).map_while(Binding::from_record)
    }

    /// The members of the push-constant block.
    pub fn push_ranges(&self) -> impl Iterator<Item = PushRange> + use<'a> {
        let push = self.push_constant_bytes;
        records::<2>(self.sections.push_ranges.of(self.bytes))
            .map_while(move |record| PushRange::from_record(record, push))
    }

    /// Descriptors that `table` must hold: one more than the highest index in use; 0 when the table is unused.
    pub fn table_length(&self, table: u8) -> u32 {
        let ends = self
            .bindings()
            .filter(|binding| binding.slot.table == table);
        // No overflow: a binding's last index is below 2^24, checked by `Binding::from_record`.
        let ends = ends.map(|binding| binding.slot.index.saturating_add(binding.descriptors()));
        ends.max().unwrap_or(0)
    }

    /// Highest table in use; `None` when the program has no bindings.
    pub fn highest_table(&self) -> Option<u8> {
        let slots = self.bindings().map(|binding| binding.slot);
        slots.map(|DescriptorSlot { table, .. }| table).max()
    }
}
