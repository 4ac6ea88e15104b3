//! IR3 instructions between text and words, for `asm` and `disasm`.
//!
//! Facts: hardware/ir3-isa.md section 17.

use crate::input::text_input::{Input, Problem, is_blank};
use eitri_ir3_isa::{Gen, Instr, ParseError};
use std::collections::BTreeMap;

/// A line's result: its text, and what hardware or a compiler would not have.
pub(crate) type Shown = Result<(String, Option<Problem>), Problem>;

/// A program as text: its instructions, and where its labels stand.
pub(crate) struct Program<'i> {
    /// Number of the line from 0, and its text.
    lines: Vec<(usize, &'i str)>,
    /// Instructions before the label.
    labels: BTreeMap<&'i str, usize>,
}

impl<'i> Program<'i> {
    /// Takes labels, comments and headers (`@…`, which say nothing of words) out of the text.
    pub(crate) fn read(input: &'i Input) -> Result<Program<'i>, crate::outcome::Failure> {
        let mut program = Program {
            lines: Vec::new(),
            labels: BTreeMap::new(),
        };
        for (number, line) in input.text()?.lines().enumerate() {
            let code = line.split(';').next().unwrap_or("").trim();
            if is_blank(code) || code.starts_with('@') {
                continue;
            }
            let here = program.lines.len();
            let Some(label) = code.strip_suffix(':').filter(|label| is_name(label)) else {
                program.lines.push((number, line));
                continue;
            };
            if program.labels.insert(label, here).is_some() {
                let problem = Problem::of_line(line, format!("`{label}` stands twice"));
                return Err(crate::outcome::Failure::refused(
                    input.error(number, &problem),
                ));
            }
        }
        Ok(program)
    }

    /// The line of each instruction, and its word.
    pub(crate) fn words(&self, generation: Gen) -> impl Iterator<Item = ((usize, &'i str), Shown)> {
        self.lines
            .iter()
            .enumerate()
            .map(move |(here, (number, line))| {
                let distance = |label: &str| {
                    let there = *self.labels.get(label)?;
                    i32::try_from(there as i64 - here as i64).ok()
                };
                let word = match raw(line) {
                    Some(word) => Ok((format!("{word:016x}"), None)),
                    None => Instr::parse_with(line, generation, &distance)
                        .map_err(|error| problem(&error))
                        .and_then(|instr| assembled(instr, generation, line)),
                };
                ((*number, *line), word)
            })
    }
}

fn is_name(label: &str) -> bool {
    let mut letters = label.chars();
    letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic() || letter == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// A word that is no instruction, as disassemblers write it; a comment may follow, as behind any other.
fn raw(line: &str) -> Option<u64> {
    let code = line.split(';').next().unwrap_or(line);
    let digits = code.trim().strip_prefix("raw 0x")?;
    u64::from_str_radix(digits, 16).ok()
}

fn assembled(instr: Instr, generation: Gen, line: &str) -> Shown {
    let word = instr.encode(generation);
    let word = word.map_err(|error| Problem::of_line(line, error.to_string()))?;
    let refusal = instr.check().err();
    let refusal = refusal.map(|rule| Problem::of_line(line, rule.to_string()));
    Ok((format!("{word:016x}"), refusal))
}

fn problem(error: &ParseError) -> Problem {
    Problem {
        message: error.to_string(),
        columns: error.span.start..error.span.end,
    }
}

/// The text of a word, and what no assembler would write in it.
pub(crate) fn show(word: u64, generation: Gen) -> (String, Option<String>) {
    let instr = match Instr::decode(word, generation) {
        Ok(instr) => instr,
        Err(error) => return (format!("raw 0x{word:016X}"), Some(error.to_string())),
    };
    let stray = instr.stray_bits();
    let refusal = if stray != 0 {
        Some(format!("bits {stray:#018x} mean nothing or should be 0"))
    } else if let Some(field) = instr.reserved_value() {
        Some(format!("{} has a reserved value", field.name()))
    } else {
        instr.check().err().map(|rule| rule.to_string())
    };
    (instr.display(generation).to_string(), refusal)
}
