//! `eitri disasm`: shader instructions from words to text.
//!
//! Facts: hardware/valhall-isa.md sections 7, 12.4 and 19.

use crate::commands::asm::Dialect;
use crate::outcome::{Failure, Status};
use crate::text_input::{Input, InputArgs, Problem, Results, Word};
use eitri_isa::{Arch, Instr};

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

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let input = Input::read_words(&args.input.file, args.raw)?;
    let mut words = input.words()?;
    if args.raw {
        let used = words.iter().rposition(|word| word.value != Ok(0));
        words.truncate(used.map_or(0, |last| last + 1));
    }
    let mut results = Results::new(args.input.keep_going);
    for Word { line, text, value } in words {
        let shown = value.and_then(|word| {
            show(word, &args.dialect).map_err(|message| Problem::of_line(text, message))
        });
        results.put(&input, line, shown)?;
    }
    results.finish()
}

fn show(word: u64, dialect: &Dialect) -> Result<String, String> {
    let arch: Arch = dialect.arch;
    match Instr::decode(word, arch) {
        Ok(instr) => Ok(instr.display(arch, dialect.syntax).to_string()),
        Err(error) => Err(error.to_string()),
    }
}
