//! Reading: bytes to a checked program, with no allocation.
//!
//! Guarantees: after `parse`, no accessor can fail.

use crate::binding::{Binding, BindingKind};
use crate::constants::{self, ConstLayout, ConstNeeds, Launch, UniformRange};
use crate::header::{Gen, WaveSize};
use crate::layout::{Counts, FORMAT, Sections, WORD_BYTES, word};
use crate::{MAX_PUSH_CONSTANT_BYTES, NO_REGISTER};
use eitri_program_file::{
    Header, ProgramError, PushRange, WorkgroupSize, code_words, read_word, records,
};

/// The tables, in errors.
const BINDING_TABLE: &str = "binding table";
const UNIFORM_TABLE: &str = "table of uniform ranges";
const PUSH_TABLE: &str = "push-constant table";
/// The parts of the const file overlap, leave it, or don't agree with the rest of the program.
pub(crate) const CONSTANTS: ProgramError = ProgramError::Contradiction {
    what: "parts of the const file",
};

/// Full registers of a lane, in vec4.
const FULL_REGISTERS: u32 = 48;
/// The first shared register, and what comes after the last.
const SHARED_REGISTERS: core::ops::Range<u32> = 192..224;

/// A checked program that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    bytes: &'a [u8],
    sections: Sections,
    generation: Gen,
    entry: &'a str,
    constants: ConstLayout,
    full_registers: u8,
    half_registers: u8,
    branch_stack: u32,
    wave: WaveSize,
    local_id: Option<u8>,
    workgroup_id: Option<u8>,
    workgroup: WorkgroupSize,
    shared_bytes: u32,
    private_bytes: u32,
    push_constant_bytes: u32,
}

