//! Machine code of Valhall in every form that people have it in: program binaries, core dumps, words, text.

use crate::input::text_input::{Input, Problem, hex_word, is_blank};
use crate::outcome::Failure;
use eitri_descriptors::shader::ShaderStage;
use eitri_dump::{Dump, show};
use eitri_isa::{Arch, Instr, Syntax};
use eitri_program::{GraphicsProgram, Program, ProgramError};
use eitri_program_file::LineTable;
use eitri_waits::Stage;
use miette::Diagnostic;
use thiserror::Error;

/// Whether a file is a program binary.
pub(crate) fn is_program(bytes: &[u8]) -> bool {
    bytes.starts_with(PROGRAM) || bytes.starts_with(GRAPHICS)
}

/// First bytes of the files that are no text.
const ELF: &[u8] = b"\x7fELF";
const PROGRAM: &[u8] = b"EITRIPRG";
const GRAPHICS: &[u8] = b"EITRIGFX";

/// Whose threads run a program.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageArgument {
    Compute,
    Vertex,
    Fragment,
    /// A blend shader, which a fragment shader jumps to.
    Blend,
}

impl From<StageArgument> for Stage {
    fn from(stage: StageArgument) -> Stage {
        match stage {
            StageArgument::Compute => Stage::Compute,
            StageArgument::Vertex => Stage::Vertex,
            StageArgument::Fragment => Stage::Fragment,
            StageArgument::Blend => Stage::Blend,
        }
    }
}

/// The machine code of one program.
pub(crate) struct FoundCode {
    /// What it is, for people.
    pub(crate) name: String,
    pub(crate) arch: Arch,
    pub(crate) stage: Stage,
    /// Address of the first word; 0 where that is not known.
    pub(crate) base: u64,
    pub(crate) words: Vec<u64>,
    /// Of text: by word, its line, from 1.
    pub(crate) lines: Vec<u32>,
    /// Of a program with a line table: by word, file and line of the source that it comes from.
    pub(crate) sources: Vec<Option<(String, u32)>>,
}

impl FoundCode {
    /// Where an instruction comes from, as `file:line`.
    pub(crate) fn source(&self, index: usize) -> Option<String> {
        let (file, line) = self.sources.get(index)?.as_ref()?;
        Some(format!("{file}:{line}"))
    }
}

/// By word, where it comes from: none of a program without a line table.
fn sources(table: Option<&LineTable<'_>>, first: u64, words: usize) -> Vec<Option<(String, u32)>> {
    let Some(table) = table else { return vec![] };
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    let lines = table.lines_from(first).take(words);
    let owned = lines.map(|place| place.map(|(file, line)| (file.to_owned(), line)));
    owned.collect()
}

/// A file to read.
pub(crate) struct Request<'a> {
    pub(crate) file: &'a str,
    /// The file is a program's words, lowest byte first.
    pub(crate) raw: bool,
    pub(crate) arch: Option<Arch>,
    pub(crate) stage: Option<StageArgument>,
    /// How text is read.
    pub(crate) syntax: Syntax,
}

#[derive(Debug, Error, Diagnostic)]
enum CodeError {
    #[error("{name}: {cause}")]
    Program { name: String, cause: ProgramError },
    #[error("{name} is no core dump of a GPU: {cause}")]
    Dump {
        name: String,
        cause: eitri_dump::ReadError,
    },
    #[error("{name}: {option} is for words and text: this file says it itself")]
    Known { name: String, option: &'static str },
}

/// The programs of a file; none if it is a dump whose jobs name none.
pub(crate) fn read(request: &Request<'_>) -> Result<Vec<FoundCode>, Failure> {
    let input = match request.raw {
        true => Input::read_words(request.file, true)?,
        false => Input::read(request.file)?,
    };
    let bytes = input.bytes();
    let starts = |magic: &[u8]| !request.raw && bytes.starts_with(magic);
    if !(starts(ELF) || starts(PROGRAM) || starts(GRAPHICS)) {
        return of_text(&input, request).map(|code| vec![code]);
    }
    let name = request.file.to_owned();
    let given = [
        ("--arch", request.arch.is_some()),
        ("--stage", request.stage.is_some()),
    ];
    if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
        return Err(Failure::refused(CodeError::Known { name, option }));
    }
    if starts(ELF) {
        return of_dump(name, bytes);
    }
    programs(name, bytes)
}

