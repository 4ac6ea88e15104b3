//! Parts of a model's scene: what is drawn on, pipelines, textures.

use crate::material::Alpha;
use crate::mesh::{ATTRIBUTES, STRIDE};
use crate::model::Shot;
use crate::scene::{PipelineKey, shader_name};
use crate::texture::Picture;
use eitri_draw_scenes::{
    AddressMode, Attachment, Attribute, Binding, Blend, BlendAttachment, BlendEquation,
    BlendFactor, BlendOp, Border, Color, CompareOp, Contents, CullMode, DepthTest, DescriptorKind,
    Filter, FrontFace, Image, ImageInit, ImageType, LoadOp, Multisample, Pass, PassStep, Pipeline,
    PipelineStage, Raster, ResolveMode, Sampler, Step, StoreOp, Topology, Usage, VertexBinding,
    VertexRate, View, WriteMask,
};

/// The image that is left.
pub(crate) const PICTURE: &str = "picture";
/// The vertex shader.
pub(crate) const VERTEX: &str = "vertex";
/// Bytes of the numbers that all draws read: a matrix and four rows.
pub(crate) const FRAME_BYTES: usize = 128;
/// Bytes of a draw's own numbers: a matrix and three columns.
const PUSH_BYTES: u32 = 112;

const SAMPLES: &str = "samples";
const DEPTH: &str = "depth";
const COLOR_FORMAT: &str = "r8g8b8a8_srgb";
const DEPTH_FORMAT: &str = "d32_sfloat";

/// What is drawn on.
pub(crate) struct Targets {
    pub(crate) images: Vec<Image>,
    pub(crate) views: Vec<View>,
}

pub(crate) fn targets(shot: &Shot) -> Targets {
    let [width, height] = shot.size;
    let image = |name: &str, format: &str, samples: u32, usage: Usage| Image {
        extent: [width, height, 1],
        samples,
        usage: vec![usage],
        ..image(name, format)
    };
    let mut images = vec![
        image(PICTURE, COLOR_FORMAT, 1, Usage::Color),
        image(DEPTH, DEPTH_FORMAT, shot.samples, Usage::DepthStencil),
    ];
    if shot.samples > 1 {
        images.push(image(SAMPLES, COLOR_FORMAT, shot.samples, Usage::Color));
    }
    let views = images.iter().map(|image| view(&image.name, 1)).collect();
    Targets { images, views }
}

/// The pass that draws.
pub(crate) fn pass(shot: &Shot, draws: Vec<PassStep>) -> Step {
    let [red, green, blue] = shot.environment;
    let many = shot.samples > 1;
    let attachment = |view: &str, store| Attachment {
        view: view.to_owned(),
        load: LoadOp::Clear,
        store,
        clear: None,
        clear_depth: None,
        clear_stencil: None,
        resolve: None,
        resolve_mode: ResolveMode::Average,
    };
    let color = Attachment {
        clear: Some(Color::Float([red, green, blue, 1.0])),
        resolve: many.then(|| PICTURE.to_owned()),
        ..match many {
            true => attachment(SAMPLES, StoreOp::DontCare),
            false => attachment(PICTURE, StoreOp::Store),
        }
    };
    let depth = Attachment {
        clear_depth: Some(1.0),
        ..attachment(DEPTH, StoreOp::DontCare)
    };
    Step::Pass(Pass {
        color: vec![Some(color)],
        depth: Some(depth),
        stencil: None,
        area: None,
        layers: 1,
        view_mask: 0,
        resuming: false,
        suspending: false,
        draws,
    })
}

