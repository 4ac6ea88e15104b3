//! `eitri asm`: shader instructions from text to words.
//!
//! Facts: hardware/valhall-isa.md sections 7 and 19.

use crate::outcome::{Failure, Status};
use crate::text_input::{Input, InputArgs, Problem, Results, is_blank};
use eitri_isa::{Arch, Instr, ParseError, Syntax};

/// One instruction a line; lines that are blank or start with `#` are skipped. Prints one word of 16 hex digits a line.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    dialect: Dialect,
}

/// Which instruction set, in which text.
#[derive(clap::Args)]
pub(crate) struct Dialect {
    /// The generation: v9 to v14.
    #[arg(long, default_value = "v10")]
    pub(crate) arch: Arch,
    /// The text: that of Mesa 24.1 (`mesa24`) or of Mesa 26.2 (`mesa26`).
    #[arg(long, default_value = "mesa24")]
    pub(crate) syntax: Syntax,
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let Dialect { arch, syntax } = args.dialect;
    let input = Input::read(&args.input.file)?;
    let mut results = Results::new(args.input.keep_going);
    for (number, line) in input.text()?.lines().enumerate() {
        if is_blank(line) {
            continue;
        }
        let word = Instr::assemble(line, arch, syntax);
        let shown = word.map(|word| format!("{word:016x}"));
        results.put(&input, number, shown.map_err(|error| problem(&error)))?;
    }
    results.finish()
}

fn problem(error: &ParseError) -> Problem {
    Problem {
        message: error.to_string(),
        columns: error.span.start..error.span.end,
    }
}
