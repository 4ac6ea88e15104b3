//! `PIPELINE` and `DERIVE_PIPELINE`: language reference, sections 9.1, 9.3 and 9.5.

use super::{Parsed, Parser, duplicate, out_of_range, unknown};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::script::{
    AttachedShader, Contents, Language, Pipeline, PipelineId, PipelineKind, SpecializationConstant,
    Stage, Subgroup, SubgroupSize,
};
use crate::types::{Scalar, Type};
use crate::words::Word;
use std::ops::Range;

impl<'s> Parser<'s> {
    pub(super) fn pipeline(&mut self) -> Parsed<()> {
        let kind: PipelineKind = self.cursor.word()?;
        let (name, span) = self.cursor.identifier("a name for the pipeline")?;
        self.pipelines.check_new(name, span.clone())?;
        self.cursor.end_of_statement()?;
        self.pipeline_body(Pipeline::new(name, kind), span)
    }

    pub(super) fn derived_pipeline(&mut self) -> Parsed<()> {
        let (name, span) = self.cursor.identifier("a name for the pipeline")?;
        self.pipelines.check_new(name, span.clone())?;
        self.cursor.keyword("FROM")?;
        let (parent, parent_span) = self.cursor.identifier("the name of a pipeline")?;
        let PipelineId(parent) = self.pipelines.find(parent, parent_span)?;
        self.cursor.end_of_statement()?;
        // An id is a place in the list.
        let derived = self
            .script
            .pipelines
            .get(parent)
            .map(|parent| parent.derived(name));
        let derived = derived.unwrap_or_else(|| Pipeline::new(name, PipelineKind::Graphics));
        self.pipeline_body(derived, span)
    }

    fn pipeline_body(&mut self, mut pipeline: Pipeline, span: Range<usize>) -> Parsed<()> {
        while let Some((word, span)) = self.cursor.block_word("PIPELINE")? {
            self.pipeline_statement(&mut pipeline, word, span)?;
        }
        self.cursor.end_of_statement()?;
        self.add_pipeline(pipeline, span)
    }

    /// Checks a whole pipeline, and keeps it.
    pub(super) fn add_pipeline(
        &mut self,
        mut pipeline: Pipeline,
        span: Range<usize>,
    ) -> Parsed<()> {
        let stage = match pipeline.kind {
            PipelineKind::Compute => Some(Stage::Compute),
            PipelineKind::Graphics => Some(Stage::Vertex),
            PipelineKind::RayTracing => None,
        };
        if let Some(stage) = stage
            && !pipeline.shaders.iter().any(|shader| shader.stage == stage)
        {
            let (name, stage) = (pipeline.name, stage.text());
            return Err((span, Problem::NoShader { name, stage }));
        }
        pipeline.colors.sort_by_key(|color| color.location);
        let mut locations = pipeline.colors.iter().zip(0..);
        if locations.any(|(color, place)| color.location != place) {
            let name = pipeline.name;
            return Err((span, Problem::LocationGap { name }));
        }
        self.pipelines
            .add(&pipeline.name, PipelineId(self.script.pipelines.len()));
        self.script.pipelines.push(pipeline);
        self.pipeline_spans.push(span);
        Ok(())
    }

    fn pipeline_statement(
        &mut self,
        pipeline: &mut Pipeline,
        word: &'s str,
        span: Range<usize>,
    ) -> Parsed<()> {
        match word {
            "ATTACH" => self.attach(pipeline)?,
            "BIND" => self.bind(pipeline)?,
            "VERTEX_DATA" => self.vertex_data(pipeline)?,
            "INDEX_DATA" => self.index_data(pipeline)?,
            "FRAMEBUFFER_SIZE" => {
                let width = self.cursor.positive("a width")?;
                let height = self.cursor.positive("a height")?;
                pipeline.framebuffer = (width, height);
                self.resize_attachments(pipeline, span)?;
            }
            "SHADER_OPTIMIZATION" => self.shader_optimization(pipeline)?,
            "COMPILE_OPTIONS" => self.compile_options(pipeline)?,
            "SUBGROUP" => self.subgroup(pipeline)?,
            "SET" => self.kernel_value(pipeline, span)?,
            _ => {
                let known = self.state(pipeline, word)? || self.ray_statement(pipeline, word)?;
                if !known {
                    return Err(unknown("statement of a pipeline", word, span));
                }
            }
        }
        self.cursor.end_of_statement()
    }

