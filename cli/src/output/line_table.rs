//! Line tables: the source line of each instruction, behind a program in a file, or with its words for what looks at memory.

use eitri_program::{GraphicsProgram, Program};
use eitri_program_file::{CodeLineParts, LineParts, LineRow};
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

    /// The lines with the words of the code, for memory that holds it; none if no instruction has a line.
    fn with_code(self, first: u32, words: &[u64]) -> Option<Vec<u8>> {
        if self.files.is_empty() || words.is_empty() {
            return None;
        }
        let parts = CodeLineParts {
            first,
            words,
            lines: LineParts {
                files: &self.files,
                rows: &self.rows,
            },
        };
        let mut bytes = vec![0; parts.encoded_len().ok()?];
        parts.encode(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// The lines of a compute program, with its words.
pub(crate) fn code_of_compute(compiled: &Compiled) -> Vec<Vec<u8>> {
    let mut lines = Lines::default();
    lines.add(&compiled.listing, 0);
    let program = Program::parse(&compiled.program).ok();
    let words: Vec<u64> = program.iter().flat_map(Program::code).collect();
    lines.with_code(0, &words).into_iter().collect()
}

/// The lines of each program of a stage, with its words: a driver may put them apart.
pub(crate) fn code_of_stage(stage: &CompiledStage) -> Vec<Vec<u8>> {
    let Ok(program) = GraphicsProgram::parse(&stage.program) else {
        return vec![];
    };
    let entries = program.entry_points().zip(&stage.entry_points);
    let code = entries.filter_map(|(entry, own)| {
        let mut lines = Lines::default();
        lines.add(&own.listing, 0);
        let words: Vec<u64> = entry.code().collect();
        lines.with_code(0, &words)
    });
    code.collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use eitri_program_file::CodeLines;
    use eitri_shaderc::build::shader_text::{Language, Names, to_spirv_with};
    use eitri_shaderc::{Options, ShaderStage};

    /// A program for each entry point: each has its own words and its own lines.
    #[test]
    fn each_program_of_a_stage_has_its_words_and_lines() {
        let text = "@vertex fn v(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
    return vec4<f32>(f32(i), 0.0, 0.5, 1.0);
}
@fragment fn f(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(at.x * at.y);
}";
        let spirv = to_spirv_with(Language::Wgsl, "a.wgsl", text, Names::All).unwrap();
        let options = |stage, entry: &str| Options {
            stage,
            entry: Some(entry.to_owned()),
            ..Options::default()
        };
        let vertex = options(ShaderStage::Vertex, "v");
        let fragment = options(ShaderStage::Fragment, "f");
        let compiled =
            eitri_shaderc::compile_graphics((&spirv, &vertex), Some((&spirv, &fragment)));
        let compiled = compiled.unwrap_or_else(|errors| panic!("{errors}"));
        for (stage, line) in [(compiled.vertex, 2), (compiled.fragment.unwrap(), 5)] {
            let program = GraphicsProgram::parse(&stage.program).unwrap();
            let known = code_of_stage(&stage);
            let known: Vec<CodeLines<'_>> = known
                .iter()
                .map(|bytes| CodeLines::parse(bytes).unwrap())
                .collect();
            assert!(!known.is_empty());
            for code in known {
                let mut entries = program.entry_points();
                let own = entries.any(|entry| entry.code().eq(code.words()));
                assert!(own, "words of none of its programs");
                let lines: Vec<u32> = code.lines().flatten().map(|(_, line)| line).collect();
                assert!(lines.contains(&line), "{lines:?}");
                assert_eq!(code.lines().count(), code.words().len());
            }
        }
    }
}
