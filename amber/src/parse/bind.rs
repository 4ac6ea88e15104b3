//! `BIND`, `VERTEX_DATA` and `INDEX_DATA`: language reference, sections 9.3 and 9.4.

use super::{Parsed, Parser, duplicate, expected, out_of_range, unknown};
use crate::error::Problem;
use crate::lexer::TokenKind;
use crate::script::{
    BoundBuffer, BufferId, ColorAttachment, Descriptor, DescriptorKind, KernelArgument, Pipeline,
    PipelineKind, Resource, SamplerId, Slot, VertexBuffer, VertexRate,
};
use crate::types::{Numeric, Scalar, Type};
use std::ops::Range;

impl<'s> Parser<'s> {
    pub(super) fn bind(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (word, span) = self
            .cursor
            .identifier("BUFFER, SAMPLER or ACCELERATION_STRUCTURE")?;
        match word {
            "BUFFER" => {
                let (buffer, span) = self.buffer_name()?;
                self.bind_buffers(pipeline, vec![buffer], span)
            }
            "BUFFER_ARRAY" => {
                let buffers = self.array(Self::buffer_id)?;
                self.bind_buffers(pipeline, buffers, span)
            }
            "SAMPLER" => {
                let sampler = self.sampler_id()?;
                self.bind_samplers(pipeline, vec![sampler])
            }
            "SAMPLER_ARRAY" => {
                let samplers = self.array(Self::sampler_id)?;
                self.bind_samplers(pipeline, samplers)
            }
            "ACCELERATION_STRUCTURE" => {
                let (name, span) = self
                    .cursor
                    .identifier("the name of an acceleration structure")?;
                let structure = self.accelerations.find(name, span)?;
                let slot = self.slot()?;
                pipeline.put(slot, Resource::AccelerationStructure(structure));
                Ok(())
            }
            _ => Err(expected(
                "BUFFER, BUFFER_ARRAY, SAMPLER, SAMPLER_ARRAY or ACCELERATION_STRUCTURE",
                format_args!("`{word}`"),
                span,
            )),
        }
    }

    fn buffer_id(&mut self) -> Parsed<BufferId> {
        Ok(self.buffer_name()?.0)
    }

    fn sampler_id(&mut self) -> Parsed<SamplerId> {
        let (name, span) = self.cursor.identifier("the name of a sampler")?;
        self.samplers.find(name, span)
    }

    /// Two or more names, up to a word that goes on with the statement.
    fn array<Id>(&mut self, one: impl Fn(&mut Self) -> Parsed<Id>) -> Parsed<Vec<Id>> {
        let mut ids = vec![one(self)?, one(self)?];
        loop {
            match self.cursor.peek()?.kind {
                TokenKind::Identifier("AS" | "KERNEL" | "DESCRIPTOR_SET") => return Ok(ids),
                TokenKind::Identifier(_) => ids.push(one(self)?),
                _ => return Ok(ids),
            }
        }
    }

    fn slot(&mut self) -> Parsed<Slot> {
        self.cursor.keyword("DESCRIPTOR_SET")?;
        let set = self.cursor.u32("DESCRIPTOR_SET")?;
        self.cursor.keyword("BINDING")?;
        let binding = self.cursor.u32("BINDING")?;
        Ok(Slot::Binding { set, binding })
    }

    pub(super) fn kernel_argument(&mut self) -> Parsed<KernelArgument> {
        let (word, span) = self.cursor.identifier("ARG_NAME or ARG_NUMBER")?;
        match word {
            "ARG_NAME" => {
                let (name, _) = self.cursor.identifier("the name of an argument")?;
                Ok(KernelArgument::Name(name.to_owned()))
            }
            "ARG_NUMBER" => Ok(KernelArgument::Number(self.cursor.u32("ARG_NUMBER")?)),
            _ => Err(expected(
                "ARG_NAME or ARG_NUMBER",
                format_args!("`{word}`"),
                span,
            )),
        }
    }

    fn slot_or_kernel(&mut self) -> Parsed<Slot> {
        match self.cursor.take_keyword("KERNEL")? {
            true => Ok(Slot::Kernel(self.kernel_argument()?)),
            false => self.slot(),
        }
    }

    fn bind_samplers(&mut self, pipeline: &mut Pipeline, samplers: Vec<SamplerId>) -> Parsed<()> {
        let slot = self.slot_or_kernel()?;
        pipeline.put(slot, Resource::Samplers(samplers));
        Ok(())
    }