/// A pipeline.
pub(crate) fn pipeline(key: &PipelineKey, samples: u32) -> Pipeline {
    let stage = |shader: String| PipelineStage {
        shader,
        spec: Vec::new(),
    };
    let mut offset = 0;
    let attributes = ATTRIBUTES.iter().zip(0..).map(|(floats, location)| {
        let format = match floats {
            3 => "r32g32b32_sfloat",
            _ => "r32g32b32a32_sfloat",
        };
        let attribute = Attribute {
            location,
            binding: 0,
            format: format.to_owned(),
            offset,
        };
        offset += floats * 4;
        attribute
    });
    let blended = key.kind.alpha == Alpha::Blended;
    Pipeline {
        name: key.name(),
        stages: vec![stage(VERTEX.to_owned()), stage(shader_name(&key.kind))],
        sets: vec!["material-0".to_owned()],
        push_bytes: PUSH_BYTES,
        vertex_bindings: vec![VertexBinding {
            binding: 0,
            stride: STRIDE,
            rate: VertexRate::Vertex,
            divisor: 1,
        }],
        attributes: attributes.collect(),
        topology: match key.lines {
            true => Topology::LineList,
            false => Topology::TriangleList,
        },
        restart: false,
        viewports: 1,
        raster: Raster {
            cull: match key.double_sided {
                true => CullMode::None,
                false => CullMode::Back,
            },
            front: match key.mirrored {
                true => FrontFace::Clockwise,
                false => FrontFace::CounterClockwise,
            },
            ..Raster::default()
        },
        multisample: Multisample {
            samples,
            ..Multisample::default()
        },
        depth: Some(DepthTest {
            test: true,
            write: !blended,
            compare: CompareOp::LessOrEqual,
        }),
        stencil: None,
        blend: Blend {
            attachments: vec![BlendAttachment {
                color: blended.then_some(BlendEquation(
                    BlendFactor::SrcAlpha,
                    BlendFactor::OneMinusSrcAlpha,
                    BlendOp::Add,
                )),
                alpha: blended.then_some(BlendEquation(
                    BlendFactor::One,
                    BlendFactor::OneMinusSrcAlpha,
                    BlendOp::Add,
                )),
                write: WriteMask::default(),
            }],
            ..Blend::default()
        },
    }
}

/// An image with these levels, and its view.
pub(crate) fn texture(name: &str, format: &str, levels: &[Picture]) -> (Image, View) {
    let [width, height] = levels.first().map_or([1; 2], |it| [it.width, it.height]);
    // A picture has at most 15.
    let count = levels.len() as u32;
    let init = (0..count).map(|level| ImageInit {
        aspect: eitri_draw_scenes::Aspect::Color,
        level,
        layer: 0,
        layers: 1,
        data: Contents::File(level_file(name, level)),
    });
    let image = Image {
        extent: [width, height, 1],
        levels: count,
        usage: vec![Usage::Sampled],
        init: init.collect(),
        ..image(name, format)
    };
    (image, view(name, count))
}

/// The name of a level's texels among the scene's files.
pub(crate) fn level_file(name: &str, level: u32) -> String {
    format!("{name}-{level}")
}

fn image(name: &str, format: &str) -> Image {
    Image {
        name: name.to_owned(),
        kind: ImageType::D2,
        format: format.to_owned(),
        extent: [1; 3],
        levels: 1,
        layers: 1,
        samples: 1,
        usage: Vec::new(),
        transfer: false,
        cube: false,
        slices: false,
        mutable: false,
        init: Vec::new(),
    }
}

fn view(image: &str, levels: u32) -> View {
    View {
        name: image.to_owned(),
        image: image.to_owned(),
        kind: None,
        format: None,
        aspect: None,
        level: 0,
        levels,
        layer: 0,
        layers: 1,
        swizzle: eitri_draw_scenes::Swizzle::default(),
    }
}

/// The sampler of a texture that is not there.
pub(crate) fn plain_sampler() -> Sampler {
    Sampler {
        name: "nearest".to_owned(),
        mag: Filter::Nearest,
        min: Filter::Nearest,
        mip: Filter::Nearest,
        u: AddressMode::Repeat,
        v: AddressMode::Repeat,
        w: AddressMode::ClampToEdge,
        border: Border::default(),
        custom_border: None,
        custom_format: None,
        lod_bias: 0.0,
        min_lod: 0.0,
        max_lod: 0.0,
        compare: None,
        unnormalised: false,
        max_anisotropy: 1,
    }
}

/// Bytes of a uniform buffer in a set.
pub(crate) fn buffer(number: u32, name: &str, offset: u64, bytes: u64) -> Binding {
    Binding {
        buffer: Some(name.to_owned()),
        offset,
        bytes: Some(bytes),
        ..empty(number, DescriptorKind::UniformBuffer)
    }
}

/// A view or a sampler in a set.
pub(crate) fn bound(number: u32, kind: DescriptorKind, name: String) -> Binding {
    match kind {
        DescriptorKind::Sampler => Binding {
            sampler: Some(name),
            ..empty(number, kind)
        },
        _ => Binding {
            view: Some(name),
            ..empty(number, kind)
        },
    }
}

fn empty(binding: u32, kind: DescriptorKind) -> Binding {
    Binding {
        binding,
        element: 0,
        kind,
        buffer: None,
        offset: 0,
        bytes: None,
        view: None,
        sampler: None,
        texels: None,
    }
}