    fn attach(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (name, span) = self.cursor.identifier("the name of a shader")?;
        let id = self.shaders.find(name, span.clone())?;
        let declared = self
            .script
            .shader(id)
            .map_or(Stage::Multi, |shader| shader.stage);
        let stage = match self.cursor.take_keyword("TYPE")? {
            true => self.cursor.word()?,
            false => declared,
        };
        if declared != Stage::Multi && stage != declared {
            return Err((
                span,
                Problem::WrongPipeline {
                    what: format!("a {} shader attached as {}", declared.text(), stage.text()),
                    pipeline: pipeline.kind.text(),
                },
            ));
        }
        let fits = match pipeline.kind {
            PipelineKind::Compute => stage == Stage::Compute,
            PipelineKind::Graphics => {
                !stage.is_ray_tracing() && stage != Stage::Compute && stage != Stage::Multi
            }
            PipelineKind::RayTracing => stage.is_ray_tracing(),
        };
        if !fits {
            let what = format!("a {} shader", stage.text());
            let pipeline = pipeline.kind.text();
            return Err((span, Problem::WrongPipeline { what, pipeline }));
        }
        let entry = match self.cursor.take_keyword("ENTRY_POINT")? {
            true => Some(self.cursor.identifier("the name of an entry point")?),
            false => None,
        };
        self.add_attached(pipeline, id, stage, entry, span)?;
        while self.cursor.take_keyword("SPECIALIZE")? {
            let constant = self.specialization()?;
            if let Some(shader) = pipeline
                .shaders
                .iter_mut()
                .find(|shader| shader.stage == stage)
            {
                shader
                    .specialization
                    .retain(|other| other.id != constant.id);
                shader.specialization.push(constant);
                shader.specialization.sort_by_key(|constant| constant.id);
            }
        }
        Ok(())
    }

    pub(super) fn add_attached(
        &mut self,
        pipeline: &mut Pipeline,
        shader: crate::script::ShaderId,
        stage: Stage,
        entry: Option<(&str, Range<usize>)>,
        span: Range<usize>,
    ) -> Parsed<()> {
        // A ray tracing pipeline has several shaders of a stage.
        let several = pipeline.kind == PipelineKind::RayTracing;
        let twin = pipeline
            .shaders
            .iter_mut()
            .find(|attached| attached.stage == stage && (!several || attached.shader == shader));
        let Some(twin) = twin else {
            pipeline.shaders.push(AttachedShader {
                shader,
                stage,
                entry: entry.map_or("main", |(entry, _)| entry).to_owned(),
                specialization: Vec::new(),
                optimizations: Vec::new(),
                compile_options: Vec::new(),
                subgroup: Subgroup::default(),
            });
            return Ok(());
        };
        if twin.shader == shader {
            let name = self.script.shader(shader).map_or("", |shader| &shader.name);
            return Err(duplicate("attached shader", name, span));
        }
        twin.shader = shader;
        if let Some((entry, span)) = entry {
            if twin.entry != "main" {
                return Err(duplicate("entry point", &twin.entry, span));
            }
            twin.entry = entry.to_owned();
        }
        Ok(())
    }

