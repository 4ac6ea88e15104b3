//! Line tables of program files: the source line of each instruction, behind the program.

use eitri_program::GraphicsProgram;
use eitri_program_file::{LineParts, LineRow};
use eitri_shaderc::{Compiled, CompiledStage, Listing};

/// Lines of a program's instructions, as they are gathered.
#[derive(Default)]
struct Lines<'l> {
    files: Vec<&'l str>,
    rows: Vec<LineRow>,
}

impl<'l> Lines<'l> {
    /// Adds those of a listing whose first instruction has this number.
    fn add(&mut self, listing: &'l Listing, first: u32) {
        for (word, source) in (first..).zip(listing.sources()) {
            let (file, line) = match source {
                None => (0, 0),
                Some((name, line)) => {
                    let known = self.files.iter().position(|file| *file == name);
                    let number = known.unwrap_or_else(|| {
                        self.files.push(name);
                        self.files.len() - 1
                    });
                    (number as u32, line)
                }
            };
            let same = |last: &LineRow| (last.file, last.line) == (file, line);
            if !self.rows.last().is_some_and(same) {
                self.rows.push(LineRow {
                    word,
                    file,
                    line,
                    column: 0,
                });
            }
        }
    }

    /// The program with its table; alone if no instruction has a line.
    fn behind(self, program: &[u8]) -> Vec<u8> {
        let parts = LineParts {
            files: &self.files,
            rows: &self.rows,
        };
        let mut all = program.to_vec();
        if self.files.is_empty() {
            return all;
        }
        let mut table = vec![0; parts.encoded_len().unwrap_or(0)];
        // A table that has no form is left out: the program is whole without it.
        if parts.encode(&mut table).is_ok() {
            all.extend(table);
        }
        all
    }
}

/// A compute program with its lines, if its module has some.
pub(crate) fn of_compute(compiled: &Compiled) -> Vec<u8> {
    let mut lines = Lines::default();
    lines.add(&compiled.listing, 0);
    lines.behind(&compiled.program)
}

/// The program of a stage with its lines, if its module has some.
pub(crate) fn of_stage(stage: &CompiledStage) -> Vec<u8> {
    let mut lines = Lines::default();
    let Ok(program) = GraphicsProgram::parse(&stage.program) else {
        return stage.program.clone();
    };
    for (entry, own) in program.entry_points().zip(&stage.entry_points) {
        lines.add(&own.listing, (entry.code_offset() / 8) as u32);
    }
    lines.behind(&stage.program)
}
