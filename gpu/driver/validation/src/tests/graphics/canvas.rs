//! A canvas: a space with a queue that draws, and pictures in it, all of which is gone after the test.

use crate::bench::{Bench, bytes_of, words_of};
use crate::result::{Trouble, Verdict, failed, skipped};
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::formats::VkFormat;
use eitri_draw_programs::Shader;
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    BindingElement, Buffer, ClearColor, ColorAttachment, CommandBuffer, DepthAttachment, Draw,
    Error, ErrorKind, GraphicsPipeline, GraphicsPipelineInfo, GraphicsSet, Image, ImageInfo,
    ImagePart, ImageView, InputRate, Platform, QueryPool, Queue, QueueConfig, Recorder,
    RenderingInfo, Space, TilerHeap, TilerHeapConfig, Tiling, Topology, VertexAttribute,
    VertexBinding,
};

/// Pixels of a picture's side: more than a tile's.
pub(super) const SIDE: u32 = 64;
/// How much longer than a job's a picture may take: it is thousands of fragments, each of which a GPU in software shades by itself.
const LONGER: u32 = 8;
/// What pictures hold before they are drawn.
pub(super) const BEFORE: u32 = 0x5555_5555;
pub(super) const RGBA8: &str = "R8G8B8A8_UNORM";

/// Vertices whose positions go on with each vertex, and their colours with each so many instances.
const fn by_instance(divisor: u32) -> [VertexBinding; 2] {
    let colors = VertexBinding {
        binding: 1,
        stride: 32,
        rate: InputRate::Instance { divisor },
    };
    [BINDINGS[0], colors]
}

/// What a canvas has made, to be destroyed with it.
enum Made {
    Image(Image),
    Buffer(Buffer),
    Pipeline(GraphicsPipeline),
    Set(GraphicsSet),
    Heap(TilerHeap),
    Commands(CommandBuffer),
    Query(QueryPool),
}

/// A space with a queue, its heap, and commands that are recorded over and over.
pub(super) struct Canvas {
    space: Space,
    queue: Queue,
    pub(super) heap: TilerHeap,
    commands: CommandBuffer,
    made: Vec<Made>,
}

/// Vertices of eight words: position and colour.
const BINDINGS: [VertexBinding; 1] = [VertexBinding {
    binding: 0,
    stride: 32,
    rate: InputRate::Vertex,
}];

/// What can't be made for want of room is no fault of the GPU's.
fn made<T>(result: Result<T, Error>) -> Result<T, Trouble> {
    result.map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory | ErrorKind::OutOfStorage => skipped!("no room to draw: {error}"),
        _ => failed!("{error}"),
    })
}

/// Runs a test on a canvas with such a heap, and takes the canvas apart.
pub(super) fn on_canvas<'s, 'd, P: Platform>(
    it: &mut Bench<'_, 's, 'd, P>,
    heap: TilerHeapConfig,
    test: impl FnOnce(&mut Bench<'_, 's, 'd, P>, &mut Canvas) -> Verdict,
) -> Verdict {
    if it.device.properties().tilers == 0 {
        return Err(skipped!("the GPU has no tiler"));
    }
    let space = made(it.device.create_space())?;
    let queue = it.device.create_queue(QueueConfig {
        space: Some(space),
        ..QueueConfig::default()
    });
    let verdict = made(queue).and_then(|queue| {
        let mut list = Vec::new();
        let verdict = Canvas::new(it, (space, queue), heap, &mut list).and_then(|mut canvas| {
            let verdict = test(it, &mut canvas);
            list.append(&mut canvas.made);
            verdict
        });
        verdict.and(take_apart(it, queue, list))
    });
    let gone = it.device.destroy_space(space);
    verdict?;
    Ok(gone?)
}

/// Destroys the queue, and all that was made, last things first.
fn take_apart<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    queue: Queue,
    list: Vec<Made>,
) -> Verdict {
    // Nothing is in flight after a test that went well.
    let _ = it.device.cancel(queue);
    it.device.settle();
    let gone = it.device.destroy_queue(queue);
    let destroyed = destroy(it, list);
    gone?;
    destroyed
}

/// Destroys what was made, last things first.
fn destroy<P: Platform>(it: &mut Bench<'_, '_, '_, P>, list: Vec<Made>) -> Verdict {
    let mut gone = Ok(());
    for made in list.into_iter().rev() {
        let destroyed = match made {
            Made::Image(image) => it.device.destroy_image(image),
            Made::Buffer(buffer) => it.device.destroy_buffer(buffer),
            Made::Pipeline(pipeline) => it.device.destroy_graphics_pipeline(pipeline),
            Made::Set(set) => it.device.destroy_graphics_set(set),
            Made::Heap(heap) => it.device.destroy_tiler_heap(heap),
            Made::Query(pool) => it.device.destroy_query_pool(pool),
            Made::Commands(commands) => it.device.destroy_command_buffer(commands),
        };
        gone = gone.and(destroyed);
    }
    Ok(gone?)
}

