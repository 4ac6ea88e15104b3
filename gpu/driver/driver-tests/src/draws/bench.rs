//! A device that draws, and pictures that are worked out.

use super::shaders;
use crate::bench::{LIMIT, OrFail, diagnoses, machine, queue_in, up, up_on};
use crate::machine::{Host, Machine};
use crate::recording::{Log, Recording};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use eitri_descriptors::formats::VkFormat;
use eitri_program::{Arch, GraphicsProgram};
use eitri_runtime::{
    Buffer, ClearColor, ColorAttachment, CommandBuffer, Device, Error, Fence, GraphicsPipeline,
    GraphicsPipelineInfo, Image, ImageInfo, ImagePart, ImageView, InputRate, Options, Platform,
    Queue, QueueConfig, Recorder, Space, Status, TilerHeap, TilerHeapConfig, Tiling,
    VertexAttribute, VertexBinding,
};

pub(super) type Up<P> = Device<'static, 'static, P>;

pub(super) const SIDE: u32 = 64;

pub(super) const BLUE: [f32; 4] = [0.0, 0.0, 1.0, 1.0];
pub(super) const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
pub(super) const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];
pub(super) const BLUE_WORD: u32 = 0xFFFF_0000;
pub(super) const RED_WORD: u32 = 0xFF00_00FF;
pub(super) const GREEN_WORD: u32 = 0xFF00_FF00;

/// A device that draws.
pub(super) struct Bench<P: Platform = Host> {
    pub(super) machine: Machine,
    pub(super) device: Up<P>,
    pub(super) queue: Queue,
    pub(super) space: Space,
    pub(super) commands: CommandBuffer,
    pub(super) heap: TilerHeap,
}

const BINDINGS: [VertexBinding; 2] = [
    VertexBinding {
        binding: 0,
        stride: 32,
        rate: InputRate::Vertex,
    },
    VertexBinding {
        binding: 1,
        stride: 16,
        rate: InputRate::Instance { divisor: 1 },
    },
];

/// A heap that is small enough for a machine of QEMU's.
const HEAP: TilerHeapConfig = TilerHeapConfig {
    chunk_bytes: 256 << 10,
    initial: 2,
    most: 8,
    reserve: 1,
    passes: 64,
};

impl Bench {
    pub(super) fn new() -> Bench {
        Bench::on(machine())
    }

    pub(super) fn on(machine: Machine) -> Bench {
        let device = up(machine.clone());
        Bench::of(machine, device, HEAP)
    }

    /// On a device of any options.
    pub(super) fn usual(machine: Machine, device: Up<Host>) -> Bench {
        Bench::of(machine, device, HEAP)
    }

    /// One whose device has done something in a space before it had a heap; and what that gave.
    pub(super) fn behind<T>(first: impl FnOnce(&mut Up<Host>, Space) -> T) -> (Bench, T) {
        let machine = machine();
        let mut device = up(machine.clone());
        let space = device.create_space().or_fail("there is memory");
        let given = first(&mut device, space);
        (Bench::in_space(machine, (device, space), HEAP), given)
    }

    /// With a heap of so many chunks, which does not grow.
    pub(super) fn with_chunks(chunks: u32) -> Bench {
        let machine = machine();
        let device = up(machine.clone());
        Bench::small(machine, device, chunks)
    }

    /// The same behind caches that the GPU does not see.
    pub(super) fn behind_caches(chunks: u32, seed: u64) -> Bench {
        let machine = machine();
        let device = up_on(machine.behind_caches(seed), Options::default());
        Bench::small(machine, device, chunks)
    }

    fn small(machine: Machine, device: Up<Host>, chunks: u32) -> Bench {
        let heap = TilerHeapConfig {
            initial: chunks,
            most: chunks,
            reserve: 0,
            ..HEAP
        };
        Bench::of(machine, device, heap)
    }

    /// Puts a queue in place of one that takes no more jobs.
    pub(super) fn renew_queue(&mut self) {
        let Bench {
            device,
            queue,
            space,
            heap,
            ..
        } = self;
        device.destroy_queue(*queue).or_fail("it is dead");
        let config = QueueConfig {
            space: Some(*space),
            ..QueueConfig::default()
        };
        *queue = device.create_queue(config).or_fail("there is a place");
        device
            .bind_tiler_heap(*queue, *heap)
            .or_fail("its queue is gone");
    }

    /// The attachments of a pass that clears one image to blue.
    pub(super) fn blue(image: Image) -> ColorAttachment {
        ColorAttachment::cleared(ImageView::of(image), ClearColor::Float(BLUE))
    }
}

impl Bench<Recording<Host>> {
    /// One of which it is noted what the driver does.
    pub(super) fn recorded() -> (Self, Log) {
        let machine = machine();
        let (platform, log) = Recording::new(machine.platform());
        let device = up_on(platform, Options::default());
        (Bench::of(machine, device, HEAP), log)
    }
}

impl<P: Platform> Bench<P> {
    /// With a heap of the caller's.
    pub(super) fn of(machine: Machine, mut device: Up<P>, heap: TilerHeapConfig) -> Self {
        let space = device.create_space().or_fail("there is memory");
        Bench::in_space(machine, (device, space), heap)
    }

