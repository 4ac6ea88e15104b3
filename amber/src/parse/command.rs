//! `CLEAR`, `COPY`, `RUN` and `REPEAT`: language reference, section 10.

use super::{Parsed, Parser, expected, out_of_range, unknown};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::script::{Action, Command, Draw, Pipeline, PipelineId, PipelineKind, Run, Topology};
use crate::words::Word;
use std::ops::Range;

impl<'s> Parser<'s> {
    /// A command that begins with `word`, up to the end of its line; none if there is no such command.
    pub(super) fn command(&mut self, word: &'s str, span: Range<usize>) -> Parsed<Option<Command>> {
        let action = match word {
            "CLEAR" => Action::Clear(self.graphics_pipeline("CLEAR")?),
            "CLEAR_COLOR" => {
                let pipeline = self.graphics_pipeline("CLEAR_COLOR")?;
                let mut color = [0.0; 4];
                for channel in &mut color {
                    *channel = f32::from(self.byte("a color")?) / 255.0;
                }
                Action::ClearColor(pipeline, color)
            }
            "CLEAR_DEPTH" => {
                let pipeline = self.depth_pipeline("CLEAR_DEPTH")?;
                Action::ClearDepth(pipeline, self.cursor.number("a depth")?)
            }
            "CLEAR_STENCIL" => {
                let pipeline = self.depth_pipeline("CLEAR_STENCIL")?;
                Action::ClearStencil(pipeline, self.byte("a stencil value")?)
            }
            "COPY" => self.copy()?,
            "RUN" => Action::Run(self.run()?),
            "EXPECT" => Action::Expect(self.expect()?),
            _ => return Ok(None),
        };
        self.cursor.end_of_statement()?;
        let line = self.cursor.line(span.start);
        Ok(Some(Command { action, line }))
    }

    pub(super) fn repeat(&mut self, span: Range<usize>) -> Parsed<()> {
        let count = self.positive_u64("REPEAT")?;
        self.cursor.end_of_statement()?;
        let line = self.cursor.line(span.start);
        let mut commands = Vec::new();
        while let Some((word, span)) = self.cursor.block_word("REPEAT")? {
            match self.command(word, span.clone())? {
                Some(command) => commands.push(command),
                None => return Err(unknown("command that may be repeated", word, span)),
            }
        }
        let action = Action::Repeat { count, commands };
        self.script.commands.push(Command { action, line });
        self.cursor.end_of_statement()
    }

    fn byte(&mut self, what: &'static str) -> Parsed<u8> {
        let span = self.cursor.here()?;
        let value = self.cursor.u64(what)?;
        u8::try_from(value).map_err(|_| out_of_range(what, "an integer from 0 to 255", value, span))
    }

    fn pipeline_name(&mut self) -> Parsed<(PipelineId, Range<usize>)> {
        let (name, span) = self.cursor.identifier("the name of a pipeline")?;
        Ok((self.pipelines.find(name, span.clone())?, span))
    }

    fn kind_of(&self, id: PipelineId) -> PipelineKind {
        let pipeline = self.script.pipeline(id);
        pipeline.map_or(PipelineKind::Graphics, |pipeline| pipeline.kind)
    }

    /// A pipeline that must be of this kind.
    fn pipeline_of(&mut self, kind: PipelineKind, what: &str) -> Parsed<PipelineId> {
        let (id, span) = self.pipeline_name()?;
        self.check_kind(id, kind, what, span)?;
        Ok(id)
    }

    fn check_kind(
        &self,
        id: PipelineId,
        kind: PipelineKind,
        what: &str,
        span: Range<usize>,
    ) -> Parsed<()> {
        match self.kind_of(id) {
            found if found == kind => Ok(()),
            found => {
                let (what, pipeline) = (what.to_owned(), found.text());
                Err((span, Problem::WrongPipeline { what, pipeline }))
            }
        }
    }

    fn graphics_pipeline(&mut self, what: &str) -> Parsed<PipelineId> {
        self.pipeline_of(PipelineKind::Graphics, what)
    }