impl Canvas {
    fn new<P: Platform>(
        it: &mut Bench<'_, '_, '_, P>,
        (space, queue): (Space, Queue),
        heap: TilerHeapConfig,
        list: &mut Vec<Made>,
    ) -> Result<Canvas, Trouble> {
        let heap = made(it.device.create_tiler_heap(space, heap))?;
        list.push(Made::Heap(heap));
        made(it.device.bind_tiler_heap(queue, heap))?;
        let commands = made(it.device.create_command_buffer(space))?;
        list.push(Made::Commands(commands));
        Ok(Canvas {
            space,
            queue,
            heap,
            commands,
            made: Vec::new(),
        })
    }

    /// A picture, which holds [`BEFORE`]; its texels have four bytes.
    pub(super) fn image<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        format: &str,
        tiling: Tiling,
    ) -> Result<Image, Trouble> {
        let info = ImageInfo {
            tiling,
            ..ImageInfo::two_d(format_of(it, format)?, SIDE, SIDE)
        };
        let image = made(it.device.create_image(self.space, info))?;
        self.made.push(Made::Image(image));
        let before = vec![BEFORE; (SIDE * SIDE) as usize];
        let part = ImagePart::default();
        it.device.write_image(image, part, &bytes_of(&before))?;
        Ok(image)
    }

    /// Does a part of a test, and destroys what it has made.
    pub(super) fn scoped<'s, 'd, P: Platform, T>(
        &mut self,
        it: &mut Bench<'_, 's, 'd, P>,
        part: impl FnOnce(&mut Bench<'_, 's, 'd, P>, &mut Canvas) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let before = self.made.len();
        let done = part(it, self);
        // What its commands use stays in use until they are recorded anew.
        it.device.record(self.commands, |_| Ok(()))?;
        let made = self.made.split_off(before);
        destroy(it, made)?;
        done
    }

    /// An image of any kind, whose texels are zeros.
    pub(super) fn image_of<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        info: ImageInfo,
    ) -> Result<Image, Trouble> {
        let image = made(it.device.create_image(self.space, info))?;
        self.made.push(Made::Image(image));
        Ok(image)
    }

    /// Bytes in memory.
    pub(super) fn buffer<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        bytes: &[u8],
    ) -> Result<Buffer, Trouble> {
        let buffer = made(it.device.create_buffer(self.space, bytes.len() as u64))?;
        self.made.push(Made::Buffer(buffer));
        it.device.write_buffer(buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// A query, which counts nothing yet.
    pub(super) fn query<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
    ) -> Result<QueryPool, Trouble> {
        let pool = made(it.device.create_query_pool(self.space, 1))?;
        self.made.push(Made::Query(pool));
        Ok(pool)
    }

    /// A pipeline as [`Canvas::pipeline`] whose colours go on with each so many instances, and come from binding 1.
    pub(super) fn instanced<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        divisor: u32,
        info: &GraphicsPipelineInfo<'_>,
    ) -> Result<GraphicsPipeline, Trouble> {
        self.pipeline_of(it, Shader::Color, (&by_instance(divisor), 1), info)
    }

    /// Vertices in memory.
    pub(super) fn vertices<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        vertices: &[Vertex],
    ) -> Result<Buffer, Trouble> {
        let floats = vertices.iter().flat_map(|vertex| {
            let [x, y] = vertex.at;
            [x, y, vertex.depth, 1.0].into_iter().chain(vertex.color)
        });
        let words: Vec<u32> = floats.map(f32::to_bits).collect();
        let buffer = made(it.device.create_buffer(self.space, 4 * words.len() as u64))?;
        self.made.push(Made::Buffer(buffer));
        it.device.write_buffer(buffer, 0, &bytes_of(&words))?;
        Ok(buffer)
    }

    /// A pipeline of the program of vertices and one of fragments, for one target of [`RGBA8`] unless `info` names others.
    pub(super) fn pipeline<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        fragments: Shader,
        info: &GraphicsPipelineInfo<'_>,
    ) -> Result<GraphicsPipeline, Trouble> {
        self.pipeline_of(it, fragments, (&BINDINGS, 0), info)
    }

    /// The same with these bindings, one of which colours come from.
    fn pipeline_of<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        fragments: Shader,
        (bindings, colors): (&[VertexBinding], u32),
        info: &GraphicsPipelineInfo<'_>,
    ) -> Result<GraphicsPipeline, Trouble> {
        let format = format_of(it, "R32G32B32A32_SFLOAT")?;
        let places = [(0, 0, 0), (1, colors, 16)];
        let attributes = places.map(|(location, binding, offset)| VertexAttribute {
            location,
            binding,
            offset,
            format,
        });
        let usual = [Some(format_of(it, RGBA8)?)];
        let info = GraphicsPipelineInfo {
            bindings,
            attributes: &attributes,
            colors: match info.colors {
                [] => &usual,
                colors => colors,
            },
            ..*info
        };
        let vertex = program(it, Shader::Vertices)?;
        let fragment = program(it, fragments)?;
        let pipeline =
            it.device
                .create_graphics_pipeline(self.space, &vertex, Some(&fragment), &info);
        let pipeline = made(pipeline)?;
        self.made.push(Made::Pipeline(pipeline));
        Ok(pipeline)
    }

    /// Set 0 of a pipeline, with an image in its binding 0.
    pub(super) fn set<P: Platform>(
        &mut self,
        it: &mut Bench<'_, '_, '_, P>,
        pipeline: GraphicsPipeline,
        image: Image,
    ) -> Result<GraphicsSet, Trouble> {
        let set = made(it.device.create_graphics_set(pipeline, 0))?;
        self.made.push(Made::Set(set));
        it.device.bind_in_stages(set, |device, set| {
            device.bind_image(set, BindingElement::first(0), image)
        })?;
        Ok(set)
    }

    /// Records commands, and runs them.
    pub(super) fn run<'d, P: Platform>(
        &self,
        it: &mut Bench<'_, '_, 'd, P>,
        record: impl FnOnce(&mut Recorder<'_, '_, 'd, P>) -> Result<(), Error>,
    ) -> Verdict {
        it.device.record(self.commands, record)?;
        self.again(it)
    }

    /// Runs once more what was recorded.
    pub(super) fn again<P: Platform>(&self, it: &mut Bench<'_, '_, '_, P>) -> Verdict {
        let fence = it.device.submit(self.queue, self.commands)?;
        it.finish_within(fence, LONGER * it.limit())
    }

    /// Draws in one pass: each buffer's vertices with its pipeline.
    pub(super) fn draw<P: Platform>(
        &self,
        it: &mut Bench<'_, '_, '_, P>,
        (colors, depth): (&[Option<ColorAttachment>], Option<DepthAttachment>),
        draws: &[(GraphicsPipeline, Buffer, Draw)],
    ) -> Verdict {
        self.run(it, |recorder| {
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors,
                depth,
                ..RenderingInfo::default()
            })?;
            for (pipeline, buffer, draw) in draws {
                pass.bind_pipeline(*pipeline)?
                    .bind_vertex_buffer(0, *buffer, 0)?
                    .draw(*draw)?;
            }
            pass.end_rendering()
        })
    }
}

