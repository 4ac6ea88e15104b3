//! `[test]`: commands, one a line.

mod probes;
mod types;

use self::types::named_type;
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::literal::Literal;
use crate::parse::{Parsed, Parser, duplicate, expected, out_of_range, unknown};
use crate::script::{
    Action, BoundBuffer, BufferId, Command, DescriptorKind, Draw, PipelineId, PipelineKind,
    Resource, Run, Slot, Stage, Tolerance, Topology,
};
use crate::types::{Layout, Numeric, Scalar, Type};
use crate::words::Word;
use std::collections::BTreeSet;
use std::ops::Range;

const PIPELINE: PipelineId = PipelineId(0);

/// What holds from one line to the next.
#[derive(Default)]
struct Standing {
    tolerances: Vec<Tolerance>,
    /// Buffers whose type a line has named.
    typed: BTreeSet<BufferId>,
}

impl<'s> Parser<'s> {
    pub(super) fn test_section(&mut self) -> Parsed<()> {
        let mut standing = Standing::default();
        self.cursor.skip_lines()?;
        while !self.cursor.at_end()? {
            let (word, span) = self.cursor.identifier("a command")?;
            let line = self.cursor.line(span.start);
            if let Some(action) = self.test_command(word, span, &mut standing)? {
                self.script.commands.push(Command { action, line });
            }
            self.cursor.end_of_statement()?;
            self.cursor.skip_lines()?;
        }
        Ok(())
    }

    /// A command; none for one that only changes what follows.
    fn test_command(
        &mut self,
        word: &'s str,
        span: Range<usize>,
        standing: &mut Standing,
    ) -> Parsed<Option<Action>> {
        match word {
            "compute" if !self.next_is("entrypoint")? => self.compute(span).map(Some),
            "clear" => self.test_clear(span).map(Some),
            "draw" => self.test_draw(span).map(Some),
            "ssbo" => self.ssbo(standing).map(Some),
            "uniform" => self.uniform(standing, span).map(Some),
            "probe" => self.test_probe(standing, false).map(Some),
            "relative" => {
                self.cursor.keyword("probe")?;
                self.test_probe(standing, true).map(Some)
            }
            "tolerance" => {
                let mut tolerances = vec![self.tolerance()?];
                while tolerances.len() < 4 && !self.cursor.at_end_of_statement()? {
                    tolerances.push(self.tolerance()?);
                }
                standing.tolerances = tolerances;
                Ok(None)
            }
            "patch" => {
                self.cursor.keyword("parameter")?;
                self.cursor.keyword("vertices")?;
                let points = self.cursor.positive("a number of vertices")?;
                self.vk_pipeline(|pipeline| pipeline.state.patch_control_points = points);
                Ok(None)
            }
            _ => self.standing_state(word, span).map(|()| None),
        }
    }

    fn next_is(&mut self, word: &str) -> Parsed<bool> {
        Ok(self.cursor.peek()?.kind == TokenKind::Identifier(word))
    }

    fn vk_pipeline(&mut self, change: impl FnOnce(&mut crate::script::Pipeline)) {
        if let Some(pipeline) = self.script.pipelines.get_mut(PIPELINE.0) {
            change(pipeline);
        }
    }

    /// `STAGE entrypoint NAME`, or a state of the pipeline and its value.
    fn standing_state(&mut self, word: &'s str, span: Range<usize>) -> Parsed<()> {
        let stage = match word {
            "vertex" => Some(Stage::Vertex),
            "fragment" => Some(Stage::Fragment),
            "geometry" => Some(Stage::Geometry),
            "compute" => Some(Stage::Compute),
            "tessellation" => {
                let (which, span) = self.cursor.identifier("control or evaluation")?;
                match which {
                    "control" => Some(Stage::TessellationControl),
                    "evaluation" => Some(Stage::TessellationEvaluation),
                    _ => {
                        return Err(expected(
                            "control or evaluation",
                            format_args!("`{which}`"),
                            span,
                        ));
                    }
                }
            }
            _ => None,
        };
        if let Some(stage) = stage {
            self.cursor.keyword("entrypoint")?;
            let (entry, _) = self.cursor.identifier("the name of an entry point")?;
            let entry = entry.to_owned();
            self.vk_pipeline(|pipeline| {
                for shader in pipeline
                    .shaders
                    .iter_mut()
                    .filter(|shader| shader.stage == stage)
                {
                    shader.entry = entry.clone();
                }
            });
            return Ok(());
        }
        if !STATES.contains(&word) {
            return Err(unknown("command", word, span));
        }
        let token = self.cursor.next()?;
        let value = match token.kind {
            TokenKind::Identifier(value) => value.to_owned(),
            TokenKind::Number(literal) => literal.to_string(),
            other => return Err(expected("a value", other, token.span)),
        };
        self.vk_pipeline(|pipeline| pipeline.state.named.push((word.to_owned(), value)));
        Ok(())
    }