    fn depth_pipeline(&mut self, what: &'static str) -> Parsed<PipelineId> {
        let span = self.cursor.here()?;
        let id = self.graphics_pipeline(what)?;
        let has_depth = |pipeline: &Pipeline| pipeline.depth_stencil.is_some();
        match self.script.pipeline(id).is_some_and(has_depth) {
            true => Ok(id),
            false => {
                let needed = "a depth_stencil buffer in the pipeline";
                Err((span, Problem::Needs { what, needed }))
            }
        }
    }

    fn copy(&mut self) -> Parsed<Action> {
        let (from, span) = self.buffer_name()?;
        self.cursor.keyword("TO")?;
        let (to, _) = self.buffer_name()?;
        if from == to {
            return Err((span, Problem::Same { what: "COPY" }));
        }
        let source = self
            .script
            .buffer(from)
            .map(|source| (source.size, source.bytes()));
        if let (Some((size, bytes)), Some(target)) = (source, self.script.buffers.get_mut(to.0)) {
            target.size = size;
            target.elements = bytes.map(|bytes| bytes / target.element.stride as u64);
        }
        Ok(Action::Copy { from, to })
    }

    fn run(&mut self) -> Parsed<Run> {
        let timed = self.cursor.take_keyword("TIMED_EXECUTION")?;
        let (pipeline, span) = self.pipeline_name()?;
        let token = self.cursor.peek()?.clone();
        let draw = match token.kind {
            TokenKind::Identifier("DRAW_RECT") => Self::draw_rectangle,
            TokenKind::Identifier("DRAW_GRID") => Self::draw_grid,
            TokenKind::Identifier("DRAW_ARRAY") => Self::draw_array,
            TokenKind::Identifier("RAYGEN" | "MISS" | "HIT" | "CALL") => {
                self.check_kind(pipeline, PipelineKind::RayTracing, "a launch of rays", span)?;
                return self.rays(pipeline);
            }
            TokenKind::Number(_) if self.kind_of(pipeline) == PipelineKind::RayTracing => {
                return self.rays(pipeline);
            }
            TokenKind::Number(_) => {
                self.check_kind(pipeline, PipelineKind::Compute, "a dispatch", span)?;
                let groups = self.three()?;
                return Ok(Run::Dispatch {
                    pipeline,
                    groups,
                    timed,
                });
            }
            other => {
                return Err(expected(
                    "three numbers of workgroups, DRAW_RECT, DRAW_GRID or DRAW_ARRAY",
                    other,
                    token.span,
                ));
            }
        };
        self.check_kind(pipeline, PipelineKind::Graphics, "a draw", span)?;
        self.cursor.next()?;
        let draw = draw(self, pipeline, token.span)?;
        Ok(Run::Draw {
            pipeline,
            draw,
            timed,
        })
    }

    fn three(&mut self) -> Parsed<[u32; 3]> {
        let what = "a number of workgroups";
        Ok([
            self.cursor.u32(what)?,
            self.cursor.u32(what)?,
            self.cursor.u32(what)?,
        ])
    }

    fn rays(&mut self, pipeline: PipelineId) -> Parsed<Run> {
        while let TokenKind::Identifier("RAYGEN" | "MISS" | "HIT" | "CALL") =
            self.cursor.peek()?.kind
        {
            self.cursor.next()?;
            let (name, span) = self
                .cursor
                .identifier("the name of a shader binding table")?;
            let tables = self
                .script
                .pipeline(pipeline)
                .map(|pipeline| &pipeline.ray_tables);
            if !tables.is_some_and(|tables| tables.iter().any(|table| table == name)) {
                let (what, name) = ("shader binding table of the pipeline", name.to_owned());
                return Err((span, Problem::Undeclared { what, name }));
            }
        }
        let size = self.three()?;
        Ok(Run::Rays { pipeline, size })
    }

    fn pair(&mut self, what: &'static str) -> Parsed<[u64; 2]> {
        Ok([self.cursor.u32(what)?.into(), self.cursor.u32(what)?.into()])
    }

