//! VkScript, the older dialect: sections of raw text, one pipeline. Language reference, section 15.

mod requirements;
mod test;
mod vertex_data;

use super::{Parsed, Parser, expected, unknown};
use crate::error::Problem;
use crate::script::{
    BufferId, ColorAttachment, Dialect, Language, Pipeline, PipelineKind, Script, Shader,
    ShaderSource, Stage,
};
use crate::types::{Layout, Type};
use std::ops::Range;

/// A section: its header without the brackets, and its text.
struct Section<'s> {
    header: &'s str,
    header_span: Range<usize>,
    text: &'s str,
    span: Range<usize>,
}

/// Name of the one color attachment.
const FRAMEBUFFER: &str = "framebuffer";

/// What the sections say of the pipeline.
struct Setup {
    framebuffer_format: Type,
    depth_format: Option<Type>,
    size: (u32, u32),
}

pub(super) fn parse(source: &str) -> Parsed<Script> {
    let sections = sections(source)?;
    let mut parser = Parser::new(source, Dialect::VkScript);
    let mut pipeline = Pipeline::new("vk_pipeline", PipelineKind::Compute);
    // The default format is one of the table.
    let default = super::cursor::format("B8G8R8A8_UNORM").ok_or((0..0, Problem::OutsideSection))?;
    let mut setup = Setup {
        framebuffer_format: default,
        depth_format: None,
        size: (250, 250),
    };
    // A pipeline is needed whole before the first test command, wherever the sections stand.
    for section in &sections {
        parser.definition(section, &mut pipeline, &mut setup)?;
    }
    parser.finish_pipeline(pipeline, &setup, source)?;
    for section in sections.iter().filter(|section| section.header == "test") {
        parser.cursor = parser.cursor.on(section.span.clone());
        parser.test_section()?;
    }
    parser.check_attachments()?;
    Ok(parser.script)
}

/// Cuts a file into sections.
fn sections(source: &str) -> Parsed<Vec<Section<'_>>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    for line in source.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end();
            let header_span = span.start..span.start + 1 + header.len();
            let name = header.split(']').next().unwrap_or("");
            if !header.contains(']') {
                return Err(expected("`]`", "the end of the line", header_span));
            }
            sections.push(Section {
                header: name,
                header_span,
                text: "",
                span: span.end..span.end,
            });
        } else if let Some(section) = sections.last_mut() {
            section.span.end = span.end;
            section.text = source.get(section.span.clone()).unwrap_or("");
        } else if !(line.trim().is_empty() || line.trim_start().starts_with('#')) {
            let length = line.trim_end().len();
            return Err((span.start..span.start + length, Problem::OutsideSection));
        }
    }
    Ok(sections)
}

impl<'s> Parser<'s> {
    /// Everything but `[test]`.
    fn definition(
        &mut self,
        section: &Section<'s>,
        pipeline: &mut Pipeline,
        setup: &mut Setup,
    ) -> Parsed<()> {
        match section.header {
            "test" | "comment" => return Ok(()),
            "require" => return self.require_section(section, setup),
            "vertex data" => return self.vertex_data_section(section, pipeline),
            "indices" => return self.indices_section(section, pipeline),
            _ => {}
        }
        let header_span = section.header_span.clone();
        let Some((stage, rest)) = stage(section.header) else {
            return Err(unknown("section", section.header, header_span));
        };
        let (language, source) = match rest {
            "" => (Language::Glsl, None),
            "spirv" => (Language::SpirvAssembly, None),
            "spirv hex" => (Language::SpirvHex, None),
            "passthrough" if stage == Stage::Vertex => {
                (Language::SpirvAssembly, Some(ShaderSource::Passthrough))
            }
            _ => return Err(unknown("section", section.header, header_span)),
        };
        if source.is_none() && section.text.trim().is_empty() {
            return Err((header_span, Problem::Empty { what: "shader" }));
        }
        let id = crate::script::ShaderId(self.script.shaders.len());
        if stage != Stage::Compute {
            pipeline.kind = PipelineKind::Graphics;
        }
        self.add_shader(Shader {
            name: format!("vk_shader_{}", id.0),
            stage,
            language,
            source: source.unwrap_or_else(|| ShaderSource::Text(section.text.to_owned())),
            target: None,
            first_line: self.cursor.line(section.span.start),
        });
        self.add_attached(pipeline, id, stage, None, header_span)
    }

    /// The pipeline as the sections have described it.
    fn finish_pipeline(
        &mut self,
        mut pipeline: Pipeline,
        setup: &Setup,
        source: &str,
    ) -> Parsed<()> {
        let whole = source.len()..source.len();
        if self.script.shaders.is_empty() {
            return Err((
                whole,
                Problem::Empty {
                    what: "list of shaders",
                },
            ));
        }
        pipeline.framebuffer = setup.size;
        if pipeline.kind == PipelineKind::Graphics {
            let format = setup.framebuffer_format.clone();
            let buffer = self.vk_buffer(FRAMEBUFFER, format, Layout::Std430, whole.clone())?;
            pipeline.colors.push(ColorAttachment {
                buffer,
                location: 0,
                base_mip_level: 0,
            });
            if let Some(format) = &setup.depth_format {
                let format = format.clone();
                let buffer =
                    self.vk_buffer("depthstencil", format, Layout::Std430, whole.clone())?;
                pipeline.depth_stencil = Some(buffer);
            }
            self.resize_attachments(&pipeline, whole.clone())?;
        }
        self.add_pipeline(pipeline, whole)
    }

    fn vk_buffer(
        &mut self,
        name: &str,
        ty: Type,
        layout: Layout,
        span: Range<usize>,
    ) -> Parsed<BufferId> {
        let buffer = super::buffer::new_buffer(name, ty, layout, span)?;
        Ok(self.add_buffer(buffer))
    }
}

/// `tessellation control shader spirv` to the stage and what follows `shader`.
fn stage(header: &str) -> Option<(Stage, &str)> {
    let (name, rest) = header.split_once(" shader")?;
    let stage = match name {
        "vertex" => Stage::Vertex,
        "fragment" => Stage::Fragment,
        "geometry" => Stage::Geometry,
        "tessellation control" => Stage::TessellationControl,
        "tessellation evaluation" => Stage::TessellationEvaluation,
        "compute" => Stage::Compute,
        _ => return None,
    };
    Some((stage, rest.trim()))
}
