//! `eitri asm`: shader instructions from text to words.
//!
//! Facts: hardware/valhall-isa.md sections 7 and 19; hardware/ir3-isa.md section 17.

use crate::input::instruction_set::InstructionSet;
use crate::input::ir3_text;
use crate::input::text_input::{Input, InputArgs, Problem, Results, is_blank};
use crate::outcome::{Failure, Status};
use eitri_isa::{Arch, Instr, ParseError, Syntax};
use miette::Diagnostic;
use thiserror::Error;

/// One instruction a line; lines that are blank or start with `#` are skipped. Prints one word of 16 hex digits a line.
/// Adreno: `name:` is a label, `;` starts a comment, lines that start with `@` are skipped.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    #[command(flatten)]
    dialect: Dialect,
    #[command(flatten)]
    legality: Legality,
}

/// What to do with instructions that text can say and no hardware takes.
#[derive(clap::Args)]
pub(crate) struct Legality {
    /// Refuse what the text can say but the hardware of the generation does not take, rather than noting it.
    #[arg(long)]
    pub(crate) strict: bool,
}

impl Legality {
    /// Puts the result of a line (its number from 0, its text); one that the hardware refuses is put with a note, or refused.
    pub(crate) fn put(
        &self,
        results: &mut Results,
        input: &Input,
        line: (usize, &str),
        result: Result<(String, Option<Problem>), Problem>,
    ) -> Result<(), Failure> {
        let (line, content) = line;
        let (text, refusal) = match result {
            Ok(found) => found,
            Err(problem) => return results.put(input, line, Err::<String, _>(problem)),
        };
        match refusal {
            Some(problem) if self.strict => results.put(input, line, Err::<String, _>(problem)),
            Some(problem) => {
                results.put(input, line, Ok(text))?;
                results.note(input, line, content, &problem)
            }
            None => results.put(input, line, Ok(text)),
        }
    }
}

/// Which instruction set, in which text.
#[derive(clap::Args)]
pub(crate) struct Dialect {
    /// The generation: v9 to v14 of Mali; a5xx, a6xx or a7xx of Adreno.
    #[arg(long, default_value = "v10")]
    arch: InstructionSet,
    /// The text of Mali: that of Mesa 24.1 (`mesa24`) or of Mesa 26.2 (`mesa26`); mesa24 if not given.
    #[arg(long)]
    syntax: Option<Syntax>,
}

/// A dialect of an instruction set that has one text.
#[derive(Debug, Error, Diagnostic)]
#[error("--syntax is for Mali: IR3 has one text")]
struct OneText;

/// What a dialect means.
pub(crate) enum Chosen {
    /// Mali's instructions in a text.
    Valhall(Arch, Syntax),
    /// Adreno's.
    Ir3(eitri_ir3_isa::Gen),
}

impl Dialect {
    /// The text of Mali that is asked for.
    pub(crate) fn syntax(&self) -> Syntax {
        self.syntax.unwrap_or_default()
    }

    /// The instruction set and its text.
    pub(crate) fn chosen(&self) -> Result<Chosen, Failure> {
        match (self.arch, self.syntax) {
            (InstructionSet::Valhall(arch), syntax) => {
                Ok(Chosen::Valhall(arch, syntax.unwrap_or_default()))
            }
            (InstructionSet::Ir3(generation), None) => Ok(Chosen::Ir3(generation)),
            (InstructionSet::Ir3(_), Some(_)) => Err(Failure::refused(OneText)),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let chosen = args.dialect.chosen()?;
    let input = Input::read(&args.input.file)?;
    let mut results = Results::new(args.input.keep_going);
    let (arch, syntax) = match chosen {
        Chosen::Valhall(arch, syntax) => (arch, syntax),
        Chosen::Ir3(generation) => {
            let program = ir3_text::Program::read(&input)?;
            for (line, result) in program.words(generation) {
                args.legality.put(&mut results, &input, line, result)?;
            }
            return results.finish();
        }
    };
    for (number, line) in input.text()?.lines().enumerate() {
        if is_blank(line) {
            continue;
        }
        let result = Instr::assemble_text(line, arch, syntax)
            .map(|(word, refusal)| (format!("{word:016x}"), refusal.map(|error| problem(&error))))
            .map_err(|error| problem(&error));
        args.legality
            .put(&mut results, &input, (number, line), result)?;
    }
    results.finish()
}

fn problem(error: &ParseError) -> Problem {
    Problem {
        message: error.to_string(),
        columns: error.span.start..error.span.end,
    }
}