    fn compute(&mut self, span: Range<usize>) -> Parsed<Action> {
        self.needs_kind(PipelineKind::Compute, "compute", span)?;
        let what = "a number of workgroups";
        let groups = [
            self.cursor.u32(what)?,
            self.cursor.u32(what)?,
            self.cursor.u32(what)?,
        ];
        Ok(Action::Run(Run::Dispatch {
            pipeline: PIPELINE,
            groups,
            timed: false,
        }))
    }

    fn needs_kind(&self, kind: PipelineKind, what: &str, span: Range<usize>) -> Parsed<()> {
        match self.script.pipeline(PIPELINE) {
            Some(pipeline) if pipeline.kind != kind => {
                let (what, pipeline) = (what.to_owned(), pipeline.kind.text());
                Err((span, Problem::WrongPipeline { what, pipeline }))
            }
            _ => Ok(()),
        }
    }

    fn test_clear(&mut self, span: Range<usize>) -> Parsed<Action> {
        self.needs_kind(PipelineKind::Graphics, "clear", span)?;
        if self.cursor.at_end_of_statement()? {
            return Ok(Action::Clear(PIPELINE));
        }
        let (word, span) = self.cursor.identifier("color, depth or stencil")?;
        match word {
            "color" => {
                let mut color = [0.0; 4];
                for channel in &mut color {
                    *channel = self.cursor.number("a color")? as f32;
                }
                Ok(Action::ClearColor(PIPELINE, color))
            }
            "depth" => Ok(Action::ClearDepth(PIPELINE, self.cursor.number("a depth")?)),
            "stencil" => {
                let place = self.cursor.here()?;
                let value = self.cursor.u32("a stencil value")?;
                let value = u8::try_from(value).map_err(|_| {
                    out_of_range("a stencil value", "an integer from 0 to 255", value, place)
                })?;
                Ok(Action::ClearStencil(PIPELINE, value))
            }
            _ => Err(expected(
                "color, depth or stencil",
                format_args!("`{word}`"),
                span,
            )),
        }
    }

    fn test_draw(&mut self, span: Range<usize>) -> Parsed<Action> {
        self.needs_kind(PipelineKind::Graphics, "draw", span)?;
        let (word, span) = self.cursor.identifier("rect or arrays")?;
        let draw = match word {
            "rect" => self.test_rectangle()?,
            "arrays" => self.test_arrays(span)?,
            _ => return Err(expected("rect or arrays", format_args!("`{word}`"), span)),
        };
        Ok(Action::Run(Run::Draw {
            pipeline: PIPELINE,
            draw,
            timed: false,
        }))
    }

    fn test_rectangle(&mut self) -> Parsed<Draw> {
        let (mut pixels, mut patch) = (false, false);
        loop {
            if self.cursor.take_keyword("ortho")? {
                pixels = true;
            } else if self.cursor.take_keyword("patch")? {
                patch = true;
            } else {
                break;
            }
        }
        let origin = [self.cursor.number("x")?, self.cursor.number("y")?];
        let size = [
            self.cursor.number("a width")?,
            self.cursor.number("a height")?,
        ];
        Ok(Draw::Rectangle {
            origin,
            size,
            pixels,
            patch,
        })
    }