    fn bind_buffers(
        &mut self,
        pipeline: &mut Pipeline,
        buffers: Vec<BufferId>,
        span: Range<usize>,
    ) -> Parsed<()> {
        let mut kind = None;
        if self.cursor.take_keyword("AS")? {
            if let [buffer] = buffers[..]
                && self.bind_attachment(pipeline, buffer, span.clone())?
            {
                return Ok(());
            }
            kind = Some(self.cursor.word::<DescriptorKind>()?);
        }
        let sampler = match kind {
            Some(DescriptorKind::CombinedImageSampler) => {
                self.cursor.keyword("SAMPLER")?;
                Some(self.sampler_id()?)
            }
            _ => None,
        };
        let kernel = self.cursor.peek()?.kind == TokenKind::Identifier("KERNEL");
        if kind.is_none() && !kernel {
            let token = self.cursor.next()?;
            return Err(expected("AS or KERNEL", token.kind, token.span));
        }
        let slot = self.slot_or_kernel()?;
        let mut bound: Vec<BoundBuffer> = buffers
            .iter()
            .map(|buffer| BoundBuffer {
                buffer: *buffer,
                dynamic_offset: 0,
                offset: 0,
                range: None,
            })
            .collect();
        let base_mip_level = match (kind, kernel) {
            (Some(kind), false) => self.descriptor_options(kind, &mut bound)?,
            _ => 0,
        };
        let resource = Resource::Buffers {
            kind,
            buffers: bound,
            sampler,
            base_mip_level,
        };
        pipeline.put(slot, resource);
        Ok(())
    }

