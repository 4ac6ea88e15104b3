//! Reading: bytes to a checked program of a stage of the graphics pipeline, with no allocation.
//!
//! Guarantees: after `parse`, no accessor can fail. A driver that only computes does not have this code.

use crate::entry_point::{EntryKind, EntryRecord, padded};
use crate::facts::{FragmentFacts, VertexFacts};
use crate::fau::{DrawWord, FauWord};
use crate::fau_step::FauStep;
use crate::header::{RegisterFile, Stage};
use crate::layout::{
    FAU_BYTES, FAU_STEP_BYTES, GRAPHICS_FORMAT, GraphicsCounts, GraphicsSections, Sections,
    graphics_word as word,
};
use crate::program::{Program, counts};
use crate::varying::{Attribute, ColorOutput, Varying};
use crate::{MAX_FAU_STEPS, MAX_FAU_WORDS};
use eitri_program_file::{CODE_WORD_BYTES, Header, ProgramError, Section, code_words, records};

const ENTRY_TABLE: &str = "table of entry points";
const ATTRIBUTE_TABLE: &str = "table of attributes";
const OUTPUT_TABLE: &str = "table of outputs";
const VARYING_TABLE: &str = "table of varyings";

/// Where the word of facts has a bit for each target that is read.
pub(crate) const TILE_READS_SHIFT: u32 = 24;

/// A checked program of a stage of the graphics pipeline that borrows its bytes.
#[derive(Clone, Copy, Debug)]
pub struct GraphicsProgram<'a> {
    common: Program<'a>,
    tables: GraphicsSections,
    facts: Facts,
    tile_reads: u8,
    record_bytes: u32,
}

/// Facts of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Facts {
    /// Of a vertex shader.
    Vertex(VertexFacts),
    /// Of a fragment shader.
    Fragment(FragmentFacts),
}

/// One of the programs that a shader was compiled to.
#[derive(Clone, Copy, Debug)]
pub struct EntryPoint<'a> {
    common: Program<'a>,
    record: EntryRecord,
    /// Its own parts of the tables.
    code: Section,
    fau: Section,
    steps: Section,
}