    fn specialization(&mut self) -> Parsed<SpecializationConstant> {
        let id = self.cursor.u32("the id of a specialization constant")?;
        self.cursor.keyword("AS")?;
        let span = self.cursor.here()?;
        let ty = self.data_type()?;
        let scalar = match &ty {
            Type::Numeric(numeric) if ty.components() == 1 => numeric.scalar,
            _ => Scalar::Uint8,
        };
        if !matches!(scalar, Scalar::Uint32 | Scalar::Int32 | Scalar::Float) {
            let (what, found) = ("a specialization constant", ty.to_string());
            return Err((span, Problem::WrongType { what, found }));
        }
        let (value, span) = self.cursor.literal("a number")?;
        match value {
            crate::literal::Literal::Float(found) if !scalar.is_float() => {
                Err((span, Problem::NotAnInteger { found }))
            }
            _ => Ok(SpecializationConstant { id, scalar, value }),
        }
    }

    /// The attached shader that a block is about.
    fn attached<'p>(
        &mut self,
        pipeline: &'p mut Pipeline,
    ) -> Parsed<(&'p mut AttachedShader, Range<usize>)> {
        let (name, span) = self.cursor.identifier("the name of a shader")?;
        let id = self.shaders.find(name, span.clone())?;
        let found = pipeline
            .shaders
            .iter_mut()
            .find(|attached| attached.shader == id);
        match found {
            Some(shader) => Ok((shader, span)),
            None => {
                let (what, name) = ("attached shader", name.to_owned());
                Err((span, Problem::Undeclared { what, name }))
            }
        }
    }

    fn shader_optimization(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (shader, _) = self.attached(pipeline)?;
        self.cursor.end_of_statement()?;
        while let Some((pass, span)) = self.cursor.block_word("SHADER_OPTIMIZATION")? {
            if shader.optimizations.iter().any(|other| other == pass) {
                return Err(duplicate("optimization", pass, span));
            }
            shader.optimizations.push(pass.to_owned());
        }
        Ok(())
    }

    fn compile_options(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (shader, span) = self.attached(pipeline)?;
        let language = self
            .script
            .shader(shader.shader)
            .map(|shader| shader.language);
        if language != Some(Language::OpenClC) {
            let (what, needed) = ("COMPILE_OPTIONS", "an OPENCL-C shader");
            return Err((span, Problem::Needs { what, needed }));
        }
        self.cursor.end_of_statement()?;
        loop {
            let token = self.cursor.next()?;
            let option = match token.kind {
                TokenKind::Identifier("END") => return Ok(()),
                TokenKind::EndOfLine => continue,
                TokenKind::EndOfScript => {
                    let what = "COMPILE_OPTIONS";
                    return Err((token.span, Problem::NoEnd { what }));
                }
                TokenKind::Identifier(word) => word.to_owned(),
                TokenKind::String(text) => text,
                TokenKind::Number(literal) => literal.to_string(),
            };
            shader.compile_options.push(option);
        }
    }

    fn subgroup(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let full = self.has_feature("SubgroupSizeControl.computeFullSubgroups");
        let sized = self.has_feature("SubgroupSizeControl.subgroupSizeControl");
        let needs = |span, what, needed, has| match has {
            true => Ok(()),
            false => Err((span, Problem::Needs { what, needed })),
        };
        const SIZED: &str = "DEVICE_FEATURE SubgroupSizeControl.subgroupSizeControl";
        const FULL: &str = "DEVICE_FEATURE SubgroupSizeControl.computeFullSubgroups";
        let (shader, _) = self.attached(pipeline)?;
        while let Some((option, span)) = self.cursor.block_word("SUBGROUP")? {
            match option {
                "FULLY_POPULATED" => {
                    needs(span, "FULLY_POPULATED", FULL, full)?;
                    shader.subgroup.fully_populated = self.cursor.switch()?;
                }
                "VARYING_SIZE" => {
                    needs(span, "VARYING_SIZE", SIZED, sized)?;
                    shader.subgroup.varying_size = self.cursor.switch()?;
                }
                "REQUIRED_SIZE" => {
                    needs(span, "REQUIRED_SIZE", SIZED, sized)?;
                    shader.subgroup.size = Some(self.subgroup_size()?);
                }
                _ => return Err(unknown("option of SUBGROUP", option, span)),
            }
        }
        Ok(())
    }

    fn subgroup_size(&mut self) -> Parsed<SubgroupSize> {
        if self.cursor.take_keyword("MIN")? {
            return Ok(SubgroupSize::Min);
        }
        if self.cursor.take_keyword("MAX")? {
            return Ok(SubgroupSize::Max);
        }
        let span = self.cursor.here()?;
        let size = self.cursor.u32("REQUIRED_SIZE")?;
        match size.is_power_of_two() && size <= 128 {
            true => Ok(SubgroupSize::Exactly(size)),
            false => Err(out_of_range(
                "REQUIRED_SIZE",
                "a power of two up to 128",
                size,
                span,
            )),
        }
    }

    fn kernel_value(&mut self, pipeline: &mut Pipeline, span: Range<usize>) -> Parsed<()> {
        let is_kernel = |attached: &AttachedShader| {
            let shader = self.script.shader(attached.shader);
            shader.is_some_and(|shader| shader.language == Language::OpenClC)
        };
        if !pipeline.shaders.iter().any(is_kernel) {
            let (what, needed) = ("SET KERNEL", "an OPENCL-C shader");
            return Err((span, Problem::Needs { what, needed }));
        }
        self.cursor.keyword("KERNEL")?;
        let argument = self.kernel_argument()?;
        self.cursor.keyword("AS")?;
        let span = self.cursor.here()?;
        let ty = self.data_type()?;
        let scalar = match &ty {
            Type::Numeric(numeric) if ty.components() == 1 => numeric.scalar,
            _ => {
                let (what, found) = ("a kernel's argument", ty.to_string());
                return Err((span, Problem::WrongType { what, found }));
            }
        };
        let (value, _) = self.cursor.literal("a number")?;
        pipeline.kernel_values.push((argument, scalar, value));
        Ok(())
    }

    /// Gives every attachment the size of the framebuffer.
    pub(super) fn resize_attachments(
        &mut self,
        pipeline: &Pipeline,
        span: Range<usize>,
    ) -> Parsed<()> {
        for color in &pipeline.colors {
            self.resize(
                color.buffer,
                pipeline.framebuffer,
                color.base_mip_level,
                span.clone(),
            )?;
        }
        if let Some(buffer) = pipeline.depth_stencil {
            self.resize(buffer, pipeline.framebuffer, 0, span)?;
        }
        Ok(())
    }

    /// Gives an attachment its size: the framebuffer's, at the level that is drawn to.
    pub(super) fn resize(
        &mut self,
        id: crate::script::BufferId,
        framebuffer: (u32, u32),
        level: u32,
        span: Range<usize>,
    ) -> Parsed<()> {
        let Some(buffer) = self.script.buffers.get_mut(id.0) else {
            return Ok(());
        };
        let scaled = |size: u32| u64::from(size) << level.min(32);
        let (width, height) = (scaled(framebuffer.0), scaled(framebuffer.1));
        let most = crate::types::MAX_BYTES;
        let elements = width
            .checked_mul(height)
            .filter(|count| count.saturating_mul(buffer.element.stride as u64) <= most);
        let size = u32::try_from(width).ok().zip(u32::try_from(height).ok());
        let (Some(elements), Some(size)) = (elements, size) else {
            let what = "an attachment";
            return Err((span, Problem::TooLarge { what, most }));
        };
        let levels = u32::BITS - size.0.max(size.1).leading_zeros();
        if buffer.mip_levels > levels {
            let found = buffer.mip_levels;
            return Err(out_of_range(
                "MIP_LEVELS",
                "at most as many as halve the size down to 1",
                found,
                span,
            ));
        }
        buffer.size = size;
        // A file keeps its own size until it is read.
        if !matches!(buffer.contents, Contents::File { .. }) {
            buffer.elements = Some(elements);
        }
        Ok(())
    }
}
