//! Rows about draws that follow one of the same kind: what each costs by what differs from the one before; and a pass. Draws of other kinds,
//! and in no order, are in [`crate::draw_kinds`].

use crate::cost::Cost;
use crate::recording::record;
use crate::{Failure, Gpu, Parts, Recording, THINGS};
use alloc::vec::Vec;
use eitri_descriptors::formats::VkFormat;
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    Buffer, ClearColor, ColorAttachment, Draw, Error, GraphicsPipeline, GraphicsPipelineInfo,
    GraphicsSet, Image, ImageInfo, ImageView, InputRate, RenderingInfo, TilerHeapConfig,
    VertexAttribute, VertexBinding,
};

const VERTEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/vertex"));
const FRAGMENT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fragment"));

/// Draws of the longer of two recordings, and things that they have in turn.
pub(crate) const MANY: u32 = 65;
const IN_TURN: usize = 8;

/// Heaps of the machine's memory.
const HEAP: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: 256 << 10,
    initial: 2,
    most: 8,
    reserve: 1,
    passes: 64,
};

/// What draws use: [`THINGS`] of each, but for images.
pub(crate) struct Things {
    pub(crate) images: [Image; 2],
    pub(crate) pipelines: Vec<GraphicsPipeline>,
    /// Of the first pipeline.
    pub(crate) sets: Vec<GraphicsSet>,
    /// Each pipeline's own.
    pub(crate) own: Vec<GraphicsSet>,
    pub(crate) vertices: Vec<Buffer>,
    /// The format of images.
    pub(crate) color: &'static VkFormat,
    /// A pipeline whose second attribute goes on with instances, and its set.
    pub(crate) instanced: (GraphicsPipeline, GraphicsSet),
}

impl Things {
    pub(crate) fn new(device: &mut Gpu, parts: &Parts) -> Result<Things, Failure> {
        let arch = device.properties().arch;
        let format = |name| VkFormat::of_name(arch, name);
        let missing = "a format is missing";
        let color = format("R8G8B8A8_UNORM").ok_or(missing)?;
        let vector = format("R32G32B32A32_SFLOAT").ok_or(missing)?;
        let heap = device.create_tiler_heap(parts.space, HEAP)?;
        device.bind_tiler_heap(parts.queue, heap)?;
        let attribute = |location| VertexAttribute {
            location,
            binding: 0,
            offset: location * 16,
            format: vector,
        };
        let attributes = [attribute(0), attribute(1)];
        let binding = VertexBinding {
            binding: 0,
            stride: 32,
            rate: InputRate::Vertex,
        };
        let info = GraphicsPipelineInfo {
            bindings: &[binding],
            attributes: &attributes,
            colors: &[Some(color)],
            ..GraphicsPipelineInfo::default()
        };
        let programs = [
            GraphicsProgram::parse(VERTEX)?,
            GraphicsProgram::parse(FRAGMENT)?,
        ];
        let table = parts.buffers[0];
        let set = |device: &mut Gpu, pipeline| {
            let set = device.create_graphics_set(pipeline, 0)?;
            device.bind_in_stages(set, |device, set| device.bind_buffer(set, 0, table))?;
            Ok::<_, Error>(set)
        };
        let [vertex, fragment] = programs;
        let bindings = [
            binding,
            VertexBinding {
                binding: 1,
                stride: 16,
                rate: InputRate::Instance { divisor: 1 },
            },
        ];
        let of_instances = VertexAttribute {
            binding: 1,
            offset: 0,
            ..attribute(1)
        };
        let instanced = GraphicsPipelineInfo {
            bindings: &bindings,
            attributes: &[attribute(0), of_instances],
            ..info
        };
        let space = parts.space;
        let instanced =
            device.create_graphics_pipeline(space, &vertex, Some(&fragment), &instanced)?;
        let mut things = Things {
            images: [
                device.create_image(parts.space, ImageInfo::two_d(color, 64, 64))?,
                device.create_image(parts.space, ImageInfo::two_d(color, 64, 64))?,
            ],
            pipelines: Vec::new(),
            sets: Vec::new(),
            own: Vec::new(),
            vertices: Vec::new(),
            color,
            instanced: (instanced, set(device, instanced)?),
        };
        for _ in 0..THINGS {
            let made = device.create_graphics_pipeline(space, &vertex, Some(&fragment), &info)?;
            things.own.push(set(device, made)?);
            things.pipelines.push(made);
            things.vertices.push(device.create_buffer(space, 4096)?);
        }
        for _ in 0..THINGS {
            things.sets.push(set(device, things.pipelines[0])?);
        }
        Ok(things)
    }
}

/// What differs between a draw and the one before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    Nothing,
    Push,
    All,
    Pipeline,
}

pub(crate) fn rows(device: &mut Gpu, parts: &Parts, things: &Things) -> Result<(), Failure> {
    for (name, changes) in [
        ("draw-same", Changes::Nothing),
        ("draw-push", Changes::Push),
        ("draw-all", Changes::All),
        ("draw-pipeline", Changes::Pipeline),
    ] {
        let all = |device: &mut Gpu, count: u32| {
            record(device, parts, |it| {
                draws(it, things, things.images[0], (changes, count))
            })
        };
        all(device, MANY)?;
        let (few, many) = (all(device, 2)?, all(device, MANY)?);
        many.less(few, MANY - 2).print(name);
    }
    // To so many images in turn.
    let passes = |device: &mut Gpu, images: u32, count: u32, drawn: u32| {
        record(device, parts, |it| {
            (0..count).try_for_each(|number| {
                let image = things.images[(number % images) as usize];
                draws(it, things, image, (Changes::Nothing, drawn))
            })
        })
    };
    const PASSES: u32 = 17;
    for (name, images, drawn) in [("pass", 1, 0), ("pass-other", 2, 0), ("pass-draw", 1, 1)] {
        passes(device, images, PASSES, drawn)?;
        let few: Cost = passes(device, images, 2, drawn)?;
        let many = passes(device, images, PASSES, drawn)?;
        many.less(few, PASSES - 2).print(name);
    }
    let none = record(device, parts, |_| Ok(()))?;
    passes(device, 1, 1, 1)?.less(none, 1).print("pass-first");
    Ok(())
}

/// A pass that renders to an image, with so many draws.
fn draws(
    recorder: &mut Recording<'_, '_>,
    things: &Things,
    image: Image,
    (changes, count): (Changes, u32),
) -> Result<(), Error> {
    let view = ImageView::of(image);
    let color = ColorAttachment::cleared(view, ClearColor::Float([0.0; 4]));
    let mut pass = recorder.begin_rendering(&RenderingInfo {
        colors: &[Some(color)],
        ..RenderingInfo::default()
    })?;
    for number in 0..count {
        let which = number as usize % IN_TURN;
        let all = changes == Changes::All;
        let (pipeline, set) = match changes {
            Changes::Pipeline => (things.pipelines[which], things.own[which]),
            _ => (
                things.pipelines[0],
                things.sets[if all { which } else { 0 }],
            ),
        };
        if number == 0 || changes == Changes::Pipeline {
            pass.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        } else if all {
            pass.bind_descriptor_set(set)?;
        }
        if number == 0 || all {
            pass.bind_vertex_buffer(0, things.vertices[if all { which } else { 0 }], 0)?;
        }
        if changes != Changes::Nothing {
            pass.push_constants(0, &number.to_le_bytes())?;
        }
        pass.draw(Draw::of(3))?;
    }
    pass.end_rendering()
}
