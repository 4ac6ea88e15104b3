//! Known lines: the source lines of the programs of a job, for what is reported of addresses of the GPU.
//!
//! The model and core dumps have addresses of instructions. Where a program lies is the driver's choice, so a program is recognised by
//! its words in memory.

use crate::output::line_table;
use eitri_model::diagnosis::{Diagnosis, Misuse};
use eitri_model::{Gpu, PhysicalMemory};
use eitri_program_file::{CodeLines, line_among};
use eitri_shaderc::{Compiled, CompiledStage};

/// Address spaces that a GPU of this family can have.
const SPACES: u8 = 16;

/// The lines of the programs of a job.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownLines {
    /// Each as `CodeLineParts::encode` wrote it.
    programs: Vec<Vec<u8>>,
}

impl KnownLines {
    /// Those of a compute program.
    pub(crate) fn of_compute(compiled: &Compiled) -> KnownLines {
        KnownLines {
            programs: line_table::code_of_compute(compiled),
        }
    }

    /// Those of the programs of a stage.
    pub(crate) fn of_stage(stage: &CompiledStage) -> KnownLines {
        KnownLines {
            programs: line_table::code_of_stage(stage),
        }
    }

    /// Those of several programs; each once.
    pub(crate) fn of_all<'l>(all: impl Iterator<Item = &'l KnownLines>) -> KnownLines {
        let mut programs: Vec<Vec<u8>> = all.flat_map(|one| one.programs.clone()).collect();
        programs.sort();
        programs.dedup();
        KnownLines { programs }
    }

    /// Adds them to a core dump. One that does not take them stays as it is.
    pub(crate) fn add_to(&self, dump: &mut Vec<u8>) {
        if !dump.is_empty() {
            eitri_dump::add_lines(dump, &self.programs);
        }
    }

    /// Where the instruction comes from that lies so many bytes behind the start of the only program; `None` if there are several.
    pub(crate) fn of_offset(&self, offset: u64) -> Option<eitri_checks::Place> {
        let [program] = self.programs.as_slice() else {
            return None;
        };
        let lines = CodeLines::parse(program).ok()?;
        let (file, row) = lines.line_of(usize::try_from(offset / 8).ok()?)?;
        Some(eitri_checks::Place {
            file: file.to_owned(),
            line: row.line,
            column: row.column,
        })
    }

    /// Where the instruction comes from that a diagnosis is about, as `file:line`. Memory is as it was then.
    pub(crate) fn place(
        &self,
        misuse: &Misuse,
        gpu: &Gpu,
        memory: &mut dyn PhysicalMemory,
    ) -> Option<String> {
        let programs = self.programs.iter();
        let known: Vec<CodeLines<'_>> = programs
            .filter_map(|bytes| CodeLines::parse(bytes).ok())
            .collect();
        place_among(&known, misuse, gpu, memory)
    }
}

/// The same of lines from wherever.
pub(crate) fn place_among(
    known: &[CodeLines<'_>],
    misuse: &Misuse,
    gpu: &Gpu,
    memory: &mut dyn PhysicalMemory,
) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    let address = misuse.shader_address()?;
    // A diagnosis does not name its address space; the words tell.
    let mut found = (0..SPACES).filter_map(|space| {
        line_among(known, address, &mut |at| {
            let word = gpu.peek(memory, space, at, 8);
            word.first_chunk().map(|word| u64::from_le_bytes(*word))
        })
    });
    found.next().map(|(file, line)| format!("{file}:{line}"))
}

/// A diagnosis with the place that it is about, where that is known.
pub(crate) fn with_place(diagnosis: &Diagnosis, place: Option<&String>) -> String {
    match place {
        Some(place) => format!("{diagnosis}, at {place}"),
        None => diagnosis.to_string(),
    }
}
