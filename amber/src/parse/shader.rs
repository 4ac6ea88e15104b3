//! `SHADER` and `VIRTUAL_FILE`.

use super::{Parsed, Parser, duplicate, expected};
use crate::error::Problem;
use crate::script::{Language, Shader, ShaderId, ShaderSource, Stage, TargetEnvironment};
use crate::words::Word;
use std::ops::Range;

/// A path as virtual files are looked up: with `/`, and without a leading `./`.
pub(crate) fn plain_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

impl Parser<'_> {
    pub(super) fn virtual_file(&mut self) -> Parsed<()> {
        let (path, span) = self.cursor.path("a path")?;
        let path = plain_path(&path);
        if path.is_empty() {
            return Err((span, Problem::Empty { what: "path" }));
        }
        if self.script.virtual_files.contains_key(&path) {
            return Err(duplicate("virtual file", path, span));
        }
        let (text, _) = self.cursor.raw_text("VIRTUAL_FILE")?;
        self.script.virtual_files.insert(path, text.to_owned());
        self.cursor.end_of_statement()
    }

    pub(super) fn shader(&mut self, statement: Range<usize>) -> Parsed<()> {
        let stage: Stage = self.cursor.word()?;
        let (name, span) = self.cursor.identifier("a name for the shader")?;
        self.shaders.check_new(name, span)?;
        let first_line = self.cursor.line(statement.start);
        if stage == Stage::Vertex && self.cursor.take_keyword("PASSTHROUGH")? {
            self.add_shader(Shader {
                name: name.to_owned(),
                stage,
                language: Language::SpirvAssembly,
                source: ShaderSource::Passthrough,
                target: None,
                first_line,
            });
            return self.cursor.end_of_statement();
        }
        let span = self.cursor.here()?;
        let language: Language = self.cursor.word()?;
        let spirv = [
            Language::SpirvAssembly,
            Language::SpirvHex,
            Language::SpirvBinary,
        ];
        if stage == Stage::Multi && !spirv.contains(&language) {
            return Err(expected(
                "a SPIR-V format for a multi shader",
                language.text(),
                span,
            ));
        }
        let target = match self.cursor.take_keyword("TARGET_ENV")? {
            true => Some(self.target_environment()?),
            false => None,
        };
        let (source, first_line) = self.shader_source(name, first_line)?;
        self.add_shader(Shader {
            name: name.to_owned(),
            stage,
            language,
            source,
            target,
            first_line,
        });
        self.cursor.end_of_statement()
    }

    pub(super) fn add_shader(&mut self, shader: Shader) {
        self.shaders
            .add(&shader.name, ShaderId(self.script.shaders.len()));
        self.script.shaders.push(shader);
    }

    fn target_environment(&mut self) -> Parsed<TargetEnvironment> {
        let (name, span) = self.cursor.path("a target environment")?;
        TargetEnvironment::from_text(&name).ok_or_else(|| {
            let wanted = format!("a target environment ({})", TargetEnvironment::choices());
            expected(wanted, format_args!("`{name}`"), span)
        })
    }

    fn shader_source(&mut self, name: &str, line: usize) -> Parsed<(ShaderSource, usize)> {
        if self.cursor.take_keyword("VIRTUAL_FILE")? {
            let (path, span) = self.cursor.path("a path")?;
            let path = plain_path(&path);
            let text = self.script.virtual_files.get(&path).ok_or_else(|| {
                let (what, name) = ("virtual file", path.clone());
                (span.clone(), Problem::Undeclared { what, name })
            })?;
            if text.trim().is_empty() {
                return Err((span, Problem::Empty { what: "shader" }));
            }
            return Ok((ShaderSource::Text(text.clone()), line));
        }
        if self.cursor.take_keyword("FILE")? {
            let (path, _) = self.cursor.path("a path")?;
            return Ok((ShaderSource::File(path), line));
        }
        let span = self.cursor.here()?;
        let (text, line) = self.cursor.raw_text("SHADER")?;
        if text.trim().is_empty() {
            return Err((span, Problem::Empty { what: "shader" }));
        }
        let virtual_path = format!("embedded-shaders/{name}");
        self.script
            .virtual_files
            .insert(virtual_path, text.to_owned());
        Ok((ShaderSource::Text(text.to_owned()), line))
    }
}
