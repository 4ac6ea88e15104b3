//! `eitri disasm`: shader instructions from words to text.
//!
//! Facts: hardware/valhall-isa.md sections 7, 12.4 and 19.

use crate::commands::asm::Dialect;
use crate::outcome::{Failure, Status};
use crate::text_input::{Input, InputArgs, Problem, Results, hex_word, is_blank};
use eitri_isa::{Arch, Instr};
use miette::Diagnostic;
use thiserror::Error;

/// A line holds a word of 16 hex digits, or eight bytes of two, lowest first; lines that are blank or start with `#`
/// are skipped. Prints one instruction a line.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    dialect: Dialect,
    /// The input is the program's bytes. Zero words at its end are padding.
    #[arg(long)]
    raw: bool,
}

#[derive(Debug, Error, Diagnostic)]
#[error("{bytes} bytes are no whole number of 64-bit words")]
struct OddLength {
    bytes: usize,
}

#[derive(Debug, Error, Diagnostic)]
#[error("byte {offset:#x}: {word:016x}: {message}")]
struct RawError {
    offset: usize,
    word: u64,
    message: String,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let input = Input::read(&args.input.file)?;
    if args.raw {
        raw(&input, args)
    } else {
        lines(&input, args)
    }
}

fn lines(input: &Input, args: &Args) -> Result<Status, Failure> {
    let mut results = Results::new(args.input.keep_going);
    for (number, line) in input.text()?.lines().enumerate() {
        if is_blank(line) {
            continue;
        }
        let text = hex_word(line).and_then(|word| {
            text(word, &args.dialect).map_err(|message| Problem::of_line(line, message))
        });
        results.put(input, number, text)?;
    }
    results.finish()
}

fn raw(input: &Input, args: &Args) -> Result<Status, Failure> {
    let (words, rest) = input.bytes().as_chunks::<8>();
    if !rest.is_empty() {
        let bytes = input.bytes().len();
        return Err(Failure::refused(OddLength { bytes }));
    }
    let used = words.iter().rposition(|word| *word != [0; 8]);
    let words = words.iter().take(used.map_or(0, |last| last + 1));
    let mut results = Results::new(args.input.keep_going);
    for (index, bytes) in words.enumerate() {
        let word = u64::from_le_bytes(*bytes);
        let offset = 8 * index;
        results.put_or(text(word, &args.dialect), |message| RawError {
            offset,
            word,
            message: message.clone(),
        })?;
    }
    results.finish()
}

fn text(word: u64, dialect: &Dialect) -> Result<String, String> {
    let arch: Arch = dialect.arch;
    match Instr::decode(word, arch) {
        Ok(instr) => Ok(instr.display(arch, dialect.syntax).to_string()),
        Err(error) => Err(error.to_string()),
    }
}