    fn test_arrays(&mut self, span: Range<usize>) -> Parsed<Draw> {
        let (mut indexed, mut instanced) = (false, false);
        loop {
            if self.cursor.take_keyword("indexed")? {
                indexed = true;
            } else if self.cursor.take_keyword("instanced")? {
                instanced = true;
            } else {
                break;
            }
        }
        let topology: Topology = self.cursor.word()?;
        let start = self.cursor.u32("a first vertex")?.into();
        let count = self.cursor.positive("a number of vertices")?.into();
        let instances = match instanced && !self.cursor.at_end_of_statement()? {
            true => self.cursor.positive("a number of instances")?.into(),
            false => 1,
        };
        self.check_array(PIPELINE, indexed, start, Some(count), span)?;
        Ok(Draw::Array {
            topology,
            indexed,
            start,
            count: Some(count),
            start_instance: 0,
            instances,
        })
    }

    /// `INT` or `INT:INT`; the second is lexed as `:INT`.
    fn vk_slot(&mut self) -> Parsed<(u32, u32)> {
        let first = self.cursor.u32("SET:BINDING or BINDING")?;
        let token = self.cursor.peek()?.clone();
        let TokenKind::Identifier(word) = token.kind else {
            return Ok((0, first));
        };
        let Some(digits) = word.strip_prefix(':') else {
            return Ok((0, first));
        };
        self.cursor.next()?;
        let binding = digits
            .parse()
            .map_err(|_| expected("a binding", format_args!("`{word}`"), token.span))?;
        Ok((first, binding))
    }

    /// The buffer in a slot, made at its first mention.
    fn slot_buffer(
        &mut self,
        kind: DescriptorKind,
        (set, binding): (u32, u32),
        span: Range<usize>,
    ) -> Parsed<BufferId> {
        let slot = Slot::Binding { set, binding };
        let pipeline = self.script.pipeline(PIPELINE);
        let bound = pipeline.and_then(|pipeline| {
            let found = pipeline
                .descriptors
                .iter()
                .find(|descriptor| descriptor.slot == slot)?;
            match &found.resource {
                Resource::Buffers { kind, buffers, .. } => Some((*kind, buffers.first()?.buffer)),
                _ => None,
            }
        });
        match bound {
            Some((found, buffer)) if found == Some(kind) => return Ok(buffer),
            Some(_) => {
                return Err(duplicate(
                    "a buffer of another kind at",
                    format_args!("{set}:{binding}"),
                    span,
                ));
            }
            None => {}
        }
        let (name, layout) = match kind {
            DescriptorKind::Uniform => (format!("ubo {set}:{binding}"), Layout::Std140),
            _ => (format!("ssbo {set}:{binding}"), Layout::Std430),
        };
        let ty = Type::Numeric(Numeric::vector(Scalar::Int8, 1));
        let buffer = self.vk_buffer(&name, ty, layout, span)?;
        let resource = Resource::Buffers {
            kind: Some(kind),
            buffers: vec![BoundBuffer {
                buffer,
                dynamic_offset: 0,
                offset: 0,
                range: None,
            }],
            sampler: None,
            base_mip_level: 0,
        };
        self.vk_pipeline(|pipeline| pipeline.put(slot, resource));
        Ok(buffer)
    }

    /// Gives a buffer its type, which every line must agree on.
    fn set_type(
        &mut self,
        standing: &mut Standing,
        id: BufferId,
        ty: Type,
        span: Range<usize>,
    ) -> Parsed<()> {
        let is_new = standing.typed.insert(id);
        let Some(buffer) = self.script.buffers.get_mut(id.0) else {
            return Ok(());
        };
        if is_new {
            buffer.element = ty
                .element(buffer.layout)
                .map_err(|problem| (span, problem))?;
            buffer.ty = ty;
        } else if !buffer.ty.same_as(&ty) {
            let problem = Problem::WrongType {
                what: "a buffer whose type is set",
                found: ty.to_string(),
            };
            return Err((span, problem));
        }
        Ok(())
    }

    fn vk_type(&mut self) -> Parsed<(Type, Range<usize>)> {
        let (name, span) = self.cursor.identifier("a type")?;
        let ty = named_type(name).ok_or_else(|| unknown("type", name, span.clone()))?;
        Ok((Type::Numeric(ty), span))
    }

    fn ssbo(&mut self, standing: &mut Standing) -> Parsed<Action> {
        let span = self.cursor.here()?;
        let slot = self.vk_slot()?;
        let buffer = self.slot_buffer(DescriptorKind::Storage, slot, span)?;
        if self.cursor.take_keyword("subdata")? {
            return self.write(standing, buffer);
        }
        let span = self.cursor.here()?;
        let elements = self.positive_u64("a size")?;
        if let Some(buffer) = self.script.buffer(buffer) {
            // The type may grow to the widest, 4 x 4 doubles.
            self.checked_elements(buffer, elements.saturating_mul(128), span)?;
        }
        Ok(Action::Resize { buffer, elements })
    }