    /// In a space that is there.
    fn in_space(
        machine: Machine,
        (mut device, space): (Up<P>, Space),
        heap: TilerHeapConfig,
    ) -> Self {
        let queue = queue_in(&mut device, space);
        let heap = device
            .create_tiler_heap(space, heap)
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
            heap,
        }
    }

    /// The generation of its GPU.
    pub(super) fn arch(&self) -> Arch {
        self.device.properties().arch
    }

    pub(super) fn format(&self, name: &str) -> &'static VkFormat {
        VkFormat::of_name(self.device.properties().arch, name).or_fail("every GPU has it")
    }

    pub(super) fn image(&mut self, name: &str, tiling: Tiling) -> Image {
        let info = ImageInfo {
            tiling,
            ..ImageInfo::two_d(self.format(name), SIDE, SIDE)
        };
        self.device
            .create_image(self.space, info)
            .or_fail("there is memory")
    }

    pub(super) fn buffer(&mut self, words: &[u32]) -> Buffer {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let made = self.device.create_buffer(self.space, bytes.len() as u64);
        let buffer = made.or_fail("there is memory");
        self.device
            .write_buffer(buffer, 0, &bytes)
            .or_fail("it fits");
        buffer
    }

    /// What pipelines have alike: vertices of eight floats, which are position and colour, in binding 0; positions to add, one an
    /// instance, in binding 1; and one colour target.
    pub(super) fn info(&self) -> GraphicsPipelineInfo<'static> {
        let format = self.format("R32G32B32A32_SFLOAT");
        let attribute = |location, binding, offset| VertexAttribute {
            location,
            binding,
            offset,
            format,
        };
        let attributes = [attribute(0, 0, 0), attribute(1, 0, 16), attribute(2, 1, 0)];
        let color = Some(self.format("R8G8B8A8_UNORM"));
        GraphicsPipelineInfo {
            bindings: &BINDINGS,
            attributes: Vec::from(attributes).leak(),
            colors: vec![color].leak(),
            ..GraphicsPipelineInfo::default()
        }
    }

    pub(super) fn pipeline(&mut self, info: &GraphicsPipelineInfo<'_>) -> GraphicsPipeline {
        let programs = (shaders::vertices(self.arch()), shaders::color(self.arch()));
        self.pipeline_of(&programs, info)
    }

    pub(super) fn pipeline_of(
        &mut self,
        (vertex, fragment): &(GraphicsProgram<'static>, GraphicsProgram<'static>),
        info: &GraphicsPipelineInfo<'_>,
    ) -> GraphicsPipeline {
        let space = self.space;
        let made = self
            .device
            .create_graphics_pipeline(space, vertex, Some(fragment), info);
        made.or_fail("it is a pipeline")
    }

    pub(super) fn record(
        &mut self,
        record: impl FnOnce(&mut Recorder<'_, '_, 'static, P>) -> Result<(), Error>,
    ) {
        let recorded = self.device.record(self.commands, record);
        recorded.or_fail("it can be recorded");
    }

    #[track_caller]
    pub(super) fn run(&mut self) {
        let fence = self.submit();
        let status = self.device.wait(fence, LIMIT);
        assert_eq!(status, Status::Done, "{:?}", diagnoses(&self.machine));
        assert_eq!(diagnoses(&self.machine), [""; 0], "what the GPU says of it");
    }

    pub(super) fn submit(&mut self) -> Fence {
        let submitted = self.device.submit(self.queue, self.commands);
        submitted.or_fail("there is room")
    }

    pub(super) fn texels(&mut self, image: Image) -> Vec<u32> {
        self.texels_of(image, 0)
    }

    /// Those of one layer.
    pub(super) fn texels_of(&mut self, image: Image, layer: u32) -> Vec<u32> {
        let mut bytes = vec![0; (SIDE * SIDE * 4) as usize];
        let part = ImagePart {
            layer,
            ..ImagePart::default()
        };
        self.device
            .read_image(image, part, &mut bytes)
            .or_fail("it is there");
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// A rectangle from one corner to the other, in clip coordinates, at a depth: four vertices of a strip.
pub(super) fn rectangle(
    [left, top]: [f32; 2],
    [right, bottom]: [f32; 2],
    depth: f32,
    color: [f32; 4],
) -> Vec<u32> {
    let corner = |x, y| ([x, y, depth, 1.0], color);
    vertices(&[
        corner(left, top),
        corner(left, bottom),
        corner(right, top),
        corner(right, bottom),
    ])
}

/// The texels that differ from what they should be, by `expected` of x and y: where each channel differs by more than `within`.
#[track_caller]
pub(super) fn check(texels: &[u32], within: u8, expected: impl Fn(u32, u32) -> u32) {
    let mut wrong = Vec::new();
    for (number, texel) in texels.iter().enumerate() {
        let (x, y) = (number as u32 % SIDE, number as u32 / SIDE);
        let wanted = expected(x, y);
        let channels = texel.to_le_bytes().into_iter().zip(wanted.to_le_bytes());
        if channels.into_iter().any(|(a, b)| a.abs_diff(b) > within) {
            wrong.push((x, y, *texel, wanted));
        }
    }
    let few: Vec<String> = wrong
        .iter()
        .take(8)
        .map(|(x, y, texel, wanted)| alloc::format!("({x}, {y}): {texel:08x}, not {wanted:08x}"))
        .collect();
    assert_eq!(few, [""; 0], "{} pixels are wrong", wrong.len());
}

/// Vertices as words: position and colour.
pub(super) fn vertices(all: &[([f32; 4], [f32; 4])]) -> Vec<u32> {
    let floats = all
        .iter()
        .flat_map(|(position, color)| position.iter().chain(color));
    floats.map(|value| value.to_bits()).collect()
}

/// What the pixels whose centres are inside of a triangle are, and those outside; its corners are in pixels. Centres on an edge
/// there are none.
#[track_caller]
pub(super) fn check_triangle(texels: &[u32], corners: [[f32; 2]; 3], inside: u32, outside: u32) {
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
