//! Machine code of Valhall in every form that people have it in: program binaries, core dumps, words, text.

use crate::input::text_input::{Input, Problem, hex_word, is_blank};
use crate::outcome::Failure;
use eitri_descriptors::shader::ShaderStage;
use eitri_dump::{Dump, show};
use eitri_isa::{Arch, Instr, Syntax};
use eitri_program::{GraphicsProgram, Program, ProgramError};
use eitri_waits::Stage;
use miette::Diagnostic;
use thiserror::Error;

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
    let found = match starts(PROGRAM) {
        true => of_program(&name, bytes),
        false => of_graphics(&name, bytes),
    };
    found.map_err(|cause| Failure::refused(CodeError::Program { name, cause }))
}

fn of_program(name: &str, bytes: &[u8]) -> Result<Vec<FoundCode>, ProgramError> {
    let program = Program::parse(bytes)?;
    Ok(vec![FoundCode {
        name: name.to_owned(),
        arch: program.arch(),
        stage: Stage::Compute,
        base: 0,
        words: program.code().collect(),
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
    let entries = program.entry_points();
    let code = entries.map(|entry| FoundCode {
        name: format!("{name}, {}", entry.kind().name()),
        arch: program.common().arch(),
        stage,
        base: entry.code_offset(),
        words: entry.code().collect(),
        lines: vec![],
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
    })
}

fn assembled(line: &str, arch: Arch, syntax: Syntax) -> Result<u64, Problem> {
    let assembled = Instr::assemble_text(line, arch, syntax);
    assembled.map(|(word, _)| word).map_err(|error| Problem {
        message: error.to_string(),
        columns: error.span.start..error.span.end,
    })
}
