//! `eitri cs asm` and `eitri cs disasm`: command streams from text to words and back.

use crate::input::text_input::{Input, InputArgs, Problem, Results, Word};
use crate::outcome::{Failure, Status};
use eitri_cs::text::{LabelSlot, Line, Listing, Syntax, TextError, assemble, disassemble};
use eitri_cs::{Arch, SUPPORTED};
use miette::Diagnostic;
use std::ops::Range;
use thiserror::Error;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Assemble a command stream: prints one 16-digit hex word a line.
    ///
    /// A line is `[label:] [instruction] [; comment]`. Branches take `#N` instructions, counted from the next, or a
    /// label. What an instruction's text does not show follows in braces: `REQ_RESOURCE.compute {rt}`.
    Asm(AsmArgs),
    /// Disassemble a command stream: prints one instruction a line, and labels where branches lead.
    ///
    /// A line of the input is a word of 16 hex digits, or eight byte pairs, lowest byte first.
    Disasm(DisasmArgs),
}

#[derive(clap::Args)]
pub(crate) struct AsmArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The architecture: v10 to v13.
    #[arg(long, default_value = "v10", value_parser = |text: &str| SUPPORTED.parse(text))]
    arch: Arch,
}

#[derive(clap::Args)]
pub(crate) struct DisasmArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The architecture: v10 to v13.
    #[arg(long, default_value = "v10", value_parser = |text: &str| SUPPORTED.parse(text))]
    arch: Arch,
    /// The input is bytes: words of 8, lowest byte first.
    #[arg(long)]
    raw: bool,
    /// `eitri`, which leaves nothing out and has labels; `mesa26` or `mesa24`, to the letter of those versions.
    #[arg(long, default_value = "eitri")]
    syntax: Syntax,
}

pub(crate) fn run(command: &Command) -> Result<Status, Failure> {
    match command {
        Command::Asm(args) => asm(args),
        Command::Disasm(args) => disasm(args),
    }
}

fn asm(args: &AsmArgs) -> Result<Status, Failure> {
    let input = Input::read(&args.input.file)?;
    let source = input.text()?;
    let lines: Vec<&str> = source.lines().collect();
    let mut labels = vec![LabelSlot::default(); source.matches(':').count()];
    let problem = |error: TextError| {
        let line = lines.get(error.line - 1).unwrap_or(&"");
        let problem = Problem {
            message: error.fault.to_string(),
            columns: bytes_of(line, error.column - 1, error.length),
        };
        (error.line - 1, problem)
    };
    let words = assemble(source, args.arch, &mut labels).map_err(|error| {
        // Without labels no branch can be trusted, so this ends even a run that is to keep going.
        let (line, problem) = problem(error);
        Failure::refused(input.error(line, &problem))
    })?;
    let mut results = Results::new(args.input.keep_going);
    for word in words {
        match word {
            Ok(word) => results.put(&input, 0, Ok(format_args!("{word:016x}")))?,
            Err(error) => {
                let (line, problem) = problem(error);
                results.put(&input, line, Err::<&str, _>(problem))?;
            }
        }
    }
    results.finish()
}

/// The bytes of `length` characters of a line, from character `start` on.
fn bytes_of(line: &str, start: usize, length: usize) -> Range<usize> {
    let byte = |character| {
        let at = line.char_indices().nth(character);
        at.map_or(line.len(), |(byte, _)| byte)
    };
    byte(start)..byte(start + length)
}

/// A dialect that does not know the architecture.
#[derive(Debug, Error, Diagnostic)]
#[error("mesa24 knows command streams of v10 only, not of {arch}")]
#[diagnostic(help("`--syntax mesa26` knows all"))]
struct NotInMesa24 {
    arch: Arch,
}

/// Stands for a line that holds no word: undefined on every architecture.
const NO_WORD: u64 = u64::MAX;

fn disasm(args: &DisasmArgs) -> Result<Status, Failure> {
    let arch = args.arch;
    if args.syntax == Syntax::Mesa24 && arch != Arch::V10 {
        return Err(Failure::refused(NotInMesa24 { arch }));
    }
    let input = Input::read_words(&args.input.file, args.raw)?;
    let words = input.words()?;
    let mut results = Results::new(args.input.keep_going);
    if args.syntax != Syntax::Eitri {
        for Word { line, text, value } in words {
            let shown = value.and_then(|word| {
                let shown = disassemble(word, arch, args.syntax);
                shown.map_err(|error| Problem::of_line(text, error.to_string()))
            });
            results.put(&input, line, shown)?;
        }
        return results.finish();
    }
    let value_of = |word: &Word| *word.value.as_ref().unwrap_or(&NO_WORD);
    let values: Vec<u64> = words.iter().map(value_of).collect();
    let mut targets = vec![false; values.len() + 1];
    let mut words = words.into_iter();
    for shown in Listing::new(&values, arch, &mut targets) {
        if let Line::Label(_) = shown {
            results.put(&input, 0, Ok(shown))?;
            continue;
        }
        let Some(Word { line, text, value }) = words.next() else {
            break; // a listing has one line for each word, labels aside
        };
        let shown = match (value, shown) {
            (Err(problem), _) => Err(problem),
            (Ok(_), Line::Error(error)) => Err(Problem::of_line(text, error.to_string())),
            (Ok(_), shown) => Ok(shown),
        };
        results.put(&input, line, shown)?;
    }
    results.finish()
}
