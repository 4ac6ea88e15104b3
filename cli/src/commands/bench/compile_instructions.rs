//! How many instructions the compiler executes for each instruction of a shader, counted by callgrind.
//!
//! A process that compiles a shader twice executes more than one that compiles it once: the difference is a compilation, without
//! what the process does besides. It is the same each time but for the order of tables that are hashed, whatever else the machine
//! does.

use super::{Args, Input, alone, print_json};
use crate::outcome::{Failure, FileError, Status};
use crate::output::streams::outln;
use eitri_compute_cases::Module;
use miette::Diagnostic;
use serde_json::json;
use std::process::Command;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
enum CountError {
    #[error("valgrind can't be run: {0}")]
    #[diagnostic(help("Debian has it in valgrind"))]
    Lacking(std::io::Error),
    #[error("callgrind has counted nothing\n{0}")]
    Silent(String),
}

/// A shader's row.
struct Row {
    name: String,
    /// Host instructions that one compilation executes.
    executed: u64,
    /// Instructions of the module.
    given: u32,
}

impl Row {
    fn each(&self) -> f64 {
        self.executed as f64 / f64::from(self.given.max(1))
    }
}

/// Prints a row for each shader, the cheapest first, with its figure over the median.
pub(super) fn run(inputs: &[Input], module: Module, args: &Args) -> Result<Status, Failure> {
    let mut rows = Vec::new();
    let mut refused = 0;
    for input in inputs {
        let counts = [1, 2].map(|runs| executed(input, args, runs));
        let [Some(once), Some(twice)] = counts_of(counts)? else {
            refused += 1;
            continue;
        };
        rows.push(Row {
            name: input.name(),
            executed: twice.saturating_sub(once),
            given: instructions(&input.module(module)?),
        });
    }
    rows.sort_by(|a, b| a.each().total_cmp(&b.each()));
    if args.json {
        let rows = rows.iter().map(|row| {
            json!({ "name": row.name, "executed": row.executed, "instructions": row.given, "each": row.each() })
        });
        return print_json(rows.collect());
    }
    let Some(median) = rows.get(rows.len() / 2).map(Row::each) else {
        outln!("no shader compiles; {refused} refused")?;
        return Ok(Status::Good);
    };
    outln!(
        "{:>12} {:>7} {:>8} {:>7}  shader",
        "instructions",
        "SPIR-V",
        "each",
        "median"
    )?;
    for row in &rows {
        let (each, over) = (row.each(), row.each() / median);
        let Row {
            name,
            executed,
            given,
        } = row;
        outln!("{executed:>12} {given:>7} {each:>8.0} {over:>6.2}x  {name}")?;
    }
    let sum: u64 = rows.iter().map(|row| row.executed).sum();
    let above = rows.iter().filter(|row| row.each() > 2.0 * median).count();
    let worst = rows.last().map_or(0.0, |row| row.each() / median);
    outln!(
        "{} shaders: {sum} instructions; median {median:.0} for each of SPIR-V, worst {worst:.2}x, {above} above 2x; {refused} refused",
        rows.len()
    )?;
    Ok(Status::Good)
}

fn counts_of(counts: [Result<Option<u64>, Failure>; 2]) -> Result<[Option<u64>; 2], Failure> {
    let [once, twice] = counts;
    Ok([once?, twice?])
}

/// What a process executes that compiles a shader so many times; none if it refuses the shader.
fn executed(input: &Input, args: &Args, runs: u32) -> Result<Option<u64>, Failure> {
    let program = std::env::current_exe();
    let program =
        program.map_err(|cause| Failure::missing(FileError::at("find", "this command", cause)))?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program).args(alone(input, args, runs));
    let output = command.output();
    let output = output.map_err(|cause| Failure::missing(CountError::Lacking(cause)))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    let count = messages.lines().find_map(|line| {
        let (_, count) = line.split_once("Collected : ")?;
        count.trim().parse().ok()
    });
    match count {
        _ if printed.trim() == "refused" => Ok(None),
        Some(count) if output.status.success() => Ok(Some(count)),
        Some(_) | None => Err(Failure::missing(CountError::Silent(messages.into_owned()))),
    }
}

/// Words of a module before its first instruction.
const HEADER: usize = 5;

/// Instructions of a module.
fn instructions(module: &[u8]) -> u32 {
    let mut words = module.as_chunks::<4>().0.iter().skip(HEADER);
    let mut count = 0;
    while let Some(word) = words.next() {
        count += 1;
        // The upper half of the first word is the number of words.
        let length = usize::from(u16::from_le_bytes([word[2], word[3]]));
        if let Some(others @ 1..) = length.checked_sub(1) {
            words.nth(others - 1);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each instruction's first word says how many words it has, itself included.
    #[test]
    fn instructions_of_a_module_are_counted() {
        let module = |lengths: &[u32]| -> Vec<u8> {
            let mut words = vec![0; HEADER];
            for length in lengths {
                words.push(length << 16 | 17);
                // What looks like lengths of instructions, and is none.
                words.resize(words.len() + *length as usize - 1, 1 << 16);
            }
            words.into_iter().flat_map(u32::to_le_bytes).collect()
        };
        assert_eq!(instructions(&module(&[2, 3, 5, 1])), 4);
        assert_eq!(instructions(&module(&[1, 1])), 2);
        assert_eq!(instructions(&module(&[])), 0);
        assert_eq!(instructions(&[]), 0);
    }
}
