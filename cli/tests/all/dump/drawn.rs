//! A dump of a draw whose fragments fail: the driver leaves it, and running it again says which of them it was.

use super::taken::{bold, brought_up, dumped, spirv};
use super::{expect_lines, replay, show};
use eitri_descriptors::formats::VkFormat;
use eitri_model::{Config, stub_firmware};
use eitri_on_model::Machine;
use eitri_program::GraphicsProgram;
use eitri_runtime::{
    ClearColor, ColorAttachment, Draw, GraphicsPipelineInfo, ImageInfo, ImageView, Platform,
    QueueConfig, Rect, RenderingInfo, Storage, TilerHeapConfig,
};
use std::time::Duration;

/// A triangle over the whole picture.
const VERTICES: &str = "@vertex
    fn main(@builtin(vertex_index) id: u32) -> @builtin(position) vec4<f32> {
        return vec4<f32>(f32(id & 1u) * 4.0 - 1.0, f32(id & 2u) * 2.0 - 1.0, 0.5, 1.0);
    }";

/// Stores far behind its buffer.
const FRAGMENTS: &str = "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
    @fragment
    fn main(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
        data[u32(at.x) + 0x1000000u] = 1u;
        return vec4<f32>(1.0);
    }";

/// The dump of a machine that draws a triangle twice, the second time where the scissor leaves pixels from 20, 12 on.
fn drawn() -> Vec<u8> {
    let machine = Machine::new(Config::default());
    let firmware = stub_firmware();
    let mut storage: Storage<'_> = Storage::new();
    let mut device = brought_up(&machine, &firmware, &mut storage);
    let queue = device.create_queue(QueueConfig::default()).unwrap();
    let space = device.space(queue).unwrap();
    let heap = device.create_tiler_heap(space, TilerHeapConfig::default());
    device.bind_tiler_heap(queue, heap.unwrap()).unwrap();
    let bold = bold();
    let [vertex, fragment] = [VERTICES, FRAGMENTS].map(spirv);
    let compiled = eitri_shaderc::compile_graphics((&vertex, &bold), Some((&fragment, &bold)));
    let compiled = compiled.unwrap();
    let vertex = GraphicsProgram::parse(&compiled.vertex.program).unwrap();
    let fragment = compiled.fragment.unwrap().program;
    let fragment = GraphicsProgram::parse(&fragment).unwrap();
    let format = VkFormat::of_name(device.properties().arch, "R8G8B8A8_UNORM").unwrap();
    let info = GraphicsPipelineInfo {
        colors: &[Some(format)],
        ..GraphicsPipelineInfo::default()
    };
    let pipeline = device
        .create_graphics_pipeline(space, &vertex, Some(&fragment), &info)
        .unwrap();
    let image = device.create_image(space, ImageInfo::two_d(format, 64, 64));
    let image = image.unwrap();
    let buffer = device.create_buffer(space, 256).unwrap();
    let set = device.create_graphics_set(pipeline, 0).unwrap();
    device
        .bind_in_stages(set, |device, set| device.bind_buffer(set, 0, buffer))
        .unwrap();
    let commands = device.create_command_buffer(space).unwrap();
    let recorded = device.record(commands, |recorder| {
        let color = ColorAttachment::cleared(ImageView::of(image), ClearColor::Float([0.0; 4]));
        let mut pass = recorder.begin_rendering(&RenderingInfo {
            colors: &[Some(color)],
            ..RenderingInfo::default()
        })?;
        pass.bind_pipeline(pipeline)?.bind_descriptor_set(set)?;
        let scissor = Rect {
            x: 20,
            y: 12,
            width: 2,
            height: 2,
        };
        pass.set_scissor(scissor).draw(Draw::of(3))?;
        pass.end_rendering()
    });
    recorded.unwrap();
    device.submit(queue, commands).unwrap();
    device.poll(machine.clone().now());
    dumped(&machine, Duration::from_millis(20))
}

#[test]
fn a_fault_of_a_fragment_is_found_again_with_its_draw_primitive_and_pixel() {
    let file = drawn();
    let lines = [
        "fault: TRANSLATION_FAULT_",
        "  access: a write\n",
        "RUN_FRAGMENT",
        "framebuffer:",
    ];
    expect_lines(&show(&[], &file), &lines);
    let (status, text, _) = replay(&[], &file);
    assert_eq!(status, Some(1), "{text}");
    let lines = ["fails for pixel (20, 12) of primitive 0 of the draw at 0x"];
    expect_lines(&text, &lines);
}
