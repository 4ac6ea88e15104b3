//! Buffers, images and pipelines of a drawing on the GPU, with their first contents.

use crate::formats::image_info;
use crate::missing;
use alloc::format;
use alloc::vec::Vec;
use eitri_drawing::{
    Drawing, Image as DrawnImage, ImageData, Pipeline as DrawnPipeline, ProgramId,
};
use eitri_job::WorkError;
use eitri_program::Program;
use eitri_runtime::{Buffer, Device, Image, ImageInfo, ImagePart, Pipeline, Platform, Space};

/// What was made, in the order of the drawing's lists.
pub(crate) struct Made<'d> {
    pub(crate) buffers: Vec<Buffer>,
    pub(crate) images: Vec<(Image, ImageInfo)>,
    pub(crate) programs: Vec<Program<'d>>,
    pub(crate) pipelines: Vec<Pipeline>,
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

    pub(crate) fn program(&self, id: ProgramId) -> Result<&Program<'d>, WorkError> {
        self.programs
            .get(id.index())
            .ok_or_else(|| missing("program"))
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
        programs: Vec::new(),
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
    for program in &drawing.programs {
        made.programs.push(Program::parse(program)?);
    }
    for pipeline in &drawing.pipelines {
        let new = match pipeline {
            DrawnPipeline::Compute(program) => {
                device.create_pipeline(space, made.program(*program)?)?
            }
            DrawnPipeline::Graphics(_) => {
                return Err(WorkError::Refused("draws are not done yet".into()));
            }
        };
        made.pipelines.push(new);
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
    let bytes = usize::try_from(info.part_bytes(init.level)).unwrap_or(usize::MAX);
    let parts = parts(info, init.level, init.layer, init.layers);
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
            level,
            layer,
            slice,
        })
    })
}