impl<'a> GraphicsProgram<'a> {
    /// Checks the whole of `bytes`: sum, header, and every record.
    ///
    /// # Errors
    /// A [`ProgramError`] that names the first thing that is wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<GraphicsProgram<'a>, ProgramError> {
        let header = Header::checked(bytes, &GRAPHICS_FORMAT)?;
        let wanted = GraphicsCounts {
            entry_points: header.count(word::ENTRY_POINTS)?,
            attributes: header.count(word::ATTRIBUTES)?,
            outputs: header.count(word::OUTPUTS)?,
            varyings: header.count(word::VARYINGS)?,
        };
        let mut counts = counts(&header)?;
        let bytes_of_tables = GraphicsSections::of(0, &wanted).map(|tables| tables.bytes());
        counts.graphics = bytes_of_tables.unwrap_or(usize::MAX);
        let sections = header.tables(Sections::of(&counts))?;
        let common = Program::of_graphics(bytes, &header, sections)?;
        // It ends where the name begins, which `header.tables` has found inside.
        let tables = GraphicsSections::of(sections.push_ranges.end, &wanted);
        let tables = tables.ok_or(header.bad(word::ENTRY_POINTS))?;
        let (facts, tile_reads) = header.meaning(word::FACTS, |bits| {
            let reads = (bits >> TILE_READS_SHIFT) as u8;
            let bits = bits & ((1 << TILE_READS_SHIFT) - 1);
            match common.stage() {
                Stage::Fragment => Some((Facts::Fragment(FragmentFacts::from_bits(bits)?), reads)),
                _ if reads != 0 => None,
                _ => Some((Facts::Vertex(VertexFacts::from_bits(bits)?), reads)),
            }
        })?;
        let program = GraphicsProgram {
            common,
            tables,
            facts,
            tile_reads,
            record_bytes: header.meaning(word::RECORD_BYTES, |bytes| {
                (bytes <= u32::from(u16::MAX)).then_some(bytes)
            })?,
        };
        let (attributes, outputs) = (wanted.attributes, wanted.outputs);
        match common.stage() {
            Stage::Fragment if attributes != 0 => return Err(header.bad(word::ATTRIBUTES)),
            Stage::Vertex if outputs != 0 => return Err(header.bad(word::OUTPUTS)),
            _ => {}
        }
        program.check_entry_points()?;
        program.check_interface()?;
        Ok(program)
    }

    /// The entry points share out code, FAU words and steps, in an order that is theirs alone.
    fn check_entry_points(&self) -> Result<(), ProgramError> {
        let (stage, arch) = (self.common.stage(), self.common.arch());
        let mut last = None;
        let mut ends = Ends::start(self.common.sections());
        let table = self.tables.entry_points.of(self.common.bytes());
        for (index, record) in records::<4>(table).enumerate() {
            let bad = Header::bad_record(ENTRY_TABLE, index, &record);
            let entry = EntryRecord::from_record(record).ok_or(bad)?;
            let kind = entry.kind;
            let follows = match last {
                None => kind == EntryKind::first(stage, arch),
                Some(last) => last < kind && kind.is_of(stage, arch),
            };
            let places = ends.next(&entry, self.common.sections()).ok_or(bad)?;
            let small = usize::from(entry.fau) <= MAX_FAU_WORDS
                && usize::from(entry.steps) <= MAX_FAU_STEPS;
            if !follows || !small || !self.is_padded(&places) {
                return Err(bad);
            }
            self.common.check_steps(places.fau, places.steps)?;
            if stage == Stage::Fragment && !begins_with_blend_constants(&self.common, places.fau) {
                return Err(bad);
            }
            last = Some(kind);
        }
        let sections = self.common.sections();
        let whole = ends == Ends::end(sections);
        match whole && last.is_some() {
            true => Ok(()),
            false => Err(ProgramError::Contradiction {
                what: "entry points, code, FAU words and FAU steps",
            }),
        }
    }

    /// Whether the words behind an entry point's code are zero.
    fn is_padded(&self, places: &Places) -> bool {
        let padding = Section {
            start: places.code.end,
            end: places.padded_end,
        };
        let padding = padding.of(self.common.bytes());
        padding.iter().all(|byte| *byte == 0)
    }

    /// Locations are in order, each once, and mean something.
    fn check_interface(&self) -> Result<(), ProgramError> {
        let bytes = self.common.bytes();
        let mut next = 0;
        for (index, record) in records::<1>(self.tables.attributes.of(bytes)).enumerate() {
            let bad = Header::bad_record(ATTRIBUTE_TABLE, index, &record);
            let it = Attribute::from_record(record).ok_or(bad)?;
            next = after(it.location, next).ok_or(bad)?;
        }
        let mut next = 0;
        for (index, record) in records::<1>(self.tables.outputs.of(bytes)).enumerate() {
            let bad = Header::bad_record(OUTPUT_TABLE, index, &record);
            let it = ColorOutput::from_record(record).ok_or(bad)?;
            next = after(it.target, next).ok_or(bad)?;
        }
        let mut next = 0;
        for (index, record) in records::<2>(self.tables.varyings.of(bytes)).enumerate() {
            let bad = Header::bad_record(VARYING_TABLE, index, &record);
            let it = Varying::from_record(record, self.record_bytes).ok_or(bad)?;
            next = after(it.location, next).ok_or(bad)?;
        }
        Ok(())
    }

    /// What it has in common with a program of compute: architecture, stage, name, bindings, push constants, scratch memory, data;
    /// and the code of all entry points as it must be loaded, in one piece ([`EntryPoint::code_offset`]). Registers, preload mask,
    /// FAU words and steps are the entry points' ([`EntryPoint`]).
    pub fn common(&self) -> &Program<'a> {
        &self.common
    }

    /// [`Stage::Vertex`] or [`Stage::Fragment`].
    pub fn stage(&self) -> Stage {
        self.common.stage()
    }

    /// Its entry points, each kind once: first the one that every program of the stage has.
    pub fn entry_points(&self) -> impl Iterator<Item = EntryPoint<'a>> + use<'a> {
        let common = self.common;
        let mut ends = Ends::start(common.sections());
        let table = self.tables.entry_points.of(common.bytes());
        records::<4>(table).map_while(move |record| {
            let record = EntryRecord::from_record(record)?;
            let places = ends.next(&record, common.sections())?;
            Some(EntryPoint {
                common,
                record,
                code: places.code,
                fau: places.fau,
                steps: places.steps,
            })
        })
    }

    /// The entry point of a kind; `None` if there is none.
    pub fn entry_point(&self, kind: EntryKind) -> Option<EntryPoint<'a>> {
        self.entry_points().find(|entry| entry.kind() == kind)
    }

    /// The entry point that computes positions in a draw of points, or of something else; `None` in a fragment program.
    pub fn position(&self, points: bool) -> Option<EntryPoint<'a>> {
        let of = |wanted| {
            let mut all = self.entry_points();
            all.find(move |entry| match entry.kind() {
                EntryKind::Fragment | EntryKind::Varying => false,
                kind => kind.has_points() == wanted,
            })
        };
        match points {
            true => of(true).or_else(|| of(false)),
            false => of(false),
        }
    }

    /// Facts of a vertex shader; `None` of another one.
    pub fn vertex_facts(&self) -> Option<VertexFacts> {
        match self.facts {
            Facts::Vertex(facts) => Some(facts),
            Facts::Fragment(_) => None,
        }
    }

    /// Facts of a fragment shader; `None` of another one.
    pub fn fragment_facts(&self) -> Option<FragmentFacts> {
        match self.facts {
            Facts::Fragment(facts) => Some(facts),
            Facts::Vertex(_) => None,
        }
    }

    /// Render targets whose tile a fragment shader reads: bit n is target n.
    pub fn tile_reads(&self) -> u8 {
        self.tile_reads
    }

    /// What a vertex shader reads of vertices, by location. Empty in a fragment program.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute> + use<'a> {
        let table = self.tables.attributes.of(self.common.bytes());
        records::<1>(table).map_while(Attribute::from_record)
    }

    /// Colours that a fragment shader writes, by target. Empty in a vertex program.
    pub fn outputs(&self) -> impl Iterator<Item = ColorOutput> + use<'a> {
        let table = self.tables.outputs.of(self.common.bytes());
        records::<1>(table).map_while(ColorOutput::from_record)
    }

    /// What a vertex shader leaves in a vertex' record, or a fragment shader reads there, by location.
    pub fn varyings(&self) -> impl Iterator<Item = Varying> + use<'a> {
        let bytes = self.record_bytes;
        let table = self.tables.varyings.of(self.common.bytes());
        records::<2>(table).map_while(move |record| Varying::from_record(record, bytes))
    }

    /// Bytes of the record of varyings of a vertex, as both stages were compiled for it.
    pub fn record_bytes(&self) -> u32 {
        self.record_bytes
    }

    /// The first input of this fragment program that a vertex program does not write where it is read; `None` if all are
    /// there.
    pub fn missing_input(&self, vertex: &GraphicsProgram<'_>) -> Option<Varying> {
        let written = |input: &Varying| vertex.varyings().any(|output| output.fits(*input));
        self.varyings().find(|input| !written(input))
    }
}