pub(super) fn format_of<P: Platform>(
    it: &Bench<'_, '_, '_, P>,
    name: &str,
) -> Result<&'static VkFormat, Trouble> {
    let arch = it.programs.arch;
    VkFormat::of_name(arch, name).ok_or_else(|| failed!("no format {name} on {arch}"))
}

fn program<'d, P: Platform>(
    it: &Bench<'_, '_, 'd, P>,
    shader: Shader,
) -> Result<GraphicsProgram<'d>, Trouble> {
    let bytes = it.programs.draw(shader);
    let bytes = bytes.ok_or_else(|| skipped!("{} has no program {shader:?}", it.programs.arch))?;
    Ok(GraphicsProgram::parse(bytes)?)
}

/// A vertex: its place in clip coordinates, its depth, its colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub(super) at: [f32; 2],
    pub(super) depth: f32,
    pub(super) color: [f32; 4],
}

/// The corners of a rectangle from one place to the other, as a strip of two triangles.
pub(super) fn rectangle(
    [left, top]: [f32; 2],
    [right, bottom]: [f32; 2],
    depth: f32,
    color: [f32; 4],
) -> [Vertex; 4] {
    let corners = [[left, top], [left, bottom], [right, top], [right, bottom]];
    corners.map(|at| Vertex { at, depth, color })
}

/// What pipelines of strips have alike.
pub(super) fn strip<'i>() -> GraphicsPipelineInfo<'i> {
    GraphicsPipelineInfo {
        topology: Topology::TriangleStrip,
        ..GraphicsPipelineInfo::default()
    }
}

/// A target that is cleared first.
pub(super) fn cleared(image: Image, color: [f32; 4]) -> Option<ColorAttachment> {
    let color = ClearColor::Float(color);
    Some(ColorAttachment::cleared(ImageView::of(image), color))
}

/// Compares a picture with what it should be, by x and y: no channel may differ by more than `within`. `what` names the picture.
pub(super) fn check<P: Platform>(
    it: &mut Bench<'_, '_, '_, P>,
    (image, what): (Image, &str),
    within: u8,
    expected: impl Fn(u32, u32) -> u32,
) -> Verdict {
    let mut bytes = vec![0; 4 * (SIDE * SIDE) as usize];
    it.device
        .read_image(image, ImagePart::default(), &mut bytes)?;
    let (mut first, mut wrong) = (None, 0_u32);
    for (number, texel) in (0..).zip(words_of(&bytes)) {
        let (x, y) = (number % SIDE, number / SIDE);
        let wanted = expected(x, y);
        let mut channels = texel.to_le_bytes().into_iter().zip(wanted.to_le_bytes());
        if channels.any(|(is, wanted)| is.abs_diff(wanted) > within) {
            wrong += 1;
            first.get_or_insert((x, y, texel, wanted));
        }
    }
    match first {
        None => Ok(()),
        Some((x, y, texel, wanted)) => Err(failed!(
            "{what}: {wrong} of {} pixels are wrong; pixel {x}, {y} is {texel:#010x}, expected {wanted:#010x}{}",
            SIDE * SIDE,
            match texel {
                BEFORE => ", and was never written",
                _ => "",
            }
        )),
    }
}
