//! `eitri disasm`: shader instructions from words to text.
//!
//! Facts: hardware/valhall-isa.md sections 7, 12.4 and 19; hardware/ir3-isa.md section 17.

use crate::commands::asm::{Chosen, Dialect, Legality};
use crate::input::ir3_text;
use crate::input::machine_code::{self, FoundCode};
use crate::input::text_input::{Input, InputArgs, Problem, Results, Word};
use crate::outcome::{Failure, Status};
use crate::output::streams::outln;
use eitri_isa::{Instr, Syntax};

/// A line holds a word of 16 hex digits, or eight bytes of two, lowest first; lines that are blank or start with `#`
/// are skipped. Prints one instruction a line. Or a program binary of `eitri compile`: its instructions, with the lines of the source
/// if it has them.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    dialect: Dialect,
    #[command(flatten)]
    legality: Legality,
    /// The input is the program's bytes. Zero words at its end are padding.
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let input = Input::read_words(&args.input.file, args.raw)?;
    if !args.raw && machine_code::is_program(input.bytes()) {
        let code = machine_code::programs(args.input.file.clone(), input.bytes())?;
        return program(&code, args.dialect.syntax());
    }
    let chosen = args.dialect.chosen()?;
    let mut words = input.words()?;
    if args.raw {
        let used = words.iter().rposition(|word| word.value != Ok(0));
        words.truncate(used.map_or(0, |last| last + 1));
    }
    let mut results = Results::new(args.input.keep_going);
    for Word { line, text, value } in words {
        let problem = |message: String| Problem::of_line(text, message);
        let shown = value.and_then(|word| show(word, &chosen).map_err(problem));
        let shown = shown.map(|(text, refusal)| (text, refusal.map(problem)));
        args.legality
            .put(&mut results, &input, (line, text), shown)?;
    }
    results.finish()
}

/// Prints the instructions of a program binary, with the lines of the source that it has.
fn program(all: &[FoundCode], syntax: Syntax) -> Result<Status, Failure> {
    let mut status = Status::Good;
    for code in all {
        outln!("# {}, {}", code.name, code.arch)?;
        let mut last = None;
        for (index, word) in code.words.iter().enumerate() {
            let source = code.source(index);
            if source != last {
                outln!("# {}", source.as_deref().unwrap_or("no line"))?;
                last = source;
            }
            match Instr::decode_text(*word, code.arch) {
                Ok(instr) => outln!("{}", instr.display(code.arch, syntax))?,
                Err(error) => {
                    outln!("# {word:#018x}: {error}")?;
                    status = Status::CheckFailed;
                }
            }
        }
    }
    Ok(status)
}

/// The text of a word, and why the hardware refuses it, if it does.
fn show(word: u64, chosen: &Chosen) -> Result<(String, Option<String>), String> {
    match *chosen {
        Chosen::Ir3(generation) => Ok(ir3_text::show(word, generation)),
        Chosen::Valhall(arch, syntax) => {
            let instr = Instr::decode_text(word, arch).map_err(|error| error.to_string())?;
            let refusal = instr.check(arch).err().map(|rule| rule.to_string());
            Ok((instr.display(arch, syntax).to_string(), refusal))
        }
    }
}