impl<'a> Program<'a> {
    /// Checks the whole of `bytes`: sum, header, and every record.
    ///
    /// # Errors
    /// A [`ProgramError`] that names the first thing that is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Program<'a>, ProgramError> {
        let header = Header::checked(bytes, &FORMAT)?;
        let counts = Counts {
            code: header.count(word::CODE_WORDS)?,
            data: header.count(word::DATA_WORDS)?,
            immediates: header.count(word::IMMEDIATES)?,
            uniforms: header.count(word::UNIFORMS)?,
            bindings: header.count(word::BINDINGS)?,
            push_ranges: header.count(word::PUSH_RANGES)?,
            entry: header.count(word::ENTRY_BYTES)?,
        };
        let sections = header.tables(Sections::of(&counts))?;
        let push_constant_bytes = header.meaning(word::PUSH_BYTES, |bytes| {
            (bytes <= MAX_PUSH_CONSTANT_BYTES && bytes % 4 == 0).then_some(bytes)
        })?;
        let push_words = header.get(word::PUSH_WORDS)?;
        if push_words > push_constant_bytes.div_ceil(4).next_multiple_of(4) {
            return Err(CONSTANTS);
        }
        let constants = ConstLayout::new(ConstNeeds {
            push_words,
            uniform_vec4: header.get(word::UNIFORM_VEC4)?,
            data_words: header.get(word::DATA_WORDS)?,
            driver_params: header.get(word::DRIVER_PARAMS)?,
            immediates: header.get(word::IMMEDIATES)?,
        });
        let vec4 = |count| u8::try_from(count).ok().filter(|_| count <= FULL_REGISTERS);
        let normal = 0..4 * FULL_REGISTERS;
        let program = Program {
            bytes,
            sections,
            generation: header.meaning(word::GENERATION, Gen::from_number)?,
            entry: header.entry(&sections)?,
            constants: constants.ok_or(CONSTANTS)?,
            full_registers: header.meaning(word::FULL_REGISTERS, vec4)?,
            half_registers: header.meaning(word::HALF_REGISTERS, vec4)?,
            branch_stack: header.get(word::BRANCH_STACK)?,
            wave: header.meaning(word::WAVE, WaveSize::from_lanes)?,
            local_id: header.meaning(word::LOCAL_ID, |number| vector(number, &normal))?,
            workgroup_id: header.meaning(word::WORKGROUP_ID, |number| {
                vector(number, &SHARED_REGISTERS)
            })?,
            workgroup: WorkgroupSize::new(
                header.get(word::WORKGROUP_X)?,
                header.get(word::WORKGROUP_Y)?,
                header.get(word::WORKGROUP_Z)?,
            )?,
            shared_bytes: header.get(word::SHARED_BYTES)?,
            private_bytes: header.get(word::PRIVATE_BYTES)?,
            push_constant_bytes,
        };
        program.check_records()?;
        Ok(program)
    }

    fn check_records(&self) -> Result<(), ProgramError> {
        let bindings = self.sections.bindings.of(self.bytes);
        for (index, record) in records::<6>(bindings).enumerate() {
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
        let mut vec4 = 0_u32;
        let ranges = self.sections.uniforms.of(self.bytes);
        for (index, record) in records::<4>(ranges).enumerate() {
            let bad = Header::bad_record(UNIFORM_TABLE, index, &record);
            let range = UniformRange::from_record(record).ok_or(bad)?;
            let own = |binding: &Binding| {
                let place = (binding.set, binding.binding);
                binding.kind == BindingKind::UniformBuffer && place == (range.set, range.binding)
            };
            if !self.bindings().any(|binding| own(&binding)) {
                return Err(bad);
            }
            vec4 = vec4.saturating_add(range.count);
        }
        if vec4 != self.constants.uniform_vec4() {
            return Err(CONSTANTS);
        }
        let ranges = self.sections.push_ranges.of(self.bytes);
        for (index, record) in records::<2>(ranges).enumerate() {
            PushRange::from_record(record, self.push_constant_bytes)
                .ok_or(Header::bad_record(PUSH_TABLE, index, &record))?;
        }
        Ok(())
    }

    /// The bytes that this program was parsed from.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Generation that the code is for.
    pub fn generation(&self) -> Gen {
        self.generation
    }

    /// Name of the entry point in the shader's text.
    pub fn entry(&self) -> &'a str {
        self.entry
    }

    /// The machine code, little endian, 8 bytes an instruction. It must be loaded at a 128-byte boundary and padded with
    /// zeros (hardware/ir3-isa.md 14).
    pub fn code_bytes(&self) -> &'a [u8] {
        self.sections.code.of(self.bytes)
    }

    /// The machine code, one instruction an item.
    pub fn code(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        code_words(self.code_bytes())
    }

    /// What the code reads through [`ConstLayout::data_address`]: whole words. Empty when there is none.
    pub fn data_bytes(&self) -> &'a [u8] {
        self.sections.data.of(self.bytes)
    }

    /// What stands where in the const file.
    pub fn constants(&self) -> &ConstLayout {
        &self.constants
    }

    /// The last part of the const file.
    pub fn immediates(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        words(self.sections.immediates.of(self.bytes))
    }

    /// What of uniform buffers the driver copies into the const file, in this order.
    pub fn uniforms(&self) -> impl Iterator<Item = UniformRange> + use<'a> {
        let ranges = self.sections.uniforms.of(self.bytes);
        records::<4>(ranges).map_while(UniformRange::from_record)
    }

    /// Writes the const file of a dispatch: word n is what the code reads as component n % 4 of `c`(n / 4). Gives how many
    /// words the file has, which is also how many `out` needs; what is beyond `out` is not written.
    pub fn write_constants(&self, launch: &Launch<'_>, out: &mut [u32]) -> usize {
        let bytes = self.sections.immediates.of(self.bytes);
        let immediate = |number: u32| read_word(bytes, number as usize * WORD_BYTES);
        let length = usize::from(self.constants.length()) * 4;
        for (to, number) in out.iter_mut().take(length).zip(0..) {
            *to = constants::word(&self.constants, number, launch, self.uniforms(), immediate);
        }
        length
    }

    /// Vec4 of full registers that a lane needs, halves included.
    pub fn full_registers(&self) -> u8 {
        self.full_registers
    }

    /// Vec4 of half registers that a lane needs: 0 where both kinds are one file.
    pub fn half_registers(&self) -> u8 {
        self.half_registers
    }

    /// Points of reconvergence that are open at once, at most.
    pub fn branch_stack(&self) -> u32 {
        self.branch_stack
    }

    /// Lanes of a wave.
    pub fn wave(&self) -> WaveSize {
        self.wave
    }

    /// The full register (4 times its number plus component) that holds the local id's x at the start; y and z follow.
    pub fn local_id(&self) -> Option<u8> {
        self.local_id
    }

    /// The shared register that holds the workgroup id's x at the start; y and z follow.
    pub fn workgroup_id(&self) -> Option<u8> {
        self.workgroup_id
    }

    /// Invocations of a workgroup.
    pub fn workgroup(&self) -> WorkgroupSize {
        self.workgroup
    }

    /// Shared memory of a workgroup, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// Private memory (variables and spills) of a lane, in bytes.
    pub fn private_bytes(&self) -> u32 {
        self.private_bytes
    }

    /// Bytes of push constants that the shader declares: a multiple of 4.
    pub fn push_constant_bytes(&self) -> u32 {
        self.push_constant_bytes
    }

    /// The resources that the code uses, each set and binding once.
    pub fn bindings(&self) -> impl Iterator<Item = Binding> + use<'a> {
        records::<6>(self.sections.bindings.of(self.bytes)).map_while(Binding::from_record)
    }

    /// The members of the push-constant block.
    pub fn push_ranges(&self) -> impl Iterator<Item = PushRange> + use<'a> {
        let push = self.push_constant_bytes;
        records::<2>(self.sections.push_ranges.of(self.bytes))
            .map_while(move |record| PushRange::from_record(record, push))
    }
}

/// The first of three registers in `file`, or none for the number that says so; nothing for one that means nothing.
fn vector(number: u32, file: &core::ops::Range<u32>) -> Option<Option<u8>> {
    if number == u32::from(NO_REGISTER) {
        return Some(None);
    }
    let inside = file.contains(&number) && file.contains(&(number + 2));
    inside.then(|| u8::try_from(number).ok())
}

/// Whole words of a table.
fn words(bytes: &[u8]) -> impl ExactSizeIterator<Item = u32> + '_ {
    bytes
        .chunks_exact(WORD_BYTES)
        .map(|raw| read_word(raw, 0).unwrap_or(0))
}