    /// Refuses a pipeline with more than `most` vertex buffers.
    fn check_vertex_buffers(
        &self,
        id: PipelineId,
        most: usize,
        what: &str,
        span: Range<usize>,
    ) -> Parsed<()> {
        let found = self
            .script
            .pipeline(id)
            .map_or(0, |pipeline| pipeline.vertices.len());
        match found <= most {
            true => Ok(()),
            false => {
                let what = format!("{what} with {found} vertex buffers");
                let pipeline = PipelineKind::Graphics.text();
                Err((span, Problem::WrongPipeline { what, pipeline }))
            }
        }
    }

    fn draw_rectangle(&mut self, pipeline: PipelineId, span: Range<usize>) -> Parsed<Draw> {
        self.check_vertex_buffers(pipeline, 1, "DRAW_RECT", span)?;
        self.cursor.keyword("POS")?;
        let origin = self.pair("a position")?;
        self.cursor.keyword("SIZE")?;
        let size = self.pair("a size")?;
        Ok(Draw::Rectangle {
            origin: origin.map(|value| value as f64),
            size: size.map(|value| value as f64),
            pixels: true,
            patch: false,
        })
    }

    fn draw_grid(&mut self, pipeline: PipelineId, span: Range<usize>) -> Parsed<Draw> {
        self.check_vertex_buffers(pipeline, 0, "DRAW_GRID", span)?;
        self.cursor.keyword("POS")?;
        let origin = self.pair("a position")?;
        self.cursor.keyword("SIZE")?;
        let size = self.pair("a size")?;
        self.cursor.keyword("CELLS")?;
        let place = self.cursor.here()?;
        let cells = self.pair("a number of cells")?;
        if cells.contains(&0) {
            return Err(out_of_range("CELLS", "positive", 0, place));
        }
        Ok(Draw::Grid {
            origin,
            size,
            cells,
        })
    }

    fn draw_array(&mut self, pipeline: PipelineId, span: Range<usize>) -> Parsed<Draw> {
        self.cursor.keyword("AS")?;
        let topology: Topology = self.cursor.word()?;
        let (mut indexed, mut start, mut count) = (false, 0, None);
        let (mut start_instance, mut instances) = (0, 1);
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("an option of DRAW_ARRAY")?;
            match option {
                "INDEXED" => indexed = true,
                "START_IDX" => start = self.cursor.u32("START_IDX")?.into(),
                "COUNT" => count = Some(self.cursor.positive("COUNT")?.into()),
                "START_INSTANCE" => start_instance = self.cursor.u32("START_INSTANCE")?.into(),
                "INSTANCE_COUNT" => instances = self.cursor.positive("INSTANCE_COUNT")?.into(),
                _ => return Err(unknown("option of DRAW_ARRAY", option, span)),
            }
        }
        self.check_array(pipeline, indexed, start, count, span)?;
        Ok(Draw::Array {
            topology,
            indexed,
            start,
            count,
            start_instance,
            instances,
        })
    }

    /// There is vertex data, and as much of it as the draw wants.
    pub(super) fn check_array(
        &self,
        pipeline: PipelineId,
        indexed: bool,
        start: u64,
        count: Option<u64>,
        span: Range<usize>,
    ) -> Parsed<()> {
        let Some(pipeline) = self.script.pipeline(pipeline) else {
            return Ok(());
        };
        let what = "DRAW_ARRAY";
        let needs = |needed| Err((span.clone(), Problem::Needs { what, needed }));
        let Some(vertices) = pipeline.vertices.first() else {
            return needs("VERTEX_DATA in the pipeline");
        };
        let id = match (indexed, pipeline.indices) {
            (true, Some(indices)) => indices,
            (true, None) => return needs("INDEX_DATA in the pipeline"),
            (false, _) => vertices.buffer,
        };
        let buffer = self.script.buffer(id);
        let Some((buffer, elements)) = buffer.and_then(|buffer| Some((buffer, buffer.elements?)))
        else {
            return Ok(());
        };
        match start.saturating_add(count.unwrap_or(1)) <= elements {
            true => Ok(()),
            false => Err((
                span,
                Problem::OutOfBounds {
                    what: what.to_owned(),
                    buffer: buffer.name.clone(),
                    length: format!("{elements} elements"),
                },
            )),
        }
    }
}
