//! Plan: what a scene asks of the GPU, as a drawing whose names are numbers; or what is lacking for it.

mod image_steps;
pub(super) mod passes;
mod resources;
mod steps;
mod subpasses;

use super::lack::{self, Lack};
use super::shaders::Programs;
use eitri_descriptors::Arch;
use eitri_draw_scenes::{Query, QueryKind, Scene, SceneError, SceneFile, Target};
use eitri_drawing::{
    Buffer, BufferId, Drawing, Image, ImageData, ImageId, Occlusion, Pipeline, QueryId, Range,
    Readback,
};

/// What a scene's buffers and images begin with.
#[derive(Debug, Default)]
pub(super) struct Contents {
    buffers: Vec<Vec<u8>>,
    images: Vec<Vec<Vec<u8>>>,
}

impl Contents {
    /// Reads the contents of a scene.
    ///
    /// # Errors
    /// A file that can't be read.
    pub(super) fn read(scene: &Scene) -> Result<Contents, SceneError> {
        let mut contents = Contents::default();
        for buffer in &scene.file.buffers {
            let bytes = scene.buffer_contents(buffer)?;
            contents.buffers.push(bytes.unwrap_or_default());
        }
        for image in &scene.file.images {
            let parts = image.init.iter();
            let parts = parts.map(|init| scene.image_contents(image, init));
            contents.images.push(parts.collect::<Result<_, _>>()?);
        }
        Ok(contents)
    }
}

/// What can be said of a scene before its shaders are compiled.
pub(super) fn lacks(scene: &Scene, arch: Arch) -> Option<Lack> {
    let lacking = lack::lacking(&scene.file.features);
    lacking
        .or_else(|| resources::lacking(&scene.file, arch))
        .or_else(|| {
            // The same that is made later, without contents and code.
            let (contents, programs) = (Contents::default(), Programs::of_no_code(scene, arch));
            let limits = Limits {
                limit_ms: 0,
                dump: false,
            };
            drawing(scene, arch, &contents, &programs, limits).err()
        })
}

/// How drawings are played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Longest that the commands may take, in milliseconds.
    pub(super) limit_ms: u32,
    /// Whether a core dump is wanted of those that fail.
    pub(super) dump: bool,
}

/// Makes the drawing of a scene that lacks nothing.
pub(super) fn drawing<'s>(
    scene: &'s Scene,
    arch: Arch,
    contents: &'s Contents,
    programs: &'s Programs,
    limits: Limits,
) -> Result<Drawing<'s>, Lack> {
    let file = &scene.file;
    let mut drawing = Drawing {
        name: &file.name,
        limit_ms: limits.limit_ms,
        dump: limits.dump,
        programs: programs.bytes.iter().map(Vec::as_slice).collect(),
        buffers: Vec::new(),
        images: Vec::new(),
        views: file
            .views
            .iter()
            .map(|view| resources::view(file, view))
            .collect::<Result<_, _>>()?,
        samplers: file.samplers.iter().map(resources::sampler).collect(),
        sets: file
            .sets
            .iter()
            .map(|set| resources::set(file, set))
            .collect::<Result<_, _>>()?,
        pipelines: Vec::new(),
        queries: file.queries.iter().map(query).collect::<Result<_, _>>()?,
        steps: Vec::new(),
        results: Vec::new(),
        wanted: Vec::new(),
        frames: Vec::new(),
    };
    for (buffer, data) in file.buffers.iter().zip(&contents.buffers) {
        let bytes = buffer.bytes;
        drawing.buffers.push(Buffer { bytes, data });
    }
    for (image, data) in file.images.iter().zip(&contents.images) {
        let parts = image.init.iter().zip(data);
        let init = parts.map(|(init, data)| ImageData {
            aspect: init.aspect,
            level: init.level,
            layer: init.layer,
            layers: init.layers,
            data,
        });
        drawing.images.push(Image {
            init: init.collect(),
            ..resources::image(image)
        });
    }
    let mut pipelines = Pipelines {
        scene: file,
        arch,
        programs,
        made: Vec::new(),
    };
    for step in &file.steps {
        steps::add(&mut drawing.steps, &mut pipelines, step)?;
    }
    drawing.pipelines = pipelines.made;
    for expectation in &scene.expect {
        let result = result(file, &expectation.target, expectation.bytes())?;
        drawing.results.push(result);
    }
    Ok(drawing)
}

/// The pipelines of a drawing: those that its steps use, each once.
struct Pipelines<'s> {
    scene: &'s SceneFile,
    arch: Arch,
    programs: &'s Programs,
    made: Vec<Pipeline>,
}

/// Where an expectation's contents are found.
fn result(scene: &SceneFile, target: &Target, bytes: u64) -> Result<Readback, Lack> {
    Ok(match target {
        Target::Image {
            image,
            aspect,
            level,
            layer,
            layers,
        } => {
            let id = image_id(scene, image)?;
            if scene.image(image).is_some_and(|image| image.samples > 1) {
                return Err(Lack::not_yet("samples read by the host"));
            }
            Readback::Image {
                image: id,
                aspect: *aspect,
                level: *level,
                layer: *layer,
                layers: *layers,
            }
        }
        Target::Buffer { buffer, offset, .. } => Readback::Buffer(Range {
            buffer: buffer_id(scene, buffer)?,
            offset: *offset,
            bytes,
        }),
        Target::Query { query } => Readback::Query(query_id(scene, query)?),
    })
}

/// The place of something in a list, by its name.
fn place<T>(all: &[T], is: impl Fn(&T) -> bool, what: &str, name: &str) -> Result<u32, Lack> {
    let found = all.iter().position(is).map(u32::try_from);
    match found {
        Some(Ok(place)) => Ok(place),
        // Reading has checked all names.
        _ => Err(Lack::not_yet(format!(
            "{what} {name}, which the scene does not have"
        ))),
    }
}

fn query(query: &Query) -> Result<Occlusion, Lack> {
    match (query.kind, query.precise) {
        (QueryKind::Occlusion, true) => Ok(Occlusion::Precise),
        (QueryKind::Occlusion, false) => Ok(Occlusion::Any),
        // Neither streams nor cores have numbers of them.
        (QueryKind::Statistics, _) => Err(Lack::Feature("pipelineStatisticsQuery".to_owned())),
    }
}

fn query_id(scene: &SceneFile, name: &str) -> Result<QueryId, Lack> {
    place(&scene.queries, |it| it.name == name, "query", name).map(QueryId)
}

fn buffer_id(scene: &SceneFile, name: &str) -> Result<BufferId, Lack> {
    place(&scene.buffers, |it| it.name == name, "buffer", name).map(BufferId)
}

fn image_id(scene: &SceneFile, name: &str) -> Result<ImageId, Lack> {
    place(&scene.images, |it| it.name == name, "image", name).map(ImageId)
}
