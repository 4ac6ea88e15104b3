//! Buffers, images and pipelines of a drawing on the GPU, with their first contents.

use crate::formats::image_info;
use crate::image_steps::{aspect_of, slice_bytes};
use crate::{graphics, missing};
use alloc::format;
use alloc::vec::Vec;
use eitri_drawing::{
    Drawing, Image as DrawnImage, ImageData, Occlusion as DrawnOcclusion,
    Pipeline as DrawnPipeline, PipelineId, ProgramId, QueryId,
};
use eitri_job::WorkError;
use eitri_program::{GraphicsProgram, Program};
use eitri_runtime::{
    Buffer, Device, GraphicsPipeline, Image, ImageInfo, ImagePart, Occlusion, Pipeline, Platform,
    QueryPool, Space,
};

/// What was made, in the order of the drawing's lists.
pub(crate) struct Made<'d> {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) images: Vec<(Image, ImageInfo)>,
    pub(crate) programs: Vec<&'d [u8]>,
    pub(crate) pipelines: Vec<MadePipeline>,
    /// Queries by their ids, if there are some.
    pub(crate) queries: Option<QueryPool>,
    pub(crate) occlusions: Vec<Occlusion>,
}

/// A pipeline of either kind.
#[derive(Clone, Copy)]
pub(crate) enum MadePipeline {
    Compute(Pipeline),
    Graphics(GraphicsPipeline),
}

impl<'d> Made<'d> {
    pub(crate) fn buffer(&self, id: eitri_drawing::BufferId) -> Result<Buffer, WorkError> {
        let found = self.buffers.get(id.index()).copied();
        found.ok_or_else(|| missing("buffer"))
    }

    pub(crate) fn image(
        &self,
        id: eitri_drawing::ImageId,
    ) -> Result<(Image, ImageInfo), WorkError> {
        let found = self.images.get(id.index()).copied();
        found.ok_or_else(|| missing("image"))
    }

    fn program(&self, id: ProgramId) -> Result<&'d [u8], WorkError> {
        let found = self.programs.get(id.index()).copied();
        found.ok_or_else(|| missing("program"))
    }

    /// A compute shader.
    pub(crate) fn compute(&self, id: ProgramId) -> Result<Program<'d>, WorkError> {
        Ok(Program::parse(self.program(id)?)?)
    }

    /// A shader of draws.
    pub(crate) fn graphics(&self, id: ProgramId) -> Result<GraphicsProgram<'d>, WorkError> {
        Ok(GraphicsProgram::parse(self.program(id)?)?)
    }

    /// The queries' pool, and how one of them counts.
    pub(crate) fn query(&self, id: QueryId) -> Result<(QueryPool, Occlusion), WorkError> {
        let how = self.occlusions.get(id.index()).copied();
        self.queries.zip(how).ok_or_else(|| missing("query"))
    }

    pub(crate) fn pipeline(&self, id: PipelineId) -> Result<MadePipeline, WorkError> {
        let found = self.pipelines.get(id.index()).copied();
        found.ok_or_else(|| missing("pipeline"))
    }
}

/// Makes everything that needs nothing but a device.
pub(crate) fn make<'d, P: Platform>(
    device: &mut Device<'_, 'd, P>,
    space: Space,
    drawing: &Drawing<'d>,
) -> Result<Made<'d>, WorkError> {
    let mut made = Made {
        buffers: Vec::new(),
        images: Vec::new(),
        queries: None,
        occlusions: drawing.queries.iter().map(occlusion).collect(),
        programs: drawing.programs.clone(),
        pipelines: Vec::new(),
    };
    for (number, buffer) in drawing.buffers.iter().enumerate() {
        let named = |error| WorkError::Refused(format!("buffer {number}: {error}"));
        let new = device.create_buffer(space, buffer.bytes).map_err(named)?;
        device.write_buffer(new, 0, buffer.data).map_err(named)?;
        made.buffers.push(new);
    }
    for image in &drawing.images {
        made.images.push(create_image(device, space, image)?);
    }
    for pipeline in &drawing.pipelines {
        let new = match pipeline {
            DrawnPipeline::Compute(program) => {
                let program = made.compute(*program)?;
                MadePipeline::Compute(device.create_pipeline(space, &program)?)
            }
            DrawnPipeline::Graphics(pipeline) => {
                let vertex = made.graphics(pipeline.vertex)?;
                let fragment = pipeline.fragment.map(|it| made.graphics(it)).transpose()?;
                let fragment = fragment.as_ref();
                let new = graphics::create(device, space, pipeline, &vertex, fragment)?;
                MadePipeline::Graphics(new)
            }
        };
        made.pipelines.push(new);
    }
    // A drawing has far fewer than 2^32.
    let queries = drawing.queries.len() as u32;
    if queries > 0 {
        made.queries = Some(device.create_query_pool(space, queries)?);
    }
    Ok(made)
}

fn create_image<P: Platform>(
    device: &mut Device<'_, '_, P>,
    space: Space,
    image: &DrawnImage<'_>,
) -> Result<(Image, ImageInfo), WorkError> {
    let info = image_info(device.properties().arch, image);
    let info =
        info.ok_or_else(|| WorkError::Refused(format!("the GPU has no format {}", image.format)))?;
    let new = device.create_image(space, info)?;
    for init in &image.init {
        fill(device, new, &info, init)?;
    }
    Ok((new, info))
}

/// Writes the first contents of layers of a level.
fn fill<P: Platform>(
    device: &mut Device<'_, '_, P>,
    image: Image,
    info: &ImageInfo,
    init: &ImageData<'_>,
) -> Result<(), WorkError> {
    let bytes = slice_bytes(info, init.aspect, init.level);
    let parts = parts(info, init.level, init.layer, init.layers);
    let aspect = aspect_of(init.aspect);
    let parts = parts.map(|part| ImagePart { aspect, ..part });
    for (part, texels) in parts.zip(init.data.chunks(bytes.max(1))) {
        device.write_image(image, part, texels)?;
    }
    Ok(())
}

/// The slices of layers of a level, in the order of a drawing's contents.
pub(crate) fn parts(
    info: &ImageInfo,
    level: u32,
    layer: u32,
    layers: u32,
) -> impl Iterator<Item = ImagePart> + use<> {
    let slices = info.slices(level);
    (layer..layer.saturating_add(layers)).flat_map(move |layer| {
        (0..slices).map(move |slice| ImagePart {
            aspect: None,
            level,
            layer,
            slice,
        })
    })
}

fn occlusion(query: &DrawnOcclusion) -> Occlusion {
    match query {
        DrawnOcclusion::Any => Occlusion::Any,
        DrawnOcclusion::Precise => Occlusion::Precise,
    }
}
