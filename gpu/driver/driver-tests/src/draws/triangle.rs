//! A triangle and a clear.

use super::shaders;
use crate::bench::{LIMIT, OrFail, diagnoses, machine, queue, up};
use crate::machine::{Host, Machine};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::formats::VkFormat;
use eitri_runtime::{
    Buffer, ClearColor, ColorAttachment, CommandBuffer, Device, Draw, Error, Fence,
    GraphicsPipeline, GraphicsPipelineInfo, Image, ImageInfo, ImagePart, ImageView, InputRate,
    Queue, Recorder, RenderingInfo, Space, Status, TilerHeapConfig, Tiling, VertexAttribute,
    VertexBinding,
};

type Up = Device<'static, 'static, Host>;

const SIDE: u32 = 64;

/// A device that draws.
struct Bench {
    machine: Machine,
    device: Up,
    queue: Queue,
    space: Space,
    commands: CommandBuffer,
}

/// A heap that is small enough for a machine of QEMU's.
const HEAP: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: 256 << 10,
    initial: 2,
    most: 8,
    reserve: 1,
    passes: 64,
};

impl Bench {
    fn new() -> Bench {
        let machine = machine();
        let mut device = up(machine.clone());
        let queue = queue(&mut device);
        let space = device.space(queue).or_fail("it is there");
        let heap = device
            .create_tiler_heap(space, HEAP)
            .or_fail("there is memory");
        device.bind_tiler_heap(queue, heap).or_fail("it is there");
        let commands = device
            .create_command_buffer(space)
            .or_fail("there is memory");
        Bench {
            machine,
            device,
            queue,
            space,
            commands,
        }
    }