/// The programs of a program binary: several of a stage with several entry points.
pub(crate) fn programs(name: String, bytes: &[u8]) -> Result<Vec<FoundCode>, Failure> {
    let found = match bytes.starts_with(PROGRAM) {
        true => of_program(&name, bytes),
        false => of_graphics(&name, bytes),
    };
    found.map_err(|cause| Failure::refused(CodeError::Program { name, cause }))
}

fn of_program(name: &str, bytes: &[u8]) -> Result<Vec<FoundCode>, ProgramError> {
    let program = Program::parse(bytes)?;
    let table = LineTable::behind(bytes)?;
    let words: Vec<u64> = program.code().collect();
    Ok(vec![FoundCode {
        sources: sources(table.as_ref(), 0, words.len()),
        name: name.to_owned(),
        arch: program.arch(),
        stage: Stage::Compute,
        base: 0,
        words,
        lines: vec![],
    }])
}

fn of_graphics(name: &str, bytes: &[u8]) -> Result<Vec<FoundCode>, ProgramError> {
    let program = GraphicsProgram::parse(bytes)?;
    let stage = match program.stage() {
        eitri_program::Stage::Compute => Stage::Compute,
        eitri_program::Stage::Vertex => Stage::Vertex,
        eitri_program::Stage::Fragment => Stage::Fragment,
    };
    let table = LineTable::behind(bytes)?;
    let entries = program.entry_points();
    let code = entries.map(|entry| {
        let words: Vec<u64> = entry.code().collect();
        FoundCode {
            name: format!("{name}, {}", entry.kind().name()),
            arch: program.common().arch(),
            stage,
            base: entry.code_offset(),
            sources: sources(table.as_ref(), entry.code_offset() / 8, words.len()),
            words,
            lines: vec![],
        }
    });
    Ok(code.collect())
}

fn of_dump(name: String, bytes: &[u8]) -> Result<Vec<FoundCode>, Failure> {
    let dump = match Dump::parse(bytes) {
        Ok(dump) => dump,
        Err(cause) => return Err(Failure::refused(CodeError::Dump { name, cause })),
    };
    let programs = show::programs(&dump);
    let code = programs.into_iter().map(|program| FoundCode {
        name: format!(
            "{name}, address space {}, {:#x}",
            program.space, program.address
        ),
        arch: program.arch,
        stage: match program.stage {
            ShaderStage::Compute => Stage::Compute,
            ShaderStage::Vertex => Stage::Vertex,
            ShaderStage::Fragment => Stage::Fragment,
        },
        base: program.address,
        words: program.words,
        lines: vec![],
        sources: program.sources,
    });
    Ok(code.collect())
}

/// Words and instructions, one a line; a line may have either.
fn of_text(input: &Input, request: &Request<'_>) -> Result<FoundCode, Failure> {
    let arch = request.arch.unwrap_or(Arch::V10);
    let (mut words, mut lines) = (vec![], vec![]);
    for (number, line) in input.text()?.lines().enumerate() {
        if is_blank(line) {
            continue;
        }
        let word = hex_word(line).or_else(|_| assembled(line, arch, request.syntax));
        words.push(word.map_err(|problem| Failure::refused(input.error(number, &problem)))?);
        lines.push(number as u32 + 1);
    }
    let stage = request
        .stage
        .map_or_else(|| Stage::guess(&words, arch), Stage::from);
    Ok(FoundCode {
        name: request.file.to_owned(),
        arch,
        stage,
        base: 0,
        words,
        lines: if request.raw { vec![] } else { lines },
        sources: vec![],
    })
}

fn assembled(line: &str, arch: Arch, syntax: Syntax) -> Result<u64, Problem> {
    let assembled = Instr::assemble_text(line, arch, syntax);
    assembled.map(|(word, _)| word).map_err(|error| Problem {
        message: error.to_string(),
        columns: error.span.start..error.span.end,
    })
}