impl<'a> EntryPoint<'a> {
    /// What it is for.
    pub fn kind(&self) -> EntryKind {
        self.record.kind
    }

    /// Bytes from the start of the program's code ([`Program::code_bytes`] of what all have in common) to its first instruction: a
    /// multiple of 128.
    pub fn code_offset(&self) -> u64 {
        let start = self.common.sections().code.start;
        // Parts of a table stand inside of it.
        self.code.start.saturating_sub(start) as u64
    }

    /// Its machine code, without padding, one instruction an item.
    pub fn code(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        code_words(self.code.of(self.common.bytes()))
    }

    /// Registers that each thread needs.
    pub fn registers(&self) -> RegisterFile {
        self.record.registers
    }

    /// Registers that the hardware must fill before the first instruction: bit n is r(48 + n).
    pub fn preload(&self) -> u16 {
        self.record.preload
    }

    /// What to put into its FAU words, in order; at most [`MAX_FAU_WORDS`].
    pub fn fau(&self) -> impl Iterator<Item = FauWord> + use<'a> {
        self.common.fau_of(self.fau)
    }

    /// What is computed of them before they are put there, in the order of the words; at most [`MAX_FAU_STEPS`].
    pub fn fau_steps(&self) -> impl Iterator<Item = FauStep> + use<'a> {
        self.common.steps_of(self.steps)
    }
}

/// The next of ascending numbers, which may begin at `next`.
fn after(number: u8, next: u32) -> Option<u32> {
    let number = u32::from(number);
    (number >= next).then_some(number.saturating_add(1))
}

fn begins_with_blend_constants(common: &Program<'_>, fau: Section) -> bool {
    let mut words = common.fau_of(fau);
    (0..4).all(|component| words.next() == Some(FauWord::Draw(DrawWord::BlendConstant(component))))
}

/// Where an entry point's parts of the tables stand.
struct Places {
    code: Section,
    /// Where the padding behind the code ends.
    padded_end: usize,
    fau: Section,
    steps: Section,
}

/// How far the entry points have taken the tables up, in bytes from the start of the program.
#[derive(PartialEq, Eq)]
struct Ends {
    code: usize,
    fau: usize,
    steps: usize,
}

impl Ends {
    fn start(sections: &Sections) -> Ends {
        Ends {
            code: sections.code.start,
            fau: sections.fau.start,
            steps: sections.fau_steps.start,
        }
    }

    fn end(sections: &Sections) -> Ends {
        Ends {
            code: sections.code.end,
            fau: sections.fau.end,
            steps: sections.fau_steps.end,
        }
    }

    /// The parts of the next entry point; `None` if they are not there.
    fn next(&mut self, entry: &EntryRecord, sections: &Sections) -> Option<Places> {
        let words = usize::try_from(entry.code).ok()?;
        let with_padding = Section::after(self.code, padded(words)?, CODE_WORD_BYTES)?;
        let places = Places {
            code: Section::after(self.code, words, CODE_WORD_BYTES)?,
            padded_end: with_padding.end,
            fau: Section::after(self.fau, entry.fau.into(), FAU_BYTES)?,
            steps: Section::after(self.steps, entry.steps.into(), FAU_STEP_BYTES)?,
        };
        let end = Ends::end(sections);
        *self = Ends {
            code: places.padded_end,
            fau: places.fau.end,
            steps: places.steps.end,
        };
        let inside = self.code <= end.code && self.fau <= end.fau && self.steps <= end.steps;
        inside.then_some(places)
    }
}