    fn format(&self, name: &str) -> &'static VkFormat {
        VkFormat::of_name(self.device.properties().arch, name).or_fail("every GPU has it")
    }

    fn image(&mut self, name: &str, tiling: Tiling) -> Image {
        let info = ImageInfo {
            tiling,
            ..ImageInfo::two_d(self.format(name), SIDE, SIDE)
        };
        self.device
            .create_image(self.space, info)
            .or_fail("there is memory")
    }

    fn buffer(&mut self, words: &[u32]) -> Buffer {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let made = self.device.create_buffer(self.space, bytes.len() as u64);
        let buffer = made.or_fail("there is memory");
        self.device
            .write_buffer(buffer, 0, &bytes)
            .or_fail("it fits");
        buffer
    }

    /// A pipeline for vertices of eight floats: position, and colour.
    fn pipeline(&mut self, change: impl FnOnce(&mut GraphicsPipelineInfo<'_>)) -> GraphicsPipeline {
        let bindings = [VertexBinding {
            binding: 0,
            stride: 32,
            rate: InputRate::Vertex,
        }];
        let format = self.format("R32G32B32A32_SFLOAT");
        let attribute = |location, offset| VertexAttribute {
            location,
            binding: 0,
            offset,
            format,
        };
        let colors = [Some(self.format("R8G8B8A8_UNORM"))];
        let mut info = GraphicsPipelineInfo {
            bindings: &bindings,
            attributes: &[attribute(0, 0), attribute(1, 16)],
            colors: &colors,
            ..GraphicsPipelineInfo::default()
        };
        change(&mut info);
        let (vertex, fragment) = (shaders::vertices(), shaders::color());
        let made =
            self.device
                .create_graphics_pipeline(self.space, &vertex, Some(&fragment), &info);
        made.or_fail("it is a pipeline")
    }

    fn record(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_, '_, 'static, Host>) -> Result<(), Error>,
    ) {
        let recorded = self.device.record(self.commands, record);
        recorded.or_fail("it can be recorded");
    }

    #[track_caller]
    fn run(&mut self) {
        let fence = self.submit();
        let status = self.device.wait(fence, LIMIT);
        assert_eq!(status, Status::Done, "{:?}", diagnoses(&self.machine));
        assert_eq!(diagnoses(&self.machine), [""; 0], "what the GPU says of it");
    }

    fn submit(&mut self) -> Fence {
        let submitted = self.device.submit(self.queue, self.commands);
        submitted.or_fail("there is room")
    }

    fn texels(&mut self, image: Image) -> Vec<u32> {
        let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
        let part = ImagePart::default();
        self.device
            .read_image(image, part, &mut bytes)
            .or_fail("it is there");
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// Vertices as words: position and colour.
fn vertices(all: &[([f32; 4], [f32; 4])]) -> Vec<u32> {
    let floats = all
        .iter()
        .flat_map(|(position, color)| position.iter().chain(color));
    floats.map(|value| value.to_bits()).collect()
}

/// What the pixels whose centres are inside of a triangle are, and those outside; its corners are in pixels. Centres on an edge
/// there are none.
#[track_caller]
fn check_triangle(texels: &[u32], corners: [[f32; 2]; 3], inside: u32, outside: u32) {
    let side = |[ax, ay]: [f32; 2], [bx, by]: [f32; 2], x: f32, y: f32| {
        (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    };
    let [a, b, c] = corners;
    let mut wrong = Vec::new();
    for (number, texel) in texels.iter().enumerate() {
        let (x, y) = (number as u32 % SIDE, number as u32 / SIDE);
        let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
        let sides = [side(a, b, px, py), side(b, c, px, py), side(c, a, px, py)];
        let is_in = sides.iter().all(|side| *side > 0.0) || sides.iter().all(|side| *side < 0.0);
        let expected = if is_in { inside } else { outside };
        if *texel != expected {
            wrong.push((x, y, *texel));
        }
    }
    let few: Vec<String> = wrong
        .iter()
        .take(8)
        .map(|(x, y, texel)| alloc::format!("({x}, {y}): {texel:08x}"))
        .collect();
    assert_eq!(few, [""; 0], "{} pixels are wrong", wrong.len());
}

const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const BLUE_WORD: u32 = 0xFFFF_0000;
const RED_WORD: u32 = 0xFF00_00FF;

pub(crate) fn a_pass_clears_its_image() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let image = it.image("R8G8B8A8_UNORM", tiling);
        it.record(|recorder| {
            let clear = ClearColor::Float(BLUE);
            let color = ColorAttachment::cleared(ImageView::of(image), clear);
            let pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            pass.end_rendering()
        });
        it.run();
        let texels = it.texels(image);
        assert!(
            texels.iter().all(|texel| *texel == BLUE_WORD),
            "{tiling:?}: {texels:x?}"
        );
    }
}

pub(crate) fn a_triangle_is_drawn() {
    for tiling in [Tiling::Linear, Tiling::UInterleaved] {
        let mut it = Bench::new();
        let image = it.image("R8G8B8A8_UNORM", tiling);
        let pipeline = it.pipeline(|_| ());
        let corner = |x, y| ([x, y, 0.5, 1.0], RED);
        let corners = [corner(-0.8, -0.75), corner(0.75, -0.5), corner(-0.25, 0.8)];
        let buffer = it.buffer(&vertices(&corners));
        it.record(|recorder| {
            let clear = ClearColor::Float(BLUE);
            let color = ColorAttachment::cleared(ImageView::of(image), clear);
            let mut pass = recorder.begin_rendering(&RenderingInfo {
                colors: &[Some(color)],
                ..RenderingInfo::default()
            })?;
            pass.bind_pipeline(pipeline)?
                .bind_vertex_buffer(0, buffer, 0)?
                .draw(Draw::of(3))?;
            pass.end_rendering()
        });
        it.run();
        let texels = it.texels(image);
        let pixel = |([x, y, ..], _): ([f32; 4], [f32; 4])| [(x + 1.0) * 32.0, (y + 1.0) * 32.0];
        check_triangle(&texels, corners.map(pixel), RED_WORD, BLUE_WORD);
    }
}