    /// Numbers that elements of a buffer can be, as many as follow.
    fn decimals(&mut self, buffer: BufferId) -> Parsed<Vec<Literal>> {
        let mut values = Vec::new();
        while let Some((literal, span)) = self.cursor.take_literal()? {
            if let Literal::Hex(_) = literal {
                return Err(expected("a decimal number", literal, span));
            }
            self.check_expected(buffer, values.len(), literal, span)?;
            values.push(literal);
        }
        Ok(values)
    }

    /// `TYPE OFFSET VALUES`.
    fn write(&mut self, standing: &mut Standing, buffer: BufferId) -> Parsed<Action> {
        let (ty, span) = self.vk_type()?;
        self.set_type(standing, buffer, ty, span)?;
        let place = self.cursor.here()?;
        let offset = self.cursor.u32("an offset")?.into();
        let values = self.decimals(buffer)?;
        if values.is_empty() {
            let token = self.cursor.next()?;
            return Err(expected("a value", token.kind, token.span));
        }
        if let Some(buffer) = self.script.buffer(buffer) {
            crate::compare::check_place(buffer, None, offset, values.len())
                .map_err(|problem| (place.clone(), problem))?;
            let components = buffer.element.components.len();
            if values.len() % rows_of(&buffer.ty) != 0 {
                let values = values.len();
                return Err((place, Problem::PartOfElement { values, components }));
            }
            let end = offset.saturating_add(
                values.len().div_ceil(components) as u64 * buffer.element.stride as u64,
            );
            self.checked_elements(buffer, end / buffer.element.stride as u64, place)?;
        }
        Ok(Action::Write {
            buffer,
            offset,
            values,
        })
    }

    fn uniform(&mut self, standing: &mut Standing, span: Range<usize>) -> Parsed<Action> {
        if self.cursor.take_keyword("ubo")? {
            let span = self.cursor.here()?;
            let slot = self.vk_slot()?;
            let buffer = self.slot_buffer(DescriptorKind::Uniform, slot, span)?;
            return self.write(standing, buffer);
        }
        let known = self
            .script
            .pipeline(PIPELINE)
            .and_then(|pipeline| pipeline.push_constants);
        let buffer = match known {
            Some(buffer) => buffer,
            None => {
                let ty = Type::Numeric(Numeric::vector(Scalar::Int8, 1));
                let buffer = self.vk_buffer("push constants", ty, Layout::Std430, span)?;
                self.vk_pipeline(|pipeline| pipeline.push_constants = Some(buffer));
                buffer
            }
        };
        self.write(standing, buffer)
    }
}

fn rows_of(ty: &Type) -> usize {
    match ty {
        Type::Numeric(numeric) => numeric.rows.into(),
        _ => 1,
    }
}

/// State of the pipeline that a line may set.
const STATES: &[&str] = &[
    "primitiveRestartEnable",
    "depthClampEnable",
    "rasterizerDiscardEnable",
    "depthBiasEnable",
    "logicOpEnable",
    "blendEnable",
    "depthTestEnable",
    "depthWriteEnable",
    "depthBoundsTestEnable",
    "stencilTestEnable",
    "topology",
    "polygonMode",
    "logicOp",
    "frontFace",
    "depthCompareOp",
    "srcColorBlendFactor",
    "dstColorBlendFactor",
    "srcAlphaBlendFactor",
    "dstAlphaBlendFactor",
    "colorBlendOp",
    "alphaBlendOp",
    "front.compareOp",
    "front.failOp",
    "front.passOp",
    "front.depthFailOp",
    "front.reference",
    "back.compareOp",
    "back.failOp",
    "back.passOp",
    "back.depthFailOp",
    "back.reference",
    "cullMode",
    "colorWriteMask",
    "lineWidth",
    "depthBiasConstantFactor",
    "depthBiasClamp",
    "depthBiasSlopeFactor",
    "minDepthBounds",
    "maxDepthBounds",
];