    /// `[BASE_MIP_LEVEL n] [OFFSET n+] [DESCRIPTOR_OFFSET n+] [DESCRIPTOR_RANGE n+]`; gives the level.
    fn descriptor_options(
        &mut self,
        kind: DescriptorKind,
        bound: &mut [BoundBuffer],
    ) -> Parsed<u32> {
        let mut level = 0;
        let mut has_offset = false;
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("an option of a descriptor")?;
            let wrong = |what: &str| {
                let (what, found) = ("a descriptor with this option", what.to_owned());
                (span.clone(), Problem::WrongType { what, found })
            };
            match option {
                "BASE_MIP_LEVEL" => {
                    let image = matches!(
                        kind,
                        DescriptorKind::StorageImage
                            | DescriptorKind::SampledImage
                            | DescriptorKind::CombinedImageSampler
                    );
                    if !image {
                        return Err(wrong("no image"));
                    }
                    let number = self.cursor.here()?;
                    level = self.cursor.u32("BASE_MIP_LEVEL")?;
                    for part in bound.iter() {
                        self.check_level(part.buffer, level, number.clone())?;
                    }
                }
                "OFFSET" if kind.is_dynamic() => {
                    has_offset = true;
                    self.each(bound, "OFFSET", |part, value| {
                        part.dynamic_offset = value.unwrap_or(0)
                    })?;
                }
                "DESCRIPTOR_OFFSET" if kind.is_buffer() => {
                    self.each(bound, "DESCRIPTOR_OFFSET", |part, value| {
                        part.offset = value.unwrap_or(0)
                    })?;
                }
                "DESCRIPTOR_RANGE" if kind.is_buffer() => {
                    self.each(bound, "DESCRIPTOR_RANGE", |part, value| part.range = value)?;
                }
                "OFFSET" => return Err(wrong("no dynamic offset")),
                "DESCRIPTOR_OFFSET" | "DESCRIPTOR_RANGE" => return Err(wrong("no buffer")),
                _ => return Err(unknown("option of a descriptor", option, span)),
            }
        }
        if kind.is_dynamic() && !has_offset {
            let span = self.cursor.here()?;
            let (what, needed) = ("a dynamic descriptor", "OFFSET");
            return Err((span, Problem::Needs { what, needed }));
        }
        Ok(level)
    }

    /// A number for each buffer; -1 is none.
    fn each(
        &mut self,
        bound: &mut [BoundBuffer],
        what: &'static str,
        mut set: impl FnMut(&mut BoundBuffer, Option<u64>),
    ) -> Parsed<()> {
        for part in bound {
            let (literal, span) = self.cursor.literal(what)?;
            let value = match literal.as_bits() {
                Some(u64::MAX) => None,
                Some(value) if u32::try_from(value).is_ok() => Some(value),
                _ => {
                    return Err(out_of_range(
                        what,
                        "an integer from 0 to 4294967295",
                        literal,
                        span,
                    ));
                }
            };
            set(part, value);
        }
        Ok(())
    }

    fn check_level(&self, id: BufferId, level: u32, span: Range<usize>) -> Parsed<()> {
        let levels = self.script.buffer(id).map_or(1, |buffer| buffer.mip_levels);
        match level < levels {
            true => Ok(()),
            false => Err(out_of_range(
                "BASE_MIP_LEVEL",
                "below the buffer's MIP_LEVELS",
                level,
                span,
            )),
        }
    }

    /// `color`, `depth_stencil`, `push_constant` and `resolve`; says whether it was one of them.
    fn bind_attachment(
        &mut self,
        pipeline: &mut Pipeline,
        buffer: BufferId,
        span: Range<usize>,
    ) -> Parsed<bool> {
        if self.cursor.take_keyword("color")? {
            self.cursor.keyword("LOCATION")?;
            let place = self.cursor.here()?;
            let location = self.cursor.u32("LOCATION")?;
            let mut base_mip_level = 0;
            if self.cursor.take_keyword("BASE_MIP_LEVEL")? {
                let number = self.cursor.here()?;
                base_mip_level = self.cursor.u32("BASE_MIP_LEVEL")?;
                self.check_level(buffer, base_mip_level, number)?;
            }
            if pipeline
                .colors
                .iter()
                .any(|color| color.location == location)
            {
                return Err(duplicate("a color attachment at location", location, place));
            }
            if pipeline.colors.iter().any(|color| color.buffer == buffer) {
                return Err(duplicate("as a color attachment, this", "buffer", span));
            }
            pipeline.colors.push(ColorAttachment {
                buffer,
                location,
                base_mip_level,
            });
            self.resize(buffer, pipeline.framebuffer, base_mip_level, span)?;
        } else if self.cursor.take_keyword("depth_stencil")? {
            if pipeline.depth_stencil.is_some() {
                return Err(duplicate("a", "depth_stencil buffer", span));
            }
            pipeline.depth_stencil = Some(buffer);
            self.resize(buffer, pipeline.framebuffer, 0, span)?;
        } else if self.cursor.take_keyword("push_constant")? {
            if pipeline.push_constants.is_some() {
                return Err(duplicate("a", "push_constant buffer", span));
            }
            pipeline.push_constants = Some(buffer);
        } else if self.cursor.take_keyword("resolve")? {
            pipeline.resolves.push(buffer);
            self.resize(buffer, pipeline.framebuffer, 0, span)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    pub(super) fn vertex_data(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (buffer, span) = self.buffer_name()?;
        self.graphics_only(pipeline, "VERTEX_DATA", span)?;
        self.cursor.keyword("LOCATION")?;
        let place = self.cursor.here()?;
        let location = self.cursor.u32("LOCATION")?;
        if pipeline
            .vertices
            .iter()
            .any(|vertex| vertex.location == location)
        {
            return Err(duplicate("vertex data at location", location, place));
        }
        let mut vertex = VertexBuffer {
            buffer,
            location,
            rate: VertexRate::Vertex,
            format: None,
            offset: 0,
            stride: None,
        };
        while !self.cursor.at_end_of_statement()? {
            let (option, span) = self.cursor.identifier("an option of VERTEX_DATA")?;
            match option {
                "RATE" => vertex.rate = self.cursor.word()?,
                "FORMAT" => {
                    if let Type::Format(format) = self.cursor.format()? {
                        vertex.format = Some(format);
                    }
                }
                "OFFSET" => vertex.offset = self.cursor.u32("OFFSET")?.into(),
                "STRIDE" => vertex.stride = Some(self.cursor.u32("STRIDE")?.into()),
                _ => return Err(unknown("option of VERTEX_DATA", option, span)),
            }
        }
        pipeline.vertices.push(vertex);
        Ok(())
    }

    pub(super) fn index_data(&mut self, pipeline: &mut Pipeline) -> Parsed<()> {
        let (buffer, span) = self.buffer_name()?;
        self.graphics_only(pipeline, "INDEX_DATA", span.clone())?;
        if pipeline.indices.is_some() {
            return Err(duplicate("an", "INDEX_DATA buffer", span));
        }
        let ty = self.script.buffer(buffer).map(|buffer| buffer.ty.clone());
        let fits = [Scalar::Uint8, Scalar::Uint16, Scalar::Uint32]
            .map(|scalar| Type::Numeric(Numeric::vector(scalar, 1)))
            .iter()
            .any(|wanted| ty.as_ref().is_some_and(|ty| ty.same_as(wanted)));
        if !fits {
            let (what, found) = ("index data", ty.map_or(String::new(), |ty| ty.to_string()));
            return Err((span, Problem::WrongType { what, found }));
        }
        pipeline.indices = Some(buffer);
        Ok(())
    }

    fn graphics_only(&self, pipeline: &Pipeline, what: &str, span: Range<usize>) -> Parsed<()> {
        match pipeline.kind {
            PipelineKind::Graphics => Ok(()),
            other => {
                let what = what.to_owned();
                let pipeline = crate::words::Word::text(other);
                Err((span, Problem::WrongPipeline { what, pipeline }))
            }
        }
    }
}

impl Pipeline {
    /// Puts a resource into its slot, in place of what is there.
    pub(super) fn put(&mut self, slot: Slot, resource: Resource) {
        self.descriptors
            .retain(|descriptor| descriptor.slot != slot);
        self.descriptors.push(Descriptor { slot, resource });
    }
}
