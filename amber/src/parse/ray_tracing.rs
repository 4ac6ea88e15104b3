//! Ray tracing: read and checked for its form, of no further use (language reference, section 14).

use super::{Parsed, Parser, duplicate, expected, unknown};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::script::{Pipeline, PipelineKind};
use std::ops::Range;

const GEOMETRY_FLAGS: &[&str] = &["OPAQUE", "NO_DUPLICATE_ANY_HIT"];
const INSTANCE_FLAGS: &[&str] = &[
    "TRIANGLE_FACING_CULL_DISABLE",
    "TRIANGLE_FLIP_FACING",
    "FORCE_OPAQUE",
    "FORCE_NO_OPAQUE",
    "FORCE_OPACITY_MICROMAP_2_STATE",
    "DISABLE_OPACITY_MICROMAPS",
];

impl Parser<'_> {
    pub(super) fn acceleration_structure(&mut self) -> Parsed<()> {
        let (level, span) = self.cursor.identifier("BOTTOM_LEVEL or TOP_LEVEL")?;
        let is_bottom = match level {
            "BOTTOM_LEVEL" => true,
            "TOP_LEVEL" => false,
            _ => {
                return Err(expected(
                    "BOTTOM_LEVEL or TOP_LEVEL",
                    format_args!("`{level}`"),
                    span,
                ));
            }
        };
        let (name, span) = self
            .cursor
            .identifier("a name for the acceleration structure")?;
        self.accelerations.check_new(name, span.clone())?;
        self.cursor.end_of_statement()?;
        let mut parts = 0;
        while let Some((word, span)) = self.cursor.block_word("ACCELERATION_STRUCTURE")? {
            parts += 1;
            match (word, is_bottom) {
                ("GEOMETRY", true) => self.geometry()?,
                ("BOTTOM_LEVEL_INSTANCE", false) => self.instance()?,
                _ => return Err(unknown("part of an acceleration structure", word, span)),
            }
        }
        if parts == 0 {
            return Err((
                span,
                Problem::Empty {
                    what: "acceleration structure",
                },
            ));
        }
        self.accelerations
            .add(name, self.script.acceleration_structures.len());
        self.script.acceleration_structures.push(name.to_owned());
        self.cursor.end_of_statement()
    }

    fn geometry(&mut self) -> Parsed<()> {
        let (kind, span) = self.cursor.identifier("TRIANGLES or AABBS")?;
        let components = match kind {
            "TRIANGLES" => 9,
            "AABBS" => 6,
            _ => {
                return Err(expected(
                    "TRIANGLES or AABBS",
                    format_args!("`{kind}`"),
                    span,
                ));
            }
        };
        let mut values = 0;
        loop {
            self.cursor.skip_lines()?;
            if self.cursor.take_literal()?.is_some() {
                values += 1;
                continue;
            }
            match self.cursor.block_word("GEOMETRY")? {
                None => break,
                Some(("FLAGS", _)) => self.flags(GEOMETRY_FLAGS, false)?,
                Some((word, span)) => {
                    return Err(expected(
                        "a number, FLAGS or END",
                        format_args!("`{word}`"),
                        span,
                    ));
                }
            }
        }
        match values != 0 && values % components == 0 {
            true => Ok(()),
            false => Err((span, Problem::PartOfElement { values, components })),
        }
    }

    fn instance(&mut self) -> Parsed<()> {
        let (name, span) = self
            .cursor
            .identifier("the name of an acceleration structure")?;
        self.accelerations.find(name, span)?;
        while let Some((word, span)) = self.cursor.block_word("BOTTOM_LEVEL_INSTANCE")? {
            match word {
                "MASK" | "OFFSET" | "INDEX" => {
                    self.cursor.u32("a number of an instance")?;
                }
                "FLAGS" => self.flags(INSTANCE_FLAGS, true)?,
                "TRANSFORM" => self.transform(span)?,
                _ => return Err(unknown("option of an instance", word, span)),
            }
        }
        Ok(())
    }

    fn transform(&mut self, span: Range<usize>) -> Parsed<()> {
        const NUMBERS: usize = 12;
        let mut values = 0;
        loop {
            self.cursor.skip_lines()?;
            if self.cursor.take_literal()?.is_some() {
                values += 1;
                continue;
            }
            match self.cursor.block_word("TRANSFORM")? {
                None => break,
                Some((word, span)) => {
                    return Err(expected("a number or END", format_args!("`{word}`"), span));
                }
            }
        }
        match values {
            NUMBERS => Ok(()),
            _ => {
                let components = NUMBERS;
                Err((span, Problem::PartOfElement { values, components }))
            }
        }
    }

    /// Flags up to the end of the line; if there are none on it, up to `END`.
    fn flags(&mut self, known: &[&str], numbers: bool) -> Parsed<()> {
        let is_block = self.cursor.at_end_of_statement()?;
        loop {
            let token = self.cursor.next()?;
            match token.kind {
                TokenKind::Identifier("END") if is_block => return Ok(()),
                TokenKind::Identifier(flag) if known.contains(&flag) => {}
                TokenKind::Number(_) if numbers => {}
                TokenKind::EndOfLine if is_block => {}
                TokenKind::EndOfLine => return Ok(()),
                TokenKind::EndOfScript => {
                    return Err((token.span, Problem::NoEnd { what: "FLAGS" }));
                }
                other => return Err(expected("a flag", other, token.span)),
            }
        }
    }

    /// A statement that only ray tracing pipelines have; says whether it was one.
    pub(super) fn ray_statement(&mut self, pipeline: &mut Pipeline, word: &str) -> Parsed<bool> {
        if pipeline.kind != PipelineKind::RayTracing {
            return Ok(false);
        }
        match word {
            "SHADER_GROUP" => self.shader_group(pipeline)?,
            "SHADER_BINDING_TABLE" => {
                let (name, span) = self.cursor.identifier("a name for the table")?;
                if pipeline.ray_tables.iter().any(|table| table == name) {
                    return Err(duplicate("shader binding table", name, span));
                }
                pipeline.ray_tables.push(name.to_owned());
                self.cursor.end_of_statement()?;
                // Groups may come from libraries, so their names are not checked here.
                while self.cursor.block_word("SHADER_BINDING_TABLE")?.is_some() {}
            }
            "MAX_RAY_PAYLOAD_SIZE" | "MAX_RAY_HIT_ATTRIBUTE_SIZE" | "MAX_RAY_RECURSION_DEPTH" => {
                self.cursor.u32("a limit")?;
            }
            "FLAGS" => loop {
                let token = self.cursor.next()?;
                match token.kind {
                    TokenKind::Identifier("LIBRARY") | TokenKind::Number(_) => {}
                    other => return Err(expected("LIBRARY or a number", other, token.span)),
                }
                if self.cursor.at_end_of_statement()? {
                    break;
                }
            },
            "USE_LIBRARY" => loop {
                let (name, span) = self.cursor.identifier("the name of a pipeline")?;
                self.pipelines.find(name, span)?;
                if self.cursor.at_end_of_statement()? {
                    break;
                }
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn shader_group(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (name, span) = self.cursor.identifier("a name for the group")?;
        if pipeline.ray_groups.iter().any(|group| group == name) {
            return Err(duplicate("shader group", name, span));
        }
        pipeline.ray_groups.push(name.to_owned());
        loop {
            let (name, span) = self.cursor.identifier("the name of a shader")?;
            let id = self.shaders.find(name, span.clone())?;
            // A group attaches the shaders that are not attached yet.
            let stage = self.script.shader(id).map(|shader| shader.stage);
            if !stage.is_some_and(|stage| stage.is_ray_tracing()) {
                let what = "a shader of a group".to_owned();
                let pipeline = crate::words::Word::text(pipeline.kind);
                return Err((span, Problem::WrongPipeline { what, pipeline }));
            }
            if self.cursor.at_end_of_statement()? {
                return Ok(());
            }
        }
    }
}
